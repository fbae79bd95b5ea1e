//! Collects what a reader or a recorder saw, in any order, and lays it out as a [`History`].

mod slice;

use crate::error::ParseError;
use crate::history::{
    History, Initial, Interval, Kind, Label, Operations, Range, Ranges, Sequence, Status, Timestamp,
    Transactions, VersionOrder, VersionSource,
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

/// What is known of one operation beside its kind, key, value and line.
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

    /// What a read of `key` returned: a value of the pool that `translation` knows.
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

    /// Sets what an operation read, for a format that learns it late.
    pub fn set_value(&mut self, operation: usize, value: Value) {
        self.operations.values[operation] = value;
    }

    /// Replaces what operations read or wrote, for a format that understands a value only at the end.
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

    /// What else is known of an operation.
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

    /// A session without a transaction says nothing, and few formats could write it.
    fn leave_out_empty_sessions(&mut self) {
        let mut numbers = vec![None; self.session_ids.len()];
        for &session in &self.transactions.sessions {
            numbers[session as usize] = Some(0);
        }
        let empty = numbers.iter().filter(|number| number.is_none()).count();
        if empty == 0 {
            return;
        }
        for (next, number) in (0..).zip(numbers.iter_mut().flatten()) {
            *number = next;
        }
        let mut is_used = numbers.iter().map(Option::is_some);
        self.session_ids.retain(|_| is_used.next() == Some(true));
        for session in &mut self.transactions.sessions {
            *session = numbers[*session as usize].unwrap_or_default();
        }
        self.note("sessions without a transaction left out", empty as u64);
    }

    /// The history.
    ///
    /// # Errors
    /// If a session orders its transactions by explicit numbers and some are missing or repeated, or if
    /// there are more operations than 32 bits can number.
    pub fn finish(mut self) -> Result<History, ParseError> {
        if self.owners.len() > MOST_OPERATIONS {
            return Err(ParseError::on_line(0, "at most 4,294,967,294 operations", "more")
                .hint("split the history by time"));
        }
        self.leave_out_empty_sessions();
        let transactions = self.transactions.sessions.len();
        let operation_offsets = offsets(transactions, &self.owners);
        self.group_by_transaction(&operation_offsets);
        self.share_empty_lists();
        let session_offsets = offsets(self.session_ids.len(), &self.transactions.sessions);
        let mut session_transactions = order(&session_offsets, &self.transactions.sessions);
        self.order_sessions(&session_offsets, &mut session_transactions)?;
        self.transactions.ids = self.ids.into_ids();
        let keys = self.keys.into_ids();
        self.initial.of_key.sort_by_key(|&(key, _)| key);
        Ok(History {
            versions: version_orders(&self.versions, keys.len()),
            values: self.values,
            keys,
            session_ids: self.session_ids,
            session_offsets,
            session_transactions,
            transactions: self.transactions,
            operation_offsets,
            operations: self.operations,
            ranges: self.ranges,
            initial: self.initial,
            notes: self.notes,
        })
    }

    /// Brings operations of one transaction together.
    fn group_by_transaction(&mut self, offsets: &[u32]) {
        let owners = std::mem::take(&mut self.owners);
        if !owners.is_sorted() {
            self.lay_out(&order(offsets, &owners));
        }
    }

    /// Puts the operations in the order of their `places`, of equal ones in their order so far; what counts
    /// is the order inside each transaction.
    ///
    /// # Panics
    /// If there are not as many places as operations.
    pub fn order_operations(&mut self, places: &[i64]) {
        assert_eq!(places.len(), self.owners.len(), "one place for each operation");
        let mut order: Vec<u32> = (0..self.owners.len() as u32).collect();
        order.sort_by_key(|&operation| places[operation as usize]);
        self.owners = reordered(&self.owners, &order);
        self.lay_out(&order);
    }

    /// Puts the operations in a new order; one column at a time, to spare memory.
    fn lay_out(&mut self, order: &[u32]) {
        let old = std::mem::take(&mut self.operations);
        self.operations = Operations {
            kinds: reordered(&old.kinds, order),
            keys: reordered(&old.keys, order),
            values: reordered(&old.values, order),
            lines: reordered(&old.lines, order),
            intervals: old.intervals.reordered(order),
            tables: old.tables.reordered(order),
            columns: old.columns.reordered(order),
            statements: old.statements.reordered(order),
            lock_modes: old.lock_modes.reordered(order),
            read_modes: old.read_modes.reordered(order),
            predicates: old.predicates.reordered(order),
            tombstones: old.tombstones.reordered(order),
        };
    }

    /// A nil read of a key that holds a list is a read of the empty list.
    fn share_empty_lists(&mut self) {
        let is_list = |kind: Kind, value: Value| kind == Kind::Append || value.list_index().is_some();
        let operations = &self.operations;
        let mut holds_list = vec![false; self.keys.ids().len()];
        let mut any = false;
        for ((&kind, &key), &value) in operations.kinds.iter().zip(&operations.keys).zip(&operations.values) {
            if is_list(kind, value) && key != crate::history::NO_KEY {
                holds_list[key as usize] = true;
                any = true;
            }
        }
        if !any {
            return;
        }
        let empty = self.values.push_list([]);
        for operation in 0..self.operations.kinds.len() {
            let (kind, value) = (self.operations.kinds[operation], self.operations.values[operation]);
            if kind == Kind::Read
                && value == Value::NIL
                && holds_list[self.operations.keys[operation] as usize]
            {
                self.operations.values[operation] = empty;
            }
        }
    }

    /// Puts the transactions of each session in the order of their explicit numbers, if they have them.
    fn order_sessions(&self, offsets: &[u32], transactions: &mut [u32]) -> Result<(), ParseError> {
        let sequences = &self.transactions.sequences;
        if sequences.is_empty() {
            return Ok(());
        }
        for bounds in offsets.windows(2) {
            let session = &mut transactions[bounds[0] as usize..bounds[1] as usize];
            let place = |transaction: u32| sequences.get(transaction as usize).number();
            if session.iter().all(|&transaction| place(transaction).is_none()) {
                continue;
            }
            session.sort_by_key(|&transaction| place(transaction));
            let line = |transaction: u32| u64::from(self.line_of(transaction));
            if let Some(&missing) = session.iter().find(|&&transaction| place(transaction).is_none()) {
                let expected = "a sequence number, as other transactions of its session have";
                return Err(ParseError::on_line(line(missing), expected, "none"));
            }
            if let Some(pair) = session.windows(2).find(|pair| place(pair[0]) == place(pair[1])) {
                let found = format!("{} again", place(pair[1]).unwrap_or_default());
                let expected = "sequence numbers that differ inside a session";
                return Err(ParseError::on_line(line(pair[1]), expected, &found));
            }
        }
        Ok(())
    }
}

/// Where the members of each group start when they are laid out group by group.
fn offsets(groups: usize, group_of: &[u32]) -> Vec<u32> {
    let mut offsets = vec![0u32; groups + 1];
    for &group in group_of {
        offsets[group as usize + 1] += 1;
    }
    for group in 0..groups {
        offsets[group + 1] += offsets[group];
    }
    offsets
}

/// Members group by group, in their old order inside each (a counting sort).
fn order(offsets: &[u32], group_of: &[u32]) -> Vec<u32> {
    let mut next = offsets.to_vec();
    let mut order = vec![0; group_of.len()];
    for (member, &group) in group_of.iter().enumerate() {
        order[next[group as usize] as usize] = member as u32;
        next[group as usize] += 1;
    }
    order
}

fn reordered<T: Copy>(column: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|&old| column[old as usize]).collect()
}

fn version_orders(entries: &[(VersionSource, u32, Value)], keys: usize) -> Vec<VersionOrder> {
    let mut orders = Vec::new();
    for source in VersionSource::ALL {
        let said: Vec<_> = entries.iter().filter(|entry| entry.0 == source).collect();
        if said.is_empty() {
            continue;
        }
        let keys_of: Vec<u32> = said.iter().map(|entry| entry.1).collect();
        let offsets = offsets(keys, &keys_of);
        let versions = order(&offsets, &keys_of).iter().map(|&i| said[i as usize].2).collect();
        orders.push(VersionOrder { source, offsets, versions });
    }
    orders
}

#[cfg(test)]
mod tests;
