//! The histories of dbcop as of 2019: sessions of transactions of events, in [`bincode`] or [`yaml`].
//!
//! Nothing has a name in these formats: sessions and transactions are numbered from 0. Value 0 is the
//! initial value of every key, unless an explicit write of 0 replaces it.
//!
//! Each event and each transaction says whether it succeeded. A transaction that did not is aborted. An
//! event that did not never happened, whatever became of its transaction. A failed read is dropped. A
//! failed write is kept as an aborted transaction of its own: a read of its value is a read of a value that was
//! never committed, which is not the same as a value from nowhere.

pub mod bincode;
pub mod yaml;

use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::{History, Kind, Status};
use crate::value::{AtomKind, Value};

/// One event of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Event {
    write: bool,
    variable: u64,
    value: u64,
    success: bool,
}

/// The history so far.
struct Recording {
    builder: Builder,
    session: u32,
    transaction: u32,
    sessions: u64,
    transactions: u64,
    failed_reads: u64,
    failed_writes: u64,
}

impl Default for Recording {
    fn default() -> Self {
        let mut builder = Builder::new();
        builder.initial.default = Value::small(0).expect("zero is small");
        builder.initial.replaceable = true;
        let (session, transaction, sessions, transactions) = (0, 0, 0, 0);
        Self { builder, session, transaction, sessions, transactions, failed_reads: 0, failed_writes: 0 }
    }
}

impl Recording {
    /// The next session starts.
    fn session(&mut self) {
        let id = self.builder.values.unsigned(self.sessions);
        self.session = self.builder.session(id);
        self.sessions += 1;
    }

    /// The next transaction of the session starts.
    fn transaction(&mut self, line: u32) {
        let id = self.builder.values.unsigned(self.transactions);
        self.transactions += 1;
        let number = self.builder.transaction(id, self.session, Status::Aborted, line);
        self.transaction = number.expect("every number is new");
    }

    /// The next event of the transaction.
    #[inline]
    fn event(&mut self, event: Event, line: u32) {
        if !event.success {
            return self.failed(event, line);
        }
        let kind = if event.write { Kind::Write } else { Kind::Read };
        self.operation(self.transaction, kind, event, line);
    }

    fn failed(&mut self, event: Event, line: u32) {
        if !event.write {
            self.failed_reads += 1;
            return;
        }
        self.failed_writes += 1;
        let id = self.builder.values.intern(AtomKind::Text, &format!("failed-{}", self.failed_writes));
        let number = self.builder.transaction(id, self.session, Status::Aborted, line);
        self.operation(number.expect("every name is new"), Kind::Write, event, line);
    }

    #[inline]
    fn operation(&mut self, transaction: u32, kind: Kind, event: Event, line: u32) {
        let key = self.builder.values.unsigned(event.variable);
        let key = self.builder.key(key);
        let value = self.builder.values.unsigned(event.value);
        self.builder.operation(transaction, kind, key, value, line);
    }

    /// The transaction is over.
    fn end_of_transaction(&mut self, success: bool) {
        let status = if success { Status::Committed } else { Status::Aborted };
        self.builder.set_status(self.transaction, status);
    }

    fn into_history(mut self) -> Result<History, ParseError> {
        self.builder.note("failed reads dropped", self.failed_reads);
        self.builder.note("failed writes kept as aborted transactions", self.failed_writes);
        self.builder.finish()
    }
}

#[cfg(test)]
mod tests;
