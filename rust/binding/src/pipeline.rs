//! The pipeline of the method of intervals, for benchmarks: times in, counts out.

#[cfg(feature = "baselines")]
use isoscope_kernel::intervals::pipeline::{Naive, Plain};
use isoscope_kernel::intervals::pipeline::{Options, Pipeline, Sorter, sort};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How the items of all clients were dispatched.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct Dispatched {
    items: u64,
    batches: u64,
    in_order: bool,
    max_waiting: usize,
}

/// Dispatches the items of clients, each given by its times in order. `way` is "pipeline"; a build with the feature
/// `baselines` has "plain" and "naive", too.
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
        #[cfg(feature = "baselines")]
        "plain" => py.detach(|| dispatched(Plain::new(capacity), &times)),
        #[cfg(feature = "baselines")]
        "naive" => py.detach(|| dispatched(Naive::new(), &times)),
        _ => Err(PyValueError::new_err(format!("this build has no way to dispatch that is called `{way}`"))),
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
    Ok(Dispatched { items, batches, in_order, max_waiting: sorter.max_waiting() })
}
