//! dbcop's histories as YAML: a list of sessions, each a list of transactions with `events` and `success`.
//!
//! ```yaml
//! - - events:
//!       - {write: true, variable: 0, value: 1, success: true}
//!     success: true
//! - []
//! ```
//!
//! Of YAML the reader takes lists and maps in block and flow style, quoted names, whole numbers, booleans,
//! comments, one document. Anchors, tags, texts and the rest are errors. Yaml are
//! understood one by one, so that a line may have any length.

mod structure;
mod token;

use crate::error::ParseError;
use crate::formats::Stream;
use crate::history::History;
use structure::Structure;
use token::{Fault, Token, Word};

/// Longer than any word: such a word is an error, however it goes on.
const LONGEST_WORD: usize = 1 << 10;

/// The history so far, and where on its line the next byte stands.
pub struct Yaml {
    structure: Structure,
    line: u64,
    /// Bytes before it on its line.
    column: u64,
    /// Whether nothing but dashes stands before it on its line.
    leads: bool,
    after_blank: bool,
    in_comment: bool,
}

impl Default for Yaml {
    fn default() -> Self {
        let structure = Structure::default();
        Self { structure, line: 1, column: 0, leads: true, after_blank: true, in_comment: false }
    }
}

impl Stream for Yaml {
    const TEXT: bool = true;

    fn take(&mut self, text: &[u8], _at: u64) -> Result<usize, ParseError> {
        let whole = text.iter().rposition(|&byte| token::is_delimiter(byte)).map_or(0, |last| last + 1);
        let taken = if text.len() - whole > LONGEST_WORD { text.len() } else { whole };
        self.words(&text[..taken])?;
        Ok(taken)
    }

    fn end_of_file(&mut self, rest: &[u8], _at: u64) -> Result<(), ParseError> {
        self.words(rest)?;
        // The next file starts on a line of its own, though this one may not end its last.
        if self.column > 0 {
            self.end_of_line();
        }
        self.structure.end_of_file((self.line - 1).max(1))
    }

    fn next_line(&self, _at: u64) -> u64 {
        self.line
    }

    fn into_history(self) -> Result<History, ParseError> {
        self.structure.into_history()
    }
}

impl Yaml {
    fn words(&mut self, text: &[u8]) -> Result<(), ParseError> {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let size = match byte {
                b'\n' => {
                    self.end_of_line();
                    at += 1;
                    continue;
                }
                _ if self.in_comment => memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at),
                b' ' => text[at..].iter().take_while(|&&byte| byte == b' ').count(),
                b'\r' => 1,
                b'\t' if !self.leads => 1,
                b'#' if self.after_blank => {
                    self.in_comment = true;
                    1
                }
                _ => self.word(text, at)?,
            };
            self.after_blank = matches!(byte, b' ' | b'\t' | b'\r');
            self.column += size as u64;
            at += size;
        }
        Ok(())
    }

    fn end_of_line(&mut self) {
        self.line += 1;
        (self.column, self.leads, self.after_blank, self.in_comment) = (0, true, true, false);
    }

    /// Takes the word at `at`; its size.
    fn word(&mut self, text: &[u8], at: usize) -> Result<usize, ParseError> {
        let (word, size) =
            token::word(&text[at..], self.column).map_err(|fault| self.error(&fault, text, at))?;
        let (line, column) = (self.line as u32, u32::try_from(self.column).unwrap_or(u32::MAX));
        self.structure.take(Token { word, line, column, leads: self.leads })?;
        self.leads &= word == Word::Dash;
        Ok(size)
    }

    /// The error for bytes at `at` that are no word; it shows as much of the line as `text` holds.
    fn error(&self, fault: &Fault, text: &[u8], at: usize) -> ParseError {
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        let error = ParseError::at(&text[start..], at - start, self.line, fault.0).hint(fault.1);
        ParseError { column: self.column + 1, ..error }
    }
}
