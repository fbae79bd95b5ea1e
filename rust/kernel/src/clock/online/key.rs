//! One key: its versions by commit, its external reads by the time of the snapshot that they show, and its initial
//! value.

use super::chain::{Chain, Place};
use super::context::Context;
use super::initial_value::InitialValue;
use crate::history::Timestamp;
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// A version; `write` is the last write of its transaction.
///
/// A checkpoint leaves out the fields that the transaction has.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct KeyVersion {
    #[serde(skip)]
    pub commit: Timestamp,
    #[serde(skip)]
    pub start: Timestamp,
    #[serde(skip, default = "nothing")]
    pub value: Value,
    pub slot: u32,
    pub write: u32,
    /// How many elements it adds to a list, and how many there are then.
    pub count: u32,
    pub end: u32,
}

/// A read of what other transactions wrote, of a list without the last `own` elements.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Read {
    #[serde(skip)]
    pub time: Timestamp,
    #[serde(skip, default = "nothing")]
    pub value: Value,
    pub slot: u32,
    pub place: u32,
    pub own: u32,
    pub is_wrong: bool,
}

const fn nothing() -> Value {
    Value::NOTHING
}

/// A read that became stale, or is stale no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Turn {
    pub slot: u32,
    pub read: u32,
    pub is_wrong: bool,
    /// Whether the read is new.
    pub is_new: bool,
}

/// How a key is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Shape {
    #[default]
    Open,
    Register,
    List,
}

/// One key.
#[derive(Debug, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is about something else")]
pub struct Key {
    pub shape: Shape,
    pub is_used: bool,
    /// Whether versions were dropped; whether one was missed since, so that a list is not known.
    pub is_cut: bool,
    pub is_lost: bool,
    /// Whether all transactions that wrote it are in memory.
    pub is_whole: bool,
    /// Late transactions that use it: it is not cut while there are some.
    pub held: u32,
    /// From here on everything is in memory.
    pub floor: Timestamp,
    pub initial: InitialValue,
    pub versions: Chain<KeyVersion>,
    pub reads: Chain<Read>,
    /// Reads of transactions that start after they commit: they have no place in the order.
    pub odd: Vec<Read>,
    /// Writes of transactions that did not commit: slot and place.
    pub uncommitted: Vec<(u32, u32)>,
    /// All committed elements of a list.
    pub elements: Vec<Value>,
    /// How long the longest of its writers took, by the physical parts.
    pub longest: i128,
}

impl Key {
    pub fn new(initial: Option<Value>) -> Self {
        let initial = initial.map_or_else(|| InitialValue::Open(Box::default()), InitialValue::Known);
        Self {
            shape: Shape::Open,
            is_used: false,
            is_cut: false,
            is_lost: false,
            is_whole: true,
            held: 0,
            floor: Timestamp::default(),
            initial,
            versions: Chain::default(),
            reads: Chain::default(),
            odd: Vec::new(),
            uncommitted: Vec::new(),
            elements: Vec::new(),
            longest: 0,
        }
    }

    /// The version that a read should show; a transaction does not see itself.
    pub fn expected(&self, context: Context<'_>, read: &Read) -> Option<&KeyVersion> {
        if context.is_odd(read) {
            let others = self.versions.iter().filter(|version| version.slot != read.slot);
            return others.take_while(|version| context.is_visible(version, read)).last();
        }
        let place = self.versions.partition(|version| context.is_visible(version, read));
        self.versions.get(self.versions.before(place)?)
    }

    /// The list that a read should show, with the end and the slot of each version.
    pub fn demanded(&self, context: Context<'_>, read: &Read) -> (Vec<Value>, Vec<(u32, u32)>) {
        let mut elements = self.elements[..self.base()].to_vec();
        let mut ends = Vec::new();
        let others = self.versions.iter().filter(|version| version.slot != read.slot);
        for version in others.take_while(|version| context.is_visible(version, read)) {
            let start = version.end - version.count;
            elements.extend_from_slice(&self.elements[start as usize..version.end as usize]);
            ends.push((elements.len() as u32, version.slot));
        }
        (elements, ends)
    }

    /// How many elements are older than all versions.
    pub fn base(&self) -> usize {
        self.versions.first().map_or(self.elements.len(), |first| (first.end - first.count) as usize)
    }

    /// The elements of other transactions that a read shows.
    pub fn shown<'l>(context: Context<'l>, read: &Read) -> &'l [Value] {
        let list = context.lists.get(read.value).unwrap_or_default();
        &list[..list.len() - read.own as usize]
    }

    /// Whether a read is stale.
    pub fn is_wrong(&self, context: Context<'_>, read: &Read) -> bool {
        if self.shape == Shape::List {
            let list = Self::shown(context, read);
            if context.is_odd(read) {
                return self.demanded(context, read).0 != list;
            }
            let end = self.expected(context, read).map_or(self.base(), |version| version.end as usize);
            return self.elements[..end] != *list;
        }
        match self.expected(context, read) {
            Some(version) => version.value != read.value,
            None => self.initial.value() != Some(read.value),
        }
    }

    /// Adds a read.
    pub fn read(&mut self, context: Context<'_>, mut read: Read, turns: &mut Vec<Turn>) {
        self.suspect(context, &read, turns);
        read.is_wrong = self.is_wrong(context, &read);
        if read.is_wrong {
            turns.push(Turn { slot: read.slot, read: read.place, is_wrong: true, is_new: true });
        }
        if context.is_odd(&read) {
            self.odd.push(read);
            return;
        }
        let transaction = context.transactions.get(read.slot);
        let place = self.reads.partition(|other| context.reads_earlier(other, read.time, transaction));
        self.reads.insert(place, read);
    }

    /// A read that was added.
    pub fn find(&self, context: Context<'_>, slot: u32, read: u32) -> Option<&Read> {
        let transaction = context.transactions.get(slot);
        let time = context.moment(transaction);
        let is_it = |other: &&Read| other.slot == slot && other.place == read;
        let place = self.reads.partition(|other| context.reads_earlier(other, time, transaction));
        let same = self.reads.entries(place).take_while(|other| other.time == time);
        same.filter(is_it).chain(self.odd.iter().filter(is_it)).next()
    }

    /// A read of a register that no version explains may show the initial value.
    fn suspect(&mut self, context: Context<'_>, read: &Read, turns: &mut Vec<Turn>) {
        if self.shape == Shape::List || !matches!(self.initial, InitialValue::Open(_)) {
            return;
        }
        let explained = self.expected(context, read).is_some_and(|version| version.value == read.value);
        if !explained {
            let number = context.transactions.get(read.slot).number;
            self.suspect_value(context, read.value, (number, read.place), turns);
        }
    }

    /// A read shows a value that nothing explains.
    pub fn suspect_value(
        &mut self,
        context: Context<'_>,
        value: Value,
        read: (u64, u32),
        turns: &mut Vec<Turn>,
    ) {
        if let InitialValue::Open(suspects) = &mut self.initial
            && suspects.suspect(value, read)
        {
            self.recheck_initial(context, turns);
        }
    }

    /// A transaction wrote a value.
    pub fn write(&mut self, context: Context<'_>, value: Value, turns: &mut Vec<Turn>) {
        if let InitialValue::Open(suspects) = &mut self.initial
            && suspects.write(value)
        {
            self.recheck_initial(context, turns);
        }
    }

    /// Judges the reads before the first version again.
    fn recheck_initial(&mut self, context: Context<'_>, turns: &mut Vec<Turn>) {
        let learned = self.initial.value();
        let first = self.versions.first().copied();
        let is_first = |read: &Read| first.is_none_or(|version| !context.is_visible(&version, read));
        for read in self.reads.iter_mut().take_while(|read| is_first(read)) {
            turn(read, learned != Some(read.value), turns);
        }
        self.recheck_odd(context, turns);
    }

    fn recheck_odd(&mut self, context: Context<'_>, turns: &mut Vec<Turn>) {
        for number in 0..self.odd.len() {
            let is_wrong = self.is_wrong(context, &self.odd[number]);
            turn(&mut self.odd[number], is_wrong, turns);
        }
    }

    /// Whether the version of `slot` comes too late: a newer one took its place, and older ones were dropped. The
    /// content of a list is then no longer known.
    pub fn is_missed(&mut self, context: Context<'_>, slot: u32) -> bool {
        let transaction = context.transactions.get(slot);
        let is_behind = |first: &KeyVersion| context.is_earlier(first, transaction.commit, transaction);
        if !self.is_cut || self.versions.first().is_none_or(is_behind) {
            return false;
        }
        self.is_lost |= self.shape == Shape::List;
        true
    }

    /// Adds a version, and judges the reads again that should show it.
    pub fn install(
        &mut self,
        context: Context<'_>,
        mut version: KeyVersion,
        appended: &[Value],
        turns: &mut Vec<Turn>,
    ) {
        let transaction = context.transactions.get(version.slot);
        let place = self.versions.partition(|other| context.is_earlier(other, version.commit, transaction));
        if self.shape == Shape::List {
            let before = self.versions.before(place).and_then(|before| self.versions.get(before));
            let start = before.map_or(self.base(), |before| before.end as usize);
            version.count = appended.len() as u32;
            version.end = start as u32 + version.count;
            self.elements.splice(start..start, appended.iter().copied());
            for later in self.versions.entries_mut(place) {
                later.end += version.count;
            }
        }
        self.longest = self.longest.max(physical(version.commit) - physical(version.start));
        let place = self.versions.insert(place, version);
        let from = self.reads.partition(|read| !context.is_visible(&version, read));
        if self.shape == Shape::List {
            self.recheck_lists(context, from, turns);
        } else {
            let next = self.versions.get(self.versions.next(place)).copied();
            let sees_next = |read: &Read| next.is_some_and(|next| context.is_visible(&next, read));
            for read in self.reads.entries_mut(from).take_while(|read| !sees_next(read)) {
                turn(read, read.value != version.value, turns);
            }
        }
        self.recheck_odd(context, turns);
    }

    /// Judges all reads of a list again, from a place on.
    fn recheck_lists(&mut self, context: Context<'_>, from: Place, turns: &mut Vec<Turn>) {
        let mut place = from;
        while let Some(&read) = self.reads.get(place) {
            let is_wrong = self.is_wrong(context, &read);
            if let Some(read) = self.reads.get_mut(place) {
                turn(read, is_wrong, turns);
            }
            place = self.reads.next(place);
        }
    }

    /// Shows every version of the key that overlaps the version of `slot`.
    pub fn overlapping(&self, context: Context<'_>, slot: u32, mut see: impl FnMut(&KeyVersion)) {
        let transaction = context.transactions.get(slot);
        let earliest = transaction.start.min(transaction.commit);
        let from = self.versions.partition(|version| version.commit < earliest);
        let is_beyond =
            |version: &KeyVersion| physical(version.commit) - self.longest > physical(transaction.commit);
        for version in self.versions.entries(from).take_while(|version| !is_beyond(version)) {
            if version.start >= transaction.commit && version.commit > transaction.commit {
                continue;
            }
            let other = context.transactions.get(version.slot);
            if version.slot != slot && context.order.overlap(transaction, other) {
                see(version);
            }
        }
    }
}

fn turn(read: &mut Read, is_wrong: bool, turns: &mut Vec<Turn>) {
    if read.is_wrong != is_wrong {
        read.is_wrong = is_wrong;
        turns.push(Turn { slot: read.slot, read: read.place, is_wrong, is_new: false });
    }
}

fn physical(time: Timestamp) -> i128 {
    time.parts().map_or(0, |(physical, _)| i128::from(physical))
}
