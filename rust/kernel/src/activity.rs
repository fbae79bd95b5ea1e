//! The activity of a history over time: transactions that ended, how long they took, how many ran at once,
//! and the keys that most of them use.
//!
//! Time is cut into buckets of equal width. A transaction counts in the bucket in which it ended for its
//! client, or began if its end is unknown. Cost: a sort of the instants, and one look at each operation.

mod concurrency;
mod keys;
mod spans;

pub use concurrency::Concurrency;
pub use keys::Use;
pub use spans::Clock;

use crate::history::{History, Status};
use rayon::prelude::*;
use spans::Spans;

/// The median, the 95th and the 99th percentile, and the longest.
pub type Quantiles = [u64; 4];

/// The activity between two instants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Transactions by [`Status`].
    pub ended: [u64; 3],
    /// How long the committed ones took, if there are any with both ends.
    pub latency: Option<Quantiles>,
    /// How many were under way.
    pub concurrency: Concurrency,
}

/// The activity of a whole history.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    /// The clock that times are of.
    pub clock: Clock,
    /// The first instant, where the first bucket begins.
    pub first: i64,
    /// Instants from the first to the last, both counted.
    pub length: u64,
    /// Instants in a bucket; the last may have fewer.
    pub width: u64,
    /// Transactions of which no instant is known: they are in no bucket.
    pub untimed: u64,
    /// Transactions of which not both ends are known: they have no latency and are not under way.
    pub open: u64,
    /// The buckets from the first instant to the last; none without a transaction.
    pub buckets: Vec<Bucket>,
    /// How long all committed transactions took.
    pub latency: Option<Quantiles>,
    /// How many were under way over the whole time.
    pub concurrency: Concurrency,
    /// The keys that most transactions use.
    pub keys: Vec<Use>,
    /// At `n`: keys that 2^n transactions use or more, but fewer than 2^(n + 1).
    pub uses: Vec<u64>,
}

/// Cuts the time of `history` into at most `buckets` and lists as many as `keys` of its keys.
#[must_use]
pub fn activity(history: &History, buckets: u64, keys: usize) -> Activity {
    let spans = Spans::new(history);
    let (used, uses) = keys::busiest(history, keys);
    let mut found = Activity { clock: spans.clock, keys: used, uses, ..Activity::default() };
    let Some((first, last)) = spans.bounds() else {
        found.untimed = history.transaction_count() as u64;
        return found;
    };
    let axis = Axis::new(first, last, buckets);
    (found.first, found.length, found.width) = (first, axis.length, axis.width);
    found.buckets = vec![Bucket::default(); axis.buckets()];
    count(history, &spans, axis, &mut found);
    latencies(history, &spans, axis, &mut found);
    let (whole, by_bucket) = concurrency::concurrency(&spans, axis);
    found.concurrency = whole;
    for (bucket, concurrency) in found.buckets.iter_mut().zip(by_bucket) {
        bucket.concurrency = concurrency;
    }
    found
}

/// Time from the first instant on, in buckets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    first: i64,
    length: u64,
    width: u64,
}

impl Axis {
    fn new(first: i64, last: i64, max_buckets: u64) -> Self {
        let length = since(first, last) + 1;
        Self { first, length, width: length.div_ceil(max_buckets.max(1)) }
    }

    fn buckets(self) -> usize {
        self.length.div_ceil(self.width) as usize
    }

    fn place(self, instant: i64) -> usize {
        (since(self.first, instant) / self.width) as usize
    }
}

/// From `first` to `instant`, which is not earlier: right for any two, as no instant is the least number.
fn since(first: i64, instant: i64) -> u64 {
    instant.wrapping_sub(first).cast_unsigned()
}

fn count(history: &History, spans: &Spans, axis: Axis, found: &mut Activity) {
    for (span, &status) in spans.all.iter().zip(&history.transactions.statuses) {
        found.open += u64::from(span.both().is_none());
        match span.ended.or(span.began) {
            Some(instant) => found.buckets[axis.place(instant)].ended[status as usize] += 1,
            None => found.untimed += 1,
        }
    }
}

fn latencies(history: &History, spans: &Spans, axis: Axis, found: &mut Activity) {
    let statuses = &history.transactions.statuses;
    let committed = spans.all.iter().zip(statuses).filter(|&(_, &status)| status == Status::Committed);
    let timed = committed.filter_map(|(span, _)| span.both());
    let mut taken: Vec<(u32, u64)> =
        timed.map(|(began, ended)| (axis.place(ended) as u32, since(began, ended))).collect();
    taken.par_sort_unstable();
    for same in taken.chunk_by(|a, b| a.0 == b.0) {
        found.buckets[same[0].0 as usize].latency = Some(quantiles(same.len(), |place| same[place].1));
    }
    let mut all: Vec<u64> = taken.into_iter().map(|(_, latency)| latency).collect();
    all.par_sort_unstable();
    found.latency = (!all.is_empty()).then(|| quantiles(all.len(), |place| all[place]));
}

/// By nearest rank: the least of `count` sorted numbers that so many percent do not exceed.
fn quantiles(count: usize, at: impl Fn(usize) -> u64) -> Quantiles {
    [50, 95, 99, 100].map(|percent| at((count * percent).div_ceil(100) - 1))
}

#[cfg(test)]
mod tests;
