//! Text with one record a line.

use super::Notation;
use crate::error::ParseError;

/// The notation of formats whose batch is a [`LineBatch`].
#[derive(Debug)]
pub struct Lines;

/// Records that are lines of text.
pub trait LineBatch {
    /// Adds the record on `line`, whose line end is left out; it may be blank.
    ///
    /// # Errors
    /// If the line is malformed.
    fn line(&mut self, line: &[u8], number: u64) -> Result<(), ParseError>;

    /// A short cut for lines that look as nearly all do: adds the record on the first line of `text` and returns
    /// the length of that line, its end included. `None` adds nothing.
    #[inline]
    fn usual_line(&mut self, _text: &[u8], _number: u64) -> Option<usize> {
        None
    }
}

impl<B: LineBatch> Notation<B> for Lines {
    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut B) -> Result<usize, ParseError> {
        let (mut start, mut number) = (0, first_line);
        while start < text.len() {
            if let Some(length) = batch.usual_line(&text[start..], number) {
                start += length;
            } else {
                let end = match memchr::memchr(b'\n', &text[start..]) {
                    Some(length) => start + length,
                    None if last => text.len(),
                    None => break,
                };
                batch.line(&text[start..end], number)?;
                start = (end + 1).min(text.len());
            }
            number += 1;
        }
        Ok(start)
    }
}
