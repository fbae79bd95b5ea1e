//! Parsers: bytes in, [`History`] or one [`ParseError`] out.
//!
//! A format is a [`Records`]: it parses whole records of a block into a batch (on any core, without
//! shared state) and merges batches in the order of the input. [`Reader`] does the rest.

pub mod aion;
pub mod arango;
pub mod edn;
pub mod jepsen;
pub mod json;
pub mod plume;
pub mod table;

use crate::error::ParseError;
use crate::history::History;

/// Longest single record (a line, a map, an object): more is no history but a hostile file.
const LONGEST_RECORD: usize = 1 << 28;
/// Blocks smaller than this are not worth a second core.
const SPLIT: usize = 1 << 16;

/// A format whose input is a sequence of records.
pub trait Records {
    /// What one core got from one part of a block.
    type Batch: Default + Send;

    /// Parses whole records from the start of `text`, whose first byte is on `first_line`.
    ///
    /// Returns how many bytes were taken: everything, or everything before a record that `text` cuts
    /// off. With `last` nothing follows `text`, so a record that is cut off is an error.
    ///
    /// # Errors
    /// If a record is malformed.
    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut Self::Batch) -> Result<usize, ParseError>;

    /// Adds a batch to the history and empties it; batches come in the order of the input.
    ///
    /// # Errors
    /// If the batch contradicts what came before.
    fn merge(&mut self, batch: &mut Self::Batch) -> Result<(), ParseError>;

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

/// Feeds blocks of any size to a format, on two cores, with lines counted over the whole input.
pub struct Reader<F: Records> {
    format: F,
    pending: Vec<u8>,
    batches: [F::Batch; 2],
    line: u64,
    /// Bytes of the first pending line that are parsed and gone.
    column: u64,
    wait_for: usize,
    at_start: bool,
}

impl<F: Records> Reader<F> {
    /// A reader at the start of its input.
    pub fn new(format: F) -> Self {
        Self {
            format,
            pending: Vec::new(),
            batches: Default::default(),
            line: 1,
            column: 0,
            wait_for: 0,
            at_start: true,
        }
    }

    /// Takes the next bytes of the input.
    ///
    /// # Errors
    /// At the first malformed record.
    pub fn feed(&mut self, block: &[u8]) -> Result<(), ParseError> {
        self.pending.extend_from_slice(block);
        self.skip_byte_order_mark(false);
        if self.pending.len() < self.wait_for {
            return Ok(());
        }
        let taken = self.parse(false)?;
        let left = self.pending.len() - taken;
        if left > LONGEST_RECORD {
            let expected = "records of at most 256 MiB";
            return Err(ParseError::at(&self.pending, taken, self.line, expected)
                .found("a longer one")
                .hint("is this a history? If it is, is a line end or a closing bracket missing?"));
        }
        // A record that does not end here is parsed again only when twice as much of it has come.
        self.wait_for = if taken == 0 { left * 2 } else { 0 };
        self.drop_parsed(taken);
        Ok(())
    }

    /// One file of the input is over; returns the line on which the next one starts.
    ///
    /// # Errors
    /// If the file ends inside a record.
    pub fn end_of_file(&mut self) -> Result<u64, ParseError> {
        self.skip_byte_order_mark(true);
        let taken = self.parse(true)?;
        debug_assert_eq!(taken, self.pending.len());
        self.drop_parsed(self.pending.len());
        // The next file starts on a line of its own, though this one may not end its last.
        self.line += u64::from(self.column > 0);
        self.column = 0;
        self.format.end_of_file((self.line - 1).max(1))?;
        (self.wait_for, self.at_start) = (0, true);
        Ok(self.line)
    }

    /// The format, for what it takes beside the text.
    pub fn format(&mut self) -> &mut F {
        &mut self.format
    }

    /// The history of all files.
    ///
    /// # Errors
    /// If the records do not make one.
    pub fn finish(self) -> Result<History, ParseError> {
        self.format.finish()
    }

    fn parse(&mut self, last: bool) -> Result<usize, ParseError> {
        let text = self.pending.as_slice();
        let middle = if text.len() < SPLIT { None } else { F::split(text) };
        let Some(middle) = middle else {
            return self.parse_rest(0, last);
        };
        let line = self.line;
        let [first, second] = &mut self.batches;
        let (taken, ahead) = rayon::join(
            || F::parse(&text[..middle], line, false, first),
            || {
                let line = line + newlines(&text[..middle]);
                F::parse(&text[middle..], line, last, second)
            },
        );
        let taken = taken.map_err(|error| self.in_whole_line(error, 0))?;
        self.format.merge(&mut self.batches[0])?;
        if taken == middle {
            let ahead = ahead.map_err(|error| self.in_whole_line(error, middle))?;
            self.format.merge(&mut self.batches[1])?;
            return Ok(middle + ahead);
        }
        // The middle was inside a record: what the second core made of it means nothing.
        self.batches[1] = F::Batch::default();
        self.parse_rest(taken, last)
    }

    fn parse_rest(&mut self, from: usize, last: bool) -> Result<usize, ParseError> {
        let text = self.pending.as_slice();
        let line = self.line + newlines(&text[..from]);
        let taken = F::parse(&text[from..], line, last, &mut self.batches[0])
            .map_err(|error| self.in_whole_line(error, from))?;
        self.format.merge(&mut self.batches[0])?;
        Ok(from + taken)
    }

    /// The error of a parser that saw the pending bytes only from `from` on.
    fn in_whole_line(&self, mut error: ParseError, from: usize) -> ParseError {
        let before = &self.pending[..from];
        if error.column > 0 && error.line == self.line + newlines(before) {
            error.column += column_after(before, self.column);
        }
        error
    }

    fn drop_parsed(&mut self, taken: usize) {
        self.column = column_after(&self.pending[..taken], self.column);
        self.line += newlines(&self.pending[..taken]);
        self.pending.drain(..taken);
    }

    fn skip_byte_order_mark(&mut self, last: bool) {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if !self.at_start || (self.pending.len() < MARK.len() && !last) {
            return;
        }
        if self.pending.starts_with(MARK) {
            self.pending.drain(..MARK.len());
        }
        self.at_start = false;
    }
}

fn newlines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// How many bytes stand before the end of `text` on its last line, if `column` stood before `text`.
fn column_after(text: &[u8], column: u64) -> u64 {
    match memchr::memrchr(b'\n', text) {
        Some(newline) => (text.len() - newline - 1) as u64,
        None => column + text.len() as u64,
    }
}
