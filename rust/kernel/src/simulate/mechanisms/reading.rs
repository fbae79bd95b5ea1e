//! Which versions a read shows, and which ones it shows by a fault.

use super::engine::MechanismSimulation;
use super::faults::Fault;
use super::rows::{ABSENT, Version};
use super::transaction::{Seen, Step, Transaction};
use crate::history::Kind;
use crate::intervals::profile::{Certifier, Conduct, Lock, Read};

impl MechanismSimulation {
    /// Reads a row or a range of rows; false if that is refused.
    pub(super) fn read(&mut self, transaction: &mut Transaction, step: Step, conduct: Conduct) -> bool {
        if conduct.read == Read::Locking && !self.moves_timestamp(transaction) {
            return false;
        }
        if conduct.lock != Lock::None && conduct.read == Read::Consistent {
            let mut rows = step.low..=step.high;
            if rows.any(|row| self.has_locked_too_late(transaction, row)) {
                return false;
            }
        }
        if step.kind == Kind::Read {
            let value = self.look(transaction, step.low, conduct.read);
            transaction.did(step, value);
            return true;
        }
        let first = transaction.rows.len();
        for row in step.low..=step.high {
            let value = self.look(transaction, row, conduct.read);
            if value != ABSENT {
                transaction.rows.push((row, value));
            }
        }
        self.leave_out(transaction, first);
        transaction.did(step, ABSENT);
        true
    }

    /// Under timestamp ordering, who reads the newest version moves to now, if all that it read is still so.
    fn moves_timestamp(&mut self, transaction: &mut Transaction) -> bool {
        if self.profile.certifier != Certifier::TimestampOrder {
            return true;
        }
        self.reads_are_current(transaction) && self.refresh(transaction)
    }

    /// Whether a row that is locked is no longer as the snapshot shows it, where that matters.
    fn has_locked_too_late(&self, transaction: &Transaction, row: u32) -> bool {
        let Some(snapshot) = transaction.snapshot else { return false };
        let is_changed = self.rows[row as usize].newest().from > snapshot;
        is_changed && self.profile.first_updater_wins && transaction.own(row).is_none() && {
            let mut held = transaction.held.iter().filter(|held| !held.is_predicate && held.released == 0);
            held.any(|held| held.low <= row && row <= held.high)
        }
    }

    /// What a read shows of a row.
    fn look(&mut self, transaction: &mut Transaction, key: u32, read: Read) -> i64 {
        let at = match (read, transaction.snapshot) {
            (Read::Consistent, Some(snapshot)) => snapshot,
            _ => self.now,
        };
        let row = &mut self.rows[key as usize];
        let right = match read {
            Read::Uncommitted => row.latest().0,
            Read::Consistent => row.visible(at),
            Read::Locking => row.newest(),
        };
        if let Some(own) = transaction.own(key).map(|own| own.value) {
            if !self.faults.strikes(Fault::LostOwnWrite) {
                return own;
            }
            transaction.strike(Fault::LostOwnWrite, own != right.value);
        }
        row.read_at = row.read_at.max(at);
        self.show_lost(key, at);
        let Version { from, writer, value } = self.wrong(transaction, key, right, (read, at));
        let place = transaction.place();
        transaction.seen.push(Seen { key, from, writer, value, at, place });
        value
    }

    /// A read that should have shown a version that got lost.
    fn show_lost(&mut self, key: u32, at: u64) {
        if let Some(&(struck, lost)) = self.faults.lost.get(&key)
            && at > lost
        {
            self.faults.struck[struck].is_visible = true;
        }
    }

    /// The version that is shown instead of the right one, if a fault strikes.
    fn wrong(
        &mut self,
        transaction: &mut Transaction,
        key: u32,
        right: Version,
        (read, at): (Read, u64),
    ) -> Version {
        for (fault, _) in Fault::ALL.into_iter().take(Fault::FutureRead as usize) {
            if !self.faults.may(fault) {
                continue;
            }
            let row = &self.rows[key as usize];
            let newest = row.newest();
            let shown = match fault {
                Fault::StaleSnapshot if read != Read::Uncommitted && right.from > 0 => {
                    Some(row.visible(right.from - 1))
                }
                Fault::MovingSnapshot if read == Read::Consistent && newest.from > at => Some(newest),
                Fault::DirtyRead if read != Read::Uncommitted => row.pending_of_another(transaction.slot),
                Fault::AbortedRead => self.faults.aborted.get(&key).copied(),
                Fault::IntermediateRead => self.faults.intermediate.get(&key).copied(),
                _ => None,
            };
            if let Some(shown) = shown
                && shown.writer != transaction.id
                && self.faults.strikes(fault)
            {
                transaction.strike(fault, shown.value != right.value);
                return shown;
            }
        }
        right
    }

    /// Leaves a row out of the last range read, if that fault strikes.
    fn leave_out(&mut self, transaction: &mut Transaction, first: usize) {
        let shown = transaction.rows.len() - first;
        if shown == 0 || !self.faults.strikes(Fault::MissingRow) {
            return;
        }
        let (key, _) = transaction.rows.remove(first + self.faults.one_of(shown));
        let place = transaction.place();
        transaction.seen.retain(|seen| seen.place != place || seen.key != key);
        transaction.strike(Fault::MissingRow, true);
    }

    /// A read that others did before shows what is committed only now, if that fault strikes.
    pub(super) fn show_future(&mut self, transaction: &Transaction, version: Version, key: u32) {
        if !self.faults.may(Fault::FutureRead) || version.value == ABSENT {
            return;
        }
        for other in self.transactions.iter_mut().filter(|other| other.is_active) {
            let Some(seen) = other.seen.iter_mut().find(|seen| seen.key == key) else { continue };
            let Some(done) = other.done.get_mut(seen.place as usize) else { continue };
            let is_past = done.kind == Kind::Read && done.complete > 0 && done.complete < transaction.invoke;
            if is_past && self.faults.strikes(Fault::FutureRead) {
                done.value = version.value;
                *seen = Seen { from: version.from, writer: version.writer, value: version.value, ..*seen };
                other.struck.push((Fault::FutureRead, seen.place, true));
                return;
            }
        }
    }
}
