//! A history as Jepsen events, in EDN (a map per line) or JSON (an array, an object per line).

use super::MISSING;
use crate::formats::edn;
use crate::history::{History, Interval, Kind, Status};
use crate::value::{AtomKind, Value, Values};
use std::io::{self, Write};

/// Writes `history` as EDN, one event per line; the reader gives the same history back.
///
/// # Errors
/// If `out` fails, or if the history has operations other than reads, writes and appends of keys.
pub fn write(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    EventWriter::new(history, Notation::Edn).lines(|event| {
        line.clear();
        event.edn(&mut line);
        line.push(b'\n');
        out.write_all(&line)
    })
}

/// Writes `history` as a JSON array of events, one per line. Keywords and other terms become strings.
///
/// # Errors
/// If `out` fails, or if the history has operations other than reads, writes and appends of keys.
pub fn write_json(history: &History, out: &mut dyn Write) -> io::Result<()> {
    todo()
}
