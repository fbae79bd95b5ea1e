//! Initial values that nobody gave: the first value of a key that was read and that nobody wrote.

use super::found::{Found, Stale};
use super::list::Relation;
use crate::value::Value;
use hashbrown::HashMap;

/// Reads of what may be an initial value, each value once.
#[derive(Debug, Default)]
pub struct Suspects {
    /// The first read, by key and value.
    reads: HashMap<(u32, Value), u32>,
}

/// The initial values that reads show, each with the first of these reads.
#[derive(Debug, Default)]
pub struct Learned {
    of_key: HashMap<u32, (u32, Value)>,
}

impl Suspects {
    /// All of them, if `is_open` says of which keys the initial value is not known.
    pub fn of(found: &Found, is_open: impl Fn(u32) -> bool) -> Self {
        let stale = found.stale.iter().filter(|stale| stale.relation == Relation::Register);
        let stale = stale.map(|stale| (stale.read, stale.key, stale.found));
        let unequal = found.unequal.iter().filter(|unequal| !unequal.wrote);
        let unequal = unequal.map(|unequal| (unequal.read, unequal.key, unequal.found));
        let reads = stale.chain(unequal).chain(found.heard.iter().copied());
        let mut suspects = Self::default();
        for (read, key, value) in
            reads.filter(|&(_, key, value)| is_open(key) && value.list_index().is_none())
        {
            suspects.add(read, key, value);
        }
        suspects
    }

    /// A read shows this value.
    pub fn add(&mut self, read: u32, key: u32, value: Value) {
        let first = self.reads.entry((key, value)).or_insert(read);
        *first = read.min(*first);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// Somebody wrote this value.
    pub fn clear(&mut self, key: u32, value: Value) {
        self.reads.remove(&(key, value));
    }

    /// Everything was written but these.
    pub fn settle(self, learned: &mut Learned) {
        for ((key, value), read) in self.reads {
            let known = learned.of_key.entry(key).or_insert((read, value));
            if read < known.0 {
                *known = (read, value);
            }
        }
    }
}

impl Learned {
    /// The initial value of a key, if reads show one.
    pub fn of(&self, key: u32) -> Option<Value> {
        self.of_key.get(&key).map(|&(_, value)| value)
    }

    /// Whether a stale read is one still: it may show the initial value, where that was to be read.
    pub fn is_wrong(&self, stale: &Stale) -> bool {
        stale.expected != super::NOTHING || self.of(stale.key).is_none_or(|value| value != stale.found)
    }
}
