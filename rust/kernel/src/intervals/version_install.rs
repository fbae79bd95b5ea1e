//! Versions of a transaction: how they are installed and settled, and which writers saw each other.

use super::finding::{Case, CertifierCase, Finding};
use super::key::{Key, Readers, Reference, TransientWrite, Version};
use super::profile::Certifier;
use super::span::Span;
use super::tally::Tally;
use super::transaction::{Operation, Part, Transaction};
use super::verifier::Verifier;
use super::version_order::sees;
use crate::history::{Kind, Status};

impl Verifier {
    pub(super) fn install_writes(&mut self, transaction: &Transaction, slot: u32) {
        for (place, operation) in transaction.operations.iter().enumerate() {
            if !operation.kind.installs() {
                continue;
            }
            let last = transaction.writes.binary_search_by_key(&operation.key, |&(key, _)| key);
            let is_last = last.is_ok_and(|last| transaction.writes[last].1 as usize == place);
            let write = Reference { slot, number: transaction.number, place: operation.place };
            if operation.part == Part::Row {
                self.deleted.insert(operation.row);
            }
            let key = &mut self.keys[operation.key as usize];
            key.shapes.0 |= operation.kind == Kind::Write;
            key.shapes.1 |= operation.kind == Kind::Append;
            key.table = operation.table;
            if !is_last || !transaction.may_have_committed() {
                let is_aborted = !transaction.may_have_committed();
                let (value, seen, gone) = (operation.value, operation.span, transaction.end);
                key.add_transient(TransientWrite { value, write, seen, gone, is_aborted }, self.swept);
                continue;
            }
            let take = first_lock(transaction, operation);
            let version = Version {
                value: operation.value,
                write,
                writer: transaction.id,
                session: transaction.session,
                commit: transaction.appears,
                take,
                lock: operation.lock,
                seen: seen_by(transaction, operation, self.profile.first_updater_wins),
                is_insert: self.profile.first_updater_wins
                    && transaction.inserts.binary_search(&operation.key).is_ok(),
                is_absent: operation.is_absent,
                is_certain: transaction.status == Status::Committed,
                is_settled: false,
                readers: Readers::default(),
                waiting: 0,
            };
            Self::count_waiting_readers(key, &mut self.tally, version.commit);
            key.add(version);
        }
    }

    /// Counts rw dependencies from the readers of the newest version: they had ended before this one could appear.
    fn count_waiting_readers(key: &mut Key, tally: &mut Tally, commit: Span) {
        let newest = key.versions.iter_mut().rev().find(|version| version.commit.invoke <= commit.invoke);
        let waiting = match newest {
            Some(version) => std::mem::take(&mut version.waiting),
            None => std::mem::take(&mut key.first_waiting),
        };
        tally.rw.total += waiting;
    }

    /// Of two writers of a key, one must have committed before the snapshot of the other.
    pub(super) fn judge_updates(&mut self, slot: u32) {
        if !self.rules.snapshots {
            return;
        }
        let transaction = self.transactions.lend(slot);
        let case = match self.profile.certifier {
            Certifier::OptimisticWrites => Case::Certifier(CertifierCase::OptimisticWrites),
            _ => Case::FirstUpdater,
        };
        for (number, write) in transaction.left(slot) {
            let key = &self.keys[number as usize];
            let Some(place) = key.place_of(write, transaction.appears) else { continue };
            let own = &key.versions[place];
            let mut is_undecided = false;
            let mut broken: Vec<Reference> = Vec::new();
            // All earlier versions had certainly committed at its snapshot.
            let concurrent = key.versions.iter().skip(key.from(own.seen));
            for other in concurrent.filter(|one| one.is_settled && one.is_certain) {
                if !sees(own, other) && !sees(other, own) {
                    broken.push(other.write);
                } else if !other.commit.precedes(own.seen) && !own.commit.precedes(other.seen) {
                    is_undecided |= !own.is_insert && !other.is_insert;
                }
            }
            self.tally.updates.count(is_undecided);
            for other in broken {
                let operations = vec![other, write];
                self.add_finding(Finding { case, operations, key: number, unexplained: None });
            }
        }
        self.transactions.give_back(slot, transaction);
    }

    /// Settles the versions of a transaction, and counts the order of each and the version before it.
    pub(super) fn settle_versions(&mut self, slot: u32) {
        let transaction = self.transactions.lend(slot);
        let mut is_uncertain = false;
        for (number, write) in transaction.left(slot) {
            let key = &mut self.keys[number as usize];
            let Some(place) = key.place_of(write, transaction.appears) else { continue };
            key.versions[place].is_settled = true;
            let Some(before) = place.checked_sub(1) else { continue };
            let (one, other) = (&key.versions[before], &key.versions[place]);
            if !one.is_certain || !other.is_certain {
                continue;
            }
            let is_overlapping = !one.commit.precedes(other.commit);
            let is_open = is_overlapping && key.order(one, other, self.rules).is_none();
            is_uncertain |= is_open;
            self.tally.ww.count(is_overlapping, is_open);
        }
        self.transactions.give_back(slot, transaction);
        if is_uncertain {
            self.mark_uncertain.push(slot);
        }
    }
}

/// When the writer of a key must have seen all earlier versions: its snapshot, but not after its first write.
fn seen_by(transaction: &Transaction, write: &Operation, by_update: bool) -> Span {
    match transaction.snapshot {
        Some(snapshot) if !by_update || snapshot.invoke <= transaction.first => snapshot,
        snapshot => {
            let is_first = |one: &&Operation| one.kind.installs() && one.key == write.key;
            let first = transaction.operations.iter().find(is_first).map_or(write.span, |one| one.span);
            snapshot.filter(|snapshot| !by_update || snapshot.invoke <= first.invoke).unwrap_or(first)
        }
    }
}

/// When a transaction first got a lock on the row that excludes other writers; not after its write.
fn first_lock(transaction: &Transaction, write: &Operation) -> Span {
    let from = transaction.locks.partition_point(|&(row, _)| row < write.row);
    let own = transaction.locks[from..].iter().take_while(|&&(row, _)| row == write.row);
    let excluding = own.filter(|(_, held)| !held.is_of_commit && held.mode.conflicts(write.lock));
    let first = excluding.map(|(_, held)| held.take).min_by_key(|take| take.invoke);
    first.filter(|take| take.invoke <= write.span.invoke).unwrap_or(write.span)
}
