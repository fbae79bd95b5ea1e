//! The two-level pipeline puts the items of many clients in the order of their times.
//!
//! Li et al. 2023 (Leopard), section IV-C. Each client sends its items in the order of `before`; they wait in the
//! buffer of that client. A heap holds the first item of each buffer. The watermark is the earliest time of an item
//! that a client can still send: all items before it are dispatched, ordered by `before`, then client, then place
//! (Theorem 1).
//!
//! Consecutive items of one client, without an item of another client in between, are dispatched as one batch. A
//! caller that can choose a client fetches from [`Pipeline::client_to_fetch_from`]: then each client has at most one
//! fetch of items waiting, plus items of one and the same time.
//!
//! Cost by batch: log of the clients with waiting items; by dispatch: the number of clients.

#[cfg(any(test, feature = "baselines"))]
mod baselines;
mod bounds;
mod heads;
mod local;
mod partitions;
mod runs;
mod sort;

#[cfg(any(test, feature = "baselines"))]
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
    /// Whether consecutive items of one client are dispatched together, not one by one.
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
    max_waiting: usize,
}

impl<T> Pipeline<T> {
    /// A pipeline without clients; a client is waited for from its first call on.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, bounds: Bounds::new(), runs: Runs::new(options), max_waiting: 0 }
    }

    /// Takes the next item of a client; a new client joins with it. The largest number is not a time.
    ///
    /// # Errors
    ///
    /// If it is before the last item of this client or, for a new client, before items that may have been dispatched.
    #[inline]
    pub fn push(&mut self, client: u32, before: i64, item: T) -> Result<(), TooLate> {
        self.bounds.push(client, before)?;
        self.runs.push(client, before, item);
        Ok(())
    }

    /// All later items of this client are at `time` or later; it is waited for from now on.
    pub fn heartbeat(&mut self, client: u32, time: i64) {
        self.bounds.heartbeat(client, time);
    }

    /// No more items come from this client, unless it joins again.
    pub fn finish(&mut self, client: u32) {
        self.bounds.finish(client);
    }

    /// All items before it are known; None if no client is waited for, so that all items can be dispatched.
    #[must_use]
    pub fn watermark(&self) -> Option<i64> {
        self.bounds.watermark()
    }

    /// The client that holds the watermark back: the one to fetch from next.
    #[must_use]
    pub fn client_to_fetch_from(&self) -> Option<u32> {
        self.bounds.client_to_fetch_from()
    }

    /// Dispatches all items before the watermark in order: a client, and consecutive items of that client.
    pub fn dispatch(&mut self, each: impl FnMut(u32, &[(i64, T)])) {
        self.max_waiting = self.max_waiting();
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

    /// The largest number of items that waited at once.
    #[must_use]
    pub fn max_waiting(&self) -> usize {
        self.max_waiting.max(self.len())
    }
}

#[cfg(test)]
mod tests;
