//! How transactions end.

use super::faults::StruckFault;
use super::trace::{Trace, Written};
use super::{Answer, Server, UNTIL_COLLECTION};
use crate::intervals::profile::{Certifier, Lock};
use crate::simulate::store::{ABSENT, Fault, StoredVersion};

impl Server {
    /// Locks the changed rows, if the profile has locks of commits.
    pub(crate) fn lock_for_commit(&mut self, slot: u32) -> Answer {
        let mode = self.profile.commit_lock;
        if mode == Lock::None {
            return Answer::Ready;
        }
        self.with(slot, |server, trace| {
            for place in 0..trace.writes.len() {
                let row = trace.writes[place].key;
                if let Some(other) = server.acquire(trace, row, mode, true) {
                    return server.wait_to_commit(trace, row, other);
                }
            }
            Answer::Ready
        })
    }

    /// Commits; the versions that appeared by row, or nothing if the transaction must be aborted.
    pub(crate) fn commit(&mut self, slot: u32) -> Option<Vec<(u32, StoredVersion)>> {
        let installed = self.with(slot, |server, trace| {
            if !server.may_commit(trace) {
                return None;
            }
            server.remember(trace);
            let mut writes = trace.writes.clone();
            writes.retain(|written| !server.loses(trace, written));
            let installed = writes.iter().map(|written| server.install(trace, written)).collect();
            server.release(trace);
            Some(installed)
        });
        if installed.is_some() {
            self.store.close(slot);
        }
        installed
    }

    fn install(&mut self, trace: &Trace, written: &Written) -> (u32, StoredVersion) {
        let key = written.key;
        let commit = match (self.profile.certifier, trace.snapshot) {
            (Certifier::TimestampOrder, Some(timestamp)) => timestamp,
            _ => self.store.now,
        };
        debug_assert!(self.newest(key).commit < commit, "versions appear in their order");
        self.store.install_row(trace.slot, key, commit, self.horizon);
        let version = self.newest(key);
        self.faults.lost.remove(&key);
        if let Some(value) = written.before.filter(|_| self.faults.may(Fault::IntermediateRead)) {
            self.faults.intermediate.insert(key, StoredVersion { value, ..version });
        }
        if let Some(witness) = &mut self.witness {
            witness.installed(key, version);
        }
        (key, version)
    }

    fn loses(&mut self, trace: &mut Trace, written: &Written) -> bool {
        let loses = self.faults.strikes(Fault::LostVersion);
        if loses {
            trace.struck.push((Fault::LostVersion, written.place, false));
        }
        loses
    }

    /// Rolls back: undoes the writes and releases the locks.
    pub(crate) fn abort(&mut self, slot: u32) {
        if self.faults.may(Fault::AbortedRead) {
            let (transaction, commit) = (&self.store.transactions[slot as usize], self.store.now);
            for access in transaction.writes().filter(|access| access.own.value != ABSENT) {
                let version = StoredVersion { commit, writer: transaction.id, value: access.own.value };
                self.faults.aborted.insert(access.key, version);
            }
        }
        self.with(slot, Self::release);
        self.store.abort(slot);
    }

    /// The transaction is in the history, with this number and this first operation.
    pub(crate) fn ended(&mut self, slot: u32, (number, first): (u32, u32), committed: Option<u64>) {
        let (trace, now) = (&self.traces[slot as usize], self.store.now);
        if let Some(witness) = &mut self.witness {
            witness.ended(trace, (number, first), committed, now);
        }
        for &(fault, place, is_visible) in &trace.struck {
            let lost = trace.writes.iter().find(|written| written.place == place);
            if let Some(written) = lost.filter(|_| fault == Fault::LostVersion) {
                self.faults.lost.insert(written.key, (self.faults.struck.len(), now));
            }
            let (operation, is_visible) = (first + place, is_visible && committed.is_some());
            self.faults.struck.push(StruckFault { fault, transaction: number, operation, is_visible });
        }
        self.ended += 1;
        if self.ended.is_multiple_of(UNTIL_COLLECTION) {
            self.collect();
        }
    }
}
