//! JSON as a [`Cursor`] over bytes: the caller pulls what it expects and skips the rest.
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

mod write;

pub use write::{write_string, write_value};

use crate::error::ParseError;
use crate::value::{AtomKind, Value, Values};
use std::borrow::Cow;

/// Deepest nesting that is skipped: more is no data but an attack.
pub const DEEPEST: usize = 10_000;

const VALUE: &str = "a JSON value";
const STRING_END: &str = "a closing `\"`";

/// Why a cursor stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The text ended where this was expected; more text could mend it.
    CutOff(&'static str),
    /// No text that follows could make this JSON, or what the caller expects.
    Malformed(Box<Malformed>),
}

/// Where and why a text is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// Byte of the text.
    pub at: usize,
    /// What should stand there.
    pub expected: Cow<'static, str>,
    /// What the user can do about it; may be empty.
    pub hint: &'static str,
}

impl Fault {
    /// `expected` does not stand at byte `at`.
    #[must_use]
    #[cold]
    pub fn at(at: usize, expected: impl Into<Cow<'static, str>>) -> Self {
        Self::Malformed(Box::new(Malformed {
            at,
            expected: expected.into(),
            hint: "",
        }))
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

/// A number as exact as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number<'text> {
    /// An integer of at most 64 bits.
    Integer(i64),
    /// A longer integer, in decimal.
    Long(&'text str),
    /// A number with a fraction or an exponent; finite.
    Float(f64),
}

/// How far the walk through one object or array has come.
#[derive(Debug, Clone, Copy)]
pub struct Members {
    first: bool,
}

/// A place in a JSON text. Every method skips whitespace before what it takes.
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
        Self {
            text,
            at: 0,
            first_line,
            line: first_line,
        }
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

    /// A string; borrowed unless it holds escapes.
    ///
    /// # Errors
    /// If there is no string here, or one that is not text.
    pub fn string(&mut self) -> Result<Cow<'text, str>, Fault> {
        let start = self.at;
        // `string_bytes` has seen that this is UTF-8, so the errors cannot happen.
        match self.string_bytes()? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).ok(),
        }
        .ok_or_else(|| Fault::at(start, "text in UTF-8"))
    }

    /// The bytes of a string, which are UTF-8; cheaper than [`Cursor::string`] if they are only compared.
    ///
    /// # Errors
    /// If there is no string here, or one that is not text.
    #[inline(always)]
    pub fn string_bytes(&mut self) -> Result<Cow<'text, [u8]>, Fault> {
        self.expect(b'"', "a string in quotes")?;
        let start = self.at;
        let mut seen = 0u8;
        while let Some(&byte) = self.text.get(self.at) {
            if byte == b'"' {
                let bytes = &self.text[start..self.at];
                if !seen.is_ascii() {
                    check_utf8(bytes, start)?;
                }
                self.at += 1;
                return Ok(Cow::Borrowed(bytes));
            }
            if byte == b'\\' || byte < b' ' {
                return self.string_with_escapes(start).map(Cow::Owned);
            }
            seen |= byte;
            self.at += 1;
        }
        Err(Fault::CutOff(STRING_END))
    }

    /// The string that starts at `start`; everything before the cursor is plain.
    #[cold]
    fn string_with_escapes(&mut self, start: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = self.text[start..self.at].to_vec();
        loop {
            match self.take(STRING_END)? {
                b'"' => break,
                b'\\' => self.escape(&mut bytes)?,
                byte if byte < b' ' => {
                    return Err(Fault::at(self.at - 1, "a closing `\"` on the same line")
                        .hint("control characters inside a string are written as escapes such as `\\n`"));
                }
                byte => bytes.push(byte),
            }
        }
        // Escapes are ASCII and make text, so the string is text if its source is.
        check_utf8(&self.text[start..self.at], start)?;
        Ok(bytes)
    }

    /// The character of the escape behind a backslash.
    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Fault> {
        let at = self.at - 1;
        bytes.push(match self.take("an escape")? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let character = self.unicode_escape(at)?;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(Fault::at(at, "an escape such as `\\n`, `\\\"` or `\\u0041`")),
        });
        Ok(())
    }

    /// The character of `\uXXXX`, or of two such escapes that are halves of one.
    fn unicode_escape(&mut self, at: usize) -> Result<char, Fault> {
        let mut code = self.four_digits()?;
        if (0xd800..0xdc00).contains(&code) {
            let lone = || Fault::at(at, "two `\\u` escapes that are halves of one character");
            if self.take("the second half of a character")? != b'\\'
                || self.take("the second half of a character")? != b'u'
            {
                return Err(lone());
            }
            let low = self.four_digits()?;
            if !(0xdc00..0xe000).contains(&low) {
                return Err(lone());
            }
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        char::from_u32(code)
            .ok_or_else(|| Fault::at(at, "a `\\u` escape that is a character, not half of one"))
    }

    fn four_digits(&mut self) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let at = self.at;
            let digit = char::from(self.take("a hexadecimal digit")?).to_digit(16);
            code = code << 4 | digit.ok_or_else(|| Fault::at(at, "four hexadecimal digits after `\\u`"))?;
        }
        Ok(code)
    }

    /// Takes one byte, whatever it is.
    fn take(&mut self, expected: &'static str) -> Result<u8, Fault> {
        let byte = *self.text.get(self.at).ok_or(Fault::CutOff(expected))?;
        self.at += 1;
        Ok(byte)
    }

    /// A number. One that ends where the text ends is taken as whole.
    ///
    /// # Errors
    /// If there is no number here, or one beyond the range of a double.
    #[inline(always)]
    pub fn number(&mut self) -> Result<Number<'text>, Fault> {
        self.peek_for("a number")?;
        let start = self.at;
        let negative = self.text[start] == b'-';
        let first = start + usize::from(negative);
        let (mut end, mut magnitude) = (first, 0);
        while let Some(digit) = self.digit_at(end) {
            // Eighteen digits cannot overflow; longer ones are rare and take the careful way.
            if end - first == 18 {
                return self.careful_number(start);
            }
            magnitude = magnitude * 10 + i64::from(digit);
            end += 1;
        }
        let leading_zero = self.text.get(first) == Some(&b'0') && end > first + 1;
        if end == first || leading_zero || matches!(self.text.get(end), Some(b'.' | b'e' | b'E')) {
            return self.careful_number(start);
        }
        self.at = end;
        Ok(Number::Integer(if negative { -magnitude } else { magnitude }))
    }

    /// Any number, by the letter of the grammar.
    #[cold]
    fn careful_number(&mut self, start: usize) -> Result<Number<'text>, Fault> {
        self.at = start + usize::from(self.text[start] == b'-');
        let first = self.at;
        self.digits("a number")?;
        if self.text[first] == b'0' && self.at > first + 1 {
            return Err(Fault::at(first, "a number without leading zeros"));
        }
        let whole = self.at;
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits("digits after the decimal point")?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.text.get(self.at), Some(b'+' | b'-')));
            self.digits("digits in the exponent")?;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        if self.at == whole {
            return Ok(text.parse().map_or(Number::Long(text), Number::Integer));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Number::Float(number)),
            _ => Err(Fault::at(start, "a number within the range of a double")),
        }
    }

    /// Takes one digit and all that follow it.
    fn digits(&mut self, expected: &'static str) -> Result<(), Fault> {
        let start = self.at;
        while self.digit_at(self.at).is_some() {
            self.at += 1;
        }
        match self.text.get(start) {
            _ if self.at > start => Ok(()),
            Some(_) => Err(Fault::at(start, expected)),
            None => Err(Fault::CutOff(expected)),
        }
    }

    #[inline]
    fn digit_at(&self, at: usize) -> Option<u8> {
        self.text
            .get(at)
            .map(|byte| byte.wrapping_sub(b'0'))
            .filter(|&digit| digit < 10)
    }

    /// An integer of at most 64 bits.
    ///
    /// # Errors
    /// If anything else stands here.
    #[inline]
    pub fn integer(&mut self, expected: &'static str) -> Result<i64, Fault> {
        let byte = self.peek_for(expected)?;
        let start = self.at;
        if byte == b'-' || byte.is_ascii_digit() {
            if let Number::Integer(number) = self.number()? {
                return Ok(number);
            }
        }
        Err(Fault::at(start, expected))
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
                        return Err(Fault::at(
                            self.at,
                            format!("a value nested at most {DEEPEST} deep"),
                        ));
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

    /// Leaves what ends here; whether another value follows inside what is still open.
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

fn check_utf8(bytes: &[u8], start: usize) -> Result<(), Fault> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(Fault::at(start + error.valid_up_to(), "text in UTF-8")),
    }
}

/// Any value but an object or array: a string, a number (exact whatever its size), a boolean or null.
///
/// # Errors
/// If something else stands here.
#[inline(always)]
pub fn scalar(cursor: &mut Cursor, values: &mut Values) -> Result<Value, Fault> {
    if cursor.peek_for(VALUE)?.is_ascii_digit() {
        return number_value(cursor, values);
    }
    other_scalar(cursor, values)
}

#[inline(always)]
fn number_value(cursor: &mut Cursor, values: &mut Values) -> Result<Value, Fault> {
    Ok(match cursor.number()? {
        Number::Integer(number) => Value::small(number).unwrap_or_else(|| values.integer(number)),
        Number::Long(digits) => values.decimal(digits),
        Number::Float(number) => values.float(number),
    })
}

fn other_scalar(cursor: &mut Cursor, values: &mut Values) -> Result<Value, Fault> {
    match cursor.peek_for(VALUE)? {
        b'"' => Ok(values.intern(AtomKind::Text, &cursor.string()?)),
        b'-' => number_value(cursor, values),
        b't' | b'f' => Ok(values.boolean(cursor.boolean()?)),
        b'{' | b'[' => Err(Fault::at(cursor.at, "a string, a number, a boolean or null")),
        _ => cursor.literal("null").map(|()| Value::NIL),
    }
}

#[cfg(test)]
mod tests;
