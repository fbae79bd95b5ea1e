//! What a register held before its first write.

use super::{Judge, NOTHING};
use crate::by_key::{Operation, Writes, external_reads};
use crate::history::History;
use crate::value::Value;

/// Stands for an initial state that no read can show: equal to no value read.
const REPLACED: Value = Value::NOTHING;

/// The initial value of one register: known, or learned from the first read of a value that no transaction
/// wrote.
pub(super) struct InitialState {
    value: Value,
    learned_by: u32,
    /// The initial value is unknown, and some read shows it.
    shown: Option<Value>,
    /// The key may not have existed.
    may_be_nil: bool,
    /// A first transaction inserts the key: a read showed the state before it only if nothing else explains it.
    before_first: Option<Value>,
}

impl Judge<'_> {
    pub(super) fn initial_state(&self, key: u32, operations: &[Operation]) -> InitialState {
        InitialState::of(self.history, self.counted, (self.born, &self.writes), key, operations)
    }
}

impl InitialState {
    pub(super) fn of(
        history: &History,
        counted: &[bool],
        (born, writes): (&[bool], &Writes),
        key: u32,
        operations: &[Operation],
    ) -> Self {
        let value = history.initial.of(key);
        let is_written = || writes.of(value).iter().any(|write| counted[write.transaction as usize]);
        let is_replaced = history.initial.replaceable && is_written();
        let is_born = born.get(key as usize) == Some(&true);
        if is_replaced || is_born {
            let before_first = Some(value).filter(|&value| is_born && value != Value::UNKNOWN);
            let (learned_by, shown, may_be_nil) = (NOTHING, None, false);
            return Self { value: REPLACED, learned_by, shown, may_be_nil, before_first };
        }
        let is_deleted = !writes.of(Value::NIL).is_empty();
        let is_asked = is_deleted || operations.iter().any(|operation| operation.is_unmatched);
        let shown = if value == Value::UNKNOWN && is_asked {
            let mut reads = external_reads(operations, counted).filter(|read| !read.is_unmatched);
            reads.find(|read| writes.of(read.value).is_empty()).map(|read| read.value)
        } else {
            None
        };
        let may_be_nil = value == Value::UNKNOWN && is_deleted && shown.is_none();
        Self { value, learned_by: NOTHING, shown, may_be_nil, before_first: None }
    }

    /// Whether a value that some transaction wrote may be the initial one.
    pub(super) fn may_be(&self, value: Value) -> bool {
        self.value == value || self.may_be_nil && value == Value::NIL
    }

    /// Whether the key may have been in a state that does not match.
    pub(super) fn may_be_unmatched(&self, matches: impl Fn(Value) -> bool) -> bool {
        match (self.value, self.shown) {
            (REPLACED, _) => false,
            (Value::UNKNOWN, None) => true,
            (Value::UNKNOWN, Some(shown)) => !matches(shown),
            (known, _) => !matches(known),
        }
    }

    /// Whether a value that no transaction wrote can be the initial one; if not, the read that contradicts
    /// it.
    pub(super) fn admit(&mut self, value: Value, read: u32) -> Result<(), u32> {
        if self.value == Value::UNKNOWN {
            (self.value, self.learned_by) = (value, read);
        }
        let is_initial = self.value == value || self.before_first == Some(value);
        if is_initial { Ok(()) } else { Err(self.learned_by) }
    }
}
