//! Versions of a transaction: how they are installed and settled.

use super::key::{Key, Readers, Reference, TransientWrite, Version};
use super::locks::{Held, within};
use super::read_view::TransactionOrders;
use super::span::Span;
use super::tally::Tally;
use super::transaction::{Operation, Part, Transaction};
use super::verifier::Verifier;
use super::version_order::Rules;
use crate::history::{Kind, Status};

impl Verifier {
    pub(super) fn install_writes(&mut self, transaction: &Transaction, slot: u32) {
        let by_update = self.profile.first_updater_wins;
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
            let may_be_idle = transaction.first_delete(operation).is_some();
            let version = Version {
                value: operation.value,
                write,
                writer: transaction.id,
                session: transaction.session,
                commit: transaction.appears,
                asked: transaction.end.invoke,
                take,
                lock: operation.lock,
                seen: seen_by(transaction, first_certain(transaction, operation), by_update),
                is_insert: self.profile.first_updater_wins
                    && !self.profile.compares_inserts
                    && transaction.inserts.binary_search(&operation.key).is_ok(),
                is_absent: operation.is_absent,
                is_certain: transaction.status == Status::Committed && !may_be_idle,
                may_be_idle,
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

    /// A delete leaves a version if it certainly found the row.
    pub(super) fn settle_deletes(&mut self, slot: u32) {
        let transaction = self.transactions.lend(slot);
        for (number, write) in transaction.left(slot) {
            let key = &self.keys[number as usize];
            let Some(place) = key.place_of(write, transaction.appears) else { continue };
            let is_change = |one: &&Operation| one.kind.installs() && one.key == number;
            let first = transaction.operations.iter().find(is_change);
            let Some(delete) = first.filter(|one| one.kind == Kind::Delete) else { continue };
            if !self.may_be_idle(&transaction, delete) {
                let version = &mut self.keys[number as usize].versions[place];
                version.may_be_idle = false;
                version.is_certain |= transaction.status == Status::Committed;
                version.seen = seen_by(&transaction, delete, self.profile.first_updater_wins);
            }
        }
        self.transactions.give_back(slot, transaction);
    }

    /// Whether a delete may have found no row.
    pub(super) fn may_be_idle(&mut self, transaction: &Transaction, delete: &Operation) -> bool {
        if let Some(own) = transaction.last_change(delete) {
            return own.is_absent;
        }
        let rules = Rules { locks: false, snapshots: false };
        let mut candidates = std::mem::take(&mut self.candidates);
        let key = &self.keys[delete.key as usize];
        let orders = TransactionOrders::default();
        let view = transaction.view_of(delete, &orders);
        let is_fresh = key.candidates(&view, rules, &mut candidates);
        let is_other = |place: &&usize| key.versions[**place].write.number != transaction.number;
        let is_absent = candidates.iter().filter(is_other).any(|&place| key.versions[place].is_absent)
            || is_fresh && (key.may_lack_first() || self.is_left_out(transaction, delete))
            || key.is_reinserted_during(delete.span);
        self.candidates = candidates;
        is_absent
    }

    /// Whether an earlier range read of the transaction asked for the row and did not show it.
    fn is_left_out(&self, transaction: &Transaction, delete: &Operation) -> bool {
        let id = self.ids[delete.key as usize];
        let before = || transaction.operations.iter().filter(|one| one.place < delete.place);
        let mut ranges = before().filter(|one| one.kind == Kind::RangeRead && !one.is_partial);
        ranges.any(|range| {
            let bounds = range.value.as_small().map(|at| transaction.bounds[at as usize]);
            let is_asked = range.table == delete.table && bounds.is_some_and(|bounds| within(id, bounds));
            is_asked && !before().any(|one| one.place == range.place && one.key == delete.key)
        })
    }

    /// Settles the versions of a transaction, and counts the order of each and the version before it.
    pub(super) fn settle_versions(&mut self, slot: u32) {
        let transaction = self.transactions.lend(slot);
        let mut is_uncertain = false;
        for (number, write) in transaction.left(slot) {
            let key = &mut self.keys[number as usize];
            let Some(place) = key.place_of(write, transaction.appears) else { continue };
            key.versions[place].is_settled = true;
            // A delete that may have found no row is perhaps no version.
            let before = (0..place).rev().find(|&before| !key.versions[before].may_be_idle);
            let Some(before) = before else { continue };
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

/// When the writer of a key must have seen all earlier versions: its snapshot, but not after its first change.
fn seen_by(transaction: &Transaction, first: &Operation, by_update: bool) -> Span {
    let is_early = |snapshot: &Span| {
        !by_update || snapshot.invoke <= transaction.first || snapshot.invoke <= first.span.invoke
    };
    transaction.snapshot.filter(is_early).unwrap_or(first.span)
}

/// The first change of a key that is no delete: a delete may have found no row, and then it changed nothing.
fn first_certain<'t>(transaction: &'t Transaction, write: &'t Operation) -> &'t Operation {
    let is_change = |one: &&Operation| one.kind.installs() && one.key == write.key;
    let is_certain = |one: &&Operation| is_change(one) && one.kind != Kind::Delete;
    let changes = &transaction.operations;
    changes.iter().find(is_certain).or_else(|| changes.iter().find(is_change)).unwrap_or(write)
}

/// When a transaction first got a lock on the row that excludes other writers; not after its write.
fn first_lock(transaction: &Transaction, write: &Operation) -> Span {
    let from = transaction.locks.partition_point(|&(row, _)| row < write.row);
    let own = transaction.locks[from..].iter().take_while(|&&(row, _)| row == write.row);
    // An earlier delete of the row may have found none, and then it locked nothing.
    let is_sure = |held: &Held| !held.is_of_delete || write.kind == Kind::Delete;
    let excluding =
        own.filter(|(_, held)| !held.is_of_commit && is_sure(held) && held.mode.conflicts(write.lock));
    let first = excluding.map(|(_, held)| held.take).min_by_key(|take| take.invoke);
    first.filter(|take| take.invoke <= write.span.invoke).unwrap_or(write.span)
}
