//! Histories of a database that works as a profile says, with the true times.

use crate::columns::Columns;
use crate::generate::{thousandths, unknown};
use crate::interrupt::interruptible;
use crate::parse_error;
use crate::profile::Profile;
use crate::simulate::millionths;
use isoscope_kernel::simulate::profiled::{self as kernel, Fault, Simulation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{PyClass, PyClassInitializer};

/// `isoscope.databases.profiled.Load`; shares lie between 0 and 1.
#[derive(FromPyObject)]
pub struct Load {
    clients: u32,
    transactions: u32,
    operations: (u32, u32),
    keys: u32,
    tables: u32,
    theta: f64,
    reads: f64,
    ranges: f64,
    longest_range: u32,
    for_update: f64,
    for_share: f64,
    updates_after_reads: f64,
    inserts: f64,
    deletes: f64,
    repeated_values: u32,
    rollbacks: f64,
    lost_answers: f64,
}

/// `isoscope.databases.profiled.Delays`, in nanoseconds.
#[derive(FromPyObject)]
pub struct Delays {
    network: u64,
    service: u64,
    thinking: u64,
    clock_error: u64,
}

/// A run of a database that works as a profile says, in slices.
#[pyclass(module = "isoscope._native")]
pub struct ProfiledRun {
    run: Option<kernel::ProfiledRun>,
}

#[pymethods]
impl ProfiledRun {
    #[new]
    #[pyo3(signature = (profile, load, delays, *, seed, faults, truth))]
    #[expect(clippy::needless_pass_by_value, reason = "they come from Python")]
    fn new(
        profile: &Profile,
        load: Load,
        delays: Delays,
        seed: u64,
        faults: Vec<(String, f64)>,
        truth: bool,
    ) -> PyResult<Self> {
        let load = load.kernel();
        if let Some(problem) = load.problem() {
            return Err(PyValueError::new_err(problem));
        }
        let Delays { network, service, thinking, clock_error } = delays;
        let delays = kernel::Delays { network, service, thinking, clock_error };
        let faults = faults.iter().map(rate).collect::<PyResult<_>>()?;
        let simulation = Simulation { profile: profile.kernel().clone(), seed, load, delays, faults, truth };
        Ok(Self { run: Some(kernel::ProfiledRun::new(&simulation)) })
    }

    /// The history of the next so many transactions that end; an empty one if there are no more.
    fn next(&mut self, py: Python<'_>, transactions: u32) -> PyResult<Columns> {
        let Some(run) = &mut self.run else { return Err(is_over()) };
        let history = interruptible(py, |cancel| run.next(transactions, cancel))?;
        Ok(Columns::new(history.map_err(parse_error)?))
    }

    /// The true times and the faults; the run is over then.
    fn truth(&mut self, py: Python<'_>) -> PyResult<Truth> {
        let run = self.run.take().ok_or_else(is_over)?;
        Truth::new(py, py.detach(|| run.into_truth()))
    }
}

impl Load {
    fn kernel(&self) -> kernel::Load {
        kernel::Load {
            clients: self.clients,
            transactions: self.transactions,
            operations: self.operations,
            keys: self.keys,
            tables: self.tables,
            theta: self.theta,
            reads: thousandths(self.reads),
            ranges: thousandths(self.ranges),
            longest_range: self.longest_range,
            for_update: thousandths(self.for_update),
            for_share: thousandths(self.for_share),
            updates_after_reads: thousandths(self.updates_after_reads),
            inserts: thousandths(self.inserts),
            deletes: thousandths(self.deletes),
            repeated_values: self.repeated_values,
            rollbacks: thousandths(self.rollbacks),
            lost_answers: thousandths(self.lost_answers),
        }
    }
}

fn is_over() -> PyErr {
    PyValueError::new_err("the run is over")
}

fn rate((name, share): &(String, f64)) -> PyResult<(Fault, u32)> {
    let fault = Fault::named(name).filter(|fault| fault.is_of_profiles());
    Ok((fault.ok_or_else(|| unknown("fault", name))?, millionths(*share)))
}

/// True instants of a transaction; `snapshot` if all of it reads one, `committed` if it did.
#[pyclass(frozen, get_all, eq, module = "isoscope._native")]
#[derive(PartialEq)]
pub struct Lifetime {
    begun: u64,
    snapshot: Option<u64>,
    committed: Option<u64>,
    ended: u64,
}

/// A lock on rows from `low` to `high`; `mode` is share, update or exclusive.
#[pyclass(frozen, get_all, eq, module = "isoscope._native")]
#[derive(PartialEq)]
pub struct HeldLock {
    transaction: u32,
    low: u32,
    high: u32,
    mode: &'static str,
    /// Whether it also covers rows that do not exist.
    is_predicate: bool,
    taken: u64,
    released: u64,
}

/// A read looked at a row as it was at an instant: the version of `writer`, None for the initial one.
#[pyclass(frozen, get_all, eq, module = "isoscope._native")]
#[derive(PartialEq)]
pub struct ShownVersion {
    operation: u32,
    key: u32,
    at: u64,
    writer: Option<u32>,
    appeared: u64,
}

/// The version of a row that a transaction left, and when it appeared.
#[pyclass(frozen, get_all, eq, module = "isoscope._native")]
#[derive(PartialEq)]
pub struct RowVersion {
    key: u32,
    transaction: u32,
    appeared: u64,
}

/// One transaction comes before another because of a row; `kind` is wr, ww or rw.
#[pyclass(frozen, get_all, eq, module = "isoscope._native")]
#[derive(PartialEq)]
pub struct TrueDependency {
    kind: &'static str,
    before: u32,
    after: u32,
    key: u32,
}

/// A fault that struck; `is_visible` if clients of committed transactions can have seen it.
#[pyclass(frozen, get_all, eq, module = "isoscope._native")]
#[derive(PartialEq)]
pub struct StruckFault {
    fault: &'static str,
    transaction: u32,
    operation: u32,
    is_visible: bool,
}

/// The true times of a run. Transactions and operations are numbered as in the history.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct Truth {
    /// By transaction.
    lifetimes: Py<PyTuple>,
    locks: Py<PyTuple>,
    shown: Py<PyTuple>,
    /// The versions of each row, in their order.
    versions: Py<PyTuple>,
    /// Of committed transactions, between neighbouring versions.
    dependencies: Py<PyTuple>,
    faults: Py<PyTuple>,
}

#[pymethods]
impl Truth {
    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        for (one, other) in self.all().into_iter().zip(other.all()) {
            if !one.bind(py).eq(other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Truth {
    fn all(&self) -> [&Py<PyTuple>; 6] {
        [&self.lifetimes, &self.locks, &self.shown, &self.versions, &self.dependencies, &self.faults]
    }

    fn new(py: Python<'_>, truth: kernel::Truth) -> PyResult<Self> {
        let kernel::Truth { lifetimes, locks, shown, versions, dependencies, faults } = truth;
        Ok(Self {
            lifetimes: tuple(py, lifetimes, |one| Lifetime {
                begun: one.begun,
                snapshot: one.snapshot,
                committed: one.committed,
                ended: one.ended,
            })?,
            locks: tuple(py, locks, held_lock)?,
            shown: tuple(py, shown, |one| ShownVersion {
                operation: one.operation,
                key: one.key,
                at: one.at,
                writer: one.writer,
                appeared: one.from,
            })?,
            versions: tuple(py, versions, |(key, transaction, appeared)| RowVersion {
                key,
                transaction,
                appeared,
            })?,
            dependencies: tuple(py, dependencies, |one| TrueDependency {
                kind: one.relation.as_str(),
                before: one.before,
                after: one.after,
                key: one.key,
            })?,
            faults: tuple(py, faults, |one| StruckFault {
                fault: one.fault.as_str(),
                transaction: one.transaction,
                operation: one.operation,
                is_visible: one.is_visible,
            })?,
        })
    }
}

fn held_lock(lock: kernel::HeldLock) -> HeldLock {
    let kernel::HeldLock { transaction, low, high, mode, is_predicate, taken, released } = lock;
    let mode = mode.as_str();
    HeldLock { transaction, low, high, mode, is_predicate, taken, released }
}

fn tuple<K, T: PyClass + Into<PyClassInitializer<T>>>(
    py: Python<'_>,
    rows: Vec<K>,
    class: impl Fn(K) -> T,
) -> PyResult<Py<PyTuple>> {
    let objects = rows.into_iter().map(|row| Py::new(py, class(row))).collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(py, objects)?.unbind())
}
