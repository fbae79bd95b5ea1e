//! Where what a stale read shows comes from: an older version, a newer one, an uncommitted one, or nowhere.

use super::found::{Found, Stale};
use super::list::Relation;
use super::{Context, Isolation, NOTHING, last_write};
use crate::history::{History, Kind};
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

/// The initial value of keys for which nobody gave one: the first that was read and that nobody wrote.
pub fn learn(history: &History, found: &Found) -> HashMap<u32, Value> {
    let stale = found.stale.iter().filter(|stale| stale.relation == Relation::Register);
    let stale = stale.map(|stale| (stale.read, stale.key, stale.found));
    let unequal = found.unequal.iter().filter(|unequal| !unequal.wrote);
    let unequal = unequal.map(|unequal| (unequal.read, unequal.key, unequal.found));
    let reads = stale.chain(unequal).chain(found.heard.iter().copied());
    let is_open = |&(_, key, value): &(u32, u32, Value)| {
        history.initial.of(key) == Value::UNKNOWN && value.list_index().is_none()
    };
    let mut suspects: Vec<(u32, u32, Value)> = reads.filter(is_open).collect();
    if suspects.is_empty() {
        return HashMap::new();
    }
    suspects.sort_unstable();
    let wanted: HashSet<(u32, Value)> = suspects.iter().map(|&(_, key, value)| (key, value)).collect();
    let mut written = HashSet::new();
    each_write(history, |key, value, _| {
        if wanted.contains(&(key, value)) {
            written.insert((key, value));
        }
    });
    let mut learned = HashMap::new();
    for (_, key, value) in suspects {
        if !written.contains(&(key, value)) {
            learned.entry(key).or_insert(value);
        }
    }
    learned
}

fn each_write(history: &History, mut see: impl FnMut(u32, Value, u32)) {
    let columns = &history.operations;
    for (number, &kind) in columns.kinds.iter().enumerate() {
        if kind.installs() && kind != Kind::Delete {
            see(columns.keys[number], columns.values[number], number as u32);
        }
    }
}

/// Who wrote what the stale reads show.
pub struct Classes<'c> {
    context: &'c Context<'c>,
    initial: &'c HashMap<u32, Value>,
    /// By key and value.
    writes: HashMap<(u32, Value), Vec<u32>>,
}

impl<'c> Classes<'c> {
    /// Looks for the writers of everything that `shown` show.
    pub fn of(context: &'c Context<'c>, shown: &[Stale], initial: &'c HashMap<u32, Value>) -> Self {
        let mut writes: HashMap<(u32, Value), Vec<u32>> = HashMap::new();
        for stale in shown {
            for value in context.values(stale) {
                writes.entry((stale.key, value)).or_default();
            }
        }
        if !writes.is_empty() {
            each_write(context.history, |key, value, number| {
                if let Some(found) = writes.get_mut(&(key, value)) {
                    found.push(number);
                }
            });
        }
        Self { context, initial, writes }
    }

    /// The class of what a read shows, and the write that it was.
    pub fn class(&self, stale: &Stale) -> (Class, u32) {
        match stale.relation {
            Relation::Register => self.of_register(stale),
            _ => self.of_list(stale),
        }
    }

    fn of_register(&self, stale: &Stale) -> (Class, u32) {
        let known = self.context.initial(stale.key);
        let initial = self.initial.get(&stale.key).copied().unwrap_or(known);
        match self.nearest(self.classed(stale, stale.found)) {
            Some((Class::OlderVersion, write)) => (Class::OlderVersion, write),
            _ if stale.found == initial => (Class::OlderVersion, NOTHING),
            Some(found) => found,
            None => (Class::NeverWritten, NOTHING),
        }
    }

    fn of_list(&self, stale: &Stale) -> (Class, u32) {
        let list = self.context.values(stale);
        if list.iter().any(|&element| self.writes(stale.key, element).is_empty()) {
            return (Class::NeverWritten, NOTHING);
        }
        let left = || match stale.writer {
            NOTHING => NOTHING,
            writer => last_write(self.context.history, writer, stale.key),
        };
        match stale.relation {
            Relation::Earlier => return (Class::OlderVersion, left()),
            Relation::Torn => return (Class::Uncommitted, left()),
            Relation::Further => {
                let further = list[stale.expected_length as usize];
                let others = self.classed(stale, further).filter(|&(class, _)| class != Class::OlderVersion);
                if let Some(found) = self.nearest(others) {
                    return found;
                }
            }
            _ => {}
        }
        let writes = list.iter().flat_map(|&element| self.writes(stale.key, element)).copied();
        let open = writes.filter(|&write| !self.context.counts(write)).min();
        open.map_or((Class::NeverWritten, NOTHING), |write| (Class::Uncommitted, write))
    }

    fn writes(&self, key: u32, value: Value) -> &[u32] {
        self.writes.get(&(key, value)).map_or(&[], Vec::as_slice)
    }

    /// Every write of a value, as the reader must take it.
    fn classed(&self, stale: &Stale, value: Value) -> impl Iterator<Item = (Class, u32)> {
        let writes = self.writes(stale.key, value).iter();
        writes.map(move |&write| (self.context.class(stale, write, value), write))
    }

    /// The write that asks least of the database, and of several the nearest.
    fn nearest(&self, writes: impl Iterator<Item = (Class, u32)>) -> Option<(Class, u32)> {
        writes.min_by_key(|&(class, write)| self.context.distance(class, write))
    }
}

impl Context<'_> {
    fn owner(&self, operation: u32) -> usize {
        self.history.operation_offsets.partition_point(|&offset| offset <= operation) - 1
    }

    /// What a stale read shows of others.
    fn values(&self, stale: &Stale) -> Vec<Value> {
        match self.history.values.as_list(stale.found) {
            Some(list) => list[..stale.length as usize].to_vec(),
            None => vec![stale.found],
        }
    }

    /// Whether an operation is of a transaction that counts.
    fn counts(&self, operation: u32) -> bool {
        self.counted[self.owner(operation)]
    }

    fn class(&self, stale: &Stale, write: u32, value: Value) -> Class {
        let (writer, reader) = (self.owner(write), stale.transaction as usize);
        let last = last_write(self.history, writer as u32, stale.key) as usize;
        let is_left = self.history.operations.values[last] == value;
        let is_replaced = stale.relation == Relation::Register && !is_left;
        if !self.counted[writer] || writer == reader || is_replaced {
            return Class::Uncommitted;
        }
        if self.sees(reader, writer) {
            return Class::OlderVersion;
        }
        let starts = &self.history.transactions.starts;
        let had_started = starts.get(writer) <= starts.get(reader);
        let is_running = self.isolation == Isolation::Snapshot && had_started;
        if is_running { Class::Uncommitted } else { Class::NewerVersion }
    }

    /// Whether the clock shows a transaction what another wrote.
    pub(super) fn sees(&self, reader: usize, writer: usize) -> bool {
        let is_earlier = self.ranks[writer] < self.ranks[reader];
        if self.isolation == Isolation::Serializable {
            return is_earlier;
        }
        let (start, commit) = self.times(reader);
        let committed = self.times(writer).1;
        committed <= start && (start != commit || is_earlier)
    }

    /// What asks least of the database first; then the nearest by commits, at last those without one.
    fn distance(&self, class: Class, write: u32) -> (u8, bool, u32) {
        let writer = self.owner(write);
        let (is_open, rank) = (!self.counted[writer], self.ranks[writer]);
        match class {
            Class::OlderVersion => (0, is_open, u32::MAX - rank),
            Class::Uncommitted if is_open => (1, true, write),
            Class::Uncommitted => (1, false, rank),
            Class::NewerVersion => (2, is_open, rank),
            Class::NeverWritten => (3, is_open, write),
        }
    }
}
