//! EDN: a pull-style cursor over text, without recursion and without allocation per token.
//!
//! The cursor tells text that is *cut off* (more may come) from text that is *malformed*, because a block
//! of a file may end anywhere. Integers, strings, nil, booleans and floats become their own values; any
//! other form (keywords, symbols, composite forms, tagged literals, ...) becomes a term: its canonical
//! text. Metadata is read over like a comment.

mod records;
mod scalar;
mod skip;
mod term;
mod write;

pub use records::Edn;
pub(crate) use records::EdnBatch;
pub use write::{write_scalar, write_value};

use crate::error::ParseError;
use crate::value::{AtomKind, Value, Values};

/// Deepest nesting of forms: no history comes near it, and sorting nested maps costs depth times size.
const DEEPEST: usize = 1_000;
/// Tag of a scalar whose text would otherwise be taken for a list, or for this tag.
const SCALAR_TAG: &str = "isoscope/scalar";

/// Why the cursor stopped.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The text ends inside a form; with more text it may be right.
    CutOff,
    /// No text that follows can make this right.
    Malformed(Box<Malformed>),
}

/// The expected form and its byte.
#[derive(Debug)]
pub(crate) struct Malformed {
    at: usize,
    expected: String,
    hint: String,
}

impl Fault {
    pub(crate) fn new(at: usize, expected: &str) -> Self {
        Self::Malformed(Box::new(Malformed { at, expected: expected.to_owned(), hint: String::new() }))
    }

    pub(crate) fn hint(mut self, hint: &str) -> Self {
        if let Self::Malformed(malformed) = &mut self {
            hint.clone_into(&mut malformed.hint);
        }
        self
    }

    /// The error in `text`, whose first byte stands on `first_line`; cut off means: nothing follows.
    pub(crate) fn into_error(self, text: &[u8], first_line: u64) -> ParseError {
        match self {
            Self::CutOff => {
                let end = text.trim_ascii_end().len();
                let expected = "a closing bracket or quote, or more of what begins before";
                ParseError::at(text, end, first_line, expected)
                    .found("the end of the input")
                    .hint("the text is cut short, or a closing bracket or quote is missing")
            }
            Self::Malformed(malformed) => {
                ParseError::at(text, malformed.at, first_line, &malformed.expected).hint(&malformed.hint)
            }
        }
    }
}

/// Whether a byte ends a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Constituent,
    Space,
    Terminator,
}

const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Constituent; 256];
    let mut at = 0;
    while at < b" \t\n\r\x0b\x0c,".len() {
        classes[b" \t\n\r\x0b\x0c,"[at] as usize] = Class::Space;
        at += 1;
    }
    at = 0;
    while at < b"()[]{}\";\\^".len() {
        classes[b"()[]{}\";\\^"[at] as usize] = Class::Terminator;
        at += 1;
    }
    classes
}

fn class(byte: u8) -> Class {
    CLASSES[byte as usize]
}

/// The bracket that closes `opener`.
pub(crate) fn closer_of(opener: u8) -> u8 {
    match opener {
        b'[' => b']',
        b'(' => b')',
        _ => b'}',
    }
}

/// A place in EDN text that moves from form to form.
pub(crate) struct Cursor<'text> {
    text: &'text str,
    bytes: &'text [u8],
    at: usize,
    last: bool,
    /// Closing brackets that the form being skipped still needs.
    brackets: Vec<u8>,
    /// Line of the byte `counted`.
    line: u64,
    counted: usize,
}

impl<'text> Cursor<'text> {
    /// At the start of `text`; with `last` nothing follows it.
    pub(crate) fn new(text: &'text str, last: bool) -> Self {
        Self::of_block(text, 1, last)
    }

    /// The same where the first byte of `text` is on `first_line` of the input.
    pub(crate) fn of_block(text: &'text str, first_line: u64, last: bool) -> Self {
        let (bytes, brackets) = (text.as_bytes(), Vec::new());
        Self { text, bytes, at: 0, last, brackets, line: first_line, counted: 0 }
    }

    /// The line of the byte `at`, which must not stand before the byte of the call before.
    pub(crate) fn line_at(&mut self, at: usize) -> u64 {
        self.line += memchr::memchr_iter(b'\n', &self.bytes[self.counted..at]).count() as u64;
        self.counted = at;
        self.line
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Back to a place where the cursor was before.
    pub(crate) fn rewind(&mut self, at: usize) {
        self.at = at;
    }

    /// One byte on, behind a bracket that was peeked at.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    #[inline]
    pub(crate) fn peek(&self) -> Result<u8, Fault> {
        self.bytes.get(self.at).copied().ok_or(Fault::CutOff)
    }

    fn slice(&self, from: usize, to: usize) -> &'text str {
        // Both ends are beside ASCII bytes, so the slice exists.
        self.text.get(from..to).unwrap_or_default()
    }

    /// Where the token that has begun before `from` ends.
    #[inline]
    fn token_end(&self, from: usize) -> Result<usize, Fault> {
        let rest = &self.bytes[from..];
        match rest.iter().position(|&byte| class(byte) != Class::Constituent) {
            Some(length) => Ok(from + length),
            None if self.last => Ok(self.bytes.len()),
            None => Err(Fault::CutOff),
        }
    }

    /// The bytes of a keyword without its colon, of a symbol, or of anything else that is one token.
    #[inline]
    pub(crate) fn word(&mut self) -> Result<&'text [u8], Fault> {
        let start = self.at + usize::from(self.peek()? == b':');
        self.at = self.token_end(start)?;
        Ok(&self.bytes[start..self.at])
    }

    /// Whether `literal` stands here; if so, moves behind it.
    #[inline]
    pub(crate) fn take(&mut self, literal: &[u8]) -> bool {
        let stands = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(literal));
        self.at += if stands { literal.len() } else { 0 };
        stands
    }

    /// A name given as a keyword, a symbol or a string; empty if the next form is none of them.
    pub(crate) fn name(&mut self) -> Result<&'text [u8], Fault> {
        self.skip_blank()?;
        if self.peek()? != b'"' {
            return self.word();
        }
        let start = self.at + 1;
        self.skip_string()?;
        Ok(&self.bytes[start..self.at - 1])
    }

    /// Goes over tags, such as `#jepsen.history.Op`.
    pub(crate) fn skip_tags(&mut self) -> Result<(), Fault> {
        while self.peek()? == b'#' && self.tag()?.is_some() {
            self.skip_blank()?;
        }
        Ok(())
    }

    /// The closing bracket of a vector or list, whose opening one is taken.
    pub(crate) fn open_list(&mut self, expected: &str) -> Result<u8, Fault> {
        self.skip_blank()?;
        match self.peek()? {
            opener @ (b'[' | b'(') => {
                self.at += 1;
                Ok(closer_of(opener))
            }
            _ => Err(Fault::new(self.at, expected)),
        }
    }

    /// Whether another member of a composite form follows; false once its `closer` is taken.
    #[inline]
    pub(crate) fn has_member(&mut self, closer: u8) -> Result<bool, Fault> {
        self.skip_blank()?;
        if self.peek()? != closer {
            return Ok(true);
        }
        self.at += 1;
        Ok(false)
    }

    /// The tag at a `#`, the cursor moving behind it; `None` if this is no tag.
    pub(crate) fn tag(&mut self) -> Result<Option<&'text str>, Fault> {
        let start = self.at;
        let starts_tag = |&byte: &u8| byte != b'#' && class(byte) == Class::Constituent;
        if !self.bytes.get(start + 1).is_some_and(starts_tag) {
            return if start + 1 < self.bytes.len() || self.last { Ok(None) } else { Err(Fault::CutOff) };
        }
        self.at = self.token_end(start + 1)?;
        Ok(Some(self.slice(start + 1, self.at)))
    }

    /// The integer that starts here, if it is a plain one of at most 18 digits; else nothing moves.
    #[inline]
    pub(crate) fn short_integer(&mut self) -> Option<i64> {
        let rest = self.bytes.get(self.at..)?;
        let negative = rest.first() == Some(&b'-');
        let digits = &rest[usize::from(negative)..];
        let mut magnitude: i64 = 0;
        let mut length = 0;
        for digit in digits.iter().map(|byte| byte.wrapping_sub(b'0')) {
            if digit > 9 {
                break;
            }
            magnitude = magnitude.wrapping_mul(10).wrapping_add(i64::from(digit));
            length += 1;
        }
        let leading_zero = length > 1 && digits[0] == b'0';
        let ends_here = match digits.get(length) {
            Some(&byte) => class(byte) != Class::Constituent,
            None => self.last,
        };
        if length == 0 || length > 18 || leading_zero || !ends_here {
            return None;
        }
        self.at += usize::from(negative) + length;
        Some(if negative { -magnitude } else { magnitude })
    }

    /// The short integer or nil that starts here: most values are one of them.
    #[inline]
    fn plain_value(&mut self) -> Option<Value> {
        if let Some(number) = self.short_integer() {
            return Value::small(number);
        }
        let behind = self.bytes[self.at..].strip_prefix(b"nil")?;
        let ends_here = behind.first().is_some_and(|&byte| class(byte) != Class::Constituent);
        ends_here.then(|| {
            self.at += 3;
            Value::NIL
        })
    }

    /// The next form as one scalar: a composite form becomes a term.
    #[inline]
    pub(crate) fn value(&mut self, values: &mut Values) -> Result<Value, Fault> {
        self.skip_blank()?;
        match self.plain_value() {
            Some(value) => Ok(value),
            None => self.other_value(values),
        }
    }

    #[cold]
    fn other_value(&mut self, values: &mut Values) -> Result<Value, Fault> {
        if !self.is_at_composite()? {
            return Ok(self.scalar()?.intern(values));
        }
        let mut text = String::new();
        self.canonical(&mut text)?;
        Ok(values.intern(AtomKind::Term, &text))
    }

    fn is_at_composite(&self) -> Result<bool, Fault> {
        match self.peek()? {
            b'[' | b'(' | b'{' => Ok(true),
            b'#' => match self.bytes.get(self.at + 1) {
                Some(&next) => Ok(next != b'#'),
                None => Err(Fault::CutOff),
            },
            _ => Ok(false),
        }
    }

    /// The next form: a list if it is a vector or list of forms, else one scalar.
    ///
    /// If it fails, the elements so far are left behind: the caller truncates the lists.
    #[inline]
    pub(crate) fn value_or_list(&mut self, values: &mut Values) -> Result<Value, Fault> {
        self.skip_blank()?;
        match self.peek()? {
            opener @ (b'[' | b'(') => self.list(closer_of(opener), values),
            _ => self.value(values),
        }
    }

    fn list(&mut self, closer: u8, values: &mut Values) -> Result<Value, Fault> {
        self.at += 1;
        loop {
            // The common list: short integers, each behind at most one space.
            while let Some(element) = self.short_integer().and_then(Value::small) {
                values.push_element(element);
                self.at += usize::from(self.bytes.get(self.at) == Some(&b' '));
            }
            self.skip_blank()?;
            if self.peek()? == closer {
                self.at += 1;
                return Ok(values.close_list());
            }
            let element = self.value(values)?;
            values.push_element(element);
        }
    }
}

/// The value that [`write_value`] wrote: a vector is a list, every other form a scalar.
///
/// # Errors
/// If `text` is not exactly one EDN form.
pub fn parse_value(text: &str, values: &mut Values) -> Result<Value, ParseError> {
    let lists = values.list_count();
    whole_value(text, values).map_err(|fault| {
        values.truncate_lists(lists);
        fault.into_error(text.as_bytes(), 1)
    })
}

fn whole_value(text: &str, values: &mut Values) -> Result<Value, Fault> {
    let mut cursor = Cursor::new(text, true);
    cursor.skip_blank()?;
    let start = cursor.at();
    let value = match cursor.peek()? {
        b'[' => cursor.list(b']', values)?,
        b'#' if cursor.tag()? == Some(SCALAR_TAG) => cursor.value(values)?,
        _ => {
            cursor.rewind(start);
            cursor.value(values)?
        }
    };
    cursor.skip_blank()?;
    if cursor.is_at_end() {
        Ok(value)
    } else {
        Err(Fault::new(cursor.at(), "one form and nothing behind it"))
    }
}

fn too_deep(at: usize) -> Fault {
    Fault::new(at, &format!("forms nested at most {DEEPEST} deep")).hint("is this a history at all?")
}

fn wrong_closer(at: usize, expected: Option<u8>) -> Fault {
    match expected {
        Some(closer) => Fault::new(at, &format!("a form or `{}`", closer as char)),
        None => Fault::new(at, "a form before the closing bracket"),
    }
}

#[cfg(test)]
mod tests;
