//! Parsers: bytes in, [`History`] or one [`ParseError`] out.
//!
//! A format is a [`Records`]: it parses whole records of a block into a batch (on any core, without
//! shared state) and merges batches in the order of the input. [`Reader`] does the rest.

pub mod aion;
pub mod arango;
pub mod awdit;
pub mod cobra;
pub mod dbcop_2019;
pub mod dbcop_hist;
pub mod dbcop_json;
pub mod edn;
pub mod grail;
pub mod jepsen;
pub mod json;
pub mod leopard;
pub mod plume;
pub mod stream;
pub mod table;
pub mod viper;

mod placed;
mod reader;
mod remainder;

pub use reader::Reader;
pub use remainder::leaves_operations;

use crate::error::ParseError;
use crate::history::History;

/// A format whose input is a sequence of records.
pub trait Records: Send {
    /// What one core got from one part of a block.
    type Batch: Default + Send;

    /// Whether the input is lines of text. In any other format a line is a single byte.
    const TEXT: bool = true;

    /// Parses whole records from the start of `text`, whose first byte is on `first_line`.
    ///
    /// Returns how many bytes were taken: everything, or everything before a record that `text` cuts
    /// off. With `last` nothing follows `text`, so a record that is cut off is an error.
    ///
    /// # Errors
    /// If a record is malformed; the batch then holds the records before it.
    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut Self::Batch) -> Result<usize, ParseError>;

    /// Adds a batch to the history and empties it; batches come in the order of the input.
    ///
    /// # Errors
    /// If the batch contradicts what came before.
    fn merge(&mut self, batch: &mut Self::Batch) -> Result<(), ParseError>;

    /// Called before the first byte of every file, with its name without folders and suffixes; empty if it
    /// has none.
    ///
    /// # Errors
    /// If the file has no business here.
    fn start_of_file(&mut self, _name: &str) -> Result<(), ParseError> {
        Ok(())
    }

    /// Called at the end of every file of the input, with the number of its last line.
    ///
    /// # Errors
    /// If the file ends too early.
    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError>;

    /// The history.
    ///
    /// # Errors
    /// If the records do not make one.
    fn finish(self) -> Result<History, ParseError>;

    /// Where a second core may start: the likely start of a record near the middle of a long `text`.
    ///
    /// A wrong guess costs time, never correctness.
    #[must_use]
    fn split(text: &[u8]) -> Option<usize> {
        let half = text.len() / 2;
        memchr::memchr(b'\n', &text[half..]).map(|newline| half + newline + 1)
    }
}
