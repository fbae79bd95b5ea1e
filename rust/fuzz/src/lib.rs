//! One function for each parser: any bytes must give a history or an error, whatever the blocks.
//!
//! What is read must also be written and read back as the same history, and twice the same way.

use isoscope_kernel::equality::same;
use isoscope_kernel::error::ParseError;
use isoscope_kernel::formats::aion::{self, Aion};
use isoscope_kernel::formats::awdit::{self, Awdit};
use isoscope_kernel::formats::dbcop_hist::{self, DbcopHist};
use isoscope_kernel::formats::dbcop_json::{self, DbcopJson};
use isoscope_kernel::formats::jepsen::{self, Jepsen, JepsenJson};
use isoscope_kernel::formats::plume::{self, Plume};
use isoscope_kernel::formats::{Reader, Records, edn};
use isoscope_kernel::history::History;
use isoscope_kernel::value::Values;

/// A parser under test, by name.
pub type Target = (&'static str, fn(&[u8]));

/// Every parser.
pub const TARGETS: [Target; 9] = [
    ("plume", plume),
    ("jepsen", jepsen),
    ("jepsen_json", jepsen_json),
    ("aion", aion),
    ("arango", arango),
    ("edn_value", edn_value),
    ("awdit", awdit),
    ("dbcop_hist", dbcop_hist),
    ("dbcop_json", dbcop_json),
];

type Writer = fn(&History, &mut dyn std::io::Write) -> std::io::Result<()>;

/// Plume text.
pub fn plume(input: &[u8]) {
    text_format::<Plume>(input, plume::write);
}

/// Jepsen histories in EDN.
pub fn jepsen(input: &[u8]) {
    text_format::<Jepsen>(input, jepsen::write);
}

/// Jepsen histories in JSON.
pub fn jepsen_json(input: &[u8]) {
    text_format::<JepsenJson>(input, jepsen::write_json);
}

/// AION histories, an array or lines.
pub fn aion(input: &[u8]) {
    text_format::<Aion>(input, aion::write);
}

/// AWDIT's test format.
pub fn awdit(input: &[u8]) {
    text_format::<Awdit>(input, awdit::write);
}

/// dbcop's text.
pub fn dbcop_hist(input: &[u8]) {
    text_format::<DbcopHist>(input, dbcop_hist::write);
}

/// dbcop's JSON.
pub fn dbcop_json(input: &[u8]) {
    text_format::<DbcopJson>(input, dbcop_json::write);
}

/// The ArangoDB log.
pub fn arango(input: &[u8]) {
    let _ = isoscope_kernel::formats::arango::parse(input);
}

/// A single EDN form: what is read is written and read back as the same text.
pub fn edn_value(input: &[u8]) {
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

fn text_format<F: Records + Default>(input: &[u8], write: Writer) {
    let whole = read::<F>(input, input.len().max(1));
    let blocks = read::<F>(input, 1 + input.len() / 3);
    let history = match (whole, blocks) {
        (Ok(whole), Ok(blocks)) => {
            assert!(same(&whole, &blocks), "blocks matter");
            whole
        }
        (Err(whole), Err(blocks)) => {
            assert_eq!(whole.line, blocks.line, "blocks matter: {whole:?}, {blocks:?}");
            return;
        }
        (whole, blocks) => panic!("blocks matter: {:?}, {:?}", whole.err(), blocks.err()),
    };
    let mut written = Vec::new();
    write(&history, &mut written).expect("a vector takes everything");
    let shown = String::from_utf8_lossy(&written);
    let again =
        read::<F>(&written, written.len().max(1)).unwrap_or_else(|error| panic!("{error:?}\n{shown}"));
    assert!(same(&history, &again), "not read back as it was\n{shown}");
}

fn read<F: Records + Default>(input: &[u8], block: usize) -> Result<History, ParseError> {
    let mut reader = Reader::new(F::default());
    for part in input.chunks(block) {
        reader.feed(part)?;
    }
    reader.end_of_file()?;
    reader.finish()
}
