//! What was found: counted, told once, and the first of each name kept with everything that shows it.

use super::excerpt::Excerpt;
use super::first::First;
use super::key::{Context, Key, Read, Shape};
use super::spill::EARLIEST;
use super::transactions::{Operation, Transaction};
use super::{Engine, context};
use crate::clock::list::{Committed, Relation};
use crate::clock::{Judgement, NAMES, NOTHING, Name};
use crate::history::{History, NO_KEY};
use crate::value::Value;
use std::cmp::Ordering;
use std::collections::VecDeque;

/// So many more than are shown are kept, for the place of those that are taken back.
const SPARE: usize = 32;
/// So many of the last findings can be shown.
const RECENT: usize = 100;

/// Something that was found, or taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct News {
    /// 1, 2, 3, ...
    pub number: u64,
    pub name: Name,
    /// Ids of transactions, and the key.
    pub transaction: Value,
    pub other: Option<Value>,
    pub key: Option<Value>,
    /// Whether a late transaction took it back.
    pub is_retracted: bool,
}

/// A finding, and the transactions that show it, by slot.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub name: Name,
    pub slot: u32,
    pub other: Option<u32>,
    pub key: u32,
    pub operation: u32,
    /// A write, or the access before: whose, and which.
    pub against: Option<(u32, u32)>,
    /// Of a stale read.
    pub stale: Option<Box<StaleRead>>,
}

/// What a stale read shows and should have shown, and who may have written that.
#[derive(Debug, Clone)]
pub(super) struct StaleRead {
    pub list: Vec<Value>,
    pub expected: Vec<Value>,
    pub relation: Relation,
    /// Who left the part of a list that it shows, or was cut in two by its end.
    pub writer: Option<u32>,
    pub writes: Vec<(u32, u32)>,
    /// Whether all who may have written it are in memory.
    pub is_whole: bool,
}

impl Shown {
    /// Something between transactions.
    pub const fn between(name: Name, slot: u32, other: Option<u32>) -> Self {
        Self { name, slot, other, key: NO_KEY, operation: NOTHING, against: None, stale: None }
    }

    /// Everyone who is needed to show it.
    pub fn slots(&self) -> Vec<u32> {
        let mut slots = vec![self.slot];
        slots.extend(self.other);
        slots.extend(self.against.map(|(slot, _)| slot));
        if let Some(stale) = &self.stale {
            slots.extend(stale.writer);
            slots.extend(stale.writes.iter().map(|&(slot, _)| slot));
        }
        slots
    }
}

/// Findings that are kept, and news that nobody heard yet.
#[derive(Debug)]
pub(super) struct Kept {
    most: usize,
    pub shown: [Vec<Shown>; NAMES],
    pub recent: VecDeque<(u64, Shown)>,
    pub news: Vec<News>,
    pub told: u64,
}

impl Kept {
    pub fn new(most: usize) -> Self {
        Self { most, shown: Default::default(), recent: VecDeque::new(), news: Vec::new(), told: 0 }
    }

    /// Makes a piece of news.
    pub fn tell(
        &mut self,
        name: Name,
        transaction: Value,
        other: Option<Value>,
        key: Option<Value>,
        is_retracted: bool,
    ) {
        self.told += 1;
        self.news.push(News { number: self.told, name, transaction, other, key, is_retracted });
    }

    /// A stale read is none any longer; the slots that it needed.
    pub fn retract(&mut self, slot: u32, read: u32) -> Vec<u32> {
        let is_it = |shown: &Shown| shown.slot == slot && shown.operation == read && shown.stale.is_some();
        let mut gone = Vec::new();
        let mut keep = |shown: &Shown| {
            let stays = !is_it(shown);
            if !stays {
                gone.extend(shown.slots());
            }
            stays
        };
        self.shown[Name::StaleRead as usize].retain(&mut keep);
        self.recent.retain(|(_, shown)| keep(shown));
        gone
    }
}

/// The findings that are kept, with a history of the transactions that show them.
#[derive(Debug)]
pub struct Report {
    /// The transactions, in the order of arrival.
    pub history: History,
    /// The session of each, by the order of first appearance, and its place there.
    pub places: Vec<(u32, u32)>,
    /// Counts, and findings by the numbers of that history.
    pub judgement: Judgement,
}

impl Engine {
    /// What was found since the last time.
    pub fn news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.found.news)
    }

    /// Everything so far.
    #[must_use]
    pub fn report(&mut self) -> Report {
        self.refresh();
        let first = |shown: &'_ Vec<Shown>| shown.len().min(self.found.most);
        let shown: Vec<&Shown> = self.found.shown.iter().flat_map(|all| &all[..first(all)]).collect();
        let mut report = self.assemble(&shown);
        report.judgement.counts = self.counts;
        report.judgement.ties = self.sizes.ties;
        report.judgement.range_reads = self.sizes.range_reads;
        report
    }

    /// Looks again at the stale reads that are shown: somebody may have come since.
    fn refresh(&mut self) {
        for place in 0..self.found.shown[Name::StaleRead as usize].len() {
            let old = &self.found.shown[Name::StaleRead as usize][place];
            let (slot, read, key) = (old.slot, old.operation, old.key);
            let moment = self.moment(self.transactions.get(slot).times());
            // What it shows may be what the key held first, which nobody could know then.
            let is_open = matches!(self.keys[key as usize].first, First::Settled(None));
            self.recall(key, if is_open { EARLIEST } else { moment });
            let Some(mut new) = self.stale(slot, read) else { continue };
            self.ask_writers(&mut new);
            self.recall_writers(&mut new);
            for slot in new.slots() {
                self.transactions.hold(slot);
            }
            let old = std::mem::replace(&mut self.found.shown[Name::StaleRead as usize][place], new);
            for slot in old.slots() {
                self.release(slot);
            }
        }
        self.let_go();
    }

    /// Looks on the disk for those who may have written what a stale read shows.
    fn recall_writers(&mut self, shown: &mut Shown) {
        let found = self.transactions.get(shown.slot).operations[shown.operation as usize].value;
        let Some(stale) = shown.stale.as_mut().filter(|stale| !stale.is_whole) else { return };
        let is_register = stale.relation == Relation::Register;
        let values = if is_register { [found].into() } else { stale.list.iter().copied().collect() };
        let Some(slots) = self.recall_writes(shown.key, &values) else { return };
        for slot in slots {
            let operations = (0..).zip(&self.transactions.get(slot).operations);
            let is_asked = |other: &Operation| {
                other.key == shown.key && other.kind.installs() && values.contains(&other.value)
            };
            let asked = operations.filter(|(_, other)| is_asked(other)).map(|(place, _)| (slot, place));
            for write in asked {
                if !stale.writes.contains(&write) {
                    stale.writes.push(write);
                }
            }
            self.borrowed.push(slot);
        }
        stale.is_whole = true;
    }

    /// Those that were read back only to be looked at need not stay.
    fn let_go(&mut self) {
        for slot in std::mem::take(&mut self.borrowed) {
            self.release(slot);
        }
    }

    /// One piece of news, if it is one of the last.
    #[must_use]
    pub fn recent(&mut self, number: u64) -> Option<Report> {
        let (_, shown) = self.found.recent.iter().find(|(other, _)| *other == number)?;
        let mut shown = shown.clone();
        if shown.stale.is_some() {
            shown = self.stale(shown.slot, shown.operation).unwrap_or(shown);
            self.ask_writers(&mut shown);
            self.recall_writers(&mut shown);
        }
        let report = self.assemble(&[&shown]);
        self.let_go();
        Some(report)
    }

    /// Counts a finding, tells it, and keeps it if it is one of the first or of the last.
    pub(super) fn find(&mut self, shown: Shown) {
        self.counts[shown.name as usize] += 1;
        let id = |slot| self.transactions.get(slot).id;
        let (transaction, other) = (id(shown.slot), shown.other.map(id));
        let key = (shown.key != NO_KEY).then(|| self.index.ids()[shown.key as usize]);
        self.found.tell(shown.name, transaction, other, key, false);
        self.keep_recent(shown.clone());
        self.keep_first(shown);
    }

    /// A read that is final, and wrong.
    pub(super) fn find_stale(&mut self, slot: u32, read: u32) {
        if let Some(shown) = self.stale(slot, read) {
            self.find(shown);
        }
    }

    /// What a wrong read shows, and should show.
    fn stale(&mut self, slot: u32, read: u32) -> Option<Shown> {
        let key = self.transactions.get(slot).operations[read as usize].key;
        if self.keys[key as usize].shape == Shape::List {
            // Who left which part of a list is known from its versions alone.
            self.recall(key, EARLIEST);
        }
        let context = context!(self);
        let known = &self.keys[key as usize];
        let found = known.find(context, slot, read)?;
        let against = known.expected(context, found).map(|version| (version.slot, version.write));
        let is_list = known.shape == Shape::List;
        let stale = if is_list { known.list_of(context, found) } else { StaleRead::register() };
        let stale = Some(Box::new(StaleRead { is_whole: known.is_whole, ..stale }));
        Some(Shown { key, operation: read, against, stale, ..Shown::between(Name::StaleRead, slot, None) })
    }

    fn keep_recent(&mut self, shown: Shown) {
        for slot in shown.slots() {
            self.transactions.hold(slot);
        }
        self.found.recent.push_back((self.found.told, shown));
        if self.found.recent.len() > RECENT
            && let Some((_, old)) = self.found.recent.pop_front()
        {
            for slot in old.slots() {
                self.release(slot);
            }
        }
    }

    fn keep_first(&mut self, mut shown: Shown) {
        let name = shown.name as usize;
        let kept = &self.found.shown[name];
        let place = kept.partition_point(|other| self.compare(other, &shown).is_lt());
        if place >= self.found.most + SPARE {
            return;
        }
        self.ask_writers(&mut shown);
        for slot in shown.slots() {
            self.transactions.hold(slot);
        }
        self.found.shown[name].insert(place, shown);
        if self.found.shown[name].len() > self.found.most + SPARE
            && let Some(last) = self.found.shown[name].pop()
        {
            for slot in last.slots() {
                self.release(slot);
            }
        }
    }

    /// Who may have written what a stale read shows.
    fn ask_writers(&self, shown: &mut Shown) {
        let Some(stale) = &mut shown.stale else { return };
        let found = self.transactions.get(shown.slot).operations[shown.operation as usize].value;
        let is_asked = |value: &Value| {
            if stale.relation == Relation::Register { *value == found } else { stale.list.contains(value) }
        };
        let mut writes: Vec<(u32, u32)> = Vec::new();
        let value =
            |&(slot, place): &(u32, u32)| self.transactions.get(slot).operations[place as usize].value;
        let aside = &self.keys[shown.key as usize].aside;
        writes.extend(aside.iter().filter(|write| is_asked(&value(write))));
        for version in self.keys[shown.key as usize].versions.iter() {
            let operations = (0..).zip(&self.transactions.get(version.slot).operations);
            let asked = operations
                .filter(|(_, one)| one.key == shown.key && one.kind.installs() && is_asked(&one.value));
            writes.extend(asked.map(|(place, _)| (version.slot, place)));
        }
        stale.writes = writes;
        // Whoever wrote it may have left since.
        stale.is_whole &= self.keys[shown.key as usize].is_whole;
    }

    /// The order in which findings of one name are shown: that of events.
    fn compare(&self, one: &Shown, other: &Shown) -> Ordering {
        let order = context!(self).order;
        let transaction = |slot| self.transactions.get(slot);
        let (first, second) = (transaction(one.slot), transaction(other.slot));
        match one.name {
            Name::TimestampInversion => first.number.cmp(&second.number),
            Name::SessionOrder => (first.session, first.place).cmp(&(second.session, second.place)),
            Name::WriteConflict => self.compare_conflicts(one, other),
            _ => order.reads(first, second).then(one.operation.cmp(&other.operation)),
        }
    }

    /// Conflicts are met by the first to commit; by the second if it begins only when both commit.
    fn compare_conflicts(&self, one: &Shown, other: &Shown) -> Ordering {
        let order = context!(self).order;
        let meeting = |shown: &Shown| {
            let first = self.transactions.get(shown.slot);
            let second = self.transactions.get(shown.other.unwrap_or(shown.slot));
            let is_second = second.start >= second.commit && second.commit == first.commit;
            if is_second { (second, true, first) } else { (first, false, second) }
        };
        let place = |of: &Transaction, key| {
            of.operations.iter().position(|write| write.key == key && write.kind.installs())
        };
        let (meets, is_second, met) = meeting(one);
        let (others_meets, others_is_second, others_met) = meeting(other);
        let by_commit = order.commits(meets, others_meets);
        by_commit
            .then_with(|| place(meets, one.key).cmp(&place(others_meets, other.key)))
            .then_with(|| is_second.cmp(&others_is_second))
            .then_with(
                || if is_second { order.commits(met, others_met) } else { order.starts(met, others_met) },
            )
    }

    /// A history of everyone who shows some findings, and these by its numbers.
    fn assemble(&self, shown: &[&Shown]) -> Report {
        let mut slots: Vec<u32> = shown.iter().flat_map(|shown| shown.slots()).collect();
        slots.sort_unstable_by_key(|&slot| self.transactions.get(slot).number);
        slots.dedup();
        let mut excerpt = Excerpt::new(self, &slots);
        let findings = excerpt.findings(shown);
        let place = |&slot: &u32| (self.transactions.get(slot).lane, self.transactions.get(slot).place);
        let places = slots.iter().map(place).collect();
        let judgement = Judgement { findings, ..Judgement::default() };
        let history = excerpt.builder.finish().unwrap_or_default();
        Report { history, places, judgement }
    }
}

impl StaleRead {
    const fn register() -> Self {
        Self {
            list: Vec::new(),
            expected: Vec::new(),
            relation: Relation::Register,
            writer: None,
            writes: Vec::new(),
            is_whole: true,
        }
    }
}

impl Key {
    fn list_of(&self, context: Context<'_>, read: &Read) -> StaleRead {
        let (expected, ends) = self.demanded(context, read);
        let list = Self::shown(context, read).to_vec();
        let (relation, writer) = Committed::new(&expected, &ends).relation(&list);
        let writer = (writer != NOTHING).then_some(writer);
        StaleRead { list, expected, relation, writer, ..StaleRead::register() }
    }
}
