//! The order of the versions of a key, as far as it is certain.

use super::finding::OrderSource;
use super::key::{Key, Reference, Version};
use super::span::Span;
use serde::{Deserialize, Serialize};

/// Which mechanisms order versions beside the intervals of commits.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Rules {
    pub locks: bool,
    /// Whether of two writers of a key one must have seen the version of the other.
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
pub struct DeducedOrder {
    pub before: Reference,
    pub after: Reference,
    pub read: Reference,
}

impl Key {
    /// Whether one version certainly comes before the other, and the evidence.
    pub fn order(&self, one: &Version, other: &Version, rules: Rules) -> Option<(bool, OrderSource)> {
        if let Some(known) = static_order(one, other, rules) {
            return Some(known);
        }
        self.deduced(one.write, other.write).map(|(is_before, _)| (is_before, OrderSource::Reads))
    }

    /// The order of two versions that a read shows, and the read.
    pub fn deduced(&self, one: Reference, other: Reference) -> Option<(bool, Reference)> {
        self.deduced.iter().find_map(|known| {
            let is_before = known.before == one && known.after == other;
            let is_after = known.before == other && known.after == one;
            (is_before || is_after).then_some((is_before, known.read))
        })
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

    /// Whether no version can be between the one at `place` (or the initial state) and the next.
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
}

/// The order of two versions by intervals, locks and snapshots; it never changes.
pub fn static_order(one: &Version, other: &Version, rules: Rules) -> Option<(bool, OrderSource)> {
    if one.commit.precedes(other.commit) {
        return Some((true, OrderSource::Intervals));
    }
    if other.commit.precedes(one.commit) {
        return Some((false, OrderSource::Intervals));
    }
    if rules.locks && one.lock.conflicts(other.lock) {
        // Locks are released with the commit, also where the timestamp of the version is older.
        let possible = (one.asked <= other.take.complete, other.asked <= one.take.complete);
        if let (true, false) | (false, true) = possible {
            return Some((possible.0, OrderSource::Locks));
        }
    }
    if rules.snapshots {
        let possible = (sees(other, one), sees(one, other));
        if let (true, false) | (false, true) = possible {
            return Some((possible.0, OrderSource::Snapshots));
        }
    }
    None
}

/// Whether the later writer may have seen the earlier version, or need not have seen it.
pub fn sees(later: &Version, earlier: &Version) -> bool {
    let is_exempt = later.is_insert && earlier.commit.may_precede(later.commit);
    is_exempt || earlier.commit.may_precede(later.seen)
}
