//! Which versions a read shows, also because of a fault.

use super::trace::{SeenVersion, Trace};
use super::{Request, Server};
use crate::intervals::profile::{Certifier, Conduct, Lock, Read};
use crate::simulate::store::{ABSENT, Fault, StoredVersion};

impl Server {
    /// Whether a row or a range of rows may be read.
    pub(super) fn may_read(&mut self, trace: &mut Trace, request: Request, conduct: Conduct) -> bool {
        if conduct.read == Read::Locking && !self.moves_timestamp(trace) {
            return false;
        }
        let mut rows = request.low..=request.high;
        conduct.lock == Lock::None || !rows.any(|row| self.has_locked_too_late(trace, row))
    }

    /// Under timestamp ordering, a read of the newest version moves the timestamp to now, if no read is old.
    fn moves_timestamp(&mut self, trace: &mut Trace) -> bool {
        self.profile.certifier != Certifier::TimestampOrder
            || self.reads_are_current(trace) && self.refresh(trace)
    }

    /// Whether a row that is locked is no longer as the snapshot shows it, where that matters.
    fn has_locked_too_late(&self, trace: &Trace, row: u32) -> bool {
        let Some(snapshot) = trace.snapshot else { return false };
        let is_changed = self.store.rows[row as usize].is_newer_than(snapshot);
        is_changed && self.profile.first_updater_wins && !trace.has_written(row) && {
            let mut held = trace.held.iter().filter(|held| !held.is_predicate && held.released == 0);
            held.any(|held| held.low <= row && row <= held.high)
        }
    }

    /// The value of a row.
    pub(crate) fn read(&mut self, slot: u32, request: Request) -> i64 {
        let Conduct { read, .. } = self.profile.statements[request.statement as usize];
        self.with(slot, |server, trace| server.look(trace, request.low, read))
    }

    /// Adds the existing rows of a range, with their values, to `shown`.
    pub(crate) fn range_read(&mut self, slot: u32, request: Request, shown: &mut Vec<(u32, i64)>) {
        let Conduct { read, .. } = self.profile.statements[request.statement as usize];
        let first = shown.len();
        self.with(slot, |server, trace| {
            let values = (request.low..=request.high).map(|row| (row, server.look(trace, row, read)));
            shown.extend(values.filter(|&(_, value)| value != ABSENT));
            server.leave_out(trace, shown, first);
        });
    }

    fn look(&mut self, trace: &mut Trace, key: u32, read: Read) -> i64 {
        let at = match (read, trace.snapshot) {
            (Read::Consistent, Some(snapshot)) => snapshot,
            _ => self.store.now,
        };
        let right = match read {
            Read::Uncommitted => self.latest(trace, key),
            Read::Consistent => self.store.rows[key as usize].at(at),
            Read::Locking => self.newest(key),
        };
        if let Some(own) = self.own(trace.slot, key) {
            if !self.faults.strikes(Fault::LostOwnWrite) {
                return own;
            }
            trace.strike(Fault::LostOwnWrite, own != right.value);
        }
        let row = &mut self.store.rows[key as usize];
        row.read_at = row.read_at.max(at);
        self.faults.show_lost(key, at);
        let StoredVersion { commit: from, writer, value } = self.wrong(trace, key, right, (read, at));
        trace.seen.push(SeenVersion { key, from, writer, value, at, place: trace.place });
        value
    }

    /// The newest write of a row, committed or not.
    fn latest(&self, trace: &Trace, key: u32) -> StoredVersion {
        let newest = self.newest(key);
        let uncommitted = self.uncommitted(trace, key);
        uncommitted.filter(|version| version.commit > newest.commit).unwrap_or(newest)
    }

    /// The write of another open transaction, if it was the last to write the row; its instant for the commit.
    fn uncommitted(&self, trace: &Trace, key: u32) -> Option<StoredVersion> {
        let holder = self.store.holder(key, trace.slot)?;
        let value = holder.own(key)?.value;
        let mut writes = self.traces[holder.session as usize].writes.iter();
        let last = writes.find(|written| written.key == key)?.last;
        Some(StoredVersion { commit: last, writer: holder.id, value })
    }

    /// The version that is shown instead of the right one, if a fault strikes.
    fn wrong(
        &mut self,
        trace: &mut Trace,
        key: u32,
        right: StoredVersion,
        (read, at): (Read, u64),
    ) -> StoredVersion {
        for fault in Fault::ALL.into_iter().take(Fault::FutureRead as usize) {
            if !self.faults.may(fault) {
                continue;
            }
            let newest = self.newest(key);
            let shown = match fault {
                Fault::StaleSnapshot if read != Read::Uncommitted && right.commit > 0 => {
                    Some(self.store.rows[key as usize].at(right.commit - 1))
                }
                Fault::MovingSnapshot if read == Read::Consistent && newest.commit > at => Some(newest),
                Fault::DirtyRead if read != Read::Uncommitted => self.uncommitted(trace, key),
                Fault::AbortedRead => self.faults.aborted.get(&key).copied(),
                Fault::IntermediateRead => self.faults.intermediate.get(&key).copied(),
                _ => None,
            };
            if let Some(shown) = shown
                && shown.writer != trace.id
                && self.faults.strikes(fault)
            {
                trace.strike(fault, shown.value != right.value);
                return shown;
            }
        }
        right
    }

    /// Leaves a row out of the last range read, if that fault strikes.
    fn leave_out(&mut self, trace: &mut Trace, shown: &mut Vec<(u32, i64)>, first: usize) {
        let count = shown.len() - first;
        if count == 0 || !self.faults.strikes(Fault::MissingRow) {
            return;
        }
        let (key, _) = shown.remove(first + self.faults.one_of(count));
        trace.seen.retain(|seen| seen.place != trace.place || seen.key != key);
        trace.strike(Fault::MissingRow, true);
    }
}
