//! One function for each parser: any bytes must give a history or an error, whatever the blocks.
//!
//! What is read must also be written and read back as the same history, and twice the same way.

use isoscope_kernel::equality::same;
use isoscope_kernel::error::ParseError;
use isoscope_kernel::formats::aion::{self, Aion};
use isoscope_kernel::formats::awdit::{self, Awdit};
use isoscope_kernel::formats::dbcop_hist::{self, DbcopHist};
use isoscope_kernel::formats::dbcop_json::{self, DbcopJson};
use isoscope_kernel::formats::cobra::Cobra;
use isoscope_kernel::formats::dbcop_2019::{bincode::Bincode, yaml::Yaml};
use isoscope_kernel::formats::grail::Grail;
use isoscope_kernel::formats::jepsen::{self, Jepsen, JepsenJson};
use isoscope_kernel::formats::leopard::{self, Leopard};
use isoscope_kernel::formats::plume::{self, Plume};
use isoscope_kernel::formats::viper::{Viper, ViperEdn};
use isoscope_kernel::formats::{Reader, Records, edn};
use isoscope_kernel::history::History;
use isoscope_kernel::value::Values;

/// A parser under test, by name.
pub type Target = (&'static str, fn(&[u8]));

/// Every parser.
pub const TARGETS: [Target; 16] = [
    ("plume", plume),
    ("jepsen", jepsen),
    ("jepsen_json", jepsen_json),
    ("aion", aion),
    ("arango", arango),
    ("edn_value", edn_value),
    ("awdit", awdit),
    ("dbcop_hist", dbcop_hist),
    ("dbcop_json", dbcop_json),
    ("dbcop_bincode", dbcop_bincode),
    ("dbcop_yaml", dbcop_yaml),
    ("cobra", cobra),
    ("leopard", leopard),
    ("viper", viper),
    ("viper_edn", viper_edn),
    ("grail", grail),
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

/// dbcop's histories in bincode.
pub fn dbcop_bincode(input: &[u8]) {
    whole_or_blocks::<Bincode>(input);
}

/// dbcop's histories in YAML.
pub fn dbcop_yaml(input: &[u8]) {
    whole_or_blocks::<Yaml>(input);
}

/// Cobra's logs.
pub fn cobra(input: &[u8]) {
    whole_or_blocks::<Cobra>(input);
}

/// Traces of Leopard, an array or lines.
pub fn leopard(input: &[u8]) {
    text_format::<Leopard>(input, leopard::write);
}

/// Logs of Viper in JSON.
pub fn viper(input: &[u8]) {
    whole_or_blocks::<Viper>(input);
}

/// Logs of Viper in EDN.
pub fn viper_edn(input: &[u8]) {
    whole_or_blocks::<ViperEdn>(input);
}

/// Graphs of GRAIL.
pub fn grail(input: &[u8]) {
    whole_or_blocks::<Grail>(input);
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
    let Some(history) = whole_or_blocks::<F>(input) else { return };
    let mut written = Vec::new();
    write(&history, &mut written).expect("a vector takes everything");
    let shown = String::from_utf8_lossy(&written);
    let again =
        read::<F>(&written, written.len().max(1)).unwrap_or_else(|error| panic!("{error:?}\n{shown}"));
    assert!(same(&history, &again), "not read back as it was\n{shown}");
}

/// The history in `input`, if it is one: the same, or the same error, however it is fed.
fn whole_or_blocks<F: Records + Default>(input: &[u8]) -> Option<History> {
    let whole = read::<F>(input, input.len().max(1));
    let blocks = read::<F>(input, 1 + input.len() / 3);
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

fn read<F: Records + Default>(input: &[u8], block: usize) -> Result<History, ParseError> {
    let mut reader = Reader::new(F::default());
    reader.start_of_file("")?;
    for part in input.chunks(block) {
        reader.feed(part)?;
    }
    reader.end_of_file()?;
    reader.finish()
}
