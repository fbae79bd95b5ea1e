//! The transaction that each external read was served by: the write-read relation, and the order in which
//! lists grew.
//!
//! Found by [`crate::reads::judge`] on the way; the weak levels and the dependency graph start here.

use crate::history::{History, NO_KEY};
use std::sync::atomic::{AtomicU32, Ordering};

/// No transaction, node or operation: of a read, that its writer is not known for sure.
pub const ABSENT: u32 = u32::MAX;
/// The read was served by the initial transaction.
pub const INITIAL: u32 = u32::MAX - 1;

/// A column that several cores fill, each its own rows.
pub struct Sources(Vec<AtomicU32>);

impl Sources {
    /// A column of [`ABSENT`].
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self((0..size).map(|_| AtomicU32::new(ABSENT)).collect())
    }

    /// Sets the transaction that served `read`.
    pub fn set(&self, read: u32, source: u32) {
        self.0[read as usize].store(source, Ordering::Relaxed);
    }

    pub(crate) fn into_column(self) -> Vec<u32> {
        self.0.into_iter().map(AtomicU32::into_inner).collect()
    }
}

/// The order in which one list grew, as its longest read shows it, and what each read saw of it.
#[derive(Debug, Default)]
pub struct ListOrder {
    /// The key.
    pub key: u32,
    /// The longest read; [`ABSENT`] if there is none, or if another is as long and differs: then no read shows
    /// the order.
    pub read: u32,
    /// The writer of each element of the canonical list; [`ABSENT`] if that is not known for sure.
    pub writers: Vec<u32>,
    /// Transactions with appends that the canonical list does not show: they come after it.
    pub unread: Vec<u32>,
    /// Reads of a prefix of the canonical list, with its length.
    pub prefixes: Vec<(u32, u32)>,
    /// Other reads, with the writers of their elements.
    pub others: Vec<(u32, Vec<u32>)>,
}

impl ListOrder {
    /// Pairs of transactions in the order of their appends; what follows from others is left out.
    #[must_use]
    pub fn successions(&self) -> Vec<(u32, u32)> {
        if self.read == ABSENT {
            return Vec::new();
        }
        let known: Vec<u32> = self.writers.iter().copied().filter(|&writer| writer != ABSENT).collect();
        let last = self.writers.last().copied().filter(|&writer| writer != ABSENT);
        let unread: Vec<(u32, u32)> =
            last.map(|last| self.unread.iter().map(|&after| (last, after)).collect()).unwrap_or_default();
        let pairs = known.windows(2).map(|pair| (pair[0], pair[1]));
        pairs.chain(unread).filter(|(before, after)| before != after).collect()
    }
}

/// What a list read saw: part of the pool of writers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    start: u32,
    length: u32,
}

/// The transactions that served the external reads of the transactions that count as committed.
#[derive(Debug, Default, Clone)]
pub struct Observations {
    /// Which transactions count as committed.
    pub counted: Vec<bool>,
    /// For each operation the transaction that it read from, [`INITIAL`] or [`ABSENT`].
    pub sources: Vec<u32>,
    /// Whether there are no lists, and each read saw the latest version before it in the order of the input.
    pub reads_latest: bool,
    /// For each operation what it saw of a list; empty if there are no lists.
    seen: Vec<Seen>,
    pool: Vec<u32>,
    starts: Vec<bool>,
    /// Pairs of transactions in the order of their appends to some list.
    pub successions: Vec<(u32, u32)>,
    /// For each key its canonical list in the pool.
    canonical: Vec<Seen>,
    /// For each key the read that shows its canonical list; [`ABSENT`] if none shows the order.
    reads: Vec<u32>,
}

impl Observations {
    /// Brings together what the judges of all keys found.
    #[must_use]
    pub(crate) fn new(
        history: &History,
        counted: Vec<bool>,
        sources: Sources,
        lists: Vec<ListOrder>,
        reads_latest: bool,
    ) -> Self {
        let sources = sources.into_column();
        let mut all = Self { counted, sources, reads_latest, ..Self::default() };
        if lists.is_empty() {
            return all;
        }
        all.seen = vec![Seen::default(); history.operation_count()];
        all.canonical = vec![Seen::default(); history.keys.len()];
        all.reads = vec![ABSENT; history.keys.len()];
        for list in lists {
            all.add(list);
        }
        all
    }

    fn add(&mut self, list: ListOrder) {
        self.successions.extend(list.successions());
        let start = self.pool.len() as u32;
        self.canonical[list.key as usize] = Seen { start, length: list.writers.len() as u32 };
        self.reads[list.key as usize] = list.read;
        self.pool.extend(&list.writers);
        self.starts.resize(self.pool.len(), false);
        if let Some(first) = self.starts.get_mut(start as usize) {
            *first = true;
        }
        for (read, length) in list.prefixes {
            self.seen[read as usize] = Seen { start, length };
        }
        for (read, writers) in list.others {
            self.seen[read as usize] = Seen { start: self.pool.len() as u32, length: writers.len() as u32 };
            self.pool.extend(writers);
            self.starts.resize(self.pool.len(), true);
        }
    }

    /// Whether there are lists.
    #[must_use]
    pub fn has_lists(&self) -> bool {
        !self.seen.is_empty()
    }

    /// The writers of the elements that a list read saw; [`ABSENT`] among them if that is not known for
    /// sure. Nothing for a register.
    #[must_use]
    pub fn seen(&self, operation: usize) -> &[u32] {
        match self.seen.get(operation) {
            Some(seen) => &self.pool[seen.start as usize..(seen.start + seen.length) as usize],
            None => &[],
        }
    }

    /// The part of [`Self::pool`] that a list read saw, if it is a prefix of its key's canonical list.
    #[must_use]
    pub fn prefix(&self, operation: usize, key: u32) -> Option<(u32, u32)> {
        let seen = self.seen.get(operation)?;
        let canonical = self.canonical.get(key as usize).filter(|_| key != NO_KEY)?;
        let is_prefix = seen.start == canonical.start && (1..=canonical.length).contains(&seen.length);
        is_prefix.then_some((seen.start, seen.length))
    }

    /// The writer of each element of the list `key` in their order; [`ABSENT`] if that is not known for sure.
    /// Nothing if no read shows the order.
    #[must_use]
    pub fn canonical(&self, key: u32) -> &[u32] {
        match self.canonical.get(key as usize) {
            Some(seen) if self.canonical_read(key) != ABSENT => {
                &self.pool[seen.start as usize..(seen.start + seen.length) as usize]
            }
            _ => &[],
        }
    }

    /// The read that shows the order of the list `key`, if one does.
    #[must_use]
    pub fn canonical_read(&self, key: u32) -> u32 {
        self.reads.get(key as usize).copied().unwrap_or(ABSENT)
    }

    /// Whether an append of `after` to the list `key` comes right or somewhere behind one of `before`.
    #[must_use]
    pub fn succeeds(&self, key: u32, before: u32, after: u32) -> bool {
        let writers = self.canonical(key);
        let Some(first) = writers.iter().position(|&writer| writer == before) else { return false };
        writers[first..].contains(&after) || !writers.contains(&after)
    }

    /// Whether the pool's entry at `place` is the first of its list (or belongs to no canonical list).
    #[must_use]
    pub fn starts_list(&self, place: usize) -> bool {
        self.starts[place]
    }

    /// Writers of the elements of canonical lists, one list after the other, then those of other reads.
    #[must_use]
    pub fn pool(&self) -> &[u32] {
        &self.pool
    }
}
