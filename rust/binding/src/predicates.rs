//! Predicate reads as Python sees them: columns in, observations out.

use crate::columns::Columns;
use isoscope_kernel::by_key::ByKey;
use isoscope_kernel::observations::INITIAL;
use isoscope_kernel::predicates::{self, Judgement};
use isoscope_kernel::reads;
use pyo3::prelude::*;

/// An observation: operation, key, and the writer if it was not the initial state.
type Observation<'py> = (u32, Bound<'py, PyAny>, Option<u32>);
/// A miss: operation and key.
type Miss<'py> = (u32, Bound<'py, PyAny>);

/// What predicate reads, and reads of keys that are deleted at times, observed; what they missed; and how
/// many keys of them were set aside.
#[pyfunction]
pub fn judge_predicates<'py>(
    py: Python<'py>,
    columns: &Columns,
) -> PyResult<(Vec<Observation<'py>>, Vec<Miss<'py>>, u64)> {
    let history = columns.history();
    let Judgement { observations, misses, aside } = py.detach(|| {
        let owners = history.transaction_of_operation();
        predicates::judge(history, &reads::counted(history, &owners, &ByKey::new(history)))
    });
    let key = |key: u32| columns.scalar(py, history.keys[key as usize]);
    let observed = observations.iter().map(|observation| {
        let writer = Some(observation.writer).filter(|&writer| writer != INITIAL);
        Ok((observation.operation, key(observation.key)?, writer))
    });
    let missed = misses.iter().map(|miss| Ok((miss.operation, key(miss.key)?)));
    Ok((observed.collect::<PyResult<_>>()?, missed.collect::<PyResult<_>>()?, aside))
}
