//! The transactions of a part of a block, whatever their notation.

use crate::formats::Rewind;
use crate::formats::json::Marks;
use crate::history::{Interval, Kind};
use crate::value::{Value, Values};

/// A transaction whose values are those of its batch.
#[derive(Clone, Copy, Default)]
pub(super) struct Transaction {
    /// Its session, if the event names one.
    pub(super) process: Option<Value>,
    pub(super) interval: Interval,
    pub(super) is_initial: bool,
    pub(super) line: u32,
    /// Its operations end here; they start where those of the one before end.
    pub(super) end: usize,
}

/// One operation; of a range read the key is the lower bound and the value the upper one.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) key: Value,
    pub(super) value: Value,
    pub(super) is_tombstone: bool,
    pub(super) interval: Interval,
    /// Live rows are `rows..dead`, tombstones `dead..end`.
    pub(super) rows: usize,
    pub(super) dead: usize,
    pub(super) end: usize,
    pub(super) line: u32,
}

impl Operation {
    pub(super) fn new(kind: Kind, key: Value, value: Value) -> Self {
        Self {
            kind,
            key,
            value,
            is_tombstone: false,
            interval: Interval::default(),
            rows: 0,
            dead: 0,
            end: 0,
            line: 0,
        }
    }
}

/// A part of a micro-operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A scalar or a list of scalars.
    Value(Value),
    /// `[]`: a list or rows.
    Nothing,
    /// Rows of the batch, from one to before the other.
    Rows(usize, usize),
    /// Left out.
    Absent,
}

/// Transactions of a part of a block.
#[derive(Default)]
pub struct Batch {
    pub(super) marks: Marks,
    pub(super) transactions: Vec<Transaction>,
    pub(super) operations: Vec<Operation>,
    pub(super) rows: Vec<(Value, Value)>,
    pub(super) values: Values,
    /// Events of transactions that did not commit.
    pub(super) skipped: u64,
    /// Writes that did not succeed.
    pub(super) failed: u64,
    /// The micro-operation at hand, and the list at hand: memory that is used again.
    pub(super) parts: Vec<Part>,
    pub(super) elements: Vec<Value>,
}

/// How full a batch was before a record.
#[derive(Clone, Copy)]
pub struct Mark {
    operations: usize,
    rows: usize,
    failed: u64,
}

impl Rewind for Batch {
    type Mark = Mark;

    fn mark(&self) -> Mark {
        Mark { operations: self.operations.len(), rows: self.rows.len(), failed: self.failed }
    }

    fn rewind(&mut self, mark: Mark) {
        self.operations.truncate(mark.operations);
        self.rows.truncate(mark.rows);
        self.failed = mark.failed;
    }
}

impl Batch {
    /// The array that has just been read: rows since `rows`, or a list of `self.elements`.
    pub(super) fn array(&mut self, rows: usize) -> Part {
        if self.rows.len() > rows {
            return Part::Rows(rows, self.rows.len());
        }
        if self.elements.is_empty() {
            return Part::Nothing;
        }
        Part::Value(self.values.push_list(self.elements.drain(..)))
    }
}
