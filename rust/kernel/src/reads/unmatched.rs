//! Keys that a range read left out because their state does not match its predicate.

use super::initial_state::InitialState;
use super::{Judge, NOTHING, ReadAnomaly};
use crate::by_key::Operation;
use crate::observations::INITIAL;
use crate::value::Value;

impl Judge<'_> {
    /// After an own write that matches, the key must not be left out.
    pub(super) fn unmatched_own_read(&mut self, read: &Operation, own: &Operation) {
        if self.predicates.matches(self.history, read.number, own.value) {
            self.find(ReadAnomaly::NotMyOwnWrite, read.number, own.number, Value::NIL);
        }
    }

    /// What others left of the key, or its initial state, does not match.
    pub(super) fn unmatched_read(&mut self, read: &Operation, initial: &InitialState) {
        let matches = |value: Value| self.predicates.matches(self.history, read.number, value);
        let initial = initial.may_be_unmatched(matches).then_some(INITIAL);
        let label = self.history.operations.predicates.get(read.number as usize).0;
        let (history, predicates, writes) = (self.history, self.predicates, &self.writes);
        let others =
            self.unmatched.entry(label).or_insert_with(|| predicates.unmatched(history, read, writes));
        let others =
            others.iter().map(|write| write.transaction).filter(|&writer| writer != read.transaction);
        let mut writers = initial.into_iter().chain(others);
        match (writers.next(), writers.next()) {
            (None, _) => {
                let last = self.writes.last_of_others(read.transaction).unwrap_or(NOTHING);
                self.find(ReadAnomaly::PredicateReadMiss, read.number, last, Value::NIL);
            }
            (Some(only), None) => self.set_source(read.number, only),
            (Some(_), Some(_)) => self.repeated += 1,
        }
    }
}
