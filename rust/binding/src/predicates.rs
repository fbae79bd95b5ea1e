//! Predicate reads as Python sees them: columns in, observations out.

use crate::columns::Columns;
use crate::proof::key;
use isoscope_kernel::by_key::ByKey;
use isoscope_kernel::observations::INITIAL;
use isoscope_kernel::predicates::{self, Judgement};
use isoscope_kernel::reads;
use pyo3::prelude::*;

/// What predicate reads, and reads of keys that are deleted at times, observed and missed.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct PredicatesJudgement {
    /// The states that they observed.
    observations: Vec<Py<PredicateObservation>>,
    /// The keys that they should have shown.
    misses: Vec<Py<PredicateMiss>>,
    /// How often several states of a key may have been seen.
    ambiguous_states: u64,
}

/// An operation observed a key in one state.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct PredicateObservation {
    /// The number of the operation.
    operation: u32,
    /// The key.
    key: Py<PyAny>,
    /// The transaction that made the state; None for the initial state.
    writer: Option<u32>,
}

/// A predicate read does not show a key though every state of the key matches.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct PredicateMiss {
    /// The number of the operation.
    operation: u32,
    /// The key.
    key: Py<PyAny>,
}

/// What predicate reads, and reads of keys that are deleted at times, observed and missed.
#[pyfunction]
pub fn judge_predicates(py: Python<'_>, columns: &Columns) -> PyResult<PredicatesJudgement> {
    let history = columns.history();
    let Judgement { observations, misses, ambiguous_states } = py.detach(|| {
        let owners = history.transaction_of_operation();
        predicates::judge(history, &reads::counted(history, &owners, &ByKey::new(history)))
    });
    let observed = observations.iter().map(|observation| {
        let writer = Some(observation.writer).filter(|&writer| writer != INITIAL);
        let key = key(py, columns, observation.key)?;
        Py::new(py, PredicateObservation { operation: observation.operation, key, writer })
    });
    let missed = misses.iter().map(|miss| {
        Py::new(py, PredicateMiss { operation: miss.operation, key: key(py, columns, miss.key)? })
    });
    Ok(PredicatesJudgement {
        observations: observed.collect::<PyResult<_>>()?,
        misses: missed.collect::<PyResult<_>>()?,
        ambiguous_states,
    })
}
