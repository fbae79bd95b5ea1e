//! What went on in a history as Python sees it: one call, columns in, buckets out.

use crate::columns::Columns;
use isoscope_kernel::activity::{self as kernel, Bucket, UnderWay, Use};
use pyo3::prelude::*;

/// What went on: (clock, (first instant, length, width of a bucket), (untimed, open), buckets, (latency or
/// None, under way), keys, keys by the logarithm of their uses).
///
/// A bucket is (transactions by status, latency or None, under way), a latency (p50, p95, p99, longest),
/// under way is (total over instants, peak), a key (key, transactions, readers, writers).
#[pyfunction]
pub fn activity<'py>(
    py: Python<'py>,
    columns: &Columns,
    buckets: u64,
    keys: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let found = py.detach(|| kernel::activity(columns.history(), buckets, keys));
    let keys = found.keys.iter().map(|used| of_use(py, columns, used)).collect::<PyResult<Vec<_>>>()?;
    let row = (
        found.clock as u8,
        (found.first, found.length, found.width),
        (found.untimed, found.open),
        found.buckets.iter().map(of_bucket).collect::<Vec<_>>(),
        (found.latency, of_under_way(found.under_way)),
        keys,
        found.uses,
    );
    Ok(row.into_pyobject(py)?.into_any())
}

type OfBucket = ((u64, u64, u64), Option<[u64; 4]>, (u128, u64));

fn of_bucket(bucket: &Bucket) -> OfBucket {
    (bucket.ended.into(), bucket.latency, of_under_way(bucket.under_way))
}

fn of_under_way(under_way: UnderWay) -> (u128, u64) {
    (under_way.total, under_way.peak)
}

fn of_use<'py>(
    py: Python<'py>,
    columns: &Columns,
    used: &Use,
) -> PyResult<(Bound<'py, PyAny>, u32, u32, u32)> {
    let key = columns.scalar(py, columns.history().keys[used.key as usize])?;
    Ok((key, used.transactions, used.readers, used.writers))
}
