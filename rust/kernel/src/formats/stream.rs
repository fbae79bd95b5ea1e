//! Formats that must be read in order: a [`Stream`] understands each byte by all bytes before it.
//!
//! Such a format cannot be parsed from the middle, so [`StreamReader`] hands it the input piece by piece. Most
//! of them are no text: places are then bytes of the input, counted from 0.

use super::Reader;
use super::unparsed::Unparsed;
use crate::error::ParseError;
use crate::history::{History, NO_LINE};

/// A format whose bytes are understood one after the other.
pub trait Stream: Send + Sync {
    /// Whether the input is lines of text, which the format then counts itself.
    const TEXT: bool = false;

    /// Takes whole fields from the start of `bytes`, which stand at byte `at` of the input; how many bytes
    /// it took. The rest is less than a field, and comes again with more behind it.
    ///
    /// # Errors
    /// At the first field that is wrong.
    fn take(&mut self, bytes: &[u8], at: u64) -> Result<usize, ParseError>;

    /// A file of this name starts; see [`Reader::start_of_file`].
    ///
    /// # Errors
    /// If the name says that the file does not belong to the input.
    fn start_of_file(&mut self, _name: &str) -> Result<(), ParseError> {
        Ok(())
    }

    /// The file ends at byte `at`, after `rest`, which is less than a field.
    ///
    /// # Errors
    /// If more was expected.
    fn end_of_file(&mut self, rest: &[u8], at: u64) -> Result<(), ParseError>;

    /// The line of the byte `at`, with which the next file starts.
    fn next_line(&self, at: u64) -> u64 {
        at + 1
    }

    /// The history.
    ///
    /// # Errors
    /// If the fields do not make one.
    fn into_history(self) -> Result<History, ParseError>;
}

/// A [`Stream`] and the start of a field that has not come whole.
#[derive(Debug)]
pub struct StreamReader<S> {
    stream: S,
    unparsed: Unparsed,
    /// The place of the first unparsed byte.
    at: u64,
}

impl<S: Stream + Default> Default for StreamReader<S> {
    fn default() -> Self {
        Self::new(S::default())
    }
}

impl<S: Stream> StreamReader<S> {
    /// At the start of the input.
    pub fn new(stream: S) -> Self {
        Self { stream, unparsed: Unparsed::new(S::TEXT), at: 0 }
    }

    /// The stream, with everything that was read so far.
    pub fn stream(&self) -> &S {
        &self.stream
    }
}

impl<S: Stream> Reader for StreamReader<S> {
    fn is_text(&self) -> bool {
        S::TEXT
    }

    fn start_of_file(&mut self, name: &str) -> Result<(), ParseError> {
        self.stream.start_of_file(name)
    }

    fn room(&mut self, size: usize) -> &mut [u8] {
        self.unparsed.room(size)
    }

    fn parse(&mut self) -> Result<(), ParseError> {
        if self.unparsed.skip_byte_order_mark(false) {
            let taken = self.stream.take(self.unparsed.bytes(), self.at)?;
            self.unparsed.drop_parsed(taken);
            self.at += taken as u64;
        }
        Ok(())
    }

    fn end_of_file(&mut self) -> Result<u64, ParseError> {
        self.unparsed.skip_byte_order_mark(true);
        let rest = self.unparsed.bytes();
        self.at += rest.len() as u64;
        self.stream.end_of_file(rest, self.at)?;
        self.unparsed.end_of_file();
        Ok(self.stream.next_line(self.at))
    }

    fn into_history(self: Box<Self>) -> Result<History, ParseError> {
        self.stream.into_history()
    }
}

/// The number under which byte `at` is kept beside an operation; none beyond 4 GiB.
#[must_use]
pub fn line(at: u64) -> u32 {
    u32::try_from(at + 1).unwrap_or(NO_LINE)
}

/// A byte in words: `0x53 ("S")`, or only its number if it is no letter.
#[must_use]
pub fn show_byte(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        return format!("the byte 0x{byte:02x} (`{}`)", char::from(byte));
    }
    format!("the byte 0x{byte:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    /// Fields of two bytes that must be alike.
    #[derive(Default)]
    struct Pairs(u64);

    impl Stream for Pairs {
        fn take(&mut self, bytes: &[u8], at: u64) -> Result<usize, ParseError> {
            for (place, pair) in bytes.chunks_exact(2).enumerate() {
                if pair[0] != pair[1] {
                    let at = at + 2 * place as u64;
                    return Err(ParseError::at_byte(at, "two of a kind", &show_byte(pair[1])));
                }
                self.0 += 1;
            }
            Ok(bytes.len() / 2 * 2)
        }

        fn end_of_file(&mut self, rest: &[u8], at: u64) -> Result<(), ParseError> {
            if rest.is_empty() { Ok(()) } else { Err(ParseError::at_byte(at, "a pair", "the end")) }
        }

        fn into_history(self) -> Result<History, ParseError> {
            let mut builder = Builder::new();
            builder.note("pairs", self.0);
            builder.finish()
        }
    }

    fn read(files: &[&[u8]], size: usize) -> Result<History, ParseError> {
        let mut reader = StreamReader::<Pairs>::default();
        for file in files {
            file.chunks(size).try_for_each(|block| reader.feed(block))?;
            reader.end_of_file()?;
        }
        Box::new(reader).into_history()
    }

    #[test]
    fn a_field_that_two_blocks_share_is_whole() {
        for size in [1, 2, 3, 5] {
            assert_eq!(read(&[b"aabb\n\ncc"], size).unwrap().notes, [("pairs".to_owned(), 4)]);
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_mark() {
        assert_eq!(read(&[b"\xef\xbb\xbfx"], 9).unwrap_err().line, 1);
    }

    #[test]
    fn bytes_are_counted_over_all_files() {
        for size in [1, 2, 3, 5] {
            assert_eq!(read(&[b"\n\n\r\r", b"", b"aaxy"], size).unwrap_err().line, 7);
            assert_eq!(read(&[b"aa", b"bbc"], size).unwrap_err().line, 6);
        }
    }

    #[test]
    fn a_byte_beyond_four_gibibytes_has_no_number() {
        assert_eq!((line(0), line(u64::from(u32::MAX) - 1), line(1 << 32)), (1, u32::MAX, NO_LINE));
    }

    #[test]
    fn bytes_are_shown_as_letters_where_they_are_letters() {
        assert_eq!(show_byte(b'S'), "the byte 0x53 (`S`)");
        assert_eq!(show_byte(0), "the byte 0x00");
    }
}
