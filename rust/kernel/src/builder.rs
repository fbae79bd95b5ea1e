//! Collects transactions and operations, in any order; [`layout`] makes a [`crate::history::History`] of them.

mod layout;
mod slice;

use crate::history::{
    Initial, Interval, Kind, Label, LeftOut, Operations, Range, Ranges, Sequence, Status, Timestamp,
    Transactions, VersionSource,
};
use crate::index::DenseIndex;
use crate::value::{Translation, Value, Values};

/// The most operations (and transactions) that a history can hold: their numbers are 32 bits.
pub const MOST_OPERATIONS: usize = u32::MAX as usize - 1;

/// A history under construction.
#[derive(Debug, Default)]
pub struct Builder {
    /// Scalars and lists; intern values here before they are used.
    pub values: Values,
    /// Initial values.
    pub initial: Initial,
    keys: DenseIndex,
    sessions: DenseIndex,
    session_ids: Vec<Value>,
    session_numbers: Vec<u32>,
    ids: DenseIndex,
    transactions: Transactions,
    operations: Operations,
    owners: Vec<u32>,
    ranges: Ranges,
    versions: Vec<(VersionSource, u32, Value)>,
    notes: Vec<(String, u64)>,
    /// The longest list that a read of each key returned so far.
    longest: Vec<Option<usize>>,
}

/// Everything about one operation beside its kind, key, value and line.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)]
pub struct Details {
    pub interval: Interval,
    pub table: Label,
    pub columns: Label,
    pub statement: Label,
    pub lock_mode: Label,
    pub read_mode: Label,
    pub predicate: Label,
    pub tombstone: bool,
}

impl Builder {
    /// An empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The dense number of a key.
    #[inline]
    pub fn key(&mut self, key: Value) -> u32 {
        self.keys.number(key)
    }

    /// The dense number of a key that was mentioned before.
    #[must_use]
    pub fn find_key(&self, key: Value) -> Option<u32> {
        self.keys.get(key)
    }

    /// The result of a read of `key`: a value of the pool that `translation` knows.
    pub fn result(&mut self, key: u32, value: Value, translation: &Translation<'_>) -> Value {
        match translation.elements(value) {
            Some(elements) => self.list(key, &elements),
            None => translation.of(value),
        }
    }

    /// A list that a read of `key` returned: if it starts the longest one so far, it shares its elements.
    pub fn list(&mut self, key: u32, elements: &[Value]) -> Value {
        if self.longest.len() <= key as usize {
            self.longest.resize(key as usize + 1, None);
        }
        let known = self.longest[key as usize].map(|known| (known, self.values.list(known)));
        match known {
            Some((known, whole)) if whole.starts_with(elements) => {
                self.values.prefix(known, elements.len() as u32)
            }
            Some((_, whole)) if whole.len() >= elements.len() => {
                self.values.push_list(elements.iter().copied())
            }
            _ => {
                let list = self.values.push_list(elements.iter().copied());
                self.longest[key as usize] = list.list_index();
                list
            }
        }
    }

    /// The dense number of a session that the input names.
    pub fn session(&mut self, id: Value) -> u32 {
        let named = self.sessions.number(id) as usize;
        if named == self.session_numbers.len() {
            self.session_numbers.push(self.session_ids.len() as u32);
            self.session_ids.push(id);
        }
        self.session_numbers[named]
    }

    /// A new session without a name, for a transaction that has none.
    pub fn nameless_session(&mut self) -> u32 {
        self.session_ids.push(Value::NIL);
        self.session_ids.len() as u32 - 1
    }

    /// A new transaction; `None` if the id is taken.
    pub fn transaction(&mut self, id: Value, session: u32, status: Status, line: u32) -> Option<u32> {
        let number = self.ids.number(id);
        if number as usize != self.transactions.sessions.len() {
            return None;
        }
        self.transactions.sessions.push(session);
        self.transactions.statuses.push(status);
        self.transactions.lines.push(line);
        Some(number)
    }

    /// The transaction with this id.
    #[must_use]
    pub fn find(&self, id: Value) -> Option<u32> {
        self.ids.get(id)
    }

    /// The session of `transaction`.
    #[must_use]
    pub fn session_of(&self, transaction: u32) -> u32 {
        self.transactions.sessions[transaction as usize]
    }

    /// Sets how `transaction` ended, for a format that learns it late.
    pub fn set_status(&mut self, transaction: u32, status: Status) {
        self.transactions.statuses[transaction as usize] = status;
    }

    /// The status of `transaction`.
    #[must_use]
    pub fn status_of(&self, transaction: u32) -> Status {
        self.transactions.statuses[transaction as usize]
    }

    /// The original id of a session; nil if it has none.
    #[must_use]
    pub fn session_id(&self, session: u32) -> Value {
        self.session_ids[session as usize]
    }

    /// The line on which `transaction` was first mentioned.
    #[must_use]
    pub fn line_of(&self, transaction: u32) -> u32 {
        self.transactions.lines[transaction as usize]
    }

    /// How many operations there are so far.
    #[must_use]
    pub fn operation_count(&self) -> usize {
        self.owners.len()
    }

    /// How many transactions there are so far.
    #[must_use]
    pub fn transaction_count(&self) -> usize {
        self.transactions.sessions.len()
    }

    /// The next operation of `transaction` in program order; its number.
    #[inline]
    pub fn operation(&mut self, transaction: u32, kind: Kind, key: u32, value: Value, line: u32) -> usize {
        self.owners.push(transaction);
        self.operations.kinds.push(kind);
        self.operations.keys.push(key);
        self.operations.values.push(value);
        self.operations.lines.push(line);
        self.owners.len() - 1
    }

    /// Many operations at once, column by column; the first is on line `line`, each on a line of its own.
    pub fn operations(
        &mut self,
        transactions: &[u32],
        kinds: impl Iterator<Item = Kind>,
        keys: impl Iterator<Item = Value>,
        values: impl Iterator<Item = Value>,
        line: u32,
    ) {
        self.owners.extend_from_slice(transactions);
        self.operations.kinds.extend(kinds);
        self.operations.keys.extend(keys.map(|key| self.keys.number(key)));
        self.operations.values.extend(values);
        self.operations.lines.extend(line..line + transactions.len() as u32);
    }

    /// The transaction of an operation.
    #[must_use]
    pub fn owner_of(&self, operation: usize) -> u32 {
        self.owners[operation]
    }

    /// The key of an operation.
    #[must_use]
    pub fn key_of(&self, operation: usize) -> u32 {
        self.operations.keys[operation]
    }

    /// Sets the value of an operation, for a format that learns it late.
    pub fn set_value(&mut self, operation: usize, value: Value) {
        self.operations.values[operation] = value;
    }

    /// Replaces values of operations, for a format that understands a value only at the end.
    pub fn revise_values(&mut self, mut revised: impl FnMut(&mut Values, Kind, u32, Value) -> Value) {
        let Operations { kinds, keys, values, .. } = &mut self.operations;
        for ((&kind, &key), value) in kinds.iter().zip(keys.iter()).zip(values) {
            *value = revised(&mut self.values, kind, key, *value);
        }
    }

    /// The next operation of `transaction`, a range read that saw `live` rows and `dead` tombstones.
    pub fn range_read(
        &mut self,
        transaction: u32,
        bounds: (Value, Value),
        live: &[(u32, Value)],
        dead: &[(u32, Value)],
        line: u32,
    ) -> usize {
        let number = Value::small(self.ranges.ranges.len() as i64).expect("far below 62 bits");
        self.ranges.ranges.push(Range {
            low: bounds.0,
            high: bounds.1,
            first_row: self.ranges.row_keys.len() as u32,
            live: live.len() as u32,
            dead: dead.len() as u32,
        });
        for &(key, value) in live.iter().chain(dead) {
            self.ranges.row_keys.push(key);
            self.ranges.row_values.push(value);
        }
        self.operation(transaction, Kind::RangeRead, crate::history::NO_KEY, number, line)
    }

    /// Says that an operation is a read of what a range read left out.
    pub fn leave_out(&mut self, operation: usize, left_out: LeftOut) {
        self.operations.left_out.set(operation, left_out);
    }

    /// Adds the details of an operation.
    pub fn details(&mut self, operation: usize, details: Details) {
        self.operations.intervals.set(operation, details.interval);
        self.operations.tables.set(operation, details.table);
        self.operations.columns.set(operation, details.columns);
        self.operations.statements.set(operation, details.statement);
        self.operations.lock_modes.set(operation, details.lock_mode);
        self.operations.read_modes.set(operation, details.read_mode);
        self.operations.predicates.set(operation, details.predicate);
        self.operations.tombstones.set(operation, details.tombstone);
    }

    /// The database's clock at start and commit of `transaction`.
    pub fn timestamps(&mut self, transaction: u32, start: Timestamp, commit: Timestamp) {
        self.transactions.starts.set(transaction as usize, start);
        self.transactions.commits.set(transaction as usize, commit);
    }

    /// The client's clock around `transaction`.
    pub fn interval(&mut self, transaction: u32, interval: Interval) {
        self.transactions.intervals.set(transaction as usize, interval);
    }

    /// Invocation and completion of `transaction` in one total order of events.
    pub fn positions(&mut self, transaction: u32, positions: Interval) {
        self.transactions.positions.set(transaction as usize, positions);
    }

    /// The explicit place of `transaction` in its session.
    pub fn sequence(&mut self, transaction: u32, number: i64) {
        self.transactions.sequences.set(transaction as usize, Sequence::new(number));
    }

    /// The next version of `key` according to `source`.
    pub fn version(&mut self, source: VersionSource, key: u32, value: Value) {
        self.versions.push((source, key, value));
    }

    /// Counts something that the user should know of.
    pub fn note(&mut self, note: &str, count: u64) {
        if count > 0 {
            self.notes.push((note.to_owned(), count));
        }
    }
}

#[cfg(test)]
mod tests;
