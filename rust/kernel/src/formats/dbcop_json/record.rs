//! One transaction, bracket or field at a time, from JSON into plain columns.

use crate::formats::Rewind;
use crate::formats::json::{Cursor, Fault, JsonBatch, Number, set_once};
use crate::formats::without_ids::{Operation, natural_value};
use crate::history::{Kind, Status};
use crate::value::{Value, Values};

const EXAMPLE: &str = "a session, or a transaction such as `{\"events\":[...],\"committed\":true}`";
const EVENT: &str = "an event such as `{\"Write\":{\"variable\":0,\"version\":1}}` or `[\"w\",0,1]`";
const KIND: &str = "`Read` or `Write` as the kind of event";
const TAG: &str = "`\"r\"` or `\"w\"` as the kind of event";
const VARIABLE: &str = "a variable: an integer from 0 to 2^64 - 1";
const VERSION: &str = "a version: an integer from 0 to 2^64 - 1";
const WRITTEN: &str = "the version that was written: an integer from 0 to 2^64 - 1";

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// Its operations end here; they start where those of the one before end.
    Transaction {
        status: Status,
        end: usize,
    },
    OpenArray,
    CloseArray,
    OpenObject,
    CloseObject,
    /// The name `data` of the outer object, without its value.
    Data,
    /// Another field of the outer object, with its value.
    Field,
}

impl Token {
    /// Its name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Transaction { .. } => "a transaction",
            Self::OpenArray => "`[`",
            Self::CloseArray => "`]`",
            Self::OpenObject => "`{`",
            Self::CloseObject => "`}`",
            Self::Data => "the field `data`",
            Self::Field => "a field",
        }
    }
}

/// A record and its line.
pub(super) struct Mark {
    pub(super) token: Token,
    pub(super) line: u64,
}

/// Records of a part of a block.
#[derive(Default)]
pub struct Batch {
    pub(super) marks: Vec<Mark>,
    pub(super) operations: Vec<Operation>,
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

impl JsonBatch for Batch {
    fn next_json(&mut self, cursor: &mut Cursor, last: bool) -> Result<bool, Fault> {
        let Some(byte) = cursor.peek() else {
            return Ok(false);
        };
        let line = cursor.line();
        let token = match byte {
            b',' => {
                cursor.expect(b',', "`,`")?;
                return Ok(true);
            }
            b'{' if is_outer(*cursor)? => bracket(cursor, b'{', Token::OpenObject)?,
            b'{' => self.transaction(cursor)?,
            b'}' => bracket(cursor, b'}', Token::CloseObject)?,
            b'[' => bracket(cursor, b'[', Token::OpenArray)?,
            b']' => bracket(cursor, b']', Token::CloseArray)?,
            b'"' => outer_field(cursor, last)?,
            _ => {
                let fault = Fault::at(cursor.at(), EXAMPLE);
                return Err(fault.hint("is this another format? Name it with --format"));
            }
        };
        self.marks.push(Mark { token, line });
        Ok(true)
    }

    /// The start of a transaction.
    fn record_start(text: &[u8], near: usize) -> Option<usize> {
        memchr::memmem::find(&text[near..], b"{\"events\"").map(|found| near + found)
    }
}

impl Batch {
    fn transaction(&mut self, cursor: &mut Cursor) -> Result<Token, Fault> {
        let at = cursor.at();
        let (mut has_events, mut committed) = (false, None);
        let mut fields = cursor.begin_object()?;
        while let Some(name) = cursor.next_field(&mut fields)? {
            let field_at = cursor.start();
            match &*name {
                b"events" if has_events => return Err(Fault::at(field_at, "each field only once")),
                b"events" => {
                    has_events = true;
                    self.events(cursor)?;
                }
                b"committed" => set_once(&mut committed, Some(cursor.boolean()?), field_at)?,
                _ => cursor.skip_value()?,
            }
        }
        if !has_events {
            return Err(Fault::at(at, "a transaction with `events`"));
        }
        let committed = committed.ok_or_else(|| Fault::at(at, "a transaction with `committed`"))?;
        let status = if committed { Status::Committed } else { Status::Aborted };
        Ok(Token::Transaction { status, end: self.operations.len() })
    }

    fn events(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        let mut events = cursor.begin_array()?;
        while cursor.next_element(&mut events)? {
            let operation = match cursor.peek_for(EVENT)? {
                b'{' => self.tagged_event(cursor)?,
                b'[' => self.short_event(cursor)?,
                _ => return Err(Fault::at(cursor.at(), EVENT)),
            };
            self.operations.push(operation);
        }
        Ok(())
    }

    /// `{"Write":{"variable":0,"version":1}}`.
    fn tagged_event(&mut self, cursor: &mut Cursor) -> Result<Operation, Fault> {
        let at = cursor.at();
        let mut fields = cursor.begin_object()?;
        let kind = match cursor.next_field(&mut fields)?.as_deref() {
            Some(b"Read") => Kind::Read,
            Some(b"Write") => Kind::Write,
            _ => return Err(Fault::at(at, KIND)),
        };
        let operation = self.event_body(cursor, kind)?;
        let more = cursor.start();
        match cursor.next_field(&mut fields)? {
            None => Ok(operation),
            Some(_) => Err(Fault::at(more, "one `Read` or `Write` in each event")),
        }
    }

    fn event_body(&mut self, cursor: &mut Cursor, kind: Kind) -> Result<Operation, Fault> {
        let (at, line) = (cursor.start(), cursor.line() as u32);
        let (mut key, mut value) = (None, None);
        let mut fields = cursor.begin_object()?;
        while let Some(name) = cursor.next_field(&mut fields)? {
            let field_at = cursor.start();
            match &*name {
                b"variable" => {
                    let variable = natural(cursor, VARIABLE, &mut self.values)?;
                    set_once(&mut key, Some(variable), field_at)?;
                }
                b"version" => set_once(&mut value, Some(self.version(cursor, kind)?), field_at)?,
                _ => cursor.skip_value()?,
            }
        }
        let key = key.ok_or_else(|| Fault::at(at, "an event with a `variable`"))?;
        let value = match (value, kind) {
            (Some(value), _) => value,
            (None, Kind::Read) => Value::NIL,
            (None, _) => return Err(Fault::at(at, "a write with a `version`")),
        };
        Ok(Operation { kind, key, value, line })
    }

    /// `["w",0,1]`.
    fn short_event(&mut self, cursor: &mut Cursor) -> Result<Operation, Fault> {
        const SHORT: &str = "an event of three parts such as `[\"w\",0,1]`";
        let line = cursor.line() as u32;
        let mut parts = cursor.begin_array()?;
        let mut part = |cursor: &mut Cursor, wanted: bool| {
            let at = cursor.start();
            let found = cursor.next_element(&mut parts)?;
            if found == wanted { Ok(cursor.start()) } else { Err(Fault::at(at, SHORT)) }
        };
        let at = part(cursor, true)?;
        let kind = match &*cursor.string_bytes()? {
            b"r" => Kind::Read,
            b"w" => Kind::Write,
            _ => return Err(Fault::at(at, TAG)),
        };
        part(cursor, true)?;
        let key = natural(cursor, VARIABLE, &mut self.values)?;
        part(cursor, true)?;
        let value = self.version(cursor, kind)?;
        part(cursor, false)?;
        Ok(Operation { kind, key, value, line })
    }

    /// A version; of a read also null.
    fn version(&mut self, cursor: &mut Cursor, kind: Kind) -> Result<Value, Fault> {
        if kind == Kind::Write {
            return natural(cursor, WRITTEN, &mut self.values);
        }
        if cursor.null()? {
            return Ok(Value::NIL);
        }
        natural(cursor, VERSION, &mut self.values)
    }
}

fn bracket(cursor: &mut Cursor, byte: u8, token: Token) -> Result<Token, Fault> {
    cursor.expect(byte, "a bracket").map(|()| token)
}

/// Whether the object at `cursor` is the one around the whole history: its first known field says so.
fn is_outer(mut cursor: Cursor) -> Result<bool, Fault> {
    let mut fields = cursor.begin_object()?;
    while let Some(name) = cursor.next_field(&mut fields)? {
        match &*name {
            b"events" | b"committed" => return Ok(false),
            b"data" | b"params" | b"info" | b"start" | b"end" => return Ok(true),
            _ => cursor.skip_value()?,
        }
    }
    Ok(false)
}

/// A field of the outer object: `data` without its value, any other with it.
fn outer_field(cursor: &mut Cursor, last: bool) -> Result<Token, Fault> {
    let name = cursor.string_bytes()?;
    cursor.expect(b':', "`:` after the name of a field")?;
    if &*name == b"data" {
        return Ok(Token::Data);
    }
    cursor.skip_value()?;
    // The rest of a number may stand in the next block.
    if !last {
        cursor.peek_for("`,` or `}` after a field")?;
    }
    Ok(Token::Field)
}

fn natural(cursor: &mut Cursor, expected: &'static str, values: &mut Values) -> Result<Value, Fault> {
    let byte = cursor.peek_for(expected)?;
    let at = cursor.at();
    if !byte.is_ascii_digit() {
        return Err(Fault::at(at, expected));
    }
    match cursor.number()? {
        Number::Integer(number) => Ok(values.integer(number)),
        Number::Long(digits) => match digits.parse() {
            Ok(number) => Ok(natural_value(number, values)),
            Err(_) => Err(Fault::at(at, expected)),
        },
        Number::Float(_) => Err(Fault::at(at, expected)),
    }
}
