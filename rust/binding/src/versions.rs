//! The method of version orders as Python sees it: one call, columns in, findings out.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use crate::order_witness::{OrderWitness, order_witness};
use crate::proof::{ProofStep, counts};
use isoscope_kernel::reads::{self, ReadAnomaly};
use isoscope_kernel::solver::{Budget, TimeLimit};
use isoscope_kernel::versions::anomalies::{Finding, VersionAnomaly};
use isoscope_kernel::versions::explained::judge_with_repeated;
use isoscope_kernel::versions::levels::Level;
use isoscope_kernel::versions::orders::{Claims, ordered_keys as kernel};
use isoscope_kernel::versions::{Judgement, Question, ordered, ordered_by_clock};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::LazyLock;
use std::time::Instant;

/// What the order of versions says of a history.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct VersionsJudgement {
    /// For each level `holds`, `violated`, `untimed`, `search-too-long` or `contradictory`.
    outcomes: Py<PyDict>,
    /// How often each anomaly was found.
    counts: Py<PyDict>,
    /// The first of each anomaly.
    findings: Vec<Py<CycleFinding>>,
    /// How many keys each source orders.
    ordered_keys: Vec<Py<OrderedKeys>>,
    /// Whether reads of a list contradict each other, so that no order of its versions explains all.
    has_incompatible_lists: bool,
    /// Levels that were decided by what may explain values that several transactions wrote.
    explained: Vec<&'static str>,
    /// How far each search came that was too long: choices, conflicts, seconds and whether memory ended it, by level.
    progress: Py<PyDict>,
    /// What was not judged.
    unjudged: Py<UnjudgedVersions>,
    /// Why levels hold, of those whose witness was asked for.
    witnesses: Vec<Py<OrderWitness>>,
}

/// A cycle of dependencies, or what the sources of the version order show.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct CycleFinding {
    /// The name of the anomaly.
    anomaly: &'static str,
    /// The steps.
    steps: Vec<Py<ProofStep>>,
    /// A cycle for each order of versions, where every order leads to one.
    alternatives: Vec<Vec<Py<ProofStep>>>,
    /// The level that it was looked for, if it was for one only.
    level: Option<&'static str>,
}

/// How many keys a source of the version order orders.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct OrderedKeys {
    /// The source; empty for keys that no source orders.
    source: &'static str,
    /// Keys that it orders and no stronger source does.
    keys: u64,
    /// Those of them that are ordered to the last version.
    whole: u64,
}

/// What the method did not judge.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct UnjudgedVersions {
    /// Reads of values that several transactions wrote.
    repeated_reads: u64,
    /// Keys of those reads.
    repeated_keys: Vec<Py<PyAny>>,
    /// Keys that are lists and are deleted.
    deleted_keys: Vec<Py<PyAny>>,
    /// Keys that are both written and appended to.
    mixed_keys: Vec<Py<PyAny>>,
    /// Range reads that are not itemised.
    range_reads: u64,
    /// Whether several transactions appended the same element to a list.
    has_unsure_appends: bool,
    /// Whether a recorded order shows a value that several transactions, or none, may have written.
    has_unsure_rows: bool,
}

/// Judges all levels that speak of versions.
///
/// `claims` are names of claims about the order of versions. Of each anomaly the first `max_anomalies` are
/// returned; all are counted. `max_steps`, `max_bytes` and, level by level, `max_seconds` bound the search for an
/// order of versions. It is made for the levels `asked`, and for others only if one of these stays unknown. Of the
/// levels `witnessed` that hold, an order is given that shows it; a level behind one that implies it has the same.
/// If `of_items`, nothing follows from versions that came after what range reads left out.
#[pyfunction]
#[pyo3(signature = (columns, *, claims, max_anomalies, max_steps = None, max_bytes = None, max_seconds = None, asked = None, witnessed = None, of_items = false))]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the lists over")]
#[expect(clippy::too_many_arguments, reason = "the question, by name")]
pub fn judge_versions(
    py: Python<'_>,
    columns: &Columns,
    claims: Vec<String>,
    max_anomalies: usize,
    max_steps: Option<u64>,
    max_bytes: Option<u64>,
    max_seconds: Option<f64>,
    asked: Option<Vec<String>>,
    witnessed: Option<Vec<String>>,
    of_items: bool,
) -> PyResult<VersionsJudgement> {
    let claims = parse_claims(&claims)?;
    let witnessed = &parse_levels(&witnessed.unwrap_or_default())?[..];
    let asked = asked.as_deref().map(parse_levels).transpose()?;
    let time =
        max_seconds.map(|seconds| TimeLimit { clock: milliseconds, milliseconds: (seconds * 1e3) as u64 });
    let usual = Budget::default();
    let budget =
        Budget { steps: max_steps.unwrap_or(usual.steps), bytes: max_bytes.unwrap_or(usual.bytes), time };
    let (found, reads) = interruptible(py, |cancel| {
        let (reads, observations) = columns.judged(cancel);
        let (asked, is_of_items) = (asked.as_deref(), of_items);
        let question = Question { claims, max_anomalies, budget, is_of_items, asked, witnessed };
        let found = judge_with_repeated(columns.history(), (reads, observations), &question, cancel);
        (found, reads)
    })?;
    let unjudged = UnjudgedVersions {
        repeated_reads: reads.repeated_reads,
        repeated_keys: columns.keys_of(py, &reads.repeated_keys)?,
        deleted_keys: columns.keys_of(py, &reads.deleted_keys)?,
        mixed_keys: columns.keys_of(py, &reads.mixed_keys)?,
        range_reads: reads.range_reads,
        has_unsure_appends: found.has_unsure_appends,
        has_unsure_rows: !found.has_unsure_appends && !found.unsure_keys.is_empty(),
    };
    versions_judgement(py, columns, reads, &found, unjudged)
}

/// Milliseconds since the first call.
pub fn milliseconds() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_millis() as u64
}

fn versions_judgement(
    py: Python<'_>,
    columns: &Columns,
    reads: &reads::Judgement,
    found: &Judgement,
    unjudged: UnjudgedVersions,
) -> PyResult<VersionsJudgement> {
    let outcomes = PyDict::new(py);
    for (level, outcome) in Level::ALL.into_iter().zip(found.outcomes) {
        outcomes.set_item(level.as_str(), outcome.as_str())?;
    }
    let progress = PyDict::new(py);
    for (level, came) in &found.progress {
        let how_far = (came.choices, came.conflicts, came.milliseconds / 1000, came.is_full);
        progress.set_item(level.as_str(), how_far)?;
    }
    let names = VersionAnomaly::ALL.into_iter().map(VersionAnomaly::as_str);
    let findings = found.named.findings.iter().map(|finding| cycle_finding(py, columns, finding));
    let is_incompatible = |finding: &reads::Finding| finding.name == ReadAnomaly::IncompatibleOrder;
    Ok(VersionsJudgement {
        outcomes: outcomes.unbind(),
        counts: counts(py, names.zip(found.named.counts))?,
        findings: findings.collect::<PyResult<_>>()?,
        ordered_keys: ordered_rows(py, &found.ordered)?,
        has_incompatible_lists: reads.findings.iter().any(is_incompatible),
        explained: found.explained.iter().map(|level| level.as_str()).collect(),
        progress: progress.unbind(),
        unjudged: Py::new(py, unjudged)?,
        witnesses: found.witnesses.iter().map(|one| order_witness(py, one)).collect::<PyResult<_>>()?,
    })
}

fn cycle_finding(py: Python<'_>, columns: &Columns, finding: &Finding) -> PyResult<Py<CycleFinding>> {
    let alternatives = finding.alternatives.iter().map(|steps| ProofStep::of(py, columns, steps));
    let made = CycleFinding {
        anomaly: finding.name.as_str(),
        steps: ProofStep::of(py, columns, &finding.steps)?,
        alternatives: alternatives.collect::<PyResult<_>>()?,
        level: finding.level.map(Level::as_str),
    };
    Py::new(py, made)
}

/// For each source: how many keys it orders, and how many of them to the last version.
#[pyfunction]
#[pyo3(signature = (columns, *, claims))]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
pub fn ordered_keys(
    py: Python<'_>,
    columns: &Columns,
    claims: Vec<String>,
) -> PyResult<Vec<Py<OrderedKeys>>> {
    let is_claimed = !claims.is_empty();
    let claims = parse_claims(&claims)?;
    let found = interruptible(py, |cancel| {
        if !is_claimed && let Some(found) = ordered_by_clock(columns.history()) {
            return found;
        }
        let (_, observations) = columns.judged(cancel);
        ordered(columns.history(), observations, claims, cancel)
    })?;
    ordered_rows(py, &found)
}

fn ordered_rows(py: Python<'_>, found: &[kernel::OrderedKeys]) -> PyResult<Vec<Py<OrderedKeys>>> {
    let rows = found.iter().map(|&kernel::OrderedKeys { source, keys, whole }| {
        Py::new(py, OrderedKeys { source: source.as_str(), keys, whole })
    });
    rows.collect()
}

fn parse_levels(names: &[String]) -> PyResult<Vec<Level>> {
    let unknown = |name: &str| PyValueError::new_err(format!("no level of versions is called `{name}`"));
    names.iter().map(|name| Level::named(name).ok_or_else(|| unknown(name))).collect()
}

fn parse_claims(names: &[String]) -> PyResult<Claims> {
    let unknown = |name: &str| PyValueError::new_err(format!("no claim about versions is called `{name}`"));
    Claims::from_names(names.iter().map(String::as_str)).map_err(unknown)
}
