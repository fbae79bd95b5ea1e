//! How transactions end.

use super::{Answer, Server, UNTIL_COLLECTION};
use crate::intervals::profile::{Certifier, Lock};
use crate::simulate::store::transaction::{Access, Transaction};
use crate::simulate::store::{ABSENT, Fault, StoredVersion, StruckFault};

impl Server {
    /// Locks the changed rows, if the profile has locks of commits.
    pub(crate) fn lock_for_commit(&mut self, session: u32) -> Answer {
        let mode = self.profile.commit_lock;
        if mode == Lock::None {
            return Answer::Ready;
        }
        self.with(session, |server, transaction| {
            let rows: Vec<u32> = transaction.writes().map(|access| access.key).collect();
            for row in rows {
                if let Some(other) = server.acquire(transaction, row, mode, true) {
                    return server.wait_to_commit(transaction, row, other);
                }
            }
            Answer::Ready
        })
    }

    /// Commits; the versions that appeared by row, or nothing if the transaction must be aborted.
    pub(crate) fn commit(&mut self, session: u32) -> Option<Vec<(u32, StoredVersion)>> {
        let commit = self.with(session, |server, transaction| {
            let may_commit = server.may_commit(transaction);
            may_commit.then(|| server.prepare(transaction))
        })?;
        self.store.commit_at(session, commit);
        self.with(session, |server, transaction| {
            server.release(transaction);
            Some(transaction.writes().map(|access| server.installed(access)).collect())
        })
    }

    /// Prepares a commit; the instant at which the versions appear.
    fn prepare(&mut self, transaction: &mut Transaction) -> u64 {
        self.remember(transaction);
        self.lose_versions(transaction);
        let commit = match (self.profile.certifier, transaction.snapshot) {
            (Certifier::TimestampOrder, Some(timestamp)) => timestamp,
            _ => self.store.now,
        };
        let mut newest = transaction.writes().map(|access| self.newest(access.key).commit);
        debug_assert!(newest.all(|newest| newest < commit), "versions appear in their order");
        commit
    }

    /// Forgets writes, if that fault strikes.
    fn lose_versions(&mut self, transaction: &mut Transaction) {
        for place in 0..transaction.accesses().len() {
            let own = &mut transaction.accesses[place].own;
            if !own.is_empty() && self.store.faults.strikes(Fault::LostVersion) {
                own.count = 0;
                let place = own.place;
                transaction.struck.push((Fault::LostVersion, place, false));
            }
        }
    }

    /// A row has the version of a transaction.
    fn installed(&mut self, &Access { key, ref own, .. }: &Access) -> (u32, StoredVersion) {
        let version = self.newest(key);
        self.store.faults.lost.remove(&key);
        if own.count > 1 && self.store.faults.may(Fault::IntermediateRead) {
            self.store.faults.intermediate.insert(key, StoredVersion { value: own.previous, ..version });
        }
        if let Some(witness) = &mut self.witness {
            witness.installed(key, version);
        }
        (key, version)
    }

    /// Rolls back: undoes the writes and releases the locks.
    pub(crate) fn abort(&mut self, session: u32) {
        if self.store.faults.may(Fault::AbortedRead) {
            let (transaction, commit) = (&self.store.transactions[session as usize], self.store.now);
            for access in transaction.writes().filter(|access| access.own.value != ABSENT) {
                let version = StoredVersion { commit, writer: transaction.id, value: access.own.value };
                self.store.faults.aborted.insert(access.key, version);
            }
        }
        self.with(session, Self::release);
        self.store.abort(session);
    }

    /// The transaction is in the history, with this number and this first operation.
    pub(crate) fn ended(&mut self, session: u32, (number, first): (u32, u32), committed: Option<u64>) {
        let (transaction, now) = (&self.store.transactions[session as usize], self.store.now);
        if let Some(witness) = &mut self.witness {
            witness.ended(transaction, (number, first), committed, now);
        }
        for &(fault, place, is_visible) in &transaction.struck {
            let lost = transaction.accesses().iter().find(|access| access.own.place == place);
            if let Some(access) = lost.filter(|_| fault == Fault::LostVersion) {
                self.store.faults.lost.insert(access.key, (self.store.faults.struck.len(), now));
            }
            let (operation, is_visible) = (first + place, is_visible && committed.is_some());
            self.store.faults.struck.push(StruckFault { fault, transaction: number, operation, is_visible });
        }
        self.ended += 1;
        if self.ended.is_multiple_of(UNTIL_COLLECTION) {
            self.collect();
        }
    }
}
