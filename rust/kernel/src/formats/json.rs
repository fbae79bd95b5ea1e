//! JSON as a [`Cursor`] over bytes: the caller pulls the values that it expects and skips the rest.
//!
//! ```
//! use isoscope_kernel::formats::json::{Cursor, Fault};
//!
//! fn total(text: &[u8]) -> Result<i64, Fault> {
//!     let mut cursor = Cursor::new(text, 1);
//!     let mut total = 0;
//!     let mut fields = cursor.begin_object()?;
//!     while let Some(name) = cursor.next_field(&mut fields)? {
//!         match &*name {
//!             b"prices" => {
//!                 let mut prices = cursor.begin_array()?;
//!                 while cursor.next_element(&mut prices)? {
//!                     total += cursor.integer("a price")?;
//!                 }
//!             }
//!             _ => cursor.skip_value()?,
//!         }
//!     }
//!     Ok(total)
//! }
//! assert_eq!(total(br#"{"shop": {"name": "x"}, "prices": [1, 2]}"#).unwrap(), 3);
//! assert!(matches!(total(br#"{"prices": [1, 2"#), Err(Fault::CutOff(_))));
//! ```
//!
//! The grammar is RFC 8259 to the letter (no comments, no `NaN`, no raw control characters in strings).
//! A prefix of correct JSON is never [`Fault::Malformed`], so a reader of blocks can tell a record that
//! has not come whole from one that is wrong. Nothing recurses and nothing panics, whatever the bytes.

#![expect(
    clippy::inline_always,
    reason = "called per byte or per field; as calls they pass their results through memory, which costs a quarter more time"
)]

mod enclosure;
mod number;
mod records;
mod scalar;
mod string;
mod write;

pub use enclosure::{Enclosure, Marks, Next};
pub use number::Number;
pub use records::{Json, JsonBatch, JsonObjects};
pub use scalar::{id, scalar, set_once};
pub use write::{Spelling, is_id, unwritable, write_string, write_value};

use crate::error::ParseError;
use std::borrow::Cow;

/// Deepest nesting that is skipped: more is no data but an attack.
pub const DEEPEST: usize = 10_000;

const VALUE: &str = "a JSON value";

/// Why a cursor stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The text ended where this was expected; more text could complete it.
    CutOff(&'static str),
    /// No text that follows could make this JSON, or the value that the caller expects.
    Malformed(Box<Malformed>),
}

/// Where and why a text is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// Byte of the text.
    pub at: usize,
    /// The expected value.
    pub expected: Cow<'static, str>,
    /// Advice for the user; may be empty.
    pub hint: &'static str,
}

impl Fault {
    /// `expected` does not stand at byte `at`.
    #[must_use]
    #[cold]
    pub fn at(at: usize, expected: impl Into<Cow<'static, str>>) -> Self {
        Self::Malformed(Box::new(Malformed { at, expected: expected.into(), hint: "" }))
    }

    /// The same fault with advice.
    #[must_use]
    pub fn hint(mut self, hint: &'static str) -> Self {
        if let Self::Malformed(malformed) = &mut self {
            malformed.hint = hint;
        }
        self
    }
}

/// How far the walk through one object or array has come.
#[derive(Debug, Clone, Copy)]
pub struct Members {
    first: bool,
}

/// A place in a JSON text. Every method skips whitespace before the value that it takes.
///
/// Copying a cursor is cheap: keep a copy to come back to a value that was skipped.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'text> {
    text: &'text [u8],
    at: usize,
    first_line: u64,
    line: u64,
}

impl<'text> Cursor<'text> {
    /// At the start of `text`, whose first byte is on `first_line` of the input.
    #[must_use]
    pub fn new(text: &'text [u8], first_line: u64) -> Self {
        Self { text, at: 0, first_line, line: first_line }
    }

    /// How many bytes are taken.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The line of the next byte.
    ///
    /// Exact without counting: a string may not hold a raw line end, so all of them are whitespace.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The error that `fault` is if no more text follows.
    #[must_use]
    #[cold]
    pub fn error(&self, fault: Fault) -> ParseError {
        match fault {
            Fault::CutOff(expected) => ParseError::at(self.text, self.text.len(), self.first_line, expected)
                .hint("the input is cut short inside a record"),
            Fault::Malformed(fault) => {
                ParseError::at(self.text, fault.at, self.first_line, &fault.expected).hint(fault.hint)
            }
        }
    }

    /// Where the next value starts, for a fault that is found once it is taken.
    #[inline(always)]
    pub fn start(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// The next byte that is not whitespace, not taken; `None` at the end of the text.
    #[inline(always)]
    pub fn peek(&mut self) -> Option<u8> {
        match self.text.get(self.at) {
            Some(&byte) if byte > b' ' => Some(byte),
            _ => self.peek_past_whitespace(),
        }
    }

    fn peek_past_whitespace(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => return Some(byte),
            }
            self.at += 1;
        }
    }

    /// The next byte that is not whitespace, not taken; the text is cut off if there is none.
    ///
    /// # Errors
    /// At the end of the text.
    #[inline(always)]
    pub fn peek_for(&mut self, expected: &'static str) -> Result<u8, Fault> {
        self.peek().ok_or(Fault::CutOff(expected))
    }

    /// Takes `byte`.
    ///
    /// # Errors
    /// If something else stands here.
    #[inline(always)]
    pub fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Fault> {
        if self.peek_for(expected)? != byte {
            return Err(Fault::at(self.at, expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Takes `{`; go on with [`Cursor::next_field`].
    ///
    /// # Errors
    /// If something else stands here.
    #[inline(always)]
    pub fn begin_object(&mut self) -> Result<Members, Fault> {
        self.expect(b'{', "an object in `{}`")?;
        Ok(Members { first: true })
    }

    /// The name of the next field, whose value must be taken next; `None` once `}` is taken.
    ///
    /// Names come as bytes, to be matched against `b"name"`; they are UTF-8.
    ///
    /// # Errors
    /// If neither a field nor `}` stands here.
    #[inline(always)]
    pub fn next_field(&mut self, object: &mut Members) -> Result<Option<Cow<'text, [u8]>>, Fault> {
        if !self.next_member(object, b'}', "`,` or `}` after a field")? {
            return Ok(None);
        }
        if self.peek_for("the name of a field")? != b'"' {
            return Err(Fault::at(self.at, "the name of a field in quotes"));
        }
        // Names of one letter are most of a large history.
        if let Some(&[_, letter, b'"', b':']) = self.text[self.at..].first_chunk()
            && letter.is_ascii_alphabetic()
        {
            self.at += 4;
            return Ok(Some(Cow::Borrowed(&self.text[self.at - 3..self.at - 2])));
        }
        let name = self.string_bytes()?;
        self.expect(b':', "`:` after the name of a field")?;
        Ok(Some(name))
    }

    /// Takes `[`; go on with [`Cursor::next_element`].
    ///
    /// # Errors
    /// If something else stands here.
    #[inline(always)]
    pub fn begin_array(&mut self) -> Result<Members, Fault> {
        self.expect(b'[', "an array in `[]`")?;
        Ok(Members { first: true })
    }

    /// Whether there is a next element, which must be taken next; `false` once `]` is taken.
    ///
    /// # Errors
    /// If neither an element nor `]` stands here.
    #[inline(always)]
    pub fn next_element(&mut self, array: &mut Members) -> Result<bool, Fault> {
        self.next_member(array, b']', "`,` or `]` after an element")
    }

    #[inline(always)]
    fn next_member(
        &mut self,
        members: &mut Members,
        close: u8,
        expected: &'static str,
    ) -> Result<bool, Fault> {
        let byte = self.peek_for(expected)?;
        if byte == close {
            self.at += 1;
            return Ok(false);
        }
        if members.first {
            members.first = false;
            return Ok(true);
        }
        if byte != b',' {
            return Err(Fault::at(self.at, expected));
        }
        self.at += 1;
        // `[1,]` must not pass for the end of the array.
        if self.peek_for(VALUE)? == close {
            return Err(Fault::at(self.at, "another member after `,`"));
        }
        Ok(true)
    }

    /// Whether `null` stands here; takes it.
    ///
    /// # Errors
    /// If something stands here that only starts like `null`.
    pub fn null(&mut self) -> Result<bool, Fault> {
        if self.peek_for(VALUE)? != b'n' {
            return Ok(false);
        }
        self.literal("null").map(|()| true)
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// If anything else stands here.
    pub fn boolean(&mut self) -> Result<bool, Fault> {
        match self.peek_for("`true` or `false`")? {
            b't' => self.literal("true").map(|()| true),
            b'f' => self.literal("false").map(|()| false),
            _ => Err(Fault::at(self.at, "`true` or `false`")),
        }
    }

    fn literal(&mut self, word: &'static str) -> Result<(), Fault> {
        let rest = &self.text[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        if word.as_bytes().starts_with(rest) {
            return Err(Fault::CutOff(VALUE));
        }
        Err(Fault::at(self.at, VALUE))
    }

    /// Takes any value, however deep, and forgets it.
    ///
    /// # Errors
    /// If the value is malformed or nested more than [`DEEPEST`] deep.
    pub fn skip_value(&mut self) -> Result<(), Fault> {
        let mut open: Vec<(u8, Members)> = Vec::new();
        loop {
            match self.peek_for(VALUE)? {
                byte @ (b'{' | b'[') => {
                    if open.len() == DEEPEST {
                        return Err(Fault::at(self.at, format!("a value nested at most {DEEPEST} deep")));
                    }
                    self.at += 1;
                    open.push((byte, Members { first: true }));
                }
                b'"' => _ = self.string_bytes()?,
                b'-' | b'0'..=b'9' => _ = self.number()?,
                b't' | b'f' => _ = self.boolean()?,
                _ => self.literal("null")?,
            }
            if !self.skip_to_value(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Takes any value, however deep; its text as it stands.
    ///
    /// # Errors
    /// If the value is malformed or nested more than [`DEEPEST`] deep.
    pub fn raw_value(&mut self) -> Result<&'text [u8], Fault> {
        let start = self.start();
        self.skip_value()?;
        Ok(&self.text[start..self.at])
    }

    /// Closes the brackets that end here; whether another value follows inside an open one.
    fn skip_to_value(&mut self, open: &mut Vec<(u8, Members)>) -> Result<bool, Fault> {
        while let Some((bracket, members)) = open.last_mut() {
            let more = match bracket {
                b'{' => self.next_field(members)?.is_some(),
                _ => self.next_element(members)?,
            };
            if more {
                return Ok(true);
            }
            open.pop();
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
