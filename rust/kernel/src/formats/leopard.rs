//! Interval-based traces of Leopard: JSON objects, one an operation, in the order of their start.
//!
//! ```json
//! {"threadID": "0-0-0", "transactionID": "0-0-0,0", "operationID": "0-0-0,0,1",
//!  "operationTraceType": "UPDATE", "startTimestamp": 1663798322622208619,
//!  "finishTimestamp": 1663798322632200949, "predicateLock": null, "traceLockMode": "EXCLUSIVE_LOCK",
//!  "readMode": "LOCKING_READ",
//!  "writeTupleList": [{"table": "0", "primaryKey": "0", "valueMap": {"v": 1}}]}
//! ```
//!
//! Objects stand alone (JSON lines) or in one array; fields in any order, unknown ones skipped, null the
//! same as absent. Every column of every row is one operation, whose key is `table/row/column`
//! ([`key`]); a statement's reads come before its writes. A row without a table is a plain key: its
//! primary key is the key, whatever scalar that is, and its column is `value`.
//!
//! Commits and aborts are operations and say how the transaction ended; without timestamps they only
//! say that. A transaction without end is indeterminate. Initial values are unknown.

mod key;
mod record;
mod statement;
mod write;

pub use record::Batch;
pub use write::{LINES_WRITER, WRITER};

use super::Records;
use super::json::{self, Enclosure};
use crate::builder::{Builder, Details};
use crate::error::ParseError;
use crate::history::{History, Interval, Label, NO_KEY, Status};
use crate::value::{Translation, Value};
use hashbrown::HashMap;
use record::{Cell, LeftOut, Trace};
use statement::Verb;

/// A place that the trace does not tell.
const MISSING: i64 = i64::MIN;

const EXAMPLE: &str = "a trace such as `{\"transactionID\":\"0,1\",\"operationTraceType\":\"COMMIT\"}`";

/// The history so far.
#[derive(Default)]
pub struct Leopard {
    builder: Builder,
    enclosure: Enclosure,
    progress: Vec<Progress>,
    /// The place of each operation in its transaction.
    places: Vec<i64>,
    /// Whether a transaction's operations did not come in the order of their places.
    is_disordered: bool,
    left_out: LeftOut,
    /// Lists of one column.
    columns: HashMap<Value, Label>,
}

/// The state of a transaction that may go on.
#[derive(Clone, Copy)]
struct Progress {
    /// Line of its end; 0 if it did not end.
    ended: u32,
    latest: i64,
    has_places: bool,
    lacks_places: bool,
}

impl Records for Leopard {
    type Batch = Batch;

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        self.enclosure.add(&mut batch.marks, EXAMPLE)?;
        let translation = self.builder.values.absorb(&batch.values);
        let mut from = 0;
        for trace in batch.traces.drain(..) {
            self.trace(&trace, &batch.cells[from..trace.end], &translation)?;
            from = trace.end;
        }
        self.left_out.add(std::mem::take(&mut batch.left_out));
        batch.cells.clear();
        batch.values.clear();
        Ok(())
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        self.enclosure.end_of_file(line)
    }

    fn into_history(mut self) -> Result<History, ParseError> {
        if self.is_disordered {
            self.order();
        }
        let LeftOut { asides, rowless, columnless, deleted_values } = self.left_out;
        self.builder.note("operations of the test itself, left out", asides);
        self.builder.note("statements without rows and times, left out", rowless);
        self.builder.note("rows without columns, left out", columnless);
        self.builder.note("values of deleted columns, left out", deleted_values);
        self.builder.finish()
    }
}

impl Leopard {
    fn trace(&mut self, trace: &Trace, cells: &[Cell], names: &Translation<'_>) -> Result<(), ParseError> {
        let transaction = self.transaction(trace, names)?;
        self.note_place(transaction, trace.place);
        let details = Details {
            interval: trace.interval,
            statement: Label(names.of(trace.labels.statement)),
            lock_mode: Label(names.of(trace.labels.lock_mode)),
            read_mode: Label(names.of(trace.labels.read_mode)),
            predicate: Label(names.of(trace.labels.predicate)),
            ..Details::default()
        };
        if let Verb::Commit | Verb::Abort = trace.verb {
            self.end(transaction, trace)?;
            // Without times it says nothing but how the transaction ended.
            if trace.interval == Interval::default() {
                return Ok(());
            }
        }
        if let Some(kind) = trace.verb.kind().filter(|_| trace.verb.is_marker()) {
            let marker = self.builder.operation(transaction, kind, NO_KEY, Value::NIL, trace.line);
            self.add(marker, trace.place, details);
        }
        if trace.is_empty_range {
            let open = (Value::NIL, Value::NIL);
            let range = self.builder.range_read(transaction, open, &[], &[], trace.line);
            self.add(range, trace.place, details);
        }
        for cell in cells {
            self.cell(transaction, trace, cell, names, details);
        }
        Ok(())
    }

    fn cell(
        &mut self,
        transaction: u32,
        trace: &Trace,
        cell: &Cell,
        names: &Translation<'_>,
        details: Details,
    ) {
        let key = self.builder.key(names.of(cell.key));
        let operation = self.builder.operation(transaction, cell.kind, key, names.of(cell.value), trace.line);
        let columns = self.columns(names.of(cell.column));
        self.add(operation, trace.place, Details { table: Label(names.of(cell.table)), columns, ..details });
    }

    fn add(&mut self, operation: usize, place: i64, details: Details) {
        self.places.push(place);
        self.builder.details(operation, details);
    }

    fn columns(&mut self, column: Value) -> Label {
        if column == Value::NIL {
            return Label::default();
        }
        let values = &mut self.builder.values;
        *self.columns.entry(column).or_insert_with(|| Label(values.push_list([column])))
    }

    fn transaction(&mut self, trace: &Trace, names: &Translation<'_>) -> Result<u32, ParseError> {
        let id = names.of(trace.id);
        let thread = trace.session.map(|session| names.of(session));
        let Some(known) = self.builder.find(id) else {
            let session = match thread {
                Some(thread) => self.builder.session(thread),
                None => self.builder.nameless_session(),
            };
            let started = self.builder.transaction(id, session, Status::Indeterminate, trace.line);
            self.progress.push(Progress {
                ended: 0,
                latest: MISSING,
                has_places: false,
                lacks_places: false,
            });
            return Ok(started.expect("the id is new"));
        };
        let expected = self.builder.session_id(self.builder.session_of(known));
        if thread.is_some_and(|thread| thread != expected) {
            return Err(self.on_another_thread(id, known, trace.line));
        }
        Ok(known)
    }

    fn note_place(&mut self, transaction: u32, place: i64) {
        let progress = &mut self.progress[transaction as usize];
        if place == MISSING {
            progress.lacks_places = true;
            return;
        }
        progress.has_places = true;
        self.is_disordered |= place < progress.latest;
        progress.latest = progress.latest.max(place);
    }

    fn end(&mut self, transaction: u32, trace: &Trace) -> Result<(), ParseError> {
        let ended = &mut self.progress[transaction as usize].ended;
        if *ended != 0 {
            let found = format!("another: it ended on line {ended}");
            return Err(ParseError::on_line(u64::from(trace.line), "one end of the transaction", &found)
                .hint("does the input hold the same trace twice, or use a transaction id again?"));
        }
        *ended = trace.line;
        let status = if trace.verb == Verb::Commit { Status::Committed } else { Status::Aborted };
        self.builder.set_status(transaction, status);
        Ok(())
    }

    /// Orders operations by their places, in transactions that tell the places of all of them.
    fn order(&mut self) {
        let mut unordered = 0;
        let is_ordered: Vec<bool> = self
            .progress
            .iter()
            .map(|progress| {
                unordered += u64::from(progress.has_places && progress.lacks_places);
                !progress.lacks_places
            })
            .collect();
        for (operation, place) in self.places.iter_mut().enumerate() {
            if !is_ordered[self.builder.owner_of(operation) as usize] {
                *place = 0;
            }
        }
        self.builder.order_operations(&self.places);
        self.builder.note("transactions in the order of the file: some operations have no id", unordered);
    }

    fn on_another_thread(&self, id: Value, known: u32, line: u32) -> ParseError {
        let mut name = Vec::new();
        json::write_value(&self.builder.values, id, &mut name);
        let name = String::from_utf8_lossy(&name);
        let expected = format!("the thread of transaction {name} on line {}", self.builder.line_of(known));
        ParseError::on_line(u64::from(line), &expected, "another")
            .hint("transaction ids must differ between threads")
    }
}

#[cfg(test)]
mod tests;
