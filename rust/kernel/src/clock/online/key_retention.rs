//! Versions and reads of a key that leave memory, and those that are read back.

use super::context::Context;
use super::initial_value::InitialValue;
use super::key::{Key, KeyVersion, Read, Shape};
use crate::clock::ClockLevel;
use crate::history::Timestamp;

impl Key {
    /// Drops the reads before the watermark, and the versions that are older than the newest before it: no
    /// transaction that comes in time can need them.
    ///
    /// Nothing is dropped of a transaction of which one time has not passed the watermark.
    pub fn cut(&mut self, context: Context<'_>, watermark: Timestamp, gone: &mut Vec<u32>) -> (usize, usize) {
        if self.held > 0 {
            return (0, 0);
        }
        let is_past = |slot: u32| {
            let (start, commit) = context.transactions.get(slot).times();
            commit < watermark && (start < watermark || context.order.level == ClockLevel::Serializable)
        };
        let reads = self.reads.iter().take_while(|read| read.time < watermark && is_past(read.slot)).count();
        self.reads.cut(reads, |read| gone.push(read.slot));
        let kept = self.reads.first().map_or(watermark, |read| read.time.min(watermark));
        let mut odd = 0;
        self.odd.retain(|read| {
            let is_old = read.time < watermark;
            odd += usize::from(is_old);
            if is_old {
                gone.push(read.slot);
            }
            !is_old
        });
        let old = self.replaced(kept, is_past);
        self.versions.cut(old, |version| gone.push(version.slot));
        self.is_cut |= old > 0;
        self.is_whole &= old == 0;
        if old + reads + odd > 0 {
            self.floor = watermark;
        }
        if self.versions.first().is_some_and(|version| version.commit < watermark) {
            self.close_initial(watermark);
        }
        (old, reads + odd)
    }

    /// How many versions at the start no read at `kept` or later sees, because newer ones replaced them.
    fn replaced(&self, kept: Timestamp, is_past: impl Fn(u32) -> bool) -> usize {
        if self.shape == Shape::List && !self.odd.is_empty() {
            return 0;
        }
        let pairs = self.versions.iter().zip(self.versions.iter().skip(1));
        let old = pairs.take_while(|(old, next)| next.commit < kept && is_past(old.slot)).count();
        // A read without a place in the order does not see its own version, but the one before.
        let is_own = |place: usize| {
            let version = self.versions.iter().nth(place);
            version.is_some_and(|version| self.odd.iter().any(|read| read.slot == version.slot))
        };
        (0..=old).rev().find(|&place| !is_own(place)).unwrap_or(0)
    }

    /// Puts a version back that was dropped; false if it is in memory.
    pub fn restore_version(&mut self, context: Context<'_>, mut version: KeyVersion) -> bool {
        let transaction = context.transactions.get(version.slot);
        let place = self.versions.partition(|other| context.is_earlier(other, version.commit, transaction));
        if self.versions.get(place).is_some_and(|other| other.slot == version.slot) {
            return false;
        }
        if self.shape == Shape::List {
            version.end = self.base() as u32;
        }
        self.versions.insert(place, version);
        true
    }

    /// Puts a read back that was dropped; false if it is in memory.
    pub fn restore_read(&mut self, context: Context<'_>, mut read: Read) -> bool {
        if self.find(context, read.slot, read.place).is_some() {
            return false;
        }
        read.is_wrong = self.is_wrong(context, &read);
        if context.is_odd(&read) {
            self.odd.push(read);
            return true;
        }
        let transaction = context.transactions.get(read.slot);
        let place = self.reads.partition(|other| context.reads_earlier(other, read.time, transaction));
        self.reads.insert(place, read);
        true
    }

    /// No transaction that comes in time can read the initial value any longer.
    fn close_initial(&mut self, watermark: Timestamp) {
        if let InitialValue::Open(suspects) = &self.initial {
            self.initial = InitialValue::Settled(suspects.learned);
            self.floor = watermark;
        }
    }
}
