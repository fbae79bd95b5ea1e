//! dbcop's histories as YAML: a list of sessions, each a list of transactions with `events` and `success`.
//!
//! ```yaml
//! - - events:
//!       - {write: true, variable: 0, value: 1, success: true}
//!     success: true
//! - []
//! ```
//!
//! Read is what such a history needs of YAML: lists and maps in block and flow style, quoted names, whole
//! numbers, booleans, comments, one document. Anchors, tags, texts and the rest are errors. Lines are cut
//! into [`token`]s wherever a block starts; the [`structure`] is understood in order.

mod structure;
mod token;

use crate::error::ParseError;
use crate::formats::Records;
use crate::history::History;
use structure::Structure;
use token::Token;

/// Reads the format.
#[derive(Default)]
pub struct Yaml(Structure);

impl Records for Yaml {
    type Batch = Vec<Token>;

    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut Vec<Token>) -> Result<usize, ParseError> {
        let (mut start, mut line) = (0, first_line);
        while start < text.len() {
            let end = match memchr::memchr(b'\n', &text[start..]) {
                Some(length) => start + length,
                None if last => text.len(),
                None => break,
            };
            token::tokens(&text[start..end], line, batch)?;
            start = (end + 1).min(text.len());
            line += 1;
        }
        Ok(start)
    }

    fn merge(&mut self, batch: &mut Vec<Token>) -> Result<(), ParseError> {
        batch.drain(..).try_for_each(|token| self.0.take(token))
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        self.0.end_of_file(line)
    }

    fn finish(self) -> Result<History, ParseError> {
        self.0.finish()
    }
}
