//! Lists as they grow: what is committed of each, and what the current transaction saw and appended.

use crate::value::Value;

/// How a list that was found and the one that was expected relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They are no lists.
    Register,
    /// They are the same.
    Equal,
    /// What was found is what an earlier transaction left.
    Earlier,
    /// It is part of what was expected, but no transaction left it so.
    Torn,
    /// It goes on where what was expected ends.
    Further,
    /// Neither is part of the other.
    Different,
}

/// One list.
#[derive(Default)]
struct Grown {
    elements: Vec<Value>,
    /// Where what each transaction appended ends.
    ends: Vec<u32>,
    /// What the current transaction read last, and appended since.
    seen: Option<Value>,
    own: Vec<Value>,
}

/// The lists of all keys; those that are no lists cost nothing but a place.
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

    /// What is committed; without the last transaction's if that `is_own`.
    pub fn of(&self, key: u32, is_own: bool) -> &[Value] {
        let list = self.get(key);
        &list.elements[..list.length(is_own)]
    }

    /// A committed append; `is_first`: of its transaction.
    pub fn append(&mut self, key: u32, element: Value, is_first: bool) {
        let list = self.get_mut(key);
        if !is_first {
            list.ends.pop();
        }
        list.elements.push(element);
        list.ends.push(list.elements.len() as u32);
    }

    /// An append of the current transaction; `is_first`: it did nothing with the key before.
    pub fn append_own(&mut self, key: u32, element: Value, is_first: bool) {
        let list = self.get_mut(key);
        if is_first {
            list.own.clear();
            list.seen = None;
        }
        list.own.push(element);
    }

    /// What the current transaction appended since it read the list.
    pub fn own(&self, key: u32) -> &[Value] {
        &self.get(key).own
    }

    /// What the current transaction read last.
    pub fn seen(&self, key: u32) -> Value {
        self.get(key).seen.unwrap_or(Value::NOTHING)
    }

    /// The current transaction read the list.
    pub fn see(&mut self, key: u32, value: Value) {
        let list = self.get_mut(key);
        list.own.clear();
        list.seen = Some(value);
    }

    /// How `found` relates to what is committed.
    pub fn relation(&self, key: u32, is_own: bool, found: &[Value]) -> Relation {
        let list = self.get(key);
        let expected = &list.elements[..list.length(is_own)];
        if found == expected {
            Relation::Equal
        } else if expected.starts_with(found) {
            let is_end = found.is_empty() || list.ends.binary_search(&(found.len() as u32)).is_ok();
            if is_end { Relation::Earlier } else { Relation::Torn }
        } else if found.starts_with(expected) {
            Relation::Further
        } else {
            Relation::Different
        }
    }
}

impl Grown {
    fn length(&self, is_own: bool) -> usize {
        let without = if is_own { self.ends.len().checked_sub(2).map(|last| self.ends[last]) } else { None };
        match (is_own, without) {
            (false, _) => self.elements.len(),
            (true, end) => end.unwrap_or_default() as usize,
        }
    }
}
