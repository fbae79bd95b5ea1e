//! Feeds blocks of any size to a format, on two cores, with lines counted over the whole input.

use super::Records;
use crate::error::ParseError;
use crate::history::History;

/// Longest single record (a line, a map, an object): more is no history but a hostile file.
const LONGEST_RECORD: usize = 1 << 28;
/// Blocks smaller than this are not worth a second core.
const SPLIT: usize = 1 << 16;

/// A format and what of its input was not yet understood.
///
/// While one core merges the batches of the block before, the others parse the block at hand.
pub struct Reader<F: Records> {
    format: F,
    pending: Vec<u8>,
    /// Batches that are parsed and wait to be merged, in the order of the input.
    parsed: Vec<F::Batch>,
    /// Empty batches whose memory is used again: fresh pages cost more than parsing.
    spare: Vec<F::Batch>,
    /// Where the first pending byte stands.
    place: Place,
    wait_for: usize,
    at_start: bool,
}

/// A line, and how many of its bytes stand before. Without text each byte is a line.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: u64,
    column: u64,
}

impl Place {
    fn after<F: Records>(self, text: &[u8]) -> Self {
        if !F::TEXT {
            return Self { line: self.line + text.len() as u64, column: 0 };
        }
        let column = match memchr::memrchr(b'\n', text) {
            Some(newline) => (text.len() - newline - 1) as u64,
            None => self.column + text.len() as u64,
        };
        Self { line: self.line + memchr::memchr_iter(b'\n', text).count() as u64, column }
    }
}

/// What the parsers made of a block.
struct Parsed<B> {
    batches: Vec<B>,
    taken: usize,
    fault: Option<ParseError>,
}

impl<F: Records> Reader<F> {
    /// A reader at the start of its input.
    pub fn new(format: F) -> Self {
        Self {
            format,
            pending: Vec::new(),
            parsed: Vec::new(),
            spare: Vec::new(),
            place: Place { line: 1, column: 0 },
            wait_for: 0,
            at_start: F::TEXT,
        }
    }

    /// Whether the format is lines of text; see [`Records::TEXT`].
    pub fn is_text(&self) -> bool {
        F::TEXT
    }

    /// A file of this name starts; see [`Records::start_of_file`].
    ///
    /// # Errors
    /// If the file has no business here.
    pub fn start_of_file(&mut self, name: &str) -> Result<(), ParseError> {
        self.format.start_of_file(name)
    }

    /// Takes the next bytes of the input.
    ///
    /// # Errors
    /// At the first fault of the input.
    pub fn feed(&mut self, block: &[u8]) -> Result<(), ParseError> {
        self.pending.extend_from_slice(block);
        self.skip_byte_order_mark(false);
        if self.pending.len() < self.wait_for || self.at_start {
            return Ok(());
        }
        let taken = self.parse(false)?;
        let left = self.pending.len() - taken;
        if left > LONGEST_RECORD {
            let expected = "records of at most 256 MiB";
            return Err(ParseError::at(&self.pending, taken, self.place.line, expected)
                .found("a longer one")
                .hint("is this a history? If it is, is a line end or a closing bracket missing?"));
        }
        // A record that does not end here is parsed again only when twice as much of it has come.
        self.wait_for = if taken == 0 { (left * 2).min(LONGEST_RECORD + 1) } else { 0 };
        self.drop_parsed(taken);
        Ok(())
    }

    /// One file of the input is over; returns the line on which the next one starts.
    ///
    /// # Errors
    /// At the first fault of the input, or if the file ends inside a record.
    pub fn end_of_file(&mut self) -> Result<u64, ParseError> {
        self.skip_byte_order_mark(true);
        let taken = self.parse(true)?;
        debug_assert_eq!(taken, self.pending.len());
        self.drop_parsed(self.pending.len());
        merge(&mut self.format, &mut self.parsed)?;
        // The next file starts on a line of its own, though this one may not end its last.
        self.place.line += u64::from(self.place.column > 0);
        self.place.column = 0;
        self.format.end_of_file((self.place.line - 1).max(1))?;
        (self.wait_for, self.at_start) = (0, F::TEXT);
        Ok(self.place.line)
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

    /// Merges what was parsed before while it parses what is pending; how many bytes were taken.
    fn parse(&mut self, last: bool) -> Result<usize, ParseError> {
        let Self { format, pending, parsed, spare, place, .. } = self;
        let empty = [spare.pop().unwrap_or_default(), spare.pop().unwrap_or_default()];
        let (merged, mut now) =
            rayon::join(|| merge(format, parsed), || parse_block::<F>(pending, *place, last, empty));
        merged?;
        if let Some(fault) = now.fault {
            // A record before the fault may be the first one that is wrong.
            merge(format, &mut now.batches)?;
            return Err(fault);
        }
        if now.taken == 0 {
            // What was interned for a record that is cut off will be interned again.
            now.batches.clear();
        }
        *spare = std::mem::replace(parsed, now.batches);
        Ok(now.taken)
    }

    fn drop_parsed(&mut self, taken: usize) {
        self.place = self.place.after::<F>(&self.pending[..taken]);
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

fn merge<F: Records>(format: &mut F, batches: &mut [F::Batch]) -> Result<(), ParseError> {
    batches.iter_mut().try_for_each(|batch| format.merge(batch))
}

/// Parses the whole records of `text` into two batches, on two cores if it is long enough.
fn parse_block<F: Records>(text: &[u8], place: Place, last: bool, empty: [F::Batch; 2]) -> Parsed<F::Batch> {
    let [first, second] = empty;
    let middle = if text.len() < SPLIT { None } else { F::split(text) };
    let Some(middle) = middle else {
        let mut parsed = parse_part::<F>(text, place, last, first);
        parsed.batches.push(second);
        return parsed;
    };
    let (mut first, mut second) = rayon::join(
        || parse_part::<F>(&text[..middle], place, false, first),
        || parse_part::<F>(&text[middle..], place.after::<F>(&text[..middle]), last, second),
    );
    if first.fault.is_some() {
        return first;
    }
    if first.taken != middle {
        // The middle was inside a record: what the second core made of it means nothing.
        let place = place.after::<F>(&text[..first.taken]);
        second = parse_part::<F>(&text[first.taken..], place, last, F::Batch::default());
    }
    first.batches.append(&mut second.batches);
    Parsed { batches: first.batches, taken: first.taken + second.taken, fault: second.fault }
}

fn parse_part<F: Records>(text: &[u8], place: Place, last: bool, mut batch: F::Batch) -> Parsed<F::Batch> {
    let (taken, fault) = match F::parse(text, place.line, last, &mut batch) {
        Ok(taken) => (taken, None),
        Err(mut fault) => {
            if fault.column > 0 && fault.line == place.line {
                fault.column += place.column;
            }
            (0, Some(fault))
        }
    };
    Parsed { batches: vec![batch], taken, fault }
}
