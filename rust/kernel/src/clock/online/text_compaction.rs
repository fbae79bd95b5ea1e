//! Drops texts that nothing refers to any longer: ids and values that are texts would fill memory.

use super::Engine;
use super::excerpt_history::carry;
use super::initial_value::InitialValue;
use crate::index::DenseIndex;
use crate::value::{Value, Values};

/// Texts may grow to so many bytes before the first compaction.
const MIN_BYTES: usize = 1 << 20;

impl Engine {
    /// Drops unused texts if all texts have doubled since the last time.
    pub(super) fn forget_texts(&mut self) {
        if self.values.bytes() < self.texts.max(MIN_BYTES) * 2 {
            return;
        }
        let old = std::mem::take(&mut self.values);
        let mut new = Values::default();
        self.each_value(&mut |value| *value = carry(&old, &mut new, *value));
        self.ids = self.transactions.iter().map(|(slot, one)| (one.id, slot)).collect();
        self.values = new;
        self.texts = self.values.bytes();
    }

    fn each_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        self.initial.iter_mut().for_each(&mut *see);
        for index in [&mut self.index, &mut self.sessions] {
            let mut renamed = DenseIndex::default();
            for &id in index.ids() {
                let mut id = id;
                see(&mut id);
                renamed.number(id);
            }
            *index = renamed;
        }
        for one in self.transactions.iter_mut() {
            see(&mut one.id);
            one.operations.iter_mut().for_each(|operation| see(&mut operation.value));
        }
        self.lists.iter_mut().for_each(&mut *see);
        for key in &mut self.keys {
            key.versions.iter_mut().for_each(|version| see(&mut version.value));
            key.reads.iter_mut().chain(&mut key.odd).for_each(|read| see(&mut read.value));
            key.elements.iter_mut().for_each(&mut *see);
            key.initial.each_value(see);
        }
        for news in &mut self.found.news {
            see(&mut news.transaction);
            news.other.iter_mut().chain(&mut news.key).for_each(&mut *see);
        }
        let recent = self.found.recent.iter_mut().map(|(_, shown)| shown);
        for stale in
            self.found.shown.iter_mut().flatten().chain(recent).filter_map(|shown| shown.stale.as_mut())
        {
            stale.list.iter_mut().chain(&mut stale.expected).for_each(&mut *see);
        }
    }
}

impl InitialValue {
    fn each_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        match self {
            Self::Known(value) => see(value),
            Self::Settled(value) => value.iter_mut().for_each(see),
            Self::Open(suspects) => {
                let renamed = |mut value: Value, see: &mut dyn FnMut(&mut Value)| {
                    see(&mut value);
                    value
                };
                let reads = suspects.reads.iter().map(|(&value, &read)| (renamed(value, see), read));
                suspects.reads = reads.collect();
                suspects.written = suspects.written.iter().map(|&value| renamed(value, see)).collect();
                suspects.learned.iter_mut().for_each(see);
            }
        }
    }
}
