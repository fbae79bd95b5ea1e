//! The origin of what a stale read shows: an older version, a newer one, an uncommitted one, or no write.

use super::committed_lists::Relation;
use super::initial_values::LearnedInitialValues;
use super::replay_findings::{Conflict, StaleRead};
use super::{ClockAnomaly, ClockLevel, Finding, NOTHING, VersionClass};
use crate::history::Timestamp;
use crate::value::Value;
use hashbrown::{HashMap, HashSet};

/// A stale read that a report shows; of a list the elements of other transactions, shown and demanded.
#[derive(Debug, Clone)]
pub struct ShownRead {
    pub stale: StaleRead,
    pub list: Vec<Value>,
    pub expected: Vec<Value>,
}

/// A write of any transaction.
#[derive(Debug, Clone, Copy)]
pub struct Write {
    pub number: u32,
    pub writer: u32,
    pub key: u32,
    pub value: Value,
    /// Whether the writer left this value when it ended.
    pub is_final: bool,
    pub is_counted: bool,
    pub start: Timestamp,
    pub commit: Timestamp,
    /// The place of the commit in the order of events; the last if there is none.
    pub rank: u32,
}

/// One stale read, and what is known of the writes that it shows.
struct Origin {
    shown: ShownRead,
    /// The place of the reader's commit in the order of events, or the last as long as it is not known.
    rank: u32,
    /// The write that needs the smallest fault of the database, and of several the nearest.
    best: Option<((u8, bool, u32), VersionClass, u32)>,
    /// Elements of a list of which no append was seen yet.
    unwritten: HashSet<Value>,
    /// The first write of a transaction that does not count as committed.
    open: u32,
}

/// Looks for the writes that stale reads show. Writes come in the order of commits, with the commits of the
/// readers among them; or in any order, if the ranks of the readers are known before.
pub struct Origins {
    level: ClockLevel,
    all: Vec<Origin>,
    /// Origins by key and value.
    wanted: HashMap<(u32, Value), Vec<usize>>,
    readers: HashMap<u32, Vec<usize>>,
    /// The last write of a transaction to a key, where a finding needs it.
    last: HashMap<(u32, u32), u32>,
    /// The transactions in `last`.
    writers: HashSet<u32>,
}

impl Origins {
    /// Of these stale reads, and the last writes of these conflicts.
    pub fn of(level: ClockLevel, shown: Vec<ShownRead>, conflicts: &[Conflict]) -> Self {
        let mut origins = Self {
            level,
            all: Vec::new(),
            wanted: HashMap::new(),
            readers: HashMap::new(),
            last: HashMap::new(),
            writers: HashSet::new(),
        };
        for conflict in conflicts {
            origins.ask_last_write(conflict.first, conflict.key);
            origins.ask_last_write(conflict.second, conflict.key);
        }
        for one in shown {
            origins.add(one);
        }
        origins
    }

    fn add(&mut self, shown: ShownRead) {
        let (stale, place) = (shown.stale, self.all.len());
        let is_register = stale.relation == Relation::Register;
        let values: HashSet<Value> =
            if is_register { [stale.found].into() } else { shown.list.iter().copied().collect() };
        for &value in &values {
            self.wanted.entry((stale.key, value)).or_default().push(place);
        }
        self.readers.entry(stale.transaction).or_default().push(place);
        if stale.writer != NOTHING {
            self.ask_last_write(stale.writer, stale.key);
        }
        self.all.push(Origin { shown, rank: u32::MAX, best: None, unwritten: values, open: NOTHING });
    }

    fn ask_last_write(&mut self, transaction: u32, key: u32) {
        self.last.insert((transaction, key), NOTHING);
        self.writers.insert(transaction);
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.last.is_empty()
    }

    /// Whether a stale read shows this value.
    pub fn is_shown(&self, key: u32, value: Value) -> bool {
        self.wanted.contains_key(&(key, value))
    }

    /// Whether a finding needs the last write of this transaction to some key.
    pub fn names_writer(&self, transaction: u32) -> bool {
        self.writers.contains(&transaction)
    }

    /// The place of a transaction's commit in the order of events.
    pub fn add_commit(&mut self, transaction: u32, rank: u32) {
        for &place in self.readers.get(&transaction).map_or(&[][..], Vec::as_slice) {
            self.all[place].rank = rank;
        }
    }

    /// A transaction writes a key; the last call counts.
    pub fn add_last_write(&mut self, transaction: u32, key: u32, number: u32) {
        if let Some(last) = self.last.get_mut(&(transaction, key)) {
            *last = number;
        }
    }

    /// Adds a write; those that no stale read shows are ignored.
    pub fn add_write(&mut self, write: &Write) {
        let Some(places) = self.wanted.get(&(write.key, write.value)) else { return };
        for &place in places {
            self.all[place].add_write(write, self.level);
        }
    }

    /// The findings of stale reads, then of conflicts; `known` are the initial values that the input states.
    pub fn findings(
        &self,
        conflicts: &[Conflict],
        learned: &LearnedInitialValues,
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
                anomaly: ClockAnomaly::StaleRead,
                transaction: stale.transaction,
                other: NOTHING,
                key: stale.key,
                operation: stale.read,
                against: stale.expected,
                expected: origin.shown.expected.clone(),
                shown: Some(class),
            }
        });
        stale.chain(conflicts.iter().map(|conflict| self.conflict(conflict))).collect()
    }

    fn conflict(&self, conflict: &Conflict) -> Finding {
        Finding {
            anomaly: ClockAnomaly::WriteConflict,
            transaction: conflict.first,
            other: conflict.second,
            key: conflict.key,
            operation: self.last(conflict.first, conflict.key),
            against: self.last(conflict.second, conflict.key),
            expected: Vec::new(),
            shown: None,
        }
    }

    fn last(&self, transaction: u32, key: u32) -> u32 {
        self.last.get(&(transaction, key)).copied().unwrap_or(NOTHING)
    }
}

impl Origin {
    fn add_write(&mut self, write: &Write, level: ClockLevel) {
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
        let class = self.class(write, level);
        if class == VersionClass::OlderVersion && stale.relation == Relation::Further {
            return;
        }
        let distance = distance(class, write);
        if self.best.is_none_or(|(nearest, ..)| distance < nearest) {
            self.best = Some((distance, class, write.number));
        }
    }

    fn class(&self, write: &Write, level: ClockLevel) -> VersionClass {
        let stale = &self.shown.stale;
        let is_replaced = stale.relation == Relation::Register && !write.is_final;
        if !write.is_counted || write.writer == stale.transaction || is_replaced {
            return VersionClass::Uncommitted;
        }
        let reader = (stale.start, stale.commit);
        if sees(level, reader, write.commit, write.rank < self.rank) {
            return VersionClass::OlderVersion;
        }
        let is_running = level == ClockLevel::Snapshot && write.start <= stale.start;
        if is_running { VersionClass::Uncommitted } else { VersionClass::NewerVersion }
    }

    fn of_register(&self, initial: Value) -> (VersionClass, u32) {
        match self.best {
            Some((_, VersionClass::OlderVersion, write)) => (VersionClass::OlderVersion, write),
            _ if self.shown.stale.found == initial => (VersionClass::OlderVersion, NOTHING),
            Some((_, class, write)) => (class, write),
            None => (VersionClass::NeverWritten, NOTHING),
        }
    }

    fn of_list(&self, left: u32) -> (VersionClass, u32) {
        if !self.unwritten.is_empty() {
            return (VersionClass::NeverWritten, NOTHING);
        }
        match (self.shown.stale.relation, self.best) {
            (Relation::Earlier, _) => (VersionClass::OlderVersion, left),
            (Relation::Torn, _) => (VersionClass::Uncommitted, left),
            (_, Some((_, class, write))) => (class, write),
            _ if self.open != NOTHING => (VersionClass::Uncommitted, self.open),
            _ => (VersionClass::NeverWritten, NOTHING),
        }
    }
}

/// Whether a transaction with these times sees a commit at `committed`, which may come earlier in the order.
pub fn sees(
    level: ClockLevel,
    (start, commit): (Timestamp, Timestamp),
    committed: Timestamp,
    is_earlier: bool,
) -> bool {
    match level {
        ClockLevel::Serializable => is_earlier,
        ClockLevel::Snapshot => committed <= start && (start != commit || is_earlier),
    }
}

/// The smallest fault of the database first; then the nearest commit, at last writes without a commit.
fn distance(class: VersionClass, write: &Write) -> (u8, bool, u32) {
    let is_open = !write.is_counted;
    match class {
        VersionClass::OlderVersion => (0, is_open, u32::MAX - write.rank),
        VersionClass::Uncommitted if is_open => (1, true, write.number),
        VersionClass::Uncommitted => (1, false, write.rank),
        VersionClass::NewerVersion => (2, is_open, write.rank),
        VersionClass::NeverWritten => (3, is_open, write.number),
    }
}
