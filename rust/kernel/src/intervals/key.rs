//! Versions of a key, and what is known of their order.

use super::profile::Lock;
use super::span::Span;
use super::transaction::NO_TABLE;
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// An operation of a transaction, which may be gone: `number` says whose `slot` it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Where it was.
    pub slot: u32,
    /// Its number.
    pub number: u64,
    /// The operation, by its place in the transaction's history.
    pub place: u32,
}

/// What a committed transaction left of a key.
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
    /// When its writer got the lock, and which.
    pub take: Span,
    pub lock: Lock,
    /// The moment that its writer must have seen all earlier versions at, where the first updater wins.
    pub seen: Span,
    /// Whether the row was new, so that nobody compared it with an earlier one.
    pub is_insert: bool,
    pub is_absent: bool,
    /// Whether it certainly committed.
    pub is_certain: bool,
    pub is_settled: bool,
    /// Settled transactions that certainly read it and may overlap with others.
    pub readers: Readers,
    /// Settled readers of a version that has no successor yet.
    pub waiting: u64,
}

/// A write that left no version: undone, or overwritten by its own transaction.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Passing {
    pub value: Value,
    pub write: Reference,
    /// When it could be seen by those who read what is not committed.
    pub seen: Span,
    /// When it was gone.
    pub gone: Span,
    pub is_aborted: bool,
}

/// A version that nobody can see any longer, kept for the sake of a message.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Gone {
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
    /// Nobody knows, and nobody has read it.
    Open,
    Known(Value),
}

/// How an order of two versions is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Source {
    Intervals,
    Locks,
    Snapshots,
    Reads,
}

/// How versions are ordered beside their intervals.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Rules {
    pub locks: bool,
    /// Whether of two writers one must have seen the other.
    pub snapshots: bool,
}

/// What comes directly before a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predecessor {
    Unknown,
    /// The initial state.
    First,
    Version(usize),
}

/// `before` comes before `after`, as `read` shows.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Deduced {
    pub before: Reference,
    pub after: Reference,
    pub read: Reference,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Key {
    pub first: First,
    /// Whether the initial state may still be read.
    pub is_fresh: bool,
    /// Settled readers of the initial state, as in [`Version`].
    pub first_readers: Readers,
    pub first_waiting: u64,
    /// In the order in which their commits began.
    pub versions: VecDeque<Version>,
    pub passing: Vec<Passing>,
    pub gone: VecDeque<Gone>,
    pub deduced: Vec<Deduced>,
    /// The longest commit of all versions whose end is known.
    pub longest: i64,
    /// Versions whose commit nobody saw the end of.
    pub open_ends: u32,
    /// Whether somebody wrote it as a register, and whether somebody appended to it.
    pub shapes: (bool, bool),
    /// The table that it is in, as far as anybody says.
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
    /// One more; some that ended before `past` are forgotten, as nobody overlaps with them.
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

/// Lists shorter than this are not looked through for what may be forgotten.
const SOME: usize = 16;
/// So many versions are remembered that nobody can see.
const REMEMBERED: usize = 4;

impl Key {
    /// Whether nobody can say what a read of it should show.
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
            + self.passing.capacity() * size_of::<Passing>()
            + self.gone.capacity() * size_of::<Gone>()
            + self.deduced.capacity() * size_of::<Deduced>()
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

    /// Whether one version certainly comes before the other, and how that is known.
    pub fn order(&self, one: &Version, other: &Version, rules: Rules) -> Option<(bool, Source)> {
        if let Some(known) = static_order(one, other, rules) {
            return Some(known);
        }
        self.deduced(one.write, other.write).map(|(is_before, _)| (is_before, Source::Reads))
    }

    /// The same as reads show it.
    pub fn deduced(&self, one: Reference, other: Reference) -> Option<(bool, Reference)> {
        self.deduced.iter().find_map(|known| {
            let is_before = known.before == one && known.after == other;
            let is_after = known.before == other && known.after == one;
            (is_before || is_after).then_some((is_before, known.read))
        })
    }

    /// Places of versions that may be the newest at the snapshot, and whether the initial state may be.
    ///
    /// A version is out if its commit began after the snapshot (future), or if another one certainly came after it
    /// and was certainly there (garbage).
    pub fn candidates(&self, snapshot: Span, rules: Rules, found: &mut Vec<usize>) -> bool {
        found.clear();
        let end = self.versions.partition_point(|version| version.commit.invoke <= snapshot.complete);
        let mut pivot = i64::MIN;
        let mut is_fresh = self.is_fresh;
        for place in (0..end).rev() {
            let version = &self.versions[place];
            let is_there = version.commit.precedes(snapshot);
            // Versions are in the order of their invocations: all further ones are garbage.
            if self.open_ends == 0 && version.commit.invoke.saturating_add(self.longest) < pivot {
                break;
            }
            if is_there {
                pivot = pivot.max(version.commit.invoke);
                is_fresh = false;
            }
            if version.commit.complete >= pivot {
                found.push(place);
            }
        }
        found.retain(|&place| self.versions[place].commit.complete >= pivot);
        if found.len() > 1 && (rules.locks || rules.snapshots) {
            self.drop_hidden(snapshot, rules, found);
        }
        is_fresh
    }

    /// Drops versions that a lock or a snapshot puts before one that was certainly there.
    fn drop_hidden(&self, snapshot: Span, rules: Rules, found: &mut Vec<usize>) {
        let all = found.clone();
        found.retain(|&place| {
            let version = &self.versions[place];
            !all.iter().any(|&other| {
                let hiding = &self.versions[other];
                other != place
                    && hiding.is_certain
                    && hiding.commit.precedes(snapshot)
                    && static_order(version, hiding, rules).is_some_and(|(is_before, _)| is_before)
            })
        });
    }

    /// The version that certainly comes directly after the one at `place`.
    pub fn successor(&self, place: usize, rules: Rules) -> Option<usize> {
        let version = &self.versions[place];
        let mut next: Option<usize> = None;
        for other in self.from(version.commit)..self.versions.len() {
            if next
                .is_some_and(|next| self.versions[next].commit.complete < self.versions[other].commit.invoke)
            {
                break;
            }
            let is_nearer = other != place
                && self.is_before(place, other, rules)
                && next.is_none_or(|next| self.is_before(other, next, rules));
            next = if is_nearer { Some(other) } else { next };
        }
        next.filter(|&next| self.is_next(Some(place), next, rules))
    }

    /// What certainly comes directly before the version at `place`.
    pub fn predecessor(&self, place: usize, rules: Rules) -> Predecessor {
        let end = self.end(self.versions[place].commit);
        let mut last: Option<usize> = None;
        for other in (0..end).rev() {
            let is_far = |last: usize| {
                self.versions[other].commit.invoke.saturating_add(self.longest)
                    < self.versions[last].commit.invoke
            };
            if self.open_ends == 0 && last.is_some_and(is_far) {
                break;
            }
            let is_nearer = other != place
                && self.is_before(other, place, rules)
                && last.is_none_or(|last| self.is_before(last, other, rules));
            last = if is_nearer { Some(other) } else { last };
        }
        match last {
            Some(last) if self.is_next(Some(last), place, rules) => Predecessor::Version(last),
            None if self.is_fresh && self.is_next(None, place, rules) => Predecessor::First,
            _ => Predecessor::Unknown,
        }
    }

    fn is_before(&self, one: usize, other: usize, rules: Rules) -> bool {
        self.order(&self.versions[one], &self.versions[other], rules).is_some_and(|(is_before, _)| is_before)
    }

    /// Whether nothing can be between the one (or the initial state) and the next.
    fn is_next(&self, place: Option<usize>, next: usize, rules: Rules) -> bool {
        let version = &self.versions[next];
        if !version.is_certain {
            return false;
        }
        let from = place.map_or(0, |place| self.from(self.versions[place].commit));
        (from..self.end(version.commit)).all(|other| {
            let is_earlier = place.is_some_and(|place| other == place || self.is_before(other, place, rules));
            other == next || is_earlier || self.is_before(next, other, rules)
        })
    }

    /// The version that certainly comes first.
    pub fn next_after_first(&self, rules: Rules) -> Option<usize> {
        let end = self.end(self.versions.front()?.commit);
        (0..end).find(|&place| self.predecessor(place, rules) == Predecessor::First)
    }

    /// A write that leaves no version; some that were gone before `past` are forgotten.
    pub fn pass(&mut self, passing: Passing, past: i64) {
        if self.passing.len() >= SOME && self.passing.len() == self.passing.capacity() {
            self.passing.retain(|known| known.gone.complete >= past);
        }
        self.passing.push(passing);
    }

    /// Versions before this place certainly come before one with this commit.
    pub fn from(&self, commit: Span) -> usize {
        if self.open_ends > 0 {
            return 0;
        }
        let earliest = commit.invoke.saturating_sub(self.longest);
        self.versions.partition_point(|version| version.commit.invoke < earliest)
    }

    /// Versions from this place on certainly come after one with this commit.
    pub fn end(&self, commit: Span) -> usize {
        self.versions.partition_point(|version| version.commit.invoke <= commit.complete)
    }

    /// Forgets versions that no snapshot from `horizon` on can show, and what was known of them.
    ///
    /// Calls `told` for each, the oldest first.
    pub fn prune(&mut self, horizon: i64, rules: Rules, mut told: impl FnMut(&Version)) {
        let is_there = |version: &&Version| {
            version.is_certain && version.is_settled && version.commit.complete < horizon
        };
        let Some(pivot) = self.versions.iter().rposition(|version| is_there(&version)) else { return };
        let before = self.versions.len();
        let (mut place, mut pivot) = (0, pivot);
        let last = self.versions[pivot].commit.invoke;
        while place < self.versions.len() && self.versions[place].commit.invoke <= last {
            let (version, newest) = (&self.versions[place], &self.versions[pivot]);
            let is_hidden = version.is_settled
                && place != pivot
                && static_order(version, newest, rules).is_some_and(|(is_before, _)| is_before);
            match is_hidden.then(|| self.versions.remove(place)).flatten() {
                Some(hidden) => {
                    pivot -= usize::from(place < pivot);
                    self.forget(&hidden, &mut told);
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

    fn forget(&mut self, hidden: &Version, told: &mut impl FnMut(&Version)) {
        told(hidden);
        self.open_ends -= u32::from(hidden.commit.complete == Span::NEVER);
        if self.gone.len() == REMEMBERED {
            self.gone.pop_front();
        }
        let &Version { value, write, writer, session, commit, take, .. } = hidden;
        self.gone.push_back(Gone { value, write, writer, session, commit, take });
    }
}

/// What intervals, locks and snapshots say, which never changes.
pub fn static_order(one: &Version, other: &Version, rules: Rules) -> Option<(bool, Source)> {
    if one.commit.precedes(other.commit) {
        return Some((true, Source::Intervals));
    }
    if other.commit.precedes(one.commit) {
        return Some((false, Source::Intervals));
    }
    if rules.locks && one.lock.conflicts(other.lock) {
        let possible = (one.commit.may_precede(other.take), other.commit.may_precede(one.take));
        if let (true, false) | (false, true) = possible {
            return Some((possible.0, Source::Locks));
        }
    }
    if rules.snapshots {
        let possible = (sees(other, one), sees(one, other));
        if let (true, false) | (false, true) = possible {
            return Some((possible.0, Source::Snapshots));
        }
    }
    None
}

/// Whether the later writer may have seen the earlier one's version, or need not.
pub fn sees(later: &Version, earlier: &Version) -> bool {
    let is_exempt = later.is_insert && earlier.commit.may_precede(later.commit);
    is_exempt || earlier.commit.may_precede(later.seen)
}
