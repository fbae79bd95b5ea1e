//! How transactions end.

use super::clock::Clocks;
use super::lagging::View;
use super::transaction::{Access, Transaction};
use super::{Fault, Isolation, Refusal, Store};

impl Store {
    /// Commits the transaction of a session: its start and commit timestamps. A refused one stays open.
    pub(crate) fn commit(&mut self, session: u32) -> Result<(u64, u64), Refusal> {
        let transaction = &self.transactions[session as usize];
        if let Some(refusal) = self.conflict(transaction) {
            return Err(refusal);
        }
        let keys = transaction.accesses().iter().map(|access| access.key);
        let now = self.clock.commit(session, keys, self.now);
        let mut times = (transaction.start, now);
        if let Some(bug) = self.settings.bug {
            times = self.commit_with_fault(session, now, bug);
        } else {
            self.install(session, now, &[]);
        }
        let transaction = &mut self.transactions[session as usize];
        transaction.before = (transaction.id, times.1);
        self.close(session);
        Ok(times)
    }

    /// Adds the versions of a transaction where a fault may strike, and logs what it causes.
    fn commit_with_fault(&mut self, session: u32, now: u64, bug: Fault) -> (u64, u64) {
        let times = self.recorded(session, now);
        if self.settings.isolation.has_snapshots() {
            self.judge(session, times);
        }
        let visible = self.visible_from(session);
        self.install(session, times.1, &visible);
        if times.1 < now {
            self.judge_late(session, times.1);
        }
        self.remember(session, times, bug);
        times
    }

    /// The rows that the last transaction of a session wrote, with the last values of registers.
    pub(crate) fn written(&self, session: u32) -> impl Iterator<Item = (u32, i64)> {
        self.transactions[session as usize].writes().map(|access| (access.key, access.own.value))
    }

    /// Rolls the transaction of a session back.
    pub(crate) fn abort(&mut self, session: u32) {
        let transaction = &self.transactions[session as usize];
        if self.settings.bug == Some(Fault::AbortedRead) {
            for access in transaction.writes() {
                let rolled_back = (transaction.id, access.own.clone());
                self.rows[access.key as usize].rare().rolled_back = Some(rolled_back);
            }
        }
        if matches!(self.settings.clocks, Clocks::Serial { .. }) {
            self.clock.tick(session, self.now);
        }
        self.close(session);
    }

    pub(super) fn close(&mut self, session: u32) {
        self.transactions[session as usize].id = super::NO_TRANSACTION;
        if let Some(place) = self.running.iter().position(|&running| running == session) {
            self.running.swap_remove(place);
        }
    }

    /// Versions up to this timestamp are no conflict.
    pub(super) fn limit(&self, transaction: &Transaction) -> u64 {
        // A transaction with an older snapshot, because of a fault, is held to it: only its timestamp is wrong.
        let is_held = self.settings.isolation == Isolation::Snapshot;
        if is_held { transaction.snapshot } else { transaction.start }
    }

    /// First committer wins; a serializable transaction must also have read what is still the newest.
    fn conflict(&self, transaction: &Transaction) -> Option<Refusal> {
        // Serial transactions meet no conflict: late writes of one with an old snapshot are refused at once.
        if !self.settings.isolation.has_snapshots() || matches!(self.settings.clocks, Clocks::Serial { .. }) {
            return None;
        }
        let limit = self.limit(transaction);
        let is_newer = |access: &&Access| self.rows[access.key as usize].is_newer_than(limit);
        let mut newer = transaction.accesses().iter().filter(is_newer);
        newer.find_map(|access| match access.is_written() {
            true if !self.strikes(transaction, Fault::LostUpdate) => Some(Refusal::WrittenByAnother),
            false if access.shown.is_some() && self.certifies_reads(transaction) => Some(Refusal::ReadIsOld),
            _ => None,
        })
    }

    fn certifies_reads(&self, transaction: &Transaction) -> bool {
        self.settings.isolation == Isolation::Serializable && !self.strikes(transaction, Fault::WriteSkew)
    }

    /// Whether a row that is not written has changed, where that matters: for rows of a range that was read.
    pub(crate) fn is_old(&self, session: u32, row: u32) -> bool {
        let transaction = &self.transactions[session as usize];
        self.certifies_reads(transaction)
            && transaction.own(row).is_none()
            && self.rows[row as usize].is_newer_than(self.limit(transaction))
    }

    /// The start and commit timestamps that are recorded.
    fn recorded(&mut self, session: u32, now: u64) -> (u64, u64) {
        let transaction = &self.transactions[session as usize];
        if self.strikes(transaction, Fault::ClockSkew) {
            let commit = self.clock.behind(transaction.start, now, &mut self.faults).unwrap_or(now);
            return (transaction.start, commit);
        }
        let is_free = |access: &Access| self.rows[access.key as usize].newest().commit < transaction.start;
        if self.strikes(transaction, Fault::TimestampSwap) && transaction.writes().all(is_free) {
            return (now, transaction.start);
        }
        (transaction.start, now)
    }

    /// Adds the versions of a transaction; `visible` has the instant from which each one is visible, if not at once.
    fn install(&mut self, session: u32, commit: u64, visible: &[u64]) {
        let transaction = &self.transactions[session as usize];
        let clock = self.view.as_mut().map(View::commit);
        for (place, access) in transaction.writes().enumerate() {
            let visible = visible.get(place).copied().unwrap_or_default();
            let row = &mut self.rows[access.key as usize];
            row.install(&access.own, self.settings.model, transaction.id, commit, visible);
            match (&mut self.view, &clock) {
                (Some(view), Some(clock)) => view.install(access.key, clock.as_ref()),
                _ if row.is_crowded() => {
                    let horizon = self.horizon();
                    self.rows[access.key as usize].forget(horizon, self.now);
                }
                _ => {}
            }
        }
    }

    /// Installs the writes of an open transaction to one row.
    pub(super) fn install_row(&mut self, session: u32, row: u32, commit: u64, horizon: u64) {
        let transaction = &self.transactions[session as usize];
        let Some(own) = transaction.own(row) else { return };
        let row = &mut self.rows[row as usize];
        row.install(own, self.settings.model, transaction.id, commit, 0);
        if row.is_crowded() {
            row.forget(horizon, self.now);
        }
    }

    /// The instant from which each write is visible; empty if all are at once.
    fn visible_from(&mut self, session: u32) -> Vec<u64> {
        let transaction = &self.transactions[session as usize];
        if !transaction.is_marked {
            return Vec::new();
        }
        let writes = transaction.writes().count();
        let mut visible = vec![0; writes];
        if self.strikes(transaction, Fault::FracturedCommit) && writes > 1 {
            visible[writes / 2..].fill(self.now + self.settings.hidden_for);
        }
        if self.strikes(transaction, Fault::DroppedWrite) && writes > 0 {
            visible[self.faults.below(writes as u32) as usize] = u64::MAX;
        }
        visible
    }
}
