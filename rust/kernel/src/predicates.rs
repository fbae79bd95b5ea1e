//! What predicate reads say of single keys, in a universe that is closed: every key is one of the history's.
//!
//! A key that a predicate read does not show was in a state that does not match: unborn, dead or with another
//! value. If only one state fits, the read observed the transaction that made it. `reference/predicates.py`
//! is the specification. Cost: predicate reads times versions of all keys.

mod predicate;

pub use predicate::Predicate;

use crate::history::{History, Kind, Status};
use crate::observations::{ABSENT, INITIAL};
use crate::value::{AtomKind, Value};
use hashbrown::{HashMap, HashSet};

/// The statement kind of what the first transaction inserts, in a history that has one.
pub const INIT: &str = "init";

/// One operation observed one key as `writer` left it, or before any write if that is [`INITIAL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Observation {
    pub reader: u32,
    pub operation: u32,
    pub key: u32,
    pub writer: u32,
}

/// A predicate read does not show a key though every state of the key matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Miss {
    pub reader: u32,
    pub operation: u32,
    pub key: u32,
}

/// The evidence of the reads; `ambiguous_states` counts keys of reads that fit several states.
#[derive(Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Judgement {
    pub observations: Vec<Observation>,
    pub misses: Vec<Miss>,
    pub ambiguous_states: u64,
}

/// Whether it is a first transaction, of nothing but insertions.
#[must_use]
pub fn is_init(history: &History, transaction: usize) -> bool {
    let Some(init) = history.values.find(AtomKind::Text, INIT) else {
        return false;
    };
    let operations = &history.operations;
    let mut places = history.operations_of(transaction);
    !places.is_empty()
        && places.all(|place| {
            operations.kinds[place] == Kind::Insert && operations.statements.get(place).0 == init
        })
}

/// What predicate reads, and reads of keys that are deleted at times, observed in the transactions that count
/// as committed; in history order.
#[must_use]
pub fn judge(history: &History, counted: &[bool]) -> Judgement {
    let universe = Universe::new(history, counted);
    let mut judgement = Judgement::default();
    for reader in (0..counted.len()).filter(|&transaction| counted[transaction]) {
        let mut written = HashMap::new();
        for operation in history.operations_of(reader) {
            let read = Read { reader: reader as u32, operation, written: &written };
            universe.operation(&read, &mut judgement);
            let kind = history.operations.kinds[operation];
            if kind.installs() {
                let value = (kind != Kind::Delete).then_some(history.operations.values[operation]);
                written.insert(history.operations.keys[operation], value);
            }
        }
    }
    judgement
}

/// What a transaction left of a key: a value, or nothing if it deleted the key.
struct KeyState {
    writer: u32,
    value: Option<Value>,
}

/// Everything that is known of one key.
#[derive(Default)]
struct Key {
    /// Of all transactions that did not abort.
    versions: Vec<KeyState>,
    /// A first transaction that committed inserts it, so that no read saw it unborn.
    is_born: bool,
    is_list: bool,
    /// A transaction that counts deletes it.
    is_deleted: bool,
}

impl Key {
    /// What others than `reader` left of it.
    fn others(&self, reader: u32) -> impl Iterator<Item = &KeyState> {
        self.versions.iter().filter(move |version| version.writer != reader)
    }
}

struct Read<'read> {
    reader: u32,
    operation: usize,
    /// Keys that the reader wrote before, and what it left of them: that says nothing about others.
    written: &'read HashMap<u32, Option<Value>>,
}

struct Universe<'history> {
    history: &'history History,
    counted: &'history [bool],
    keys: Vec<Key>,
    /// The only transaction that writes a value; [`ABSENT`] if there are several.
    writers: HashMap<(u32, Value), u32>,
}

impl<'history> Universe<'history> {
    fn new(history: &'history History, counted: &'history [bool]) -> Self {
        let mut keys = Vec::new();
        keys.resize_with(history.keys.len(), Key::default);
        let mut universe = Self { history, counted, keys, writers: HashMap::new() };
        for transaction in 0..counted.len() {
            for operation in history.operations_of(transaction) {
                universe.add(transaction, operation);
            }
            universe.bear(transaction);
        }
        universe
    }

    fn add(&mut self, transaction: usize, operation: usize) {
        let operations = &self.history.operations;
        let (kind, value) = (operations.kinds[operation], operations.values[operation]);
        if !kind.installs() {
            return;
        }
        let (number, writer) = (operations.keys[operation], transaction as u32);
        if kind != Kind::Delete {
            let known = self.writers.entry((number, value)).or_insert(writer);
            *known = if *known == writer { writer } else { ABSENT };
        }
        let key = &mut self.keys[number as usize];
        let status = self.history.transactions.statuses[transaction];
        key.is_list |= kind == Kind::Append;
        key.is_deleted |= kind == Kind::Delete && self.counted[transaction];
        if status == Status::Aborted {
            return;
        }
        key.versions.pop_if(|version| version.writer == writer);
        key.versions.push(KeyState { writer, value: (kind != Kind::Delete).then_some(value) });
    }

    /// Marks the keys of a first transaction.
    fn bear(&mut self, transaction: usize) {
        let is_committed = self.history.transactions.statuses[transaction] == Status::Committed;
        if is_committed && is_init(self.history, transaction) {
            for operation in self.history.operations_of(transaction) {
                self.keys[self.history.operations.keys[operation] as usize].is_born = true;
            }
        }
    }

    fn operation(&self, read: &Read<'_>, judgement: &mut Judgement) {
        let operations = &self.history.operations;
        let (kind, key) = (operations.kinds[read.operation], operations.keys[read.operation]);
        if let Some(predicate) = Predicate::of(self.history, read.operation) {
            return self.predicate_read(read, predicate, judgement);
        }
        let value = operations.values[read.operation];
        if kind != Kind::Read || value == Value::UNKNOWN || !self.keys[key as usize].is_deleted {
            return;
        }
        if let Some(own) = read.written.get(&key) {
            return judgement.add_own(own.unwrap_or(Value::NIL) == value);
        }
        let found = if value == Value::NIL { self.absent(read, key) } else { self.shown(read, key, value) };
        judgement.add(read, key, found);
    }

    fn predicate_read(&self, read: &Read<'_>, predicate: Predicate, judgement: &mut Judgement) {
        let mut shown = HashSet::new();
        for (key, value) in self.history.rows_of(read.operation) {
            if !shown.insert(key) {
                continue;
            }
            match read.written.get(&key) {
                Some(&own) => judgement.add_own(own == Some(value)),
                None => judgement.add(read, key, self.shown(read, key, value)),
            }
        }
        let is_hidden = |value: Value| !predicate.matches(&self.history.values, value);
        for key in (0..self.keys.len() as u32).filter(|key| !shown.contains(key)) {
            match read.written.get(&key) {
                Some(own) => judgement.add_own(own.is_none_or(is_hidden)),
                None => judgement.add(read, key, self.hidden(read, key, predicate)),
            }
        }
    }

    /// The writer of a value that was shown.
    fn shown(&self, read: &Read<'_>, key: u32, value: Value) -> Found {
        let initial = (self.history.initial.of(key) == value).then_some(INITIAL);
        let writer = self.writers.get(&(key, value)).copied().filter(|&writer| writer != read.reader);
        let found = self.only(initial.into_iter().chain(writer)).unwrap_or(Found::Several);
        // What its writer replaced is no state that it left.
        let left = |version: &KeyState| Some(version.writer) == writer && version.value == Some(value);
        match found {
            Found::One(from) if from != INITIAL && !self.keys[key as usize].versions.iter().any(left) => {
                Found::Several
            }
            _ => found,
        }
    }

    /// In which state a key was that a predicate read does not show.
    fn hidden(&self, read: &Read<'_>, number: u32, predicate: Predicate) -> Found {
        let key = &self.keys[number as usize];
        if key.is_list {
            return Found::Several;
        }
        let is_hidden = |value: Value| !predicate.matches(&self.history.values, value);
        let initial = self.history.initial.of(number);
        let unborn = !key.is_born && (initial == Value::UNKNOWN || is_hidden(initial));
        let others = key.others(read.reader).filter(|version| version.value.is_none_or(is_hidden));
        self.only(unborn.then_some(INITIAL).into_iter().chain(others.map(|version| version.writer)))
            .unwrap_or(Found::None)
    }

    /// In which state a key was that a read found to hold nothing.
    fn absent(&self, read: &Read<'_>, number: u32) -> Found {
        let key = &self.keys[number as usize];
        let unborn = (!key.is_born).then_some(INITIAL);
        let dead = key.others(read.reader).filter(|version| version.value.is_none());
        // No other transaction deletes it: it was read before the first transaction, which itself is an
        // anomaly.
        self.only(unborn.into_iter().chain(dead.map(|version| version.writer))).unwrap_or(Found::One(INITIAL))
    }

    /// The only one of `states`, each given by the transaction that made it, if that transaction counts as
    /// committed; nothing if there are none.
    fn only(&self, mut states: impl Iterator<Item = u32>) -> Option<Found> {
        let first = states.next()?;
        let counts = first == INITIAL || first != ABSENT && self.counted[first as usize];
        Some(if counts && states.next().is_none() { Found::One(first) } else { Found::Several })
    }
}

/// Whose state of a key a read observed.
#[derive(Clone, Copy)]
enum Found {
    One(u32),
    None,
    Several,
}

impl Judgement {
    /// A read of what its own transaction left: if it shows something else, nothing can be said of it.
    fn add_own(&mut self, is_right: bool) {
        self.ambiguous_states += u64::from(!is_right);
    }

    fn add(&mut self, read: &Read<'_>, key: u32, found: Found) {
        let (reader, operation) = (read.reader, read.operation as u32);
        match found {
            Found::One(writer) => {
                self.observations.push(Observation { reader, operation, key, writer });
            }
            Found::None => self.misses.push(Miss { reader, operation, key }),
            Found::Several => self.ambiguous_states += 1,
        }
    }
}

#[cfg(test)]
mod tests;
