//! One transaction at a time, from JSON into plain columns.

use super::EXAMPLE;
use crate::formats::Rewind;
use crate::formats::json::{self, Cursor, Fault, JsonObjects, Marks, set_once};
use crate::history::{Kind, Sequence, Status, Timestamp};
use crate::value::{Value, Values};

const READING: &str = "a timestamp: an integer of at most 64 bits, or such an integer in a string";

/// A transaction whose values are those of its batch.
pub(super) struct Transaction {
    pub(super) id: Value,
    pub(super) session: Option<Value>,
    pub(super) sequence: Sequence,
    pub(super) start: Timestamp,
    pub(super) commit: Timestamp,
    pub(super) status: Status,
    pub(super) line: u32,
    /// Its operations end here; they start where those of the one before end.
    pub(super) end: usize,
}

pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) key: Value,
    pub(super) value: Value,
    pub(super) line: u32,
}

/// Transactions of a part of a block.
#[derive(Default)]
pub struct Batch {
    pub(super) marks: Marks,
    pub(super) transactions: Vec<Transaction>,
    pub(super) operations: Vec<Operation>,
    /// Elements of the list that is being read: a cut-off list must leave nothing in `values`.
    pub(super) elements: Vec<Value>,
    pub(super) values: Values,
}

impl Rewind for Batch {
    type Mark = usize;

    fn mark(&self) -> usize {
        self.operations.len()
    }

    fn rewind(&mut self, mark: usize) {
        self.operations.truncate(mark);
    }
}

impl JsonObjects for Batch {
    const EXAMPLE: &'static str = EXAMPLE;

    fn marks(&mut self) -> &mut Marks {
        &mut self.marks
    }

    fn object(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        let (at, line) = (cursor.at(), cursor.line() as u32);
        let mut draft = Draft::default();
        let mut fields = cursor.begin_object()?;
        while let Some(name) = cursor.next_field(&mut fields)? {
            self.field(&name, &mut draft, cursor)?;
        }
        if !draft.has_operations {
            return Err(Fault::at(at, "a transaction with `ops`"));
        }
        self.transactions.push(Transaction {
            id: draft.id.ok_or_else(|| Fault::at(at, "a transaction with a `tid`"))?,
            session: draft.session,
            sequence: draft.sequence.unwrap_or_default(),
            start: draft.start.unwrap_or_default(),
            commit: draft.commit.unwrap_or_default(),
            status: draft.status.unwrap_or(Status::Committed),
            line,
            end: self.operations.len(),
        });
        Ok(())
    }
}

impl Batch {
    fn field(&mut self, name: &[u8], draft: &mut Draft, cursor: &mut Cursor) -> Result<(), Fault> {
        let at = cursor.start();
        match name {
            b"ops" if draft.has_operations => Err(Fault::at(at, "each field only once")),
            b"ops" => {
                draft.has_operations = true;
                self.operations(cursor)
            }
            b"tid" => set_once(&mut draft.id, Some(json::id(cursor, &mut self.values)?), at),
            b"sid" | b"sno" if cursor.null()? => Ok(()),
            b"sid" => set_once(&mut draft.session, Some(json::id(cursor, &mut self.values)?), at),
            b"sts" => set_once(&mut draft.start, timestamp(cursor)?, at),
            b"cts" => set_once(&mut draft.commit, timestamp(cursor)?, at),
            b"sno" => set_once(&mut draft.sequence, Some(sequence(cursor, at)?), at),
            b"status" => set_once(&mut draft.status, Some(status(cursor, at)?), at),
            _ => cursor.skip_value(),
        }
    }

    fn operations(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        let mut elements = cursor.begin_array()?;
        while cursor.next_element(&mut elements)? {
            let operation = self.operation(cursor)?;
            self.operations.push(operation);
        }
        Ok(())
    }

    fn operation(&mut self, cursor: &mut Cursor) -> Result<Operation, Fault> {
        let (at, line) = (cursor.start(), cursor.line() as u32);
        let (mut kind, mut key, mut value) = (None, None, None);
        let mut value_at = at;
        let mut fields = cursor.begin_object()?;
        while let Some(name) = cursor.next_field(&mut fields)? {
            let field_at = cursor.start();
            match &*name {
                b"t" => set_once(&mut kind, Some(operation_kind(cursor, field_at)?), field_at)?,
                b"k" => set_once(&mut key, Some(json::scalar(cursor, &mut self.values)?), field_at)?,
                b"v" => {
                    set_once(&mut value, Some(self.value(cursor)?), field_at)?;
                    value_at = field_at;
                }
                _ => cursor.skip_value()?,
            }
        }
        let kind = kind.ok_or_else(|| Fault::at(at, "an operation with its kind `t`"))?;
        let key = key.ok_or_else(|| Fault::at(at, "an operation with a key `k`"))?;
        let value = match value {
            Some(list) if kind != Kind::Read && list.list_index().is_some() => {
                return Err(Fault::at(value_at, "one value to write or append, not an array"));
            }
            Some(value) => value,
            None if kind == Kind::Read => Value::NIL,
            None => return Err(Fault::at(at, "a write or append with a value `v`")),
        };
        Ok(Operation { kind, key, value, line })
    }

    /// A scalar, or a list of them.
    fn value(&mut self, cursor: &mut Cursor) -> Result<Value, Fault> {
        if cursor.peek() != Some(b'[') {
            return json::scalar(cursor, &mut self.values);
        }
        self.elements.clear();
        let mut array = cursor.begin_array()?;
        while cursor.next_element(&mut array)? {
            let element = json::scalar(cursor, &mut self.values)?;
            self.elements.push(element);
        }
        Ok(self.values.push_list(self.elements.drain(..)))
    }
}

/// The fields of a transaction so far.
#[derive(Default)]
struct Draft {
    id: Option<Value>,
    session: Option<Value>,
    sequence: Option<Sequence>,
    start: Option<Timestamp>,
    commit: Option<Timestamp>,
    status: Option<Status>,
    has_operations: bool,
}

fn operation_kind(cursor: &mut Cursor, at: usize) -> Result<Kind, Fault> {
    let name = cursor.string_bytes()?;
    // One letter is what recorders write; the rest of the names need not be fast.
    match &*name {
        b"r" => return Ok(Kind::Read),
        b"w" => return Ok(Kind::Write),
        _ => {}
    }
    match name.to_ascii_lowercase().as_slice() {
        b"r" | b"read" => Ok(Kind::Read),
        b"w" | b"write" => Ok(Kind::Write),
        b"a" | b"append" => Ok(Kind::Append),
        _ => Err(Fault::at(at, "`r`, `w` or `a` as the kind of operation")),
    }
}

fn sequence(cursor: &mut Cursor, at: usize) -> Result<Sequence, Fault> {
    const PLACE: &str = "an integer of at most 64 bits as `sno`";
    // The least integer stands for a missing place in the columns.
    match cursor.integer(PLACE)? {
        i64::MIN => Err(Fault::at(at, PLACE)),
        place => Ok(Sequence::new(place)),
    }
}

fn status(cursor: &mut Cursor, at: usize) -> Result<Status, Fault> {
    match &*cursor.string_bytes()? {
        b"committed" => Ok(Status::Committed),
        b"aborted" => Ok(Status::Aborted),
        b"indeterminate" => Ok(Status::Indeterminate),
        _ => Err(Fault::at(at, "`committed`, `aborted` or `indeterminate` as the status")),
    }
}

/// A reading of the clock: `{"p":..,"l":..}`, an integer alone, or null.
fn timestamp(cursor: &mut Cursor) -> Result<Option<Timestamp>, Fault> {
    if cursor.null()? {
        return Ok(None);
    }
    if cursor.peek() != Some(b'{') {
        return reading(cursor).map(|physical| Some(Timestamp::new(physical, 0)));
    }
    let at = cursor.at();
    let (mut physical, mut logical) = (None, None);
    let mut fields = cursor.begin_object()?;
    while let Some(name) = cursor.next_field(&mut fields)? {
        let field_at = cursor.start();
        match &*name {
            b"p" => set_once(&mut physical, Some(reading(cursor)?), field_at)?,
            b"l" => set_once(&mut logical, Some(reading(cursor)?), field_at)?,
            _ => cursor.skip_value()?,
        }
    }
    let physical = physical.ok_or_else(|| Fault::at(at, "a timestamp with its physical part `p`"))?;
    Ok(Some(Timestamp::new(physical, logical.unwrap_or(0))))
}

fn reading(cursor: &mut Cursor) -> Result<i64, Fault> {
    let is_string = cursor.peek_for(READING)? == b'"';
    let at = cursor.start();
    let number = if is_string { cursor.string()?.parse().ok() } else { Some(cursor.integer(READING)?) };
    // The least integer stands for a missing reading in the columns.
    number.filter(|&number| number != i64::MIN).ok_or_else(|| Fault::at(at, READING))
}
