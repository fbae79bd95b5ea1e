//! Which transactions may commit.

use super::Server;
use crate::intervals::profile::{Certifier, Lock, Snapshot, Statement};
use crate::simulate::store::transaction::{Access, SeenVersion, Transaction};
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

/// The rw dependencies of a transaction that commits: from it to another, and from the other to it.
struct Dependencies {
    goes_out: bool,
    comes_in: bool,
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
        let late = self.late_writes(transaction).filter(|access| !access.own.is_insertion).count();
        (0..late).all(|_| self.strikes(transaction, Fault::MissedFirstUpdater))
    }

    /// The written rows that another transaction has changed since the snapshot, or since the first own write: a
    /// snapshot that is taken after the write counts as taken with it.
    fn late_writes<'t>(&'t self, transaction: &'t Transaction) -> impl Iterator<Item = &'t Access> {
        transaction.writes().filter(|access| {
            let since = transaction.snapshot.unwrap_or(u64::MAX).min(access.own.first);
            self.store.rows[access.key as usize].is_newer_than(since)
        })
    }

    fn is_certified(&mut self, transaction: &mut Transaction) -> bool {
        let is_certified = match self.profile.certifier {
            Certifier::None => true,
            Certifier::Ssi => self.is_safe(transaction),
            Certifier::TimestampOrder => self.is_in_order(transaction),
            Certifier::OptimisticReads => {
                transaction.writes().next().is_none() || self.reads_are_current(transaction)
            }
            Certifier::OptimisticWrites => self.late_writes(transaction).next().is_none(),
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
        let is_current = |seen: &SeenVersion| self.newest(seen.key).commit == seen.version.commit;
        transaction.seen.iter().all(is_current)
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
    fn is_safe(&self, transaction: &Transaction) -> bool {
        let dependencies = self.dependencies(transaction);
        let mut others = self.recent.iter().rev().zip(&dependencies);
        let is_pivot = dependencies.iter().any(|to| to.goes_out) && dependencies.iter().any(|to| to.comes_in);
        !is_pivot && !others.any(|(other, to)| to.goes_out && other.has_out || to.comes_in && other.has_in)
    }

    /// The dependencies between a transaction and the last ones that committed while it was open, newest first.
    fn dependencies(&self, transaction: &Transaction) -> Vec<Dependencies> {
        let (seen_bits, written_bits) = bits_of(transaction);
        let start = transaction.since();
        let overlapping = self.recent.iter().rev().take_while(|other| other.commit > start);
        let dependencies = overlapping.map(|other| Dependencies {
            goes_out: overwrites(other, seen_bits, transaction),
            comes_in: is_overwritten(other, written_bits, transaction),
        });
        dependencies.collect()
    }

    /// Remembers a transaction that commits now, for those that are still open.
    pub(super) fn remember(&mut self, transaction: &Transaction) {
        if self.profile.certifier != Certifier::Ssi {
            return;
        }
        let dependencies = self.dependencies(transaction);
        for (other, to) in self.recent.iter_mut().rev().zip(&dependencies) {
            other.has_in |= to.goes_out;
            other.has_out |= to.comes_in;
        }
        let (seen_bits, written_bits) = bits_of(transaction);
        self.recent.push_back(Certified {
            commit: self.store.now,
            seen: transaction.seen.clone(),
            writes: transaction.writes().map(|access| access.key).collect(),
            seen_bits,
            written_bits,
            has_out: dependencies.iter().any(|to| to.goes_out),
            has_in: dependencies.iter().any(|to| to.comes_in),
        });
    }
}

fn bits_of(transaction: &Transaction) -> (u64, u64) {
    let seen = bits(transaction.seen.iter().map(|seen| seen.key));
    (seen, bits(transaction.writes().map(|access| access.key)))
}

/// Whether `other` overwrote what the transaction read.
fn overwrites(other: &Certified, seen_bits: u64, transaction: &Transaction) -> bool {
    other.written_bits & seen_bits != 0
        && transaction
            .seen
            .iter()
            .any(|seen| seen.version.commit < other.commit && other.writes.contains(&seen.key))
}

/// Whether the transaction overwrites what `other` read.
fn is_overwritten(other: &Certified, written_bits: u64, transaction: &Transaction) -> bool {
    other.seen_bits & written_bits != 0 && other.seen.iter().any(|seen| transaction.own(seen.key).is_some())
}
