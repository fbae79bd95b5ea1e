//! Range reads as reads of single keys: of the rows that they show, and of the keys between their bounds that they do
//! not show.
//!
//! `docs/explanation/semantics.md` is the specification: "Range reads" and "Predicates". Cost: the reads that come of it,
//! and a sort of the keys.

use super::copied_columns::{self, Item};
use super::key_ranges::{Bounds, KeyRanges};
use crate::history::{History, Kind, Label, LeftOut, NO_KEY, Range, Status};
use crate::predicates::Predicate;
use crate::value::Value;
use hashbrown::HashMap;

/// Of more reads, range reads are not judged.
pub const MOST_READS: u64 = 50_000_000;

/// A history whose range reads are reads.
pub struct Itemised {
    /// The same transactions; a range read that is not judged, or not wholly, still stands behind its reads.
    pub history: History,
    /// The recorded operation of each operation.
    pub origins: Vec<u32>,
}

/// Range reads of so many keys in all are not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyReads(pub u64);

/// The same history with reads in the place of range reads.
///
/// # Errors
///
/// There would be more than `most` reads.
pub fn itemised(history: &History, most: u64) -> Result<Itemised, TooManyReads> {
    let (keys, predicates, lists) = (KeyRanges::of(history), predicates(history), lists(history));
    let ranges = RangeReads { history, keys, predicates, lists };
    let reads = (0..history.operation_count()).map(|operation| ranges.size(operation)).sum();
    if reads > most {
        return Err(TooManyReads(reads));
    }
    let (history, origins) =
        copied_columns::itemised(history, |owner, operation, items| ranges.items(owner, operation, items));
    Ok(Itemised { history, origins })
}

/// The predicates of range reads, each once; nothing if its form is unknown.
fn predicates(history: &History) -> HashMap<Value, Option<Predicate>> {
    let columns = &history.operations;
    let mut found = HashMap::new();
    for operation in (0..columns.kinds.len()).filter(|&one| columns.kinds[one] == Kind::RangeRead) {
        let label = columns.predicates.get(operation).0;
        if label != Label::default().0 {
            found.entry(label).or_insert_with(|| Predicate::asked(history, operation));
        }
    }
    found
}

/// Which keys hold lists.
fn lists(history: &History) -> Vec<bool> {
    let columns = &history.operations;
    let mut found = vec![false; history.keys.len()];
    for operation in (0..columns.kinds.len()).filter(|&operation| columns.keys[operation] != NO_KEY) {
        let is_list = columns.values[operation].list_index().is_some();
        found[columns.keys[operation] as usize] |= columns.kinds[operation] == Kind::Append || is_list;
    }
    let rows = history.ranges.row_keys.iter().zip(&history.ranges.row_values);
    rows.for_each(|(&key, value)| found[key as usize] |= value.list_index().is_some());
    found
}

struct RangeReads<'h> {
    history: &'h History,
    keys: KeyRanges<'h>,
    predicates: HashMap<Value, Option<Predicate>>,
    lists: Vec<bool>,
}

impl RangeReads<'_> {
    /// How many reads an operation becomes, at most.
    fn size(&self, operation: usize) -> u64 {
        if self.history.operations.kinds[operation] != Kind::RangeRead {
            return 0;
        }
        let Range { live, dead, .. } = self.history.range_of(operation);
        u64::from(live) + u64::from(dead) + self.between(operation).map_or(0, |keys| keys.len() as u64)
    }

    /// The keys between the bounds, in order; nothing if the bounds are not judged.
    fn between(&self, operation: usize) -> Option<&[u32]> {
        let Range { low, high, .. } = self.history.range_of(operation);
        let bounds = Bounds::of(&self.history.values, low, high)?;
        Some(self.keys.between(self.history.operations.tables.get(operation).0, bounds))
    }

    /// The reads that an operation becomes, in the order of the keys; whether the operation itself stays.
    fn items(&self, owner: usize, operation: usize, items: &mut Vec<Item>) -> bool {
        if self.history.operations.kinds[operation] != Kind::RangeRead {
            return true;
        }
        let Some(between) = self.between(operation) else { return true };
        self.rows(operation, items);
        // Reads of transactions that aborted are not judged: which keys they left out says nothing.
        let is_aborted = self.history.transactions.statuses[owner] == Status::Aborted;
        let label = self.history.operations.predicates.get(operation).0;
        let predicate = self.predicates.get(&label);
        let is_known = !matches!(predicate, Some(None));
        if is_known && !is_aborted {
            let mut shown: Vec<u32> = items.iter().map(|item| item.key).collect();
            shown.sort_unstable();
            let others = between.iter().copied().filter(|key| shown.binary_search(key).is_err());
            let predicate = predicate.and_then(Option::as_ref);
            items.extend(others.filter_map(|key| self.left_out(key, predicate)));
        }
        items.sort_by_key(|item| self.keys.place(item.key));
        !is_known && !is_aborted
    }

    /// A key that was left out: it did not exist, or its state did not match.
    fn left_out(&self, key: u32, predicate: Option<&Predicate>) -> Option<Item> {
        match predicate {
            Some(_) if !self.lists[key as usize] => {
                Some(Item { key, value: Value::UNKNOWN, left_out: LeftOut::Unmatched })
            }
            // Every list exists that has an element, and no list equals a value.
            None | Some(Predicate::Any) => Some(Item { key, value: Value::NIL, left_out: LeftOut::Known }),
            Some(_) => None,
        }
    }

    /// What a range read shows: rows, and tombstones, which hold nothing.
    fn rows(&self, operation: usize, items: &mut Vec<Item>) {
        let Range { first_row, live, dead, .. } = self.history.range_of(operation);
        let ranges = &self.history.ranges;
        for row in first_row..first_row + live + dead {
            let key = ranges.row_keys[row as usize];
            let is_live = row < first_row + live;
            let value = if is_live { ranges.row_values[row as usize] } else { Value::NIL };
            items.push(Item { key, value, left_out: LeftOut::No });
        }
    }
}
