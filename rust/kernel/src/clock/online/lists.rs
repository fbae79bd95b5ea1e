//! Lists that were read, kept as long as their transactions.

use crate::value::Value;
use serde::{Deserialize, Serialize};

/// Lists by number; numbers are used again.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Lists {
    all: Vec<Box<[Value]>>,
    free: Vec<u32>,
    /// Elements of all.
    pub elements: u64,
}

impl Lists {
    /// Keeps a list; the word that stands for it in an operation.
    pub fn add(&mut self, list: Box<[Value]>) -> Value {
        self.elements += list.len() as u64;
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(Box::default());
            (self.all.len() - 1) as u32
        });
        self.all[number as usize] = list;
        Value::from_word(u64::from(number) << 2 | 0b11)
    }

    /// The elements, if the word stands for a list.
    pub fn get(&self, value: Value) -> Option<&[Value]> {
        value.list_index().map(|number| &*self.all[number])
    }

    /// Frees the number of a list.
    pub fn forget(&mut self, value: Value) {
        if let Some(number) = value.list_index() {
            self.elements -= self.all[number].len() as u64;
            self.all[number] = Box::default();
            self.free.push(number as u32);
        }
    }

    /// All elements, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.all.iter_mut().flat_map(|list| list.iter_mut())
    }
}
