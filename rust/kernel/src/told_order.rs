//! Orders of the transactions that the input tells: its own, that of commit timestamps, that of numbers.
//!
//! They are hints, and prove nothing by themselves. A file with one session after the other may still have the numbers
//! that the transactions had when they ran.

use crate::history::History;
use crate::observations::ABSENT;
use rayon::prelude::*;

/// The transactions that count, in the order of the input.
#[must_use]
pub fn in_input_order(counted: &[bool]) -> Vec<u32> {
    let all = 0..counted.len() as u32;
    all.filter(|&transaction| counted[transaction as usize]).collect()
}

/// Other orders of the transactions that count in which sessions go forward: that of their commit timestamps, and that
/// of their numbers.
#[must_use = "an iterator does nothing by itself"]
pub fn told_orders(history: &History, counted: &[bool]) -> impl Iterator<Item = Vec<u32>> {
    let columns = &history.transactions;
    let by_commit = move || {
        let commit = |transaction: u32| columns.commits.get(transaction as usize).parts();
        let mut marked = marked(history, counted, commit)?;
        // Sessions one after the other are ascending runs, which this sort merges.
        marked.par_sort();
        Some(marked.into_iter().map(|(_, transaction)| transaction).collect())
    };
    let by_number = move || {
        let number = |transaction: u32| columns.ids[transaction as usize].as_small();
        marked(history, counted, number).and_then(in_order_of_numbers)
    };
    std::iter::once_with(by_commit).chain(std::iter::once_with(by_number)).flatten()
}

/// The transactions that count with such marks, if all have one, sessions go forward, and they do not go forward in the
/// order of the input.
fn marked<M: Ord + Copy>(
    history: &History,
    counted: &[bool],
    mark: impl Fn(u32) -> Option<M>,
) -> Option<Vec<(M, u32)>> {
    let order = in_input_order(counted);
    mark(*order.first()?)?;
    let marked: Vec<(M, u32)> = order.iter().map(|&each| Some((mark(each)?, each))).collect::<Option<_>>()?;
    let counts = |transaction: &&u32| counted[**transaction as usize];
    let goes_forward = |session: usize| {
        let marks = history.transactions_of(session).iter().filter(counts).map(|&each| mark(each));
        marks.is_sorted_by(|before, after| before < after)
    };
    let is_told = !marked.is_sorted() && (0..history.session_ids.len()).all(goes_forward);
    is_told.then_some(marked)
}

/// The transactions in the order of their numbers, which mostly follow each other; none if two share a number.
fn in_order_of_numbers(mut marked: Vec<(i64, u32)>) -> Option<Vec<u32>> {
    let count = marked.len();
    let numbers = || marked.iter().map(|&(number, _)| number);
    let least = numbers().min().unwrap_or_default();
    let span = numbers().max().unwrap_or_default().abs_diff(least);
    if span as usize / 4 > count {
        marked.par_sort();
        return Some(marked.into_iter().map(|(_, transaction)| transaction).collect());
    }
    let mut places = vec![ABSENT; span as usize + 1];
    for (number, transaction) in marked {
        places[number.abs_diff(least) as usize] = transaction;
    }
    places.retain(|&transaction| transaction != ABSENT);
    (places.len() == count).then_some(places)
}
