//! Range reads: rows that they should have shown.

use super::consistent_read::{CertainRead, at};
use super::finding::ReadCase;
use super::key::{Key, Reference};
use super::profile::Read;
use super::read_view::{ReadView, TransactionOrders};
use super::torn_reads::SnapshotWindow;
use super::transaction::{Bounds, Operation, Transaction};
use super::verifier::Verifier;
use crate::value::Value;

impl Verifier {
    /// Rows that a range read should have shown.
    pub(super) fn judge_range(
        &mut self,
        transaction: &Transaction,
        slot: u32,
        place: usize,
        orders: &TransactionOrders,
        mut window: Option<&mut SnapshotWindow>,
    ) {
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
        // A transaction that came too late may have deleted a row.
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
        let missing_row = Operation { is_absent: true, ..*operation };
        let view = transaction.view_of(&missing_row, orders);
        // Nothing is known of a key without a write so far.
        let is_known = |key: &Key| {
            key.own.0 == transaction.number || key.is_first_shown || key.is_written(view.snapshot)
        };
        let missing = missing.into_iter().filter(|&key| is_known(&self.keys[key as usize]));
        let missing: Vec<u32> = missing.collect();
        for number in missing {
            let found = self.judge_missing(transaction, number, read, operation, &view);
            let found = found.filter(|_| operation.read == Read::Consistent);
            if let (Some(found), Some(window)) = (found, window.as_deref_mut()) {
                self.narrow(found, window);
            }
        }
    }

    /// Judges a row that is not shown; the version without a value that it shows, if that can only be one.
    fn judge_missing(
        &mut self,
        transaction: &Transaction,
        number: u32,
        read: Reference,
        range: &Operation,
        view: &ReadView<'_>,
    ) -> Option<CertainRead> {
        let rules = self.rules;
        let own = self.keys[number as usize].own;
        if self.is_after_idle_delete(transaction, own) {
            self.tally.reads.count(true);
            return None;
        }
        let key = &self.keys[number as usize];
        if key.own.0 == transaction.number {
            let own = &transaction.operations[key.own.1 as usize];
            if !own.is_absent {
                let write = at(read, own.place);
                self.add_read_finding(ReadCase::Own, number, vec![read, write]);
            }
            return None;
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        // It is not known which rows there were at first, unless a read showed the row.
        let is_fresh = key.candidates(view, rules, &mut candidates) && !key.is_first_shown;
        let mut absent = candidates.iter().filter(|&&place| key.versions[place].is_absent);
        let first = absent.next().map(|&place| (key.versions[place].write, key.versions[place].commit));
        let absent = usize::from(first.is_some()) + absent.count();
        let is_between = range.looks_again() && key.is_reinserted_during(range.span);
        let is_shown = is_fresh || absent > 0 || is_between;
        let undecided = is_shown && candidates.len() > absent;
        let newer = key.hiding(view).or_else(|| candidates.first().map(|&place| key.versions[place].write));
        self.candidates = candidates;
        self.tally.reads.count(undecided);
        if !is_shown {
            let operations = std::iter::once(read).chain(newer).collect();
            self.add_read_finding(ReadCase::MissingRow, number, operations);
        }
        let is_one = absent + usize::from(is_fresh) == 1 && !is_between;
        is_one.then_some(CertainRead {
            key: number,
            read,
            write: first,
            snapshot: view.snapshot,
            is_consistent: true,
        })
    }
}

/// Bounds that are integers or open; other keys are in no order here.
fn integers(bounds: Bounds) -> Option<(i64, i64)> {
    let end = |bound: Value, open: i64| if bound == Value::NIL { Some(open) } else { bound.as_small() };
    Some((end(bounds.low, i64::MIN)?, end(bounds.high, i64::MAX)?))
}
