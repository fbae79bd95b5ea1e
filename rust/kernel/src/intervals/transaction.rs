//! A transaction as the mechanisms see it: what each operation read, wrote and locked, and when.

use super::key::Reference;
use super::locks::Held;
use super::profile::{Lock, Read, Statement};
use super::span::Span;
use crate::history::{Kind, Status};
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// Nobody says which table it was.
pub const NO_TABLE: u32 = u32::MAX;

/// What a key is of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// A row of one value.
    Key,
    /// One of the cells of a row.
    Cell,
    /// The row with all its cells.
    Row,
}

/// One operation, or one row of a range read.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Operation {
    pub kind: Kind,
    pub statement: Statement,
    pub lock: Lock,
    pub read: Read,
    /// Whether its lock covers all that it asked for, also rows that are not there.
    pub locks_predicate: bool,
    /// Whether it found no row, or left none.
    pub is_absent: bool,
    /// Whether a read may leave out rows that it asked for: it has a predicate, or skips locked rows.
    pub is_partial: bool,
    pub part: Part,
    pub key: u32,
    /// What its lock is on.
    pub row: u32,
    /// Its table by a number, [`NO_TABLE`] if nobody says which.
    pub table: u32,
    /// What was read or written; the place of a list or of bounds in its transaction.
    pub value: Value,
    pub span: Span,
    /// Its place in the transaction, as its history counts.
    pub place: u32,
}

impl Operation {
    /// Whether it shows what a key holds.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read)
    }

    /// Whether a read says what its key held: its result is known, and it did not skip a locked row.
    pub fn shows_its_key(&self) -> bool {
        self.value != Value::UNKNOWN && !(self.is_partial && self.is_absent)
    }

    /// Whether it is a statement, and neither begins nor ends the transaction.
    pub fn is_statement(&self) -> bool {
        !matches!(self.kind, Kind::Begin | Kind::Commit | Kind::Abort)
    }

    /// The list that it read, by its place in the transaction.
    pub fn list(&self) -> Option<usize> {
        self.value.list_index()
    }
}

/// What a range read asked for; nil is open.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Bounds {
    pub low: Value,
    pub high: Value,
}

/// A transaction that has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Transaction {
    pub id: Value,
    pub session: u32,
    /// How many came before it in its session.
    pub place_in_session: u32,
    /// How many were taken before it, of all sessions.
    pub number: u64,
    pub status: Status,
    pub operations: Box<[Operation]>,
    pub lists: Box<[Box<[Value]>]>,
    pub bounds: Box<[Bounds]>,
    /// Where its first operation began.
    pub first: i64,
    /// Its commit, or its rollback.
    pub end: Span,
    /// When its versions appeared to others: with its commit, but by timestamp ordering at its timestamp, which is
    /// any instant of its.
    pub appears: Span,
    /// When what it locked was released.
    pub release: Span,
    /// Operations from here on may have failed: they locked nothing for certain.
    pub sure: u32,
    /// The last write of each key, in the order of keys: the key, and the operation.
    pub writes: Box<[(u32, u32)]>,
    /// Keys of rows that it added, in order.
    pub inserts: Box<[u32]>,
    /// Its locks, each with what it is on; known when it is installed.
    pub locks: Box<[(u32, Held)]>,
    /// The snapshot of its consistent reads, if they have one in common.
    pub snapshot: Option<Span>,
    /// Whether its versions and locks are known to the verifier.
    pub is_installed: bool,
    /// Whether a dependency of its could not be decided.
    pub is_uncertain: bool,
}

impl Transaction {
    /// Whether its versions may have appeared.
    pub fn may_have_committed(&self) -> bool {
        self.status != Status::Aborted
    }

    /// Whether it wrote nothing.
    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty()
    }

    /// Whether one of its statements reads uncommitted data.
    pub fn reads_uncommitted(&self) -> bool {
        self.operations.iter().any(|one| one.is_statement() && one.read == Read::Uncommitted)
    }

    /// What it left of each key, if it may have committed.
    pub fn left(&self, slot: u32) -> impl Iterator<Item = (u32, Reference)> {
        let writes: &[(u32, u32)] = if self.may_have_committed() { &self.writes } else { &[] };
        writes.iter().map(move |&(key, operation)| {
            let place = self.operations[operation as usize].place;
            (key, Reference { slot, number: self.number, place })
        })
    }

    /// The moment that an operation reads.
    pub fn snapshot_of(&self, operation: &Operation) -> Span {
        match (operation.read, self.snapshot) {
            (Read::Consistent, Some(snapshot)) => snapshot,
            _ => operation.span,
        }
    }

    /// When it is certain what happened to it; an end that nobody knows is not waited for.
    pub fn known_at(&self) -> i64 {
        if self.end.complete == Span::NEVER { self.end.invoke } else { self.end.complete }
    }
}
