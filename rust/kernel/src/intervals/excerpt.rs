//! An excerpt: the history of some transactions that an engine still knows.

use super::engine::Engine;
use super::key::{DroppedVersion, Reference};
use super::profile::{Lock, Read, Statement};
use super::span::Span;
use super::transaction::{NO_TABLE, Operation, Part, Transaction};
use crate::builder::{Builder, Details};
use crate::history::{History, Interval, Kind, Label, NO_KEY, Status};
use crate::value::{AtomKind, Value, Values};
use hashbrown::HashMap;

/// A transaction made from the version that it left: one write, and the commit.
pub(super) fn transaction_of_version(key: u32, version: &DroppedVersion) -> Transaction {
    let &DroppedVersion { value, write, writer, session, commit, take } = version;
    let operation = |kind: Kind, key: u32, value: Value, span: Span, place: u32| Operation {
        kind,
        statement: Statement::Update,
        lock: Lock::None,
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
        of_statement: place,
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
        snapshot_taken_by: None,
        is_installed: true,
        is_uncertain: false,
    }
}

/// A history that is made of some transactions.
pub(super) struct Excerpt<'e> {
    engine: &'e Engine,
    builder: Builder,
    /// First operation and places of operations, by number of the transaction.
    known: HashMap<u64, (u32, Vec<u32>)>,
    places: Vec<(u32, u32)>,
}

impl<'e> Excerpt<'e> {
    pub(super) fn new(engine: &'e Engine) -> Self {
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

    pub(super) fn add(&mut self, transaction: &Transaction) {
        if self.known.contains_key(&transaction.number) {
            return;
        }
        let session = self.carry(self.engine.sessions.ids()[transaction.session as usize]);
        let session = self.builder.session(session);
        let id = self.carry(transaction.id);
        let first = self.builder.operation_count() as u32;
        let Some(number) = self.builder.transaction(id, session, transaction.status, 0) else { return };
        let mut places: Vec<u32> = Vec::new();
        for (at, operation) in transaction.operations.iter().enumerate() {
            if places.last() == Some(&operation.place) {
                continue;
            }
            places.push(operation.place);
            self.operation_of(number, transaction, at);
        }
        self.known.insert(transaction.number, (first, places));
        self.places.push((transaction.session, transaction.place_in_session));
    }

    fn operation_of(&mut self, number: u32, transaction: &Transaction, at: usize) {
        let operation = &transaction.operations[at];
        let added = if operation.kind == Kind::RangeRead {
            let bounds = operation.value.as_small().map(|place| transaction.bounds[place as usize]);
            let (low, high) = bounds.map_or((Value::NIL, Value::NIL), |bounds| (bounds.low, bounds.high));
            let bounds = (self.carry(low), self.carry(high));
            let rows = transaction.operations[at + 1..].iter().take_while(|one| one.place == operation.place);
            let rows: Vec<(u32, Value)> =
                rows.map(|one| (self.key(one.key), self.carry(one.value))).collect();
            self.builder.range_read(number, bounds, &rows, &[], 0)
        } else {
            let key = self.key(operation.key);
            let value = match operation.list() {
                Some(list) => {
                    let elements: Vec<Value> =
                        transaction.lists[list].iter().map(|&one| self.carry(one)).collect();
                    self.builder.list(key, &elements)
                }
                None => self.carry(operation.value),
            };
            self.builder.operation(number, operation.kind, key, value, 0)
        };
        let Span { invoke, complete } = operation.span.widened(-self.engine.terms.clock_error);
        let interval = Interval::new(Some(invoke), (complete != Span::NEVER).then_some(complete));
        let statement = self.lock_clause(operation.statement);
        self.builder.details(added, Details { interval, statement, ..Details::default() });
    }

    /// The label of a statement that reads and locks.
    fn lock_clause(&mut self, statement: Statement) -> Label {
        match statement {
            Statement::SelectForShare | Statement::SelectForUpdate => {
                Label(self.builder.values.intern(AtomKind::Text, &statement.as_str().replace('-', " ")))
            }
            _ => Label::default(),
        }
    }

    pub(super) fn operation(&self, one: &Reference) -> Option<u32> {
        let (first, places) = self.known.get(&one.number)?;
        let rank = places.iter().position(|&place| place == one.place)?;
        Some(first + rank as u32)
    }

    pub(super) fn finish(self) -> (History, Vec<(u32, u32)>) {
        (self.builder.finish().unwrap_or_default(), self.places)
    }
}

/// The same scalar in another set of values.
pub(super) fn carry(from: &Values, to: &mut Values, value: Value) -> Value {
    value.atom_index().map_or(value, |index| {
        let (kind, text) = from.atom(index);
        to.intern(kind, text)
    })
}
