//! Natural numbers of at most 64 bits, for formats that hold no other keys and values.

use crate::history::{History, Kind};
use crate::value::{AtomKind, Value};

/// Keys and values as natural numbers: where one is none, all keys or all values are numbered.
pub(in crate::formats) struct Naturals<'h> {
    history: &'h History,
    number_keys: bool,
    numbered: Option<hashbrown::HashMap<Value, u64>>,
}

impl<'h> Naturals<'h> {
    /// For the operations of `history` that `is_apart` does not take out.
    pub(in crate::formats) fn of(history: &'h History, is_apart: impl Fn(usize) -> bool) -> Self {
        let values = &history.operations.values;
        let is_scalar = |value: Value| value.list_index().is_none() && value != Value::UNKNOWN;
        let is_odd = |operation: usize| {
            let value = values[operation];
            has_value(history, operation)
                && is_scalar(value)
                && natural(history, value).is_none()
                && !is_apart(operation)
        };
        let is_numbered = (0..values.len()).any(is_odd);
        Self {
            history,
            number_keys: history.keys.iter().any(|&key| natural(history, key).is_none()),
            numbered: is_numbered.then(|| {
                let mut known = hashbrown::HashMap::from([(history.initial.default, 0)]);
                for &value in values.iter().filter(|&&value| is_scalar(value)) {
                    let next = known.len() as u64;
                    known.entry(value).or_insert(next);
                }
                known
            }),
        }
    }

    /// The number of a key.
    pub(in crate::formats) fn key(&self, key: u32) -> u64 {
        let number = natural(self.history, self.history.keys[key as usize]);
        number.filter(|_| !self.number_keys).unwrap_or(u64::from(key))
    }

    /// The number of a value; `None` for a list and for an unknown result.
    pub(in crate::formats) fn value(&self, value: Value) -> Option<u64> {
        match &self.numbered {
            // An unknown initial value has a number, but no read shows it.
            Some(known) => known.get(&value).copied().filter(|_| value != Value::UNKNOWN),
            None => natural(self.history, value),
        }
    }
}

/// Whether the value of `operation` is one that was read or written.
pub(super) fn has_value(history: &History, operation: usize) -> bool {
    matches!(history.operations.kinds[operation], Kind::Read | Kind::Write | Kind::Insert)
}

/// The natural number that `value` is, if it fits 64 bits.
pub(in crate::formats) fn natural(history: &History, value: Value) -> Option<u64> {
    if let Some(small) = value.as_small() {
        return u64::try_from(small).ok();
    }
    let (kind, text) = history.values.atom(value.atom_index()?);
    text.parse().ok().filter(|_| kind == AtomKind::Integer)
}

/// Whether `value` is an integer of more than 64 bits, which no format here holds.
pub(in crate::formats) fn is_beyond(history: &History, value: Value) -> bool {
    let kind = value.atom_index().map(|index| history.values.atom(index).0);
    kind == Some(AtomKind::Integer) && natural(history, value).is_none() && !is_negative(history, value)
}

/// Whether `value` is an integer below 0.
pub(in crate::formats) fn is_negative(history: &History, value: Value) -> bool {
    let is_long = |index: usize| {
        let (kind, text) = history.values.atom(index);
        kind == AtomKind::Integer && text.starts_with('-')
    };
    value.as_small().map_or_else(|| value.atom_index().is_some_and(is_long), |number| number < 0)
}

/// Writes `number` in decimal.
pub(in crate::formats) fn push_number(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[start..]);
}
