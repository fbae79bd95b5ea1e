//! The activity of a history as Python sees it: one call, columns in, buckets out.

use crate::columns::Columns;
use crate::proof::key;
use isoscope_kernel::activity::{self as kernel, Bucket, Concurrency, Quantiles, Use};
use pyo3::prelude::*;

/// What transactions did in the course of a history.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ActivityCounts {
    /// `client`, `database`, `events` or `appearance`.
    clock: &'static str,
    /// The first instant, where the first bucket begins.
    first: i64,
    /// Instants from the first to the last, both counted.
    length: u64,
    /// Instants in a bucket; the last may have fewer.
    width: u64,
    /// Transactions of which no instant is known: they are in no bucket.
    untimed: u64,
    /// Transactions of which not both ends are known.
    open: u64,
    /// The buckets from the first instant to the last.
    buckets: Vec<Py<BucketCounts>>,
    /// The latency of all committed transactions.
    latency: Option<Py<LatencyQuantiles>>,
    /// How many transactions ran at once.
    concurrency: Py<ConcurrencyCounts>,
    /// The keys that most transactions use.
    keys: Vec<Py<KeyUseCounts>>,
    /// At `n`: keys that 2^n transactions use or more, but fewer than 2^(n + 1).
    keys_by_use: Vec<u64>,
}

/// What transactions did in one bucket.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct BucketCounts {
    /// Transactions that committed.
    committed: u64,
    /// Transactions that aborted.
    aborted: u64,
    /// Transactions whose outcome the client never learned.
    indeterminate: u64,
    /// The latency of the committed ones, if any has both ends.
    latency: Option<Py<LatencyQuantiles>>,
    /// How many transactions ran at once.
    concurrency: Py<ConcurrencyCounts>,
}

/// Quantiles of latencies, by nearest rank.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct LatencyQuantiles {
    /// The median.
    p50: u64,
    /// The 95th percentile.
    p95: u64,
    /// The 99th percentile.
    p99: u64,
    /// The longest.
    max: u64,
}

/// How many transactions ran at once.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ConcurrencyCounts {
    /// Added up over all instants: divided by their number, the mean.
    total: u128,
    /// Most at one instant.
    peak: u64,
}

/// How many transactions use a key.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct KeyUseCounts {
    /// The key.
    key: Py<PyAny>,
    /// Transactions that read or write it.
    transactions: u32,
    /// Transactions that read it.
    readers: u32,
    /// Transactions that write it.
    writers: u32,
}

/// What transactions did, in at most so many `buckets`, and the `keys` that most of them use.
#[pyfunction]
pub fn activity(py: Python<'_>, columns: &Columns, buckets: u64, keys: usize) -> PyResult<ActivityCounts> {
    let found = py.detach(|| kernel::activity(columns.history(), buckets, keys));
    Ok(ActivityCounts {
        clock: found.clock.as_str(),
        first: found.first,
        length: found.length,
        width: found.width,
        untimed: found.untimed,
        open: found.open,
        buckets: found.buckets.iter().map(|bucket| of_bucket(py, bucket)).collect::<PyResult<_>>()?,
        latency: of_latency(py, found.latency)?,
        concurrency: of_concurrency(py, found.concurrency)?,
        keys: found.keys.iter().map(|used| of_use(py, columns, used)).collect::<PyResult<_>>()?,
        keys_by_use: found.uses,
    })
}

fn of_bucket(py: Python<'_>, bucket: &Bucket) -> PyResult<Py<BucketCounts>> {
    let [committed, aborted, indeterminate] = bucket.ended;
    let latency = of_latency(py, bucket.latency)?;
    let concurrency = of_concurrency(py, bucket.concurrency)?;
    Py::new(py, BucketCounts { committed, aborted, indeterminate, latency, concurrency })
}

fn of_latency(py: Python<'_>, quantiles: Option<Quantiles>) -> PyResult<Option<Py<LatencyQuantiles>>> {
    let made = quantiles.map(|[p50, p95, p99, max]| Py::new(py, LatencyQuantiles { p50, p95, p99, max }));
    made.transpose()
}

fn of_concurrency(py: Python<'_>, counted: Concurrency) -> PyResult<Py<ConcurrencyCounts>> {
    Py::new(py, ConcurrencyCounts { total: counted.total, peak: counted.peak })
}

fn of_use(py: Python<'_>, columns: &Columns, used: &Use) -> PyResult<Py<KeyUseCounts>> {
    let &Use { key: number, transactions, readers, writers } = used;
    Py::new(py, KeyUseCounts { key: key(py, columns, number)?, transactions, readers, writers })
}
