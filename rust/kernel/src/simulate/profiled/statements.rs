//! How the server executes a statement.

use super::faults::Fault;
use super::run::ProfiledRun;
use super::transaction::{Own, Stage, Step, Transaction};
use crate::history::Kind;
use crate::intervals::profile::{Certifier, Conduct, Read, Snapshot};
use crate::simulate::store::{ABSENT, Version};

impl ProfiledRun {
    pub(super) fn statement(&mut self, transaction: &mut Transaction) {
        let step = transaction.plan[transaction.next];
        let conduct = self.profile.statements[step.statement as usize];
        self.take_snapshot(transaction, step, conduct);
        if let Some(other) = self.lock(transaction, step, conduct) {
            if !self.wait(transaction, other) {
                self.fail(transaction, step);
            }
            return;
        }
        let is_done = match step.kind {
            Kind::Read | Kind::RangeRead => self.read(transaction, step, conduct),
            _ => self.change(transaction, step),
        };
        if !is_done {
            return self.fail(transaction, step);
        }
        transaction.next += 1;
        self.release_early(transaction);
        self.answer(transaction);
    }

    /// The snapshot of the transaction, if this statement takes it.
    fn take_snapshot(&mut self, transaction: &mut Transaction, step: Step, conduct: Conduct) {
        if transaction.snapshot.is_some() {
            return;
        }
        let reads = matches!(step.kind, Kind::Read | Kind::RangeRead) && conduct.read == Read::Consistent;
        let is_due = match (self.profile.snapshot, transaction.moment) {
            (Snapshot::Statement | Snapshot::Begin, _) => false,
            (Snapshot::FirstStatement, _) | (Snapshot::Transaction, 0 | 1) => true,
            (Snapshot::FirstRead | Snapshot::Transaction, _) => reads,
        };
        if !is_due {
            return;
        }
        // An own earlier write must not be newer than the snapshot.
        let may_be_old = self.profile.snapshot == Snapshot::Transaction
            && transaction.moment == 3
            && transaction.writes.is_empty()
            && self.profile.certifier != Certifier::TimestampOrder;
        let age = if may_be_old { self.random.wide_below(self.now - transaction.begun + 1) } else { 0 };
        transaction.snapshot = Some(self.now - age);
    }

    /// Writes, inserts or deletes a row; false if that is refused.
    fn change(&mut self, transaction: &mut Transaction, step: Step) -> bool {
        let row = step.low;
        let own = transaction.own(row).map(|own| own.value);
        let newest = self.rows[row as usize].newest();
        let is_insertion = step.kind == Kind::Insert;
        if is_insertion && own.unwrap_or(newest.value) != ABSENT {
            return false;
        }
        let since = transaction.snapshot.unwrap_or(self.now);
        if own.is_none() && !is_insertion && !self.is_first_updater(transaction, row, since) {
            return false;
        }
        let value = if step.kind == Kind::Delete { ABSENT } else { self.new_value(row) };
        self.keep(transaction, row, value, is_insertion);
        transaction.did(step, value);
        true
    }

    /// Whether no other transaction has changed the row since then, where first updater wins.
    pub(super) fn is_first_updater(&mut self, transaction: &mut Transaction, row: u32, since: u64) -> bool {
        if !self.profile.first_updater_wins || self.rows[row as usize].newest().commit <= since {
            return true;
        }
        let strikes = self.faults.strikes(Fault::MissedFirstUpdater);
        if strikes {
            transaction.strike(Fault::MissedFirstUpdater, true);
        }
        strikes
    }

    fn new_value(&mut self, row: u32) -> i64 {
        let row = &mut self.rows[row as usize];
        row.written += 1;
        match self.load.repeated_values {
            0 => i64::from(row.written),
            values => i64::from(1 + self.random.below(values)),
        }
    }

    fn keep(&mut self, transaction: &mut Transaction, key: u32, value: i64, is_insertion: bool) {
        match transaction.writes.iter_mut().find(|own| own.key == key) {
            Some(own) => {
                own.before = Some(own.value);
                own.value = value;
                own.last = self.now;
            }
            None => transaction.writes.push(Own {
                key,
                value,
                at: self.now,
                last: self.now,
                is_insertion,
                before: None,
            }),
        }
        self.rows[key as usize].holder = (transaction.slot, transaction.id);
    }

    /// Refuses the statement and with it the transaction; the client learns it and rolls back.
    pub(super) fn fail(&mut self, transaction: &mut Transaction, step: Step) {
        let is_value = matches!(step.kind, Kind::Write | Kind::Insert);
        let value = if is_value { self.new_value(step.low) } else { ABSENT };
        transaction.did(step, value);
        if let Some(done) = transaction.done.last_mut() {
            done.is_unknown = !is_value;
        }
        self.undo(transaction);
        self.release(transaction);
        transaction.stage = Stage::Failed;
        self.answer(transaction);
    }

    /// Undoes the writes of a transaction.
    pub(super) fn undo(&mut self, transaction: &Transaction) {
        for own in &transaction.writes {
            if self.faults.may(Fault::AbortedRead) && own.value != ABSENT {
                let version = Version { commit: self.now, writer: transaction.id, value: own.value };
                self.faults.aborted.insert(own.key, version);
            }
        }
    }
}
