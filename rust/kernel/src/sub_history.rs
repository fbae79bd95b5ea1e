//! A sub-history: some operations of a history, with no evidence that the whole does not have.
//!
//! An anomaly that breaks a level in a sub-history breaks it in the whole: a sub-history has fewer
//! transactions, and of each kind of evidence what the whole has between those that stay. So operations go
//! together:
//!
//! - a read goes with any of the writes that may have made what it shows (an element of a list, too), so that
//!   it is in thin air, initial or of one writer only where it was before;
//! - a write goes with a later one of the same key and transaction, so that none becomes final;
//! - a read goes with its transaction's own earlier writes of the key, so that it is not of others;
//! - a read that contradicts another one (a second initial value, another order of a list) goes with it;
//! - a read of a key that is deleted at times goes with any write of it, one of a key that is both register
//!   and list with any operation on it, one by a predicate with a write of any key that has something left;
//! - a transaction that counted as committed because others saw it goes when they do not see it any more.
//!
//! A sub-history of a sub-history is one of the whole. Cost: linear in the whole, for each round of the last
//! rule.

mod copied_columns;
mod kept_operations;
mod key_ranges;
mod range_reads;

pub use range_reads::{Itemised, MOST_READS, TooManyReads, itemised};

use crate::by_key::ByKey;
use crate::history::{History, Kind, NO_KEY, Status};
use crate::observations::Observations;
use crate::reads::{Judgement, NOTHING, counted};
use hashbrown::HashSet;

/// What is wrong with single reads of a history, and the transaction that served each.
pub type Judged = (Judgement, Observations);

/// The sub-history of `history` with these transactions, `without` these operations and what goes with them.
#[must_use]
pub fn sub_history(history: &History, judged: &Judged, transactions: &[u32], without: &[u32]) -> History {
    let mut stay = vec![false; history.transaction_count()];
    for &transaction in transactions {
        stay[transaction as usize] = true;
    }
    loop {
        let operations = kept_operations::kept_operations(history, &judged.0, &stay, without);
        let part = copied_columns::copy(history, &stay, &operations);
        let lost = no_longer_counted(&part, &stay, &judged.1.counted);
        if lost.is_empty() {
            return part;
        }
        for transaction in lost {
            stay[transaction] = false;
        }
    }
}

/// Transactions that count as committed in the whole and not in the part, by their numbers in the whole.
fn no_longer_counted(part: &History, stay: &[bool], counted_before: &[bool]) -> Vec<usize> {
    if !part.transactions.statuses.contains(&Status::Indeterminate) {
        return Vec::new();
    }
    let counted = counted(part, &part.transaction_of_operation(), &ByKey::new(part));
    let numbers = (0..stay.len()).filter(|&number| stay[number]);
    numbers
        .zip(counted)
        .filter(|&(number, is)| counted_before[number] && !is)
        .map(|(number, _)| number)
        .collect()
}

/// `transactions`, and those that must stay if all their reads are to stay: the writers of what they show,
/// and the transactions that they contradict. Sorted.
#[must_use]
pub fn with_transactions_read_from(history: &History, judged: &Judged, transactions: &[u32]) -> Vec<u32> {
    let (mut pairs, mut keys) = (HashSet::new(), HashSet::new());
    let mut unclear = kept_operations::deleted_keys(history);
    unclear.extend(&judged.0.mixed_keys);
    for operation in transactions.iter().flat_map(|&transaction| history.operations_of(transaction as usize))
    {
        kept_operations::shown(history, operation, |key, value| {
            pairs.insert((key, value));
            if history.operations.kinds[operation] == Kind::RangeRead {
                keys.insert(key);
            }
        });
        if unclear.contains(&history.operations.keys[operation]) {
            keys.insert(history.operations.keys[operation]);
        }
    }
    let serves = |operation: usize| {
        let (key, value) = (history.operations.keys[operation], history.operations.values[operation]);
        keys.contains(&key) || history.operations.kinds[operation].installs() && pairs.contains(&(key, value))
    };
    let owners = history.transaction_of_operation();
    let asked: HashSet<u32> = transactions.iter().copied().collect();
    let findings = judged.0.findings.iter().filter(|finding| finding.other != NOTHING);
    let others = findings
        .filter(|finding| asked.contains(&owners[finding.read as usize]))
        .map(|finding| owners[finding.other as usize]);
    let writers = (0..history.operation_count()).filter(|&operation| serves(operation));
    sorted(transactions.iter().copied().chain(others).chain(writers.map(|operation| owners[operation])))
}

/// All transactions with an operation on a key that one of `transactions` operates on. Sorted.
#[must_use]
pub fn with_transactions_on_same_keys(history: &History, transactions: &[u32]) -> Vec<u32> {
    let mut is_theirs = vec![false; history.keys.len()];
    let keys = &history.operations.keys;
    for operation in transactions.iter().flat_map(|&transaction| history.operations_of(transaction as usize))
    {
        if keys[operation] != NO_KEY {
            is_theirs[keys[operation] as usize] = true;
        }
    }
    let on_theirs = |&transaction: &u32| {
        let mut operations = history.operations_of(transaction as usize);
        operations.any(|operation| keys[operation] != NO_KEY && is_theirs[keys[operation] as usize])
    };
    let near = (0..history.transaction_count() as u32).filter(on_theirs);
    sorted(transactions.iter().copied().chain(near))
}

fn sorted(transactions: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut found: Vec<u32> = transactions.collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests;
