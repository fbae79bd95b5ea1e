//! How answers change before they are final.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// Reads that changed so often or more are counted together.
pub const MAX_FLIPS: usize = 8;

/// A read that was stale at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Doubt {
    pub since: u64,
    pub flips: u32,
}

/// Counts flip-flops: answers that changed, and how long a wrong one lasted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stability {
    /// Reads, that is (transaction, key), by how often they changed: once, twice, ...
    pub of_reads: [u64; MAX_FLIPS],
    /// The same of transactions.
    pub of_transactions: [u64; MAX_FLIPS],
    /// Wrong answers that became right, by the bits of the nanoseconds that it took.
    pub rectified: Vec<u64>,
}

/// Doubts by transaction and read.
pub type Doubts = HashMap<(u32, u32), Doubt>;

impl Stability {
    /// A wrong answer became right.
    pub fn rectify(&mut self, nanoseconds: u64) {
        self.rectified.resize(64, 0);
        self.rectified[(64 - nanoseconds.leading_zeros()).min(63) as usize] += 1;
    }

    /// A read is final.
    pub fn read(&mut self, flips: u32) {
        count(&mut self.of_reads, flips);
    }

    /// A transaction is final.
    pub fn transaction(&mut self, flips: u32) {
        count(&mut self.of_transactions, flips);
    }
}

fn count(histogram: &mut [u64; MAX_FLIPS], flips: u32) {
    if flips > 0 {
        histogram[(flips as usize).min(MAX_FLIPS) - 1] += 1;
    }
}
