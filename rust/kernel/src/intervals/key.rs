//! The versions of a key, and which of them a snapshot can show.

use super::profile::Lock;
use super::read_view::ReadView;
use super::span::Span;
use super::transaction::NO_TABLE;
use super::version_order::{DeducedOrder, Rules, static_order};
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// An operation of a transaction. A slot is used again: `number` tells whether the transaction is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Where it was.
    pub slot: u32,
    /// Its number.
    pub number: u64,
    /// The operation, by its place in the transaction's history.
    pub place: u32,
}

/// The version of a key that a committed transaction left.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Version {
    pub value: Value,
    pub write: Reference,
    /// The id of the writer and its session, in case it is gone.
    pub writer: Value,
    pub session: u32,
    /// When others began to see it.
    pub commit: Span,
    /// When its writer sent the commit.
    pub asked: i64,
    /// When its writer got the lock, and which.
    pub take: Span,
    pub lock: Lock,
    /// The moment that its writer must have seen all earlier versions at, where the first updater wins.
    pub seen: Span,
    /// Whether the row was new, so that the database did not compare it with an earlier one.
    pub is_insert: bool,
    pub is_absent: bool,
    /// Whether it is certainly there: its transaction committed, and a delete found the row.
    pub is_certain: bool,
    /// Whether it is a delete that may have found no row.
    pub may_be_idle: bool,
    pub is_settled: bool,
    /// Settled transactions that certainly read it and may overlap with others.
    pub readers: Readers,
    /// Settled readers of a version that has no successor yet.
    pub waiting: u64,
}

/// A write that left no version: rolled back, or overwritten by its own transaction.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct TransientWrite {
    pub value: Value,
    pub write: Reference,
    /// When a read of uncommitted data could see it.
    pub seen: Span,
    /// When its transaction ended.
    pub gone: Span,
    pub is_aborted: bool,
}

/// A version that no later read can show, kept to name the writer in a message.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct DroppedVersion {
    pub value: Value,
    pub write: Reference,
    pub writer: Value,
    pub session: u32,
    pub commit: Span,
    pub take: Span,
}

/// What a key held before the first write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum First {
    /// The value is not known, and no read can show only it.
    Open,
    Known(Value),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Key {
    pub first: First,
    /// Whether a read showed it, and it is no row that is not there.
    pub is_first_shown: bool,
    /// Values that reads show and transactions wrote, and that may be the initial value all the same.
    pub guessed: Vec<Value>,
    /// Whether the initial state may still be read.
    pub is_fresh: bool,
    /// Settled readers of the initial state, as in [`Version`].
    pub first_readers: Readers,
    pub first_waiting: u64,
    /// In the order in which their commits began.
    pub versions: VecDeque<Version>,
    pub passing: Vec<TransientWrite>,
    pub gone: VecDeque<DroppedVersion>,
    pub deduced: Vec<DeducedOrder>,
    /// The longest commit of all versions whose end is known.
    pub longest: i64,
    /// How many versions have a commit whose end is not known.
    pub open_ends: u32,
    /// Whether a transaction wrote it as a register, and whether one appended to it as a list.
    pub shapes: (bool, bool),
    /// The table that it is in, if an operation names it.
    pub table: u32,
    /// The last own write of the transaction that is being judged: its number, and the operation.
    pub own: (u64, u32),
    /// Its last certain read of the key: its number, and the place among them.
    pub shown: (u64, u32),
}

impl Default for Key {
    fn default() -> Self {
        Self {
            first: First::Open,
            is_first_shown: false,
            guessed: Vec::new(),
            is_fresh: true,
            first_readers: Readers::default(),
            first_waiting: 0,
            versions: VecDeque::new(),
            passing: Vec::new(),
            gone: VecDeque::new(),
            deduced: Vec::new(),
            longest: 0,
            open_ends: 0,
            shapes: (false, false),
            table: NO_TABLE,
            own: (u64::MAX, 0),
            shown: (u64::MAX, 0),
        }
    }
}

/// Settled readers of a version, each with its end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Readers(Vec<(Reference, i64)>);

impl Readers {
    /// Adds a reader; drops readers that ended before `past`, which no later transaction overlaps.
    pub fn add(&mut self, read: Reference, ended: i64, past: i64) {
        if self.0.len() >= SOME && self.0.len() == self.0.capacity() {
            self.0.retain(|&(_, ended)| ended >= past);
        }
        self.0.push((read, ended));
    }

    pub fn iter(&self) -> impl Iterator<Item = Reference> {
        self.0.iter().map(|&(read, _)| read)
    }
}

/// Lists shorter than this are not searched for entries to drop.
const SOME: usize = 16;
/// How many versions are kept that no read can show.
const REMEMBERED: usize = 4;

impl Key {
    /// Whether the key is both a register and a list: its reads are not judged.
    pub fn is_mixed(&self) -> bool {
        self.shapes.0 && self.shapes.1
    }

    /// About how many bytes it takes.
    pub fn memory(&self) -> usize {
        let readers = |readers: &Readers| readers.0.capacity() * size_of::<(Reference, i64)>();
        size_of::<Self>()
            + self.versions.capacity() * size_of::<Version>()
            + self.versions.iter().map(|version| readers(&version.readers)).sum::<usize>()
            + readers(&self.first_readers)
            + self.passing.capacity() * size_of::<TransientWrite>()
            + self.gone.capacity() * size_of::<DroppedVersion>()
            + self.deduced.capacity() * size_of::<DeducedOrder>()
    }

    pub fn add(&mut self, version: Version) {
        if version.commit.complete == Span::NEVER {
            self.open_ends += 1;
        } else {
            self.longest = self.longest.max(version.commit.complete.saturating_sub(version.commit.invoke));
        }
        let place = self.versions.partition_point(|other| other.commit.invoke <= version.commit.invoke);
        self.versions.insert(place, version);
    }

    /// The place of the version that `write` left.
    pub fn place_of(&self, write: Reference, commit: Span) -> Option<usize> {
        let from = self.versions.partition_point(|other| other.commit.invoke < commit.invoke);
        (from..self.versions.len()).find(|&place| self.versions[place].write == write)
    }

    /// Places of versions that may be the newest that a read can see, and whether the initial state may be.
    ///
    /// A version is out if it came after the snapshot (future), or if another one certainly came after it and was
    /// certainly there (garbage).
    pub fn candidates(&self, view: &ReadView<'_>, rules: Rules, found: &mut Vec<usize>) -> bool {
        found.clear();
        let last = view.snapshot.complete;
        let end = self.versions.partition_point(|version| version.commit.invoke <= last);
        let mut pivot = i64::MIN;
        let mut is_fresh = self.is_fresh;
        for place in (0..end).rev() {
            let version = &self.versions[place];
            // Versions are in the order of their invocations: all further ones are garbage.
            if self.open_ends == 0 && version.commit.invoke.saturating_add(self.longest) < pivot {
                break;
            }
            let may_know = view.may_know(version);
            // A delete that the read cannot know of may have found no row: the read may tell so itself.
            if view.surely_has(version) && (may_know || !version.is_absent) {
                pivot = pivot.max(version.commit.invoke);
                is_fresh = false;
            }
            if may_know && version.commit.complete >= pivot {
                found.push(place);
            }
        }
        found.retain(|&place| self.versions[place].commit.complete >= pivot);
        if found.len() > 1 && (rules.locks || rules.snapshots) {
            self.drop_hidden(view, rules, found);
        }
        is_fresh
    }

    /// Drops versions that a lock or a snapshot puts before one that was certainly there.
    fn drop_hidden(&self, view: &ReadView<'_>, rules: Rules, found: &mut Vec<usize>) {
        let all = found.clone();
        found.retain(|&place| {
            let version = &self.versions[place];
            !all.iter().any(|&other| {
                let hiding = &self.versions[other];
                other != place
                    && view.surely_has(hiding)
                    && static_order(version, hiding, rules).is_some_and(|(is_before, _)| is_before)
            })
        });
    }

    /// Adds a write that leaves no version; drops those whose transactions ended before `past`.
    pub fn add_transient(&mut self, passing: TransientWrite, past: i64) {
        if self.passing.len() >= SOME && self.passing.len() == self.passing.capacity() {
            self.passing.retain(|known| known.gone.complete >= past);
        }
        self.passing.push(passing);
    }

    /// Drops versions that no snapshot from `horizon` on can show, and their orders.
    ///
    /// Calls `dropped` for each, the oldest first.
    pub fn prune(&mut self, horizon: i64, rules: Rules, mut dropped: impl FnMut(&Version)) {
        let is_there = |version: &&Version| {
            version.is_certain && version.is_settled && version.commit.complete < horizon
        };
        let Some(pivot) = self.versions.iter().rposition(|version| is_there(&version)) else { return };
        let before = self.versions.len();
        let (mut place, mut pivot) = (0, pivot);
        let last = self.versions[pivot].commit.invoke;
        while place < self.versions.len() && self.versions[place].commit.invoke <= last {
            let (version, newest) = (&self.versions[place], &self.versions[pivot]);
            // Until then the order of its writer and another transaction may tell of other keys.
            let is_over = version.commit.complete < horizon || version.commit.complete == Span::NEVER;
            let is_hidden = version.is_settled
                && is_over
                && place != pivot
                && static_order(version, newest, rules).is_some_and(|(is_before, _)| is_before);
            match is_hidden.then(|| self.versions.remove(place)).flatten() {
                Some(hidden) => {
                    pivot -= usize::from(place < pivot);
                    self.forget(&hidden, &mut dropped);
                }
                None => place += 1,
            }
        }
        self.is_fresh = false;
        self.first_readers = Readers::default();
        if self.versions.len() < before && !self.deduced.is_empty() {
            let versions = &self.versions;
            let is_known = |one: Reference| versions.iter().any(|version| version.write == one);
            self.deduced.retain(|known| is_known(known.before) && is_known(known.after));
        }
    }

    fn forget(&mut self, hidden: &Version, dropped: &mut impl FnMut(&Version)) {
        dropped(hidden);
        self.open_ends -= u32::from(hidden.commit.complete == Span::NEVER);
        if self.gone.len() == REMEMBERED {
            self.gone.pop_front();
        }
        self.gone.push_back(hidden.dropped());
    }
}

impl Version {
    /// The part of the version that is kept when it is dropped.
    pub fn dropped(&self) -> DroppedVersion {
        let &Self { value, write, writer, session, commit, take, .. } = self;
        DroppedVersion { value, write, writer, session, commit, take }
    }
}

impl Key {
    /// Calls `see` for each scalar of the key.
    pub(super) fn each_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        if let First::Known(value) = &mut self.first {
            see(value);
        }
        self.guessed.iter_mut().for_each(&mut *see);
        for version in &mut self.versions {
            see(&mut version.value);
            see(&mut version.writer);
        }
        self.passing.iter_mut().for_each(|passing| see(&mut passing.value));
        for dropped in &mut self.gone {
            see(&mut dropped.value);
            see(&mut dropped.writer);
        }
    }
}
