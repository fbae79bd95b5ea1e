//! Versions and reads that a late transaction needs are read back from segments.

use super::initial_value::{InitialCandidates, InitialValue};
use super::key::{KeyVersion, Read};
use super::segments::{EARLIEST, Entry, NewSegment, SegmentStore, fingerprint};
use super::{Engine, Shape, context, stored_transaction};
use crate::clock::ClockLevel;
use crate::history::{Kind, Timestamp};
use crate::value::Value;
use hashbrown::{HashMap, HashSet};

impl Engine {
    /// Keeps transactions that leave memory in `store`, at least so many at once, so that late transactions can
    /// be judged.
    pub fn spill_to(&mut self, store: Box<dyn SegmentStore>, min_transactions: usize) {
        self.segments.keep_in(store, min_transactions);
    }

    /// Writes transactions that are about to leave memory; false if the disk does not take them.
    pub(super) fn write_segment(&mut self, slots: &[u32]) -> bool {
        if !self.segments.are_kept() {
            return true;
        }
        let mut segment = NewSegment::default();
        for &slot in slots {
            let one = self.transactions.get(slot);
            let bytes = stored_transaction::store(one, &self.lists, &self.values);
            let times = match (one.is_committed, self.terms.level) {
                (false, _) => &[][..],
                (true, ClockLevel::Snapshot) => &[one.commit, one.start],
                (true, ClockLevel::Serializable) => &[one.commit],
            };
            segment.add(one, &bytes, &self.values, times);
        }
        self.trouble = self.segments.write(segment).err();
        self.trouble.is_none()
    }

    /// Reads back the versions and reads of a key from `from` on; false if that is not possible.
    pub(super) fn recall(&mut self, key: u32, from: Timestamp) -> bool {
        if self.keys[key as usize].floor <= from {
            return true;
        }
        if !self.segments.are_kept() {
            return false;
        }
        let found = self.segments.entries(key, from);
        let Ok((entries, has_base)) = found else {
            self.trouble = found.err();
            return false;
        };
        if !has_base && from > EARLIEST {
            // The initial value of the key depends on all transactions.
            return self.recall(key, EARLIEST);
        }
        let Some(slots) = self.read_back(&entries) else { return false };
        self.restore(key, &slots);
        let known = &mut self.keys[key as usize];
        known.floor = if has_base { from } else { EARLIEST };
        if !has_base {
            known.is_cut = false;
            self.reopen(key);
        }
        for slot in slots {
            self.release(slot);
        }
        true
    }

    /// The slots of spilled transactions, each held once; those that are in memory already are not read again.
    fn read_back(&mut self, entries: &[(u32, Entry)]) -> Option<Vec<u32>> {
        let mut slots = Vec::new();
        let mut seen = HashSet::new();
        for &(segment, entry) in entries {
            if !seen.insert((segment, entry.offset)) {
                continue;
            }
            let bytes = self.segments.read(segment, entry.offset.into(), entry.length as usize);
            let loaded = bytes.and_then(|bytes| {
                let restored = stored_transaction::restore(&bytes, &mut self.lists, &mut self.values);
                restored.ok_or_else(|| "a segment is damaged".to_owned())
            });
            let mut one = match loaded {
                Ok(one) => one,
                Err(trouble) => {
                    self.trouble = Some(trouble);
                    return None;
                }
            };
            let here = self.ids.get(&one.id).copied();
            if let Some(slot) = here.filter(|&slot| self.transactions.get(slot).number == one.number) {
                one.operations.iter().for_each(|operation| self.lists.forget(operation.value));
                self.transactions.hold(slot);
                slots.push(slot);
                continue;
            }
            one.references = 1;
            let id = one.id;
            let slot = self.transactions.add(one);
            self.ids.insert(id, slot);
            slots.push(slot);
        }
        Some(slots)
    }

    /// Puts back the versions and reads of a key that are not in memory.
    fn restore(&mut self, key: u32, slots: &[u32]) {
        let mut writers: Vec<u32> =
            slots.iter().copied().filter(|&slot| self.transactions.get(slot).is_committed).collect();
        let order = context!(self).order;
        writers
            .sort_by(|&one, &other| order.commits(self.transactions.get(other), self.transactions.get(one)));
        for &slot in &writers {
            let one = self.transactions.get(slot);
            let Some(write) = one.last_write(key) else { continue };
            let of_key = one.operations.iter().filter(|one| one.key == key && one.kind.installs());
            let (commit, start, count) = (one.commit, one.start, of_key.count() as u32);
            let value = one.operations[write as usize].value;
            let version = KeyVersion { commit, start, value, slot, write, count, end: 0 };
            if self.keys[key as usize].restore_version(context!(self), version) {
                self.transactions.hold(slot);
                self.sizes.versions += 1;
            }
        }
        for &slot in writers.iter().rev() {
            self.restore_reads(key, slot);
        }
        for &slot in slots {
            self.restore_uncommitted(key, slot);
        }
    }

    fn restore_reads(&mut self, key: u32, slot: u32) {
        let mut own = std::mem::take(&mut self.own);
        let (keys, lists) = (&self.keys, &self.lists);
        let one = self.transactions.get(slot);
        own.look(&one.operations, keys.len(), lists, |key| keys[key as usize].shape == Shape::List);
        for external in own.external.iter().filter(|external| external.key == key) {
            let context = context!(self);
            let one = self.transactions.get(slot);
            let (time, value) = (context.moment(one), one.operations[external.read as usize].value);
            let read = Read { time, value, slot, place: external.read, own: external.own, is_wrong: false };
            if self.keys[key as usize].restore_read(context, read) {
                self.transactions.hold(slot);
                self.sizes.reads += 1;
            }
        }
        self.own = own;
    }

    fn restore_uncommitted(&mut self, key: u32, slot: u32) {
        let one = self.transactions.get(slot);
        if one.is_committed || self.keys[key as usize].uncommitted.iter().any(|&(other, _)| other == slot) {
            return;
        }
        let is_write = |place: &u32| {
            let operation = one.operations[*place as usize];
            operation.key == key && operation.kind.installs()
        };
        let places: Vec<u32> = (0..one.operations.len() as u32).filter(is_write).collect();
        for place in places {
            self.keys[key as usize].uncommitted.push((slot, place));
            self.transactions.hold(slot);
        }
    }

    /// All of a key is in memory again: its initial value may be another one.
    fn reopen(&mut self, key: u32) {
        let known = &self.keys[key as usize];
        if !matches!(known.initial, InitialValue::Settled(_)) {
            return;
        }
        let (mut reads, mut written) = (HashMap::<Value, (u64, u32)>::new(), HashSet::new());
        let slots: HashSet<u32> = known
            .versions
            .iter()
            .map(|version| version.slot)
            .chain(known.reads.iter().chain(&known.odd).map(|read| read.slot))
            .chain(known.uncommitted.iter().map(|&(slot, _)| slot))
            .collect();
        for slot in slots {
            let one = self.transactions.get(slot);
            let mut has_written = false;
            for (place, operation) in (0..).zip(&one.operations).filter(|(_, operation)| operation.key == key)
            {
                if operation.kind.installs() {
                    has_written = true;
                    written.insert(operation.value);
                } else if operation.kind == Kind::Read && !has_written && one.is_committed {
                    let first = reads.entry(operation.value).or_insert((one.number, place));
                    *first = (*first).min((one.number, place));
                }
            }
        }
        reads.retain(|value, _| !written.contains(value));
        self.keys[key as usize].initial =
            InitialValue::Open(Box::new(InitialCandidates::new(reads, written)));
    }

    /// The transactions in segments that wrote one of these values to a key; each is held once.
    pub(super) fn recall_writes(&mut self, key: u32, values: &HashSet<Value>) -> Option<Vec<u32>> {
        if !self.segments.are_kept() {
            return None;
        }
        let (entries, _) = self.segments.entries(key, EARLIEST).ok()?;
        let prints: HashSet<u64> = values.iter().map(|&value| fingerprint(&self.values, value)).collect();
        let asked: Vec<(u32, Entry)> =
            entries.into_iter().filter(|(_, entry)| entry.writes && prints.contains(&entry.value)).collect();
        self.read_back(&asked)
    }
}
