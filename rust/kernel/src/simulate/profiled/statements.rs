//! Statements and ends of transactions, from the request to the answer.

use super::client::{Lost, Stage, Transaction};
use super::plan::delay;
use super::run::ProfiledRun;
use crate::history::{Kind, Status};
use crate::intervals::profile::Lock;
use crate::simulate::store::{ABSENT, Answer, Change, Fault, Request, SeenVersion, StoredVersion};

impl ProfiledRun {
    /// The server handles a statement.
    pub(super) fn statement(&mut self, transaction: &mut Transaction) {
        let (slot, request) = (transaction.slot, transaction.plan[transaction.next]);
        match self.server.request(slot, request) {
            Answer::Ready => self.execute(transaction, request),
            Answer::Waits => return,
            Answer::Refused | Answer::Deadlock(_) => return self.fail(transaction),
        }
        transaction.next += 1;
        self.server.done(slot);
        self.wake();
        self.answer(transaction);
    }

    fn execute(&mut self, transaction: &mut Transaction, request: Request) {
        let (slot, row) = (transaction.slot, request.low);
        let value = match request.kind {
            Kind::Read => self.server.read(slot, request),
            Kind::RangeRead => {
                self.server.range_read(slot, request, &mut transaction.rows);
                ABSENT
            }
            Kind::Delete => {
                self.server.change(slot, row, Change::Delete);
                ABSENT
            }
            kind => {
                let value = self.new_value(row);
                let change = if kind == Kind::Insert { Change::Insert(value) } else { Change::Write(value) };
                self.server.change(slot, row, change);
                value
            }
        };
        transaction.did(request, value, false);
    }

    fn new_value(&mut self, row: u32) -> i64 {
        i64::from(self.server.store.new_value(row, self.load.repeated_values))
    }

    /// Transactions that waited for a lock try again.
    fn wake(&mut self) {
        while let Some(slot) = self.server.next_woken() {
            let at = self.now() + 1 + self.delaying.wide_below(self.delays.service / 4 + 1);
            self.schedule(at, slot);
        }
    }

    /// The server refuses the statement and with it the transaction; the client learns it and rolls back.
    fn fail(&mut self, transaction: &mut Transaction) {
        let request = transaction.plan[transaction.next];
        let is_value = matches!(request.kind, Kind::Write | Kind::Insert);
        let value = if is_value { self.new_value(request.low) } else { ABSENT };
        transaction.did(request, value, !is_value);
        self.undo(transaction);
        transaction.stage = Stage::Failed;
        self.answer(transaction);
    }

    fn undo(&mut self, transaction: &Transaction) {
        self.server.abort(transaction.slot);
        self.wake();
    }

    /// The server handles a commit or a rollback.
    pub(super) fn end(&mut self, transaction: &mut Transaction) {
        let is_refused = transaction.rolls_back || transaction.lost == Lost::Request;
        if !is_refused && transaction.stage == Stage::End && self.server.profile.commit_lock != Lock::None {
            return self.lock_for_commit(transaction);
        }
        if is_refused || !self.commit(transaction) {
            self.undo(transaction);
            self.roll_back(transaction);
        }
    }

    /// Locks the changed rows, and commits a little later.
    fn lock_for_commit(&mut self, transaction: &mut Transaction) {
        match self.server.lock_for_commit(transaction.slot) {
            Answer::Ready => {
                transaction.stage = Stage::Committing;
                let at = self.now() + delay(&mut self.delaying, self.delays.service);
                self.schedule(at, transaction.slot);
            }
            Answer::Waits => {}
            Answer::Refused => {
                self.undo(transaction);
                self.roll_back(transaction);
            }
            Answer::Deadlock(slot) => {
                let mut victim = std::mem::take(&mut self.transactions[slot as usize]);
                self.fail(&mut victim);
                self.transactions[slot as usize] = victim;
                self.schedule(self.now() + 1, transaction.slot);
            }
        }
    }

    /// Commits; false if the server refuses that.
    fn commit(&mut self, transaction: &mut Transaction) -> bool {
        let Some(versions) = self.server.commit(transaction.slot) else { return false };
        self.wake();
        for (row, version) in versions {
            self.show_future(transaction, version, row);
        }
        transaction.marked(Kind::Commit);
        let is_lost = transaction.lost == Lost::Answer;
        let status = if is_lost { Status::Indeterminate } else { Status::Committed };
        self.finish(transaction, status, Some(self.now()));
        true
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
            at = self.now();
            if let Some(done) = transaction.done.last_mut() {
                done.complete = 0;
            }
        }
        self.flush(transaction, status, committed);
        self.leave(transaction, at);
    }

    /// An earlier answer to another client shows this version, if that fault strikes.
    fn show_future(&mut self, transaction: &Transaction, version: StoredVersion, row: u32) {
        if !self.server.faults.may(Fault::FutureRead) || version.value == ABSENT {
            return;
        }
        for other in self.transactions.iter_mut().filter(|other| other.is_active) {
            let trace = &mut self.server.traces[other.slot as usize];
            let Some(seen) = trace.seen.iter_mut().find(|seen| seen.key == row) else { continue };
            let Some(done) = other.done.get_mut(seen.place as usize) else { continue };
            let is_past = done.complete > 0 && done.complete < transaction.invoke;
            if done.request.kind == Kind::Read && is_past && self.server.faults.strikes(Fault::FutureRead) {
                done.value = version.value;
                *seen = SeenVersion {
                    from: version.commit,
                    writer: version.writer,
                    value: version.value,
                    ..*seen
                };
                trace.struck.push((Fault::FutureRead, seen.place, true));
                return;
            }
        }
    }
}
