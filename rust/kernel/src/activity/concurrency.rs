//! How many transactions are under way at once.

use super::spans::Spans;
use super::{Axis, since};
use rayon::prelude::*;

/// How many transactions were under way between two instants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Concurrency {
    /// Added up over all instants: divided by their number, the mean.
    pub total: u128,
    /// Most at one instant; intervals are closed.
    pub peak: u64,
}

/// Over the whole time, and in each bucket.
pub fn concurrency(spans: &Spans, axis: Axis) -> (Concurrency, Vec<Concurrency>) {
    let mut sweep = Sweep { axis, at: 0, now: 0, buckets: vec![Concurrency::default(); axis.buckets()] };
    for (instant, is_beginning) in events(spans, axis) {
        sweep.forward_to(instant);
        sweep.now = if is_beginning { sweep.now + 1 } else { sweep.now - 1 };
    }
    let whole = sweep.buckets.iter().fold(Concurrency::default(), |sum, bucket| Concurrency {
        total: sum.total + bucket.total,
        peak: sum.peak.max(bucket.peak),
    });
    (whole, sweep.buckets)
}

/// Beginnings, and the instants after ends, since the first instant; these come first where both meet.
fn events(spans: &Spans, axis: Axis) -> Vec<(u64, bool)> {
    let both = spans.all.iter().filter_map(|span| span.both());
    let mut events: Vec<(u64, bool)> = both
        .flat_map(|(began, ended)| [(since(axis.first, began), true), (since(axis.first, ended) + 1, false)])
        .collect();
    events.par_sort_unstable();
    events
}

struct Sweep {
    axis: Axis,
    at: u64,
    now: u64,
    buckets: Vec<Concurrency>,
}

impl Sweep {
    /// Passes the time until `instant` with what is under way now.
    fn forward_to(&mut self, instant: u64) {
        while self.at < instant {
            let place = self.at / self.axis.width;
            let stop = (place + 1).saturating_mul(self.axis.width).min(instant);
            let bucket = &mut self.buckets[place as usize];
            bucket.total += u128::from(self.now) * u128::from(stop - self.at);
            bucket.peak = bucket.peak.max(self.now);
            self.at = stop;
        }
    }
}
