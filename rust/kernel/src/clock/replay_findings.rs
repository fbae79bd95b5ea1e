//! What a replay finds, before the origin of stale reads is known.

use super::committed_lists::Relation;
use super::{ClockAnomaly, NOTHING};
use crate::history::Timestamp;
use crate::value::Value;

/// A read that shows another version than the clock demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct StaleRead {
    pub transaction: u32,
    pub start: Timestamp,
    pub commit: Timestamp,
    pub read: u32,
    pub key: u32,
    /// The value that the read shows, and how long a list should be.
    pub found: Value,
    pub expected_length: u32,
    /// The last write of the version that it should show; [`NOTHING`] for the initial one.
    pub expected: u32,
    /// The transaction that left the part of a list that it shows, or of which it shows some appends only.
    pub writer: u32,
    /// How the list that was found and the one that was expected relate.
    pub relation: Relation,
    /// Whether the read is right if some transaction took effect of which the client never learned the end.
    pub is_set_aside: bool,
}

impl StaleRead {
    /// Of a register, all fields empty.
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
        is_set_aside: false,
    };

    /// Whether it is no read of a list.
    pub fn is_register(&self) -> bool {
        self.relation == Relation::Register
    }
}

/// A read that differs from what its transaction did before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct InternalMismatch {
    pub transaction: u32,
    pub read: u32,
    pub key: u32,
    pub found: Value,
    /// The last access before it.
    pub against: u32,
    /// Whether the transaction wrote another value last, and whether it wrote the shown one before.
    pub wrote: bool,
    pub wrote_it_before: bool,
}

impl InternalMismatch {
    /// The anomaly that it is.
    pub const fn anomaly(&self) -> ClockAnomaly {
        match (self.wrote, self.wrote_it_before) {
            (true, true) => ClockAnomaly::NotMyLastWrite,
            (true, false) => ClockAnomaly::NotMyOwnWrite,
            (false, _) => ClockAnomaly::NonRepeatableRead,
        }
    }
}

/// Two transactions that wrote a key while both were running, in the order of their commits.
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
pub struct ReplayFindings {
    pub stale: Vec<StaleRead>,
    /// Of the first stale reads of lists: the elements of other transactions that were shown, and demanded.
    pub lists: Vec<(Vec<Value>, Vec<Value>)>,
    /// How many lists were kept since the replay began.
    pub listed: usize,
    pub mismatches: Vec<InternalMismatch>,
    /// Reads (read, key, value) that have no place in the order: they may show an initial value.
    pub unordered: Vec<(u32, u32, Value)>,
    pub conflicts: Vec<Conflict>,
    pub conflict_count: u64,
}

impl ReplayFindings {
    /// Adds `count` conflicts on a key, of which `pairs` are the first; at most `max_anomalies` are kept.
    pub fn add_conflicts(
        &mut self,
        max_anomalies: usize,
        key: u32,
        count: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
    ) {
        self.conflict_count += count as u64;
        let room = max_anomalies.saturating_sub(self.conflicts.len());
        self.conflicts.extend(pairs.take(room).map(|(first, second)| Conflict { first, second, key }));
    }
}
