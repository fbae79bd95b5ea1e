//! A row: its versions, as far back as an open transaction can still look.

use super::transaction::Own;
use super::{Found, Model};
use crate::history::NO_KEY;
use std::ops::Range;

/// The value of a row that does not exist.
pub(crate) const ABSENT: i64 = i64::MIN;
/// The id of no transaction: the writer of an initial version.
pub(crate) const NO_TRANSACTION: u32 = 0;
/// Old versions are dropped when a row has this many.
const CROWD: usize = 16;

/// A committed version of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredVersion {
    /// The instant from which a snapshot shows it.
    pub(crate) commit: u64,
    /// The integer of a register, the [`span`] of a list, or [`ABSENT`].
    pub(crate) value: i64,
    pub(crate) writer: u32,
}

/// A list, as a part of the elements of its row.
fn span(from: u32, to: u32) -> i64 {
    i64::from(from) << 32 | i64::from(to)
}

fn places(span: i64) -> Range<u32> {
    if span == ABSENT { 0..0 } else { (span >> 32) as u32..span as u32 }
}

/// What a read shows: a value, or a list that is not a part of the elements of its row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) value: i64,
    pub(crate) list: Option<Box<[i64]>>,
}

impl Shown {
    pub(crate) fn plain(value: i64) -> Self {
        Self { value, list: None }
    }

    pub(crate) fn list(elements: Vec<i64>) -> Self {
        Self { value: 0, list: Some(elements.into()) }
    }
}

/// A first read of a committed transaction that a later commit can still show to be wrong.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) reader: u32,
    pub(crate) start: u64,
    pub(crate) commit: u64,
    pub(crate) shown: Shown,
    /// Places of the elements that the reader itself appended.
    pub(crate) own: Range<u32>,
}

/// A version that reads do not find before an instant of true time, because of a fault.
#[derive(Debug)]
struct Hidden {
    commit: u64,
    places: Range<u32>,
    until: u64,
}

#[derive(Debug)]
pub(crate) struct Row {
    /// The number of the key in the history, once it occurs there.
    pub(crate) number: u32,
    /// How many values were drawn for it.
    pub(crate) written: u32,
    /// The last transaction that wrote it: session and id.
    pub(crate) holder: (u32, u32),
    /// The newest transaction that read or wrote it: id, and place among the rows that this one accessed.
    pub(crate) accessed: (u32, u32),
    crowd: u32,
    /// The value before the first version.
    pub(crate) initial: i64,
    /// The newest instant at which it was read, for timestamp ordering.
    pub(crate) read_at: u64,
    /// In the order of commit instants.
    pub(crate) versions: Vec<StoredVersion>,
    pub(crate) rare: Option<Box<Rare>>,
}

/// Data of lists and faults.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    elements: Vec<i64>,
    hidden: Vec<Hidden>,
    /// The writes of the last transaction that rolled back, and its id.
    pub(crate) rolled_back: Option<(u32, Own)>,
    pub(crate) seen: Vec<Seen>,
}

impl Row {
    pub(crate) fn new(initial: i64) -> Self {
        Self {
            number: NO_KEY,
            written: 0,
            holder: (0, NO_TRANSACTION),
            accessed: (NO_TRANSACTION, 0),
            crowd: CROWD as u32,
            initial,
            read_at: 0,
            versions: Vec::new(),
            rare: None,
        }
    }

    fn first(&self) -> StoredVersion {
        StoredVersion { commit: 0, value: self.initial, writer: NO_TRANSACTION }
    }

    /// The newest committed version.
    pub(crate) fn newest(&self) -> StoredVersion {
        self.versions.last().copied().unwrap_or_else(|| self.first())
    }

    /// Whether a snapshot does not show the newest version.
    #[inline]
    pub(crate) fn is_newer_than(&self, snapshot: u64) -> bool {
        self.newest().commit > snapshot
    }

    /// The newest version of a snapshot.
    pub(crate) fn at(&self, snapshot: u64) -> StoredVersion {
        self.find(|version| version.commit <= snapshot)
    }

    fn find(&self, matches: impl Fn(&StoredVersion) -> bool) -> StoredVersion {
        self.versions.iter().rev().find(|version| matches(version)).copied().unwrap_or_else(|| self.first())
    }

    /// What a snapshot shows at an instant of true time.
    #[inline]
    pub(crate) fn shown(&self, snapshot: u64, now: u64, model: Model) -> Shown {
        let Some(rare) = self.rare.as_ref().filter(|rare| !rare.hidden.is_empty()) else {
            return Shown::plain(self.at(snapshot).value);
        };
        if model == Model::Register {
            let is_found =
                |version: &StoredVersion| version.commit <= snapshot && !rare.hides(version.commit, now);
            return Shown::plain(self.find(is_found).value);
        }
        let value = self.at(snapshot).value;
        Shown { value, list: rare.without_hidden(places(value), now) }
    }

    /// The newest version as a transaction should have seen it: without the elements that it appended itself.
    pub(crate) fn newest_for(&self, seen: &Seen) -> Shown {
        let value = self.newest().value;
        let Some(rare) = self.rare.as_ref().filter(|rare| !rare.elements.is_empty()) else {
            return Shown::plain(value);
        };
        let others = places(value).filter(|place| !seen.own.contains(place));
        Shown { value, list: Some(others.map(|place| rare.elements[place as usize]).collect()) }
    }

    /// The places of the last `count` elements of the newest version.
    pub(crate) fn last_places(&self, count: u32) -> Range<u32> {
        let Range { end, .. } = places(self.newest().value);
        end.saturating_sub(count)..end
    }

    /// The elements that a read shows.
    pub(crate) fn elements<'r>(&'r self, shown: &'r Shown) -> &'r [i64] {
        match (&shown.list, &self.rare) {
            (Some(list), _) => list,
            (None, Some(rare)) => {
                let Range { start, end } = places(shown.value);
                &rare.elements[start as usize..end as usize]
            }
            (None, None) => &[],
        }
    }

    /// The same as the result of a read without own writes.
    pub(crate) fn found<'r>(&'r self, shown: &'r Shown, model: Model) -> Found<'r> {
        match model {
            _ if shown.value == ABSENT => Found::Absent,
            Model::Register => Found::Integer(shown.value),
            Model::List => Found::List(self.elements(shown), &[]),
        }
    }

    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Adds a version; reads find it from the instant `visible` on.
    #[inline]
    pub(crate) fn install(&mut self, own: &Own, model: Model, writer: u32, commit: u64, visible: u64) {
        let value = match model {
            Model::Register => own.value,
            Model::List if own.is_whole && own.value == ABSENT => ABSENT,
            Model::List => self.extend(own),
        };
        if visible > 0 {
            let count = own.elements.len() as u32;
            let end = places(value).end;
            self.rare().hidden.push(Hidden {
                commit,
                places: end.saturating_sub(count)..end,
                until: visible,
            });
        }
        self.versions.push(StoredVersion { commit, value, writer });
    }

    /// Appends to the newest list, or begins a new one; returns its span.
    fn extend(&mut self, own: &Own) -> i64 {
        let newest = self.newest().value;
        let rare = self.rare();
        let is_new = own.is_whole || newest == ABSENT;
        let from = if is_new { rare.elements.len() as u32 } else { places(newest).start };
        rare.elements.extend_from_slice(&own.elements);
        span(from, rare.elements.len() as u32)
    }

    /// Whether it is time to drop old versions.
    pub(crate) fn is_crowded(&self) -> bool {
        self.versions.len() >= self.crowd as usize
    }

    /// Drops the versions that no snapshot from `horizon` on shows.
    pub(crate) fn forget(&mut self, horizon: u64, now: u64) {
        let rare = self.rare.as_ref();
        let is_hidden = |commit| rare.is_some_and(|rare| rare.hides(commit, now));
        let is_base = |version: &StoredVersion| version.commit <= horizon && !is_hidden(version.commit);
        if let Some(base) = self.versions.iter().rposition(is_base) {
            self.versions.drain(..base);
        }
        self.crowd = (2 * self.versions.len()).max(CROWD) as u32;
        if let Some(rare) = &mut self.rare {
            rare.hidden.retain(|hidden| hidden.until > now);
            rare.seen.retain(|seen| seen.commit.max(seen.start) >= horizon);
        }
    }
}

impl Rare {
    fn hides(&self, commit: u64, now: u64) -> bool {
        self.hidden.iter().any(|hidden| hidden.commit == commit && now < hidden.until)
    }

    /// The elements at `places` if some of them are hidden.
    fn without_hidden(&self, places: Range<u32>, now: u64) -> Option<Box<[i64]>> {
        let is_hidden = |place: u32| {
            self.hidden.iter().any(|hidden| hidden.places.contains(&place) && now < hidden.until)
        };
        if !self.hidden.iter().any(|hidden| hidden.places.start < places.end && now < hidden.until) {
            return None;
        }
        let shown = places.filter(|&place| !is_hidden(place));
        Some(shown.map(|place| self.elements[place as usize]).collect())
    }
}
