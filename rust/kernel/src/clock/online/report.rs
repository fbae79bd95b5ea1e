//! Reports: the kept findings with the transactions that show them.

use super::context::Context;
use super::excerpt_history::ExcerptHistory;
use super::initial_value::InitialValue;
use super::kept_findings::{KeptFinding, News, StaleEvidence};
use super::key::{Key, Read, Shape};
use super::segments::EARLIEST;
use super::transactions::Operation;
use super::{Engine, context};
use crate::clock::committed_lists::{Committed, Relation};
use crate::clock::{ClockAnomaly, Judgement, NOTHING};
use crate::history::History;
use crate::value::Value;

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
    /// The news since the last call.
    pub fn news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.found.news)
    }

    /// Everything so far.
    #[must_use]
    pub fn report(&mut self) -> Report {
        self.refresh();
        let first = |shown: &'_ Vec<KeptFinding>| shown.len().min(self.found.max_anomalies);
        let shown: Vec<&KeptFinding> = self.found.shown.iter().flat_map(|all| &all[..first(all)]).collect();
        let mut report = self.assemble(&shown);
        report.judgement.counts = self.counts;
        report.judgement.ties = self.sizes.ties;
        report.judgement.range_reads = self.sizes.range_reads;
        report
    }

    /// Judges the kept stale reads again: transactions that arrived since may explain them otherwise.
    fn refresh(&mut self) {
        for place in 0..self.found.shown[ClockAnomaly::StaleRead as usize].len() {
            let old = &self.found.shown[ClockAnomaly::StaleRead as usize][place];
            let (slot, read, key) = (old.slot, old.operation, old.key);
            let moment = self.moment(self.transactions.get(slot).times());
            // The read may show the initial value, which was not known then.
            let is_open = matches!(self.keys[key as usize].initial, InitialValue::Settled(None));
            self.recall(key, if is_open { EARLIEST } else { moment });
            let Some(mut new) = self.stale(slot, read) else { continue };
            self.add_writes_in_memory(&mut new);
            self.add_recalled_writes(&mut new);
            for slot in new.slots() {
                self.transactions.hold(slot);
            }
            let old = std::mem::replace(&mut self.found.shown[ClockAnomaly::StaleRead as usize][place], new);
            for slot in old.slots() {
                self.release(slot);
            }
        }
        self.release_borrowed();
    }

    /// Looks in segments for the writes that a stale read may show.
    fn add_recalled_writes(&mut self, shown: &mut KeptFinding) {
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

    /// Releases the transactions that were read back for one report.
    fn release_borrowed(&mut self) {
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
            self.add_writes_in_memory(&mut shown);
            self.add_recalled_writes(&mut shown);
        }
        let report = self.assemble(&[&shown]);
        self.release_borrowed();
        Some(report)
    }

    /// Adds the finding of a read that is final and stale.
    pub(super) fn add_stale_read(&mut self, slot: u32, read: u32) {
        if let Some(shown) = self.stale(slot, read) {
            self.add_finding(shown);
        }
    }

    /// The finding of a stale read.
    fn stale(&mut self, slot: u32, read: u32) -> Option<KeptFinding> {
        let key = self.transactions.get(slot).operations[read as usize].key;
        if self.keys[key as usize].shape == Shape::List {
            // Only the versions of a list tell which transaction left which part of it.
            self.recall(key, EARLIEST);
        }
        let context = context!(self);
        let known = &self.keys[key as usize];
        let found = known.find(context, slot, read)?;
        let against = known.expected(context, found).map(|version| (version.slot, version.write));
        let is_list = known.shape == Shape::List;
        let stale = if is_list { known.list_of(context, found) } else { StaleEvidence::register() };
        let stale = Some(Box::new(StaleEvidence { is_whole: known.is_whole, ..stale }));
        Some(KeptFinding {
            key,
            operation: read,
            against,
            stale,
            ..KeptFinding::between(ClockAnomaly::StaleRead, slot, None)
        })
    }

    /// Looks in memory for the writes that a stale read may show.
    pub(super) fn add_writes_in_memory(&self, shown: &mut KeptFinding) {
        let Some(stale) = &mut shown.stale else { return };
        let found = self.transactions.get(shown.slot).operations[shown.operation as usize].value;
        let is_asked = |value: &Value| {
            if stale.relation == Relation::Register { *value == found } else { stale.list.contains(value) }
        };
        let mut writes: Vec<(u32, u32)> = Vec::new();
        let value =
            |&(slot, place): &(u32, u32)| self.transactions.get(slot).operations[place as usize].value;
        let uncommitted = &self.keys[shown.key as usize].uncommitted;
        writes.extend(uncommitted.iter().filter(|write| is_asked(&value(write))));
        for version in self.keys[shown.key as usize].versions.iter() {
            let operations = (0..).zip(&self.transactions.get(version.slot).operations);
            let asked = operations
                .filter(|(_, one)| one.key == shown.key && one.kind.installs() && is_asked(&one.value));
            writes.extend(asked.map(|(place, _)| (version.slot, place)));
        }
        stale.writes = writes;
        // The writer may have left memory since.
        stale.is_whole &= self.keys[shown.key as usize].is_whole;
    }

    /// A history of the transactions that show some findings, and the findings by its numbers.
    fn assemble(&self, shown: &[&KeptFinding]) -> Report {
        let mut slots: Vec<u32> = shown.iter().flat_map(|shown| shown.slots()).collect();
        slots.sort_unstable_by_key(|&slot| self.transactions.get(slot).number);
        slots.dedup();
        let mut excerpt = ExcerptHistory::new(self, &slots);
        let findings = excerpt.findings(shown);
        let place = |&slot: &u32| (self.transactions.get(slot).lane, self.transactions.get(slot).place);
        let places = slots.iter().map(place).collect();
        let judgement = Judgement { findings, ..Judgement::default() };
        let history = excerpt.builder.finish().unwrap_or_default();
        Report { history, places, judgement }
    }
}

impl Key {
    fn list_of(&self, context: Context<'_>, read: &Read) -> StaleEvidence {
        let (expected, ends) = self.demanded(context, read);
        let list = Self::shown(context, read).to_vec();
        let (relation, writer) = Committed::new(&expected, &ends).relation(&list);
        let writer = (writer != NOTHING).then_some(writer);
        StaleEvidence { list, expected, relation, writer, ..StaleEvidence::register() }
    }
}
