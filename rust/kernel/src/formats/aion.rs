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

mod write;

pub use write::{write, write_lines};

use super::Records;
use super::json::{self, Cursor, Fault};
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::{History, Kind, Sequence, Status, Timestamp};
use crate::value::{Translation, Value, Values};

const EXAMPLE: &str = "a transaction such as `{\"tid\":1,\"sid\":1,\"ops\":[{\"t\":\"w\",\"k\":1,\"v\":1}]}`";
const READING: &str = "a timestamp: an integer of at most 64 bits, or such an integer in a string";

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

struct Transaction {
    id: Value,
    session: Option<Value>,
    sequence: Sequence,
    start: Timestamp,
    commit: Timestamp,
    status: Status,
    line: u32,
    /// Its operations end here; they start where those of the one before end.
    end: usize,
}

struct Operation {
    kind: Kind,
    key: Value,
    value: Value,
    line: u32,
}

/// Transactions of a part of a block.
#[derive(Default)]
pub struct Batch {
    /// Line of the first thing that is not whitespace.
    first: Option<u64>,
    opened: Option<u64>,
    closed: Option<u64>,
    transactions: Vec<Transaction>,
    operations: Vec<Operation>,
    /// Elements of the list that is being read: a cut-off list must leave nothing in `values`.
    elements: Vec<Value>,
    values: Values,
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
                let value = translation.of(operation.value);
                self.builder
                    .operation(number, operation.kind, key, value, operation.line);
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
                Err(
                    ParseError::on_line(line.max(2) - 1, &expected, "the end of the input")
                        .hint("the file is cut short: later transactions may be missing"),
                )
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
            (Some(line), _) => Err(ParseError::on_line(
                line,
                "a `[` at the start of the file",
                "only `]`",
            )),
        }
    }
}

impl Aion {
    fn transaction(&mut self, read: &Transaction, translation: &Translation) -> Result<u32, ParseError> {
        let id = translation.of(read.id);
        if let Some(earlier) = self.builder.find(id) {
            return Err(self.repeated(id, earlier, read.line));
        }
        let session = match read.session {
            Some(name) => self.builder.session(translation.of(name)),
            None => self.builder.nameless_session(),
        };
        let number = self
            .builder
            .transaction(id, session, read.status, read.line)
            .expect("the id is new");
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
        let found = format!(
            "{name}, the transaction of line {}",
            self.builder.line_of(earlier)
        );
        ParseError::on_line(u64::from(line), "a `tid` of its own for each transaction", &found)
            .hint("does the input hold the same history twice?")
    }
}

impl Batch {
    /// Takes the next record, comma or bracket; `false` if there is none.
    fn next(&mut self, cursor: &mut Cursor) -> Result<bool, Fault> {
        let Some(byte) = cursor.peek() else {
            return Ok(false);
        };
        let is_first = self.first.is_none();
        self.first.get_or_insert(cursor.line());
        match byte {
            _ if self.closed.is_some() => {
                return Err(Fault::at(cursor.at(), "nothing after the closing `]`"));
            }
            b'{' => self.transaction(cursor)?,
            b',' => cursor.expect(b',', "`,`")?,
            b']' => {
                self.closed = Some(cursor.line());
                cursor.expect(b']', "`]`")?;
            }
            b'[' if is_first => {
                self.opened = Some(cursor.line());
                cursor.begin_array()?;
            }
            _ => return Err(Fault::at(cursor.at(), EXAMPLE)),
        }
        Ok(true)
    }

    fn transaction(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
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
            id: draft
                .id
                .ok_or_else(|| Fault::at(at, "a transaction with a `tid`"))?,
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

    fn field(&mut self, name: &[u8], draft: &mut Draft, cursor: &mut Cursor) -> Result<(), Fault> {
        let at = cursor.start();
        match name {
            b"ops" if draft.has_operations => Err(repeated_field(at)),
            b"ops" => {
                draft.has_operations = true;
                self.operations(cursor)
            }
            b"tid" => set(&mut draft.id, Some(self.name(cursor, at)?), at),
            b"sid" if cursor.null()? => Ok(()),
            b"sid" => set(&mut draft.session, Some(self.name(cursor, at)?), at),
            b"sts" => set(&mut draft.start, timestamp(cursor)?, at),
            b"cts" => set(&mut draft.commit, timestamp(cursor)?, at),
            b"sno" if cursor.null()? => Ok(()),
            b"sno" => set(&mut draft.sequence, Some(sequence(cursor, at)?), at),
            b"status" => set(&mut draft.status, Some(status(cursor, at)?), at),
            _ => cursor.skip_value(),
        }
    }

    /// The id of a transaction or session, which stands at `at`.
    fn name(&mut self, cursor: &mut Cursor, at: usize) -> Result<Value, Fault> {
        const NAME: &str = "an integer or a string as the id";
        if cursor.peek_for(NAME)? == b'"' {
            return json::scalar(cursor, &mut self.values);
        }
        match cursor.number() {
            Ok(json::Number::Integer(number)) => Ok(self.values.integer(number)),
            Ok(json::Number::Long(digits)) => Ok(self.values.decimal(digits)),
            Err(cut_off @ Fault::CutOff(_)) => Err(cut_off),
            _ => Err(Fault::at(at, NAME)),
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
                b"t" => set(&mut kind, Some(operation_kind(cursor, field_at)?), field_at)?,
                b"k" => set(&mut key, Some(json::scalar(cursor, &mut self.values)?), field_at)?,
                b"v" => {
                    set(&mut value, Some(self.value(cursor)?), field_at)?;
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
        Ok(Operation {
            kind,
            key,
            value,
            line,
        })
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

/// What is known of a transaction while its fields come in.
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

/// Fills a field whose value stands at `at`.
fn set<T>(slot: &mut Option<T>, value: Option<T>, at: usize) -> Result<(), Fault> {
    if slot.is_some() {
        return Err(repeated_field(at));
    }
    *slot = value;
    Ok(())
}

fn repeated_field(at: usize) -> Fault {
    Fault::at(at, "each field only once")
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
        _ => Err(Fault::at(
            at,
            "`committed`, `aborted` or `indeterminate` as the status",
        )),
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
            b"p" => set(&mut physical, Some(reading(cursor)?), field_at)?,
            b"l" => set(&mut logical, Some(reading(cursor)?), field_at)?,
            _ => cursor.skip_value()?,
        }
    }
    let physical = physical.ok_or_else(|| Fault::at(at, "a timestamp with its physical part `p`"))?;
    Ok(Some(Timestamp::new(physical, logical.unwrap_or(0))))
}

fn reading(cursor: &mut Cursor) -> Result<i64, Fault> {
    let is_string = cursor.peek_for(READING)? == b'"';
    let at = cursor.start();
    let number = if is_string {
        cursor.string()?.parse().ok()
    } else {
        Some(cursor.integer(READING)?)
    };
    // The least integer stands for a missing reading in the columns.
    number
        .filter(|&number| number != i64::MIN)
        .ok_or_else(|| Fault::at(at, READING))
}

#[cfg(test)]
mod tests;
