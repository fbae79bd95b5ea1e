//! What is known of one key: its versions by commit, the reads of others by the moment they show, and what it
//! held before the first version.

use super::chain::{Chain, Place};
use super::first::First;
use super::lists::Lists;
use super::transactions::{Order, Transaction, Transactions};
use crate::clock::Isolation;
use crate::history::Timestamp;
use crate::value::Value;

/// A version; `write` is the last write of its transaction.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Version {
    pub commit: Timestamp,
    pub start: Timestamp,
    pub value: Value,
    pub slot: u32,
    pub write: u32,
    /// How many elements it adds to a list, and how many there are then.
    pub count: u32,
    pub end: u32,
}

/// A read of what others wrote, of a list without the last `own` elements.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Read {
    pub time: Timestamp,
    pub value: Value,
    pub slot: u32,
    pub place: u32,
    pub own: u32,
    pub is_wrong: bool,
}

/// A read whose answer is another one now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Turn {
    pub slot: u32,
    pub read: u32,
    pub is_wrong: bool,
    /// Whether it was never asked before.
    pub is_new: bool,
}

/// Which use of a key was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Shape {
    #[default]
    Open,
    Register,
    List,
}

/// What everything is ordered by, and looked up in.
#[derive(Clone, Copy)]
pub struct Context<'c> {
    pub order: Order<'c>,
    pub transactions: &'c Transactions,
    pub lists: &'c Lists,
}

impl Context<'_> {
    fn is_visible(&self, version: &Version, read: &Read) -> bool {
        version.commit < read.time || version.commit == read.time && self.sees(read.slot, version.slot)
    }

    /// Whether a read comes in no order: its transaction starts after it commits, and may write the key.
    fn is_odd(&self, read: &Read) -> bool {
        self.order.isolation == Isolation::Snapshot && {
            let transaction = self.transactions.get(read.slot);
            transaction.start > transaction.commit
        }
    }

    fn sees(&self, reader: u32, writer: u32) -> bool {
        self.order.sees(self.transactions.get(reader), self.transactions.get(writer))
    }

    fn is_earlier(&self, version: &Version, commit: Timestamp, transaction: &Transaction) -> bool {
        let is_tie = || self.order.commits(self.transactions.get(version.slot), transaction).is_lt();
        version.commit < commit || version.commit == commit && is_tie()
    }

    fn reads_earlier(&self, read: &Read, time: Timestamp, transaction: &Transaction) -> bool {
        let is_tie = || self.order.reads(self.transactions.get(read.slot), transaction).is_lt();
        read.time < time || read.time == time && is_tie()
    }

    /// When a transaction reads.
    pub fn moment(&self, transaction: &Transaction) -> Timestamp {
        match self.order.isolation {
            Isolation::Snapshot => transaction.start,
            Isolation::Serializable => transaction.commit,
        }
    }
}

/// One key.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is about something else")]
pub struct Key {
    pub shape: Shape,
    pub is_used: bool,
    /// Whether versions were dropped; whether one was missed since, so that a list is not known.
    pub is_cut: bool,
    pub is_lost: bool,
    /// Whether all who ever wrote it are in memory.
    pub is_whole: bool,
    /// Late transactions that look at it: so long it is not cut.
    pub held: u32,
    /// From here on everything is in memory.
    pub floor: Timestamp,
    pub first: First,
    pub versions: Chain<Version>,
    pub reads: Chain<Read>,
    /// Reads of transactions that start after they commit and also write the key: they come in no order.
    pub odd: Vec<Read>,
    /// Writes of those who did not commit: whose, and which.
    pub aside: Vec<(u32, u32)>,
    /// All committed elements of a list.
    pub elements: Vec<Value>,
    /// How long the longest of its writers took, by the physical parts.
    pub longest: i128,
}

impl Key {
    pub fn new(initial: Option<Value>) -> Self {
        let first = initial.map_or_else(|| First::Open(Box::default()), First::Known);
        Self {
            shape: Shape::Open,
            is_used: false,
            is_cut: false,
            is_lost: false,
            is_whole: true,
            held: 0,
            floor: Timestamp::default(),
            first,
            versions: Chain::default(),
            reads: Chain::default(),
            odd: Vec::new(),
            aside: Vec::new(),
            elements: Vec::new(),
            longest: 0,
        }
    }

    /// The version that a read should show; nobody sees himself.
    pub fn expected(&self, context: Context<'_>, read: &Read) -> Option<&Version> {
        if context.is_odd(read) {
            let others = self.versions.iter().filter(|version| version.slot != read.slot);
            return others.take_while(|version| context.is_visible(version, read)).last();
        }
        let place = self.versions.partition(|version| context.is_visible(version, read));
        self.versions.get(self.versions.before(place)?)
    }

    /// What a list should hold for a read, with where each version ends and whose it is.
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
    fn base(&self) -> usize {
        self.versions.first().map_or(self.elements.len(), |first| (first.end - first.count) as usize)
    }

    /// What a read of a list shows of others.
    pub fn shown<'l>(context: Context<'l>, read: &Read) -> &'l [Value] {
        let list = context.lists.get(read.value).unwrap_or_default();
        &list[..list.len() - read.own as usize]
    }

    /// Whether a read does not show what it should.
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
            None => self.first.value() != Some(read.value),
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

    /// A read of a register that no version explains may show what the key held first.
    fn suspect(&mut self, context: Context<'_>, read: &Read, turns: &mut Vec<Turn>) {
        if self.shape == Shape::List || !matches!(self.first, First::Open(_)) {
            return;
        }
        let explained = self.expected(context, read).is_some_and(|version| version.value == read.value);
        if !explained {
            let number = context.transactions.get(read.slot).number;
            self.suspect_value(context, read.value, (number, read.place), turns);
        }
    }

    /// Somebody read a value that nothing explains.
    pub fn suspect_value(
        &mut self,
        context: Context<'_>,
        value: Value,
        read: (u64, u32),
        turns: &mut Vec<Turn>,
    ) {
        if let First::Open(suspects) = &mut self.first
            && suspects.suspect(value, read)
        {
            self.reconsider_first(context, turns);
        }
    }

    /// Somebody wrote a value.
    pub fn write(&mut self, context: Context<'_>, value: Value, turns: &mut Vec<Turn>) {
        if let First::Open(suspects) = &mut self.first
            && suspects.write(value)
        {
            self.reconsider_first(context, turns);
        }
    }

    /// Looks again at the reads in front of the first version.
    fn reconsider_first(&mut self, context: Context<'_>, turns: &mut Vec<Turn>) {
        let learned = self.first.value();
        let first = self.versions.first().copied();
        let is_first = |read: &Read| first.is_none_or(|version| !context.is_visible(&version, read));
        for read in self.reads.iter_mut().take_while(|read| is_first(read)) {
            turn(read, learned != Some(read.value), turns);
        }
        self.reconsider_odd(context, turns);
    }

    fn reconsider_odd(&mut self, context: Context<'_>, turns: &mut Vec<Turn>) {
        for number in 0..self.odd.len() {
            let is_wrong = self.is_wrong(context, &self.odd[number]);
            turn(&mut self.odd[number], is_wrong, turns);
        }
    }

    /// Whether the version of `slot` comes too late to be put anywhere: a newer one took its place, and what was
    /// before that is gone. A list is then no longer known.
    pub fn is_missed(&mut self, context: Context<'_>, slot: u32) -> bool {
        let transaction = context.transactions.get(slot);
        let is_behind = |first: &Version| context.is_earlier(first, transaction.commit, transaction);
        if !self.is_cut || self.versions.first().is_none_or(is_behind) {
            return false;
        }
        self.is_lost |= self.shape == Shape::List;
        true
    }

    /// Adds a version, and looks again at the reads that it could justify.
    pub fn install(
        &mut self,
        context: Context<'_>,
        mut version: Version,
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
            self.reconsider_lists(context, from, turns);
        } else {
            let next = self.versions.get(self.versions.next(place)).copied();
            let sees_next = |read: &Read| next.is_some_and(|next| context.is_visible(&next, read));
            for read in self.reads.entries_mut(from).take_while(|read| !sees_next(read)) {
                turn(read, read.value != version.value, turns);
            }
        }
        self.reconsider_odd(context, turns);
    }

    /// Looks again at all reads of a list from a place on.
    fn reconsider_lists(&mut self, context: Context<'_>, from: Place, turns: &mut Vec<Turn>) {
        let mut place = from;
        while let Some(&read) = self.reads.get(place) {
            let is_wrong = self.is_wrong(context, &read);
            if let Some(read) = self.reads.get_mut(place) {
                turn(read, is_wrong, turns);
            }
            place = self.reads.next(place);
        }
    }

    /// Every other writer of the key that overlaps the version of `slot`.
    pub fn overlapping(&self, context: Context<'_>, slot: u32, mut see: impl FnMut(&Version)) {
        let transaction = context.transactions.get(slot);
        let earliest = transaction.start.min(transaction.commit);
        let from = self.versions.partition(|version| version.commit < earliest);
        let is_beyond =
            |version: &Version| physical(version.commit) - self.longest > physical(transaction.commit);
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

    /// Drops what nobody can ask for any longer: reads before the watermark, and the versions that the newest
    /// before it replaced.
    ///
    /// Nothing goes of a transaction that has not passed the watermark with both of its times.
    pub fn cut(&mut self, context: Context<'_>, watermark: Timestamp, gone: &mut Vec<u32>) -> (usize, usize) {
        if self.held > 0 {
            return (0, 0);
        }
        let is_past = |slot: u32| {
            let (start, commit) = context.transactions.get(slot).times();
            commit < watermark && (start < watermark || context.order.isolation == Isolation::Serializable)
        };
        let reads = self.reads.iter().take_while(|read| read.time < watermark && is_past(read.slot)).count();
        self.reads.cut(reads, |read| gone.push(read.slot));
        let kept = self.reads.first().map_or(watermark, |read| read.time.min(watermark));
        let mut odd = 0;
        self.odd.retain(|read| {
            let is_old = read.time < watermark;
            odd += usize::from(is_old);
            if is_old {
                gone.push(read.slot);
            }
            !is_old
        });
        let old = self.replaced(kept, is_past);
        self.versions.cut(old, |version| gone.push(version.slot));
        self.is_cut |= old > 0;
        self.is_whole &= old == 0;
        if old + reads + odd > 0 {
            self.floor = watermark;
        }
        if self.versions.first().is_some_and(|version| version.commit < watermark) {
            self.settle(watermark);
        }
        (old, reads + odd)
    }

    /// How many versions at the start nobody sees who reads at `kept` or later: others replaced them.
    fn replaced(&self, kept: Timestamp, is_past: impl Fn(u32) -> bool) -> usize {
        if self.shape == Shape::List && !self.odd.is_empty() {
            return 0;
        }
        let pairs = self.versions.iter().zip(self.versions.iter().skip(1));
        let old = pairs.take_while(|(old, next)| next.commit < kept && is_past(old.slot)).count();
        // Who comes in no order does not see himself, but the one before.
        let is_own = |place: usize| {
            let version = self.versions.iter().nth(place);
            version.is_some_and(|version| self.odd.iter().any(|read| read.slot == version.slot))
        };
        (0..=old).rev().find(|&place| !is_own(place)).unwrap_or(0)
    }

    /// Puts a version back that was cut off; false if it is there.
    pub fn restore_version(&mut self, context: Context<'_>, mut version: Version) -> bool {
        let transaction = context.transactions.get(version.slot);
        let place = self.versions.partition(|other| context.is_earlier(other, version.commit, transaction));
        if self.versions.get(place).is_some_and(|other| other.slot == version.slot) {
            return false;
        }
        if self.shape == Shape::List {
            version.end = self.base() as u32;
        }
        self.versions.insert(place, version);
        true
    }

    /// Puts a read back that was cut off; false if it is there.
    pub fn restore_read(&mut self, context: Context<'_>, mut read: Read) -> bool {
        if self.find(context, read.slot, read.place).is_some() {
            return false;
        }
        read.is_wrong = self.is_wrong(context, &read);
        if context.is_odd(&read) {
            self.odd.push(read);
            return true;
        }
        let transaction = context.transactions.get(read.slot);
        let place = self.reads.partition(|other| context.reads_earlier(other, read.time, transaction));
        self.reads.insert(place, read);
        true
    }

    /// Nobody who comes in time can read what the key held first any longer.
    fn settle(&mut self, watermark: Timestamp) {
        if let First::Open(suspects) = &self.first {
            self.first = First::Settled(suspects.learned);
            self.floor = watermark;
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
