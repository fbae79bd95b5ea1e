//! Formats without ids: transactions and sessions are called 1, 2, 3, ... by their place in the input.

mod initial_reads;
mod naturals;
mod sessions;
mod status;

pub(super) use initial_reads::{Version, ZERO, is_initial_read, lost_versions};
pub(super) use naturals::{Naturals, is_beyond, is_negative, natural, push_number};
pub(super) use sessions::{misplaced_ids, sessions};
pub(super) use status::{leaves_operations, leaves_operations_of, written_transactions};

use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::{History, Kind, Status};
use crate::value::{Translation, Value, Values};

/// An operation whose key and value are those of its batch.
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) key: Value,
    pub(super) value: Value,
    pub(super) line: u32,
}

/// The history so far.
#[derive(Default)]
pub(super) struct NumberedHistory {
    pub(super) builder: Builder,
    /// The session that the next transaction belongs to, if it has one already.
    session: Option<u32>,
    sessions: i64,
    empty_sessions: u64,
    reads_nil: bool,
}

impl NumberedHistory {
    /// An empty history whose keys start with `initial`.
    pub(super) fn starting_with(initial: Value, replaceable: bool) -> Self {
        let mut empty = Self::default();
        (empty.builder.initial.default, empty.builder.initial.replaceable) = (initial, replaceable);
        empty
    }

    /// The next transaction is the first of another session.
    pub(super) fn end_session(&mut self) {
        // A session without transactions gets no number.
        self.empty_sessions += u64::from(self.session.take().is_none());
    }

    /// The same where an empty session is none.
    pub(super) fn forget_session(&mut self) {
        self.session = None;
    }

    /// The next transaction.
    pub(super) fn transaction(&mut self, status: Status, line: u32) -> u32 {
        let place = self.builder.transaction_count() as i64 + 1;
        let session = *self.session.get_or_insert_with(|| {
            self.sessions += 1;
            let id = self.builder.values.integer(self.sessions);
            self.builder.session(id)
        });
        let id = self.builder.values.integer(place);
        self.builder.transaction(id, session, status, line).expect("ids are counted")
    }

    /// The next operations of `transaction`.
    pub(super) fn operations(
        &mut self,
        transaction: u32,
        operations: &[Operation],
        translation: &Translation<'_>,
    ) {
        for operation in operations {
            let key = self.builder.key(translation.of(operation.key));
            let value = translation.of(operation.value);
            self.reads_nil |= value == Value::NIL;
            self.builder.operation(transaction, operation.kind, key, value, operation.line);
        }
    }

    /// The history.
    pub(super) fn into_history(mut self) -> Result<History, ParseError> {
        self.builder.note("sessions without a transaction left out", self.empty_sessions);
        self.builder.finish()
    }
}

/// The natural number of at most 64 bits at `at`, which moves behind it.
#[inline]
pub(super) fn take_natural(bytes: &[u8], at: &mut usize, values: &mut Values) -> Option<Value> {
    let first = *at;
    let mut end = first;
    let mut number: u64 = 0;
    while let Some(digit) = bytes.get(end).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        // Eighteen digits cannot overflow.
        number = if end - first < 18 {
            number * 10 + u64::from(digit)
        } else {
            number.checked_mul(10)?.checked_add(u64::from(digit))?
        };
        end += 1;
    }
    if end == first {
        return None;
    }
    *at = end;
    Some(natural_value(number, values))
}

/// The value of a natural number.
#[inline]
pub(super) fn natural_value(number: u64, values: &mut Values) -> Value {
    match i64::try_from(number) {
        Ok(number) => values.integer(number),
        Err(_) => values.decimal(&number.to_string()),
    }
}
