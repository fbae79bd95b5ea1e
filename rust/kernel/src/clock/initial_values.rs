//! Initial values that the input does not state: the first value of a key that was read and never written.

use super::NOTHING;
use super::replay_findings::StaleRead;
use crate::value::Value;
use hashbrown::{HashMap, HashSet};

/// Values that reads show and that may be initial ones, each with the first read that shows it.
#[derive(Debug, Default)]
pub struct InitialCandidates {
    reads: HashMap<(u32, Value), u32>,
    /// Keys that some transaction deletes: nil is their initial value only if no other value is.
    deleted: HashSet<u32>,
}

/// The initial values that reads show, each with the first of these reads.
#[derive(Debug, Default)]
pub struct LearnedInitialValues {
    of_key: HashMap<u32, (u32, Value)>,
}

impl InitialCandidates {
    /// A read shows this value.
    pub fn add(&mut self, read: u32, key: u32, value: Value) {
        let first = self.reads.entry((key, value)).or_insert(read);
        *first = read.min(*first);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// A transaction wrote this value.
    pub fn remove(&mut self, key: u32, value: Value) {
        self.reads.remove(&(key, value));
    }

    /// A transaction deleted the key, which may not have existed at first either.
    pub fn delete(&mut self, key: u32) {
        self.deleted.insert(key);
    }

    /// All writes were seen: of each key the first value that remains is learned.
    pub fn finish(self, learned: &mut LearnedInitialValues) {
        for ((key, value), read) in self.reads {
            let is_weak = |value: Value| value == Value::NIL && self.deleted.contains(&key);
            let known = learned.of_key.entry(key).or_insert((read, value));
            if (is_weak(value), read) < (is_weak(known.1), known.0) {
                *known = (read, value);
            }
        }
    }
}

impl LearnedInitialValues {
    /// The initial value of a key, if reads show one.
    pub fn of(&self, key: u32) -> Option<Value> {
        self.of_key.get(&key).map(|&(_, value)| value)
    }

    /// Whether a suspect read is stale: it does not show the initial value, or a later version was due.
    pub fn is_stale(&self, stale: &StaleRead) -> bool {
        stale.expected != NOTHING || self.of(stale.key).is_none_or(|value| value != stale.found)
    }
}
