//! The pipeline of the method of intervals and what it is measured against: one call, times in, counts out.

use isoscope_kernel::intervals::pipeline::{Naive, Options, Pipeline, Plain, Sorter, sort};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Items, batches, whether all came in order, the most items that ever waited.
type Dispatched = (u64, u64, bool, usize);

/// Dispatches what clients say, for each the times in order: (items, batches, whether they came in order, the
/// most items that waited). `way` is "pipeline", "plain" or "naive".
#[pyfunction]
#[pyo3(signature = (clients, *, way, capacity))]
#[expect(clippy::needless_pass_by_value, reason = "they come from Python")]
pub fn dispatch_times(
    py: Python<'_>,
    clients: Vec<PyBuffer<i64>>,
    way: &str,
    capacity: usize,
) -> PyResult<Dispatched> {
    let times = clients.iter().map(|buffer| buffer.to_vec(py)).collect::<PyResult<Vec<_>>>()?;
    match way {
        "pipeline" => {
            let options = Options { capacity, ..Options::default() };
            py.detach(|| dispatched(Pipeline::new(options), &times))
        }
        "plain" => py.detach(|| dispatched(Plain::new(capacity), &times)),
        "naive" => py.detach(|| dispatched(Naive::new(), &times)),
        _ => Err(PyValueError::new_err(format!("no way to dispatch is called `{way}`"))),
    }
}

fn dispatched(mut sorter: impl Sorter<u32>, times: &[Vec<i64>]) -> PyResult<Dispatched> {
    let mut sources: Vec<_> = times.iter().map(|times| times.iter().copied().zip(0..)).collect();
    let (mut items, mut batches, mut in_order, mut last) = (0, 0, true, i64::MIN);
    let sorted = sort(&mut sorter, &mut sources, |_, batch| {
        items += batch.len() as u64;
        batches += 1;
        for &(before, _) in batch {
            in_order &= last <= before;
            last = before;
        }
    });
    sorted.map_err(|late| {
        PyValueError::new_err(format!("client {} says {} after {}", late.client, late.before, late.earliest))
    })?;
    Ok((items, batches, in_order, sorter.most()))
}
