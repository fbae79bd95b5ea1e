//! Cut isolation and the weak levels by explanations of repeated values, as Python sees them.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use crate::order_witness::{OrderWitness, commit_witness};
use crate::values::{ReadFinding, read_finding, weak_level};
use crate::versions::milliseconds;
use isoscope_kernel::solver::{Budget, TimeLimit};
use isoscope_kernel::weak::agreement;
use isoscope_kernel::weak::explained::{Outcome, Question, judge_explained};
use isoscope_kernel::weak::reader::WeakLevel;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What explanations of repeated values say.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ExplainedValues {
    /// Whether there is anything that may be explained in several ways.
    is_ambiguous: bool,
    /// Whether sources of the order of versions contradict each other in every explanation.
    is_contradictory: bool,
    /// For cut isolation and each weak level up to the strongest `holds`, `violated` or `unknown`.
    outcomes: Py<PyDict>,
    /// A read that breaks cut isolation in an explanation.
    cut_finding: Option<Py<ReadFinding>>,
    /// A commit order of each weak level that holds.
    witnesses: Vec<Py<OrderWitness>>,
}

/// Judges cut isolation and the weak levels up to `strongest` where values repeat: does some explanation meet them?
#[pyfunction]
#[pyo3(signature = (columns, *, strongest, by_recorded_order, max_seconds))]
pub fn explain_values(
    py: Python<'_>,
    columns: &Columns,
    strongest: Option<&str>,
    by_recorded_order: bool,
    max_seconds: f64,
) -> PyResult<ExplainedValues> {
    let strongest = strongest.map(weak_level).transpose()?;
    let time = Some(time_limit(max_seconds));
    let question = Question { strongest, by_recorded_order, budget: Budget { time, ..Budget::default() } };
    let found = interruptible(py, |cancel| {
        let (reads, observations) = columns.judged(cancel);
        judge_explained(columns.history(), observations, &reads.ambiguous_keys(), question, cancel)
    })?;
    let outcomes = PyDict::new(py);
    outcomes.set_item("cut-isolation", name(found.cut))?;
    for (level, outcome) in WeakLevel::ALL.into_iter().zip(&found.weak) {
        outcomes.set_item(level.as_str(), name(*outcome))?;
    }
    let finding = found.cut_finding.map(|finding| read_finding(py, columns, &finding));
    let orders = WeakLevel::ALL.into_iter().zip(&found.orders);
    let kept = orders.filter_map(|(level, order)| Some((level, order.as_ref()?)));
    Ok(ExplainedValues {
        is_ambiguous: found.is_ambiguous,
        is_contradictory: found.is_contradictory,
        outcomes: outcomes.unbind(),
        cut_finding: finding.transpose()?.map(|finding| Py::new(py, finding)).transpose()?,
        witnesses: kept.map(|(level, order)| commit_witness(py, level, order)).collect::<PyResult<_>>()?,
    })
}

/// Whether the sources of the order of versions agree in some explanation of repeated values.
#[pyfunction]
#[pyo3(signature = (columns, *, max_seconds))]
pub fn sources_agree(py: Python<'_>, columns: &Columns, max_seconds: f64) -> PyResult<bool> {
    interruptible(py, |cancel| {
        let (reads, observations) = columns.judged(cancel);
        let (keys, time) = (reads.ambiguous_keys(), time_limit(max_seconds));
        agreement::sources_agree(columns.history(), observations, &keys, time, cancel)
    })
}

fn time_limit(seconds: f64) -> TimeLimit {
    TimeLimit { clock: milliseconds, milliseconds: (seconds * 1e3) as u64 }
}

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Violated => "violated",
        Outcome::Unknown => "unknown",
    }
}
