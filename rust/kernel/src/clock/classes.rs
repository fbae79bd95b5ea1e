//! Where what a stale read shows comes from: an older version, a newer one, an uncommitted one, or nowhere.

use super::list::Relation;
use super::replay::{Found, Stale};
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
    let is_open = |key: u32| history.initial.of(key) == Value::UNKNOWN;
    let stale = found.stale.iter().filter(|stale| stale.relation == Relation::Register);
    let stale = stale.map(|stale| (stale.read, stale.key, stale.found));
    let unequal = found.unequal.iter().filter(|unequal| !unequal.wrote);
    let unequal = unequal.map(|unequal| (unequal.read, unequal.key, unequal.found));
    let mut suspects: Vec<(u32, u32, Value)> = stale
        .chain(unequal)
        .filter(|&(_, key, value)| is_open(key) && value.list_index().is_none())
        .collect();
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
        if matches!(kind, Kind::Write | Kind::Insert | Kind::Append) {
            see(columns.keys[number], columns.values[number], number as u32);
        }
    }
}

/// Who wrote what the stale reads show.
pub struct Classes<'i> {
    writes: HashMap<(u32, Value), Vec<u32>>,
    initial: &'i HashMap<u32, Value>,
}

impl<'i> Classes<'i> {
    /// Looks for the writers of everything that `shown` show.
    pub fn of(context: &Context<'_>, shown: &[Stale], initial: &'i HashMap<u32, Value>) -> Self {
        let history = context.history;
        let mut writes: HashMap<(u32, Value), Vec<u32>> = HashMap::new();
        for stale in shown {
            let single = [stale.found];
            let list = history.values.as_list(stale.found);
            for &value in list.map_or(&single[..], |list| &list[..stale.length as usize]) {
                writes.entry((stale.key, value)).or_default();
            }
        }
        if !writes.is_empty() {
            each_write(history, |key, value, number| {
                if let Some(found) = writes.get_mut(&(key, value)) {
                    found.push(number);
                }
            });
        }
        Self { writes, initial }
    }

    /// The class of what a read shows, and the write that it was.
    pub fn class(&self, context: &Context<'_>, stale: &Stale) -> (Class, u32) {
        match stale.relation {
            Relation::Register => self.of_register(context, stale),
            _ => self.of_list(context, stale),
        }
    }

    fn of_register(&self, context: &Context<'_>, stale: &Stale) -> (Class, u32) {
        let known = context.history.initial.of(stale.key);
        let initial = self.initial.get(&stale.key).copied().unwrap_or(known);
        let may_be_initial = stale.expected != NOTHING && stale.found == initial;
        let first = may_be_initial.then_some((Class::OlderVersion, NOTHING));
        let best = self.best(context, stale, stale.found);
        match (best, first) {
            (Some((Class::OlderVersion, write)), _) => (Class::OlderVersion, write),
            (_, Some(initial)) => initial,
            (Some(best), None) => best,
            (None, None) => (Class::NeverWritten, NOTHING),
        }
    }

    fn of_list(&self, context: &Context<'_>, stale: &Stale) -> (Class, u32) {
        let list = context.history.values.as_list(stale.found).unwrap_or_default();
        let list = &list[..stale.length as usize];
        let writes = |value: Value| self.writes.get(&(stale.key, value)).map_or(&[][..], Vec::as_slice);
        if list.iter().any(|&element| writes(element).is_empty()) {
            return (Class::NeverWritten, NOTHING);
        }
        let last = list.last().and_then(|&element| writes(element).first().copied()).unwrap_or(NOTHING);
        match stale.relation {
            Relation::Earlier => (Class::OlderVersion, last),
            Relation::Further => self.of_further(context, stale, list),
            Relation::Torn => (Class::Uncommitted, last),
            _ => {
                let is_open = |&&write: &&u32| !context.counts(write);
                let open = list.iter().find_map(|&element| writes(element).iter().find(is_open));
                open.map_or((Class::NeverWritten, NOTHING), |&write| (Class::Uncommitted, write))
            }
        }
    }

    /// The writer of the first element that should not be there decides.
    fn of_further(&self, context: &Context<'_>, stale: &Stale, list: &[Value]) -> (Class, u32) {
        let element = list.get(stale.expected_length as usize).copied().unwrap_or(Value::NOTHING);
        let best = self.best(context, stale, element).unwrap_or((Class::NeverWritten, NOTHING));
        // It is not among the older ones: those are in the list that was expected.
        if best.0 == Class::OlderVersion { (Class::Uncommitted, best.1) } else { best }
    }

    /// The writer of a value that asks least of the database, and of several the nearest.
    fn best(&self, context: &Context<'_>, stale: &Stale, value: Value) -> Option<(Class, u32)> {
        let writes = self.writes.get(&(stale.key, value))?;
        let classed = writes.iter().map(|&write| (context.class(stale, write), write));
        let place = |&(class, write): &(Class, u32)| context.distance(class, write);
        classed.min_by_key(place)
    }
}

impl Context<'_> {
    fn owner(&self, operation: u32) -> usize {
        self.history.operation_offsets.partition_point(|&offset| offset <= operation) - 1
    }

    /// Whether an operation is of a transaction that counts.
    fn counts(&self, operation: u32) -> bool {
        self.counted[self.owner(operation)]
    }

    fn class(&self, stale: &Stale, write: u32) -> Class {
        let (writer, reader) = (self.owner(write), stale.transaction as usize);
        let is_final = last_write(self.history, writer as u32, stale.key) == write;
        let is_register = stale.relation == Relation::Register;
        if !self.counted[writer] || writer == reader || (is_register && !is_final) {
            return Class::Uncommitted;
        }
        let columns = &self.history.transactions;
        let start = columns.starts.get(reader);
        let is_older = match self.isolation {
            Isolation::Snapshot => columns.commits.get(writer) <= start,
            Isolation::Serializable => self.ranks[writer] < self.ranks[reader],
        };
        let is_running = self.isolation == Isolation::Snapshot && columns.starts.get(writer) <= start;
        match (is_older, is_running) {
            (true, _) => Class::OlderVersion,
            (false, true) => Class::Uncommitted,
            (false, false) => Class::NewerVersion,
        }
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
