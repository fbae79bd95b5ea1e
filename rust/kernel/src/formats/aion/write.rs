//! Histories as AION JSON.

use crate::formats::Writer;
use crate::formats::json::{self, Spelling};
use crate::history::{History, Kind, Status, Timestamp};
use crate::value::Value;
use std::io::{self, Write};

/// Lines are collected up to this size before they are handed on.
const CHUNK: usize = 1 << 16;

/// The writer of the format as one JSON array.
pub const WRITER: Writer = Writer { name: "aion", write, unwritable, leaves_operations };
/// The writer of the format as JSON lines.
pub const LINES_WRITER: Writer =
    Writer { name: "aion-lines", write: write_lines, unwritable, leaves_operations };

fn leaves_operations(history: &History) -> bool {
    let is_held = |kind: &Kind| matches!(kind, Kind::Read | Kind::Write | Kind::Insert | Kind::Append);
    history.operations.kinds.iter().any(is_held)
}

/// Losses of `history` in this format, beyond the features that it does not have.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let mut lost = json::unwritable(history);
    let is_odd = |&id: &Value| !json::is_id(&history.values, id);
    if history.transactions.ids.iter().any(is_odd) || history.session_ids.iter().any(is_odd) {
        lost.push("ids that are neither integers nor strings: written as strings");
    }
    lost
}

/// Writes `history` as one JSON array, a transaction a line.
///
/// # Errors
/// If `out` fails.
pub fn write(history: &History, out: &mut dyn Write) -> io::Result<()> {
    write_all(history, out, ("[\n", ",\n", "\n]\n"))
}

/// Writes `history` as JSON lines, a transaction a line.
///
/// # Errors
/// If `out` fails.
pub fn write_lines(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let end = if history.transaction_count() == 0 { "" } else { "\n" };
    write_all(history, out, ("", "\n", end))
}

fn write_all(
    history: &History,
    out: &mut dyn Write,
    (open, between, close): (&str, &str, &str),
) -> io::Result<()> {
    let spelling = Spelling::of(&history.values);
    let mut chunk = open.as_bytes().to_vec();
    for transaction in 0..history.transaction_count() {
        if transaction > 0 {
            chunk.extend(between.as_bytes());
        }
        write_transaction(history, &spelling, transaction, &mut chunk);
        if chunk.len() >= CHUNK {
            out.write_all(&chunk)?;
            chunk.clear();
        }
    }
    chunk.extend(close.as_bytes());
    out.write_all(&chunk)
}

fn write_transaction(history: &History, spelling: &Spelling<'_>, transaction: usize, out: &mut Vec<u8>) {
    let columns = &history.transactions;
    out.extend(b"{\"tid\":");
    spelling.id(columns.ids[transaction], out);
    let session = history.session_ids[columns.sessions[transaction] as usize];
    if session != Value::NIL {
        out.extend(b",\"sid\":");
        spelling.id(session, out);
    }
    if let Some(place) = columns.sequences.get(transaction).number() {
        out.extend(format!(",\"sno\":{place}").as_bytes());
    }
    write_timestamp("sts", columns.starts.get(transaction), out);
    write_timestamp("cts", columns.commits.get(transaction), out);
    match columns.statuses[transaction] {
        Status::Committed => {}
        Status::Aborted => out.extend(b",\"status\":\"aborted\""),
        Status::Indeterminate => out.extend(b",\"status\":\"indeterminate\""),
    }
    out.extend(b",\"ops\":");
    write_operations(history, spelling, transaction, out);
    out.push(b'}');
}

fn write_timestamp(name: &str, timestamp: Timestamp, out: &mut Vec<u8>) {
    if let Some((physical, logical)) = timestamp.parts() {
        out.extend(format!(",\"{name}\":{{\"p\":{physical},\"l\":{logical}}}").as_bytes());
    }
}

fn write_operations(history: &History, spelling: &Spelling<'_>, transaction: usize, out: &mut Vec<u8>) {
    let mut bracket = b'[';
    for operation in history.operations_of(transaction) {
        let Some(letter) = letter(history, operation) else {
            continue;
        };
        out.push(bracket);
        bracket = b',';
        out.extend(b"{\"t\":\"");
        out.push(letter);
        out.extend(b"\",\"k\":");
        spelling.value(history.keys[history.operations.keys[operation] as usize], out);
        out.extend(b",\"v\":");
        spelling.value(history.operations.values[operation], out);
        out.push(b'}');
    }
    if bracket == b'[' {
        out.push(bracket);
    }
    out.push(b']');
}

/// How the format calls an operation; it has no deletes, range reads, markers and unknown results.
fn letter(history: &History, operation: usize) -> Option<u8> {
    match history.operations.kinds[operation] {
        Kind::Read if history.operations.values[operation] == Value::UNKNOWN => None,
        Kind::Read => Some(b'r'),
        Kind::Write | Kind::Insert => Some(b'w'),
        Kind::Append => Some(b'a'),
        _ => None,
    }
}
