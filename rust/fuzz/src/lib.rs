//! Hostile input for every parser: any bytes must give a history or an error, whatever the blocks.
//!
//! A history that a format reads, and can write without a loss, must be read back as the same history. The
//! targets come from the kernel's `READERS`, so that a new format is fuzzed as soon as it is listed there.

use isoscope_kernel::equality::same;
use isoscope_kernel::error::ParseError;
use isoscope_kernel::formats::{OpenReader, READERS, Writer, arango, edn, writer};
use isoscope_kernel::history::History;
use isoscope_kernel::value::Values;

/// A parser under test.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of the format, and of its seed in `seeds/`.
    pub name: &'static str,
    parser: Parser,
}

#[derive(Clone, Copy)]
enum Parser {
    /// A format, and the writer of the same name if there is one.
    Format(OpenReader, Option<&'static Writer>),
    Other(fn(&[u8])),
}

/// Every parser.
#[must_use]
pub fn targets() -> Vec<Target> {
    let formats =
        READERS.iter().map(|&(name, open)| Target { name, parser: Parser::Format(open, writer(name)) });
    let others = [("arango", arango_log as fn(&[u8])), ("edn-value", edn_value)];
    formats.chain(others.map(|(name, run)| Target { name, parser: Parser::Other(run) })).collect()
}

impl Target {
    /// Panics if the parser does, or if it contradicts itself.
    pub fn run(&self, input: &[u8]) {
        match self.parser {
            Parser::Other(run) => run(input),
            Parser::Format(open, writer) => {
                let history = whole_or_blocks(open, input);
                if let (Some(history), Some(writer)) = (history, writer)
                    && (writer.unwritable)(&history).is_empty()
                {
                    write_and_read_back(open, writer, &history);
                }
            }
        }
    }
}

fn arango_log(input: &[u8]) {
    let _ = arango::parse(input);
}

/// A single EDN form: its value is written and read back as the same text.
fn edn_value(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut values = Values::default();
    let Ok(value) = edn::parse_value(text, &mut values) else { return };
    let mut once = Vec::new();
    edn::write_value(&values, value, &mut once);
    let written = String::from_utf8(once).expect("EDN is text");
    let again =
        edn::parse_value(&written, &mut values).unwrap_or_else(|error| panic!("{written}: {error:?}"));
    let mut twice = Vec::new();
    edn::write_value(&values, again, &mut twice);
    assert_eq!(written.as_bytes(), twice, "{text}");
}

/// The history in `input`, if it is one: the same, or the same error, however it is fed.
fn whole_or_blocks(open: OpenReader, input: &[u8]) -> Option<History> {
    let whole = read(open, input, input.len().max(1));
    let blocks = read(open, input, 1 + input.len() / 3);
    match (whole, blocks) {
        (Ok(whole), Ok(blocks)) => {
            assert!(same(&whole, &blocks), "blocks matter");
            Some(whole)
        }
        (Err(whole), Err(blocks)) => {
            assert_eq!(whole.line, blocks.line, "blocks matter: {whole:?}, {blocks:?}");
            None
        }
        (whole, blocks) => panic!("blocks matter: {:?}, {:?}", whole.err(), blocks.err()),
    }
}

fn write_and_read_back(open: OpenReader, writer: &Writer, history: &History) {
    let mut written = Vec::new();
    (writer.write)(history, &mut written).expect("a vector takes everything");
    let shown = String::from_utf8_lossy(&written);
    let again =
        read(open, &written, written.len().max(1)).unwrap_or_else(|error| panic!("{error:?}\n{shown}"));
    assert!(same(history, &again), "not read back as it was\n{shown}");
}

fn read(open: OpenReader, input: &[u8], block: usize) -> Result<History, ParseError> {
    let mut reader = open();
    reader.start_of_file("")?;
    for part in input.chunks(block) {
        reader.feed(part)?;
    }
    reader.end_of_file()?;
    reader.into_history()
}
