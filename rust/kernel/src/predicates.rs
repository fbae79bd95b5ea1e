//! Predicates of range reads, and first transactions.
//!
//! A key that a range read leaves out by a predicate was in a state that does not match: unborn, dead or with another
//! value. `docs/explanation/semantics.md` is the specification: "Predicates" and "First transactions".

mod operand;
mod predicate;

pub use predicate::Predicate;

use crate::by_key::{Operation, Write, Writes};
use crate::history::{History, Kind, LeftOut, Status};
use crate::value::{AtomKind, Value};
use hashbrown::HashMap;

/// The statement kind of what the first transaction inserts, in a history that has one.
pub const INIT: &str = "init";

/// Whether it is a first transaction, of nothing but insertions.
#[must_use]
pub fn is_init(history: &History, transaction: usize) -> bool {
    let Some(init) = history.values.find(AtomKind::Text, INIT) else {
        return false;
    };
    let operations = &history.operations;
    let mut places = history.operations_of(transaction);
    !places.is_empty()
        && places.all(|place| {
            operations.kinds[place] == Kind::Insert && operations.statements.get(place).0 == init
        })
}

/// The first transactions that committed.
#[must_use]
pub fn first_transactions(history: &History) -> Vec<u32> {
    if history.operations.statements.is_empty() {
        return Vec::new();
    }
    let is_committed = |&transaction: &usize| history.transactions.statuses[transaction] == Status::Committed;
    let all = (0..history.transaction_count()).filter(is_committed);
    all.filter(|&transaction| is_init(history, transaction)).map(|t| t as u32).collect()
}

/// Keys that a first transaction inserts, so that no read saw them unborn; empty if there are none.
#[must_use]
pub fn born_keys(history: &History) -> Vec<bool> {
    let first = first_transactions(history);
    if first.is_empty() {
        return Vec::new();
    }
    let mut born = vec![false; history.keys.len()];
    for operation in first.into_iter().flat_map(|transaction| history.operations_of(transaction as usize)) {
        born[history.operations.keys[operation] as usize] = true;
    }
    born
}

/// The predicates of reads that say what a range read left out.
#[derive(Debug, Default)]
pub struct Predicates(HashMap<Value, Predicate>);

impl Predicates {
    /// Parses each predicate once.
    #[must_use]
    pub fn of(history: &History) -> Self {
        let mut found = HashMap::new();
        let columns = &history.operations;
        if columns.left_out.is_empty() {
            return Self(found);
        }
        for operation in 0..history.operation_count() {
            let label = columns.predicates.get(operation).0;
            if columns.left_out.get(operation) == LeftOut::Unmatched && !found.contains_key(&label) {
                found.extend(Predicate::asked(history, operation).map(|predicate| (label, predicate)));
            }
        }
        Self(found)
    }

    /// Whether a key that holds `value` matches the predicate of a read.
    #[must_use]
    pub fn matches(&self, history: &History, read: u32, value: Value) -> bool {
        let label = history.operations.predicates.get(read as usize).0;
        self.0.get(&label).is_some_and(|predicate| predicate.matches(&history.values, value))
    }

    /// The last writes of a key by transactions that did not abort that leave it in a state which does not match.
    #[must_use]
    pub fn unmatched(&self, history: &History, read: &Operation, writes: &Writes) -> Vec<Write> {
        let is_possible = |write: &&Write| {
            let status = history.transactions.statuses[write.transaction as usize];
            write.is_final && status != Status::Aborted && !self.matches(history, read.number, write.value)
        };
        let mut found: Vec<Write> = writes.all().iter().filter(is_possible).copied().collect();
        found.sort_unstable_by_key(|write| write.operation);
        found
    }
}
