//! Parsers and writers: bytes in, [`History`] or one [`ParseError`] out, and back.
//!
//! [`READERS`] and [`WRITERS`] list every native format by name. A format whose input is a sequence of records
//! implements [`Records`]: it parses whole records of a block into a batch (on any core, without shared state)
//! and merges batches in the order of the input. How records are spelt is a [`Notation`]: [`Lines`], [`Json`] or
//! [`Edn`]. A format that must be read in order is a [`Stream`].

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
pub mod table;
pub mod viper;

mod lines;
mod reader;
mod record_reader;
mod records;
mod stream;
mod unparsed;
mod without_ids;
mod writer;

pub use edn::Edn;
pub use json::Json;
pub use lines::{LineBatch, Lines};
pub use reader::{Reader, Slices, WriteAheadLog};
pub use record_reader::RecordReader;
pub use records::{Notation, Records, Rewind};
pub use stream::{Stream, StreamReader};
pub use writer::Writer;

/// Makes a reader at the start of its input.
pub type OpenReader = fn() -> Box<dyn Reader>;

/// Every format that is read, by name.
pub const READERS: &[(&str, OpenReader)] = &[
    ("aion", records::<aion::Aion, Json>),
    ("awdit", records::<awdit::Awdit, Lines>),
    ("cobra", stream::<cobra::Cobra>),
    ("dbcop-bincode", stream::<dbcop_2019::bincode::Bincode>),
    ("dbcop-hist", records::<dbcop_hist::DbcopHist, Lines>),
    ("dbcop-json", records::<dbcop_json::DbcopJson, Json>),
    ("dbcop-yaml", stream::<dbcop_2019::yaml::Yaml>),
    ("grail", records::<grail::Grail, Json>),
    ("jepsen", records::<jepsen::Jepsen, Edn>),
    ("jepsen-json", records::<jepsen::Jepsen, Json>),
    ("leopard", records::<leopard::Leopard, Json>),
    ("plume", records::<plume::Plume, Lines>),
    ("viper", records::<viper::Viper, Json>),
    ("viper-edn", records::<viper::Viper, Edn>),
];

/// Every format that is written, by name.
pub const WRITERS: &[Writer] = &[
    aion::WRITER,
    aion::LINES_WRITER,
    awdit::WRITER,
    dbcop_hist::WRITER,
    dbcop_json::WRITER,
    jepsen::WRITER,
    jepsen::JSON_WRITER,
    jepsen::JSON_LINES_WRITER,
    leopard::WRITER,
    leopard::LINES_WRITER,
    plume::WRITER,
];

/// A reader of the format called `name`, if there is one.
#[must_use]
pub fn reader(name: &str) -> Option<Box<dyn Reader>> {
    READERS.iter().find(|(known, _)| *known == name).map(|(_, open)| open())
}

/// The writer called `name`, if there is one.
#[must_use]
pub fn writer(name: &str) -> Option<&'static Writer> {
    WRITERS.iter().find(|writer| writer.name == name)
}

fn records<F: Records + 'static, N: Notation<F::Batch> + 'static>() -> Box<dyn Reader> {
    Box::new(RecordReader::<F, N>::default())
}

fn stream<S: Stream + Default + 'static>() -> Box<dyn Reader> {
    Box::new(StreamReader::<S>::default())
}

#[cfg(test)]
pub(crate) mod testing;
