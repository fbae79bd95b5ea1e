//! The layout of a finished history: operations by transaction, transactions by session, versions by key.

use super::{Builder, MOST_OPERATIONS};
use crate::error::ParseError;
use crate::history::{History, Kind, NO_KEY, Operations, VersionOrder, VersionSource};
use crate::value::Value;

impl Builder {
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

    /// Puts the operations in the order of their `places`, those of equal places in their order so far. Only the
    /// order inside each transaction matters.
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

    /// Leaves out sessions without a transaction, which few formats could write.
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

    /// Brings operations of one transaction together.
    fn group_by_transaction(&mut self, offsets: &[u32]) {
        let owners = std::mem::take(&mut self.owners);
        if !owners.is_sorted() {
            self.lay_out(&order(offsets, &owners));
        }
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
            left_out: old.left_out.reordered(order),
        };
    }

    /// A nil read of a key that holds a list is a read of the empty list.
    fn share_empty_lists(&mut self) {
        let is_list = |kind: Kind, value: Value| kind == Kind::Append || value.list_index().is_some();
        let operations = &self.operations;
        let mut holds_list = vec![false; self.keys.ids().len()];
        let mut any = false;
        for ((&kind, &key), &value) in operations.kinds.iter().zip(&operations.keys).zip(&operations.values) {
            if is_list(kind, value) && key != NO_KEY {
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
