//! Which versions a read shows, also because of a fault.

use super::faults::Fault;
use super::run::ProfiledRun;
use super::transaction::{Seen, Stage, Step, Transaction};
use crate::history::Kind;
use crate::intervals::profile::{Certifier, Conduct, Lock, Read};
use crate::simulate::store::{ABSENT, Version};

impl ProfiledRun {
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

    /// Under timestamp ordering, a read of the newest version moves the timestamp to now, if no read is old.
    fn moves_timestamp(&mut self, transaction: &mut Transaction) -> bool {
        if self.profile.certifier != Certifier::TimestampOrder {
            return true;
        }
        self.reads_are_current(transaction) && self.refresh(transaction)
    }

    /// Whether a row that is locked is no longer as the snapshot shows it, where that matters.
    fn has_locked_too_late(&self, transaction: &Transaction, row: u32) -> bool {
        let Some(snapshot) = transaction.snapshot else { return false };
        let is_changed = self.rows[row as usize].newest().commit > snapshot;
        is_changed && self.profile.first_updater_wins && transaction.own(row).is_none() && {
            let mut held = transaction.held.iter().filter(|held| !held.is_predicate && held.released == 0);
            held.any(|held| held.low <= row && row <= held.high)
        }
    }

    /// The value of a row that a read shows.
    fn look(&mut self, transaction: &mut Transaction, key: u32, read: Read) -> i64 {
        let at = match (read, transaction.snapshot) {
            (Read::Consistent, Some(snapshot)) => snapshot,
            _ => self.now,
        };
        let row = &self.rows[key as usize];
        let right = match read {
            Read::Uncommitted => self.latest(transaction, key),
            Read::Consistent => row.at(at),
            Read::Locking => row.newest(),
        };
        if let Some(own) = transaction.own(key).map(|own| own.value) {
            if !self.faults.strikes(Fault::LostOwnWrite) {
                return own;
            }
            transaction.strike(Fault::LostOwnWrite, own != right.value);
        }
        let row = &mut self.rows[key as usize];
        row.read_at = row.read_at.max(at);
        self.show_lost(key, at);
        let Version { commit: from, writer, value } = self.wrong(transaction, key, right, (read, at));
        let place = transaction.place();
        transaction.seen.push(Seen { key, from, writer, value, at, place });
        value
    }

    /// The newest write of a row, committed or not.
    fn latest(&self, transaction: &Transaction, key: u32) -> Version {
        let newest = self.rows[key as usize].newest();
        let uncommitted = self.uncommitted(transaction, key);
        uncommitted.filter(|version| version.commit > newest.commit).unwrap_or(newest)
    }

    /// The write of another open transaction, if it was the last to write the row; its instant for the commit.
    fn uncommitted(&self, transaction: &Transaction, key: u32) -> Option<Version> {
        let (slot, id) = self.rows[key as usize].holder;
        let other = self.transactions.get(slot as usize).filter(|_| slot != transaction.slot)?;
        let is_pending = other.id == id && other.is_active && other.stage != Stage::Failed;
        let own = other.own(key).filter(|_| is_pending)?;
        Some(Version { commit: own.last, writer: id, value: own.value })
    }

    /// Marks the loss of a version as visible if a read should have shown it.
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
        for fault in Fault::ALL.into_iter().take(Fault::FutureRead as usize) {
            if !self.faults.may(fault) {
                continue;
            }
            let row = &self.rows[key as usize];
            let newest = row.newest();
            let shown = match fault {
                Fault::StaleSnapshot if read != Read::Uncommitted && right.commit > 0 => {
                    Some(row.at(right.commit - 1))
                }
                Fault::MovingSnapshot if read == Read::Consistent && newest.commit > at => Some(newest),
                Fault::DirtyRead if read != Read::Uncommitted => self.uncommitted(transaction, key),
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

    /// An earlier read of another transaction shows this version, if that fault strikes.
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
                *seen = Seen { from: version.commit, writer: version.writer, value: version.value, ..*seen };
                other.struck.push((Fault::FutureRead, seen.place, true));
                return;
            }
        }
    }
}
