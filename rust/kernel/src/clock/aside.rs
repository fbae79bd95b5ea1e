//! Keys that cannot be judged: what they hold is not known.

use super::Judgement;
use crate::history::{History, Kind, NO_KEY};
use crate::value::Value;

const WRITTEN: u8 = 1;
const LIST: u8 = 2;
const DELETED: u8 = 4;
const UNTIMED: u8 = 8;

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
        let mut range_reads = 0;
        for transaction in (0..history.transaction_count()).filter(|&transaction| counted[transaction]) {
            for number in history.operations_of(transaction) {
                let (kind, key, value) =
                    (columns.kinds[number], columns.keys[number], columns.values[number]);
                range_reads += u64::from(kind == Kind::RangeRead);
                if key != NO_KEY {
                    of_key[key as usize] |= says(kind, value);
                }
            }
        }
        for number in untimed.iter().flat_map(|&transaction| history.operations_of(transaction as usize)) {
            if columns.kinds[number].installs() {
                of_key[columns.keys[number] as usize] |= UNTIMED;
            }
        }
        Self { of_key, range_reads }
    }

    /// Whether it is known what the key holds, and when.
    pub fn is_judged(&self, key: u32) -> bool {
        // Only small numbers are: a register or a list, never deleted, always timed.
        self.of_key[key as usize] <= LIST
    }

    /// Says what was set aside.
    pub fn report(&self, judgement: &mut Judgement) {
        judgement.range_reads = self.range_reads;
        for (key, &shape) in self.of_key.iter().enumerate() {
            match shape {
                0..=LIST => {}
                shape if shape & DELETED != 0 => judgement.deleted_keys.push(key as u32),
                shape if shape & UNTIMED != 0 => judgement.untimed_keys += 1,
                _ => judgement.mixed_keys.push(key as u32),
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
