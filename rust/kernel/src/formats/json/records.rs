//! The loop over records that are JSON, for every format of such records.

use super::{Cursor, Fault, Marks, Next};
use crate::error::ParseError;
use crate::formats::{Notation, Rewind};

/// The notation of formats whose batch is a [`JsonBatch`].
#[derive(Debug)]
pub struct Json;

/// A batch of records, one JSON value after the other.
pub trait JsonBatch: Rewind {
    /// Takes the next record, comma or bracket; `false` if only white space is left. With `last` nothing follows
    /// the text of `cursor`.
    ///
    /// # Errors
    /// If something else stands here.
    fn next_json(&mut self, cursor: &mut Cursor, last: bool) -> Result<bool, Fault>;

    /// See [`Notation::record_start`].
    #[must_use]
    fn record_start(text: &[u8], near: usize) -> Option<usize> {
        object_start(text, near)
    }
}

/// A batch of records that are objects, in one array or alone (JSON lines).
pub trait JsonObjects: Rewind {
    /// A record, for messages.
    const EXAMPLE: &'static str;

    /// The punctuation between the objects.
    fn marks(&mut self) -> &mut Marks;

    /// Adds the object that starts at `cursor`.
    ///
    /// # Errors
    /// If the object is malformed.
    fn object(&mut self, cursor: &mut Cursor) -> Result<(), Fault>;
}

impl<B: JsonObjects> JsonBatch for B {
    #[inline]
    fn next_json(&mut self, cursor: &mut Cursor, _last: bool) -> Result<bool, Fault> {
        let next = self.marks().next(cursor, Self::EXAMPLE)?;
        if next == Next::Record {
            self.object(cursor)?;
        }
        Ok(next != Next::End)
    }
}

impl<B: JsonBatch> Notation<B> for Json {
    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut B) -> Result<usize, ParseError> {
        let mut cursor = Cursor::new(text, first_line);
        loop {
            let (taken, mark) = (cursor.at(), batch.mark());
            let fault = match batch.next_json(&mut cursor, last) {
                Ok(true) => continue,
                Ok(false) => return Ok(text.len()),
                Err(fault) => fault,
            };
            batch.rewind(mark);
            let is_cut_off = matches!(fault, Fault::CutOff(_)) && !last;
            return if is_cut_off { Ok(taken) } else { Err(cursor.error(fault)) };
        }
    }

    fn record_start(text: &[u8], near: usize) -> Option<usize> {
        B::record_start(text, near)
    }
}

/// An object at or behind the byte `near` that starts with the same name as the first one of the text.
fn object_start(text: &[u8], near: usize) -> Option<usize> {
    let name = first_name(text)?;
    let found = near + memchr::memmem::find(&text[near..], name)?;
    let before = text[..found].trim_ascii_end();
    before.ends_with(b"{").then(|| before.len() - 1)
}

/// The name of the first field of the first record, with its quotes.
fn first_name(text: &[u8]) -> Option<&[u8]> {
    let start = memchr::memchr(b'"', &text[..text.len().min(1024)])?;
    let length = memchr::memchr(b'"', &text[start + 1..])?;
    Some(&text[start..start + length + 2])
}
