//! The log of what a fault caused.
//!
//! The log is exact: it holds every violation of a level of the database's clock, by the definitions of Li et al.
//! 2025 and from the recorded timestamps. The store knows every version and every reader.

use super::row::{Seen, Shown};
use super::transaction::Transaction;
use super::{Fault, Isolation, Store};
use crate::history::NO_KEY;
use crate::named_enum::named_enum;
use std::collections::{BTreeMap, BTreeSet};

named_enum! {
    /// The rule that an entry of the log breaks.
    pub enum Axiom {
        /// A first access does not show the last version of the snapshot.
        Ext => "ext",
        /// A first access does not show the last version in the order of commits.
        Replay => "replay",
        /// A later read differs from the one before.
        Int => "int",
        /// A later read differs from the transaction's own write.
        OwnInt => "own-int",
        /// Two transactions that overlap wrote the same row.
        NoConflict => "noconflict",
        /// A start before the last commit of the session.
        Session => "session",
        /// A start after the commit.
        Inversion => "inversion",
        /// A read of a write that was rolled back.
        AbortedRead => "aborted-read",
        /// A read of a write that its writer overwrote.
        IntermediateRead => "intermediate-read",
        /// A read that did not show the newest committed version.
        Missed => "missed",
    }
}

/// One violation: what a row should have shown and what it showed, or the other transaction.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    pub(crate) axiom: Axiom,
    pub(crate) transaction: u32,
    /// [`NO_KEY`] if it is about no row.
    pub(crate) row: u32,
    pub(crate) other: Option<u32>,
    /// Expected and found, if it is about a read.
    pub(crate) shown: Option<(Shown, Shown)>,
}

/// Transaction, axiom, row, and the place of the read or the other transaction.
type Place = (u32, Axiom, u32, u32);

#[derive(Debug, Default)]
pub(super) struct Log {
    entries: BTreeMap<Place, (Shown, Shown)>,
    /// Whether the transaction with this id committed.
    committed: Vec<bool>,
    suspects: Vec<Suspect>,
    /// Transactions of which others have read uncommitted writes.
    watched: BTreeSet<u32>,
    /// How often a watched transaction wrote a row in the end, if it committed.
    writes: BTreeMap<(u32, u32), u32>,
}

/// A read of uncommitted writes.
#[derive(Debug)]
struct Suspect {
    reader: u32,
    row: u32,
    read: u32,
    writer: u32,
    /// How many writes it showed.
    count: u32,
    shown: (Shown, Shown),
}

impl Log {
    pub(super) fn add(&mut self, place: Place, expected: Shown, found: Shown) {
        self.entries.insert(place, (expected, found));
    }

    /// Adds an entry if the read is wrong, and takes it back if not.
    fn set(&mut self, place: Place, expected: Shown, found: &Shown) {
        if expected == *found {
            self.entries.remove(&place);
        } else {
            self.add(place, expected, found.clone());
        }
    }
}

impl Store {
    /// Logs what is wrong with a transaction that commits, by its timestamps.
    pub(super) fn judge(&mut self, session: u32, (start, commit): (u64, u64)) {
        let transaction = &self.transactions[session as usize];
        let is_serializable = self.settings.isolation == Isolation::Serializable;
        let (id, rows, log) = (transaction.id, &self.rows, &mut self.log);
        for access in transaction.accesses() {
            let (key, row) = (access.key, &rows[access.key as usize]);
            if let Some(first) = &access.first {
                log.set((id, Axiom::Ext, key, 0), Shown::plain(row.at(start).value), first);
                if is_serializable {
                    log.set((id, Axiom::Replay, key, 0), Shown::plain(row.newest().value), first);
                }
            }
            let newer = row.versions.iter().rev().take_while(|version| version.commit > transaction.start);
            for other in newer.filter(|_| access.is_written()) {
                let place = (id, Axiom::NoConflict, key, other.writer);
                log.add(place, Shown::default(), Shown::default());
            }
        }
        if start < transaction.before.1 {
            let place = (id, Axiom::Session, NO_KEY, transaction.before.0);
            log.add(place, Shown::default(), Shown::default());
        }
        if commit < start {
            log.add((id, Axiom::Inversion, NO_KEY, 0), Shown::default(), Shown::default());
        }
    }

    /// Logs committed transactions that should have seen one whose commit timestamp is in the past.
    pub(super) fn judge_late(&mut self, session: u32, commit: u64) {
        let transaction = &self.transactions[session as usize];
        let is_serializable = self.settings.isolation == Isolation::Serializable;
        for access in transaction.writes() {
            let row = &self.rows[access.key as usize];
            for seen in row.rare.iter().flat_map(|rare| &rare.seen) {
                let place = |axiom| (seen.reader, axiom, access.key, 0);
                if seen.start >= commit {
                    self.log.set(place(Axiom::Ext), row.newest_for(seen), &seen.shown);
                }
                if is_serializable && seen.commit > commit {
                    self.log.set(place(Axiom::Replay), row.newest_for(seen), &seen.shown);
                }
            }
        }
    }

    /// Keeps what the log may need of a transaction that has committed.
    pub(super) fn remember(&mut self, session: u32, times: (u64, u64), bug: Fault) {
        let transaction = &self.transactions[session as usize];
        let id = transaction.id;
        let ids = &mut self.log.committed;
        ids.resize(ids.len().max(id as usize + 1), false);
        ids[id as usize] = true;
        if self.log.watched.contains(&id) {
            let writes = transaction.writes().map(|access| ((id, access.key), access.own.count));
            self.log.writes.extend(writes);
        }
        if matches!(bug, Fault::ClockSkew | Fault::TimestampSwap) {
            self.remember_reads(session, times);
        }
    }

    fn remember_reads(&mut self, session: u32, (start, commit): (u64, u64)) {
        let horizon = self.horizon();
        let transaction = &self.transactions[session as usize];
        for access in transaction.accesses() {
            let Some(shown) = access.first.as_deref().cloned() else { continue };
            let row = &mut self.rows[access.key as usize];
            let own = row.last_places(access.own.elements.len() as u32);
            let seen = &mut row.rare().seen;
            if seen.len().is_power_of_two() {
                seen.retain(|seen| seen.commit.max(seen.start) >= horizon);
            }
            seen.push(Seen { reader: transaction.id, start, commit, shown, own });
        }
    }

    /// Notes a read that showed uncommitted writes, or that missed a committed one.
    pub(super) fn suspect(&mut self, transaction: &Transaction, place: usize) {
        let access = &transaction.accesses[place];
        let (key, read) = (access.key, transaction.operations);
        let Some(found) = access.shown.clone() else { return };
        let row = &self.rows[key as usize];
        match (self.settings.bug, access.foreign) {
            (Some(Fault::DirtyRead | Fault::AbortedRead), Some((writer, count))) => {
                let expected = row.shown(transaction.snapshot, self.now, self.settings.model);
                let (reader, shown) = (transaction.id, (expected, found));
                self.log.watched.insert(writer);
                self.log.suspects.push(Suspect { reader, row: key, read, writer, count, shown });
            }
            (Some(Fault::FracturedCommit | Fault::DroppedWrite), None)
                if !self.settings.isolation.has_snapshots() =>
            {
                let newest = Shown::plain(row.newest().value);
                self.log.set((transaction.id, Axiom::Missed, key, read), newest, &found);
            }
            _ => {}
        }
    }

    /// All violations, once no transaction is open; only committed transactions are judged.
    pub(crate) fn violations(&mut self) -> Vec<Violation> {
        let mut log = std::mem::take(&mut self.log);
        for suspect in log.suspects {
            let axiom = match log.writes.get(&(suspect.writer, suspect.row)) {
                None => Axiom::AbortedRead,
                Some(&last) if last > suspect.count => Axiom::IntermediateRead,
                Some(_) => continue,
            };
            log.entries.insert((suspect.reader, axiom, suspect.row, suspect.read), suspect.shown);
        }
        let is_committed = |id: u32| log.committed.get(id as usize) == Some(&true);
        log.entries.retain(|&(id, ..), _| is_committed(id));
        log.entries.into_iter().map(|(place, shown)| violation(place, shown)).collect()
    }
}

fn violation((transaction, axiom, row, other): Place, shown: (Shown, Shown)) -> Violation {
    let is_pair = matches!(axiom, Axiom::NoConflict | Axiom::Session);
    let shown = (!is_pair && row != NO_KEY).then_some(shown);
    Violation { axiom, transaction, row, other: is_pair.then_some(other), shown }
}
