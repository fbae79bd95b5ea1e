//! Which operations stay when others go.

use crate::history::{History, Kind, NO_KEY};
use crate::reads::{Judgement, NOTHING, ReadAnomaly};
use crate::value::Value;
use hashbrown::HashSet;

/// Which operations of the transactions that `stay` do so, `without` these and what goes with them.
pub fn kept_operations(
    history: &History,
    judgement: &Judgement,
    stay: &[bool],
    without: &[u32],
) -> Vec<bool> {
    let mut kept = vec![false; history.operation_count()];
    for transaction in (0..stay.len()).filter(|&transaction| stay[transaction]) {
        kept[history.operations_of(transaction)].fill(true);
    }
    for &operation in without {
        kept[operation as usize] = false;
    }
    for transaction in (0..stay.len()).filter(|&transaction| stay[transaction]) {
        drop_overwritten(history, transaction, &mut kept);
        drop_own_reads(history, transaction, &mut kept);
    }
    let left = Left::new(history, judgement, &kept);
    for (operation, stays) in kept.iter_mut().enumerate() {
        *stays = *stays && left.supports(operation);
    }
    drop_contradicting(judgement, &mut kept);
    kept
}

/// Calls `see` with every key and value that an operation shows of what was written.
pub fn shown(history: &History, operation: usize, mut see: impl FnMut(u32, Value)) {
    let (key, value) = (history.operations.keys[operation], history.operations.values[operation]);
    match history.operations.kinds[operation] {
        Kind::Read => match history.values.as_list(value) {
            Some(elements) => elements.iter().for_each(|&element| see(key, element)),
            None => see(key, value),
        },
        Kind::RangeRead => {
            let range = history.range_of(operation);
            let first = range.first_row as usize;
            for row in first..first + (range.live + range.dead) as usize {
                see(history.ranges.row_keys[row], history.ranges.row_values[row]);
            }
        }
        _ => {}
    }
}

/// A write goes with a later one of the same key.
fn drop_overwritten(history: &History, transaction: usize, kept: &mut [bool]) {
    let mut gone = Vec::new();
    for operation in history.operations_of(transaction).rev() {
        let key = history.operations.keys[operation];
        if !history.operations.kinds[operation].installs() {
            continue;
        }
        if !kept[operation] {
            gone.push(key);
        }
        kept[operation] = kept[operation] && !gone.contains(&key);
    }
}

/// A read goes with an own write before it.
fn drop_own_reads(history: &History, transaction: usize, kept: &mut [bool]) {
    let mut gone = Vec::new();
    for operation in history.operations_of(transaction) {
        let (kind, key) = (history.operations.kinds[operation], history.operations.keys[operation]);
        if kind.installs() && !kept[operation] {
            gone.push(key);
        }
        if kind == Kind::Read && gone.contains(&key) {
            kept[operation] = false;
        }
    }
}

/// A second initial value, and another order of a list, are wrong because of the read that shows the first.
fn drop_contradicting(judgement: &Judgement, kept: &mut [bool]) {
    let is_relative =
        |name: ReadAnomaly| matches!(name, ReadAnomaly::ThinAirRead | ReadAnomaly::IncompatibleOrder);
    loop {
        let mut changed = false;
        for finding in judgement.findings.iter().filter(|finding| is_relative(finding.name)) {
            let stands = finding.other == NOTHING || kept[finding.other as usize];
            if kept[finding.read as usize] && !stands {
                kept[finding.read as usize] = false;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// What is left of every key, and which values that are shown have lost a writer.
struct Left<'h> {
    history: &'h History,
    lost: HashSet<(u32, Value)>,
    keys: Vec<Key>,
    deleted: HashSet<u32>,
    mixed: HashSet<u32>,
    /// Whether some key has lost a write and still has an operation.
    is_any_partial: bool,
}

/// How many operations on one key stay and go, and how many writes go.
#[derive(Clone, Copy, Default)]
struct Key {
    left: u32,
    lost: u32,
    lost_writes: u32,
}

impl<'h> Left<'h> {
    fn new(history: &'h History, judgement: &Judgement, kept: &[bool]) -> Self {
        let mut left = Self {
            history,
            lost: HashSet::new(),
            keys: vec![Key::default(); history.keys.len()],
            deleted: deleted_keys(history),
            mixed: judgement.mixed_keys.iter().copied().collect(),
            is_any_partial: false,
        };
        left.look(kept);
        left.is_any_partial = left.keys.iter().any(|key| key.lost_writes > 0 && key.left > 0);
        left
    }

    fn look(&mut self, kept: &[bool]) {
        let seen = seen(self.history, kept);
        let columns = &self.history.operations;
        for (operation, &number) in columns.keys.iter().enumerate().filter(|&(_, &key)| key != NO_KEY) {
            let key = &mut self.keys[number as usize];
            if kept[operation] {
                key.left += 1;
                continue;
            }
            key.lost += 1;
            if columns.kinds[operation].installs() {
                key.lost_writes += 1;
                let pair = (number, columns.values[operation]);
                if seen.contains(&pair) {
                    self.lost.insert(pair);
                }
            }
        }
    }

    /// Whether reads of the key go, whatever they show.
    fn is_unclear(&self, number: u32) -> bool {
        let key = self.keys[number as usize];
        key.lost_writes > 0 && self.deleted.contains(&number) || key.lost > 0 && self.mixed.contains(&number)
    }

    /// Whether an operation that is a read can stay; any other can.
    fn supports(&self, operation: usize) -> bool {
        let mut is_whole = true;
        match self.history.operations.kinds[operation] {
            Kind::Read => {
                shown(self.history, operation, |key, value| is_whole &= !self.lost.contains(&(key, value)));
                is_whole && !self.is_unclear(self.history.operations.keys[operation])
            }
            Kind::RangeRead => {
                shown(self.history, operation, |key, _| is_whole &= self.keys[key as usize].lost_writes == 0);
                is_whole && !self.is_any_partial
            }
            _ => true,
        }
    }
}

/// Keys that some transaction deletes: a read of them may show that they did not exist.
pub fn deleted_keys(history: &History) -> HashSet<u32> {
    let columns = &history.operations;
    let deletes = columns.kinds.iter().zip(&columns.keys).filter(|(kind, _)| **kind == Kind::Delete);
    deletes.map(|(_, &key)| key).collect()
}

/// Everything that operations which are kept show.
fn seen(history: &History, kept: &[bool]) -> HashSet<(u32, Value)> {
    let mut seen = HashSet::new();
    for operation in (0..kept.len()).filter(|&operation| kept[operation]) {
        shown(history, operation, |key, value| {
            seen.insert((key, value));
        });
    }
    seen
}
