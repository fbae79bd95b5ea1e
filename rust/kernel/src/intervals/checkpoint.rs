//! Checkpoints: the whole state of an engine as bytes, and back; and texts that are no longer used.

use super::engine::{Engine, Session, Sizes, Terms, Trace};
use super::excerpt::carry;
use super::finding_log::FindingLog;
use super::names::Names;
use super::pipeline::Pipeline;
use super::verifier::Verifier;
use crate::index::DenseIndex;
use crate::value::{AtomKind, Value, Values};
use serde::{Deserialize, Serialize};

/// Texts are not cleaned before they take so many bytes.
const LEAST: usize = 1 << 20;
/// A checkpoint begins with the number of its layout.
const LAYOUT: u32 = 3;

/// The state of an engine that is written.
#[derive(Serialize)]
struct WrittenCheckpoint<'e> {
    layout: u32,
    terms: &'e Terms,
    atoms: Vec<(AtomKind, &'e str)>,
    keys: &'e [Value],
    rows: &'e [Value],
    row_of_key: &'e [u32],
    verifier: &'e Verifier,
    pipeline: &'e Pipeline<Trace>,
    sessions: &'e [Value],
    progress: &'e [Session],
    ids: Vec<Value>,
    initial: Value,
    sizes: Sizes,
    latest: i64,
    log: &'e FindingLog,
}

/// The same state as it is read.
#[derive(Deserialize)]
struct ReadCheckpoint {
    layout: u32,
    terms: Terms,
    atoms: Vec<(AtomKind, String)>,
    keys: Vec<Value>,
    rows: Vec<Value>,
    row_of_key: Vec<u32>,
    verifier: Verifier,
    pipeline: Pipeline<Trace>,
    sessions: Vec<Value>,
    progress: Vec<Session>,
    ids: Vec<Value>,
    initial: Value,
    sizes: Sizes,
    latest: i64,
    log: FindingLog,
}

impl Engine {
    /// The whole state, as bytes.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut ids: Vec<Value> = self.ids.iter().copied().collect();
        ids.sort_unstable();
        let values = &self.names.values;
        let checkpoint = WrittenCheckpoint {
            layout: LAYOUT,
            terms: &self.terms,
            atoms: (0..values.atom_count()).map(|index| values.atom(index)).collect(),
            keys: self.names.keys.ids(),
            rows: self.names.rows.ids(),
            row_of_key: &self.names.row_of_key,
            verifier: &self.verifier,
            pipeline: &self.pipeline,
            sessions: self.sessions.ids(),
            progress: &self.progress,
            ids,
            initial: self.initial,
            sizes: self.sizes,
            latest: self.latest,
            log: &self.log,
        };
        // Writing to memory cannot fail.
        postcard::to_stdvec(&checkpoint).unwrap_or_default()
    }

    /// The engine of a checkpoint; None if the bytes are damaged or of another layout.
    #[must_use]
    pub fn load(bytes: &[u8]) -> Option<Self> {
        let saved: ReadCheckpoint = postcard::from_bytes(bytes).ok()?;
        (saved.layout == LAYOUT).then(|| saved.restored())
    }

    /// Drops unused texts if all texts have doubled since the last time.
    pub(super) fn forget_texts(&mut self) {
        if self.names.values.bytes() < self.texts.max(LEAST) * 2 {
            return;
        }
        let old = std::mem::take(&mut self.names.values);
        let mut new = Values::default();
        self.each_value(&mut |value| *value = carry(&old, &mut new, *value));
        self.names.values = new;
        self.texts = self.names.values.bytes();
    }

    fn each_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        see(&mut self.initial);
        for index in [&mut self.names.keys, &mut self.names.rows, &mut self.sessions] {
            *index = renumbered(index.ids().iter().map(|&id| {
                let mut id = id;
                see(&mut id);
                id
            }));
        }
        self.ids = self
            .ids
            .drain()
            .map(|mut id| {
                see(&mut id);
                id
            })
            .collect();
        let verifier = &mut self.verifier;
        verifier.ids.iter_mut().for_each(&mut *see);
        verifier.transactions.iter_mut().for_each(|one| one.each_value(see));
        for key in &mut verifier.keys {
            key.each_value(see);
        }
        self.verifier.each_predicate_value(see);
        self.each_logged_value(see);
    }
}

impl ReadCheckpoint {
    fn restored(self) -> Engine {
        let mut values = Values::default();
        for (kind, text) in self.atoms.iter().skip(1) {
            values.intern(*kind, text);
        }
        let texts = values.bytes();
        Engine {
            terms: self.terms,
            names: Names {
                values,
                keys: renumbered(self.keys.into_iter()),
                rows: renumbered(self.rows.into_iter()),
                row_of_key: self.row_of_key,
            },
            verifier: self.verifier,
            pipeline: self.pipeline,
            sessions: renumbered(self.sessions.into_iter()),
            progress: self.progress,
            ids: self.ids.into_iter().collect(),
            initial: self.initial,
            sizes: self.sizes,
            latest: self.latest,
            log: self.log,
            ends: Vec::new(),
            texts,
        }
    }
}

fn renumbered(ids: impl Iterator<Item = Value>) -> DenseIndex {
    let mut index = DenseIndex::default();
    ids.for_each(|id| {
        index.number(id);
    });
    index
}
