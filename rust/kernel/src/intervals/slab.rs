//! Transactions by slot; slots are used again.

use super::locks::Held;
use super::transaction::{Operation, Transaction};
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Slab {
    all: Vec<Option<Box<Transaction>>>,
    free: Vec<u32>,
}

impl Slab {
    pub fn add(&mut self, transaction: Transaction) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            (self.all.len() - 1) as u32
        });
        self.all[slot as usize] = Some(Box::new(transaction));
        slot
    }

    /// The transaction of a slot that is taken.
    pub fn get(&self, slot: u32) -> &Transaction {
        self.all[slot as usize].as_deref().expect("the slot is taken")
    }

    pub fn get_mut(&mut self, slot: u32) -> &mut Transaction {
        self.all[slot as usize].as_deref_mut().expect("the slot is taken")
    }

    /// The transaction with this number, if it is still there.
    pub fn find(&self, slot: u32, number: u64) -> Option<&Transaction> {
        self.all.get(slot as usize)?.as_deref().filter(|one| one.number == number)
    }

    /// Out of its slot for a while, so that the rest can be changed meanwhile.
    pub fn lend(&mut self, slot: u32) -> Box<Transaction> {
        self.all[slot as usize].take().expect("the slot is taken")
    }

    pub fn give_back(&mut self, slot: u32, transaction: Box<Transaction>) {
        self.all[slot as usize] = Some(transaction);
    }

    pub fn remove(&mut self, slot: u32) {
        self.all[slot as usize] = None;
        self.free.push(slot);
    }

    pub fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }

    /// About how many bytes all take.
    pub fn memory(&self) -> usize {
        let each = |one: &Transaction| {
            size_of::<Transaction>()
                + one.operations.len() * size_of::<Operation>()
                + one.locks.len() * size_of::<(u32, Held)>()
                + one.writes.len() * size_of::<(u32, u32)>()
                + one.lists.iter().map(|list| list.len() * 8 + 16).sum::<usize>()
        };
        self.all.capacity() * 8 + self.all.iter().flatten().map(|one| each(one)).sum::<usize>()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Transaction> {
        self.all.iter().flatten().map(|one| &**one)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Transaction> {
        self.all.iter_mut().flatten().map(|one| &mut **one)
    }
}
