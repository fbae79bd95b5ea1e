//! Lists as they grow: the committed elements of each, and what the current transaction read and appended.

use super::NOTHING;
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How a list that was found and the one that was expected relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// They are no lists.
    Register,
    /// They are the same.
    Equal,
    /// The list is one that an earlier transaction left.
    Earlier,
    /// It is a beginning of the expected list that no transaction left.
    Torn,
    /// It begins with the expected list and goes on.
    Further,
    /// Neither begins with the other.
    Different,
}

/// One list.
#[derive(Default)]
struct Grown {
    elements: Vec<Value>,
    /// Where the elements of each transaction end, and the transaction.
    ends: Vec<(u32, u32)>,
    /// The list that the current transaction read last, and its appends since.
    seen: Option<Value>,
    own: Vec<Value>,
}

/// The committed elements of a list.
pub struct Committed<'l> {
    /// Its elements.
    pub elements: Cow<'l, [Value]>,
    ends: Cow<'l, [(u32, u32)]>,
}

/// The lists of all keys; a key without a list costs one number.
pub struct Lists {
    of_key: Vec<u32>,
    grown: Vec<Grown>,
    empty: Grown,
}

const NO_LIST: u32 = u32::MAX;

impl Lists {
    pub fn new(keys: usize) -> Self {
        Self { of_key: vec![NO_LIST; keys], grown: Vec::new(), empty: Grown::default() }
    }

    fn get(&self, key: u32) -> &Grown {
        self.grown.get(self.of_key[key as usize] as usize).unwrap_or(&self.empty)
    }

    fn get_mut(&mut self, key: u32) -> &mut Grown {
        let place = &mut self.of_key[key as usize];
        if *place == NO_LIST {
            *place = self.grown.len() as u32;
            self.grown.push(Grown::default());
        }
        &mut self.grown[*place as usize]
    }

    /// The committed elements without those of `transaction`.
    pub fn without(&self, key: u32, transaction: u32) -> Committed<'_> {
        let Grown { elements, ends, .. } = self.get(key);
        if transaction == NOTHING || !ends.iter().any(|&(_, writer)| writer == transaction) {
            return Committed { elements: elements.into(), ends: ends.into() };
        }
        let (mut others, mut ends_of_others, mut start) = (Vec::new(), Vec::new(), 0);
        for &(end, writer) in ends {
            if writer != transaction {
                others.extend_from_slice(&elements[start as usize..end as usize]);
                ends_of_others.push((others.len() as u32, writer));
            }
            start = end;
        }
        Committed { elements: others.into(), ends: ends_of_others.into() }
    }

    /// A committed append.
    pub fn append(&mut self, key: u32, element: Value, transaction: u32) {
        let list = self.get_mut(key);
        list.ends.pop_if(|&mut (_, writer)| writer == transaction);
        list.elements.push(element);
        list.ends.push((list.elements.len() as u32, transaction));
    }

    /// An append of the current transaction; `is_first`: it is its first access to the key.
    pub fn append_own(&mut self, key: u32, element: Value, is_first: bool) {
        let list = self.get_mut(key);
        if is_first {
            list.own.clear();
        }
        list.own.push(element);
    }

    /// The appends of the current transaction since it read the list.
    pub fn own(&self, key: u32) -> &[Value] {
        &self.get(key).own
    }

    /// The list that the current transaction read last.
    pub fn seen(&self, key: u32) -> Value {
        self.get(key).seen.unwrap_or(Value::NOTHING)
    }

    /// The current transaction read the list.
    pub fn see(&mut self, key: u32, value: Value) {
        let list = self.get_mut(key);
        list.own.clear();
        list.seen = Some(value);
    }
}

impl<'l> Committed<'l> {
    /// These elements; `ends` says where the elements of each transaction end.
    pub fn new(elements: &'l [Value], ends: &'l [(u32, u32)]) -> Self {
        Self { elements: elements.into(), ends: ends.into() }
    }

    /// How `found` relates to it, and the transaction that left `found` or of which it shows some appends only.
    pub fn relation(&self, found: &[Value]) -> (Relation, u32) {
        if found == &*self.elements {
            return (Relation::Equal, NOTHING);
        }
        if self.elements.starts_with(found) {
            return match self.ends.binary_search_by_key(&(found.len() as u32), |&(end, _)| end) {
                Ok(place) => (Relation::Earlier, self.ends[place].1),
                Err(_) if found.is_empty() => (Relation::Earlier, NOTHING),
                Err(place) => (Relation::Torn, self.ends[place].1),
            };
        }
        let is_further = found.starts_with(&self.elements);
        (if is_further { Relation::Further } else { Relation::Different }, NOTHING)
    }
}
