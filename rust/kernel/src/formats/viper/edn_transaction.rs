//! Transactions in EDN: maps, one an event, of which those that are `:ok` count.

use super::batch::{Batch, Part, Transaction};
use crate::formats::Rewind;
use crate::formats::edn::{Cursor, EdnBatch, Fault};
use crate::history::Interval;
use crate::value::{AtomKind, Value};

const EXAMPLE: &str = "a transaction such as `{:type :ok, :value [[:w 1 5 true] [:r 1 5 false]]}`";
const OPERATIONS: &str = "a vector of micro-operations such as `[[:w 1 5 true]]`";

impl EdnBatch for Batch {
    fn next_edn(&mut self, cursor: &mut Cursor) -> Result<bool, Fault> {
        cursor.skip_blank()?;
        if cursor.is_at_end() {
            return Ok(false);
        }
        let start = cursor.at();
        cursor.skip_tags()?;
        if cursor.peek()? != b'{' {
            return Err(Fault::new(start, EXAMPLE).hint("is this another format? Name it with --format"));
        }
        cursor.advance();
        self.event(cursor, start)?;
        Ok(true)
    }
}

impl Batch {
    /// Reads the entries of a map up to its `}`.
    fn event(&mut self, cursor: &mut Cursor, start: usize) -> Result<(), Fault> {
        let mark = self.mark();
        let mut read = Transaction { line: cursor.line_at(start) as u32, ..Transaction::default() };
        let (mut is_ok, mut has_value, mut misfit) = (true, false, None);
        while cursor.has_member(b'}')? {
            let at = cursor.at();
            match keyword(cursor)? {
                b"type" => is_ok = cursor.name()? == b"ok",
                b"process" => read.process = self.edn_process(cursor)?,
                b"isInitial" | b"is-initial" => read.is_initial = cursor.name()? == b"true",
                b"value" | b"value:" if has_value => return Err(Fault::new(at, "each key of the map once")),
                b"value" | b"value:" => {
                    has_value = true;
                    misfit = self.edn_value(cursor)?;
                }
                _ => cursor.skip_form()?,
            }
        }
        if !is_ok {
            self.rewind(mark);
            self.skipped += 1;
            return Ok(());
        }
        if let Some(misfit) = misfit {
            return Err(misfit);
        }
        if !has_value {
            return Err(Fault::new(start, "a transaction with its `:value`"));
        }
        read.end = self.operations.len();
        self.transactions.push(read);
        Ok(())
    }

    /// The process if it is an integer; else the file is the session.
    fn edn_process(&mut self, cursor: &mut Cursor) -> Result<Option<Value>, Fault> {
        let process = cursor.value(&mut self.values)?;
        let kind = process.atom_index().map(|index| self.values.atom(index).0);
        Ok(Some(process).filter(|_| kind.is_none_or(|kind| kind == AtomKind::Integer)))
    }

    /// Reads micro-operations; why there are none matters only if the event counts, which may stand further
    /// on.
    fn edn_value(&mut self, cursor: &mut Cursor) -> Result<Option<Fault>, Fault> {
        let (start, mark) = (cursor.at(), self.mark());
        match self.edn_operations(cursor) {
            Err(misfit @ Fault::Malformed(_)) => {
                self.rewind(mark);
                cursor.rewind(start);
                cursor.skip_form()?;
                Ok(Some(misfit))
            }
            outcome => outcome.map(|()| None),
        }
    }

    fn edn_operations(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        let closer = cursor.open_list(OPERATIONS)?;
        while cursor.has_member(closer)? {
            let at = cursor.at();
            let line = cursor.line_at(at) as u32;
            let inner = cursor.open_list("a micro-operation such as `[:w 1 5 true]`")?;
            self.parts.clear();
            while cursor.has_member(inner)? {
                let part = self.edn_part(cursor)?;
                self.parts.push(part);
            }
            let added = self.micro_operation(line, Interval::default());
            added.map_err(|expected| Fault::new(at, expected))?;
        }
        Ok(())
    }

    fn edn_part(&mut self, cursor: &mut Cursor) -> Result<Part, Fault> {
        if !matches!(cursor.peek()?, b'[' | b'(') {
            return cursor.value(&mut self.values).map(Part::Value);
        }
        let closer = cursor.open_list(OPERATIONS)?;
        let rows = self.rows.len();
        self.elements.clear();
        while cursor.has_member(closer)? {
            let at = cursor.at();
            let is_row = cursor.peek()? == b'{';
            let is_mixed = if is_row { !self.elements.is_empty() } else { self.rows.len() > rows };
            if is_mixed {
                return Err(Fault::new(at, "rows only, or values only"));
            }
            if is_row {
                let row = self.edn_row(cursor)?;
                self.rows.push(row);
            } else {
                let element = cursor.value(&mut self.values)?;
                self.elements.push(element);
            }
        }
        Ok(self.array(rows))
    }

    /// `{:id key, :val value}`; other entries repeat the key.
    fn edn_row(&mut self, cursor: &mut Cursor) -> Result<(Value, Value), Fault> {
        let at = cursor.at();
        cursor.advance();
        let (mut key, mut value) = (None, None);
        while cursor.has_member(b'}')? {
            match keyword(cursor)? {
                b"id" => key = Some(cursor.value(&mut self.values)?),
                b"val" => value = Some(cursor.value(&mut self.values)?),
                _ => cursor.skip_form()?,
            }
        }
        key.zip(value).ok_or_else(|| Fault::new(at, "a row with `:id` and `:val`"))
    }
}

/// The name of a key that is a keyword; empty for any other key.
fn keyword<'text>(cursor: &mut Cursor<'text>) -> Result<&'text [u8], Fault> {
    if cursor.peek()? == b':' {
        return cursor.word();
    }
    cursor.skip_form()?;
    Ok(b"")
}
