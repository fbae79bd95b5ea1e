//! Writes of transactions of which the client never learned the end, and that do not count as committed.
//!
//! Each may have taken effect at its commit. A read that is right only then is no contradiction.

use super::ClockLevel;
use super::memory::has_timestamps;
use crate::history::{History, Kind, Status, Timestamp};
use crate::value::Value;
use hashbrown::HashMap;

/// What such transactions wrote, by key and last value.
#[derive(Debug, Default)]
pub struct DoubtfulWrites {
    by_last: HashMap<(u32, Value), Vec<DoubtfulWrite>>,
}

/// What one of them wrote to a key.
#[derive(Debug, Default)]
struct DoubtfulWrite {
    /// None: the time is not known.
    commit: Option<Timestamp>,
    values: Vec<Value>,
}

impl DoubtfulWrites {
    /// Of a history of which `counted` count as committed.
    pub fn of(history: &History, counted: &[bool], level: ClockLevel) -> Self {
        let mut found = Self::default();
        let statuses = history.transactions.statuses.iter().enumerate();
        for (transaction, _) in
            statuses.filter(|&(number, &status)| status == Status::Indeterminate && !counted[number])
        {
            let is_timed = has_timestamps(history, transaction, level);
            let commit = is_timed.then(|| history.transactions.commits.get(transaction));
            for (key, values) in written(history, transaction) {
                let last = values[values.len() - 1];
                found.by_last.entry((key, last)).or_default().push(DoubtfulWrite { commit, values });
            }
        }
        found
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_last.is_empty()
    }

    /// Whether one of them may explain a read of `found`: a value, or elements of a list, where `demanded` are due.
    ///
    /// `replaces` is when the version that is due was installed, and `reads_at` the last instant that is seen.
    pub fn explain(
        &self,
        (key, is_register): (u32, bool),
        found: &[Value],
        demanded: &[Value],
        (replaces, reads_at): (Option<Timestamp>, Timestamp),
    ) -> bool {
        let is_in_time = |write: &DoubtfulWrite| {
            write
                .commit
                .is_none_or(|commit| commit <= reads_at && replaces.is_none_or(|replaced| replaced <= commit))
        };
        let is_shown =
            |write: &DoubtfulWrite| is_register || write.values.iter().all(|value| found.contains(value));
        let mut candidates = found.iter().filter_map(|&value| self.by_last.get(&(key, value))).flatten();
        is_within(demanded, found) && candidates.any(|write| is_in_time(write) && is_shown(write))
    }
}

/// The values that a transaction wrote, key by key.
fn written(history: &History, transaction: usize) -> HashMap<u32, Vec<Value>> {
    let columns = &history.operations;
    let mut found: HashMap<u32, Vec<Value>> = HashMap::new();
    for number in history.operations_of(transaction).filter(|&number| columns.kinds[number].installs()) {
        let is_delete = columns.kinds[number] == Kind::Delete;
        let value = if is_delete { Value::NIL } else { columns.values[number] };
        found.entry(columns.keys[number]).or_default().push(value);
    }
    found
}

/// Whether all of `some` stand in `all`, in this order.
fn is_within(some: &[Value], all: &[Value]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|value| rest.any(|other| other == value))
}
