//! Which transactions may commit.

use super::Server;
use crate::intervals::profile::{Certifier, Lock, Snapshot, Statement};
use crate::simulate::store::transaction::{Access, Own, SeenVersion, Transaction};
use crate::simulate::store::{ABSENT, Fault};

/// A transaction that committed while others were open, as serializable snapshot isolation remembers it.
#[derive(Debug)]
pub(super) struct Certified {
    pub(super) commit: u64,
    seen: Vec<SeenVersion>,
    writes: Vec<u32>,
    /// One bit for each of 64 classes of rows: without a common bit, there is no common row.
    seen_bits: u64,
    written_bits: u64,
    /// Whether another transaction overwrote its reads, and whether it overwrote the reads of another.
    has_out: bool,
    has_in: bool,
}

fn bits(keys: impl Iterator<Item = u32>) -> u64 {
    keys.fold(0, |bits, key| bits | 1 << (key.wrapping_mul(0x9e37_79b9) >> 26))
}

impl Server {
    /// Whether every mechanism accepts the commit.
    pub(super) fn may_commit(&mut self, transaction: &mut Transaction) -> bool {
        self.inserts_are_new(transaction)
            && self.unlocked_first_updater(transaction)
            && self.is_certified(transaction)
    }

    /// Whether no other transaction inserted the same rows, where insertions hold no locks.
    fn inserts_are_new(&self, transaction: &Transaction) -> bool {
        let mut inserted = transaction.writes().filter(|access| access.own.is_insertion);
        self.profile.statements[Statement::Insert as usize].lock != Lock::None
            || inserted.all(|access| self.newest(access.key).value == ABSENT)
    }

    /// First updater wins at the commit, where writes hold no locks.
    fn unlocked_first_updater(&mut self, transaction: &mut Transaction) -> bool {
        let statements = self.profile.statements.iter();
        let is_locked = statements.skip(3).all(|conduct| conduct.lock != Lock::None);
        if is_locked || !self.profile.first_updater_wins {
            return true;
        }
        let changed = transaction.writes().filter(|access| !access.own.is_insertion);
        let changed: Vec<_> = changed.map(|access| (access.key, since(transaction, &access.own))).collect();
        changed.into_iter().all(|(row, since)| self.is_first_updater(transaction, row, since))
    }

    fn is_certified(&mut self, transaction: &mut Transaction) -> bool {
        let is_certified = match self.profile.certifier {
            Certifier::None => true,
            Certifier::Ssi => self.is_safe(transaction),
            Certifier::TimestampOrder => self.is_in_order(transaction),
            Certifier::OptimisticReads => {
                transaction.writes().next().is_none() || self.reads_are_current(transaction)
            }
            Certifier::OptimisticWrites => self.writes_are_first(transaction),
        };
        if !is_certified && self.strikes(transaction, Fault::MissedCertifier) {
            if self.profile.certifier == Certifier::TimestampOrder {
                transaction.snapshot = Some(self.store.now);
            }
            return true;
        }
        is_certified
    }

    /// Whether all reads showed versions that are still the newest.
    pub(super) fn reads_are_current(&self, transaction: &Transaction) -> bool {
        let is_current = |seen: &SeenVersion| self.newest(seen.key).commit == seen.from;
        transaction.seen.iter().all(is_current)
    }

    /// Whether no other transaction wrote its rows since its snapshot, or since its own earlier write.
    fn writes_are_first(&self, transaction: &Transaction) -> bool {
        let is_first = |Access { key, own, .. }: &Access| {
            !self.store.rows[*key as usize].is_newer_than(since(transaction, own))
        };
        transaction.writes().all(is_first)
    }

    /// Whether all of it can happen at its timestamp, or now if the database may choose the timestamp.
    fn is_in_order(&mut self, transaction: &mut Transaction) -> bool {
        let timestamp = transaction.snapshot.unwrap_or(self.store.now);
        let is_late = transaction.writes().any(|access| {
            let row = &self.store.rows[access.key as usize];
            row.newest().commit >= timestamp || row.read_at > timestamp
        });
        let is_open = transaction.snapshot.is_none() || self.profile.snapshot == Snapshot::Transaction;
        if !is_late && transaction.snapshot.is_some() {
            return true;
        }
        is_open && self.reads_are_current(transaction) && self.refresh(transaction)
    }

    /// Moves the timestamp to now, and with it all reads: older writes of their rows are refused from now on.
    pub(super) fn refresh(&mut self, transaction: &mut Transaction) -> bool {
        transaction.snapshot = Some(self.store.now);
        for seen in &transaction.seen {
            self.store.rows[seen.key as usize].read_at = self.store.now;
        }
        true
    }

    /// Serializable snapshot isolation: no committed transaction is in the middle of two rw dependencies.
    fn is_safe(&mut self, transaction: &Transaction) -> bool {
        let (seen_bits, written_bits) = bits_of(transaction);
        let start = transaction.since();
        let (mut has_in, mut has_out, mut is_safe) = (false, false, true);
        for other in self.recent.iter().rev().take_while(|other| other.commit > start) {
            let goes_out = overwrites(other, seen_bits, transaction);
            let comes_in = is_overwritten(other, written_bits, transaction);
            has_out |= goes_out;
            has_in |= comes_in;
            is_safe &= !(goes_out && other.has_out || comes_in && other.has_in);
        }
        is_safe && !(has_in && has_out)
    }

    /// Remembers a transaction that commits now, for those that are still open.
    pub(super) fn remember(&mut self, transaction: &Transaction) {
        if self.profile.certifier != Certifier::Ssi {
            return;
        }
        let (seen_bits, written_bits) = bits_of(transaction);
        let start = transaction.since();
        let (mut has_in, mut has_out) = (false, false);
        for other in self.recent.iter_mut().rev().take_while(|other| other.commit > start) {
            let goes_out = overwrites(other, seen_bits, transaction);
            let comes_in = is_overwritten(other, written_bits, transaction);
            other.has_in |= goes_out;
            other.has_out |= comes_in;
            has_out |= goes_out;
            has_in |= comes_in;
        }
        self.recent.push_back(Certified {
            commit: self.store.now,
            seen: transaction.seen.clone(),
            writes: transaction.writes().map(|access| access.key).collect(),
            seen_bits,
            written_bits,
            has_out,
            has_in,
        });
    }
}

/// From when on another transaction must not have changed a row: a snapshot that is taken after the write counts as
/// taken with it.
fn since(transaction: &Transaction, own: &Own) -> u64 {
    transaction.snapshot.unwrap_or(own.first).min(own.first)
}

fn bits_of(transaction: &Transaction) -> (u64, u64) {
    let seen = bits(transaction.seen.iter().map(|seen| seen.key));
    (seen, bits(transaction.writes().map(|access| access.key)))
}

/// Whether `other` overwrote what the transaction read.
fn overwrites(other: &Certified, seen_bits: u64, transaction: &Transaction) -> bool {
    other.written_bits & seen_bits != 0
        && transaction.seen.iter().any(|seen| seen.from < other.commit && other.writes.contains(&seen.key))
}

/// Whether the transaction overwrites what `other` read.
fn is_overwritten(other: &Certified, written_bits: u64, transaction: &Transaction) -> bool {
    other.seen_bits & written_bits != 0 && other.seen.iter().any(|seen| transaction.own(seen.key).is_some())
}
