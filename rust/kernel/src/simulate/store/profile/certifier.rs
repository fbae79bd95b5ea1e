//! Which transactions may commit.

use super::Server;
use super::trace::{SeenVersion, Trace, Written};
use crate::intervals::profile::{Certifier, Lock, Snapshot, Statement};
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
    pub(super) fn may_commit(&mut self, trace: &mut Trace) -> bool {
        self.inserts_are_new(trace) && self.unlocked_first_updater(trace) && self.is_certified(trace)
    }

    /// Whether no other transaction inserted the same rows, where insertions hold no locks.
    fn inserts_are_new(&self, trace: &Trace) -> bool {
        let mut inserted = trace.writes.iter().filter(|own| own.is_insertion);
        self.profile.statements[Statement::Insert as usize].lock != Lock::None
            || inserted.all(|own| self.newest(own.key).value == ABSENT)
    }

    /// First updater wins at the commit, where writes hold no locks.
    fn unlocked_first_updater(&mut self, trace: &mut Trace) -> bool {
        let statements = self.profile.statements.iter();
        let is_locked = statements.skip(3).all(|conduct| conduct.lock != Lock::None);
        if is_locked || !self.profile.first_updater_wins {
            return true;
        }
        let changed = trace.writes.iter().filter(|own| !own.is_insertion);
        let changed: Vec<Written> = changed.copied().collect();
        changed.into_iter().all(|own| {
            // A snapshot that is taken after the write counts as taken with it.
            let since = trace.snapshot.unwrap_or(own.at).min(own.at);
            self.is_first_updater(trace, own.key, since)
        })
    }

    fn is_certified(&mut self, trace: &mut Trace) -> bool {
        let is_certified = match self.profile.certifier {
            Certifier::None => true,
            Certifier::Ssi => self.is_safe(trace),
            Certifier::TimestampOrder => self.is_in_order(trace),
            Certifier::OptimisticReads => trace.writes.is_empty() || self.reads_are_current(trace),
            Certifier::OptimisticWrites => self.writes_are_first(trace),
        };
        if !is_certified && self.strikes(trace, Fault::MissedCertifier) {
            if self.profile.certifier == Certifier::TimestampOrder {
                trace.snapshot = Some(self.store.now);
            }
            return true;
        }
        is_certified
    }

    /// Whether all reads showed versions that are still the newest.
    pub(super) fn reads_are_current(&self, trace: &Trace) -> bool {
        let is_current = |seen: &SeenVersion| self.newest(seen.key).commit == seen.from;
        trace.seen.iter().all(is_current)
    }

    /// Whether no other transaction wrote its rows since its snapshot, or since its own earlier write.
    fn writes_are_first(&self, trace: &Trace) -> bool {
        trace.writes.iter().all(|own| {
            let since = trace.snapshot.unwrap_or(own.at).min(own.at);
            !self.store.rows[own.key as usize].is_newer_than(since)
        })
    }

    /// Whether all of it can happen at its timestamp, or now if the database may choose the timestamp.
    fn is_in_order(&mut self, trace: &mut Trace) -> bool {
        let timestamp = trace.snapshot.unwrap_or(self.store.now);
        let is_late = trace.writes.iter().any(|own| {
            let row = &self.store.rows[own.key as usize];
            row.newest().commit >= timestamp || row.read_at > timestamp
        });
        let is_open = trace.snapshot.is_none() || self.profile.snapshot == Snapshot::Transaction;
        if !is_late && trace.snapshot.is_some() {
            return true;
        }
        is_open && self.reads_are_current(trace) && self.refresh(trace)
    }

    /// Moves the timestamp to now, and with it all reads: older writes of their rows are refused from now on.
    pub(super) fn refresh(&mut self, trace: &mut Trace) -> bool {
        trace.snapshot = Some(self.store.now);
        for seen in &trace.seen {
            self.store.rows[seen.key as usize].read_at = self.store.now;
        }
        true
    }

    /// Serializable snapshot isolation: no committed transaction is in the middle of two rw dependencies.
    fn is_safe(&mut self, trace: &Trace) -> bool {
        let (seen_bits, written_bits) = bits_of(trace);
        let start = trace.snapshot.unwrap_or(trace.begun);
        let (mut has_in, mut has_out, mut is_safe) = (false, false, true);
        for other in self.recent.iter().rev().take_while(|other| other.commit > start) {
            let goes_out = overwrites(other, seen_bits, trace);
            let comes_in = is_overwritten(other, written_bits, trace);
            has_out |= goes_out;
            has_in |= comes_in;
            is_safe &= !(goes_out && other.has_out || comes_in && other.has_in);
        }
        is_safe && !(has_in && has_out)
    }

    /// Remembers a transaction that commits now, for those that are still open.
    pub(super) fn remember(&mut self, trace: &Trace) {
        if self.profile.certifier != Certifier::Ssi {
            return;
        }
        let (seen_bits, written_bits) = bits_of(trace);
        let start = trace.snapshot.unwrap_or(trace.begun);
        let (mut has_in, mut has_out) = (false, false);
        for other in self.recent.iter_mut().rev().take_while(|other| other.commit > start) {
            let goes_out = overwrites(other, seen_bits, trace);
            let comes_in = is_overwritten(other, written_bits, trace);
            other.has_in |= goes_out;
            other.has_out |= comes_in;
            has_out |= goes_out;
            has_in |= comes_in;
        }
        self.recent.push_back(Certified {
            commit: self.store.now,
            seen: trace.seen.clone(),
            writes: trace.writes.iter().map(|own| own.key).collect(),
            seen_bits,
            written_bits,
            has_out,
            has_in,
        });
    }
}

fn bits_of(trace: &Trace) -> (u64, u64) {
    let seen = bits(trace.seen.iter().map(|seen| seen.key));
    (seen, bits(trace.writes.iter().map(|own| own.key)))
}

/// Whether `other` overwrote what the transaction read.
fn overwrites(other: &Certified, seen_bits: u64, trace: &Trace) -> bool {
    other.written_bits & seen_bits != 0
        && trace.seen.iter().any(|seen| seen.from < other.commit && other.writes.contains(&seen.key))
}

/// Whether the transaction overwrites what `other` read.
fn is_overwritten(other: &Certified, written_bits: u64, trace: &Trace) -> bool {
    other.seen_bits & written_bits != 0 && other.seen.iter().any(|seen| trace.has_written(seen.key))
}
