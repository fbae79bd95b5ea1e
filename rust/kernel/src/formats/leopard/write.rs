//! Histories as traces.

use super::key;
use super::record::PLAIN_COLUMN;
use super::statement::{Verb, implied, usual_name};
use crate::formats::writer::is_register;
use crate::formats::{Writer, json};
use crate::history::{History, Interval, Kind, Label, NO_KEY, Status};
use crate::value::{AtomKind, Value};
use std::io::{self, Write};

/// Lines are collected up to this size before they are handed on.
const CHUNK: usize = 1 << 16;

/// The writer of the format as one JSON array.
pub const WRITER: Writer = Writer { name: "leopard", write, unwritable, leaves_operations };
/// The writer of the format as JSON lines.
pub const LINES_WRITER: Writer =
    Writer { name: "leopard-lines", write: write_lines, unwritable, leaves_operations };

fn leaves_operations(history: &History) -> bool {
    let is_held = |at| history.operations.kinds[at] == Kind::Delete || is_register(history, at);
    (0..history.operation_count()).any(is_held)
}

/// Losses of `history` in this format, beyond the features that it does not have.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let mut lost = json::unwritable(history);
    let kinds = &history.operations.kinds;
    let any = |wanted: &dyn Fn(usize) -> bool| (0..history.operation_count()).any(wanted);
    let is_odd = |&id: &Value| !json::is_id(&history.values, id);
    let odd_ids = history.transactions.ids.iter().any(is_odd) || history.session_ids.iter().any(is_odd);
    let findings = [
        ("ids that are neither integers nor strings: written as strings", odd_ids),
        (
            "markers of commit and abort that have no time, come twice or contradict the status",
            (0..history.transaction_count()).any(|transaction| has_odd_ends(history, transaction)),
        ),
        (
            "range reads other than predicates that no row matched",
            any(&|at| kinds[at] == Kind::RangeRead && !is_empty_range(history, at)),
        ),
        ("tables and columns that keys do not name", any(&|at| !is_named(history, at))),
        (
            "values of deletes",
            any(&|at| kinds[at] == Kind::Delete && history.operations.values[at] != Value::NIL),
        ),
    ];
    lost.extend(findings.into_iter().filter(|&(_, is_lost)| is_lost).map(|(name, _)| name));
    lost
}

fn has_odd_ends(history: &History, transaction: usize) -> bool {
    let good = end_of(history, transaction);
    history
        .operations_of(transaction)
        .any(|operation| is_end(history.operations.kinds[operation]) && Some(operation) != good)
}

/// The operation that shows the end of a transaction, if the reader would take it for that.
fn end_of(history: &History, transaction: usize) -> Option<usize> {
    let (operations, status) = (&history.operations, history.transactions.statuses[transaction]);
    history.operations_of(transaction).find(|&operation| {
        let fits = match operations.kinds[operation] {
            Kind::Commit => status == Status::Committed,
            Kind::Abort => status == Status::Aborted,
            _ => false,
        };
        fits && operations.intervals.get(operation) != Interval::default()
    })
}

fn is_end(kind: Kind) -> bool {
    matches!(kind, Kind::Commit | Kind::Abort)
}

fn is_empty_range(history: &History, operation: usize) -> bool {
    let number = history.operations.values[operation].as_small().unwrap_or_default();
    let range = history.ranges.ranges[number as usize];
    (range.low, range.high) == (Value::NIL, Value::NIL)
        && range.live + range.dead == 0
        && history.operations.predicates.get(operation) != Label::default()
}

/// Whether table and columns are those in the key, or there are none.
fn is_named(history: &History, operation: usize) -> bool {
    let columns = &history.operations;
    let has_labels = columns.tables.get(operation) != Label::default()
        || columns.columns.get(operation) != Label::default();
    !has_labels || (columns.keys[operation] != NO_KEY && named_row(history, operation).is_some())
}

/// Table, row and column that the key of an operation names, if they are those of the operation.
fn named_row(history: &History, operation: usize) -> Option<(Option<&str>, String, Option<&str>)> {
    let columns = &history.operations;
    let table = text(history, columns.tables.get(operation).0);
    let column = match history.values.as_list(columns.columns.get(operation).0) {
        None if columns.kinds[operation] == Kind::Delete && table.is_some() => None,
        Some(&[only]) => Some(text(history, only).filter(|name| !name.is_empty())?),
        _ => return None,
    };
    let is_plain = table.is_none() && column == Some(PLAIN_COLUMN);
    let key = text(history, history.keys[columns.keys[operation] as usize])?;
    if is_plain || table == Some("") {
        return None;
    }
    Some((table, key::row_of(key, table, column)?, column))
}

fn text(history: &History, value: Value) -> Option<&str> {
    match history.values.atom(value.atom_index()?) {
        (AtomKind::Text, text) => Some(text),
        _ => None,
    }
}

/// Writes `history` as one JSON array, a trace a line.
///
/// # Errors
/// If `out` fails.
pub fn write(history: &History, out: &mut dyn Write) -> io::Result<()> {
    write_all(history, out, ["[\n", ",\n", "\n]\n"])
}

/// Writes `history` as JSON lines, a trace a line.
///
/// # Errors
/// If `out` fails.
pub fn write_lines(history: &History, out: &mut dyn Write) -> io::Result<()> {
    write_all(history, out, ["", "\n", "\n"])
}

fn write_all(history: &History, out: &mut dyn Write, [open, between, close]: [&str; 3]) -> io::Result<()> {
    let spelling = json::Spelling::of(&history.values);
    let mut lines = Lines { history, spelling, between, is_first: true, chunk: open.as_bytes().to_vec() };
    for transaction in history.written_order() {
        lines.transaction(transaction);
        if lines.chunk.len() >= CHUNK {
            out.write_all(&lines.chunk)?;
            lines.chunk.clear();
        }
    }
    if !lines.is_first || !open.is_empty() {
        lines.chunk.extend(close.as_bytes());
    }
    out.write_all(&lines.chunk)
}

/// The fields that all operations of one trace share.
#[derive(PartialEq)]
struct Header {
    interval: Interval,
    labels: [Label; 4],
    /// The name of the statement, and whether it says nothing of the statement kind.
    name: String,
    is_exact: bool,
}

struct Lines<'h> {
    history: &'h History,
    spelling: json::Spelling<'h>,
    between: &'h str,
    is_first: bool,
    chunk: Vec<u8>,
}

impl Lines<'_> {
    fn transaction(&mut self, transaction: usize) {
        let end = end_of(self.history, transaction);
        let operations: Vec<usize> = self
            .history
            .operations_of(transaction)
            .filter(|&operation| self.is_writable(operation, end))
            .collect();
        let (mut from, mut place) = (0, 0);
        while from < operations.len() {
            let header = self.header(operations[from]);
            let to = self.end_of_trace(&operations, from, &header);
            self.trace(transaction, place, &header, &operations[from..to]);
            (from, place) = (to, place + 1);
        }
        if end.is_some() {
            return;
        }
        let name = match self.history.transactions.statuses[transaction] {
            Status::Committed => "COMMIT",
            Status::Aborted => "ABORT",
            // A statement that touched nothing shows that the transaction was there.
            Status::Indeterminate if place == 0 => "SELECT",
            Status::Indeterminate => return,
        };
        self.begin(transaction, place, name);
        self.chunk.push(b'}');
    }

    fn is_writable(&self, operation: usize, end: Option<usize>) -> bool {
        let value = self.history.operations.values[operation];
        match self.history.operations.kinds[operation] {
            Kind::Read | Kind::Write | Kind::Insert => {
                value != Value::UNKNOWN && value.list_index().is_none()
            }
            Kind::Delete | Kind::Begin => true,
            Kind::Append => false,
            Kind::RangeRead => is_empty_range(self.history, operation),
            Kind::Commit | Kind::Abort => Some(operation) == end,
        }
    }

    fn header(&self, operation: usize) -> Header {
        let columns = &self.history.operations;
        let kind = columns.kinds[operation];
        let statement = text(self.history, columns.statements.get(operation).0);
        let usual = usual_name(kind);
        let spelt = statement.filter(|statement| {
            let verb = Verb::named(statement).filter(|verb| verb.fits(kind));
            verb.is_some_and(|verb| implied(verb, statement) == Some(statement))
                && !statement.bytes().any(|byte| byte.is_ascii_uppercase())
        });
        Header {
            interval: columns.intervals.get(operation),
            labels: [
                columns.statements.get(operation),
                columns.lock_modes.get(operation),
                columns.read_modes.get(operation),
                columns.predicates.get(operation),
            ],
            name: spelt.map_or_else(|| usual.to_owned(), str::to_ascii_uppercase),
            is_exact: spelt.is_some()
                || (statement.is_none() && matches!(kind, Kind::Begin | Kind::Commit | Kind::Abort)),
        }
    }

    /// Where the operations end that make one trace with the first one: those of one statement have the
    /// same interval, and reads come before writes.
    fn end_of_trace(&self, operations: &[usize], from: usize, header: &Header) -> usize {
        let kinds = &self.history.operations.kinds;
        let is_row = |operation: usize| {
            !matches!(kinds[operation], Kind::RangeRead | Kind::Begin) && !is_end(kinds[operation])
        };
        if header.interval == Interval::default() || !is_row(operations[from]) {
            return from + 1;
        }
        let mut to = from + 1;
        while to < operations.len() {
            let (before, operation) = (operations[to - 1], operations[to]);
            let turns_back = kinds[operation] == Kind::Read && kinds[before] != Kind::Read;
            if !is_row(operation) || turns_back || self.header(operation) != *header {
                break;
            }
            to += 1;
        }
        to
    }

    /// Opens a trace.
    fn begin(&mut self, transaction: usize, place: usize, name: &str) {
        if !self.is_first {
            self.chunk.extend(self.between.as_bytes());
        }
        self.is_first = false;
        let transactions = &self.history.transactions;
        let thread = self.history.session_ids[transactions.sessions[transaction] as usize];
        self.chunk.push(b'{');
        if thread != Value::NIL {
            self.chunk.extend(b"\"threadID\":");
            self.spelling.id(thread, &mut self.chunk);
            self.chunk.push(b',');
        }
        self.chunk.extend(b"\"transactionID\":");
        self.spelling.id(transactions.ids[transaction], &mut self.chunk);
        self.chunk.extend(format!(",\"operationID\":{place},\"operationTraceType\":").as_bytes());
        json::write_string(name, &mut self.chunk);
    }

    fn trace(&mut self, transaction: usize, place: usize, header: &Header, operations: &[usize]) {
        self.begin(transaction, place, &header.name);
        let times =
            [("startTimestamp", header.interval.invoke()), ("finishTimestamp", header.interval.complete())];
        for (name, time) in times {
            if let Some(time) = time {
                self.chunk.extend(format!(",\"{name}\":{time}").as_bytes());
            }
        }
        let [statement, lock_mode, read_mode, predicate] = header.labels;
        for (name, label, is_shown) in [
            ("statement", statement, !header.is_exact),
            ("predicateLock", predicate, predicate != Label::default()),
            ("traceLockMode", lock_mode, lock_mode != Label::default()),
            ("readMode", read_mode, read_mode != Label::default()),
        ] {
            if is_shown {
                self.chunk.extend(format!(",\"{name}\":").as_bytes());
                self.spelling.value(label.0, &mut self.chunk);
            }
        }
        let kinds = &self.history.operations.kinds;
        if self.history.operations.keys[operations[0]] != NO_KEY {
            let reads = operations.partition_point(|&operation| kinds[operation] == Kind::Read);
            self.rows("readTupleList", &operations[..reads]);
            self.rows("writeTupleList", &operations[reads..]);
        }
        self.chunk.push(b'}');
    }

    fn rows(&mut self, name: &str, operations: &[usize]) {
        if operations.is_empty() {
            return;
        }
        self.chunk.extend(format!(",\"{name}\":").as_bytes());
        let mut from = 0;
        while from < operations.len() {
            self.chunk.push(if from == 0 { b'[' } else { b',' });
            from += self.row(&operations[from..]);
        }
        self.chunk.push(b']');
    }

    /// Writes the row that starts with the first of `operations`; how many of them it takes.
    fn row(&mut self, operations: &[usize]) -> usize {
        let history = self.history;
        let Some((table, row, column)) = named_row(history, operations[0]) else {
            return self.plain_row(operations[0]);
        };
        self.chunk.push(b'{');
        if let Some(table) = table {
            self.chunk.extend(b"\"table\":");
            json::write_string(table, &mut self.chunk);
            self.chunk.push(b',');
        }
        self.chunk.extend(b"\"primaryKey\":");
        json::write_string(&row, &mut self.chunk);
        self.chunk.extend(b",\"valueMap\":{");
        let mut written: Vec<&str> = Vec::new();
        for &operation in operations {
            let Some(next) = named_row(history, operation) else { break };
            let Some(name) = next.2 else { break };
            if (next.0, &next.1) != (table, &row) || written.contains(&name) {
                break;
            }
            if !written.is_empty() {
                self.chunk.push(b',');
            }
            self.cell(name, operation);
            written.push(name);
        }
        self.chunk.extend(b"}}");
        if column.is_none() { 1 } else { written.len() }
    }

    /// Writes a key that is no row of a table.
    fn plain_row(&mut self, operation: usize) -> usize {
        let columns = &self.history.operations;
        self.chunk.extend(b"{\"primaryKey\":");
        let key = self.history.keys[columns.keys[operation] as usize];
        self.spelling.value(key, &mut self.chunk);
        self.chunk.extend(b",\"valueMap\":{");
        if columns.kinds[operation] != Kind::Delete {
            self.cell(PLAIN_COLUMN, operation);
        }
        self.chunk.extend(b"}}");
        1
    }

    fn cell(&mut self, column: &str, operation: usize) {
        let columns = &self.history.operations;
        let is_delete = columns.kinds[operation] == Kind::Delete;
        let value = if is_delete { Value::NIL } else { columns.values[operation] };
        json::write_string(column, &mut self.chunk);
        self.chunk.push(b':');
        self.spelling.value(value, &mut self.chunk);
    }
}
