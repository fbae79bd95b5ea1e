//! Histories of a database that works as a profile says, with what really happened.

use crate::columns::Columns;
use crate::generate::unknown;
use crate::interrupt::interruptible;
use crate::parse_error;
use crate::profile::Profile;
use isoscope_kernel::simulate::mechanisms::{self as kernel, Delays, Fault, Load, Simulation, Truth};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Begun, snapshot, committed, ended.
type LifetimeRow = (u64, Option<u64>, Option<u64>, u64);
/// Transaction, first and last row, mode, whether it is on a predicate, taken, released.
type LockRow = (u32, u32, u32, u8, bool, u64, u64);
/// Operation, row, instant that was looked at, writer, when its version appeared.
type ShownRow = (u32, u32, u64, Option<u32>, u64);
/// Name, transaction, operation, whether it shows.
type FaultRow = (&'static str, u32, u32, bool);
type TruthRows = (
    Vec<LifetimeRow>,
    Vec<LockRow>,
    Vec<ShownRow>,
    Vec<(u32, u32, u64)>,
    Vec<(u8, u32, u32, u32)>,
    Vec<FaultRow>,
);

/// A run of a database that works as a profile says, slice by slice.
#[pyclass(module = "isoscope._native")]
pub struct MechanismSimulation {
    run: Option<kernel::MechanismSimulation>,
}

#[pymethods]
impl MechanismSimulation {
    #[new]
    #[pyo3(signature = (profile, *, seed, clients, transactions, operations, keys, tables, theta, reads, ranges, longest_range, for_update, for_share, updates_after_reads, inserts, deletes, repeated_values, rollbacks, lost_answers, network, service, thinking, clock_error, faults, truth))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only in Python")]
    #[expect(clippy::needless_pass_by_value, reason = "they come from Python")]
    fn new(
        profile: &Profile,
        seed: u64,
        clients: u32,
        transactions: u32,
        operations: (u32, u32),
        keys: u32,
        tables: u32,
        theta: f64,
        reads: u32,
        ranges: u32,
        longest_range: u32,
        for_update: u32,
        for_share: u32,
        updates_after_reads: u32,
        inserts: u32,
        deletes: u32,
        repeated_values: u32,
        rollbacks: u32,
        lost_answers: u32,
        network: u64,
        service: u64,
        thinking: u64,
        clock_error: u64,
        faults: Vec<(String, f64)>,
        truth: bool,
    ) -> PyResult<Self> {
        let load = Load {
            clients,
            transactions,
            operations,
            keys,
            tables,
            theta,
            reads,
            ranges,
            longest_range,
            for_update,
            for_share,
            updates_after_reads,
            inserts,
            deletes,
            repeated_values,
            rollbacks,
            lost_answers,
        };
        if let Some(problem) = load.problem() {
            return Err(PyValueError::new_err(problem));
        }
        let delays = Delays { network, service, thinking, clock_error };
        let profile = profile.kernel().clone();
        let faults = faults.iter().map(rate).collect::<PyResult<_>>()?;
        let simulation = Simulation { profile, seed, load, delays, faults, truth };
        Ok(Self { run: Some(kernel::MechanismSimulation::new(&simulation)) })
    }

    /// The history of the next so many transactions that end; an empty one if there are no more.
    fn next(&mut self, py: Python<'_>, transactions: u32) -> PyResult<Columns> {
        let Some(run) = &mut self.run else { return Err(is_over()) };
        let history = interruptible(py, |cancel| run.next(transactions, cancel))?;
        Ok(Columns::new(history.map_err(parse_error)?))
    }

    /// What really happened; the run is over then.
    fn truth(&mut self, py: Python<'_>) -> PyResult<TruthRows> {
        let run = self.run.take().ok_or_else(is_over)?;
        Ok(py.detach(|| rows(run.into_truth())))
    }
}

fn is_over() -> PyErr {
    PyValueError::new_err("the run is over")
}

fn rate((name, share): &(String, f64)) -> PyResult<(Fault, u32)> {
    let fault = Fault::called(name).ok_or_else(|| unknown("fault", name))?;
    Ok((fault, (share.clamp(0.0, 1.0) * 1e6).round() as u32))
}

fn rows(truth: Truth) -> TruthRows {
    (
        truth.lifetimes.iter().map(|one| (one.begun, one.snapshot, one.committed, one.ended)).collect(),
        truth
            .locks
            .iter()
            .map(|one| {
                let mode = one.mode as u8;
                (one.transaction, one.low, one.high, mode, one.is_predicate, one.taken, one.released)
            })
            .collect(),
        truth.shown.iter().map(|one| (one.operation, one.key, one.at, one.writer, one.from)).collect(),
        truth.versions,
        truth.dependencies.iter().map(|one| (one.relation as u8, one.before, one.after, one.key)).collect(),
        truth
            .struck
            .iter()
            .map(|one| (one.fault.name(), one.transaction, one.operation, one.is_visible))
            .collect(),
    )
}
