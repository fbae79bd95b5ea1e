//! Where what a stale read shows comes from: an older version, a newer one, an uncommitted one, or nowhere.

use super::found::{Conflict, Stale};
use super::learn::Learned;
use super::list::Relation;
use super::{Finding, Isolation, NOTHING, Name};
use crate::history::Timestamp;
use crate::value::Value;
use hashbrown::{HashMap, HashSet};

/// The version that a stale read shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Class {
    NeverWritten,
    OlderVersion,
    NewerVersion,
    Uncommitted,
}

/// A stale read that will be shown; of a list what it shows of others, and should have shown.
#[derive(Debug, Clone)]
pub struct Shown {
    pub stale: Stale,
    pub list: Vec<Value>,
    pub expected: Vec<Value>,
}

/// A write, by whomever.
#[derive(Debug, Clone, Copy)]
pub struct Write {
    pub number: u32,
    pub writer: u32,
    pub key: u32,
    pub value: Value,
    /// Whether the writer left this value behind.
    pub is_left: bool,
    pub is_counted: bool,
    pub start: Timestamp,
    pub commit: Timestamp,
    /// The place of the commit in the order of events; the last if there is none.
    pub rank: u32,
}

/// One stale read, and what is known of who wrote what it shows.
struct Origin {
    shown: Shown,
    /// The place of the reader's commit in the order of events, or the last as long as it is not known.
    rank: u32,
    /// The write that asks least of the database, and of several the nearest.
    best: Option<((u8, bool, u32), Class, u32)>,
    /// Elements of a list that nobody appended.
    unwritten: HashSet<Value>,
    /// The first write of those who do not count.
    open: u32,
}

/// Looks for the writers of everything that stale reads show. Writes may come in any order if the ranks of the
/// readers are known before; otherwise in the order of commits, with each reader's own among them.
pub struct Origins {
    isolation: Isolation,
    all: Vec<Origin>,
    /// Origins by key and value.
    wanted: HashMap<(u32, Value), Vec<usize>>,
    readers: HashMap<u32, Vec<usize>>,
    /// The last write of a transaction to a key, where somebody asks.
    last: HashMap<(u32, u32), u32>,
}

impl Origins {
    /// Of these stale reads, and the last writes of these conflicts.
    pub fn of(isolation: Isolation, shown: Vec<Shown>, conflicts: &[Conflict]) -> Self {
        let mut origins = Self {
            isolation,
            all: Vec::new(),
            wanted: HashMap::new(),
            readers: HashMap::new(),
            last: HashMap::new(),
        };
        for conflict in conflicts {
            origins.last.insert((conflict.first, conflict.key), NOTHING);
            origins.last.insert((conflict.second, conflict.key), NOTHING);
        }
        for one in shown {
            origins.add(one);
        }
        origins
    }

    fn add(&mut self, shown: Shown) {
        let (stale, place) = (shown.stale, self.all.len());
        let is_register = stale.relation == Relation::Register;
        let values: HashSet<Value> =
            if is_register { [stale.found].into() } else { shown.list.iter().copied().collect() };
        for &value in &values {
            self.wanted.entry((stale.key, value)).or_default().push(place);
        }
        self.readers.entry(stale.transaction).or_default().push(place);
        if stale.writer != NOTHING {
            self.last.insert((stale.writer, stale.key), NOTHING);
        }
        self.all.push(Origin { shown, rank: u32::MAX, best: None, unwritten: values, open: NOTHING });
    }

    /// Whether nobody asks anything.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.last.is_empty()
    }

    /// Whether somebody asks who wrote this.
    pub fn asks(&self, key: u32, value: Value) -> bool {
        self.wanted.contains_key(&(key, value))
    }

    /// The place of a transaction's commit in the order of events.
    pub fn commits(&mut self, transaction: u32, rank: u32) {
        for &place in self.readers.get(&transaction).map_or(&[][..], Vec::as_slice) {
            self.all[place].rank = rank;
        }
    }

    /// The transactions and keys of which the last write is asked for.
    pub fn open_writes(&self) -> Vec<(u32, u32)> {
        self.last.keys().copied().collect()
    }

    /// A transaction installs a version of a key; the last time counts.
    pub fn installs(&mut self, transaction: u32, key: u32, number: u32) {
        if let Some(last) = self.last.get_mut(&(transaction, key)) {
            *last = number;
        }
    }

    /// Somebody wrote something that a stale read shows.
    pub fn hear(&mut self, write: &Write) {
        let Some(places) = self.wanted.get(&(write.key, write.value)) else { return };
        for &place in places {
            self.all[place].hear(write, self.isolation);
        }
    }

    /// What conflicts and stale reads amount to; `known` are the initial values that were given.
    pub fn findings(
        &self,
        conflicts: &[Conflict],
        learned: &Learned,
        known: impl Fn(u32) -> Value,
    ) -> Vec<Finding> {
        let stale = self.all.iter().map(|origin| {
            let stale = &origin.shown.stale;
            let initial = learned.of(stale.key).unwrap_or_else(|| known(stale.key));
            let class = match stale.relation {
                Relation::Register => origin.of_register(initial),
                _ => origin.of_list(self.last(stale.writer, stale.key)),
            };
            Finding {
                name: Name::StaleRead,
                transaction: stale.transaction,
                other: NOTHING,
                key: stale.key,
                operation: stale.read,
                against: stale.expected,
                expected: origin.shown.expected.clone(),
                class: Some(class),
            }
        });
        stale.chain(conflicts.iter().map(|conflict| self.conflict(conflict))).collect()
    }

    fn conflict(&self, conflict: &Conflict) -> Finding {
        Finding {
            name: Name::WriteConflict,
            transaction: conflict.first,
            other: conflict.second,
            key: conflict.key,
            operation: self.last(conflict.first, conflict.key),
            against: self.last(conflict.second, conflict.key),
            expected: Vec::new(),
            class: None,
        }
    }

    fn last(&self, transaction: u32, key: u32) -> u32 {
        self.last.get(&(transaction, key)).copied().unwrap_or(NOTHING)
    }
}

impl Origin {
    fn hear(&mut self, write: &Write, isolation: Isolation) {
        self.unwritten.remove(&write.value);
        if !write.is_counted {
            self.open = self.open.min(write.number);
        }
        let stale = &self.shown.stale;
        let decides = match stale.relation {
            Relation::Register => true,
            Relation::Further => self.shown.list[stale.expected_length as usize] == write.value,
            _ => false,
        };
        if !decides {
            return;
        }
        let class = self.class(write, isolation);
        if class == Class::OlderVersion && stale.relation == Relation::Further {
            return;
        }
        let distance = distance(class, write);
        if self.best.is_none_or(|(nearest, ..)| distance < nearest) {
            self.best = Some((distance, class, write.number));
        }
    }

    fn class(&self, write: &Write, isolation: Isolation) -> Class {
        let stale = &self.shown.stale;
        let is_replaced = stale.relation == Relation::Register && !write.is_left;
        if !write.is_counted || write.writer == stale.transaction || is_replaced {
            return Class::Uncommitted;
        }
        let reader = (stale.start, stale.commit);
        if sees(isolation, reader, write.commit, write.rank < self.rank) {
            return Class::OlderVersion;
        }
        let is_running = isolation == Isolation::Snapshot && write.start <= stale.start;
        if is_running { Class::Uncommitted } else { Class::NewerVersion }
    }

    fn of_register(&self, initial: Value) -> (Class, u32) {
        match self.best {
            Some((_, Class::OlderVersion, write)) => (Class::OlderVersion, write),
            _ if self.shown.stale.found == initial => (Class::OlderVersion, NOTHING),
            Some((_, class, write)) => (class, write),
            None => (Class::NeverWritten, NOTHING),
        }
    }

    fn of_list(&self, left: u32) -> (Class, u32) {
        if !self.unwritten.is_empty() {
            return (Class::NeverWritten, NOTHING);
        }
        match (self.shown.stale.relation, self.best) {
            (Relation::Earlier, _) => (Class::OlderVersion, left),
            (Relation::Torn, _) => (Class::Uncommitted, left),
            (_, Some((_, class, write))) => (class, write),
            _ if self.open != NOTHING => (Class::Uncommitted, self.open),
            _ => (Class::NeverWritten, NOTHING),
        }
    }
}

/// Whether the clock shows a transaction with these times what another wrote, who may come earlier in order.
pub fn sees(
    isolation: Isolation,
    (start, commit): (Timestamp, Timestamp),
    committed: Timestamp,
    is_earlier: bool,
) -> bool {
    match isolation {
        Isolation::Serializable => is_earlier,
        Isolation::Snapshot => committed <= start && (start != commit || is_earlier),
    }
}

/// What asks least of the database first; then the nearest by commits, at last those without one.
fn distance(class: Class, write: &Write) -> (u8, bool, u32) {
    let is_open = !write.is_counted;
    match class {
        Class::OlderVersion => (0, is_open, u32::MAX - write.rank),
        Class::Uncommitted if is_open => (1, true, write.number),
        Class::Uncommitted => (1, false, write.rank),
        Class::NewerVersion => (2, is_open, write.rank),
        Class::NeverWritten => (3, is_open, write.number),
    }
}
