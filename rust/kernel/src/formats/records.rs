//! What a format of records supplies: how a record is parsed, and what records mean.

use super::{Slices, WriteAheadLog};
use crate::error::ParseError;
use crate::history::History;

/// A format whose input is a sequence of records: the history so far.
pub trait Records: Default + Send + Sync {
    /// The records that one core parsed from one part of a block.
    type Batch: Default + Send + Sync;

    /// Adds a batch to the history and empties it; batches come in the order of the input.
    ///
    /// # Errors
    /// If the batch contradicts the records before it.
    fn merge(&mut self, batch: &mut Self::Batch) -> Result<(), ParseError>;

    /// Called at the end of every file of the input, with the number of its last line.
    ///
    /// # Errors
    /// If the file ends too early.
    fn end_of_file(&mut self, _line: u64) -> Result<(), ParseError> {
        Ok(())
    }

    /// The history.
    ///
    /// # Errors
    /// If the records do not make one.
    fn into_history(self) -> Result<History, ParseError>;

    /// See [`super::Reader::slices`].
    fn slices(&mut self) -> Option<&mut dyn Slices> {
        None
    }

    /// See [`super::Reader::log`].
    fn log(&mut self) -> Option<&mut dyn WriteAheadLog> {
        None
    }
}

/// How records are spelt: the loop over the records of a text, for batches of type `B`.
pub trait Notation<B> {
    /// Parses whole records from the start of `text`, whose first byte is on `first_line`.
    ///
    /// Returns how many bytes were taken: everything, or everything before a record that `text` cuts
    /// off. With `last` nothing follows `text`, so a record that is cut off is an error.
    ///
    /// # Errors
    /// If a record is malformed; the batch then holds the records before it.
    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut B) -> Result<usize, ParseError>;

    /// The likely start of a record at or behind the byte `near`, where another core may start.
    ///
    /// A wrong guess costs time, never correctness.
    #[must_use]
    fn record_start(text: &[u8], near: usize) -> Option<usize> {
        memchr::memchr(b'\n', &text[near..]).map(|newline| near + newline + 1)
    }
}

/// A batch that can drop a record of which only a part was parsed.
pub trait Rewind {
    /// How full the batch was before a record.
    type Mark: Copy;

    /// How full the batch is.
    fn mark(&self) -> Self::Mark;

    /// Drops everything that was added since `mark`.
    fn rewind(&mut self, mark: Self::Mark);
}
