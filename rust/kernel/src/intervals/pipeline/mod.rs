//! The two-level pipeline: what many clients say, in the order of its time.
//!
//! Li et al. 2023 (Leopard), section IV-C. Each client says its items in the order of `before`; they wait in a
//! buffer of its own. A heap holds the first of each buffer, and the watermark is the earliest time at which
//! anybody may still say something: everything before it is dispatched, ordered by `before`, then client, then
//! place (Theorem 1).
//!
//! Items of one client that no other's interleave are dispatched as one batch. Whoever can choose from whom to
//! fetch asks [`Pipeline::hungry`]: then no client has more waiting than one fetch, and what it said at one
//! and the same time, however uneven the times are.
//!
//! Cost by batch: log of the clients that have something waiting; by dispatch: the number of clients.

mod baselines;
mod bounds;
mod heads;
mod local;
mod partitions;
mod runs;
mod sort;

pub use baselines::{Naive, Plain};
pub use bounds::TooLate;
pub use partitions::Partitions;
pub use sort::{Fetch, Sorter, sort};

use bounds::Bounds;
use runs::Runs;
use serde::{Deserialize, Serialize};

/// How a pipeline works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Whether what does not interleave is dispatched together, not one by one.
    pub batch: bool,
    /// Whether only the client that holds the watermark back is fetched from.
    pub adaptive: bool,
    /// How many items are fetched from a client at once.
    pub capacity: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { batch: true, adaptive: true, capacity: 1024 }
    }
}

/// Items of many clients on their way into one order. Clients are small numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pipeline<T> {
    options: Options,
    bounds: Bounds,
    runs: Runs<T>,
    most: usize,
}

impl<T> Pipeline<T> {
    /// Nobody is waited for until a client is first mentioned.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, bounds: Bounds::new(), runs: Runs::new(options), most: 0 }
    }

    /// Takes what a client says next; a new client joins with it. The largest number is no time.
    ///
    /// # Errors
    ///
    /// If it is before what this client said before, or for a new one before what may have been dispatched.
    #[inline]
    pub fn push(&mut self, client: u32, before: i64, item: T) -> Result<(), TooLate> {
        self.bounds.push(client, before)?;
        self.runs.push(client, before, item);
        Ok(())
    }

    /// Nothing before `time` will come from this client; it is waited for from now on.
    pub fn heartbeat(&mut self, client: u32, time: i64) {
        self.bounds.heartbeat(client, time);
    }

    /// Nothing more will come from this client, or it joins anew.
    pub fn finish(&mut self, client: u32) {
        self.bounds.finish(client);
    }

    /// Everything before it is known; none if nobody is waited for, so that everything can go.
    #[must_use]
    pub fn watermark(&self) -> Option<i64> {
        self.bounds.watermark()
    }

    /// The client that holds the watermark back: whom to fetch from next.
    #[must_use]
    pub fn hungry(&self) -> Option<u32> {
        self.bounds.hungry()
    }

    /// Hands out all that can go, in order: a client, and items of its that no other's interleave.
    pub fn dispatch(&mut self, each: impl FnMut(u32, &[(i64, T)])) {
        self.most = self.most();
        if let Some(last) = self.bounds.last() {
            let newest = self.runs.dispatch(last, each);
            self.bounds.passed(newest);
        }
    }

    /// How many items wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most items that ever waited.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most.max(self.len())
    }
}

#[cfg(test)]
mod tests;
