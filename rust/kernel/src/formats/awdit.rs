//! AWDIT's test format: `r KEY VALUE` and `w KEY VALUE`, one a line.
//!
//! A run of `-` ends a transaction, a run of `=` a session; an empty one counts for nothing. There
//! are no ids, no aborted transactions and no initial values: a value that was never written is thin air.

mod write;

pub use write::WRITER;

use super::without_ids::{NumberedHistory, Operation, take_natural};
use super::{LineBatch, Records};
use crate::error::ParseError;
use crate::history::{History, Kind, Status};
use crate::value::{Value, Values};

const EXAMPLE: &str = "an operation such as `w KEY VALUE`, or a line of `-` or `=`";
const CUT_SHORT: &str = "the line is cut short: is the file whole?";
const NATURAL: &str = "this format holds integers from 0 to 2^64 - 1 only, and `-` ends a transaction";

/// The history so far.
pub struct Awdit {
    history: NumberedHistory,
    /// The transaction that the next operation belongs to, if it has started.
    open: Option<u32>,
}

/// An end behind an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Transaction,
    Session,
}

/// Operations of a part of a block, and how many of them stand before each end.
#[derive(Default)]
pub struct Batch {
    operations: Vec<Operation>,
    ends: Vec<(usize, End)>,
    values: Values,
}

impl Default for Awdit {
    fn default() -> Self {
        Self { history: NumberedHistory::starting_with(Value::NIL, false), open: None }
    }
}

impl LineBatch for Batch {
    fn line(&mut self, bytes: &[u8], number: u64) -> Result<(), ParseError> {
        Line { bytes, at: 0, number }.read(self)
    }
}

impl Records for Awdit {
    type Batch = Batch;

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        let translation = self.history.builder.values.absorb(&batch.values);
        let mut from = 0;
        let last = (batch.operations.len(), None);
        for (end, what) in batch.ends.iter().map(|&(end, what)| (end, Some(what))).chain([last]) {
            if let Some(first) = batch.operations[from..end].first() {
                let history = &mut self.history;
                let open =
                    *self.open.get_or_insert_with(|| history.transaction(Status::Committed, first.line));
                history.operations(open, &batch.operations[from..end], &translation);
            }
            from = end;
            self.end(what);
        }
        batch.operations.clear();
        batch.ends.clear();
        batch.values.clear();
        Ok(())
    }

    fn end_of_file(&mut self, _line: u64) -> Result<(), ParseError> {
        self.end(Some(End::Session));
        Ok(())
    }

    fn into_history(self) -> Result<History, ParseError> {
        self.history.into_history()
    }
}

impl Awdit {
    fn end(&mut self, what: Option<End>) {
        if what.is_some() {
            self.open = None;
        }
        if what == Some(End::Session) {
            self.history.forget_session();
        }
    }
}

/// A place on one line.
struct Line<'text> {
    bytes: &'text [u8],
    at: usize,
    number: u64,
}

impl Line<'_> {
    /// One operation at most, and the ends before and behind it.
    fn read(mut self, batch: &mut Batch) -> Result<(), ParseError> {
        let mut is_fresh = true;
        loop {
            self.skip_blanks();
            match self.peek() {
                None => return Ok(()),
                Some(byte @ (b'-' | b'=')) => {
                    self.skip_run(byte);
                    let what = if byte == b'=' { End::Session } else { End::Transaction };
                    batch.ends.push((batch.operations.len(), what));
                    is_fresh = true;
                }
                Some(byte @ (b'r' | b'w')) if is_fresh => {
                    let kind = if byte == b'r' { Kind::Read } else { Kind::Write };
                    let operation = self.operation(kind, &mut batch.values)?;
                    batch.operations.push(operation);
                    is_fresh = false;
                }
                Some(_) if is_fresh => {
                    return Err(self.fail(EXAMPLE).hint("is this another format? Name it with --format"));
                }
                Some(_) => {
                    return Err(self
                        .fail("the end of the line after the value")
                        .hint("each operation has a line of its own"));
                }
            }
        }
    }

    fn operation(&mut self, kind: Kind, values: &mut Values) -> Result<Operation, ParseError> {
        self.at += 1;
        let key = self.field("a space and an integer from 0 to 2^64 - 1 as the key", values)?;
        let value = self.field("a space and an integer from 0 to 2^64 - 1 as the value", values)?;
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\r' | b'-' | b'=') => {}
            Some(_) => return Err(self.fail("the end of the line after the value").hint(NATURAL)),
        }
        Ok(Operation { kind, key, value, line: self.number as u32 })
    }

    /// Blanks and a number.
    #[inline]
    fn field(&mut self, expected: &str, values: &mut Values) -> Result<Value, ParseError> {
        let before = self.at;
        self.skip_blanks();
        if self.at > before
            && let Some(value) = take_natural(self.bytes, &mut self.at, values)
        {
            return Ok(value);
        }
        let error = self.fail(expected);
        Err(if self.peek().is_none() { error.hint(CUT_SHORT) } else { error.hint(NATURAL) })
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn skip_run(&mut self, byte: u8) {
        while self.peek() == Some(byte) {
            self.at += 1;
        }
    }

    #[cold]
    fn fail(&self, expected: &str) -> ParseError {
        let error = ParseError::at(self.bytes, self.at, self.number, expected);
        if self.peek().is_none() { error.found("the end of the line") } else { error }
    }
}

#[cfg(test)]
mod tests;
