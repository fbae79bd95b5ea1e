//! The transactions that show some findings, as a history of their own.

use super::kept_findings::{KeptFinding, StaleEvidence};
use super::key::Shape;
use super::{Engine, context};
use crate::builder::Builder;
use crate::clock::initial_values::LearnedInitialValues;
use crate::clock::origins::{Origins, ShownRead, Write};
use crate::clock::replay_findings::{Conflict, StaleRead};
use crate::clock::{ClockAnomaly, Finding, NOTHING, VersionClass};
use crate::history::{Kind, NO_KEY, Status};
use crate::value::{Value, Values};
use hashbrown::HashMap;

/// A history that is made of some transactions.
pub(super) struct ExcerptHistory<'e> {
    engine: &'e Engine,
    pub builder: Builder,
    /// Numbers of transactions and of their first operations, by slot.
    numbers: HashMap<u32, (u32, u32)>,
    ranks: HashMap<u32, u32>,
}

impl<'e> ExcerptHistory<'e> {
    pub fn new(engine: &'e Engine, slots: &[u32]) -> Self {
        let mut excerpt =
            Self { engine, builder: Builder::new(), numbers: HashMap::new(), ranks: HashMap::new() };
        excerpt.builder.initial.default = match engine.initial {
            Some(initial) => excerpt.carry(initial),
            None => Value::UNKNOWN,
        };
        for &slot in slots {
            excerpt.add(slot);
        }
        let order = context!(engine).order;
        let mut ranked = slots.to_vec();
        ranked.sort_by(|&one, &other| {
            order.commits(engine.transactions.get(one), engine.transactions.get(other))
        });
        excerpt.ranks = ranked.into_iter().zip(0..).collect();
        excerpt
    }

    fn carry(&mut self, value: Value) -> Value {
        carry(&self.engine.values, &mut self.builder.values, value)
    }

    fn add(&mut self, slot: u32) {
        let engine = self.engine;
        let transaction = engine.transactions.get(slot);
        let session = engine.sessions.ids().get(transaction.session as usize).copied();
        let session = match session {
            Some(id) => {
                let id = self.carry(id);
                self.builder.session(id)
            }
            None => self.builder.nameless_session(),
        };
        let id = self.carry(transaction.id);
        let first = self.builder.operation_count() as u32;
        let status = if transaction.is_committed { Status::Committed } else { Status::Aborted };
        let Some(number) = self.builder.transaction(id, session, status, 0) else { return };
        self.builder.timestamps(number, transaction.start, transaction.commit);
        for operation in &transaction.operations {
            let key = self.key(operation.key);
            let is_list = engine.keys[operation.key as usize].shape == Shape::List;
            let value = if is_list && operation.kind == Kind::Read {
                let elements = engine.lists.get(operation.value).unwrap_or_default();
                let elements: Vec<Value> = elements.iter().map(|&element| self.carry(element)).collect();
                self.builder.list(key, &elements)
            } else {
                self.carry(operation.value)
            };
            self.builder.operation(number, operation.kind, key, value, 0);
        }
        self.numbers.insert(slot, (number, first));
    }

    fn key(&mut self, key: u32) -> u32 {
        let id = self.carry(self.engine.index.ids()[key as usize]);
        self.builder.key(id)
    }

    fn number(&self, slot: u32) -> u32 {
        self.numbers[&slot].0
    }

    fn operation(&self, (slot, place): (u32, u32)) -> u32 {
        self.numbers[&slot].1 + place
    }

    pub fn findings(&mut self, shown: &[&KeptFinding]) -> Vec<Finding> {
        let mut findings = self.of_stale(shown);
        for one in shown.iter().filter(|one| one.stale.is_none()) {
            let key = if one.key == NO_KEY { NO_KEY } else { self.key(one.key) };
            let transaction = self.number(one.slot);
            let other = one.other.map_or(NOTHING, |slot| self.number(slot));
            let (operation, against) = if one.anomaly == ClockAnomaly::WriteConflict {
                (self.last(one.slot, one.key), one.other.map_or(NOTHING, |slot| self.last(slot, one.key)))
            } else {
                let read = if one.operation == NOTHING {
                    NOTHING
                } else {
                    self.operation((one.slot, one.operation))
                };
                (read, one.against.map_or(NOTHING, |write| self.operation(write)))
            };
            let finding = Finding::between(one.anomaly, transaction, other);
            findings.push(Finding { key, operation, against, ..finding });
        }
        findings
    }

    fn last(&self, slot: u32, key: u32) -> u32 {
        let write = self.engine.transactions.get(slot).last_write(key);
        write.map_or(NOTHING, |write| self.operation((slot, write)))
    }

    /// Findings of stale reads, with the class of the version that each shows; all ranks are known.
    fn of_stale(&mut self, shown: &[&KeptFinding]) -> Vec<Finding> {
        let stale: Vec<(&KeptFinding, &StaleEvidence)> =
            shown.iter().filter_map(|&one| one.stale.as_deref().map(|stale| (one, stale))).collect();
        let asked = stale.iter().map(|&(one, read)| self.shown_read(one, read)).collect();
        let no_conflicts: &[Conflict] = &[];
        let mut origins = Origins::of(self.engine.terms.level, asked, no_conflicts);
        for (&slot, &rank) in &self.ranks {
            origins.add_commit(self.number(slot), rank);
        }
        for &(one, read) in &stale {
            for &write in &read.writes {
                let write = self.write(one.key, write);
                origins.add_write(&write);
            }
            if let Some(writer) = read.writer {
                let (number, key) = (self.number(writer), self.key(one.key));
                origins.add_last_write(number, key, self.last(writer, one.key));
            }
        }
        let initial: HashMap<u32, Value> =
            stale.iter().map(|&(one, _)| (self.key(one.key), self.initial(one.key))).collect();
        let mut findings =
            origins.findings(no_conflicts, &LearnedInitialValues::default(), |key| initial[&key]);
        for (finding, (_, read)) in findings.iter_mut().zip(stale) {
            // The writer may have left memory.
            if !read.is_whole && finding.shown.is_some_and(|(class, _)| class == VersionClass::NeverWritten) {
                finding.shown = None;
            }
        }
        findings
    }

    /// The initial value of a key.
    fn initial(&mut self, key: u32) -> Value {
        let initial = self.engine.keys[key as usize].initial.value();
        initial.map_or(Value::UNKNOWN, |value| self.carry(value))
    }

    fn shown_read(&mut self, one: &KeptFinding, read: &StaleEvidence) -> ShownRead {
        let transaction = self.engine.transactions.get(one.slot);
        let found = transaction.operations[one.operation as usize].value;
        let (start, commit) = transaction.times();
        let stale = StaleRead {
            transaction: self.number(one.slot),
            start,
            commit,
            read: self.operation((one.slot, one.operation)),
            key: self.key(one.key),
            found: if found.list_index().is_some() { Value::NIL } else { self.carry(found) },
            expected_length: read.expected.len() as u32,
            expected: one.against.map_or(NOTHING, |write| self.operation(write)),
            writer: read.writer.map_or(NOTHING, |writer| self.number(writer)),
            relation: read.relation,
            is_set_aside: false,
        };
        let mut all = |values: &[Value]| values.iter().map(|&value| self.carry(value)).collect();
        let (list, expected) = (all(&read.list), all(&read.expected));
        ShownRead { stale, list, expected }
    }

    fn write(&mut self, key: u32, (slot, place): (u32, u32)) -> Write {
        let transaction = self.engine.transactions.get(slot);
        let value = transaction.operations[place as usize].value;
        let last =
            transaction.last_write(key).map_or(value, |last| transaction.operations[last as usize].value);
        Write {
            number: self.operation((slot, place)),
            writer: self.number(slot),
            key: self.key(key),
            value: self.carry(value),
            is_final: last == value,
            is_counted: transaction.is_committed,
            start: transaction.start,
            commit: transaction.commit,
            rank: if transaction.is_committed { self.ranks[&slot] } else { u32::MAX },
        }
    }
}

/// The same scalar among other values.
pub(super) fn carry(from: &Values, to: &mut Values, value: Value) -> Value {
    value.atom_index().map_or(value, |index| {
        let (kind, text) = from.atom(index);
        to.intern(kind, text)
    })
}
