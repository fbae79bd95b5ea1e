//! The same judgement for a history that does not fit into memory.
//!
//! [`StreamSorter`] takes the history slice by slice and writes sorted runs of its events to a [`RunStore`].
//! [`SortedStream`] merges the runs, once for each pass that a level takes. In memory are the keys, the sessions
//! and the texts among keys and values, each once; everything else lies in the store.

mod record;
mod runs;
mod sessions;
mod sort;
mod sorter;
mod store;
mod timeline;

pub use sorter::StreamSorter;
pub use store::{MemoryRuns, RunStore};
pub use timeline::SortedStream;

use super::key_uses::KeyUses;
use crate::history::{Initial, Status};
use crate::index::DenseIndex;
use crate::value::{Value, Values};

/// How much is in memory at once.
#[derive(Debug, Clone, Copy)]
pub struct StreamLimits {
    /// Bytes of a run before it is sorted and written.
    pub run_bytes: usize,
    /// Bytes that are read of a run at once.
    pub block_bytes: usize,
    /// Suspect reads that are looked up in one pass.
    pub suspect_reads: usize,
    /// Runs that are read at the same time.
    pub merged_runs: usize,
}

/// Why a stream cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamError<E> {
    /// The store failed.
    Store(E),
    /// The history has something that only a whole history in memory may have.
    Refused(StreamRefusal),
}

impl<E> From<StreamRefusal> for StreamError<E> {
    fn from(refusal: StreamRefusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Something in a history that cannot be judged slice by slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamRefusal {
    /// The line, or 0.
    pub line: u32,
    /// The problem in words.
    pub problem: String,
}

impl StreamRefusal {
    fn only_in_memory(line: u32, found: &str) -> Self {
        Self { line, problem: format!("{found}, which only a history in memory may have") }
    }
}

/// How many of each there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct StreamSizes {
    pub sessions: u64,
    pub transactions: u64,
    pub operations: u64,
    pub keys: u64,
    /// By [`Status`].
    pub statuses: [u64; Status::ALL.len()],
}

/// What is known of a history when all of it was taken.
#[derive(Debug, Default)]
pub struct StreamFacts {
    values: Values,
    keys: DenseIndex,
    uses: KeyUses,
    /// The initial value of all keys.
    initial: Initial,
    /// How many of each there are.
    pub sizes: StreamSizes,
    /// Kinds of evidence, as [`crate::evidence::present`] has them.
    pub present: [bool; 4],
    inversions: Inversions,
    session_disorder: SessionDisorder,
}

/// Transactions that start after they committed: all are counted, the first kept.
#[derive(Debug, Default)]
struct Inversions {
    count: u64,
    first: Vec<u32>,
}

/// Transactions (session, transaction, the one before it) that do not see the one before them in their session.
#[derive(Debug, Default)]
struct SessionDisorder {
    count: u64,
    first: Vec<(u32, u32, u32)>,
}

impl StreamFacts {
    /// The scalars.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The value that a key is called by.
    #[must_use]
    pub fn key(&self, key: u32) -> Value {
        self.keys.ids()[key as usize]
    }

    /// The initial value of a key, if no transaction wrote it explicitly.
    fn initial(&self, key: u32) -> Value {
        if self.uses.is_replaced(key) { Value::NOTHING } else { self.initial.default }
    }

    /// Whether a nil read of a key is a read of the empty list.
    #[must_use]
    pub fn holds_list(&self, key: Value) -> bool {
        self.keys.get(key).is_some_and(|key| self.uses.is_listed(key))
    }
}

#[cfg(test)]
mod tests;
