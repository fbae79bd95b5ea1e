//! As time passes, answers become final, and transactions that no late one can need leave memory.

use super::{Engine, Terms, context};
use crate::clock::ClockLevel;
use crate::history::Timestamp;
use std::cmp::Reverse;

impl Engine {
    /// It is `now`: transactions that timed out are final, and those that no late one can need leave memory.
    pub fn advance(&mut self, now: u64) {
        let Terms { timeout, keep, .. } = self.terms;
        while let Some(&slot) = self.pending.front() {
            if self.transactions.get(slot).arrival.saturating_add(timeout) > now {
                break;
            }
            self.pending.pop_front();
            self.finish(slot);
            self.kept.push_back(slot);
        }
        while let Some(&slot) = self.kept.front() {
            if self.transactions.get(slot).arrival.saturating_add(timeout).saturating_add(keep) > now {
                break;
            }
            self.kept.pop_front();
            self.expire(slot);
        }
        self.collect();
    }

    /// Everything is final now, and stays in memory.
    pub fn flush(&mut self) {
        while let Some(slot) = self.pending.pop_front() {
            self.finish(slot);
            self.kept.push_back(slot);
        }
    }

    /// The answers about a transaction are final.
    fn finish(&mut self, slot: u32) {
        let transaction = self.transactions.get_mut(slot);
        transaction.is_final = true;
        let (wrong, flips) = (transaction.wrong, transaction.flips);
        if wrong == 0 && flips == 0 {
            return;
        }
        self.stability.transaction(flips);
        self.sizes.provisional -= u64::from(wrong);
        for read in 0..self.transactions.get(slot).operations.len() as u32 {
            let Some(doubt) = self.doubts.remove(&(slot, read)) else { continue };
            self.stability.read(doubt.flips);
            let key = self.transactions.get(slot).operations[read as usize].key;
            let context = context!(self);
            if self.keys[key as usize].find(context, slot, read).is_some_and(|read| read.is_wrong) {
                self.add_stale_read(slot, read);
            }
        }
    }

    /// A transaction need not be kept for late ones any longer.
    fn expire(&mut self, slot: u32) {
        let transaction = self.transactions.get(slot);
        if self.earliest.front().is_some_and(|&(number, _)| number == transaction.number) {
            self.earliest.pop_front();
        }
        let last = match self.terms.level {
            _ if !transaction.is_committed => Timestamp::default(),
            ClockLevel::Snapshot => transaction.start.max(transaction.commit),
            ClockLevel::Serializable => transaction.commit,
        };
        self.passed = self.passed.max(last);
        self.leaving.push(Reverse((last, slot)));
    }

    /// Drops the transactions below the watermark, or writes them to a segment.
    fn collect(&mut self) {
        let earliest = self.earliest.front().map_or(self.passed, |&(_, moment)| moment);
        self.watermark = self.watermark.max(earliest.min(self.passed));
        let mut old = Vec::new();
        while let Some(&Reverse((last, slot))) = self.leaving.peek() {
            if last >= self.watermark {
                break;
            }
            self.leaving.pop();
            old.push((last, slot));
        }
        let slots: Vec<u32> = old.iter().map(|&(_, slot)| slot).collect();
        let is_enough = !self.segments.are_kept() || slots.len() >= self.segments.min_transactions;
        if slots.is_empty() || !is_enough || !self.write_segment(&slots) {
            self.leaving.extend(old.into_iter().map(Reverse));
            return;
        }
        self.drop_old(&slots);
        for slot in slots {
            self.release(slot);
        }
        self.forget_texts();
        if self.times.len() > 2 * self.times_kept {
            let watermark = self.watermark;
            self.times.retain(|&time, _| time >= watermark);
            self.times_kept = self.times.len().max(1 << 16);
        }
    }

    /// Cuts the keys of transactions that leave, each once.
    fn drop_old(&mut self, slots: &[u32]) {
        let (mut keys, mut gone) = (Vec::new(), Vec::new());
        for &slot in slots {
            let transaction = self.transactions.get(slot);
            keys.extend(transaction.operations.iter().map(|operation| operation.key));
            if transaction.is_late || !transaction.is_committed {
                self.let_go(slot, &mut gone);
            }
        }
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let known = &mut self.keys[key as usize];
            let (versions, reads) = known.cut(context!(self), self.watermark, &mut gone);
            self.sizes.versions -= versions as u64;
            self.sizes.reads -= reads as u64;
        }
        for slot in gone {
            self.release(slot);
        }
    }

    /// A late transaction holds its keys no longer, and an uncommitted one explains no read of them.
    fn let_go(&mut self, slot: u32, gone: &mut Vec<u32>) {
        let transaction = self.transactions.get(slot);
        for key in transaction.keys() {
            let known = &mut self.keys[key as usize];
            known.held -= u32::from(transaction.is_late);
            let count = known.uncommitted.len();
            known.uncommitted.retain(|&(other, _)| other != slot);
            let removed = count - known.uncommitted.len();
            known.is_whole &= removed == 0;
            gone.extend(std::iter::repeat_n(slot, removed));
        }
    }

    pub(super) fn release(&mut self, slot: u32) {
        let Some(gone) = self.transactions.release(slot) else { return };
        if self.ids.get(&gone.id) == Some(&slot) {
            self.ids.remove(&gone.id);
        }
        for operation in &gone.operations {
            self.lists.forget(operation.value);
        }
    }
}
