//! CHRONOS and AION histories: JSON objects, one a transaction, with the database's own timestamps.
//!
//! ```json
//! {"tid": 67, "sid": 19, "sts": {"p": 1691420095436341, "l": 61}, "cts": {"p": 1691420095659914, "l": 18},
//!  "ops": [{"t": "w", "k": 7, "v": 2}, {"t": "r", "k": 8, "v": 3}]}
//! ```
//!
//! The file is one array of such objects, or the objects alone (JSON lines); whitespace and commas
//! separate them. Fields may come in any order and unknown ones are skipped.
//!
//! - `tid`: integer or string, unique. `sid`: integer or string; without it the transaction is a session
//!   of its own. `sno`: place in the session, an integer; without it the order of the file counts.
//! - `sts`, `cts`: start and commit, `{"p": physical, "l": logical}` with `l` 0 if absent, or an integer
//!   alone; each number also as a string of digits. May be absent. A start after its commit is a finding
//!   of the checker, not an error of the file.
//! - `t`: `w`/`write`, `r`/`read` or `a`/`append`, in any case. `k`: any scalar. `v`: any scalar; an array
//!   of scalars for the read of a list; null or absent for a read that found nothing.
//! - `status`: `committed` (the default), `aborted` or `indeterminate`. The original format has only
//!   committed transactions; the field is ours, so that no history loses transactions when it is written.
//!
//! Initial values are unknown: nothing in the file tells them.

mod record;
mod write;

pub use record::Batch;
pub use write::{unwritable, write, write_lines};

use super::Records;
use super::json::{self, Cursor, Fault};
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::History;
use crate::value::{Translation, Value};
use record::Transaction;

const EXAMPLE: &str = "a transaction such as `{\"tid\":1,\"sid\":1,\"ops\":[{\"t\":\"w\",\"k\":1,\"v\":1}]}`";

/// The history so far.
#[derive(Default)]
pub struct Aion {
    builder: Builder,
    enclosure: Enclosure,
}

/// Where in its file the last record stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Enclosure {
    /// Nothing was seen yet.
    #[default]
    Start,
    /// Objects without an array around them.
    Lines,
    /// Inside the array that was opened on this line.
    Array(u64),
    /// Behind the array that was closed on this line.
    Closed(u64),
}

impl Records for Aion {
    type Batch = Batch;

    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut Batch) -> Result<usize, ParseError> {
        let mut cursor = Cursor::new(text, first_line);
        loop {
            let (taken, whole) = (cursor.at(), batch.operations.len());
            match batch.next(&mut cursor) {
                Ok(true) => {}
                Ok(false) => return Ok(text.len()),
                Err(Fault::CutOff(_)) if !last => {
                    batch.operations.truncate(whole);
                    return Ok(taken);
                }
                Err(fault) => return Err(cursor.error(fault)),
            }
        }
    }

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        self.enclosure = self.enclosure.after(batch)?;
        let translation = self.builder.values.absorb(&batch.values);
        let mut from = 0;
        for transaction in batch.transactions.drain(..) {
            let number = self.transaction(&transaction, &translation)?;
            for operation in &batch.operations[from..transaction.end] {
                let key = self.builder.key(translation.of(operation.key));
                let value = self.builder.result(key, operation.value, &translation);
                self.builder.operation(number, operation.kind, key, value, operation.line);
            }
            from = transaction.end;
        }
        batch.operations.clear();
        batch.values.clear();
        (batch.first, batch.opened, batch.closed) = (None, None, None);
        Ok(())
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        match std::mem::take(&mut self.enclosure) {
            Enclosure::Array(opened) => {
                let expected = format!("`]` for the `[` of line {opened}");
                Err(ParseError::on_line(line, &expected, "the end of the input")
                    .hint("the file is cut short: later transactions may be missing"))
            }
            _ => Ok(()),
        }
    }

    fn finish(self) -> Result<History, ParseError> {
        self.builder.finish()
    }

    /// The start of a record near the middle: an object that starts with the same name as the first.
    fn split(text: &[u8]) -> Option<usize> {
        let name = first_name(text)?;
        let half = text.len() / 2;
        let found = half + memchr::memmem::find(&text[half..], name)?;
        let before = text[..found].trim_ascii_end();
        before.ends_with(b"{").then(|| before.len() - 1)
    }
}

/// The name of the first field of the first record, with its quotes.
fn first_name(text: &[u8]) -> Option<&[u8]> {
    let start = memchr::memchr(b'"', &text[..text.len().min(1024)])?;
    let length = memchr::memchr(b'"', &text[start + 1..])?;
    Some(&text[start..start + length + 2])
}

impl Enclosure {
    /// Where the file stands after `batch`.
    fn after(self, batch: &Batch) -> Result<Self, ParseError> {
        let Some(first) = batch.first else {
            return Ok(self);
        };
        let now = match (self, batch.opened) {
            (Self::Closed(line), _) => {
                let expected = format!("nothing after the `]` of line {line}");
                return Err(ParseError::on_line(first, &expected, "more"));
            }
            (Self::Start, Some(line)) => Self::Array(line),
            (Self::Start, None) => Self::Lines,
            (_, Some(line)) => {
                return Err(ParseError::on_line(line, EXAMPLE, "`[`").hint("one file holds one array"));
            }
            (_, None) => self,
        };
        match (batch.closed, now) {
            (None, _) => Ok(now),
            (Some(line), Self::Array(_)) => Ok(Self::Closed(line)),
            (Some(line), _) => Err(ParseError::on_line(line, "a `[` at the start of the file", "only `]`")),
        }
    }
}

impl Aion {
    fn transaction(&mut self, read: &Transaction, translation: &Translation<'_>) -> Result<u32, ParseError> {
        let id = translation.of(read.id);
        if let Some(earlier) = self.builder.find(id) {
            return Err(self.repeated(id, earlier, read.line));
        }
        let session = match read.session {
            Some(name) => self.builder.session(translation.of(name)),
            None => self.builder.nameless_session(),
        };
        let number = self.builder.transaction(id, session, read.status, read.line).expect("the id is new");
        self.builder.timestamps(number, read.start, read.commit);
        if let Some(place) = read.sequence.number() {
            self.builder.sequence(number, place);
        }
        Ok(number)
    }

    fn repeated(&self, id: Value, earlier: u32, line: u32) -> ParseError {
        let mut name = Vec::new();
        json::write_value(&self.builder.values, id, &mut name);
        let name = String::from_utf8_lossy(&name);
        let found = format!("{name}, the transaction of line {}", self.builder.line_of(earlier));
        ParseError::on_line(u64::from(line), "a `tid` of its own for each transaction", &found)
            .hint("does the input hold the same history twice?")
    }
}

#[cfg(test)]
mod tests;
