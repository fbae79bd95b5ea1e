//! The history of a transaction as its client recorded it, and the truth about it.

use super::client::{Done, Transaction};
use super::run::ProfiledRun;
use crate::builder::Details;
use crate::history::{Interval, Kind, Label, NO_KEY, Status};
use crate::intervals::profile::Statement;
use crate::simulate::output::small;
use crate::simulate::store::ABSENT;
use crate::value::{AtomKind, Value};

impl ProfiledRun {
    /// Adds a transaction to the history.
    pub(super) fn flush(&mut self, transaction: &Transaction, status: Status, committed: Option<u64>) {
        let session = self.builder.session(small(transaction.session));
        let first = self.builder.operation_count() as u32;
        let id = small(transaction.id);
        let number = self.builder.transaction(id, session, status, first + 1).expect("ids are counted");
        let mut rows = 0;
        for done in &transaction.done {
            let shown = &transaction.rows[rows as usize..done.rows as usize];
            rows = done.rows;
            self.record(number, done, shown, transaction.client);
        }
        if let [begin, .., end] = transaction.done.as_slice() {
            let whole = Done { invoke: begin.invoke, ..*end };
            let interval = self.interval(&whole, transaction.client);
            self.builder.interval(number, interval);
        }
        self.server.ended(transaction.slot, (number, first), committed);
    }

    fn record(&mut self, number: u32, done: &Done, shown: &[(u32, i64)], client: u32) {
        let line = self.builder.operation_count() as u32 + 1;
        let operation = match done.request.kind {
            Kind::Begin | Kind::Commit | Kind::Abort => {
                self.builder.operation(number, done.request.kind, NO_KEY, Value::NIL, line)
            }
            Kind::RangeRead if !done.is_unknown => {
                let live: Vec<_> =
                    shown.iter().map(|&(row, value)| (self.key(row), value_of(value))).collect();
                self.builder.range_read(
                    number,
                    (small(done.request.low), small(done.request.high)),
                    &live,
                    &[],
                    line,
                )
            }
            // The result of a range read that failed is not known: only its first row is recorded.
            Kind::RangeRead | Kind::Read if done.is_unknown => {
                let key = self.key(done.request.low);
                self.builder.operation(number, Kind::Read, key, Value::UNKNOWN, line)
            }
            kind => {
                let key = self.key(done.request.low);
                self.builder.operation(number, kind, key, value_of(done.value), line)
            }
        };
        let details = Details {
            interval: self.interval(done, client),
            statement: self.statement_of(done),
            table: self.table_label(done),
            ..Details::default()
        };
        self.builder.details(operation, details);
    }

    fn key(&mut self, row: u32) -> u32 {
        let key = self.builder.key(small(row));
        if self.server.store.rows[row as usize].initial == ABSENT && self.known_keys == key {
            self.builder.initial.of_key.push((key, Value::NIL));
        }
        self.known_keys = self.known_keys.max(key + 1);
        key
    }

    fn interval(&self, done: &Done, client: u32) -> Interval {
        let offset = self.clocks[client as usize];
        let complete = (done.complete > 0).then_some(done.complete as i64 + offset);
        Interval::new(Some(done.invoke as i64 + offset), complete)
    }

    fn statement_of(&mut self, done: &Done) -> Label {
        match done.request.statement {
            Statement::SelectForUpdate => self.label("select for update"),
            Statement::SelectForShare => self.label("select for share"),
            _ => Label::default(),
        }
    }

    fn table_label(&mut self, done: &Done) -> Label {
        if self.load.tables < 2 || matches!(done.request.kind, Kind::Begin | Kind::Commit | Kind::Abort) {
            return Label::default();
        }
        self.label(&format!("t{}", done.request.low / self.rows_of_table))
    }

    fn label(&mut self, text: &str) -> Label {
        Label(self.builder.values.intern(AtomKind::Text, text))
    }
}

fn value_of(value: i64) -> Value {
    if value == ABSENT { Value::NIL } else { Value::small(value).expect("values are counted") }
}
