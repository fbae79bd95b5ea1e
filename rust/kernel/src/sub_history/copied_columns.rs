//! The operations that stay, in columns of their own.

use crate::builder::{Builder, Details};
use crate::history::{History, Kind, Label, LeftOut, NO_KEY};
use crate::value::Value;
use hashbrown::{HashMap, HashSet};

/// The history of the transactions that `stay` with the operations that are `kept`.
pub fn copy(history: &History, stay: &[bool], kept: &[bool]) -> History {
    let mut copy = Copy { from: history, to: Builder::new(), sessions: HashMap::new() };
    for transaction in (0..stay.len()).filter(|&transaction| stay[transaction]) {
        let number = copy.transaction(transaction);
        for operation in history.operations_of(transaction).filter(|&operation| kept[operation]) {
            copy.operation(number, operation);
        }
    }
    copy.initial();
    copy.versions(kept);
    copy.to.finish().expect("sequence numbers that differed do so still")
}

/// The same history with reads in the place of range reads: those that `items` gives for one, and the range read itself
/// if it is not judged. Also the recorded operation of each operation.
pub fn itemised(
    history: &History,
    items: impl Fn(usize, usize, &mut Vec<Item>) -> bool,
) -> (History, Vec<u32>) {
    let mut copy = Copy { from: history, to: Builder::new(), sessions: HashMap::new() };
    let (mut origins, mut found) = (Vec::new(), Vec::new());
    copy.keys_in_order();
    for transaction in 0..history.transaction_count() {
        let number = copy.transaction(transaction);
        for operation in history.operations_of(transaction) {
            let is_kept = items(transaction, operation, &mut found);
            for item in found.drain(..) {
                copy.item(number, operation, item);
            }
            if is_kept {
                copy.operation(number, operation);
            }
            origins.resize(copy.to.operation_count(), operation as u32);
        }
    }
    copy.initial();
    copy.versions(&vec![true; history.operation_count()]);
    (copy.to.finish().expect("sequence numbers that differed do so still"), origins)
}

/// One key that a range read reads.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub key: u32,
    pub value: Value,
    pub left_out: LeftOut,
}

struct Copy<'h> {
    from: &'h History,
    to: Builder,
    sessions: HashMap<u32, u32>,
}

impl Copy<'_> {
    fn scalar(&mut self, value: Value) -> Value {
        match value.atom_index() {
            Some(index) => {
                let (kind, text) = self.from.values.atom(index);
                self.to.values.intern(kind, text)
            }
            None => value,
        }
    }

    fn elements(&mut self, value: Value) -> Option<Vec<Value>> {
        let elements = self.from.values.as_list(value)?;
        Some(elements.iter().map(|&element| self.scalar(element)).collect())
    }

    fn key(&mut self, key: u32) -> u32 {
        if key == NO_KEY {
            return NO_KEY;
        }
        let key = self.scalar(self.from.keys[key as usize]);
        self.to.key(key)
    }

    /// The key, if something in the copy is about it.
    fn known_key(&mut self, key: u32) -> Option<u32> {
        let key = self.scalar(self.from.keys[key as usize]);
        self.to.find_key(key)
    }

    fn transaction(&mut self, transaction: usize) -> u32 {
        let columns = &self.from.transactions;
        let session = self.session(columns.sessions[transaction]);
        let id = self.scalar(columns.ids[transaction]);
        let (status, line) = (columns.statuses[transaction], columns.lines[transaction]);
        let number = self.to.transaction(id, session, status, line).expect("ids that differed do so still");
        self.to.timestamps(number, columns.starts.get(transaction), columns.commits.get(transaction));
        self.to.interval(number, columns.intervals.get(transaction));
        self.to.positions(number, columns.positions.get(transaction));
        if let Some(place) = columns.sequences.get(transaction).number() {
            self.to.sequence(number, place);
        }
        number
    }

    fn session(&mut self, session: u32) -> u32 {
        if let Some(&known) = self.sessions.get(&session) {
            return known;
        }
        let id = self.scalar(self.from.session_ids[session as usize]);
        let number = if id == Value::NIL { self.to.nameless_session() } else { self.to.session(id) };
        self.sessions.insert(session, number);
        number
    }

    fn operation(&mut self, transaction: u32, operation: usize) {
        let columns = &self.from.operations;
        let (kind, line) = (columns.kinds[operation], columns.lines[operation]);
        let number = if kind == Kind::RangeRead {
            self.range_read(transaction, operation, line)
        } else {
            let key = self.key(columns.keys[operation]);
            let value = match self.elements(columns.values[operation]) {
                Some(elements) => self.to.list(key, &elements),
                None => self.scalar(columns.values[operation]),
            };
            self.to.operation(transaction, kind, key, value, line)
        };
        self.details(number, operation);
    }

    /// Gives the keys the numbers that they have.
    fn keys_in_order(&mut self) {
        for key in 0..self.from.keys.len() as u32 {
            self.key(key);
        }
    }

    /// One key that a range read reads, as a read.
    fn item(&mut self, transaction: u32, operation: usize, item: Item) {
        let (key, line) = (self.key(item.key), self.from.operations.lines[operation]);
        let value = match self.elements(item.value) {
            Some(elements) => self.to.list(key, &elements),
            None => self.scalar(item.value),
        };
        let number = self.to.operation(transaction, Kind::Read, key, value, line);
        self.details(number, operation);
        self.to.leave_out(number, item.left_out);
    }

    /// What else is known of an operation.
    fn details(&mut self, number: usize, operation: usize) {
        let columns = &self.from.operations;
        let details = Details {
            interval: columns.intervals.get(operation),
            table: self.label(columns.tables.get(operation)),
            columns: self.label(columns.columns.get(operation)),
            statement: self.label(columns.statements.get(operation)),
            lock_mode: self.label(columns.lock_modes.get(operation)),
            read_mode: self.label(columns.read_modes.get(operation)),
            predicate: self.label(columns.predicates.get(operation)),
            tombstone: columns.tombstones.get(operation),
        };
        self.to.details(number, details);
    }

    fn label(&mut self, label: Label) -> Label {
        match self.elements(label.0) {
            Some(elements) => Label(self.to.values.push_list(elements)),
            None => Label(self.scalar(label.0)),
        }
    }

    fn range_read(&mut self, transaction: u32, operation: usize, line: u32) -> usize {
        let range = self.from.range_of(operation);
        let bounds = (self.scalar(range.low), self.scalar(range.high));
        let first = range.first_row as usize;
        let rows: Vec<(u32, Value)> = (first..first + (range.live + range.dead) as usize)
            .map(|row| {
                let key = self.key(self.from.ranges.row_keys[row]);
                (key, self.scalar(self.from.ranges.row_values[row]))
            })
            .collect();
        let (live, dead) = rows.split_at(range.live as usize);
        self.to.range_read(transaction, bounds, live, dead, line)
    }

    fn initial(&mut self) {
        let initial = &self.from.initial;
        self.to.initial.default = self.scalar(initial.default);
        self.to.initial.replaceable = initial.replaceable;
        for &(key, value) in &initial.of_key {
            if let Some(key) = self.known_key(key) {
                let value = self.scalar(value);
                self.to.initial.of_key.push((key, value));
            }
        }
    }

    /// The recorded orders, without the versions of which a writer is gone.
    fn versions(&mut self, kept: &[bool]) {
        if self.from.versions.is_empty() {
            return;
        }
        let mut numbers: Vec<Option<u32>> = Vec::new();
        for key in 0..self.from.keys.len() as u32 {
            let number = self.known_key(key);
            numbers.push(number);
        }
        let operations = &self.from.operations;
        let lost: HashSet<(u32, Value)> = (0..kept.len())
            .filter(|&operation| !kept[operation] && operations.kinds[operation].installs())
            .map(|operation| (operations.keys[operation], operations.values[operation]))
            .filter(|&(key, _)| numbers[key as usize].is_some())
            .collect();
        for order in &self.from.versions {
            for (key, number) in (0..).zip(&numbers).filter_map(|(key, number)| Some((key, (*number)?))) {
                for &version in order.of(key).iter().filter(|&&version| !lost.contains(&(key, version))) {
                    let value = self.scalar(version);
                    self.to.version(order.source, number, value);
                }
            }
        }
    }
}
