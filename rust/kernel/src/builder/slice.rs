//! A slice of a history under construction: some recorded transactions as a history of their own.

use super::{Builder, Details};
use crate::history::{History, Kind, NO_KEY};
use crate::value::Value;

impl Builder {
    /// The transactions with these numbers, as a run records them: the operations of a transaction were added
    /// together, with intervals and without lines, labels and sequence numbers.
    ///
    /// With `initial`, the slice also holds the default initial value and the initial values of keys from that
    /// place on; without it, initial values are unknown.
    #[must_use]
    pub fn slice(&self, transactions: &[u32], initial: Option<usize>) -> History {
        let mut slice = Slice { from: self, to: Builder::new() };
        if let Some(first) = initial {
            slice.initial(first);
        }
        for &transaction in transactions {
            slice.transaction(transaction);
        }
        slice.to.finish().expect("a slice has no sequence numbers and no more operations than the whole")
    }

    /// How many keys have an initial value of their own so far.
    #[must_use]
    pub fn initial_count(&self) -> usize {
        self.initial.of_key.len()
    }
}

struct Slice<'b> {
    from: &'b Builder,
    to: Builder,
}

impl Slice<'_> {
    fn initial(&mut self, first: usize) {
        let initial = &self.from.initial;
        self.to.initial.default = self.scalar(initial.default);
        self.to.initial.replaceable = initial.replaceable;
        for &(key, value) in &initial.of_key[first..] {
            let (key, value) = (self.key(key), self.scalar(value));
            self.to.initial.of_key.push((key, value));
        }
    }

    fn transaction(&mut self, transaction: u32) {
        let (columns, number) = (&self.from.transactions, transaction as usize);
        let id = self.scalar(self.from.ids.ids()[number]);
        let session = self.scalar(self.from.session_ids[columns.sessions[number] as usize]);
        let session = self.to.session(session);
        let copy = self.to.transaction(id, session, columns.statuses[number], 0);
        let copy = copy.expect("the ids of a history differ");
        self.to.timestamps(copy, columns.starts.get(number), columns.commits.get(number));
        self.to.interval(copy, columns.intervals.get(number));
        let owners = &self.from.owners;
        let first = owners.partition_point(|&owner| owner < transaction);
        for operation in (first..owners.len()).take_while(|&operation| owners[operation] == transaction) {
            self.operation(copy, operation);
        }
    }

    fn operation(&mut self, transaction: u32, operation: usize) {
        let columns = &self.from.operations;
        let (kind, key) = (columns.kinds[operation], columns.keys[operation]);
        let value = columns.values[operation];
        let copy = if kind == Kind::RangeRead {
            self.range_read(transaction, value)
        } else {
            let key = if key == NO_KEY { NO_KEY } else { self.key(key) };
            let value = self.result(key, value);
            self.to.operation(transaction, kind, key, value, 0)
        };
        let interval = columns.intervals.get(operation);
        self.to.details(copy, Details { interval, ..Details::default() });
    }

    fn range_read(&mut self, transaction: u32, number: Value) -> usize {
        let range = self.from.ranges.ranges[number.as_small().unwrap_or_default() as usize];
        let bounds = (self.scalar(range.low), self.scalar(range.high));
        let first = range.first_row as usize;
        let rows: Vec<(u32, Value)> = (first..first + (range.live + range.dead) as usize)
            .map(|row| {
                let key = self.key(self.from.ranges.row_keys[row]);
                (key, self.scalar(self.from.ranges.row_values[row]))
            })
            .collect();
        let (live, dead) = rows.split_at(range.live as usize);
        self.to.range_read(transaction, bounds, live, dead, 0)
    }

    fn result(&mut self, key: u32, value: Value) -> Value {
        let Some(elements) = self.from.values.as_list(value) else { return self.scalar(value) };
        let elements: Vec<Value> = elements.iter().map(|&element| self.scalar(element)).collect();
        self.to.list(key, &elements)
    }

    fn key(&mut self, key: u32) -> u32 {
        let key = self.scalar(self.from.keys.ids()[key as usize]);
        self.to.key(key)
    }

    fn scalar(&mut self, value: Value) -> Value {
        match value.atom_index() {
            Some(index) => {
                let (kind, text) = self.from.values.atom(index);
                self.to.values.intern(kind, text)
            }
            None => value,
        }
    }
}
