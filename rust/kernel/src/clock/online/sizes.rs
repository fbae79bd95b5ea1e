//! The counters of an engine.

use serde::{Deserialize, Serialize};

/// The counters of an engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Sizes {
    pub transactions: u64,
    pub aborted: u64,
    pub operations: u64,
    /// Transactions in memory, and those of them that are not final.
    pub live: u64,
    pub pending: u64,
    pub versions: u64,
    pub reads: u64,
    /// Reads that are stale at present and not final.
    pub provisional: u64,
    /// Transactions that came twice; transactions and reads that came too late to be judged; final answers that a
    /// late transaction changed.
    pub repeated: u64,
    pub unverifiable: u64,
    pub unverifiable_reads: u64,
    pub overturned: u64,
    pub range_reads: u64,
    /// Timestamps of several transactions.
    pub ties: u64,
    pub keys: u64,
    pub sessions: u64,
}
