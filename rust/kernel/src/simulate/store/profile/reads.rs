//! Which versions a read shows, also because of a fault.

use super::{Request, Server};
use crate::intervals::profile::{Certifier, Lock, Read};
use crate::simulate::store::transaction::{SeenVersion, Transaction};
use crate::simulate::store::{ABSENT, Fault, StoredVersion};

impl Server {
    /// Whether a row or a range of rows may be read.
    pub(super) fn may_read(&mut self, transaction: &mut Transaction, request: Request) -> bool {
        let conduct = self.conduct(request);
        if conduct.read == Read::Locking && !self.moves_timestamp(transaction) {
            return false;
        }
        let mut rows = request.low..=request.high;
        conduct.lock == Lock::None || !rows.any(|row| self.has_locked_too_late(transaction, row))
    }

    /// Under timestamp ordering, a read of the newest version moves the timestamp to now, if no read is old.
    fn moves_timestamp(&mut self, transaction: &mut Transaction) -> bool {
        self.profile.certifier != Certifier::TimestampOrder
            || self.reads_are_current(transaction) && self.refresh(transaction)
    }

    /// Whether a row that is locked is no longer as the snapshot shows it, where that matters.
    fn has_locked_too_late(&self, transaction: &Transaction, row: u32) -> bool {
        let Some(snapshot) = transaction.snapshot else { return false };
        let is_changed = self.store.rows[row as usize].is_newer_than(snapshot);
        is_changed && self.profile.first_updater_wins && transaction.own(row).is_none() && {
            let mut held = transaction.held.iter().filter(|held| !held.is_predicate && held.released == 0);
            held.any(|held| held.low <= row && row <= held.high)
        }
    }

    /// The value of a row.
    pub(crate) fn read(&mut self, session: u32, request: Request) -> i64 {
        let read = self.conduct(request).read;
        self.with(session, |server, transaction| server.look(transaction, request.low, read))
    }

    /// Adds the existing rows of a range, with their values, to `shown`.
    pub(crate) fn range_read(&mut self, session: u32, request: Request, shown: &mut Vec<(u32, i64)>) {
        let read = self.conduct(request).read;
        let first = shown.len();
        self.with(session, |server, transaction| {
            let values = (request.low..=request.high).map(|row| (row, server.look(transaction, row, read)));
            shown.extend(values.filter(|&(_, value)| value != ABSENT));
            server.leave_out(transaction, shown, first);
        });
    }

    fn look(&mut self, transaction: &mut Transaction, key: u32, read: Read) -> i64 {
        let at = transaction.instant(read).min(self.store.now);
        let right = self.right(transaction, key, read);
        if let Some(own) = transaction.own(key).map(|own| own.value) {
            if !self.store.faults.strikes(Fault::LostOwnWrite) {
                return own;
            }
            transaction.strike(Fault::LostOwnWrite, own != right.value);
        }
        let row = &mut self.store.rows[key as usize];
        row.read_at = row.read_at.max(at);
        self.store.faults.show_lost(key, at);
        let version = self.wrong(transaction, key, right, (read, at));
        transaction.seen.push(SeenVersion { key, version, at, place: transaction.place });
        version.value
    }

    /// The version that a read shows if no fault strikes.
    pub(super) fn right(&self, transaction: &Transaction, key: u32, read: Read) -> StoredVersion {
        let committed = self.store.rows[key as usize].at(transaction.instant(read));
        let latest = if read == Read::Uncommitted { self.uncommitted(transaction, key) } else { None };
        latest.filter(|latest| latest.commit > committed.commit).unwrap_or(committed)
    }

    /// The write of another open transaction, if it was the last to write the row; its instant for the commit.
    fn uncommitted(&self, transaction: &Transaction, key: u32) -> Option<StoredVersion> {
        let (writer, own) = self.store.holder(key, transaction.session)?;
        Some(StoredVersion { commit: own.last, writer, value: own.value })
    }

    /// The version that is shown instead of the right one, if a fault strikes.
    fn wrong(
        &mut self,
        transaction: &mut Transaction,
        key: u32,
        right: StoredVersion,
        (read, at): (Read, u64),
    ) -> StoredVersion {
        for fault in Fault::ALL.into_iter().take(Fault::FutureRead as usize) {
            if !self.store.faults.may(fault) {
                continue;
            }
            let newest = self.newest(key);
            let shown = match fault {
                Fault::StaleSnapshot if read != Read::Uncommitted && right.commit > 0 => {
                    Some(self.store.rows[key as usize].at(right.commit - 1))
                }
                Fault::MovingSnapshot if read == Read::Consistent && newest.commit > at => Some(newest),
                Fault::DirtyRead if read != Read::Uncommitted => self.uncommitted(transaction, key),
                Fault::AbortedRead => self.store.faults.aborted.get(&key).copied(),
                Fault::IntermediateRead => self.store.faults.intermediate.get(&key).copied(),
                _ => None,
            };
            if let Some(shown) = shown
                && shown.writer != transaction.id
                && self.store.faults.strikes(fault)
            {
                transaction.strike(fault, shown.value != right.value);
                return shown;
            }
        }
        right
    }

    /// Leaves a row out of the last range read, if that fault strikes.
    fn leave_out(&mut self, transaction: &mut Transaction, shown: &mut Vec<(u32, i64)>, first: usize) {
        let count = shown.len() - first;
        if count == 0 || !self.store.faults.strikes(Fault::MissingRow) {
            return;
        }
        let (key, _) = shown.remove(first + self.store.faults.one_of(count));
        transaction.seen.retain(|seen| seen.place != transaction.place || seen.key != key);
        transaction.strike(Fault::MissingRow, true);
    }
}
