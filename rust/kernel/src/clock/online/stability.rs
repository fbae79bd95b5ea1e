//! How answers change before they are final.

use hashbrown::HashMap;

/// Reads that turned this often, and more.
pub const MOST_FLIPS: usize = 8;

/// A read that was wrong at some time.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Doubt {
    pub since: u64,
    pub flips: u32,
}

/// Counts flip-flops: answers that changed, and how long a wrong one lasted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stability {
    /// Reads, that is (transaction, key), by how often they turned: once, twice, ...
    pub of_reads: [u64; MOST_FLIPS],
    /// The same of transactions.
    pub of_transactions: [u64; MOST_FLIPS],
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

fn count(histogram: &mut [u64; MOST_FLIPS], flips: u32) {
    if flips > 0 {
        histogram[(flips as usize).min(MOST_FLIPS) - 1] += 1;
    }
}
