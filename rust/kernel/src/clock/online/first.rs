//! What a key held before its first version, as far as somebody said or read it.

use crate::value::Value;
use hashbrown::{HashMap, HashSet};

/// What a key held before its first version.
#[derive(Debug)]
pub enum First {
    /// Somebody said so.
    Known(Value),
    /// Nobody did: the value of a read that nobody wrote, of several the first.
    Open(Box<Suspects>),
    /// The same, and nobody will ask any longer.
    Settled(Option<Value>),
}

/// Values that were read and not written, each with its first read.
#[derive(Debug, Default)]
pub struct Suspects {
    pub reads: HashMap<Value, (u64, u32)>,
    pub written: HashSet<Value>,
    pub learned: Option<Value>,
}

impl Suspects {
    /// With these reads and writes.
    pub fn new(reads: HashMap<Value, (u64, u32)>, written: HashSet<Value>) -> Self {
        let mut suspects = Self { reads, written, learned: None };
        suspects.learn();
        suspects
    }

    /// A read shows a value that no version explains; whether something else is learned now.
    pub fn suspect(&mut self, value: Value, read: (u64, u32)) -> bool {
        if self.written.contains(&value) {
            return false;
        }
        let first = self.reads.entry(value).or_insert(read);
        *first = read.min(*first);
        self.learn()
    }

    /// Somebody wrote a value; whether something else is learned now.
    pub fn write(&mut self, value: Value) -> bool {
        self.written.insert(value) && self.reads.remove(&value).is_some() && self.learn()
    }

    fn learn(&mut self) -> bool {
        let first = self.reads.iter().min_by_key(|&(_, &read)| read).map(|(&value, _)| value);
        std::mem::replace(&mut self.learned, first) != first
    }
}

impl First {
    /// The value, if it is known or was learned.
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::Known(value) => Some(*value),
            Self::Open(suspects) => suspects.learned,
            Self::Settled(value) => *value,
        }
    }
}
