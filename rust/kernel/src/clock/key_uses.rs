//! How each key is used, and which keys cannot be judged: their content or its time is not known.

use super::Judgement;
use crate::history::{History, Initial, Kind, LeftOut, NO_KEY};
use crate::value::Value;

const WRITTEN: u8 = 1;
const LIST: u8 = 2;
const DELETED: u8 = 4;
const UNTIMED: u8 = 8;
/// A transaction wrote the initial value, which takes the place of the implicit write.
const REPLACED: u8 = 16;
/// A read found nil: the empty list, if some transaction uses the key as a list.
const FOUND_NIL: u8 = 32;
/// The same of a transaction that does not count as committed.
const UNCOUNTED_FOUND_NIL: u8 = 64;
/// Some transaction uses the key as a list, whether it counts as committed or not.
const LISTED: u8 = 128;

/// How operations use each key.
#[derive(Debug, Default)]
pub struct KeyUses {
    of_key: Vec<u8>,
    range_reads: u64,
}

impl KeyUses {
    /// The uses by transactions that count as committed; `untimed` are those without a place in the order.
    pub fn of(history: &History, counted: &[bool], untimed: &[u32]) -> Self {
        let columns = &history.operations;
        let mut of_key = vec![0u8; history.keys.len()];
        let is_replaced = |key: u32, value: Value| {
            history.initial.replaceable && value == history.initial.of(key) && value != Value::UNKNOWN
        };
        for transaction in (0..history.transaction_count()).filter(|&transaction| counted[transaction]) {
            for number in history.operations_of(transaction) {
                let (kind, key, value) =
                    (columns.kinds[number], columns.keys[number], columns.values[number]);
                if key == NO_KEY {
                    continue;
                }
                of_key[key as usize] |= use_of(kind, value);
                if kind.installs() && is_replaced(key, value) {
                    of_key[key as usize] |= REPLACED;
                }
            }
        }
        for number in untimed.iter().flat_map(|&transaction| history.operations_of(transaction as usize)) {
            if columns.kinds[number].installs() {
                of_key[columns.keys[number] as usize] |= UNTIMED;
            }
        }
        let range_reads = columns.kinds.iter().filter(|&&kind| kind == Kind::RangeRead).count() as u64;
        Self { of_key, range_reads: range_reads + left_out_by_predicates(history) }
    }

    /// Adds one operation of a stream; [`Self::finish`] after the last.
    pub fn add(&mut self, kind: Kind, key: u32, value: Value, is_counted: bool, initial: &Initial) {
        self.range_reads += u64::from(kind == Kind::RangeRead);
        if key == NO_KEY {
            return;
        }
        if self.of_key.len() <= key as usize {
            self.of_key.resize(key as usize + 1, 0);
        }
        let uses = &mut self.of_key[key as usize];
        if kind == Kind::Append || value.list_index().is_some() {
            *uses |= LISTED;
        }
        if kind == Kind::Read && value == Value::NIL {
            *uses |= if is_counted { FOUND_NIL } else { UNCOUNTED_FOUND_NIL };
            return;
        }
        if is_counted {
            *uses |= use_of(kind, value);
            let is_initial = value == initial.default && value != Value::UNKNOWN;
            *uses |= if kind.installs() && initial.replaceable && is_initial { REPLACED } else { 0 };
        }
    }

    /// All operations were added; whether some read showed an empty list as nil.
    pub fn finish(&mut self, keys: usize) -> bool {
        self.of_key.resize(keys, 0);
        let mut any = false;
        for uses in &mut self.of_key {
            any |= *uses & LISTED != 0 && *uses & (FOUND_NIL | UNCOUNTED_FOUND_NIL) != 0;
            if *uses & FOUND_NIL != 0 {
                *uses |= if *uses & LISTED != 0 { LIST } else { WRITTEN };
            }
        }
        any
    }

    /// Whether some transaction uses the key as a list.
    pub fn is_listed(&self, key: u32) -> bool {
        self.of_key[key as usize] & LISTED != 0
    }

    /// Whether the content of the key is known: a register or a list, not both.
    pub fn is_judged(&self, key: u32) -> bool {
        self.of_key[key as usize] & (WRITTEN | LIST) != WRITTEN | LIST
    }

    /// Whether it is known when each version was installed.
    pub fn is_timed(&self, key: u32) -> bool {
        self.of_key[key as usize] & UNTIMED == 0
    }

    /// Whether a transaction wrote the initial value.
    pub fn is_replaced(&self, key: u32) -> bool {
        self.of_key[key as usize] & REPLACED != 0
    }

    /// Adds the keys and range reads that are not judged.
    pub fn report(&self, judgement: &mut Judgement) {
        judgement.range_reads = self.range_reads;
        for (key, &shape) in (0..).zip(&self.of_key) {
            if shape & (DELETED | LIST) == DELETED | LIST {
                judgement.deleted_keys.push(key);
            } else if !self.is_judged(key) {
                judgement.mixed_keys.push(key);
            } else if !self.is_timed(key) {
                judgement.untimed_keys += 1;
            }
        }
    }
}

/// Keys that predicates left out: by the clock, one state is due, and whether it matches is not asked.
fn left_out_by_predicates(history: &History) -> u64 {
    let left_out = &history.operations.left_out;
    if left_out.is_empty() {
        return 0;
    }
    (0..history.operation_count()).filter(|&one| left_out.get(one) == LeftOut::Unmatched).count() as u64
}

/// The bits that one operation sets.
fn use_of(kind: Kind, value: Value) -> u8 {
    match kind {
        Kind::Delete => DELETED | WRITTEN,
        Kind::Append => LIST,
        Kind::Read if value.list_index().is_some() => LIST,
        Kind::Write | Kind::Insert => WRITTEN,
        Kind::Read if value != Value::UNKNOWN => WRITTEN,
        _ => 0,
    }
}
