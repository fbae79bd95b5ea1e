//! Segments of transactions that left memory, found by key: a late transaction may need them.
//!
//! A segment holds transactions, then an index of fixed entries by (key, last time), then the times of all. It is
//! written once and never changed; a [`SegmentStore`] keeps the bytes.

use super::transactions::{Operation, Transaction};
use crate::history::Timestamp;
use crate::value::{Value, Values};
use serde::{Deserialize, Serialize};

/// Keeps the bytes of segments.
pub trait SegmentStore: Send + Sync {
    /// Adds a segment; they are numbered 0, 1, 2, ...
    ///
    /// # Errors
    /// The message of the disk; then nothing was added.
    fn write(&mut self, segment: &[u8]) -> Result<(), String>;
    /// Bytes of a segment.
    ///
    /// # Errors
    /// The message of the disk.
    fn read(&self, segment: u32, offset: u64, length: usize) -> Result<Vec<u8>, String>;
}

/// Before all others.
pub const EARLIEST: Timestamp = Timestamp::new(i64::MIN + 1, i64::MIN);

/// Entries that are read at once.
const BLOCK: usize = 128;

/// One use of a key by a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    key: u32,
    /// The later of start and commit.
    last: Timestamp,
    commit: Timestamp,
    pub writes: bool,
    /// A fingerprint of the value that was written.
    pub value: u64,
    pub offset: u32,
    pub length: u32,
}

/// What is known of a segment without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Segment {
    number: u32,
    index: u64,
    entries: u64,
    times: u64,
    earliest: Timestamp,
    latest: Timestamp,
}

/// All segments; without a store nothing is kept of transactions that leave memory.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Segments {
    #[serde(skip)]
    store: Option<Box<dyn SegmentStore>>,
    /// So many transactions leave at once.
    #[serde(skip)]
    pub min_transactions: usize,
    all: Vec<Segment>,
}

/// A segment that is being made.
#[derive(Default)]
pub(super) struct NewSegment {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    times: Vec<(Timestamp, u64)>,
}

impl NewSegment {
    /// Adds a transaction and its bytes, with the times that other transactions may share.
    pub fn add(&mut self, one: &Transaction, bytes: &[u8], values: &Values, times: &[Timestamp]) {
        let (offset, length) = (self.bytes.len() as u32, bytes.len() as u32);
        self.bytes.extend_from_slice(bytes);
        self.entries.extend(uses(one, values).map(|entry| Entry { offset, length, ..entry }));
        self.times.extend(times.iter().map(|&time| (time, one.number)));
    }

    /// The bytes of the segment, and what is known of it.
    fn finish(mut self, number: u32) -> (Vec<u8>, Segment) {
        self.entries.sort_unstable();
        self.times.sort_unstable();
        self.times.dedup();
        let segment = Segment {
            number,
            index: self.bytes.len() as u64,
            entries: self.entries.len() as u64,
            times: self.times.len() as u64,
            earliest: self.times.first().map_or(EARLIEST, |&(time, _)| time),
            latest: self.times.last().map_or(EARLIEST, |&(time, _)| time),
        };
        for entry in &self.entries {
            entry.write(&mut self.bytes);
        }
        for (time, number) in self.times {
            write_time(&mut self.bytes, time);
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        (self.bytes, segment)
    }
}

/// The uses of keys by a transaction: each write, and the first access to each key.
fn uses<'o>(one: &'o Transaction, values: &'o Values) -> impl Iterator<Item = Entry> + 'o {
    let (last, commit) = (one.start.max(one.commit), one.commit);
    let operations = one.operations.iter().enumerate();
    let is_kept = |&(place, operation): &(usize, &Operation)| {
        let is_again = || one.operations[..place].iter().any(|other| other.key == operation.key);
        operation.kind.installs() || !is_again()
    };
    operations.filter(is_kept).map(move |(_, operation)| {
        let writes = operation.kind.installs();
        let value = if writes { fingerprint(values, operation.value) } else { 0 };
        Entry { key: operation.key, last, commit, writes, value, offset: 0, length: 0 }
    })
}

/// Equal for equal scalars, whatever their numbers are; other scalars rarely have the same.
pub(super) fn fingerprint(values: &Values, value: Value) -> u64 {
    let Some(index) = value.atom_index() else { return value.word() };
    // The parameters of FNV-1a.
    let (kind, text) = values.atom(index);
    let start = 0xcbf2_9ce4_8422_2325 ^ kind as u64;
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Entry {
    const SIZE: usize = 56;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.key.to_le_bytes());
        bytes.extend_from_slice(&u32::from(self.writes).to_le_bytes());
        write_time(bytes, self.last);
        write_time(bytes, self.commit);
        bytes.extend_from_slice(&self.value.to_le_bytes());
        bytes.extend_from_slice(&self.offset.to_le_bytes());
        bytes.extend_from_slice(&self.length.to_le_bytes());
    }

    /// Reads the entry at the beginning of `bytes`.
    fn read(bytes: &[u8]) -> Option<Self> {
        let half = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let value = u64::from_le_bytes(bytes.get(40..48)?.try_into().ok()?);
        Some(Self {
            key: half(0)?,
            writes: half(4)? != 0,
            last: read_time(bytes.get(8..24)?)?,
            commit: read_time(bytes.get(24..40)?)?,
            value,
            offset: half(48)?,
            length: half(52)?,
        })
    }
}

/// Bytes of a time and the number of its transaction.
const TIME: usize = 24;

fn write_time(bytes: &mut Vec<u8>, time: Timestamp) {
    let (physical, logical) = time.parts().unwrap_or((i64::MIN, 0));
    bytes.extend_from_slice(&physical.to_le_bytes());
    bytes.extend_from_slice(&logical.to_le_bytes());
}

fn read_time(bytes: &[u8]) -> Option<Timestamp> {
    let part = |at: usize| Some(i64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (physical, logical) = (part(0)?, part(8)?);
    Some(if physical == i64::MIN { Timestamp::default() } else { Timestamp::new(physical, logical) })
}

fn damaged() -> String {
    "a segment is damaged".to_owned()
}

impl Segments {
    /// Keeps transactions that leave memory in `store`, at least so many at once.
    pub fn keep_in(&mut self, store: Box<dyn SegmentStore>, min_transactions: usize) {
        (self.store, self.min_transactions) = (Some(store), min_transactions);
    }

    /// Whether transactions that leave memory are kept.
    pub const fn are_kept(&self) -> bool {
        self.store.is_some()
    }

    /// How many there are.
    pub const fn count(&self) -> usize {
        self.all.len()
    }

    /// Writes a segment; nothing is done without a store.
    pub fn write(&mut self, segment: NewSegment) -> Result<(), String> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let (bytes, segment) = segment.finish(self.all.len() as u32);
        store.write(&bytes)?;
        self.all.push(segment);
        Ok(())
    }

    /// Bytes of a segment.
    pub fn read(&self, segment: u32, offset: u64, length: usize) -> Result<Vec<u8>, String> {
        let store = self.store.as_ref().ok_or_else(|| "segments have no store".to_owned())?;
        store.read(segment, offset, length)
    }

    /// Numbers of transactions that left memory and have this time, two at most.
    pub fn numbers_at(&self, time: Timestamp) -> Vec<u64> {
        let mut numbers = Vec::new();
        for segment in self.all.iter().filter(|one| one.earliest <= time && time <= one.latest) {
            numbers.extend(self.with_time(segment, time).unwrap_or_default());
            numbers.sort_unstable();
            numbers.dedup();
            if numbers.len() > 1 {
                break;
            }
        }
        numbers
    }

    /// Everything about a key from `from` on, and the newest version before; whether there is such a version.
    pub fn entries(&self, key: u32, from: Timestamp) -> Result<(Vec<(u32, Entry)>, bool), String> {
        let mut found = Vec::new();
        // Several transactions may have committed at the same time.
        let mut base: Vec<(u32, Entry)> = Vec::new();
        for segment in &self.all {
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
        let bytes = self.read(segment.number, segment.index + place * Entry::SIZE as u64, Entry::SIZE)?;
        Entry::read(&bytes).ok_or_else(damaged)
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
            let offset = segment.index + place * Entry::SIZE as u64;
            let bytes = self.read(segment.number, offset, count as usize * Entry::SIZE)?;
            for entry in bytes.chunks(Entry::SIZE) {
                if !goes_on(Entry::read(entry).ok_or_else(damaged)?) {
                    return Ok(());
                }
            }
            place += count;
        }
        Ok(())
    }

    /// The time at a place, and the number of its transaction.
    fn time(&self, segment: &Segment, place: u64) -> Result<(Timestamp, u64), String> {
        let start = segment.index + segment.entries * Entry::SIZE as u64;
        let bytes = self.read(segment.number, start + place * TIME as u64, TIME)?;
        let time = read_time(&bytes).ok_or_else(damaged)?;
        let number = bytes.get(16..24).and_then(|bytes| bytes.try_into().ok()).ok_or_else(damaged)?;
        Ok((time, u64::from_le_bytes(number)))
    }

    /// Numbers of transactions of a segment that have this time, two at most.
    fn with_time(&self, segment: &Segment, time: Timestamp) -> Result<Vec<u64>, String> {
        let (mut low, mut high) = (0, segment.times);
        while low < high {
            let middle = low.midpoint(high);
            if self.time(segment, middle)?.0 < time { low = middle + 1 } else { high = middle }
        }
        let mut numbers = Vec::new();
        while low < segment.times && numbers.len() < 2 {
            let (other, number) = self.time(segment, low)?;
            if other != time {
                break;
            }
            numbers.push(number);
            low += 1;
        }
        Ok(numbers)
    }
}
