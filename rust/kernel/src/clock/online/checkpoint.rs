//! A checkpoint: everything an engine knows, as bytes that depend on nothing else.

use super::Engine;
use super::key::Key;
use super::transactions::Transactions;
use crate::clock::ClockLevel;
use serde::{Deserialize, Serialize};

/// What saved bytes begin with; another layout has another number.
const LAYOUT: u32 = 3;

/// Bytes that are no checkpoint, or one of another layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

/// The bytes of a checkpoint: the layout, then the engine.
#[derive(Serialize)]
struct Checkpoint<'e> {
    layout: u32,
    engine: &'e Engine,
}

impl Engine {
    /// Everything, as bytes: the same state gives the same bytes.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        // This cannot fail: the engine has no type that postcard does not know.
        postcard::to_stdvec(&Checkpoint { layout: LAYOUT, engine: self }).unwrap_or_default()
    }

    /// The engine that was saved.
    ///
    /// # Errors
    /// If these are no bytes of a checkpoint.
    pub fn load(bytes: &[u8]) -> Result<Self, Damaged> {
        let (layout, bytes) = postcard::take_from_bytes::<u32>(bytes).map_err(|_| Damaged)?;
        if layout != LAYOUT {
            return Err(Damaged);
        }
        let (mut engine, rest) = postcard::take_from_bytes::<Self>(bytes).map_err(|_| Damaged)?;
        if !rest.is_empty() || !engine.transactions.is_sound() {
            return Err(Damaged);
        }
        for key in &mut engine.keys {
            key.complete(&engine.transactions, engine.terms.level).ok_or(Damaged)?;
        }
        engine.ids = engine.transactions.iter().map(|(slot, one)| (one.id, slot)).collect();
        Ok(engine)
    }
}

impl Key {
    /// Copies into versions and reads what a checkpoint leaves out because their transactions have it; none if
    /// one of these is missing.
    fn complete(&mut self, transactions: &Transactions, level: ClockLevel) -> Option<()> {
        for version in self.versions.iter_mut() {
            let writer = transactions.find(version.slot)?;
            version.value = writer.operations.get(version.write as usize)?.value;
            (version.start, version.commit) = writer.times();
        }
        for read in self.reads.iter_mut().chain(&mut self.odd) {
            let reader = transactions.find(read.slot)?;
            read.value = reader.operations.get(read.place as usize)?.value;
            read.time = if level == ClockLevel::Snapshot { reader.start } else { reader.commit };
        }
        Some(())
    }
}

/// Scalars as the texts of their atoms.
pub(super) mod atoms {
    use super::{Deserialize, Serialize};
    use crate::value::{AtomKind, Values};
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(values: &Values, to: S) -> Result<S::Ok, S::Error> {
        let atoms: Vec<(AtomKind, &str)> = (0..values.atom_count()).map(|index| values.atom(index)).collect();
        atoms.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Values, D::Error> {
        let mut values = Values::default();
        for (kind, text) in Vec::<(AtomKind, &str)>::deserialize(from)? {
            values.intern(kind, text);
        }
        Ok(values)
    }
}

/// An index as the ids that it numbers.
pub(super) mod ids {
    use super::{Deserialize, Serialize};
    use crate::index::DenseIndex;
    use crate::value::Value;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(index: &DenseIndex, to: S) -> Result<S::Ok, S::Error> {
        index.ids().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DenseIndex, D::Error> {
        let mut index = DenseIndex::default();
        for id in Vec::<Value>::deserialize(from)? {
            index.number(id);
        }
        Ok(index)
    }
}

/// The entries of a table in order, so that the same state gives the same bytes.
pub(super) fn in_order<'e, T: Ord + Serialize, C, S: serde::Serializer>(
    entries: &'e C,
    to: S,
) -> Result<S::Ok, S::Error>
where
    &'e C: IntoIterator<Item = T>,
{
    let mut sorted: Vec<T> = entries.into_iter().collect();
    sorted.sort_unstable();
    sorted.serialize(to)
}
