//! The initial value of a key, stated by the input or learned from reads.

use super::checkpoint::in_order;
use crate::value::Value;
use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

/// The value of a key before its first version.
#[derive(Debug, Serialize, Deserialize)]
pub enum InitialValue {
    /// The input states it.
    Known(Value),
    /// The input does not: the value of a read that no transaction wrote, of several the first.
    Open(Box<InitialCandidates>),
    /// The same, when no read can show it any longer.
    Settled(Option<Value>),
}

/// Values that were read and not written, each with its first read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct InitialCandidates {
    #[serde(serialize_with = "in_order")]
    pub reads: HashMap<Value, (u64, u32)>,
    #[serde(serialize_with = "in_order")]
    pub written: HashSet<Value>,
    pub learned: Option<Value>,
}

impl InitialCandidates {
    /// With these reads and writes.
    pub fn new(reads: HashMap<Value, (u64, u32)>, written: HashSet<Value>) -> Self {
        let mut suspects = Self { reads, written, learned: None };
        suspects.learn();
        suspects
    }

    /// A read shows a value that no version explains; whether another value is learned now.
    pub fn suspect(&mut self, value: Value, read: (u64, u32)) -> bool {
        if self.written.contains(&value) {
            return false;
        }
        let first = self.reads.entry(value).or_insert(read);
        *first = read.min(*first);
        self.learn()
    }

    /// A transaction wrote a value; whether another value is learned now.
    pub fn write(&mut self, value: Value) -> bool {
        self.written.insert(value) && self.reads.remove(&value).is_some() && self.learn()
    }

    fn learn(&mut self) -> bool {
        let first = self.reads.iter().min_by_key(|&(_, &read)| read).map(|(&value, _)| value);
        std::mem::replace(&mut self.learned, first) != first
    }
}

impl InitialValue {
    /// The value, if it is known or was learned.
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::Known(value) => Some(*value),
            Self::Open(suspects) => suspects.learned,
            Self::Settled(value) => *value,
        }
    }
}
