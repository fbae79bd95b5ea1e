//! Keys that cannot be judged: it is not known what they hold, or when it was written.

use super::Judgement;
use crate::history::{History, Kind, NO_KEY};
use crate::value::Value;

const WRITTEN: u8 = 1;
const LIST: u8 = 2;
const DELETED: u8 = 4;
const UNTIMED: u8 = 8;
/// The initial value was written by a transaction, which takes the place of the implicit write.
const REPLACED: u8 = 16;

/// What the operations on each key say of it.
pub struct Shapes {
    of_key: Vec<u8>,
    range_reads: u64,
}

impl Shapes {
    /// Only transactions that count say something; `untimed` are those that nobody can put in order.
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
                of_key[key as usize] |= says(kind, value);
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
        Self { of_key, range_reads }
    }

    /// Whether it is known what the key holds: one of a register and a list, never deleted.
    pub fn is_judged(&self, key: u32) -> bool {
        self.of_key[key as usize] & (WRITTEN | LIST | DELETED) <= LIST
    }

    /// Whether it is known when each version was installed.
    pub fn is_timed(&self, key: u32) -> bool {
        self.of_key[key as usize] & UNTIMED == 0
    }

    /// Whether a transaction wrote the initial value.
    pub fn is_replaced(&self, key: u32) -> bool {
        self.of_key[key as usize] & REPLACED != 0
    }

    /// Says what was set aside.
    pub fn report(&self, judgement: &mut Judgement) {
        judgement.range_reads = self.range_reads;
        for (key, &shape) in (0..).zip(&self.of_key) {
            if shape & DELETED != 0 {
                judgement.deleted_keys.push(key);
            } else if !self.is_judged(key) {
                judgement.mixed_keys.push(key);
            } else if !self.is_timed(key) {
                judgement.untimed_keys += 1;
            }
        }
    }
}

fn says(kind: Kind, value: Value) -> u8 {
    match kind {
        Kind::Delete => DELETED,
        Kind::Append => LIST,
        Kind::Read if value.list_index().is_some() => LIST,
        Kind::Write | Kind::Insert => WRITTEN,
        Kind::Read if value != Value::UNKNOWN => WRITTEN,
        _ => 0,
    }
}
