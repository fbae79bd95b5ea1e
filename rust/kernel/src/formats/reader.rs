//! What every reader can do, whatever its format.

use crate::error::ParseError;
use crate::history::History;

/// Parses one format, fed block by block and file by file.
pub trait Reader: Send + Sync {
    /// Whether the format is lines of text. In any other format a line is a single byte.
    fn is_text(&self) -> bool;

    /// A file starts; its name without folders and suffixes is empty if it has none.
    ///
    /// # Errors
    /// If the name says that the file does not belong to the input.
    fn start_of_file(&mut self, name: &str) -> Result<(), ParseError>;

    /// Room for the next `size` bytes of the input: the caller fills it and then calls [`Reader::parse`].
    fn room(&mut self, size: usize) -> &mut [u8];

    /// Parses what has come so far.
    ///
    /// # Errors
    /// At the first fault of the input.
    fn parse(&mut self) -> Result<(), ParseError>;

    /// Takes the next bytes of the input.
    ///
    /// # Errors
    /// At the first fault of the input.
    fn feed(&mut self, block: &[u8]) -> Result<(), ParseError> {
        self.room(block.len()).copy_from_slice(block);
        self.parse()
    }

    /// One file of the input is over; returns the line on which the next one starts.
    ///
    /// # Errors
    /// At the first fault of the input, or if the file ends inside a record.
    fn end_of_file(&mut self) -> Result<u64, ParseError>;

    /// The history of all files.
    ///
    /// # Errors
    /// If the records do not make one.
    fn into_history(self: Box<Self>) -> Result<History, ParseError>;

    /// The same reader for input that is read in slices, if the format allows that.
    fn slices(&mut self) -> Option<&mut dyn Slices> {
        None
    }

    /// The same reader for a write-ahead log beside the history, if the format has one.
    fn log(&mut self) -> Option<&mut dyn WriteAheadLog> {
        None
    }
}

/// A format whose transactions are whole as soon as they are read.
pub trait Slices {
    /// The transactions so far as a history of their own, if there are any; ids may come again after it.
    ///
    /// # Errors
    /// If they do not make one.
    fn drain(&mut self) -> Result<Option<History>, ParseError>;
}

/// A format whose version order stands in a write-ahead log beside the history.
pub trait WriteAheadLog {
    /// Adds the log of text `text`.
    ///
    /// # Errors
    /// If the log is malformed.
    fn attach(&mut self, text: &[u8]) -> Result<(), ParseError>;
}
