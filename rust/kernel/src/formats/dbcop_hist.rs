//! dbcop's text, `.hist`: `[x:=1 y==2]` is a transaction, a line of `-` ends a session.
//!
//! `:=` writes, `==` reads, `x==?` reads that `x` was never written; `!` behind a transaction says that it did not
//! commit; `//` starts a comment. There are no ids.

mod write;

pub use write::WRITER;

use super::without_ids::{NumberedHistory, Operation, ZERO, natural_value, take_natural};
use super::{LineBatch, Records};
use crate::error::ParseError;
use crate::history::{History, Kind, Status};
use crate::value::{AtomKind, Value, Values};

const EXAMPLE: &str = "a transaction such as `[x:=1 y==2]`, a line of `-` or a comment";
const VARIABLE: &str = "a variable: letters, digits and `_`";
const VERSION: &str = "a version: an integer from 0 to 2^64 - 1";
const CUT_SHORT: &str = "a transaction ends with `]` on its own line: is the file whole?";

/// The history so far.
pub struct DbcopHist {
    history: NumberedHistory,
    /// Whether this file has a line of `-`.
    is_split: bool,
}

/// A transaction or an end.
enum Mark {
    /// A transaction; its operations start where those of the one before end.
    Transaction {
        status: Status,
        line: u32,
        end: usize,
    },
    EndOfSession,
}

/// Transactions of a part of a block.
#[derive(Default)]
pub struct Batch {
    marks: Vec<Mark>,
    operations: Vec<Operation>,
    values: Values,
}

impl Default for DbcopHist {
    fn default() -> Self {
        Self { history: NumberedHistory::starting_with(ZERO, true), is_split: false }
    }
}

impl LineBatch for Batch {
    fn line(&mut self, bytes: &[u8], number: u64) -> Result<(), ParseError> {
        Line { bytes, at: 0, number }.read(self)
    }
}

impl Records for DbcopHist {
    type Batch = Batch;

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        let translation = self.history.builder.values.absorb(&batch.values);
        let mut from = 0;
        for mark in batch.marks.drain(..) {
            match mark {
                Mark::Transaction { status, line, end } => {
                    let transaction = self.history.transaction(status, line);
                    self.history.operations(transaction, &batch.operations[from..end], &translation);
                    from = end;
                }
                Mark::EndOfSession => {
                    self.history.end_session();
                    self.is_split = true;
                }
            }
        }
        batch.operations.clear();
        batch.values.clear();
        Ok(())
    }

    fn end_of_file(&mut self, _line: u64) -> Result<(), ParseError> {
        if std::mem::take(&mut self.is_split) {
            self.history.end_session();
        } else {
            self.history.forget_session();
        }
        Ok(())
    }

    fn into_history(mut self) -> Result<History, ParseError> {
        self.history.settle_initial_reads();
        self.history.into_history()
    }
}

/// A place on one line.
struct Line<'text> {
    bytes: &'text [u8],
    at: usize,
    number: u64,
}

impl Line<'_> {
    fn read(mut self, batch: &mut Batch) -> Result<(), ParseError> {
        self.skip_blanks();
        match self.peek() {
            Some(b'[') => self.transactions(batch),
            Some(b'-') => self.end_of_session(batch),
            _ if self.is_over() => Ok(()),
            _ => Err(self.fail(EXAMPLE).hint("is this another format? Name it with --format")),
        }
    }

    fn transactions(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        while self.peek() == Some(b'[') {
            self.transaction(batch)?;
            self.skip_blanks();
        }
        if self.is_over() {
            return Ok(());
        }
        Err(self.fail("another transaction or the end of the line"))
    }

    fn transaction(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        let empty = batch.operations.len();
        self.at += 1;
        self.skip_blanks();
        while self.peek() != Some(b']') {
            let operation = self.event(&mut batch.values)?;
            batch.operations.push(operation);
            let before = self.at;
            self.skip_blanks();
            if self.at == before && self.peek() != Some(b']') {
                return Err(self.fail("a space or `]` after an event"));
            }
        }
        if batch.operations.len() == empty {
            return Err(self.fail("an event such as `x:=1`").hint("no transaction is empty in this format"));
        }
        self.at += 1;
        let is_aborted = self.peek() == Some(b'!');
        self.at += usize::from(is_aborted);
        let status = if is_aborted { Status::Aborted } else { Status::Committed };
        let (line, end) = (self.number as u32, batch.operations.len());
        batch.marks.push(Mark::Transaction { status, line, end });
        Ok(())
    }

    #[inline]
    fn event(&mut self, values: &mut Values) -> Result<Operation, ParseError> {
        let key = self.variable(values)?;
        let kind = match self.bytes.get(self.at..self.at + 2) {
            Some(b":=") => Kind::Write,
            Some(b"==") => Kind::Read,
            _ => return Err(self.fail("`:=` or `==` after the variable")),
        };
        self.at += 2;
        let value = if kind == Kind::Read && self.peek() == Some(b'?') {
            self.at += 1;
            Value::NIL
        } else {
            take_natural(self.bytes, &mut self.at, values).ok_or_else(|| self.version_fault(kind))?
        };
        Ok(Operation { kind, key, value, line: self.number as u32 })
    }

    #[cold]
    fn version_fault(&self, kind: Kind) -> ParseError {
        let error = self.fail(VERSION);
        match self.peek() {
            Some(b'?') if kind == Kind::Write => error.hint("only a read can be of the initial version, `?`"),
            Some(b' ' | b'\t') => error.hint("there are no spaces inside an event"),
            _ => error,
        }
    }

    /// A name, or the integer that it spells: as dbcop compares names, `01` is not `1`.
    #[inline]
    fn variable(&mut self, values: &mut Values) -> Result<Value, ParseError> {
        let start = self.at;
        let mut is_ascii = true;
        while let Some(&byte) = self.bytes.get(self.at)
            && (byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii())
        {
            is_ascii &= byte.is_ascii();
            self.at += 1;
        }
        let name = &self.bytes[start..self.at];
        if name.is_empty() {
            return Err(self.fail(VARIABLE));
        }
        if name[0].is_ascii_digit()
            && let Some(number) = spelt_natural(name)
        {
            return Ok(natural_value(number, values));
        }
        match std::str::from_utf8(name) {
            Ok(name) if is_ascii || is_name(name) => Ok(values.intern(AtomKind::Text, name)),
            _ => {
                self.at = start;
                Err(self.fail(VARIABLE))
            }
        }
    }

    fn end_of_session(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        while self.peek() == Some(b'-') {
            self.at += 1;
        }
        self.skip_blanks();
        if !self.is_over() {
            return Err(self.fail("nothing but `-` on a line that ends a session"));
        }
        batch.marks.push(Mark::EndOfSession);
        Ok(())
    }

    /// Whether only a comment follows, or nothing.
    fn is_over(&self) -> bool {
        self.at == self.bytes.len() || self.bytes[self.at..].starts_with(b"//")
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

    #[cold]
    fn fail(&self, expected: &str) -> ParseError {
        let error = ParseError::at(self.bytes, self.at, self.number, expected);
        match self.peek() {
            None | Some(b'\r') => error.found("the end of the line").hint(CUT_SHORT),
            _ => error,
        }
    }
}

/// The natural number whose decimal `name` is, to the digit.
fn spelt_natural(name: &[u8]) -> Option<u64> {
    let is_spelt = name == b"0" || (name[0] != b'0' && name.iter().all(u8::is_ascii_digit));
    if !is_spelt {
        return None;
    }
    name.iter().try_fold(0u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// Whether dbcop takes `name` for a variable.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests;
