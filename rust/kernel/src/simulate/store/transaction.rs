//! An open transaction: what it has read, and the writes that it keeps back until its commit.

use super::row::{ABSENT, Shown, StoredVersion};
use super::{Fault, HeldLock};
use crate::intervals::profile::Read;

/// What a caller of the store must see to.
pub(super) const NOT_OPEN: &str = "only an open transaction reads, writes and commits";

/// The writes of a transaction to one row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    /// How many writes there are.
    pub(crate) count: u32,
    /// The last value of a register, and the one before; [`ABSENT`] if the row was deleted.
    pub(crate) value: i64,
    pub(crate) previous: i64,
    /// Whether the row holds these writes and nothing from before.
    pub(crate) is_whole: bool,
    /// Whether the first write was an insertion.
    pub(crate) is_insertion: bool,
    /// The elements that were appended to a list.
    pub(crate) elements: Vec<i64>,
    /// True instants of the first write and of the last.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The place of the last write in its transaction.
    pub(crate) place: u32,
}

/// A change of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Overwrites a register.
    Write(i64),
    /// Appends to a list.
    Append(i64),
    /// Adds a row: a register, or a list of this one element.
    Insert(i64),
    /// Removes a row.
    Delete,
}

impl Own {
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    fn apply(&mut self, change: Change, now: u64, place: u32) {
        if self.count == 0 {
            (self.first, self.is_insertion) = (now, matches!(change, Change::Insert(_)));
        }
        self.count += 1;
        (self.previous, self.last, self.place) = (self.value, now, place);
        self.is_whole |= !matches!(change, Change::Append(_));
        match change {
            Change::Write(value) => self.value = value,
            Change::Append(element) => self.elements.push(element),
            Change::Insert(value) => (self.value, self.elements) = (value, vec![value]),
            Change::Delete => (self.value, self.elements) = (ABSENT, Vec::new()),
        }
    }
}

/// A row that a transaction has read or written.
#[derive(Debug, Default)]
pub(crate) struct Access {
    pub(crate) key: u32,
    pub(crate) own: Own,
    /// What was found of the writes of others.
    pub(crate) shown: Option<Shown>,
    /// What the first access found, where a fault may strike; the axiom EXT judges it.
    pub(crate) first: Option<Box<Shown>>,
    /// A transaction that had not committed what was found, and how many of its writes were found.
    pub(crate) foreign: Option<(u32, u32)>,
    /// How many of its own writes reads leave out, because of a fault.
    pub(crate) forgotten: u32,
}

impl Access {
    /// Prepares for another row; memory is kept.
    #[inline]
    fn reset(&mut self, key: u32) {
        (self.key, self.forgotten) = (key, 0);
        (self.own.count, self.own.value, self.own.is_whole) = (0, 0, false);
        self.own.elements.clear();
        (self.shown, self.first, self.foreign) = (None, None, None);
    }

    pub(crate) fn is_written(&self) -> bool {
        !self.own.is_empty()
    }

    /// Whether a read shows the own writes and nothing else.
    pub(crate) fn is_own(&self) -> bool {
        self.own.is_whole && self.forgotten == 0
    }

    #[inline]
    pub(crate) fn apply(&mut self, change: Change, now: u64, place: u32) {
        self.own.apply(change, now, place);
        if !matches!(change, Change::Append(_)) {
            self.forgotten = 0;
        }
    }

    /// The appended elements that reads show.
    pub(crate) fn appended(&self) -> &[i64] {
        &self.own.elements[(self.forgotten as usize).min(self.own.elements.len())..]
    }
}

/// A read of a version of another transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenVersion {
    pub(crate) key: u32,
    pub(crate) version: StoredVersion,
    /// The true instant that the read looked at.
    pub(crate) at: u64,
    /// The place of the operation in its transaction.
    pub(crate) place: u32,
}

/// The open transaction of a session, or the last one.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) session: u32,
    pub(crate) id: u32,
    pub(crate) is_open: bool,
    /// What the clock said at the begin.
    pub(crate) tick: u64,
    /// The recorded start timestamp.
    pub(crate) start: u64,
    /// The snapshot that is read: that of the start, but for a fault. A profile may take it later.
    pub(crate) snapshot: Option<u64>,
    /// The fault of an isolation that strikes here.
    pub(crate) fault: Option<Fault>,
    /// The place of the current operation; under an isolation, only reads are counted.
    pub(crate) place: u32,
    /// The first `used` are of this transaction; the memory of the others is kept.
    pub(super) accesses: Vec<Access>,
    used: usize,
    /// The last committed transaction of the session, and its commit timestamp.
    pub(crate) before: (u32, u64),
    /// Decides at which of begin, first statement and first read a profile takes the snapshot.
    pub(super) moment: u32,
    /// What was read under a profile.
    pub(crate) seen: Vec<SeenVersion>,
    /// Locks; the instant of the release is zero until then.
    pub(super) held: Vec<HeldLock>,
    /// The session whose transaction this one waits for.
    pub(super) blocker: Option<u32>,
    /// Faults of a profile, the place of the operation, and whether they are visible.
    pub(crate) struck: Vec<(Fault, u32, bool)>,
}

impl Transaction {
    pub(crate) fn new(session: u32) -> Self {
        Self { session, ..Self::default() }
    }

    /// Prepares for another transaction; memory is kept.
    pub(crate) fn begin(&mut self, id: u32, tick: u64) {
        (self.id, self.is_open) = (id, true);
        (self.tick, self.start, self.snapshot) = (tick, tick, Some(tick));
        self.fault = None;
        // The begin is the first operation.
        self.place = 1;
        self.used = 0;
        self.seen.clear();
        self.held.clear();
        self.blocker = None;
        self.struck.clear();
    }

    /// The instant that a read looks at; one that does not look at the snapshot shows the newest version.
    pub(crate) fn instant(&self, read: Read) -> u64 {
        self.snapshot.filter(|_| read == Read::Consistent).unwrap_or(u64::MAX)
    }

    /// The snapshot, or the start where there is none.
    pub(crate) fn since(&self) -> u64 {
        self.snapshot.unwrap_or(self.start)
    }

    /// The place of a row among those that were accessed. `newest` is the newest transaction that accessed the row,
    /// and the place there: only an older one has to search.
    #[expect(clippy::inline_always, reason = "every operation does this")]
    #[inline(always)]
    pub(crate) fn access(&mut self, key: u32, newest: &mut (u32, u32)) -> usize {
        assert!(self.is_open, "{NOT_OPEN}");
        if newest.0 == self.id {
            return newest.1 as usize;
        }
        if newest.0 < self.id {
            *newest = (self.id, self.used as u32);
        } else if let Some(place) = self.search(key) {
            return place;
        }
        match self.accesses.get_mut(self.used) {
            Some(access) => access.reset(key),
            None => self.add_access(key),
        }
        self.used += 1;
        self.used - 1
    }

    /// The place of a row that a newer transaction has accessed.
    #[cold]
    fn search(&self, key: u32) -> Option<usize> {
        self.accesses().iter().position(|access| access.key == key)
    }

    #[cold]
    fn add_access(&mut self, key: u32) {
        self.accesses.push(Access { key, ..Access::default() });
    }

    /// The rows that were read or written.
    #[inline]
    pub(crate) fn accesses(&self) -> &[Access] {
        &self.accesses[..self.used]
    }

    pub(crate) fn own(&self, key: u32) -> Option<&Own> {
        let access = self.accesses().iter().find(|access| access.key == key)?;
        access.is_written().then_some(&access.own)
    }

    /// The rows that were written, in the order of their first access.
    pub(crate) fn writes(&self) -> impl Iterator<Item = &Access> {
        self.accesses().iter().filter(|access| access.is_written())
    }

    /// A fault strikes in the current operation.
    pub(crate) fn strike(&mut self, fault: Fault, is_visible: bool) {
        self.struck.push((fault, self.place, is_visible));
    }
}
