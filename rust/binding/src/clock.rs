//! The method of timestamps: columns in, judgements out.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use crate::scalar;
use isoscope_kernel::clock::{self, ClockAnomaly, ClockLevel, Finding, Judgement, NOTHING};
use isoscope_kernel::history::NO_KEY;
use isoscope_kernel::value::{Value, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One contradiction between the history and the clock.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ClockFinding {
    /// The name of the anomaly.
    name: &'static str,
    /// The axiom that it breaks.
    axiom: &'static str,
    /// The transaction that reads, or starts too early; of a conflict the one that committed first.
    transaction: u32,
    /// The other transaction, if there is one.
    other: Option<u32>,
    key: Option<Py<PyAny>>,
    /// The read; of a conflict the write of the first transaction.
    operation: Option<u32>,
    /// The operation that it contradicts; None: the initial value.
    against: Option<u32>,
    /// The elements of the list that a stale read should have shown.
    expected: Vec<Py<PyAny>>,
    /// The class of the version that a stale read shows.
    version_class: Option<&'static str>,
    /// The write that installed this version.
    version_write: Option<u32>,
}

/// What the clock says of one level.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ClockJudgement {
    /// The level.
    level: &'static str,
    /// How many there are of each anomaly that was found, by name.
    counts: Py<PyDict>,
    /// The first of each anomaly.
    findings: Vec<Py<ClockFinding>>,
    /// Timestamps that belong to several transactions.
    ties: u64,
    /// Transactions that lack a timestamp, and how many keys they wrote.
    untimed: u64,
    untimed_keys: u64,
    /// Keys that are not judged because some transaction deletes them.
    deleted_keys: Vec<Py<PyAny>>,
    /// Keys that are both written and appended to.
    mixed_keys: Vec<Py<PyAny>>,
    /// Reads that are right if a transaction took effect of which the client never learned the end.
    repeated_reads: u64,
    /// The keys of these reads.
    repeated_keys: Vec<Py<PyAny>>,
    range_reads: u64,
}

/// The anomalies that can contradict the clock, each with the axiom that it breaks.
pub fn axioms(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let axioms = PyDict::new(py);
    for anomaly in ClockAnomaly::ALL {
        axioms.set_item(anomaly.as_str(), anomaly.axiom())?;
    }
    Ok(axioms)
}

/// Holds a history against the database's own clock, level by level; events whose physical time is not in
/// `window`, both ends included, only shape the state.
#[pyfunction]
#[pyo3(signature = (columns, levels, max_anomalies, window = None))]
pub fn judge_clock(
    py: Python<'_>,
    columns: &Columns,
    levels: Vec<String>,
    max_anomalies: usize,
    window: Option<(i64, i64)>,
) -> PyResult<Vec<ClockJudgement>> {
    let levels = self::levels(levels)?;
    let history = columns.history();
    let window = window.map_or(i64::MIN..=i64::MAX, |(first, last)| first..=last);
    let judge_all = |cancel: &_| -> Vec<Judgement> {
        let judge = |&level: &_| clock::judge_window(history, level, max_anomalies, window.clone(), cancel);
        levels.iter().map(judge).collect()
    };
    let judgements = interruptible(py, judge_all)?;
    let mut all = Vec::new();
    for (&level, judgement) in levels.iter().zip(&judgements) {
        if level == ClockLevel::Snapshot {
            columns.tied().get_or_init(|| judgement.ties);
        }
        let key = |key| history.keys[key as usize];
        all.push(ClockJudgement::new(py, level, judgement, &history.values, key)?);
    }
    Ok(all)
}

/// Only puts the events in order: how many timestamps belong to several transactions.
#[pyfunction]
pub fn clock_ties(py: Python<'_>, columns: &Columns, level: &str) -> PyResult<u64> {
    let level = self::level(level)?;
    Ok(py.detach(|| clock::ties(columns.history(), level)))
}

/// The level of the clock with this name.
pub fn level(name: &str) -> PyResult<ClockLevel> {
    let problem = || PyValueError::new_err(format!("`{name}` is no level of the clock"));
    ClockLevel::named(name).ok_or_else(problem)
}

/// The levels of the clock with these names.
pub fn levels(names: Vec<String>) -> PyResult<Vec<ClockLevel>> {
    names.into_iter().map(|name| level(&name)).collect()
}

impl ClockJudgement {
    /// A judgement whose numbers of keys and scalars are replaced by Python's objects.
    pub fn new(
        py: Python<'_>,
        level: ClockLevel,
        judgement: &Judgement,
        values: &Values,
        key: impl Fn(u32) -> Value,
    ) -> PyResult<Self> {
        let scalar = |value| scalar::to_python(py, values, value).map(Bound::unbind);
        let keys = |keys: &[u32]| keys.iter().map(|&number| scalar(key(number))).collect::<PyResult<_>>();
        let mut sorted: Vec<&Finding> = judgement.findings.iter().collect();
        sorted.sort_by_key(|finding| finding.anomaly);
        let findings = sorted.into_iter().map(|finding| {
            let key = (finding.key != NO_KEY).then(|| scalar(key(finding.key))).transpose()?;
            let expected = finding.expected.iter().map(|&value| scalar(value)).collect::<PyResult<_>>()?;
            Py::new(py, ClockFinding::new(finding, key, expected))
        });
        Ok(Self {
            level: level.as_str(),
            counts: counts(py, &judgement.counts)?,
            findings: findings.collect::<PyResult<_>>()?,
            ties: judgement.ties,
            untimed: judgement.untimed,
            untimed_keys: judgement.untimed_keys,
            deleted_keys: keys(&judgement.deleted_keys)?,
            mixed_keys: keys(&judgement.mixed_keys)?,
            repeated_reads: judgement.repeated_reads,
            repeated_keys: keys(&judgement.repeated_keys)?,
            range_reads: judgement.range_reads,
        })
    }
}

impl ClockFinding {
    fn new(finding: &Finding, key: Option<Py<PyAny>>, expected: Vec<Py<PyAny>>) -> Self {
        let some = |number: u32| (number != NOTHING).then_some(number);
        Self {
            name: finding.anomaly.as_str(),
            axiom: finding.anomaly.axiom(),
            transaction: finding.transaction,
            other: some(finding.other),
            key,
            operation: some(finding.operation),
            against: some(finding.against),
            expected,
            version_class: finding.shown.map(|(class, _)| class.as_str()),
            version_write: finding.shown.and_then(|(_, write)| some(write)),
        }
    }
}

/// The counts of the anomalies that were found, by name.
pub fn counts(py: Python<'_>, counts: &[u64; ClockAnomaly::COUNT]) -> PyResult<Py<PyDict>> {
    let named = PyDict::new(py);
    for (anomaly, &count) in ClockAnomaly::ALL.iter().zip(counts).filter(|&(_, &count)| count > 0) {
        named.set_item(anomaly.as_str(), count)?;
    }
    Ok(named.unbind())
}
