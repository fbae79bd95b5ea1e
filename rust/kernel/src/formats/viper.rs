//! Logs of Viper's clients: one file a session, one transaction a line, in JSON or EDN.
//!
//! ```json
//! {"value": [["r", 1, 0, false], ["w", 1, 5, true], ["range", 1, "nil", [{"id": 1, "val": 5}], []]]}
//! ```
//!
//! Both notations take micro-operations apart into [`batch::Part`]s, which mean the same in both. Only committed
//! transactions are logged. Deleted rows are tombstones that keep a value. The initial transaction shows the whole
//! database before the first write: keys that it does not have start with 0, which is also what nil stands for.
//! Without one, keys were filled before the recording, and their initial values are unknown.

mod batch;
mod edn_transaction;
mod json_transaction;
mod micro_operation;

pub use batch::Batch;

use super::Records;
use super::json::Enclosure;
use crate::builder::{Builder, Details};
use crate::error::ParseError;
use crate::history::{History, Kind, Status};
use crate::value::{Translation, Value};
use batch::{Operation, Transaction};
use hashbrown::{HashMap, HashSet};

/// The value of a key that is not there, and the meaning of nil.
const NULL: i64 = 0;

/// The history so far.
pub struct Viper {
    builder: Builder,
    enclosure: Enclosure,
    /// The number of the file at hand, which is a session.
    file: i64,
    transactions: i64,
    /// Line of the initial transaction, and the values that it wrote or saw.
    initial_line: u32,
    initial: HashMap<u32, Value>,
    lists: HashSet<u32>,
    has_nil: bool,
    skipped: u64,
    failed: u64,
    repeated_rows: u64,
    seen: HashSet<u32>,
}

impl Default for Viper {
    fn default() -> Self {
        Self {
            builder: Builder::new(),
            enclosure: Enclosure::default(),
            file: 0,
            transactions: 0,
            initial_line: 0,
            initial: HashMap::new(),
            lists: HashSet::new(),
            has_nil: false,
            skipped: 0,
            failed: 0,
            repeated_rows: 0,
            seen: HashSet::new(),
        }
    }
}

fn null() -> Value {
    Value::small(NULL).unwrap_or(Value::NIL)
}

impl Records for Viper {
    type Batch = Batch;

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        self.enclosure.add(&mut batch.marks, json_transaction::EXAMPLE)?;
        let names = self.builder.values.absorb(&batch.values);
        let mut from = 0;
        for transaction in &batch.transactions {
            let operations = &batch.operations[from..transaction.end];
            if transaction.is_initial {
                self.initial(transaction, operations, batch, &names)?;
            } else {
                self.transaction(transaction, operations, batch, &names);
            }
            from = transaction.end;
        }
        self.skipped += std::mem::take(&mut batch.skipped);
        self.failed += std::mem::take(&mut batch.failed);
        batch.transactions.clear();
        batch.operations.clear();
        batch.rows.clear();
        batch.values.clear();
        Ok(())
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        self.file += 1;
        self.enclosure.end_of_file(line)
    }

    fn into_history(mut self) -> Result<History, ParseError> {
        if self.has_nil {
            let lists = &self.lists;
            self.builder.revise_values(|_, kind, key, value| {
                let is_nil = kind == Kind::Read && value == Value::NIL && !lists.contains(&key);
                if is_nil { null() } else { value }
            });
        }
        if self.initial_line != 0 {
            self.builder.initial.default = null();
        }
        self.builder.initial.of_key.extend(self.initial);
        self.builder.note("events that are not `:ok`, left out", self.skipped);
        self.builder.note("writes that did not succeed, left out", self.failed);
        self.builder.note("rows that a range read returned twice", self.repeated_rows);
        self.builder.finish()
    }
}

impl Viper {
    fn transaction(
        &mut self,
        read: &Transaction,
        operations: &[Operation],
        batch: &Batch,
        names: &Translation<'_>,
    ) {
        let session = match read.process {
            Some(process) => names.of(process),
            None => self.builder.values.integer(self.file),
        };
        let session = self.builder.session(session);
        let id = self.builder.values.integer(self.transactions);
        self.transactions += 1;
        let number = self.builder.transaction(id, session, Status::Committed, read.line);
        let number = number.expect("the id is new");
        self.builder.interval(number, read.interval);
        for operation in operations {
            self.operation(number, operation, batch, names);
        }
    }

    fn operation(&mut self, transaction: u32, read: &Operation, batch: &Batch, names: &Translation<'_>) {
        let number = if read.kind == Kind::RangeRead {
            self.range(transaction, read, batch, names)
        } else {
            let key = self.builder.key(names.of(read.key));
            let value = self.builder.result(key, read.value, names);
            if read.kind == Kind::Append || value.list_index().is_some() {
                self.lists.insert(key);
            }
            self.has_nil |= value == Value::NIL;
            self.builder.operation(transaction, read.kind, key, value, read.line)
        };
        let details = Details { interval: read.interval, tombstone: read.is_tombstone, ..Details::default() };
        self.builder.details(number, details);
    }

    fn range(&mut self, transaction: u32, read: &Operation, batch: &Batch, names: &Translation<'_>) -> usize {
        let mut take = |from: usize, to: usize| -> Vec<(u32, Value)> {
            let rows = batch.rows[from..to].iter();
            rows.map(|&(key, value)| (self.builder.key(names.of(key)), names.of(value))).collect()
        };
        let (live, dead) = (take(read.rows, read.dead), take(read.dead, read.end));
        self.seen.clear();
        let twice = live.iter().chain(&dead).filter(|row| !self.seen.insert(row.0)).count();
        self.repeated_rows += twice as u64;
        let bounds = (names.of(read.key), names.of(read.value));
        self.builder.range_read(transaction, bounds, &live, &dead, read.line)
    }

    /// Everything that the initial transaction wrote or saw was there before the first write.
    fn initial(
        &mut self,
        read: &Transaction,
        operations: &[Operation],
        batch: &Batch,
        names: &Translation<'_>,
    ) -> Result<(), ParseError> {
        if self.initial_line != 0 {
            let found = format!("a second one: the first is on line {}", self.initial_line);
            return Err(ParseError::on_line(u64::from(read.line), "one initial transaction", &found));
        }
        self.initial_line = read.line;
        for operation in operations {
            match operation.kind {
                Kind::RangeRead => {
                    for &(key, value) in &batch.rows[operation.rows..operation.end] {
                        self.start_with(names.of(key), names.of(value));
                    }
                }
                Kind::Append => {
                    return Err(ParseError::on_line(
                        u64::from(operation.line),
                        "an initial transaction of writes, reads or range reads",
                        "an append",
                    )
                    .hint("lists start empty"));
                }
                _ if operation.value.list_index().is_some() => {}
                _ => self.start_with(names.of(operation.key), names.of(operation.value)),
            }
        }
        Ok(())
    }

    fn start_with(&mut self, key: Value, value: Value) {
        let key = self.builder.key(key);
        self.initial.insert(key, if value == Value::NIL { null() } else { value });
    }
}

#[cfg(test)]
mod tests;
