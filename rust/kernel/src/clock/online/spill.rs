//! What left memory and may be asked for by somebody who comes late: segments of transactions, found by key.
//!
//! A segment holds transactions, then an index of fixed entries by (key, last time), then the times of all. It is
//! written once and never changed; where the bytes lie is somebody else's business.

use super::bytes::{Bytes, Damaged, Rest};
use super::first::{First, Suspects};
use super::key::{Read, Version};
use super::save::{load_transaction, save_transaction};
use super::transactions::Transaction;
use super::{Engine, context};
use crate::clock::Isolation;
use crate::history::{Kind, Timestamp};
use crate::value::{Value, Values};
use hashbrown::{HashMap, HashSet};

/// Where segments lie.
pub trait Store: Send + Sync {
    /// Adds a segment; they are numbered 0, 1, 2, ...
    ///
    /// # Errors
    /// What the disk says; then nothing was added.
    fn write(&mut self, segment: &[u8]) -> Result<(), String>;
    /// Bytes of a segment.
    ///
    /// # Errors
    /// What the disk says.
    fn read(&self, segment: u32, offset: u64, length: usize) -> Result<Vec<u8>, String>;
}

/// Before all others.
pub const EARLIEST: Timestamp = Timestamp::new(i64::MIN + 1, i64::MIN);

const ENTRY: usize = 56;
const TIME: usize = 24;
/// Entries that are read at once.
const BLOCK: usize = 128;

/// One use of a key by a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: u32,
    /// The later of start and commit.
    last: Timestamp,
    commit: Timestamp,
    writes: bool,
    /// A fingerprint of what was written.
    value: u64,
    offset: u32,
    length: u32,
}

/// What is known of a segment without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub number: u32,
    pub index: u64,
    pub entries: u64,
    pub times: u64,
    pub earliest: Timestamp,
    pub latest: Timestamp,
}

/// Segments, and where they lie.
pub(super) struct Spill {
    pub store: Box<dyn Store>,
    /// So many transactions leave at once.
    pub least: usize,
    pub segments: Vec<Segment>,
}

impl Engine {
    /// Keeps what leaves memory in `store`, at least so many transactions at once, so that whoever comes late can
    /// be judged.
    pub fn spill_to(&mut self, store: Box<dyn Store>, least: usize) {
        let segments = std::mem::take(&mut self.segments);
        self.spill = Some(Spill { store, least, segments });
    }

    /// Writes transactions that are about to leave; false if the disk does not take them.
    pub(super) fn write_segment(&mut self, slots: &[u32]) -> bool {
        let Some(spill) = &mut self.spill else { return true };
        let (mut bytes, mut entries, mut times) = (Bytes::default(), Vec::new(), Vec::new());
        for &slot in slots {
            let one = self.transactions.get(slot);
            let offset = bytes.0.len() as u32;
            save_transaction(&mut bytes, one, &self.lists, &self.values);
            let length = bytes.0.len() as u32 - offset;
            entries.extend(uses(one, &self.values).map(|entry| Entry { offset, length, ..entry }));
            if one.is_committed {
                times.push((one.commit, one.number));
                if self.terms.isolation == Isolation::Snapshot {
                    times.push((one.start, one.number));
                }
            }
        }
        entries.sort_unstable();
        times.sort_unstable();
        times.dedup();
        let segment = Segment {
            number: spill.segments.len() as u32,
            index: bytes.0.len() as u64,
            entries: entries.len() as u64,
            times: times.len() as u64,
            earliest: times.first().map_or(EARLIEST, |&(time, _)| time),
            latest: times.last().map_or(EARLIEST, |&(time, _)| time),
        };
        for entry in &entries {
            entry.push(&mut bytes);
        }
        for (time, number) in times {
            bytes.time(time);
            bytes.0.extend_from_slice(&number.to_le_bytes());
        }
        match spill.store.write(&bytes.0) {
            Ok(()) => {
                spill.segments.push(segment);
                self.trouble = None;
                true
            }
            Err(trouble) => {
                self.trouble = Some(trouble);
                false
            }
        }
    }

    /// Makes sure that everything about a key from `from` on is in memory; false if that is not possible.
    pub(super) fn recall(&mut self, key: u32, from: Timestamp) -> bool {
        if self.keys[key as usize].floor <= from {
            return true;
        }
        let Some(spill) = &self.spill else { return false };
        let found = spill.entries(key, from);
        let Ok((entries, has_base)) = found else {
            self.trouble = found.err();
            return false;
        };
        if !has_base && from > EARLIEST {
            // What the key held first depends on everybody.
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
            let spill = self.spill.as_ref()?;
            let bytes = spill.store.read(segment, entry.offset.into(), entry.length as usize);
            let loaded = bytes.and_then(|bytes| {
                load_transaction(&mut Rest(&bytes), &mut self.lists, &mut self.values)
                    .map_err(|Damaged| "a segment is damaged".to_owned())
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

    /// Puts versions and reads of a key back, those that are not there.
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
            let version = Version { commit, start, value, slot, write, count, end: 0 };
            if self.keys[key as usize].restore_version(context!(self), version) {
                self.transactions.hold(slot);
                self.sizes.versions += 1;
            }
        }
        for &slot in writers.iter().rev() {
            self.restore_reads(key, slot);
        }
        for &slot in slots {
            self.restore_aside(key, slot);
        }
    }

    fn restore_reads(&mut self, key: u32, slot: u32) {
        let mut own = std::mem::take(&mut self.own);
        let (keys, lists) = (&self.keys, &self.lists);
        let one = self.transactions.get(slot);
        own.look(&one.operations, keys.len(), lists, |key| keys[key as usize].shape == super::Shape::List);
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

    fn restore_aside(&mut self, key: u32, slot: u32) {
        let one = self.transactions.get(slot);
        if one.is_committed || self.keys[key as usize].aside.iter().any(|&(other, _)| other == slot) {
            return;
        }
        let is_write = |place: &u32| {
            let operation = one.operations[*place as usize];
            operation.key == key && operation.kind.installs()
        };
        let places: Vec<u32> = (0..one.operations.len() as u32).filter(is_write).collect();
        for place in places {
            self.keys[key as usize].aside.push((slot, place));
            self.transactions.hold(slot);
        }
    }

    /// All of a key is in memory again: what it held first may be another value.
    fn reopen(&mut self, key: u32) {
        let known = &self.keys[key as usize];
        if !matches!(known.first, First::Settled(_)) {
            return;
        }
        let (mut reads, mut written) = (HashMap::<Value, (u64, u32)>::new(), HashSet::new());
        let slots: HashSet<u32> = known
            .versions
            .iter()
            .map(|version| version.slot)
            .chain(known.reads.iter().chain(&known.odd).map(|read| read.slot))
            .chain(known.aside.iter().map(|&(slot, _)| slot))
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
        self.keys[key as usize].first = First::Open(Box::new(Suspects::new(reads, written)));
    }

    /// Who wrote one of these values to a key, of those that left memory; each is held once.
    pub(super) fn recall_writes(&mut self, key: u32, values: &HashSet<Value>) -> Option<Vec<u32>> {
        let spill = self.spill.as_ref()?;
        let (entries, _) = spill.entries(key, EARLIEST).ok()?;
        let prints: HashSet<u64> = values.iter().map(|&value| fingerprint(&self.values, value)).collect();
        let asked: Vec<(u32, Entry)> =
            entries.into_iter().filter(|(_, entry)| entry.writes && prints.contains(&entry.value)).collect();
        self.read_back(&asked)
    }

    /// Numbers of transactions that left memory and have this time, two at most.
    pub(super) fn recall_time(&self, time: Timestamp) -> Vec<u64> {
        let Some(spill) = &self.spill else { return Vec::new() };
        let mut numbers = Vec::new();
        for segment in spill.segments.iter().filter(|one| one.earliest <= time && time <= one.latest) {
            numbers.extend(spill.with_time(segment, time).unwrap_or_default());
            numbers.sort_unstable();
            numbers.dedup();
            if numbers.len() > 1 {
                break;
            }
        }
        numbers
    }
}

/// What a transaction does with each key, each write by itself.
fn uses<'o>(one: &'o Transaction, values: &'o Values) -> impl Iterator<Item = Entry> + 'o {
    let (last, commit) = (one.start.max(one.commit), one.commit);
    let operations = one.operations.iter().enumerate();
    let is_kept = |&(place, operation): &(usize, &super::Operation)| {
        let is_again = || one.operations[..place].iter().any(|other| other.key == operation.key);
        operation.kind.installs() || !is_again()
    };
    operations.filter(is_kept).map(move |(_, operation)| {
        let writes = operation.kind.installs();
        let value = if writes { fingerprint(values, operation.value) } else { 0 };
        Entry { key: operation.key, last, commit, writes, value, offset: 0, length: 0 }
    })
}

/// The same for the same scalar, whatever its number is; others are rarely like it.
fn fingerprint(values: &Values, value: Value) -> u64 {
    let Some(index) = value.atom_index() else { return value.word() };
    // The parameters of FNV-1a.
    let (kind, text) = values.atom(index);
    let start = 0xcbf2_9ce4_8422_2325 ^ kind as u64;
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Entry {
    fn push(&self, bytes: &mut Bytes) {
        bytes.0.extend_from_slice(&self.key.to_le_bytes());
        bytes.0.extend_from_slice(&u32::from(self.writes).to_le_bytes());
        bytes.time(self.last);
        bytes.time(self.commit);
        bytes.0.extend_from_slice(&self.value.to_le_bytes());
        bytes.0.extend_from_slice(&self.offset.to_le_bytes());
        bytes.0.extend_from_slice(&self.length.to_le_bytes());
    }

    fn read(rest: &mut Rest<'_>) -> Result<Self, Damaged> {
        let number = |rest: &mut Rest<'_>| -> Result<u32, Damaged> {
            Ok(u32::from_le_bytes(rest.bytes(4)?.try_into().map_err(|_| Damaged)?))
        };
        let (key, writes) = (number(rest)?, number(rest)? != 0);
        let (last, commit, value) = (rest.time()?, rest.time()?, rest.word()?.word());
        let (offset, length) = (number(rest)?, number(rest)?);
        Ok(Self { key, last, commit, writes, value, offset, length })
    }
}

impl Spill {
    /// Everything about a key from `from` on, and the newest version before; whether there is such a version.
    fn entries(&self, key: u32, from: Timestamp) -> Result<(Vec<(u32, Entry)>, bool), String> {
        let mut found = Vec::new();
        // Several may have committed at the same time.
        let mut base: Vec<(u32, Entry)> = Vec::new();
        for segment in &self.segments {
            let first = self.lower_bound(segment, key, from)?;
            self.scan(segment, first, |entry| {
                if entry.key == key {
                    found.push((segment.number, entry));
                }
                entry.key == key
            })?;
            self.before(segment, key, from, first, &mut base)?;
        }
        let has_base = !base.is_empty();
        found.extend(base);
        Ok((found, has_base))
    }

    /// The newest versions of a key before `from`, if they are not older than the `newest` so far.
    fn before(
        &self,
        segment: &Segment,
        key: u32,
        from: Timestamp,
        first: u64,
        newest: &mut Vec<(u32, Entry)>,
    ) -> Result<(), String> {
        for place in (0..first).rev() {
            let entry = self.entry(segment, place)?;
            let best = newest.first().map(|(_, best)| best.commit);
            if entry.key != key || best.is_some_and(|best| entry.last < best) {
                break;
            }
            if !entry.writes || entry.commit >= from || best.is_some_and(|best| entry.commit < best) {
                continue;
            }
            if best.is_some_and(|best| entry.commit > best) {
                newest.clear();
            }
            newest.push((segment.number, entry));
        }
        Ok(())
    }

    /// The first entry that is not before (key, from).
    fn lower_bound(&self, segment: &Segment, key: u32, from: Timestamp) -> Result<u64, String> {
        let (mut low, mut high) = (0, segment.entries);
        while low < high {
            let middle = low.midpoint(high);
            let entry = self.entry(segment, middle)?;
            if (entry.key, entry.last) < (key, from) { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    fn entry(&self, segment: &Segment, place: u64) -> Result<Entry, String> {
        let bytes = self.store.read(segment.number, segment.index + place * ENTRY as u64, ENTRY)?;
        Entry::read(&mut Rest(&bytes)).map_err(|Damaged| "a segment is damaged".to_owned())
    }

    /// Entries from a place on, as long as `goes_on`.
    fn scan(
        &self,
        segment: &Segment,
        mut place: u64,
        mut goes_on: impl FnMut(Entry) -> bool,
    ) -> Result<(), String> {
        while place < segment.entries {
            let count = (segment.entries - place).min(BLOCK as u64);
            let offset = segment.index + place * ENTRY as u64;
            let bytes = self.store.read(segment.number, offset, count as usize * ENTRY)?;
            let mut rest = Rest(&bytes);
            for _ in 0..count {
                let entry = Entry::read(&mut rest).map_err(|Damaged| "a segment is damaged".to_owned())?;
                if !goes_on(entry) {
                    return Ok(());
                }
            }
            place += count;
        }
        Ok(())
    }

    /// Who has this time.
    fn with_time(&self, segment: &Segment, time: Timestamp) -> Result<Vec<u64>, String> {
        let start = segment.index + segment.entries * ENTRY as u64;
        let at = |place: u64| -> Result<(Timestamp, u64), String> {
            let bytes = self.store.read(segment.number, start + place * TIME as u64, TIME)?;
            let mut rest = Rest(&bytes);
            let damaged = |Damaged| "a segment is damaged".to_owned();
            let time = rest.time().map_err(damaged)?;
            let number = rest.bytes(8).map_err(damaged)?.try_into().map_or(0, u64::from_le_bytes);
            Ok((time, number))
        };
        let (mut low, mut high) = (0, segment.times);
        while low < high {
            let middle = low.midpoint(high);
            if at(middle)?.0 < time { low = middle + 1 } else { high = middle }
        }
        let mut numbers = Vec::new();
        while low < segment.times && numbers.len() < 2 {
            let (other, number) = at(low)?;
            if other != time {
                break;
            }
            numbers.push(number);
            low += 1;
        }
        Ok(numbers)
    }
}
