//! The simulated database: whole runs with the log of a fault, and a store for clients in threads.

use crate::columns::Columns;
use crate::generate::{Workload, model, unknown};
use crate::interrupt::interruptible;
use crate::parse_error;
use isoscope_kernel::simulate::{
    self as kernel, Change, Clocks, Conflicts, Fault, Interactive, Isolation, Read, Refusal, Simulated,
    Simulation,
};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, MutexGuard, PoisonError};

create_exception!(
    _native,
    Refused,
    PyException,
    "The simulated database refuses a step; the transaction should be rolled back."
);

/// The attributes of `isoscope.databases.simulated.Simulated`.
#[derive(FromPyObject)]
pub struct Database {
    isolation: String,
    clock: String,
    nodes: u32,
    skew: u64,
    concurrency: u32,
    conflicts: String,
    repeated_values: u32,
    bug: Option<String>,
    bug_rate: Option<f64>,
}

/// One violation that the fault of a simulated database caused, by the id of the transaction.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct InjectedFault {
    /// The rule that is broken: ext, replay, int, own-int, noconflict, session, inversion, aborted-read,
    /// intermediate-read or missed.
    axiom: &'static str,
    transaction: u32,
    /// None if it is about no key.
    key: Py<PyAny>,
    /// The id of the other transaction, if there is one.
    other: Option<u32>,
    expected: Py<PyAny>,
    found: Py<PyAny>,
}

/// A whole run of the simulated database.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct SimulatedRun {
    columns: Py<Columns>,
    /// The violations that the fault of the database caused: a tuple of `InjectedFault`.
    faults: Py<PyTuple>,
}

/// A run of the simulated database.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "they come from Python")]
pub fn simulate(py: Python<'_>, workload: Workload<'_>, database: Database) -> PyResult<SimulatedRun> {
    if workload.sessions == 0 || database.concurrency == 0 {
        return Err(PyValueError::new_err("a database without a session does nothing"));
    }
    let (workload, simulation) = (workload.kernel()?, database.kernel()?);
    let simulated = interruptible(py, |cancel| kernel::simulate(&workload, &simulation, cancel))?;
    let Simulated { history, injected } = simulated.map_err(parse_error)?;
    let columns = Columns::new(history);
    let faults = injected.iter().map(|fault| injected_fault(py, &columns, fault));
    let faults = PyTuple::new(py, faults.collect::<PyResult<Vec<_>>>()?)?.unbind();
    Ok(SimulatedRun { columns: Py::new(py, columns)?, faults })
}

fn injected_fault(
    py: Python<'_>,
    columns: &Columns,
    fault: &kernel::InjectedFault,
) -> PyResult<InjectedFault> {
    let value = |value| columns.scalar(py, value).map(Bound::unbind);
    Ok(InjectedFault {
        axiom: fault.axiom.as_str(),
        transaction: fault.transaction,
        key: value(fault.key)?,
        other: fault.other,
        expected: value(fault.expected)?,
        found: value(fault.found)?,
    })
}

impl Database {
    fn kernel(&self) -> PyResult<Simulation> {
        let conflicts = Conflicts::named(&self.conflicts);
        let clocks = match self.clock.as_str() {
            "central" => Clocks::Central,
            "hybrid" => Clocks::Hybrid { nodes: self.nodes, skew: self.skew },
            other => return Err(unknown("clock", other)),
        };
        Ok(Simulation {
            isolation: isolation(&self.isolation)?,
            conflicts: conflicts.ok_or_else(|| unknown("way with conflicts", &self.conflicts))?,
            concurrency: self.concurrency,
            clocks,
            repeated_values: self.repeated_values,
            bug: self.bug.as_deref().map(bug).transpose()?,
            bug_rate: millionths(self.bug_rate.unwrap_or_default()),
        })
    }
}

/// The simulated database, used step by step; a session has at most one open transaction.
#[pyclass(frozen, module = "isoscope._native")]
pub struct SimulatedStore(Mutex<Interactive>);

#[pymethods]
impl SimulatedStore {
    /// An empty store; `bug_rate` is the share of transactions in which the bug may strike.
    #[new]
    #[pyo3(signature = (isolation, *, lists, bug, bug_rate, seed))]
    fn new(isolation: &str, lists: bool, bug: Option<&str>, bug_rate: f64, seed: u64) -> PyResult<Self> {
        let isolation = self::isolation(isolation)?;
        let bug = bug.map(self::bug).transpose()?;
        let store = Interactive::new(isolation, model(lists), bug, millionths(bug_rate), seed);
        Ok(Self(Mutex::new(store)))
    }

    /// Adds a row that every snapshot shows; a list starts empty.
    fn add_row(&self, key: i64, value: i64) {
        self.store().add_row(key, value);
    }

    /// Adds a session, and returns its number.
    fn add_session(&self) -> u32 {
        self.store().add_session()
    }

    /// Begins a transaction.
    fn begin(&self, session: u32) {
        self.store().begin(session);
    }

    /// What a key holds: an integer, a tuple, or None if there is no such row.
    fn read<'py>(&self, py: Python<'py>, session: u32, key: i64) -> PyResult<Bound<'py, PyAny>> {
        let read = self.open(session)?.read(session, key);
        Ok(match read {
            Read::Absent => py.None().into_bound(py),
            Read::Integer(value) => value.into_pyobject(py)?.into_any(),
            Read::List(elements) => pyo3::types::PyTuple::new(py, elements)?.into_any(),
        })
    }

    /// Registers from `low` to `high`, both included, by key.
    fn range_read(&self, session: u32, low: i64, high: i64) -> PyResult<Vec<(i64, i64)>> {
        Ok(self.open(session)?.range_read(session, low, high))
    }

    /// Overwrites a register.
    fn write(&self, session: u32, key: i64, value: i64) -> PyResult<()> {
        self.open(session)?.change(session, key, Change::Write(value)).map_err(refused)
    }

    /// Appends to a list.
    fn append(&self, session: u32, key: i64, value: i64) -> PyResult<()> {
        self.open(session)?.change(session, key, Change::Append(value)).map_err(refused)
    }

    /// Adds a row: a register, or a list of this one element.
    fn insert(&self, session: u32, key: i64, value: i64) -> PyResult<()> {
        self.open(session)?.change(session, key, Change::Insert(value)).map_err(refused)
    }

    /// Removes a row.
    fn delete(&self, session: u32, key: i64) -> PyResult<()> {
        self.open(session)?.change(session, key, Change::Delete).map_err(refused)
    }

    /// Commits: the start and commit timestamps.
    fn commit(&self, session: u32) -> PyResult<(u64, u64)> {
        self.open(session)?.commit(session).map_err(refused)
    }

    /// Rolls back, if a transaction is open.
    fn abort(&self, session: u32) {
        self.store().abort(session);
    }

    /// Committed writes of registers (key, value), in the order of commits.
    fn log(&self) -> Vec<(i64, i64)> {
        self.store().log().to_vec()
    }

    /// How many versions of a row are kept.
    fn version_count(&self, key: i64) -> usize {
        self.store().version_count(key)
    }
}

impl SimulatedStore {
    fn store(&self) -> MutexGuard<'_, Interactive> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, session: u32) -> PyResult<MutexGuard<'_, Interactive>> {
        let store = self.store();
        if store.is_open(session) { Ok(store) } else { Err(Refused::new_err("no transaction is open")) }
    }
}

fn refused(refusal: Refusal) -> PyErr {
    Refused::new_err(refusal.as_str())
}

/// A share in millionths, rounded as Python rounds.
pub fn millionths(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * 1e6).round_ties_even() as u32
}

fn isolation(name: &str) -> PyResult<Isolation> {
    match name {
        "serializable" => Ok(Isolation::Serializable),
        "snapshot-isolation" => Ok(Isolation::Snapshot),
        "read-committed" => Ok(Isolation::ReadCommitted),
        "read-uncommitted" => Ok(Isolation::ReadUncommitted),
        other => Err(unknown("isolation", other)),
    }
}

fn bug(name: &str) -> PyResult<Fault> {
    Fault::named(name).filter(|fault| fault.is_of_isolations()).ok_or_else(|| unknown("bug", name))
}
