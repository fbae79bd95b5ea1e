//! Plume and PolySI text: one operation a line, `r(key,value,session,transaction)` or `w(...)`.
//!
//! A transaction's operations may interleave with others' and stay in file order; sessions are ordered
//! by first appearance. Transaction `-1` marks an aborted write: each such line is a transaction of its
//! own, because the format cannot say which of them belong together.

mod write;

pub use write::WRITER;

use super::{LineBatch, Records};
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::{History, Kind, Status};
use crate::value::{AtomKind, Value, Values};

const EXAMPLE: &str = "an operation such as `w(key,value,session,transaction)`";
const ABORTED: i64 = -1;
const CUT_SHORT: &str = "the line is cut short: is the file whole?";
const TOO_LONG: &str = "this format holds no longer integers: other formats do, such as `aion` and `jepsen`";
const INTEGERS_ONLY: &str = "this format holds integers only: other keys and values need another format";

/// The history so far.
pub struct Plume {
    builder: Builder,
    /// The transaction of the line before: most lines belong to the same one.
    latest: Option<(i64, Value, u32)>,
    aborted: u64,
    aborted_reads: u64,
}

struct Operation {
    kind: Kind,
    key: Value,
    value: Value,
    session: Value,
    transaction: i64,
    line: u32,
}

/// Operations of a part of a block.
#[derive(Default)]
pub struct Batch {
    operations: Vec<Operation>,
    values: Values,
}

impl Default for Plume {
    fn default() -> Self {
        let mut builder = Builder::new();
        builder.initial.default = Value::small(0).expect("zero is small");
        builder.initial.replaceable = true;
        Self { builder, latest: None, aborted: 0, aborted_reads: 0 }
    }
}

impl LineBatch for Batch {
    fn line(&mut self, line: &[u8], number: u64) -> Result<(), ParseError> {
        self.operations.extend(parse_line(line, number, &mut self.values)?);
        Ok(())
    }

    #[inline]
    fn usual_line(&mut self, text: &[u8], number: u64) -> Option<usize> {
        let (operation, length) = usual_line(text, number)?;
        self.operations.push(operation);
        Some(length)
    }
}

impl Records for Plume {
    type Batch = Batch;

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        let translation = self.builder.values.absorb(&batch.values);
        for operation in batch.operations.drain(..) {
            let session = translation.of(operation.session);
            let value = translation.of(operation.value);
            if operation.transaction == ABORTED {
                self.aborted_write(&operation, translation.of(operation.key), value, session);
                continue;
            }
            let transaction = self.transaction(operation.transaction, session, operation.line)?;
            let key = self.builder.key(translation.of(operation.key));
            self.builder.operation(transaction, operation.kind, key, value, operation.line);
        }
        batch.values.clear();
        Ok(())
    }

    fn into_history(mut self) -> Result<History, ParseError> {
        self.builder.note("reads by aborted transactions dropped", self.aborted_reads);
        self.builder.finish()
    }
}

impl Plume {
    fn transaction(&mut self, id: i64, session: Value, line: u32) -> Result<u32, ParseError> {
        if let Some((latest, in_session, number)) = self.latest
            && latest == id
            && in_session == session
        {
            return Ok(number);
        }
        let name = self.builder.values.integer(id);
        let number = if let Some(known) = self.builder.find(name) {
            known
        } else {
            let session = self.builder.session(session);
            self.builder.transaction(name, session, Status::Committed, line).expect("the id is new")
        };
        let owner = self.builder.session_id(self.builder.session_of(number));
        if owner != session {
            return Err(self.in_two_sessions(id, number, owner, session, line));
        }
        self.latest = Some((id, session, number));
        Ok(number)
    }

    fn in_two_sessions(&self, id: i64, number: u32, owner: Value, session: Value, line: u32) -> ParseError {
        let show = |value: Value| match value.as_small() {
            Some(small) => small.to_string(),
            None => self.builder.values.atom(value.atom_index().unwrap_or(0)).1.to_owned(),
        };
        let expected = format!(
            "transaction {id} in session {}, where line {} put it",
            show(owner),
            self.builder.line_of(number)
        );
        ParseError::on_line(u64::from(line), &expected, &format!("session {}", show(session)))
            .hint("transaction ids are global in this format: renumber one of the two transactions")
    }

    fn aborted_write(&mut self, operation: &Operation, key: Value, value: Value, session: Value) {
        if operation.kind == Kind::Read {
            self.aborted_reads += 1;
            return;
        }
        self.aborted += 1;
        let id = self.builder.values.intern(AtomKind::Text, &aborted_name(self.aborted));
        let session = self.builder.session(session);
        let transaction = self.builder.transaction(id, session, Status::Aborted, operation.line);
        let key = self.builder.key(key);
        self.builder.operation(transaction.expect("a new name"), operation.kind, key, value, operation.line);
    }
}

/// The operation on the first line of `text` and the line's length, if the line looks as nearly all do:
/// numbers of at most 18 digits, no sign, no space, a plain line end.
#[inline]
fn usual_line(text: &[u8], line: u64) -> Option<(Operation, usize)> {
    let kind = match text.first()? {
        b'r' => Kind::Read,
        b'w' => Kind::Write,
        _ => return None,
    };
    if *text.get(1)? != b'(' {
        return None;
    }
    let mut at = 2;
    let key = usual_number(text, &mut at, b',')?;
    let value = usual_number(text, &mut at, b',')?;
    let session = usual_number(text, &mut at, b',')?;
    let transaction = usual_number(text, &mut at, b')')?;
    if *text.get(at)? != b'\n' {
        return None;
    }
    let operation = Operation {
        kind,
        key: Value::small(key)?,
        value: Value::small(value)?,
        session: Value::small(session)?,
        transaction,
        line: line as u32,
    };
    Some((operation, at + 1))
}

/// Up to 18 digits and the separator behind them.
#[inline]
fn usual_number(text: &[u8], at: &mut usize, separator: u8) -> Option<i64> {
    let rest = &text[*at..];
    if let Some((number, length)) = rest.first_chunk().and_then(|bytes| short_number(*bytes)) {
        *at += length + 1;
        return (rest[length] == separator).then_some(number);
    }
    let mut number: i64 = 0;
    for (length, &byte) in rest.iter().enumerate().take(19) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            *at += length + 1;
            return (byte == separator && length > 0).then_some(number);
        }
        // A nineteenth digit may overflow, and then nothing is made of the number.
        number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
    }
    None
}

/// The number of one to seven digits that the bytes start with, and how many digits it has: all bytes are looked at
/// together, because a loop that ends early costs a wrong guess of the processor.
#[inline]
fn short_number(bytes: [u8; 8]) -> Option<(i64, usize)> {
    const ONES: u64 = u64::MAX / 0xff;
    let digits = u64::from_le_bytes(bytes) ^ (ONES * u64::from(b'0'));
    // The highest bit of each byte that is no digit.
    let others = (((digits & (ONES * 0x7f)) + ONES * 0x76) | digits) & (ONES * 0x80);
    let length = others.trailing_zeros() as usize / 8;
    if length == 0 || length == 8 {
        return None;
    }
    // The last digit becomes the last byte; the bytes before the first one are zeros. Neighbours are then added up.
    let digits = digits << (64 - 8 * length);
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let number = (fours * 10_000 + (fours >> 32)) & 0xffff_ffff;
    Some((number as i64, length))
}

/// The operation on a line; `None` if the line is blank.
fn parse_line(bytes: &[u8], line: u64, values: &mut Values) -> Result<Option<Operation>, ParseError> {
    let fail = |at: usize, expected: &str| {
        let error = ParseError::at(bytes, at, line, expected);
        match bytes.get(at) {
            None | Some(b'\r') => error.found("the end of the line").hint(CUT_SHORT),
            Some(b' ' | b'\t') => error.hint("there are no spaces inside an operation"),
            Some(_) => error,
        }
    };
    let mut at = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let kind = match bytes.get(at) {
        Some(b'r') => Kind::Read,
        Some(b'w') => Kind::Write,
        None => return Ok(None),
        _ => return Err(fail(at, EXAMPLE).hint("is this another format? Name it with --format")),
    };
    if bytes.get(at + 1) != Some(&b'(') {
        return Err(fail(at + 1, "`(` after the kind of operation"));
    }
    at += 2;
    let mut fields = [Value::NIL; 4];
    let mut last = at;
    for (field, what) in fields.iter_mut().zip(["key", "value", "session", "transaction"]) {
        last = at;
        *field = integer(bytes, &mut at, values).ok_or_else(|| {
            let error = fail(at, &format!("an integer of at most 64 bits as the {what}"));
            let is_long =
                bytes.get(at + usize::from(bytes.get(at) == Some(&b'-'))).is_some_and(u8::is_ascii_digit);
            let hint = if is_long { TOO_LONG } else { INTEGERS_ONLY };
            if error.hint.is_empty() { error.hint(hint) } else { error }
        })?;
        let separator = if what == "transaction" { b')' } else { b',' };
        if bytes.get(at) != Some(&separator) {
            return Err(fail(at, &format!("`{}` after the {what}", separator as char)));
        }
        at += 1;
    }
    if !bytes[at..].trim_ascii().is_empty() {
        return Err(fail(at, "the end of the line after `)`").hint("each operation has a line of its own"));
    }
    let [key, value, session, transaction] = fields;
    let transaction = transaction
        .as_small()
        .filter(|&id| id >= ABORTED)
        .ok_or_else(|| fail(last, "a transaction id from -1 (an aborted write) to 2^62 - 1"))?;
    Ok(Some(Operation { kind, key, value, session, transaction, line: line as u32 }))
}

/// The integer at `at`, which moves behind it; `None` if there is none or it needs more than 64 bits.
fn integer(bytes: &[u8], at: &mut usize, values: &mut Values) -> Option<Value> {
    let negative = bytes.get(*at) == Some(&b'-');
    let first = *at + usize::from(negative);
    let mut end = first;
    let mut magnitude: u64 = 0;
    while let Some(digit) = bytes.get(end).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        if end - first >= 18 {
            magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(digit))?;
        } else {
            magnitude = magnitude * 10 + u64::from(digit);
        }
        end += 1;
    }
    if end == first {
        return None;
    }
    *at = end;
    match (i64::try_from(magnitude), negative) {
        (Ok(number), false) => Some(values.integer(number)),
        (Ok(number), true) => Some(values.integer(-number)),
        (Err(_), false) => Some(values.decimal(&magnitude.to_string())),
        (Err(_), true) => (magnitude == 1 << 63).then(|| values.integer(i64::MIN)),
    }
}

/// The name of the aborted transaction at this place among the aborted ones.
fn aborted_name(place: u64) -> String {
    format!("aborted-{place}")
}

#[cfg(test)]
mod tests;
