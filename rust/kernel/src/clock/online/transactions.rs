//! Transactions in memory, each as long as something refers to it.

use crate::clock::events;
use crate::clock::replay::is_instant;
use crate::clock::{ClockLevel, origins};
use crate::history::{Kind, Timestamp};
use crate::value::{Value, Values};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The session of a transaction whose session has no name.
pub const NAMELESS: u32 = u32::MAX;

/// One operation; a list that was read is a number of [`super::lists::Lists`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Operation {
    pub value: Value,
    pub key: u32,
    pub kind: Kind,
}

/// The places of the first and of the last write of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct KeyWrites {
    pub key: u32,
    pub first: u32,
    pub last: u32,
}

/// A transaction.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Transaction {
    /// How many arrived before it.
    pub number: u64,
    pub id: Value,
    pub session: u32,
    /// Its place in the session, and the place of that among all.
    pub place: u32,
    pub lane: u32,
    pub start: Timestamp,
    pub commit: Timestamp,
    pub arrival: u64,
    pub operations: Box<[Operation]>,
    /// How many entries, queues and findings need it.
    pub references: u32,
    /// Reads of other transactions that are stale at present, and how often one of them changed.
    pub wrong: u32,
    pub flips: u32,
    pub is_final: bool,
    pub is_committed: bool,
    /// Whether it came below the watermark: its keys are not cut while it is in memory.
    pub is_late: bool,
}

impl Transaction {
    /// Start and commit.
    pub fn times(&self) -> (Timestamp, Timestamp) {
        (self.start, self.commit)
    }

    /// Its keys, each once.
    pub fn keys(&self) -> Vec<u32> {
        let mut keys: Vec<u32> = self.operations.iter().map(|operation| operation.key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The keys that it writes, in the order of their last writes.
    pub fn writes(&self) -> Vec<KeyWrites> {
        let all = (0..).zip(&self.operations).filter(|(_, one)| one.kind.installs());
        let mut writes: Vec<KeyWrites> =
            all.map(|(place, one)| KeyWrites { key: one.key, first: place, last: place }).collect();
        writes.sort_unstable_by_key(|one| (one.key, one.first));
        writes.dedup_by(|later, kept| {
            let is_same = later.key == kept.key;
            if is_same {
                kept.last = later.last;
            }
            is_same
        });
        writes.sort_unstable_by_key(|one| one.last);
        writes
    }

    /// The values that it writes to a key.
    pub fn written(&self, writes: KeyWrites) -> impl Iterator<Item = Value> {
        let between = &self.operations[writes.first as usize..=writes.last as usize];
        between.iter().filter(move |one| one.key == writes.key && one.kind.installs()).map(|one| one.value)
    }

    /// The last write of a key.
    pub fn last_write(&self, key: u32) -> Option<u32> {
        let is_it = |operation: &Operation| operation.key == key && operation.kind.installs();
        self.operations.iter().rposition(is_it).map(|place| place as u32)
    }
}

/// All that are in memory, by slot; slots are used again.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Transactions {
    slots: Vec<Option<Transaction>>,
    free: Vec<u32>,
    /// Operations of all.
    pub operations: u64,
}

impl Transactions {
    /// Takes a transaction in; its slot.
    pub fn add(&mut self, transaction: Transaction) -> u32 {
        self.operations += transaction.operations.len() as u64;
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(transaction);
            return slot;
        }
        self.slots.push(Some(transaction));
        (self.slots.len() - 1) as u32
    }

    /// The transaction in a slot.
    pub fn get(&self, slot: u32) -> &Transaction {
        self.slots[slot as usize].as_ref().expect("a slot that is referred to is filled")
    }

    /// The transaction in a slot, if there is one.
    pub fn find(&self, slot: u32) -> Option<&Transaction> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, slot: u32) -> &mut Transaction {
        self.slots[slot as usize].as_mut().expect("a slot that is referred to is filled")
    }

    /// Adds a reference to a transaction.
    pub fn hold(&mut self, slot: u32) {
        self.get_mut(slot).references += 1;
    }

    /// Removes a reference; the transaction comes back if it was the last.
    pub fn release(&mut self, slot: u32) -> Option<Transaction> {
        let transaction = self.get_mut(slot);
        transaction.references -= 1;
        if transaction.references > 0 {
            return None;
        }
        let gone = self.slots[slot as usize].take();
        self.free.push(slot);
        self.operations -= gone.as_ref().map_or(0, |gone| gone.operations.len() as u64);
        gone
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// All of them, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Transaction)> {
        (0..).zip(&self.slots).filter_map(|(slot, one)| one.as_ref().map(|one| (slot, one)))
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Transaction> {
        self.slots.iter_mut().flatten()
    }

    /// Whether the free slots are the empty ones; false only if a checkpoint is damaged.
    pub fn is_sound(&self) -> bool {
        let is_empty = |&slot: &u32| self.slots.get(slot as usize).is_some_and(Option::is_none);
        self.free.iter().all(is_empty)
            && self.slots.iter().filter(|slot| slot.is_none()).count() == self.free.len()
    }
}

/// Orders transactions by timestamps, and where these are equal, by the names of sessions.
#[derive(Clone, Copy)]
pub struct Order<'o> {
    pub level: ClockLevel,
    pub values: &'o Values,
    /// Names of sessions by number.
    pub sessions: &'o [Value],
}

impl Order<'_> {
    /// The order of commits.
    pub fn commits(&self, one: &Transaction, other: &Transaction) -> Ordering {
        let times = (one.commit, one.start).cmp(&(other.commit, other.start));
        times.then_with(|| self.ties(one, other))
    }

    /// The order in which they read.
    pub fn reads(&self, one: &Transaction, other: &Transaction) -> Ordering {
        if self.level == ClockLevel::Serializable {
            return self.commits(one, other);
        }
        self.starts(one, other)
    }

    /// The order of starts; a transaction that commits at its start comes first.
    pub fn starts(&self, one: &Transaction, other: &Transaction) -> Ordering {
        let moment = |one: &Transaction| (one.start, !is_instant(one.times()));
        moment(one).cmp(&moment(other)).then_with(|| self.ties(one, other))
    }

    /// The order of transactions with equal times.
    fn ties(&self, one: &Transaction, other: &Transaction) -> Ordering {
        if one.session == other.session && one.session != NAMELESS {
            return one.place.cmp(&other.place);
        }
        events::sessions(self.values, self.names(one), self.names(other))
    }

    fn names(&self, one: &Transaction) -> (Value, Value) {
        (self.sessions.get(one.session as usize).copied().unwrap_or(Value::NIL), one.id)
    }

    /// Whether `reader` sees the writes of `writer` by the clock; a transaction does not see itself.
    pub fn sees(&self, reader: &Transaction, writer: &Transaction) -> bool {
        if reader.number == writer.number {
            return false;
        }
        match self.level {
            ClockLevel::Serializable => self.commits(writer, reader).is_lt(),
            ClockLevel::Snapshot => {
                writer.commit < reader.start
                    || writer.commit == reader.start
                        && (!is_instant(reader.times()) || self.commits(writer, reader).is_lt())
            }
        }
    }

    /// Whether two writers of a key overlap.
    pub fn overlap(&self, one: &Transaction, other: &Transaction) -> bool {
        one.commit == other.commit || !self.sees(one, other) && !self.sees(other, one)
    }

    /// Whether the second of two neighbours in a session does not see the first.
    pub fn is_out_of_order(&self, before: &Transaction, after: &Transaction) -> bool {
        let is_earlier = self.commits(before, after).is_lt();
        !origins::sees(self.level, after.times(), before.commit, is_earlier)
    }
}
