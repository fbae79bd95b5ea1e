//! Feeds blocks of any size to a format of records, on all cores, with lines counted over the whole input.

use super::unparsed::Unparsed;
use super::{Notation, Reader, Records, Slices, WriteAheadLog};
use crate::error::ParseError;
use crate::history::History;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use std::marker::PhantomData;

/// Longest single record (a line, a map, an object): more is no history but a hostile file.
const LONGEST_RECORD: usize = 1 << 28;
/// Smallest part of a block that is worth a core of its own.
const SMALLEST_PART: usize = 1 << 15;

/// The format `F` in the notation `N`, and the input that is not parsed yet.
///
/// While one core merges the batches of the block before, the others parse the block at hand.
pub struct RecordReader<F: Records, N> {
    format: F,
    unparsed: Unparsed,
    /// Batches that are parsed and wait to be merged, in the order of the input.
    parsed: Vec<F::Batch>,
    /// Empty batches whose memory is used again: fresh pages cost more than parsing.
    spare: Vec<F::Batch>,
    /// The place of the first unparsed byte.
    place: Place,
    /// So many bytes must have come before it is worth parsing again.
    wait_for: usize,
    notation: PhantomData<fn() -> N>,
}

/// A line, and how many of its bytes stand before.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: u64,
    column: u64,
}

impl Place {
    fn after(self, text: &[u8]) -> Self {
        let column = match memchr::memrchr(b'\n', text) {
            Some(newline) => (text.len() - newline - 1) as u64,
            None => self.column + text.len() as u64,
        };
        Self { line: self.line + memchr::memchr_iter(b'\n', text).count() as u64, column }
    }
}

impl<F: Records, N> Default for RecordReader<F, N> {
    fn default() -> Self {
        Self {
            format: F::default(),
            unparsed: Unparsed::new(true),
            parsed: Vec::new(),
            spare: Vec::new(),
            place: Place { line: 1, column: 0 },
            wait_for: 0,
            notation: PhantomData,
        }
    }
}

impl<F: Records, N: Notation<F::Batch>> Reader for RecordReader<F, N> {
    fn is_text(&self) -> bool {
        true
    }

    fn start_of_file(&mut self, _name: &str) -> Result<(), ParseError> {
        Ok(())
    }

    fn room(&mut self, size: usize) -> &mut [u8] {
        self.unparsed.room(size)
    }

    fn parse(&mut self) -> Result<(), ParseError> {
        let is_started = self.unparsed.skip_byte_order_mark(false);
        if self.unparsed.bytes().len() < self.wait_for || !is_started {
            return Ok(());
        }
        let taken = self.parse_unparsed(false)?;
        let left = self.unparsed.bytes().len();
        if left > LONGEST_RECORD {
            let expected = "records of at most 256 MiB";
            let error = ParseError::at(self.unparsed.bytes(), 0, self.place.line, expected)
                .found("a longer one")
                .hint("is this a history? If it is, is a line end or a closing bracket missing?");
            return Err(ParseError { column: self.place.column + 1, ..error });
        }
        // A record that does not end here is parsed again only when twice as much of it has come.
        self.wait_for = if taken == 0 { (left * 2).min(LONGEST_RECORD + 1) } else { 0 };
        Ok(())
    }

    fn end_of_file(&mut self) -> Result<u64, ParseError> {
        self.unparsed.skip_byte_order_mark(true);
        self.parse_unparsed(true)?;
        debug_assert!(self.unparsed.bytes().is_empty());
        merge(&mut self.format, &mut self.parsed)?;
        // The next file starts on a line of its own, though this one may not end its last.
        self.place.line += u64::from(self.place.column > 0);
        self.place.column = 0;
        self.format.end_of_file((self.place.line - 1).max(1))?;
        self.wait_for = 0;
        self.unparsed.end_of_file();
        Ok(self.place.line)
    }

    fn into_history(self: Box<Self>) -> Result<History, ParseError> {
        self.format.into_history()
    }

    fn slices(&mut self) -> Option<&mut dyn Slices> {
        self.format.slices()
    }

    fn log(&mut self) -> Option<&mut dyn WriteAheadLog> {
        self.format.log()
    }
}

impl<F: Records, N: Notation<F::Batch>> RecordReader<F, N> {
    /// Merges the batches of the block before while it parses the bytes at hand; how many bytes were taken.
    fn parse_unparsed(&mut self, last: bool) -> Result<usize, ParseError> {
        let Self { format, unparsed, parsed, spare, place, .. } = self;
        let text = unparsed.bytes();
        let (merged, mut now) =
            rayon::join(|| merge(format, parsed), || parse_block::<N, _>(text, *place, last, spare));
        merged?;
        if let Some(fault) = now.fault {
            // A record before the fault may be the first one that is wrong.
            merge(format, &mut now.batches)?;
            return Err(fault);
        }
        if now.taken == 0 {
            // Values of a record that is cut off will be interned again.
            now.batches.clear();
        }
        spare.append(parsed);
        *parsed = now.batches;
        *place = place.after(&text[..now.taken]);
        unparsed.drop_parsed(now.taken);
        Ok(now.taken)
    }
}

fn merge<F: Records>(format: &mut F, batches: &mut [F::Batch]) -> Result<(), ParseError> {
    batches.iter_mut().try_for_each(|batch| format.merge(batch))
}

/// The result of parsing a block: how many bytes make whole records, or the first fault.
struct Parsed<B> {
    batches: Vec<B>,
    taken: usize,
    fault: Option<ParseError>,
}

/// Parses the whole records of `text`, each part of it on a core of its own.
fn parse_block<N: Notation<B>, B: Default + Send>(
    text: &[u8],
    place: Place,
    last: bool,
    spare: &mut Vec<B>,
) -> Parsed<B> {
    let mut parts = split::<N, B>(text, place, spare);
    parts.par_iter_mut().for_each(|part| part.parse::<N>(text, last));
    let (mut batches, mut taken) = (Vec::with_capacity(parts.len()), 0);
    for mut part in parts {
        if part.start != taken {
            // The part before ends inside a record, which this part continues.
            part = Part::new(taken, part.end, place.after(&text[..taken]), B::default());
            part.parse::<N>(text, last);
        }
        batches.push(part.batch);
        match part.outcome {
            Ok(size) => taken += size,
            Err(fault) => return Parsed { batches, taken, fault: Some(fault) },
        }
    }
    Parsed { batches, taken, fault: None }
}

/// As many parts as there are cores, each of which probably starts with a record.
fn split<N: Notation<B>, B: Default>(text: &[u8], place: Place, spare: &mut Vec<B>) -> Vec<Part<B>> {
    let count = (text.len() / SMALLEST_PART).clamp(1, rayon::current_num_threads());
    let mut batch = || spare.pop().unwrap_or_default();
    let mut parts = vec![Part::new(0, text.len(), place, batch())];
    for near in (1..count).map(|number| text.len() / count * number) {
        let latest = parts.last_mut().expect("the first part");
        let start = N::record_start(text, near).filter(|&start| start < text.len());
        if let Some(start) = start.filter(|&start| start > latest.start) {
            latest.end = start;
            let place = latest.place.after(&text[latest.start..start]);
            parts.push(Part::new(start, text.len(), place, batch()));
        }
    }
    parts
}

/// A part of a block, for one core.
struct Part<B> {
    start: usize,
    end: usize,
    place: Place,
    batch: B,
    /// How many bytes were taken.
    outcome: Result<usize, ParseError>,
}

impl<B> Part<B> {
    fn new(start: usize, end: usize, place: Place, batch: B) -> Self {
        Self { start, end, place, batch, outcome: Ok(0) }
    }

    fn parse<N: Notation<B>>(&mut self, text: &[u8], last: bool) {
        let is_last = last && self.end == text.len();
        self.outcome = N::parse(&text[self.start..self.end], self.place.line, is_last, &mut self.batch);
        if let Err(fault) = &mut self.outcome
            && fault.column > 0
            && fault.line == self.place.line
        {
            fault.column += self.place.column;
        }
    }
}
