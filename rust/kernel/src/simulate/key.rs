//! What a key holds: its versions, as far back as somebody may still look.

use crate::generate::Model;
use crate::history::NO_KEY;
use std::ops::Range;

/// Nobody: the writer of the initial version, and of what was never written.
pub(super) const NOBODY: u32 = 0;
/// So many versions a key has before old ones are dropped.
const CROWD: usize = 16;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Version {
    pub(super) commit: u64,
    /// What a register holds, how many elements a list has.
    pub(super) value: u32,
    pub(super) writer: u32,
    /// From which instant of true time on a read can find it; later than its commit only by a fault.
    pub(super) visible: u64,
}

/// What a read shows: a value, or so many elements of a list, unless it is one that the key never was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) value: u32,
    pub(super) list: Option<Box<[u32]>>,
}

impl Shown {
    pub(super) fn plain(value: u32) -> Self {
        Self { value, list: None }
    }
}

/// Who read what, of those that have ended but may still be shown to be wrong.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) reader: u32,
    pub(super) start: u64,
    pub(super) commit: u64,
    pub(super) shown: Shown,
    /// Places of the elements that the reader itself appended.
    pub(super) own: Range<u32>,
}

#[derive(Debug)]
pub(super) struct Key {
    /// The builder's number, once the key occurs in the history.
    pub(super) number: u32,
    /// How often it was written, by whomever.
    pub(super) written: u32,
    /// The last open transaction that wrote it: session and id.
    pub(super) holder: (u32, u32),
    crowd: u32,
    /// By commit timestamp.
    pub(super) versions: Vec<Version>,
    pub(super) rare: Option<Box<Rare>>,
}

/// What lists and faults need.
#[derive(Debug, Default)]
pub(super) struct Rare {
    pub(super) elements: Vec<u32>,
    /// Elements from, to, and until when they are hidden.
    pub(super) hidden: Vec<(u32, u32, u64)>,
    /// What the last transaction wrote that rolled back, and which it was.
    pub(super) ghost: Option<(u32, Vec<u32>)>,
    pub(super) seen: Vec<Seen>,
}

impl Key {
    pub(super) fn new() -> Self {
        let holder = (0, NOBODY);
        Self { number: NO_KEY, written: 0, holder, crowd: CROWD as u32, versions: Vec::new(), rare: None }
    }

    pub(super) fn newest(&self) -> Version {
        self.versions.last().copied().unwrap_or_default()
    }

    /// The newest version as one who wrote the key himself should have seen it: a list without what is his.
    pub(super) fn newest_for(&self, seen: &Seen) -> Shown {
        let value = self.newest().value;
        let Some(rare) = self.rare.as_ref().filter(|rare| !rare.elements.is_empty()) else {
            return Shown::plain(value);
        };
        let others = (0..value).filter(|place| !seen.own.contains(place));
        Shown { value, list: Some(others.map(|place| rare.elements[place as usize]).collect()) }
    }

    /// The last version of a snapshot.
    pub(super) fn at(&self, snapshot: u64) -> Version {
        self.found(|version| version.commit <= snapshot)
    }

    fn found(&self, is_right: impl Fn(&Version) -> bool) -> Version {
        self.versions.iter().rev().find(|version| is_right(version)).copied().unwrap_or_default()
    }

    /// What a snapshot shows at this instant.
    pub(super) fn shown(&self, snapshot: u64, now: u64, model: Model) -> Shown {
        if model == Model::Register {
            let is_right = |version: &Version| version.commit <= snapshot && version.visible <= now;
            return Shown::plain(self.found(is_right).value);
        }
        let length = self.at(snapshot).value;
        Shown { value: length, list: self.without_hidden(length, now) }
    }

    /// The first elements of a list if some of them are hidden.
    fn without_hidden(&self, length: u32, now: u64) -> Option<Box<[u32]>> {
        let rare = self.rare.as_ref()?;
        let hides = |place: u32| {
            rare.hidden.iter().any(|&(from, to, until)| (from..to).contains(&place) && now < until)
        };
        if !rare.hidden.iter().any(|&(from, _, until)| from < length && now < until) {
            return None;
        }
        Some((0..length).filter(|&place| !hides(place)).map(|place| rare.elements[place as usize]).collect())
    }

    /// The elements that a read shows.
    pub(super) fn elements<'k>(&'k self, shown: &'k Shown) -> &'k [u32] {
        match (&shown.list, &self.rare) {
            (Some(list), _) => list,
            (None, Some(rare)) => &rare.elements[..shown.value as usize],
            (None, None) => &[],
        }
    }

    pub(super) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// A new version of a list is longer by these.
    pub(super) fn extend(&mut self, own: &[u32], visible: u64) -> u32 {
        let rare = self.rare();
        let from = rare.elements.len() as u32;
        rare.elements.extend_from_slice(own);
        let to = rare.elements.len() as u32;
        if visible > 0 {
            rare.hidden.push((from, to, visible));
        }
        to
    }

    /// Whether it is time to drop old versions.
    pub(super) fn is_crowded(&self) -> bool {
        self.versions.len() >= self.crowd as usize
    }

    /// Drops the versions that no snapshot from `horizon` on shows.
    pub(super) fn forget(&mut self, horizon: u64, now: u64) {
        let is_base = |version: &Version| version.commit <= horizon && version.visible <= now;
        if let Some(base) = self.versions.iter().rposition(is_base) {
            self.versions.drain(..base);
        }
        self.crowd = (2 * self.versions.len()).max(CROWD) as u32;
        if let Some(rare) = &mut self.rare {
            rare.hidden.retain(|&(_, _, until)| until > now);
            rare.seen.retain(|seen| seen.commit.max(seen.start) >= horizon);
        }
    }
}
