//! Range reads: rows that they should have shown.

use super::found::ReadCase;
use super::key::{Key, Reference};
use super::profile::Read;
use super::reading::at;
use super::span::Span;
use super::transaction::{Bounds, Transaction};
use super::verifier::Verifier;
use crate::value::Value;

impl Verifier {
    /// Rows that a range read should have shown.
    pub(super) fn judge_range(&mut self, transaction: &Transaction, slot: u32, place: usize) {
        let operation = &transaction.operations[place];
        let Some(bounds) = operation.value.as_small().map(|at| transaction.bounds[at as usize]) else {
            return;
        };
        let returned: Vec<u32> = transaction.operations[place + 1..]
            .iter()
            .take_while(|one| one.place == operation.place)
            .map(|one| one.key)
            .collect();
        let Some((low, high)) = integers(bounds) else { return };
        // What came too late may have deleted a row.
        if operation.read == Read::Uncommitted || operation.is_partial || low > high || self.has_late {
            return;
        }
        let missing: Vec<u32> = self
            .ordered
            .range(low..=high)
            .map(|(_, &key)| key)
            .filter(|&key| self.keys[key as usize].table == operation.table && !returned.contains(&key))
            .collect();
        let read = Reference { slot, number: transaction.number, place: operation.place };
        let snapshot = transaction.snapshot_of(operation);
        // Of a key that nobody wrote so far nothing is known.
        let is_known = |key: &Key| key.own.0 == transaction.number || key.is_written(snapshot);
        let missing = missing.into_iter().filter(|&key| is_known(&self.keys[key as usize]));
        let missing: Vec<u32> = missing.collect();
        for number in missing {
            self.judge_missing(transaction, number, read, snapshot);
        }
    }

    fn judge_missing(&mut self, transaction: &Transaction, number: u32, read: Reference, snapshot: Span) {
        let rules = self.rules;
        let key = &self.keys[number as usize];
        if key.own.0 == transaction.number {
            let own = &transaction.operations[key.own.1 as usize];
            if !own.is_absent {
                let write = at(read, own.place);
                self.found_read(ReadCase::Own, number, vec![read, write], None);
            }
            return;
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        let is_fresh = key.candidates(snapshot, rules, &mut candidates);
        let absent = candidates.iter().filter(|&&place| key.versions[place].is_absent).count();
        let is_shown = is_fresh || absent > 0;
        let undecided = is_shown && candidates.len() > absent;
        let newer =
            key.hiding(snapshot).or_else(|| candidates.first().map(|&place| key.versions[place].write));
        self.candidates = candidates;
        self.tally.reads.count(undecided);
        if !is_shown {
            let operations = std::iter::once(read).chain(newer).collect();
            self.found_read(ReadCase::MissingRow, number, operations, None);
        }
    }
}

/// Bounds that are integers or open; other keys are in no order here.
fn integers(bounds: Bounds) -> Option<(i64, i64)> {
    let end = |bound: Value, open: i64| if bound == Value::NIL { Some(open) } else { bound.as_small() };
    Some((end(bounds.low, i64::MIN)?, end(bounds.high, i64::MAX)?))
}
