//! Keys that cannot be judged: it is not known what they hold, or when it was written.

use super::Judgement;
use crate::history::{History, Initial, Kind, NO_KEY};
use crate::value::Value;

const WRITTEN: u8 = 1;
const LIST: u8 = 2;
const DELETED: u8 = 4;
const UNTIMED: u8 = 8;
/// The initial value was written by a transaction, which takes the place of the implicit write.
const REPLACED: u8 = 16;
/// A read found nothing: the empty list, if somebody uses the key as a list.
const FOUND_NOTHING: u8 = 32;
/// The same of a transaction that does not count.
const FOUND_NOTHING_ASIDE: u8 = 64;
/// Somebody uses the key as a list, whether they count or not.
const LISTED: u8 = 128;

/// What the operations on each key say of it.
#[derive(Debug, Default)]
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

    /// One operation of a history of which not everything is known yet; [`Self::settle`] when it is.
    pub fn hear(&mut self, kind: Kind, key: u32, value: Value, is_counted: bool, initial: &Initial) {
        self.range_reads += u64::from(kind == Kind::RangeRead);
        if key == NO_KEY {
            return;
        }
        if self.of_key.len() <= key as usize {
            self.of_key.resize(key as usize + 1, 0);
        }
        let said = &mut self.of_key[key as usize];
        if kind == Kind::Append || value.list_index().is_some() {
            *said |= LISTED;
        }
        if kind == Kind::Read && value == Value::NIL {
            *said |= if is_counted { FOUND_NOTHING } else { FOUND_NOTHING_ASIDE };
            return;
        }
        if is_counted {
            *said |= says(kind, value);
            let is_initial = value == initial.default && value != Value::UNKNOWN;
            *said |= if kind.installs() && initial.replaceable && is_initial { REPLACED } else { 0 };
        }
    }

    /// Everything was heard; whether some read showed an empty list as nothing.
    pub fn settle(&mut self, keys: usize) -> bool {
        self.of_key.resize(keys, 0);
        let mut any = false;
        for said in &mut self.of_key {
            any |= *said & LISTED != 0 && *said & (FOUND_NOTHING | FOUND_NOTHING_ASIDE) != 0;
            if *said & FOUND_NOTHING != 0 {
                *said |= if *said & LISTED != 0 { LIST } else { WRITTEN };
            }
        }
        any
    }

    /// Whether somebody uses the key as a list.
    pub fn is_listed(&self, key: u32) -> bool {
        self.of_key[key as usize] & LISTED != 0
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
