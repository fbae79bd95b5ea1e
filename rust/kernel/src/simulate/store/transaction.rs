//! An open transaction: what it has read, and the writes that it keeps back until its commit.

use super::row::{ABSENT, NO_TRANSACTION, Shown};

/// The writes of a transaction to one row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    /// How many writes there are.
    pub(crate) count: u32,
    /// The last value of a register; [`ABSENT`] if the row was deleted.
    pub(crate) value: i64,
    /// Whether the row holds these writes and nothing from before.
    pub(crate) is_whole: bool,
    /// The elements that were appended to a list.
    pub(crate) elements: Vec<i64>,
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
    fn apply(&mut self, change: Change) {
        self.count += 1;
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
    pub(crate) fn apply(&mut self, change: Change) {
        self.own.apply(change);
        if !matches!(change, Change::Append(_)) {
            self.forgotten = 0;
        }
    }

    /// The appended elements that reads show.
    pub(crate) fn appended(&self) -> &[i64] {
        &self.own.elements[(self.forgotten as usize).min(self.own.elements.len())..]
    }
}

/// The open transaction of a session; between two transactions, its id is [`NO_TRANSACTION`].
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) session: u32,
    pub(crate) id: u32,
    /// What the clock said at the begin.
    pub(crate) tick: u64,
    /// The recorded start timestamp.
    pub(crate) start: u64,
    /// The snapshot that is read: that of the start, but for a fault.
    pub(crate) snapshot: u64,
    /// Whether the fault may strike here.
    pub(crate) is_marked: bool,
    /// How many operations it has done.
    pub(crate) operations: u32,
    /// The first `used` are of this transaction; the memory of the others is kept.
    pub(super) accesses: Vec<Access>,
    used: usize,
    /// The last committed transaction of the session, and its commit timestamp.
    pub(crate) before: (u32, u64),
}

impl Transaction {
    pub(crate) fn new(session: u32) -> Self {
        Self { session, ..Self::default() }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.id != NO_TRANSACTION
    }

    pub(crate) fn begin(&mut self, id: u32, tick: u64) {
        self.id = id;
        (self.tick, self.start, self.snapshot) = (tick, tick, tick);
        self.is_marked = false;
        self.operations = 0;
        self.used = 0;
    }

    /// The place of a row among those that were accessed. `newest` is the newest transaction that accessed the row,
    /// and the place there: only an older one has to search.
    #[expect(clippy::inline_always, reason = "every operation does this")]
    #[inline(always)]
    pub(crate) fn access(&mut self, key: u32, newest: &mut (u32, u32)) -> usize {
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

    pub(crate) fn writes(&self) -> impl Iterator<Item = &Access> {
        self.accesses().iter().filter(|access| access.is_written())
    }
}
