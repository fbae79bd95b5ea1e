//! The method of values as Python sees it: one call, columns in, findings out.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use crate::proof::{ProofStep, counts, key};
use isoscope_kernel::history::VersionSource;
use isoscope_kernel::observations::INITIAL;
use isoscope_kernel::reads::{self, NOTHING, ReadAnomaly};
use isoscope_kernel::value::Value;
use isoscope_kernel::weak::alternatives::HappensBeforeMethod;
use isoscope_kernel::weak::anomalies::WeakAnomaly;
use isoscope_kernel::weak::reader::WeakLevel;
use isoscope_kernel::weak::recorded_order::judge_by_recorded_order;
use isoscope_kernel::weak::{self, Limits, Question, witness};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What values say of a history.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ValuesJudgement {
    /// How many reads show each anomaly.
    read_counts: Py<PyDict>,
    /// The first reads of each anomaly.
    read_findings: Vec<Py<ReadFinding>>,
    /// What was not judged.
    unjudged: Py<UnjudgedReads>,
    /// The weak levels; None if they were not asked for.
    weak: Option<Py<WeakJudgement>>,
}

/// A read that no order of transactions explains.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ReadFinding {
    /// The name of the anomaly.
    anomaly: &'static str,
    /// The number of the read.
    read: u32,
    /// The write that was, or should have been, read; the earlier read; None in thin air.
    other: Option<u32>,
    /// The value, or the element of the list, that is wrong.
    value: Py<PyAny>,
    /// Whether a log shows the value as committed.
    is_logged: bool,
}

/// The reads and keys that were not judged.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct UnjudgedReads {
    /// Reads of values that several transactions wrote.
    repeated_reads: u64,
    /// Keys of those reads.
    repeated_keys: Vec<Py<PyAny>>,
    /// Keys that are deleted.
    deleted_keys: Vec<Py<PyAny>>,
    /// Keys that are both written and appended to.
    mixed_keys: Vec<Py<PyAny>>,
    /// Range reads.
    range_reads: u64,
}

/// What values say of the weak levels.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct WeakJudgement {
    /// Levels whose axiom is broken.
    violated: Vec<&'static str>,
    /// Levels whose axiom is satisfied.
    satisfied: Vec<&'static str>,
    /// Levels that there are too many sessions to decide.
    undecided: Vec<&'static str>,
    /// Levels on which sources of the order of versions lead to different answers.
    contradictory: Vec<&'static str>,
    /// How often each anomaly was found.
    counts: Py<PyDict>,
    /// Whether there may be more, because not all sessions could be looked at together.
    is_partial: bool,
    /// The first of each anomaly.
    findings: Vec<Py<ConflictFinding>>,
    /// What it took.
    effort: Py<WeakEffort>,
    /// Transactions in a commit order of each level that is satisfied, if that was asked for.
    orders: Py<PyDict>,
}

/// A cycle in the commit order that a level demands.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ConflictFinding {
    /// The name of the anomaly.
    anomaly: &'static str,
    /// The steps of a cycle; of a conflict, those from the older transaction to the newer one.
    order: Vec<Py<ProofStep>>,
    /// The read that makes a conflict; None if the steps are a cycle.
    stale_read: Option<Py<StaleRead>>,
}

/// A read from an older transaction although a newer one was in the reader's sight.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct StaleRead {
    /// The number of the reader.
    reader: u32,
    /// The transaction that was read from; None for the initial state.
    older: Option<u32>,
    /// The transaction that should have been read from.
    newer: u32,
    /// The key.
    key: Py<PyAny>,
    /// The number of the read.
    read: u32,
    /// How the newer transaction came to the reader's sight.
    sight: Vec<Py<ProofStep>>,
}

/// What it took to decide the strongest level.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct WeakEffort {
    /// Demands on the commit order that were kept.
    demands: usize,
    /// Clocks that were joined.
    joins: u64,
    /// Entries of clocks that were looked at.
    entries: u64,
    /// Traversals of the graph.
    traversals: u64,
    /// Transactions that traversals visited.
    visits: u64,
}

/// Judges all reads, and the weak levels up to `strongest`.
///
/// `keeps_orders` asks for a commit order of each level that is satisfied.
/// Of each anomaly the first `max_anomalies` are returned; all are counted. `happens_before` is one of
/// [`HappensBeforeMethod`]; `max_steps` and `max_clock_bytes` bound the work for very many sessions.
#[pyfunction]
#[pyo3(signature = (columns, *, strongest, max_anomalies, happens_before = "lazy", max_steps = None, max_clock_bytes = None, by_recorded_order = false, keeps_orders = false))]
#[expect(clippy::too_many_arguments, reason = "the question, by name")]
pub fn judge_values(
    py: Python<'_>,
    columns: &Columns,
    strongest: Option<&str>,
    max_anomalies: usize,
    happens_before: &str,
    max_steps: Option<usize>,
    max_clock_bytes: Option<usize>,
    by_recorded_order: bool,
    keeps_orders: bool,
) -> PyResult<ValuesJudgement> {
    let method = HappensBeforeMethod::named(happens_before).ok_or_else(|| {
        PyValueError::new_err(format!("no way to compute happens-before is called {happens_before}"))
    })?;
    let usual = Limits::default();
    let limits =
        Limits { steps: max_steps.unwrap_or(usual.steps), bytes: max_clock_bytes.unwrap_or(usual.bytes) };
    let question = strongest.map(weak_level).transpose()?;
    let question =
        question.map(|strongest| Question { strongest, max_anomalies, method, limits, keeps_orders });
    let (reads, weak) = interruptible(py, |cancel| {
        let (reads, observations) = columns.judged(cancel);
        let weak = question.map(|question| {
            let judge = if by_recorded_order { judge_by_recorded_order } else { weak::judge };
            (question.strongest, judge(columns.history(), observations, question, cancel))
        });
        (reads, weak)
    })?;
    let (read_counts, read_findings) = read_findings(py, columns, reads, max_anomalies)?;
    Ok(ValuesJudgement {
        read_counts,
        read_findings,
        unjudged: Py::new(py, unjudged(py, columns, reads)?)?,
        weak: weak.map(|(strongest, found)| weak_judgement(py, columns, strongest, &found)).transpose()?,
    })
}

pub fn weak_level(name: &str) -> PyResult<WeakLevel> {
    WeakLevel::named(name).ok_or_else(|| PyValueError::new_err(format!("values do not decide `{name}`")))
}

fn read_findings(
    py: Python<'_>,
    columns: &Columns,
    judgement: &reads::Judgement,
    max_anomalies: usize,
) -> PyResult<(Py<PyDict>, Vec<Py<ReadFinding>>)> {
    let mut counted = [0u64; ReadAnomaly::COUNT];
    let mut shown = Vec::new();
    for finding in &judgement.findings {
        let count = &mut counted[finding.name as usize];
        *count += 1;
        if *count <= max_anomalies as u64 {
            shown.push(Py::new(py, read_finding(py, columns, finding)?)?);
        }
    }
    let names = ReadAnomaly::ALL.into_iter().map(ReadAnomaly::as_str);
    Ok((counts(py, names.zip(counted))?, shown))
}

pub fn read_finding(py: Python<'_>, columns: &Columns, finding: &reads::Finding) -> PyResult<ReadFinding> {
    let &reads::Finding { name, read, other, value } = finding;
    Ok(ReadFinding {
        anomaly: name.as_str(),
        read,
        other: (other != NOTHING).then_some(other),
        value: columns.scalar(py, value)?.unbind(),
        is_logged: name == ReadAnomaly::AbortedRead && is_logged(columns, read, value),
    })
}

/// Whether a log shows the value of the key that an operation is about.
fn is_logged(columns: &Columns, operation: u32, value: Value) -> bool {
    let history = columns.history();
    let key = history.operations.keys[operation as usize];
    let logs = history.versions.iter().filter(|order| order.source == VersionSource::Log);
    logs.into_iter().any(|order| order.of(key).contains(&value))
}

fn unjudged(py: Python<'_>, columns: &Columns, judgement: &reads::Judgement) -> PyResult<UnjudgedReads> {
    Ok(UnjudgedReads {
        repeated_reads: judgement.repeated_reads,
        repeated_keys: columns.keys_of(py, &judgement.repeated_keys)?,
        deleted_keys: columns.keys_of(py, &judgement.deleted_keys)?,
        mixed_keys: columns.keys_of(py, &judgement.mixed_keys)?,
        range_reads: judgement.range_reads,
    })
}

fn weak_judgement(
    py: Python<'_>,
    columns: &Columns,
    strongest: WeakLevel,
    found: &weak::Judgement,
) -> PyResult<Py<WeakJudgement>> {
    let levels = &WeakLevel::ALL[..=strongest as usize];
    let is_contradictory =
        |level: &&WeakLevel| found.contradictory.get(**level as usize).copied() == Some(true);
    let among = |wanted: Option<bool>| {
        let chosen = levels.iter().filter(|&&level| found.violated.get(level as usize).copied() == wanted);
        chosen.filter(|level| !is_contradictory(level)).map(|level| level.as_str()).collect()
    };
    let names = WeakAnomaly::ALL.into_iter().map(WeakAnomaly::as_str);
    let findings = found.findings.iter().map(|finding| conflict_finding(py, columns, finding));
    let weak::alternatives::Effort { joins, entries, traversals, visits } = found.effort;
    let orders = PyDict::new(py);
    for (level, order) in levels.iter().zip(&found.orders).filter(|(level, _)| !is_contradictory(level)) {
        if let Some(order) = order {
            orders.set_item(level.as_str(), order)?;
        }
    }
    let effort = WeakEffort { demands: found.demands, joins, entries, traversals, visits };
    let judgement = WeakJudgement {
        violated: among(Some(true)),
        satisfied: among(Some(false)),
        undecided: among(None),
        contradictory: levels.iter().filter(is_contradictory).map(|level| level.as_str()).collect(),
        counts: counts(py, names.zip(found.counts))?,
        is_partial: found.is_partial,
        findings: findings.collect::<PyResult<_>>()?,
        effort: Py::new(py, effort)?,
        orders: orders.unbind(),
    };
    Py::new(py, judgement)
}

fn conflict_finding(
    py: Python<'_>,
    columns: &Columns,
    finding: &witness::Finding,
) -> PyResult<Py<ConflictFinding>> {
    let stale_read = finding.conflict.map(|(reader, older, newer)| {
        let stale = StaleRead {
            reader,
            older: (older != INITIAL).then_some(older),
            newer,
            key: key(py, columns, finding.key)?,
            read: finding.read,
            sight: ProofStep::of(py, columns, &finding.sight)?,
        };
        Py::new(py, stale)
    });
    let made = ConflictFinding {
        anomaly: finding.name.as_str(),
        order: ProofStep::of(py, columns, &finding.order)?,
        stale_read: stale_read.transpose()?,
    };
    Py::new(py, made)
}
