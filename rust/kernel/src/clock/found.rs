//! What a replay finds, before anybody asks where it comes from.

use super::NOTHING;
use super::list::Relation;
use crate::history::Timestamp;
use crate::value::Value;

/// A read that shows something else than the clock demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Stale {
    pub transaction: u32,
    pub start: Timestamp,
    pub commit: Timestamp,
    pub read: u32,
    pub key: u32,
    /// What the read shows, and how long a list should be.
    pub found: Value,
    pub expected_length: u32,
    /// The last write of the version that it should show; [`NOTHING`] for the initial one.
    pub expected: u32,
    /// Who left the part of a list that it shows, or was cut in two by its end.
    pub writer: u32,
    /// How the list that was found and the one that was expected relate.
    pub relation: Relation,
}

impl Stale {
    /// Of a register, with nothing said yet.
    pub const REGISTER: Self = Self {
        transaction: NOTHING,
        start: Timestamp::new(0, 0),
        commit: Timestamp::new(0, 0),
        read: NOTHING,
        key: NOTHING,
        found: Value::NOTHING,
        expected_length: 0,
        expected: NOTHING,
        writer: NOTHING,
        relation: Relation::Register,
    };
}

/// A read that differs from what its transaction did before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Unequal {
    pub transaction: u32,
    pub read: u32,
    pub key: u32,
    pub found: Value,
    /// The last access before it.
    pub against: u32,
    /// Whether the transaction had written something else last, and if so whether this before.
    pub wrote: bool,
    pub replaced_it: bool,
}

/// Two that wrote a key at the same time, the one that committed first before the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Conflict {
    pub first: u32,
    pub second: u32,
    pub key: u32,
}

/// Everything found, in the order of events; all conflicts are counted, and the first kept.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Found {
    pub stale: Vec<Stale>,
    /// What the first stale reads of lists show of others, and should have shown.
    pub lists: Vec<(Vec<Value>, Vec<Value>)>,
    /// How many lists were kept, those included that somebody took.
    pub listed: usize,
    pub unequal: Vec<Unequal>,
    /// Reads (read, key, value) that are in no order: they may show an initial value.
    pub heard: Vec<(u32, u32, Value)>,
    pub conflicts: Vec<Conflict>,
    pub conflict_count: u64,
}

impl Found {
    /// So many conflicts on a key, of which these are the first; no more than `most` are kept in all.
    pub fn meet(&mut self, most: usize, key: u32, count: usize, pairs: impl Iterator<Item = (u32, u32)>) {
        self.conflict_count += count as u64;
        let room = most.saturating_sub(self.conflicts.len());
        self.conflicts.extend(pairs.take(room).map(|(first, second)| Conflict { first, second, key }));
    }
}
