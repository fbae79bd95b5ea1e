//! Steps of proofs, and counts of anomalies, as Python sees them.

use crate::columns::Columns;
use isoscope_kernel::history::NO_KEY;
use isoscope_kernel::observations::{ABSENT, INITIAL};
use isoscope_kernel::relation::Relation;
use isoscope_kernel::versions::orders::Source;
use isoscope_kernel::versions::witness::Step;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One step of a proof: a transaction precedes another one.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ProofStep {
    /// The number of the earlier transaction; None for the initial state.
    before: Option<u32>,
    /// The number of the later transaction; None for the initial state.
    after: Option<u32>,
    /// Why: `session`, `wr`, `ww`, `cm`, `rw` or `real-time`.
    relation: &'static str,
    /// The key that it is about, if it is about one.
    key: Py<PyAny>,
    /// The numbers of the operations that show it.
    operations: Vec<u32>,
    /// How the order of two versions is known that the step rests on; empty if it rests on none.
    source: &'static str,
}

#[pymethods]
impl ProofStep {
    /// For tests: a step that no kernel found.
    #[new]
    #[pyo3(signature = (*, before, after, relation, key, operations, source))]
    fn new(
        before: Option<u32>,
        after: Option<u32>,
        relation: &str,
        key: Py<PyAny>,
        operations: Vec<u32>,
        source: &str,
    ) -> PyResult<Self> {
        let unknown = || PyValueError::new_err("no such relation, or no such source of an order");
        let relation = Relation::named(relation).ok_or_else(unknown)?.as_str();
        let source = Source::named(source).ok_or_else(unknown)?.as_str();
        Ok(Self { before, after, relation, key, operations, source })
    }
}

impl ProofStep {
    /// The steps of a proof.
    pub fn of(py: Python<'_>, columns: &Columns, steps: &[Step]) -> PyResult<Vec<Py<Self>>> {
        let end = |transaction: u32| (transaction != INITIAL).then_some(transaction);
        let made = steps.iter().map(|step| {
            let made = Self {
                before: end(step.before),
                after: end(step.after),
                relation: step.relation.as_str(),
                key: key(py, columns, step.key)?,
                operations: step.operations.iter().copied().filter(|&o| o != ABSENT).collect(),
                source: step.source.as_str(),
            };
            Py::new(py, made)
        });
        made.collect()
    }
}

/// The key with this number; None for [`NO_KEY`].
pub fn key(py: Python<'_>, columns: &Columns, key: u32) -> PyResult<Py<PyAny>> {
    match key {
        NO_KEY => Ok(py.None()),
        _ => Ok(columns.scalar(py, columns.history().keys[key as usize])?.unbind()),
    }
}

/// A dictionary of the anomalies that were found, in this order, with their counts.
pub fn counts(
    py: Python<'_>,
    counted: impl IntoIterator<Item = (&'static str, u64)>,
) -> PyResult<Py<PyDict>> {
    let found = PyDict::new(py);
    for (anomaly, count) in counted.into_iter().filter(|&(_, count)| count > 0) {
        found.set_item(anomaly, count)?;
    }
    Ok(found.unbind())
}
