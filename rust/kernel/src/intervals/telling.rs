//! What was found, told once, with the transactions that show it as long as somebody may ask.

use super::engine::Engine;
use super::found::{Finding, Name, Tally};
use super::key::{Reference, Version};
use super::offline::{Judgement, Shown};
use super::profile::{Read, Statement};
use super::span::Span;
use super::transaction::{NO_TABLE, Operation, Part, Transaction};
use crate::builder::{Builder, Details};
use crate::history::{History, Interval, Kind, NO_KEY, Status};
use crate::value::{Value, Values};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// So many of the last findings can be shown.
const RECENT: usize = 100;

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct News {
    /// 1, 2, 3, ...
    pub number: u64,
    pub name: Name,
    pub case: u8,
    /// Ids of transactions, and the key.
    pub transaction: Value,
    pub other: Option<Value>,
    pub key: Value,
}

/// A finding with what shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Told {
    number: u64,
    finding: Finding,
    /// Transactions; of one that is gone only what is known of it.
    pieces: Vec<Transaction>,
}

/// What was told and what is to be.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Telling {
    is_on: bool,
    number: u64,
    /// The first of each name.
    kept: Vec<Told>,
    recent: VecDeque<Told>,
    fresh: Vec<(u64, Finding, Value, Option<Value>)>,
}

/// Some findings and the transactions that show them, each with its session and its place there.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Report {
    pub history: History,
    pub places: Vec<(u32, u32)>,
    pub judgement: Judgement,
}

impl Engine {
    /// Findings are kept with what shows them, and told by [`Engine::news`].
    pub fn tell_news(&mut self) {
        self.telling.is_on = true;
        self.verifier.tells = true;
    }

    /// Takes note of what was found just now, while its transactions are there.
    pub(super) fn tell(&mut self) {
        if !self.telling.is_on || self.verifier.findings.is_empty() {
            return;
        }
        for finding in std::mem::take(&mut self.verifier.findings) {
            self.telling.number += 1;
            let told = self.told(finding);
            let ids: Vec<Value> = told.pieces.iter().map(|piece| piece.id).collect();
            let other = ids.iter().copied().find(|&id| id != ids[0]);
            self.telling.fresh.push((told.number, told.finding.clone(), ids[0], other));
            let kept = self.telling.kept.iter().filter(|one| one.finding.name == told.finding.name).count();
            if (kept as u64) < self.terms.most {
                self.telling.kept.push(told.clone());
            }
            if self.telling.recent.len() == RECENT {
                self.telling.recent.pop_front();
            }
            self.telling.recent.push_back(told);
        }
    }

    fn told(&self, finding: Finding) -> Told {
        let mut pieces: Vec<Transaction> = Vec::new();
        let mut finding = finding;
        // What hides a version that nobody is known to have written says nothing by itself.
        if finding.shown.is_some() {
            finding.operations.truncate(1);
        }
        for &one in &finding.operations {
            if !pieces.iter().any(|piece| piece.number == one.number) {
                pieces.extend(self.piece(one, finding.key));
            }
        }
        let known = |one: &Reference| pieces.iter().any(|piece| piece.number == one.number);
        finding.operations.retain(known);
        Told { number: self.telling.number, finding, pieces }
    }

    /// A transaction, or what its version says of it.
    fn piece(&self, one: Reference, key: u32) -> Option<Transaction> {
        if let Some(whole) = self.verifier.transactions.find(one.slot, one.number) {
            return Some(whole.clone());
        }
        let key_of = &self.verifier.keys[key as usize];
        if let Some(version) = key_of.versions.iter().find(|version| version.write == one) {
            return Some(remains(
                key,
                version.value,
                version.writer,
                version.session,
                one,
                (version.take, version.commit),
            ));
        }
        let gone = key_of.gone.iter().find(|gone| gone.write == one)?;
        Some(remains(key, gone.value, gone.writer, gone.session, one, (gone.take, gone.commit)))
    }

    /// What was found since the last time.
    pub fn news(&mut self) -> Vec<News> {
        let fresh = std::mem::take(&mut self.telling.fresh);
        let key = |number: u32| self.names.keys.ids()[number as usize];
        let news = fresh.into_iter().map(|(number, finding, transaction, other)| News {
            number,
            name: finding.name,
            case: finding.case,
            transaction,
            other,
            key: key(finding.key),
        });
        news.collect()
    }

    /// Everything so far, with the first of each name.
    #[must_use]
    pub fn report(&self) -> Report {
        let kept: Vec<&Told> = self.telling.kept.iter().collect();
        self.shown(&kept, self.tally().clone())
    }

    /// One piece of news, if it is one of the last.
    #[must_use]
    pub fn recent(&self, number: u64) -> Option<Report> {
        let told = self.telling.recent.iter().chain(&self.telling.kept).find(|told| told.number == number)?;
        Some(self.shown(&[told], Tally::default()))
    }

    fn shown(&self, told: &[&Told], tally: Tally) -> Report {
        let mut excerpt = Excerpt::new(self);
        for piece in told.iter().flat_map(|one| &one.pieces) {
            excerpt.add(piece);
        }
        let findings = told.iter().map(|one| Shown {
            name: one.finding.name,
            case: one.finding.case,
            operations: one.finding.operations.iter().filter_map(|one| excerpt.operation(one)).collect(),
        });
        let judgement = Judgement { tally, findings: findings.collect() };
        let (history, places) = excerpt.finish();
        Report { history, places, judgement }
    }

    /// Texts that nobody mentions any longer are forgotten.
    pub(super) fn each_told_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        let telling = &mut self.telling;
        for told in telling.kept.iter_mut().chain(&mut telling.recent) {
            told.finding.shown.iter_mut().for_each(&mut *see);
            told.pieces.iter_mut().for_each(|piece| piece.each_value(see));
        }
        for (_, finding, one, other) in &mut telling.fresh {
            finding.shown.iter_mut().for_each(&mut *see);
            see(one);
            other.iter_mut().for_each(&mut *see);
        }
    }
}

/// What a version says of its writer: one write, and the commit.
fn remains(
    key: u32,
    value: Value,
    writer: Value,
    session: u32,
    write: Reference,
    (take, commit): (Span, Span),
) -> Transaction {
    let operation = |kind: Kind, key: u32, value: Value, span: Span, place: u32| Operation {
        kind,
        statement: Statement::Update,
        lock: super::profile::Lock::None,
        read: Read::Consistent,
        locks_predicate: false,
        is_absent: false,
        is_partial: false,
        part: Part::Key,
        table: NO_TABLE,
        key,
        row: 0,
        value,
        span,
        place,
    };
    let write_of = operation(Kind::Write, key, value, take, write.place);
    let commit_of = operation(Kind::Commit, NO_KEY, Value::NIL, commit, u32::MAX);
    Transaction {
        id: writer,
        session,
        place_in_session: 0,
        number: write.number,
        status: Status::Committed,
        operations: Box::new([write_of, commit_of]),
        lists: Box::default(),
        bounds: Box::default(),
        first: take.invoke,
        end: commit,
        appears: commit,
        release: commit,
        sure: 0,
        writes: Box::default(),
        inserts: Box::default(),
        locks: Box::default(),
        snapshot: None,
        is_installed: true,
        is_uncertain: false,
    }
}

/// A history that is made of some transactions.
struct Excerpt<'e> {
    engine: &'e Engine,
    builder: Builder,
    /// First operation and places of operations, by number of the transaction.
    known: HashMap<u64, (u32, Vec<u32>)>,
    places: Vec<(u32, u32)>,
}

impl<'e> Excerpt<'e> {
    fn new(engine: &'e Engine) -> Self {
        let mut excerpt = Self { engine, builder: Builder::new(), known: HashMap::new(), places: Vec::new() };
        excerpt.builder.initial.default = excerpt.carry(engine.initial);
        excerpt
    }

    fn carry(&mut self, value: Value) -> Value {
        carry(&self.engine.names.values, &mut self.builder.values, value)
    }

    fn key(&mut self, key: u32) -> u32 {
        if key == NO_KEY {
            return NO_KEY;
        }
        let id = self.carry(self.engine.names.keys.ids()[key as usize]);
        self.builder.key(id)
    }

    fn add(&mut self, piece: &Transaction) {
        if self.known.contains_key(&piece.number) {
            return;
        }
        let session = self.carry(self.engine.sessions.ids()[piece.session as usize]);
        let session = self.builder.session(session);
        let id = self.carry(piece.id);
        let first = self.builder.operation_count() as u32;
        let Some(number) = self.builder.transaction(id, session, piece.status, 0) else { return };
        let mut places: Vec<u32> = Vec::new();
        for (at, operation) in piece.operations.iter().enumerate() {
            if places.last() == Some(&operation.place) {
                continue;
            }
            places.push(operation.place);
            self.operation_of(number, piece, at);
        }
        self.known.insert(piece.number, (first, places));
        self.places.push((piece.session, piece.place_in_session));
    }

    fn operation_of(&mut self, number: u32, piece: &Transaction, at: usize) {
        let operation = &piece.operations[at];
        let added = if operation.kind == Kind::RangeRead {
            let bounds = operation.value.as_small().map(|place| piece.bounds[place as usize]);
            let (low, high) = bounds.map_or((Value::NIL, Value::NIL), |bounds| (bounds.low, bounds.high));
            let bounds = (self.carry(low), self.carry(high));
            let rows = piece.operations[at + 1..].iter().take_while(|one| one.place == operation.place);
            let rows: Vec<(u32, Value)> =
                rows.map(|one| (self.key(one.key), self.carry(one.value))).collect();
            self.builder.range_read(number, bounds, &rows, &[], 0)
        } else {
            let key = self.key(operation.key);
            let value = match operation.list() {
                Some(list) => {
                    let elements: Vec<Value> = piece.lists[list].iter().map(|&one| self.carry(one)).collect();
                    self.builder.list(key, &elements)
                }
                None => self.carry(operation.value),
            };
            self.builder.operation(number, operation.kind, key, value, 0)
        };
        let Span { invoke, complete } = operation.span.widened(-self.engine.terms.clock_error);
        let interval = Interval::new(Some(invoke), (complete != Span::NEVER).then_some(complete));
        self.builder.details(added, Details { interval, ..Details::default() });
    }

    fn operation(&self, one: &Reference) -> Option<u32> {
        let (first, places) = self.known.get(&one.number)?;
        let rank = places.iter().position(|&place| place == one.place)?;
        Some(first + rank as u32)
    }

    fn finish(self) -> (History, Vec<(u32, u32)>) {
        (self.builder.finish().unwrap_or_default(), self.places)
    }
}

/// The same scalar among other values.
pub(super) fn carry(from: &Values, to: &mut Values, value: Value) -> Value {
    value.atom_index().map_or(value, |index| {
        let (kind, text) = from.atom(index);
        to.intern(kind, text)
    })
}

impl Transaction {
    /// All scalars of a transaction.
    pub(super) fn each_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        see(&mut self.id);
        let scalars = self.operations.iter_mut().filter(|one| one.kind != Kind::RangeRead);
        scalars.for_each(|operation| see(&mut operation.value));
        self.lists.iter_mut().flat_map(|list| list.iter_mut()).for_each(&mut *see);
        for bounds in &mut self.bounds {
            see(&mut bounds.low);
            see(&mut bounds.high);
        }
    }
}

impl Version {
    pub(super) fn each_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        see(&mut self.value);
        see(&mut self.writer);
    }
}
