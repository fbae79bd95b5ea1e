//! First updater wins: of two transactions that change a row, or change and lock it, one saw the other.

use super::finding::{Case, CertifierCase, Finding};
use super::key::Reference;
use super::profile::{Certifier, Lock};
use super::transaction::{Operation, Part, Transaction};
use super::verifier::Verifier;
use super::version_order::sees;

impl Verifier {
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
            if !own.is_certain {
                continue;
            }
            let mut is_undecided = false;
            let mut broken: Vec<Reference> = Vec::new();
            // All earlier versions had certainly committed at its snapshot.
            let concurrent = key.versions.iter().skip(key.from(own.seen));
            for other in concurrent.filter(|one| one.is_certain && one.write != write) {
                let (sees_other, is_seen) = (sees(own, other), sees(other, own));
                match (sees_other, is_seen) {
                    (true, false) if !own.is_insert => self.orders.add_seen(other.write.number),
                    (false, true) => self.orders.add_unseen(other.write.number),
                    _ => {}
                }
                if !other.is_settled {
                    continue;
                }
                if !sees_other && !is_seen {
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
        if self.profile.first_updater_wins {
            self.judge_locked_reads(&transaction, slot);
        }
        self.transactions.give_back(slot, transaction);
    }

    /// A transaction may not lock a row that was changed since its snapshot.
    fn judge_locked_reads(&mut self, transaction: &Transaction, slot: u32) {
        let Some(snapshot) = transaction.snapshot else { return };
        for (place, operation) in transaction.operations.iter().enumerate() {
            let is_later = transaction.snapshot_taken_by.is_none_or(|taken| taken <= operation.place);
            if !is_later || !locks_row(operation) || has_locked(&transaction.operations[..place], operation) {
                continue;
            }
            let read = Reference { slot, number: transaction.number, place: operation.place };
            let key = &self.keys[operation.key as usize];
            let orders = &mut self.orders;
            let mut changed: Vec<Reference> = Vec::new();
            for version in key.versions.iter().filter(|version| version.is_certain) {
                let number = version.write.number;
                let is_earlier =
                    version.commit.precedes(operation.span) || orders.has_ended(number, operation.place + 1);
                if number == transaction.number || !is_earlier {
                    continue;
                }
                // It appeared before the row was locked, and so before the snapshot.
                if version.commit.may_precede(snapshot) {
                    orders.add_seen(number);
                } else {
                    changed.push(version.write);
                }
            }
            self.tally.updates.count(false);
            for write in changed {
                let (case, operations) = (Case::FirstUpdater, vec![write, read]);
                self.add_finding(Finding { case, operations, key: operation.key, unexplained: None });
            }
        }
    }
}

/// Whether a read locks a row that it found.
fn locks_row(operation: &Operation) -> bool {
    operation.is_read()
        && operation.lock != Lock::None
        && !operation.is_absent
        && operation.list().is_none()
        && operation.shows_its_key()
}

/// Whether the transaction changed the row before, or locked it.
fn has_locked(before: &[Operation], operation: &Operation) -> bool {
    let is_same =
        |one: &Operation| one.key == operation.key || operation.part != Part::Key && one.row == operation.row;
    before.iter().any(|one| is_same(one) && (one.kind.installs() || locks_row(one)))
}
