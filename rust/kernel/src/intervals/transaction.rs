//! A transaction as the mechanisms see it: what each operation read, wrote and locked, and when.

use super::key::Reference;
use super::locks::Held;
use super::profile::{Lock, Read, Statement};
use super::read_view::{ReadView, TransactionOrders};
use super::span::Span;
use crate::history::{Kind, Status};
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// The table is not known.
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
    /// Its table by a number, [`NO_TABLE`] if that is not known.
    pub table: u32,
    /// What was read or written; the place of a list or of bounds in its transaction.
    pub value: Value,
    pub span: Span,
    /// Its place in the transaction, as its history counts.
    pub place: u32,
    /// The place of the first operation of its statement.
    pub of_statement: u32,
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

    /// Whether it looks for the rows that it has found once more when it has waited for them: a row that was deleted and
    /// inserted again in the meantime is not among them.
    pub fn looks_again(&self) -> bool {
        self.read == Read::Locking && !self.locks_predicate
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
    /// any instant of the transaction.
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
    /// The place of the operation that took this snapshot; None if it is of any instant of the transaction.
    pub snapshot_taken_by: Option<u32>,
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

    /// Its last change of a key before an operation on it.
    pub fn last_change(&self, operation: &Operation) -> Option<&Operation> {
        let is_change = |one: &&Operation| one.kind.installs() && one.key == operation.key;
        self.operations.iter().filter(is_change).take_while(|one| one.place < operation.place).last()
    }

    /// The first of its changes of a key, if this one and all before are deletes.
    pub fn first_delete(&self, delete: &Operation) -> Option<&Operation> {
        let is_change = |one: &&Operation| one.kind.installs() && one.key == delete.key;
        let mut changes =
            self.operations.iter().filter(is_change).take_while(|one| one.place <= delete.place).peekable();
        let first = changes.peek().copied();
        first.filter(|_| changes.all(|one| one.kind == Kind::Delete))
    }

    /// Whether it wrote the row before the operation, and did not delete it since.
    pub fn has_row(&self, operation: &Operation) -> bool {
        self.last_change(operation).is_some_and(|own| !own.is_absent)
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

    /// The operation that took the snapshot of the one at `place`, and the interval of the snapshot if that is of any
    /// instant of the transaction. A read that is not consistent takes no snapshot of the transaction.
    pub fn snapshot_used(&self, place: u32) -> (u32, Option<Span>) {
        let operation = self.operations.iter().find(|one| one.place == place);
        let is_own = operation.is_none_or(|one| {
            matches!(one.kind, Kind::Read | Kind::RangeRead) && one.read != Read::Consistent
        });
        match (self.snapshot, self.snapshot_taken_by) {
            (Some(_), Some(taken_by)) if !is_own && taken_by <= place => (taken_by, None),
            (Some(snapshot), None) if !is_own => (place, Some(snapshot)),
            _ => (place, None),
        }
    }

    /// What an operation can see of the versions of other transactions.
    pub fn view_of<'o>(&self, operation: &Operation, orders: &'o TransactionOrders) -> ReadView<'o> {
        let is_of_transaction = operation.read == Read::Consistent && self.snapshot.is_some();
        // One that finds no row may have looked for it before it waited.
        let waits = operation.read == Read::Locking && !operation.is_absent;
        let locked_until = match self.snapshot_taken_by {
            taken_by if is_of_transaction => taken_by.unwrap_or(0),
            _ => operation.place + u32::from(waits),
        };
        ReadView {
            snapshot: self.snapshot_of(operation),
            answered: operation.span.complete,
            locked_until,
            is_of_transaction,
            orders,
        }
    }

    /// The interval in which the snapshot of an operation was taken.
    pub fn snapshot_of(&self, operation: &Operation) -> Span {
        match (operation.read, self.snapshot) {
            (Read::Consistent, Some(snapshot)) => snapshot,
            _ => operation.span,
        }
    }

    /// When its outcome is known; an end that is not known is not waited for.
    pub fn known_at(&self) -> i64 {
        if self.end.complete == Span::NEVER { self.end.invoke } else { self.end.complete }
    }
}

impl Transaction {
    /// Calls `see` for each scalar of the transaction.
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
