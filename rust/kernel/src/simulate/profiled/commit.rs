//! How transactions end.

use super::faults::Fault;
use super::plan::delay;
use super::run::ProfiledRun;
use super::transaction::{Lost, Own, Stage, Transaction};
use crate::history::{Kind, Status};
use crate::intervals::profile::{Certifier, Lock};
use crate::simulate::store::Version;

impl ProfiledRun {
    /// The server handles a commit or a rollback.
    pub(super) fn end(&mut self, transaction: &mut Transaction) {
        if transaction.rolls_back || transaction.lost == Lost::Request {
            self.undo(transaction);
            self.release(transaction);
            return self.roll_back(transaction);
        }
        if transaction.stage == Stage::End && self.profile.commit_lock != Lock::None {
            return self.lock_for_commit(transaction);
        }
        self.commit(transaction);
    }

    /// Locks the changed rows, and commits a little later.
    fn lock_for_commit(&mut self, transaction: &mut Transaction) {
        for place in 0..transaction.writes.len() {
            let row = transaction.writes[place].key;
            if let Some(other) = self.acquire(transaction, row, self.profile.commit_lock, true) {
                if !self.wait_to_commit(transaction, row, other) {
                    self.refuse(transaction);
                }
                return;
            }
        }
        transaction.stage = Stage::Committing;
        let at = self.now + delay(&mut self.delaying, self.delays.service);
        self.schedule(at, transaction.slot);
    }

    fn commit(&mut self, transaction: &mut Transaction) {
        if !self.may_commit(transaction) {
            return self.refuse(transaction);
        }
        self.remember(transaction);
        let mut writes = std::mem::take(&mut transaction.writes);
        writes.retain(|&own| !self.loses(transaction, own));
        for &own in &writes {
            self.install(transaction, own);
        }
        transaction.writes = writes;
        self.release(transaction);
        transaction.marked(Kind::Commit);
        let is_lost = transaction.lost == Lost::Answer;
        let status = if is_lost { Status::Indeterminate } else { Status::Committed };
        self.finish(transaction, status, Some(self.now));
    }

    fn install(&mut self, transaction: &Transaction, own: Own) {
        let commit = match (self.profile.certifier, transaction.snapshot) {
            (Certifier::TimestampOrder, Some(timestamp)) => timestamp,
            _ => self.now,
        };
        let version = Version { commit, writer: transaction.id, value: own.value };
        let row = &mut self.rows[own.key as usize];
        debug_assert!(row.newest().commit < commit, "versions appear in their order");
        row.versions.push(version);
        if row.is_crowded() {
            row.forget(self.horizon, self.now);
        }
        if !self.faults.lost.is_empty() {
            self.faults.lost.remove(&own.key);
        }
        if let Some(value) = own.before.filter(|_| self.faults.may(Fault::IntermediateRead)) {
            self.faults.intermediate.insert(own.key, Version { value, ..version });
        }
        if let Some(witness) = &mut self.witness {
            witness.installed(own.key, version);
        }
        self.show_future(transaction, version, own.key);
    }

    fn loses(&mut self, transaction: &mut Transaction, own: Own) -> bool {
        if !self.faults.strikes(Fault::LostVersion) {
            return false;
        }
        let mut done = transaction.done.iter();
        let place = done.rposition(|done| done.kind.installs() && done.low == own.key);
        transaction.struck.push((Fault::LostVersion, place.unwrap_or_default() as u32, false));
        true
    }

    /// The commit fails.
    fn refuse(&mut self, transaction: &mut Transaction) {
        self.undo(transaction);
        self.release(transaction);
        self.roll_back(transaction);
    }

    /// The transaction has not committed, and the client receives the answer.
    pub(super) fn roll_back(&mut self, transaction: &mut Transaction) {
        let is_orphan = transaction.is_orphan;
        transaction.marked(if is_orphan { Kind::Commit } else { Kind::Abort });
        let status = if is_orphan { Status::Indeterminate } else { Status::Aborted };
        self.finish(transaction, status, None);
    }

    fn finish(&mut self, transaction: &mut Transaction, status: Status, committed: Option<u64>) {
        let mut at = self.complete(transaction);
        if status == Status::Indeterminate {
            at = self.now;
            if let Some(done) = transaction.done.last_mut() {
                done.complete = 0;
            }
        }
        self.flush(transaction, status, committed);
        self.leave(transaction, at);
    }
}
