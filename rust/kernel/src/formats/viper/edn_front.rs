//! The EDN front end: maps, one an event, of which those that are `:ok` count.

use super::Viper;
use super::record::{Batch, Part, Transaction};
use crate::error::ParseError;
use crate::formats::Records;
use crate::formats::edn::{Cursor, Fault, closer_of, valid_prefix};
use crate::history::{History, Interval};
use crate::value::{AtomKind, Value};

const EXAMPLE: &str = "a transaction such as `{:type :ok, :value [[:w 1 5 true] [:r 1 5 false]]}`";
const OPERATIONS: &str = "a vector of micro-operations such as `[[:w 1 5 true]]`";

/// The history so far, from EDN.
#[derive(Default)]
pub struct ViperEdn(Viper);

impl Records for ViperEdn {
    type Batch = Batch;

    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut Batch) -> Result<usize, ParseError> {
        let (valid, is_broken) = valid_prefix(text, last);
        let cursor = Cursor::new(valid, last && !is_broken);
        let mut events = Events { cursor, text, line: first_line, counted: 0 };
        loop {
            let (taken, mark) = (events.cursor.at(), batch.mark());
            let fault = match events.event(batch) {
                Ok(true) => continue,
                Err(fault @ Fault::Malformed(_)) => fault,
                Ok(false) | Err(Fault::CutOff) if is_broken => Fault::new(valid.len(), "UTF-8 text"),
                Ok(false) => return Ok(events.cursor.at()),
                Err(Fault::CutOff) if last => Fault::CutOff,
                Err(Fault::CutOff) => {
                    batch.rewind(mark);
                    return Ok(taken);
                }
            };
            batch.rewind(mark);
            return Err(fault.into_error(text, first_line));
        }
    }

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        self.0.merge(batch)
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        self.0.end_of_file(line)
    }

    fn finish(self) -> Result<History, ParseError> {
        self.0.finish()
    }
}

struct Events<'text> {
    cursor: Cursor<'text>,
    text: &'text [u8],
    /// Line of the byte `counted`.
    line: u64,
    counted: usize,
}

impl Events<'_> {
    /// Adds the next event; false at the end of the text.
    fn event(&mut self, batch: &mut Batch) -> Result<bool, Fault> {
        self.cursor.skip_blank()?;
        if self.cursor.is_at_end() {
            return Ok(false);
        }
        let start = self.cursor.at();
        while self.cursor.peek()? == b'#' && self.cursor.tag()?.is_some() {
            self.cursor.skip_blank()?;
        }
        if self.cursor.peek()? != b'{' {
            return Err(Fault::new(start, EXAMPLE).hint("is this another format? Name it with --format"));
        }
        self.cursor.advance();
        let mark = batch.mark();
        let mut read = Transaction { line: self.line_at(start), ..Transaction::default() };
        let (mut is_ok, mut has_value, mut misfit) = (true, false, None);
        while self.at_entry()? {
            let at = self.cursor.at();
            match self.key()? {
                b"type" => is_ok = self.cursor.name()? == b"ok",
                b"process" => read.process = self.process(batch)?,
                b"isInitial" | b"is-initial" => read.is_initial = self.cursor.name()? == b"true",
                b"value" | b"value:" if has_value => return Err(Fault::new(at, "each key of the map once")),
                b"value" | b"value:" => {
                    has_value = true;
                    misfit = self.value(batch)?;
                }
                _ => self.cursor.skip_form()?,
            }
        }
        if !is_ok {
            batch.rewind(mark);
            batch.skipped += 1;
            return Ok(true);
        }
        if let Some(misfit) = misfit {
            return Err(misfit);
        }
        if !has_value {
            return Err(Fault::new(start, "a transaction with its `:value`"));
        }
        read.end = batch.operations.len();
        batch.transactions.push(read);
        Ok(true)
    }

    /// Whether an entry of a map follows; false once its `}` is taken.
    fn at_entry(&mut self) -> Result<bool, Fault> {
        self.cursor.skip_blank()?;
        if self.cursor.peek()? != b'}' {
            return Ok(true);
        }
        self.cursor.advance();
        Ok(false)
    }

    /// The name of a key that is a keyword; empty for any other key.
    fn key(&mut self) -> Result<&[u8], Fault> {
        if self.cursor.peek()? == b':' {
            return self.cursor.word();
        }
        self.cursor.skip_form()?;
        Ok(b"")
    }

    fn line_at(&mut self, at: usize) -> u32 {
        self.line += memchr::memchr_iter(b'\n', &self.text[self.counted..at]).count() as u64;
        self.counted = at;
        self.line as u32
    }

    /// The process if it is an integer; else the file is the session.
    fn process(&mut self, batch: &mut Batch) -> Result<Option<Value>, Fault> {
        let process = self.cursor.value(&mut batch.values)?;
        let kind = process.atom_index().map(|index| batch.values.atom(index).0);
        Ok(Some(process).filter(|_| kind.is_none_or(|kind| kind == AtomKind::Integer)))
    }

    /// The closing bracket of a vector or list, whose opening one is taken.
    fn open(&mut self, expected: &str) -> Result<u8, Fault> {
        self.cursor.skip_blank()?;
        match self.cursor.peek()? {
            opener @ (b'[' | b'(') => {
                self.cursor.advance();
                Ok(closer_of(opener))
            }
            _ => Err(Fault::new(self.cursor.at(), expected)),
        }
    }

    /// Whether an element follows; false once `closer` is taken.
    fn at_element(&mut self, closer: u8) -> Result<bool, Fault> {
        self.cursor.skip_blank()?;
        if self.cursor.peek()? != closer {
            return Ok(true);
        }
        self.cursor.advance();
        Ok(false)
    }

    /// Reads micro-operations; why there are none matters only if the event counts, which may stand further
    /// on.
    fn value(&mut self, batch: &mut Batch) -> Result<Option<Fault>, Fault> {
        let (start, mark) = (self.cursor.at(), batch.mark());
        match self.operations(batch) {
            Err(misfit @ Fault::Malformed(_)) => {
                batch.rewind(mark);
                self.cursor.rewind(start);
                self.cursor.skip_form()?;
                Ok(Some(misfit))
            }
            outcome => outcome.map(|()| None),
        }
    }

    fn operations(&mut self, batch: &mut Batch) -> Result<(), Fault> {
        let closer = self.open(OPERATIONS)?;
        while self.at_element(closer)? {
            let at = self.cursor.at();
            let line = self.line_at(at);
            let inner = self.open("a micro-operation such as `[:w 1 5 true]`")?;
            batch.parts.clear();
            while self.at_element(inner)? {
                let part = self.part(batch)?;
                batch.parts.push(part);
            }
            let added = batch.micro_operation(line, Interval::default());
            added.map_err(|expected| Fault::new(at, expected))?;
        }
        Ok(())
    }

    fn part(&mut self, batch: &mut Batch) -> Result<Part, Fault> {
        if !matches!(self.cursor.peek()?, b'[' | b'(') {
            return self.cursor.value(&mut batch.values).map(Part::Value);
        }
        let closer = self.open(OPERATIONS)?;
        let rows = batch.rows.len();
        batch.elements.clear();
        while self.at_element(closer)? {
            let at = self.cursor.at();
            let is_row = self.cursor.peek()? == b'{';
            let is_mixed = if is_row { !batch.elements.is_empty() } else { batch.rows.len() > rows };
            if is_mixed {
                return Err(Fault::new(at, "rows only, or values only"));
            }
            if is_row {
                let row = self.row(batch)?;
                batch.rows.push(row);
            } else {
                let element = self.cursor.value(&mut batch.values)?;
                batch.elements.push(element);
            }
        }
        Ok(batch.array(rows))
    }

    /// `{:id key, :val value}`; other entries repeat the key.
    fn row(&mut self, batch: &mut Batch) -> Result<(Value, Value), Fault> {
        let at = self.cursor.at();
        self.cursor.advance();
        let (mut key, mut value) = (None, None);
        while self.at_entry()? {
            match self.key()? {
                b"id" => key = Some(self.cursor.value(&mut batch.values)?),
                b"val" => value = Some(self.cursor.value(&mut batch.values)?),
                _ => self.cursor.skip_form()?,
            }
        }
        key.zip(value).ok_or_else(|| Fault::new(at, "a row with `:id` and `:val`"))
    }
}
