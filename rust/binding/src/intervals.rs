//! The method of intervals as Python sees it: one judging call, typed findings.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use crate::profile::Profile;
use isoscope_kernel::intervals::{
    self, Judgement, Mechanism, Question, RejectedTransaction, ShownFinding, Tally,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The snapshot that an operation was judged against: the operation that took it, and its interval if that is not
/// the interval of this operation.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct SnapshotUsed {
    operation: u32,
    interval: Option<(i64, Option<i64>)>,
}

/// One counterexample: the operations that show it, each with its snapshot.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct MechanismFinding {
    mechanism: &'static str,
    anomaly: &'static str,
    case: String,
    operations: Vec<u32>,
    snapshots: Vec<Py<SnapshotUsed>>,
}

/// What was checked of one mechanism, and how many findings there are.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct MechanismCheck {
    mechanism: &'static str,
    anomaly: &'static str,
    count: u64,
    checked: u64,
    undecided: u64,
}

/// How many dependencies there are of one kind.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct DependencyCount {
    kind: &'static str,
    total: u64,
    overlapping: u64,
    uncertain: u64,
}

/// The answer for all mechanisms; `ordered` is the history with the order of versions, if that was asked for.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct MechanismsJudgement {
    checks: Vec<Py<MechanismCheck>>,
    findings: Vec<Py<MechanismFinding>>,
    dependencies: Vec<Py<DependencyCount>>,
    ordered: Option<Py<Columns>>,
}

impl MechanismsJudgement {
    pub fn new(py: Python<'_>, judgement: Judgement) -> PyResult<Self> {
        let Judgement { tally, findings, ordered } = judgement;
        Ok(Self {
            checks: checks(py, &tally)?,
            findings: findings.into_iter().map(|one| finding(py, one)).collect::<PyResult<_>>()?,
            dependencies: dependencies(py, &tally)?,
            ordered: ordered.map(|history| Py::new(py, Columns::new(history))).transpose()?,
        })
    }
}

/// The count of each mechanism, whether it has findings or not.
pub fn checks(py: Python<'_>, tally: &Tally) -> PyResult<Vec<Py<MechanismCheck>>> {
    let check = |mechanism: Mechanism| {
        let intervals::Checked { checked, undecided } = tally.checked(mechanism);
        let count = tally.findings(mechanism);
        let (mechanism, anomaly) = (mechanism.as_str(), mechanism.anomaly());
        Py::new(py, MechanismCheck { mechanism, anomaly, count, checked, undecided })
    };
    Mechanism::ALL.into_iter().map(check).collect()
}

fn finding(py: Python<'_>, finding: ShownFinding) -> PyResult<Py<MechanismFinding>> {
    let ShownFinding { case, operations, snapshots } = finding;
    let snapshot = |one: intervals::SnapshotUsed| {
        Py::new(py, SnapshotUsed { operation: one.operation, interval: one.interval })
    };
    let found = MechanismFinding {
        mechanism: case.mechanism().as_str(),
        anomaly: case.mechanism().anomaly(),
        case: case.name(),
        operations,
        snapshots: snapshots.into_iter().map(snapshot).collect::<PyResult<_>>()?,
    };
    Py::new(py, found)
}

fn dependencies(py: Python<'_>, tally: &Tally) -> PyResult<Vec<Py<DependencyCount>>> {
    let kinds = [("wr", tally.wr), ("ww", tally.ww), ("rw", tally.rw)];
    let count = |(kind, one): (&'static str, intervals::Dependencies)| {
        let intervals::Dependencies { total, overlapping, uncertain } = one;
        Py::new(py, DependencyCount { kind, total, overlapping, uncertain })
    };
    kinds.into_iter().map(count).collect()
}

/// The error for a transaction that cannot be judged: its number, and what is wrong with it.
pub fn rejected(transaction: RejectedTransaction) -> PyErr {
    PyValueError::new_err((transaction.transaction, transaction.problem))
}

/// Judges a history by the mechanisms of a profile; with `orders_versions`, the judgement has the history with the
/// order of versions that is certain by the mechanisms, as one that it declares.
///
/// Raises ValueError with the number of a transaction and what is wrong with it if one has no intervals.
#[pyfunction]
#[pyo3(signature = (columns, profile, *, clock_error, max_anomalies, orders_versions = false))]
pub fn judge_intervals(
    py: Python<'_>,
    columns: &Columns,
    profile: &Profile,
    clock_error: i64,
    max_anomalies: u64,
    orders_versions: bool,
) -> PyResult<MechanismsJudgement> {
    let question = Question { profile: profile.kernel(), clock_error, max_anomalies, orders_versions };
    let history = columns.history();
    let judgement = interruptible(py, |cancel| intervals::judge(history, &question, cancel))?;
    MechanismsJudgement::new(py, judgement.map_err(rejected)?)
}
