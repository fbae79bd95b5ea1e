//! The passes over the sorted runs: the replay, the search for initial values, the search for origins.

use super::record::{self, Class, Record};
use super::sort::{Entry, Merge};
use super::spilled::Spilled;
use super::{Facts, OF_TIMES};
use crate::clock::classes::{Origins, Shown, Write};
use crate::clock::found::{Conflict, Found};
use crate::clock::learn::{Learned, Suspects};
use crate::clock::list::Relation;
use crate::clock::replay::{Operation, Replay, Source};
use crate::clock::{Event, Finding, Isolation, Judgement, Name};
use crate::history::{Kind, Timestamp};
use crate::value::Value;
use std::sync::Arc;

/// One level, judged in several passes; each is driven by [`Trial::advance`].
pub struct Trial {
    facts: Arc<Facts>,
    isolation: Isolation,
    most: usize,
    merge: Merge,
    pass: Pass,
    record: Record,
    /// Events so far in this pass.
    rank: u32,
    ties: Ties,
    judgement: Judgement,
    conflicts: Vec<Conflict>,
    /// How many stale reads there are, and the first that are wrong, by their place among all.
    stale: u64,
    shown: Vec<(u64, Shown)>,
    /// Stale reads that nobody can excuse.
    wrong: u64,
    spilled: Vec<u8>,
    learned: Learned,
    repeated: Option<Repeated>,
    /// The id that came last, and its line.
    id: (Vec<u8>, u32),
}

/// Two transactions with the same id, and the lines on which they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Repeated {
    pub id: String,
    pub line: u32,
    pub earlier: u32,
}

/// What is looked for.
enum Pass {
    Replay(Box<Replay>),
    Initial(Suspects),
    Origins(Box<Origins>),
}

/// Timestamps of several transactions.
#[derive(Default)]
struct Ties {
    time: Vec<u8>,
    transaction: u32,
    is_counted: bool,
    count: u64,
}

impl Ties {
    fn see(&mut self, time: &[u8], transaction: u32) {
        if self.time != time {
            self.time.clear();
            self.time.extend_from_slice(time);
            (self.transaction, self.is_counted) = (transaction, false);
        } else if self.transaction != transaction && !self.is_counted {
            self.is_counted = true;
            self.count += 1;
        }
    }
}

impl Trial {
    /// The trial of one level.
    #[must_use]
    pub fn new(facts: Arc<Facts>, isolation: Isolation, most: usize) -> Self {
        let keys = facts.sizes[3] as usize;
        Self {
            isolation,
            most,
            merge: Merge::new(0),
            pass: Pass::Replay(Box::new(Replay::new(isolation, keys, most))),
            record: Record::default(),
            rank: 0,
            ties: Ties::default(),
            judgement: Judgement::default(),
            conflicts: Vec::new(),
            stale: 0,
            shown: Vec::new(),
            wrong: 0,
            spilled: Vec::new(),
            learned: Learned::default(),
            repeated: None,
            id: (Vec::new(), 0),
            facts,
        }
    }

    /// What is known of the whole.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// A pass over so many runs begins.
    pub fn rewind(&mut self, runs: usize) {
        self.merge = Merge::new(runs);
        self.rank = 0;
    }

    /// The next bytes of a run; none if it is over.
    pub fn feed(&mut self, run: u32, bytes: &[u8]) {
        self.merge.feed(run, bytes);
    }

    /// Looks at all entries that are there; the run of which more is needed, or none if the pass is over.
    pub fn advance(&mut self) -> Option<u32> {
        let mut merge = std::mem::replace(&mut self.merge, Merge::new(0));
        let needed = loop {
            match merge.step() {
                Ok(Some(entry)) => {
                    if !self.see(&entry) {
                        break None;
                    }
                }
                Ok(None) => break None,
                Err(run) => break Some(run),
            }
        };
        self.merge = merge;
        if let Pass::Replay(replay) = &mut self.pass {
            let found = replay.found();
            self.keep(found);
        }
        if needed.is_none() {
            self.end_of_pass();
        }
        needed
    }

    /// Reads that may show initial values, found since the last time that somebody asked.
    pub fn spilled(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.spilled)
    }

    /// The next pass finds out who wrote what these reads show.
    pub fn suspect(&mut self, spilled: &[u8]) {
        let mut suspects = Suspects::default();
        for Spilled { stale, .. } in Spilled::all(spilled) {
            suspects.add(stale.read, stale.key, stale.found);
        }
        self.pass = Pass::Initial(suspects);
    }

    /// All initial values are learned: which of these reads are wrong is known now.
    pub fn tally(&mut self, spilled: &[u8]) {
        for Spilled { place, stale } in Spilled::all(spilled) {
            let Some(place) = place.filter(|_| self.learned.is_wrong(&stale)) else { continue };
            self.wrong += 1;
            self.show(place, Shown { stale, list: Vec::new(), expected: Vec::new() });
        }
    }

    /// The next pass finds out where what stale reads show comes from; whether there is anything to find.
    pub fn ask(&mut self) -> bool {
        let shown = self.shown.iter().map(|(_, shown)| shown.clone()).collect();
        let origins = Origins::of(self.isolation, shown, &self.conflicts);
        let asks = !origins.is_empty();
        self.pass = Pass::Origins(Box::new(origins));
        asks
    }

    /// Two transactions with the same id, once the replay is over.
    #[must_use]
    pub fn repeated(&self) -> Option<&Repeated> {
        self.repeated.as_ref()
    }

    /// Everything found.
    pub fn judgement(&mut self) -> Judgement {
        let mut judgement = std::mem::take(&mut self.judgement);
        judgement.ties = self.ties.count;
        judgement.counts[Name::StaleRead as usize] = self.wrong;
        if let Pass::Origins(origins) = &self.pass {
            let initial = |key| self.facts.initial(key);
            let mut findings = origins.findings(&self.conflicts, &self.learned, initial);
            findings.append(&mut judgement.findings);
            judgement.findings = findings;
        }
        if self.isolation == Isolation::Snapshot {
            self.of_times(&mut judgement);
        }
        self.facts.shapes.report(&mut judgement);
        judgement
    }

    fn of_times(&self, judgement: &mut Judgement) {
        let (inverted, kept) = &self.facts.inverted;
        judgement.counts[OF_TIMES[0] as usize] = *inverted;
        let kept = kept.iter().take(self.most);
        judgement.findings.extend(kept.map(|&one| Finding::between(OF_TIMES[0], one, crate::clock::NOTHING)));
        let (disordered, kept) = &self.facts.disordered;
        judgement.counts[OF_TIMES[1] as usize] = *disordered;
        let kept = kept.iter().take(self.most);
        judgement.findings.extend(kept.map(|&(_, one, before)| Finding::between(OF_TIMES[1], one, before)));
    }

    /// Whether the pass goes on after this entry.
    fn see(&mut self, entry: &Entry<'_>) -> bool {
        let class = record::class(entry.key);
        if class == Class::Id {
            let Pass::Replay(_) = self.pass else { return false };
            self.see_id(entry);
            return true;
        }
        let is_event = class == Class::Event;
        let Self { facts, record, .. } = self;
        record.decode(entry.payload, |key| facts.shapes.is_listed(key));
        if is_event && record.is_start && self.isolation == Isolation::Serializable {
            return true;
        }
        let (transaction, is_start) = (record.transaction, record.is_start);
        match &mut self.pass {
            Pass::Replay(replay) => {
                if is_event {
                    let time = if is_start { record.start } else { record.commit };
                    self.ties.see(record::time(entry.key), transaction);
                    replay.happen(&Moment { facts, record }, Event::new(time, transaction, is_start));
                }
            }
            Pass::Initial(suspects) => {
                for write in record.writes().filter(|_| !is_start) {
                    suspects.clear(write.key, write.value);
                }
            }
            Pass::Origins(origins) => {
                if !is_start {
                    let rank = if is_event { self.rank } else { u32::MAX };
                    tell(origins, record, is_event, rank);
                }
            }
        }
        self.rank += u32::from(is_event);
        true
    }

    fn see_id(&mut self, entry: &Entry<'_>) {
        let (id, _) = record::split_id(entry.key);
        let line = record::Rest(entry.payload).number() as u32;
        if self.id.0 == id && self.repeated.is_none() {
            self.repeated = Some(Repeated { id: record::show_id(id), line, earlier: self.id.1 });
        }
        self.id.0.clear();
        self.id.0.extend_from_slice(id);
        self.id.1 = line;
    }

    /// Counts what the replay found, and keeps the first.
    fn keep(&mut self, found: Found) {
        let Found { stale, lists, unequal, conflicts, conflict_count, .. } = found;
        let is_open = self.facts.initial.default == Value::UNKNOWN;
        let mut lists = lists.into_iter();
        for stale in stale {
            let place = self.stale;
            self.stale += 1;
            if stale.relation == Relation::Register && is_open {
                Spilled { place: Some(place), stale }.push(&mut self.spilled);
                continue;
            }
            self.wrong += 1;
            let lists = (stale.relation != Relation::Register).then(|| lists.next()).flatten();
            let (list, expected) = lists.unwrap_or_default();
            self.show(place, Shown { stale, list, expected });
        }
        for unequal in unequal {
            if is_open && !unequal.wrote && unequal.found.list_index().is_none() {
                Spilled::unequal(&unequal).push(&mut self.spilled);
            }
            self.judgement.note(self.most, unequal.finding());
        }
        let room = self.most - self.conflicts.len();
        self.conflicts.extend(conflicts.into_iter().take(room));
        self.judgement.counts[Name::WriteConflict as usize] += conflict_count;
    }

    fn show(&mut self, place: u64, shown: Shown) {
        if self.shown.len() < self.most || self.shown.last().is_some_and(|&(last, _)| place < last) {
            let at = self.shown.partition_point(|&(other, _)| other < place);
            self.shown.insert(at, (place, shown));
            self.shown.truncate(self.most);
        }
    }

    fn end_of_pass(&mut self) {
        if let Pass::Initial(suspects) = &mut self.pass {
            std::mem::take(suspects).settle(&mut self.learned);
        }
    }
}

/// Tells those who ask where stale reads come from of every write of a transaction.
fn tell(origins: &mut Origins, record: &Record, is_counted: bool, rank: u32) {
    for (place, write) in record.operations.iter().enumerate().filter(|(_, one)| one.kind.installs()) {
        origins.installs(record.transaction, write.key, write.number);
        if write.kind == Kind::Delete || !origins.asks(write.key, write.value) {
            continue;
        }
        let later = record.operations[place..].iter().rev();
        let last = later.clone().find(|one| one.key == write.key && one.kind.installs());
        origins.hear(&Write {
            number: write.number,
            writer: record.transaction,
            key: write.key,
            value: write.value,
            is_left: last.is_some_and(|last| last.value == write.value),
            is_counted,
            start: record.start,
            commit: record.commit,
            rank,
        });
    }
    if is_counted {
        origins.commits(record.transaction, rank);
    }
}

impl Record {
    /// The values that the transaction wrote.
    fn writes(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|one| one.kind.installs() && one.kind != Kind::Delete)
    }
}

/// A transaction at one of its events.
struct Moment<'t> {
    facts: &'t Facts,
    record: &'t Record,
}

impl Source for Moment<'_> {
    fn operations(&self, _transaction: u32) -> impl Iterator<Item = Operation> {
        self.record.operations.iter().copied()
    }

    fn list(&self, value: Value) -> Option<&[Value]> {
        self.record.values.as_list(value)
    }

    fn times(&self, _transaction: u32) -> (Timestamp, Timestamp) {
        (self.record.start, self.record.commit)
    }

    fn is_judged(&self, key: u32) -> bool {
        self.facts.shapes.is_judged(key)
    }

    fn is_timed(&self, _key: u32) -> bool {
        true
    }

    fn initial(&self, key: u32) -> Value {
        self.facts.initial(key)
    }
}
