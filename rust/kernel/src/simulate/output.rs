//! A history under construction, from what a store shows.

use super::store::{Found, Row};
use crate::builder::Builder;
use crate::history::NO_KEY;
use crate::value::Value;

pub(crate) struct Output {
    pub(crate) builder: Builder,
    /// What 0, the value before the first write, stands for.
    initial: Value,
    /// The list that was read last.
    elements: Vec<Value>,
}

impl Output {
    /// `initial` is a small integer, nil, or unknown: then registers hold 0 at first.
    pub(crate) fn new(initial: Value, is_replaceable: bool) -> Self {
        let mut builder = Builder::new();
        builder.initial.default = initial;
        builder.initial.replaceable = is_replaceable;
        let initial = if initial == Value::UNKNOWN { small(0) } else { initial };
        Self { builder, initial, elements: Vec::new() }
    }

    /// The number of a row's key in the history.
    #[inline]
    pub(crate) fn key(&mut self, rows: &mut [Row], row: u32) -> u32 {
        match rows.get_mut(row as usize) {
            Some(state) if state.number == NO_KEY => self.add_key(state, row),
            Some(state) => state.number,
            None => NO_KEY,
        }
    }

    #[cold]
    fn add_key(&mut self, state: &mut Row, row: u32) -> u32 {
        state.number = self.builder.key(small(row));
        state.number
    }

    /// What a read of the key with this number showed.
    pub(crate) fn value(&mut self, key: u32, found: Found<'_>) -> Value {
        match found {
            Found::Absent => Value::NIL,
            Found::Integer(value) => self.register(value),
            Found::List(shown, own) => {
                self.elements.clear();
                self.elements.extend(shown.iter().chain(own).copied().map(integer));
                self.builder.list(key, &self.elements)
            }
        }
    }

    /// The value of a register.
    pub(crate) fn register(&self, value: i64) -> Value {
        if value == 0 { self.initial } else { integer(value) }
    }
}

pub(crate) fn small(number: u32) -> Value {
    integer(i64::from(number))
}

fn integer(number: i64) -> Value {
    Value::small(number).expect("counters are far below 62 bits")
}
