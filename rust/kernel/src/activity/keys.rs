//! The keys that most transactions use.

use crate::history::{History, Kind, NO_KEY};

/// How many transactions use a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// The key.
    pub key: u32,
    /// Transactions that read or wrote it.
    pub transactions: u32,
    /// Transactions that read it, be it in a range.
    pub readers: u32,
    /// Transactions that wrote it.
    pub writers: u32,
}

/// The `max_keys` keys that most transactions use, and how many keys 2^n transactions use or more, by n.
pub fn busiest(history: &History, max_keys: usize) -> (Vec<Use>, Vec<u64>) {
    let mut used = uses(history);
    used.retain(|one| one.transactions > 0);
    let mut by_size =
        vec![0; used.iter().map(|one| one.transactions.ilog2() as usize + 1).max().unwrap_or(0)];
    for one in &used {
        by_size[one.transactions.ilog2() as usize] += 1;
    }
    // Of keys with equally many transactions, one with more writers is contended more; then by appearance.
    let place = |one: &Use| (u32::MAX - one.transactions, u32::MAX - one.writers, one.key);
    let max_keys = max_keys.min(used.len());
    if max_keys > 0 && max_keys < used.len() {
        used.select_nth_unstable_by_key(max_keys - 1, place);
    }
    used.truncate(max_keys);
    used.sort_unstable_by_key(place);
    (used, by_size)
}

fn uses(history: &History) -> Vec<Use> {
    let new = |key| Counter {
        counted: Use { key, transactions: 0, readers: 0, writers: 0 },
        last: [NO_TRANSACTION; 3],
    };
    let mut counters: Vec<Counter> = (0..history.keys.len() as u32).map(new).collect();
    for transaction in 0..history.transaction_count() {
        for operation in history.operations_of(transaction) {
            let kind = history.operations.kinds[operation];
            if kind == Kind::RangeRead {
                for (key, _) in history.rows_of(operation) {
                    counters[key as usize].read(transaction as u32);
                }
                continue;
            }
            match history.operations.keys[operation] {
                NO_KEY => {}
                key if kind.installs() => counters[key as usize].written(transaction as u32),
                key => counters[key as usize].read(transaction as u32),
            }
        }
    }
    counters.into_iter().map(|counter| counter.counted).collect()
}

const NO_TRANSACTION: u32 = u32::MAX;

/// The uses of a key so far, and the last transaction that used, read and wrote it: each counts once.
struct Counter {
    counted: Use,
    last: [u32; 3],
}

impl Counter {
    fn read(&mut self, transaction: u32) {
        self.used(transaction);
        self.counted.readers += u32::from(self.last[1] != transaction);
        self.last[1] = transaction;
    }

    fn written(&mut self, transaction: u32) {
        self.used(transaction);
        self.counted.writers += u32::from(self.last[2] != transaction);
        self.last[2] = transaction;
    }

    fn used(&mut self, transaction: u32) {
        self.counted.transactions += u32::from(self.last[0] != transaction);
        self.last[0] = transaction;
    }
}
