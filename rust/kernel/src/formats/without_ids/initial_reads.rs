//! dbcop's reads of the initial version: `?` in its text, null in its JSON.
//!
//! The initial version is 0. But where a transaction writes 0, dbcop tells `?` from 0: only 0 is the value
//! that the transaction wrote. Such a key starts with nil here, and `?` is a read of nil.

use super::NumberedHistory;
use super::naturals::{Naturals, has_value, is_beyond, is_negative, natural};
use crate::history::{History, Kind};
use crate::value::Value;

pub(in crate::formats) const ZERO: Value = Value::small(0).expect("zero is small");

/// Keys that `?` was read from and keys that 0 was written to.
#[derive(Default)]
struct Seen(Vec<(bool, bool)>);

impl Seen {
    fn add(&mut self, kind: Kind, key: u32, value: Value) {
        let is_unwritten = kind == Kind::Read && value == Value::NIL;
        let is_zero = matches!(kind, Kind::Write | Kind::Insert) && value == ZERO;
        if !is_unwritten && !is_zero {
            return;
        }
        if self.0.len() <= key as usize {
            self.0.resize(key as usize + 1, (false, false));
        }
        let (unwritten, zero) = &mut self.0[key as usize];
        (*unwritten, *zero) = (*unwritten | is_unwritten, *zero | is_zero);
    }

    fn both(&self, key: u32) -> bool {
        self.0.get(key as usize) == Some(&(true, true))
    }
}

impl NumberedHistory {
    /// Gives reads of nil their meaning, once all writes are known.
    pub(in crate::formats) fn settle_initial_reads(&mut self) {
        if !self.reads_nil {
            return;
        }
        let mut seen = Seen::default();
        self.builder.revise_values(|_, kind, key, value| {
            seen.add(kind, key, value);
            value
        });
        self.builder.revise_values(
            |_, _, key, value| {
                if value == Value::NIL && !seen.both(key) { ZERO } else { value }
            },
        );
        let keys = (0..seen.0.len() as u32).filter(|&key| seen.both(key));
        self.builder.initial.of_key.extend(keys.map(|key| (key, Value::NIL)));
    }
}

/// Whether `operation` read that its key was never written.
pub(in crate::formats) fn is_initial_read(history: &History, operation: usize) -> bool {
    let (key, value) = (history.operations.keys[operation], history.operations.values[operation]);
    history.operations.kinds[operation] == Kind::Read
        && value == Value::NIL
        && history.initial.of(key) == Value::NIL
}

/// A version in an event of dbcop.
pub(in crate::formats) enum Version {
    Number(u64),
    Initial,
}

impl Version {
    /// The version that `operation` read or wrote; `None` if dbcop has no such operation.
    pub(in crate::formats) fn of(
        history: &History,
        numbers: &Naturals<'_>,
        operation: usize,
    ) -> Option<Self> {
        if is_initial_read(history, operation) {
            return Some(Self::Initial);
        }
        if !has_value(history, operation) {
            return None;
        }
        numbers.value(history.operations.values[operation]).map(Self::Number)
    }
}

/// Names of the values and initial values that dbcop's versions cannot say.
pub(in crate::formats) fn lost_versions(history: &History) -> Vec<&'static str> {
    let (columns, mut seen) = (&history.operations, Seen::default());
    let (mut negative, mut odd) = (false, false);
    for operation in (0..history.operation_count()).filter(|&operation| has_value(history, operation)) {
        let value = columns.values[operation];
        seen.add(columns.kinds[operation], columns.keys[operation], value);
        let is_unsaid = value.list_index().is_none()
            && value != Value::UNKNOWN
            && natural(history, value).is_none()
            && !is_initial_read(history, operation);
        negative |= is_unsaid && is_negative(history, value);
        odd |= is_unsaid && !is_negative(history, value) && !is_beyond(history, value);
    }
    let is_said = |&(key, value): &(u32, Value)| value == Value::NIL && seen.both(key);
    let lost = [
        ("initial values of single keys", !history.initial.of_key.iter().all(is_said)),
        ("values below 0: all values are numbered", negative),
        ("values that are no integers: all values are numbered", odd),
    ];
    lost.into_iter().filter(|&(_, is_lost)| is_lost).map(|(name, _)| name).collect()
}
