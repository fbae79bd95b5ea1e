//! The method of intervals as Python sees it.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use isoscope_kernel::intervals::profile::{
    Certifier, Conduct, Granularity, Lock, Profile, Read, Snapshot, Statement,
};
use isoscope_kernel::intervals::{self, Refusal, Shown, Tally};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A profile: snapshot, granularity, whether the first updater wins, certifier, lock while committing, and lock,
/// read and whether predicates are locked of each statement; all by their numbers.
pub type ProfileRow = (u8, u8, bool, u8, u8, Vec<(u8, u8, bool)>);

pub fn profile(row: ProfileRow) -> PyResult<Profile> {
    let (snapshot, granularity, first_updater_wins, certifier, commit_lock, conducts) = row;
    let conducts: Vec<Conduct> = conducts.into_iter().map(conduct).collect::<PyResult<_>>()?;
    let count = conducts.len();
    let statements = <[Conduct; Statement::ALL.len()]>::try_from(conducts)
        .map_err(|_| PyValueError::new_err(format!("{count} statements")))?;
    Ok(Profile {
        snapshot: nth(&Snapshot::ALL, snapshot)?,
        granularity: nth(&Granularity::ALL, granularity)?,
        first_updater_wins,
        certifier: nth(&Certifier::ALL, certifier)?,
        commit_lock: nth(&Lock::ALL, commit_lock)?,
        statements,
    })
}

fn conduct((lock, read, locks_predicate): (u8, u8, bool)) -> PyResult<Conduct> {
    Ok(Conduct { lock: nth(&Lock::ALL, lock)?, read: nth(&Read::ALL, read)?, locks_predicate })
}

fn nth<T: Copy>(all: &[T], number: u8) -> PyResult<T> {
    all.get(number as usize)
        .copied()
        .ok_or_else(|| PyValueError::new_err(format!("there is no number {number}")))
}

fn refused(refusal: Refusal) -> PyErr {
    PyValueError::new_err((refusal.transaction, refusal.found))
}

/// Counts by name; findings: name, case, operations; checked and undecided reads, locks, updates and certified
/// transactions; total, overlapping and uncertain dependencies wr, ww and rw.
pub fn judged<'py>(py: Python<'py>, tally: &Tally, findings: &[Shown]) -> PyResult<Bound<'py, PyAny>> {
    let findings: Vec<_> =
        findings.iter().map(|one| (one.name as u8, one.case, one.operations.clone())).collect();
    let checked =
        [tally.reads, tally.locks, tally.updates, tally.certified].map(|one| (one.checked, one.undecided));
    let dependencies = [tally.wr, tally.ww, tally.rw].map(|one| (one.total, one.overlapping, one.uncertain));
    let all = (tally.counts.to_vec(), findings, checked.to_vec(), dependencies.to_vec());
    Ok(all.into_pyobject(py)?.into_any())
}

/// Holds a history against the mechanisms of a profile.
///
/// Raises ValueError with the number of a transaction and what is wrong with it if one has no intervals.
#[pyfunction]
#[pyo3(signature = (columns, profile, *, clock_error, most))]
pub fn judge_intervals<'py>(
    py: Python<'py>,
    columns: &Columns,
    profile: ProfileRow,
    clock_error: i64,
    most: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let profile = self::profile(profile)?;
    let history = columns.history();
    let judgement =
        interruptible(py, |cancel| intervals::judge(history, &profile, clock_error, most, cancel))?;
    let judgement = judgement.map_err(refused)?;
    judged(py, &judgement.tally, &judgement.findings)
}

/// The history with the order of versions that is certain by its mechanisms as one that it declares.
///
/// Raises ValueError as `judge_intervals` does.
#[pyfunction]
#[pyo3(signature = (columns, profile, *, clock_error))]
pub fn deduced_versions(
    py: Python<'_>,
    columns: &Columns,
    profile: ProfileRow,
    clock_error: i64,
) -> PyResult<Columns> {
    let profile = self::profile(profile)?;
    let history = columns.history();
    let deduced =
        interruptible(py, |cancel| intervals::deduced_versions(history, &profile, clock_error, cancel))?;
    Ok(Columns::new(deduced.map_err(refused)?))
}
