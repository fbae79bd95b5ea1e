//! Profiles as Python sees them: the same object for the method of intervals and for the simulator.

use isoscope_kernel::history::Kind;
use isoscope_kernel::intervals::labels::Labels;
use isoscope_kernel::intervals::profile as kernel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::HashMap;

/// What one kind of statement locks and reads.
#[pyclass(frozen, module = "isoscope._native")]
pub struct Conduct(kernel::Conduct);

#[pymethods]
impl Conduct {
    #[new]
    #[pyo3(signature = (*, lock, read, locks_predicate))]
    fn new(lock: &str, read: &str, locks_predicate: bool) -> PyResult<Self> {
        let lock = kernel::Lock::named(lock).ok_or_else(|| unknown("lock", lock))?;
        let read = kernel::Read::named(read).ok_or_else(|| unknown("read", read))?;
        Ok(Self(kernel::Conduct { lock, read, locks_predicate }))
    }
}

/// What one operation locks and reads, by its kind, its labels and the profile.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct OperationConduct {
    statement: &'static str,
    lock: &'static str,
    read: &'static str,
    locks_predicate: bool,
    skips_locked: bool,
}

/// The mechanisms of one isolation level of one database.
#[pyclass(frozen, module = "isoscope._native")]
pub struct Profile(kernel::Profile);

#[pymethods]
impl Profile {
    #[new]
    #[pyo3(signature = (
        *, snapshot, granularity, first_updater_wins, compares_inserts, clock_skew, certifier, commit_lock, statements
    ))]
    #[expect(clippy::needless_pass_by_value, reason = "a mapping that comes from Python")]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
    fn new(
        snapshot: &str,
        granularity: &str,
        first_updater_wins: bool,
        compares_inserts: bool,
        clock_skew: bool,
        certifier: &str,
        commit_lock: &str,
        statements: HashMap<String, PyRef<'_, Conduct>>,
    ) -> PyResult<Self> {
        let conduct = |statement: kernel::Statement| {
            let found = statements.get(statement.as_str());
            found.map(|one| one.0).ok_or_else(|| unknown("conduct of the statement", statement.as_str()))
        };
        let mut all = [conduct(kernel::Statement::Select)?; kernel::Statement::ALL.len()];
        for statement in kernel::Statement::ALL {
            all[statement as usize] = conduct(statement)?;
        }
        Ok(Self(kernel::Profile {
            snapshot: kernel::Snapshot::named(snapshot).ok_or_else(|| unknown("snapshot", snapshot))?,
            granularity: kernel::Granularity::named(granularity)
                .ok_or_else(|| unknown("granularity", granularity))?,
            first_updater_wins,
            compares_inserts,
            clock_skew,
            certifier: kernel::Certifier::named(certifier).ok_or_else(|| unknown("certifier", certifier))?,
            commit_lock: kernel::Lock::named(commit_lock).ok_or_else(|| unknown("lock", commit_lock))?,
            statements: all,
        }))
    }

    /// What an operation of this kind with these labels locks and reads; None is a label that is missing.
    #[pyo3(signature = (kind, *, statement, lock_mode, read_mode))]
    fn conduct(
        &self,
        kind: &str,
        statement: Option<&str>,
        lock_mode: Option<&str>,
        read_mode: Option<&str>,
    ) -> PyResult<OperationConduct> {
        let of_kind = Kind::ALL.into_iter().find(|one| one.as_str() == kind);
        let of_kind = of_kind.ok_or_else(|| unknown("kind of operation", kind))?;
        let text = Option::unwrap_or_default;
        let labels = Labels::parse(text(statement), text(lock_mode), text(read_mode));
        let found = self.0.conduct_of(of_kind, labels);
        Ok(OperationConduct {
            statement: found.statement.as_str(),
            lock: found.conduct.lock.as_str(),
            read: found.conduct.read.as_str(),
            locks_predicate: found.conduct.locks_predicate,
            skips_locked: found.skips_locked,
        })
    }

    /// All mechanisms as one line of text: equal if and only if the profiles are.
    fn __repr__(&self) -> String {
        let kernel::Profile {
            snapshot,
            granularity,
            first_updater_wins,
            compares_inserts,
            clock_skew,
            certifier,
            commit_lock,
            statements,
        } = &self.0;
        let conducts = kernel::Statement::ALL.map(|statement| {
            let kernel::Conduct { lock, read, locks_predicate } = statements[statement as usize];
            let on = if locks_predicate { "predicate" } else { "rows" };
            format!("{}: {} {} {on}", statement.as_str(), lock.as_str(), read.as_str())
        });
        format!(
            "snapshot: {}, granularity: {}, first updater wins: {first_updater_wins}, \
             compares inserts: {compares_inserts}, clock skew: {clock_skew}, certifier: {}, commit lock: {}, {}",
            snapshot.as_str(),
            granularity.as_str(),
            certifier.as_str(),
            commit_lock.as_str(),
            conducts.join(", ")
        )
    }
}

impl Profile {
    /// The profile as the kernel takes it.
    pub fn kernel(&self) -> &kernel::Profile {
        &self.0
    }
}

fn unknown(what: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("no {what} is called `{name}`"))
}
