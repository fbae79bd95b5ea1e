//! The trace of a transaction: its snapshot, the versions that it saw, its writes, its locks and its faults.

use super::HeldLock;
use crate::simulate::store::Fault;

/// A read of a version of another transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenVersion {
    pub(crate) key: u32,
    /// When the version appeared.
    pub(crate) from: u64,
    pub(crate) writer: u32,
    pub(crate) value: i64,
    /// The true instant that the read looked at.
    pub(crate) at: u64,
    /// The place of the operation in its transaction.
    pub(crate) place: u32,
}

/// The writes of a transaction to a row; the store keeps the value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) key: u32,
    /// When it wrote the row first, and last.
    pub(super) at: u64,
    pub(super) last: u64,
    /// Whether the first write was an insertion: no snapshot is compared.
    pub(super) is_insertion: bool,
    /// The write before the last.
    pub(super) before: Option<i64>,
    /// The place of the last write in its transaction.
    pub(super) place: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(super) id: u32,
    pub(super) slot: u32,
    /// True instants.
    pub(super) begun: u64,
    pub(super) snapshot: Option<u64>,
    /// Decides at which of begin, first statement and first read the database takes the snapshot.
    pub(super) moment: u32,
    /// The place of the current operation.
    pub(super) place: u32,
    pub(crate) seen: Vec<SeenVersion>,
    pub(super) writes: Vec<Written>,
    /// Locks; the instant of the release is zero until then.
    pub(super) held: Vec<HeldLock>,
    /// The transaction that it waits for.
    pub(super) blocker: Option<u32>,
    /// Faults, the place of the operation, and whether they are visible.
    pub(crate) struck: Vec<(Fault, u32, bool)>,
}

impl Trace {
    /// Prepares for another transaction; memory is kept.
    pub(super) fn begin(&mut self, id: u32, begun: u64, moment: u32) {
        (self.id, self.begun, self.moment) = (id, begun, moment);
        self.snapshot = None;
        // The begin is the first operation.
        self.place = 1;
        self.seen.clear();
        self.writes.clear();
        self.held.clear();
        self.blocker = None;
        self.struck.clear();
    }

    pub(super) fn has_written(&self, key: u32) -> bool {
        self.writes.iter().any(|written| written.key == key)
    }

    pub(super) fn strike(&mut self, fault: Fault, is_visible: bool) {
        self.struck.push((fault, self.place, is_visible));
    }
}
