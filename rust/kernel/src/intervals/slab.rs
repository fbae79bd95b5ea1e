//! Transactions by slot; slots are used again.

use super::transaction::Transaction;
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Slab {
    all: Vec<Option<Transaction>>,
    free: Vec<u32>,
}

impl Slab {
    pub fn add(&mut self, transaction: Transaction) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            (self.all.len() - 1) as u32
        });
        self.all[slot as usize] = Some(transaction);
        slot
    }

    /// The transaction of a slot that is taken.
    pub fn get(&self, slot: u32) -> &Transaction {
        self.all[slot as usize].as_ref().expect("the slot is taken")
    }

    pub fn get_mut(&mut self, slot: u32) -> &mut Transaction {
        self.all[slot as usize].as_mut().expect("the slot is taken")
    }

    /// The transaction with this number, if it is still there.
    pub fn find(&self, slot: u32, number: u64) -> Option<&Transaction> {
        self.all.get(slot as usize)?.as_ref().filter(|one| one.number == number)
    }

    /// Out of its slot for a while, so that the rest can be changed meanwhile.
    pub fn lend(&mut self, slot: u32) -> Transaction {
        self.all[slot as usize].take().expect("the slot is taken")
    }

    pub fn give_back(&mut self, slot: u32, transaction: Transaction) {
        self.all[slot as usize] = Some(transaction);
    }

    pub fn remove(&mut self, slot: u32) {
        self.all[slot as usize] = None;
        self.free.push(slot);
    }

    pub fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }

    /// Operations of all transactions.
    pub fn operations(&self) -> usize {
        self.all.iter().flatten().map(|one| one.operations.len()).sum()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Transaction> {
        self.all.iter_mut().flatten()
    }
}
