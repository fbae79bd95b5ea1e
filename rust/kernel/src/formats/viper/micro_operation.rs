//! From the parts of a micro-operation to operations.

use super::batch::{Batch, Operation, Part};
use crate::history::{Interval, Kind};
use crate::value::{AtomKind, Value};

/// The expected part.
pub(super) type Misfit = &'static str;

const NAMES: &str = "a micro-operation that is `r`, `w`, `i`, `d`, `range` or `append`";
const KEY: &str = "a micro-operation with a scalar as its key";
const WRITTEN: &str = "a micro-operation with one value to write";
const FLAG: &str = "a micro-operation whose flags are true or false";
const ROWS: &str = "a range read with its rows in brackets";

impl Batch {
    /// Adds the operations that `self.parts`, the name first, stand for.
    pub(super) fn micro_operation(&mut self, line: u32, interval: Interval) -> Result<(), Misfit> {
        let first = self.operations.len();
        self.interpret()?;
        for operation in &mut self.operations[first..] {
            operation.line = line;
            operation.interval = interval;
        }
        Ok(())
    }

    fn interpret(&mut self) -> Result<(), Misfit> {
        match self.name()? {
            "r" | "read" => self.read(),
            "w" | "write" => self.write(),
            "append" | "a" => self.append(),
            "i" | "insert" => self.conditional(Kind::Insert),
            "d" | "delete" => self.conditional(Kind::Delete),
            "range" => self.range(),
            _ => Err(NAMES),
        }
    }

    /// The name of the micro-operation, with a keyword's colon taken off.
    pub(super) fn name(&self) -> Result<&str, Misfit> {
        let Part::Value(value) = self.part(0) else { return Err(NAMES) };
        let index = value.atom_index().ok_or(NAMES)?;
        let text = self.values.atom(index).1;
        Ok(text.strip_prefix(':').unwrap_or(text))
    }

    fn part(&self, place: usize) -> Part {
        self.parts.get(place).copied().unwrap_or(Part::Absent)
    }

    fn at_most(&self, parts: usize) -> Result<(), Misfit> {
        if self.parts.len() <= parts { Ok(()) } else { Err("a micro-operation without further parts") }
    }

    fn read(&mut self) -> Result<(), Misfit> {
        self.at_most(4)?;
        let key = self.scalar(1, KEY)?;
        let value = match self.part(2) {
            Part::Value(value) => value,
            Part::Nothing => self.values.push_list([]),
            Part::Absent => Value::NIL,
            Part::Rows(..) => return Err("a read of a scalar or a list"),
        };
        let is_tombstone = self.flag(3, false)?;
        self.operations.push(Operation { is_tombstone, ..Operation::new(Kind::Read, key, value) });
        Ok(())
    }

    fn write(&mut self) -> Result<(), Misfit> {
        self.at_most(4)?;
        let write = Operation::new(Kind::Write, self.scalar(1, KEY)?, self.scalar(2, WRITTEN)?);
        let succeeded = self.flag(3, true)?;
        self.push_if(succeeded, write);
        Ok(())
    }

    fn append(&mut self) -> Result<(), Misfit> {
        self.at_most(4)?;
        let append = Operation::new(Kind::Append, self.scalar(1, KEY)?, self.scalar(2, WRITTEN)?);
        let succeeded = self.flag(3, true)?;
        self.push_if(succeeded, append);
        Ok(())
    }

    /// An insert or delete: it reads first, and writes only if the value that it read allows that.
    fn conditional(&mut self, kind: Kind) -> Result<(), Misfit> {
        self.at_most(if kind == Kind::Insert { 8 } else { 7 })?;
        let (key, value) = (self.scalar(1, KEY)?, self.scalar(2, WRITTEN)?);
        let (is_dead, succeeded) = (self.flag(4, false)?, self.flag(5, true)?);
        if self.part(3) != Part::Absent {
            let seen = self.scalar(3, "a micro-operation that read one value")?;
            let read = Operation::new(Kind::Read, key, seen);
            self.operations.push(Operation { is_tombstone: is_dead, ..read });
        }
        let is_tombstone = kind == Kind::Delete;
        self.push_if(succeeded, Operation { is_tombstone, ..Operation::new(kind, key, value) });
        Ok(())
    }

    fn range(&mut self) -> Result<(), Misfit> {
        self.at_most(6)?;
        let (low, high) = (self.bound(1, i64::MIN)?, self.bound(2, i64::MAX)?);
        let here = self.rows.len();
        let (rows, dead) = match (self.part(3), self.part(4)) {
            (Part::Rows(rows, dead), _) => (rows, dead),
            (Part::Nothing, Part::Rows(dead, _)) => (dead, dead),
            (Part::Nothing, _) => (here, here),
            _ => return Err(ROWS),
        };
        let end = match self.part(4) {
            Part::Rows(_, end) => end,
            Part::Nothing | Part::Absent => dead,
            Part::Value(_) => return Err(ROWS),
        };
        self.flag(5, false)?;
        self.operations.push(Operation { rows, dead, end, ..Operation::new(Kind::RangeRead, low, high) });
        Ok(())
    }

    /// A bound, nil if it is open: `nil`, the text `nil`, or the last integer of 64 bits.
    fn bound(&mut self, place: usize, open: i64) -> Result<Value, Misfit> {
        let bound = self.scalar(place, "a range read with scalars as its bounds")?;
        let is_open = match bound.atom_index().map(|index| self.values.atom(index)) {
            Some((AtomKind::Text | AtomKind::Term, "nil")) => true,
            Some((AtomKind::Integer, digits)) => digits.parse() == Ok(open),
            _ => false,
        };
        Ok(if is_open { Value::NIL } else { bound })
    }

    fn scalar(&self, place: usize, expected: Misfit) -> Result<Value, Misfit> {
        match self.part(place) {
            Part::Value(value) if value.list_index().is_none() => Ok(value),
            _ => Err(expected),
        }
    }

    fn flag(&self, place: usize, absent: bool) -> Result<bool, Misfit> {
        let value = match self.part(place) {
            Part::Absent => return Ok(absent),
            Part::Value(value) => value,
            _ => return Err(FLAG),
        };
        match value.atom_index().map(|index| self.values.atom(index)) {
            Some((AtomKind::Boolean, text)) => Ok(text == "true"),
            _ => Err(FLAG),
        }
    }

    fn push_if(&mut self, succeeded: bool, operation: Operation) {
        if succeeded {
            self.operations.push(operation);
        } else {
            self.failed += 1;
        }
    }
}
