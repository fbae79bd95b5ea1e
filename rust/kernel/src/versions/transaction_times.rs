//! When transactions began and ended, for the client: real-time order.

use crate::history::{History, Interval, Status};
use rayon::prelude::*;

/// The client's view of time.
#[derive(Debug, Default)]
pub struct TransactionTimes {
    /// When each transaction was invoked and, if it certainly ended, completed.
    intervals: Vec<(Option<i64>, Option<i64>)>,
    /// The place of each transaction in its session.
    pub place_in_session: Vec<u32>,
    /// Whether every transaction that counts and touched data has a begin, and an end if it is known to have
    /// committed.
    pub is_complete: bool,
    /// Whether there is any time at all.
    pub is_known: bool,
}

impl TransactionTimes {
    /// By places of events if the history has them, else by the client's clock.
    #[must_use]
    pub fn new(history: &History, counted: &[bool]) -> Self {
        let positions = &history.transactions.positions;
        let count = history.transaction_count();
        let by_position = (0..count).any(|t| positions.get(t).invoke().is_some());
        let statuses = &history.transactions.statuses;
        let intervals: Vec<(Option<i64>, Option<i64>)> = (0..count)
            .map(|t| {
                let interval = if by_position { positions.get(t) } else { by_clock(history, t) };
                // The end of a transaction is unknown if the client never learned it.
                let complete = interval.complete().filter(|_| statuses[t] == Status::Committed);
                (interval.invoke(), complete)
            })
            .collect();
        let is_timed = |t: usize| {
            let is_committed = statuses[t] == Status::Committed;
            intervals[t].0.is_some() && (intervals[t].1.is_some() || !is_committed)
        };
        let is_complete = (0..count).filter(|&t| counted[t] && history.touches_data(t)).all(is_timed);
        let is_known = intervals.iter().any(|(invoke, complete)| invoke.is_some() && complete.is_some());
        let mut place_in_session = vec![0; count];
        for session in 0..history.session_ids.len() {
            for (place, &transaction) in history.transactions_of(session).iter().enumerate() {
                place_in_session[transaction as usize] = place as u32;
            }
        }
        Self { intervals, place_in_session, is_complete, is_known }
    }

    /// When a transaction was invoked.
    #[must_use]
    pub fn invoke(&self, transaction: u32) -> Option<i64> {
        self.intervals[transaction as usize].0
    }

    /// When a transaction was known to be complete.
    #[must_use]
    pub fn complete(&self, transaction: u32) -> Option<i64> {
        self.intervals[transaction as usize].1
    }

    /// Whether the first had completed before the second was invoked.
    #[must_use]
    pub fn precedes(&self, first: u32, second: u32) -> bool {
        matches!((self.complete(first), self.invoke(second)), (Some(end), Some(start)) if end < start)
    }

    /// All invocations and completions in the order of time, an invocation before a completion of the
    /// same instant: (is completion, place among `transactions`).
    fn events(&self, transactions: &[u32]) -> Vec<(i64, bool, u32)> {
        let mut events = Vec::with_capacity(2 * transactions.len());
        for (&transaction, place) in transactions.iter().zip(0..) {
            events.extend(self.invoke(transaction).map(|at| (at, false, place)));
            events.extend(self.complete(transaction).map(|at| (at, true, place)));
        }
        events.par_sort_unstable();
        events
    }

    /// Pairs of places in real-time order from which all others follow.
    #[must_use]
    pub fn frontier(&self, transactions: &[u32]) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        // Those that completed, and that no completed transaction follows.
        let mut last: Vec<u32> = Vec::new();
        for (_, is_completion, place) in self.events(transactions) {
            if is_completion {
                let this = transactions[place as usize];
                last.retain(|&other| !self.precedes(transactions[other as usize], this));
                last.push(place);
            } else {
                pairs.extend(last.iter().map(|&before| (before, place)));
            }
        }
        pairs
    }

    /// Real-time order as edges (node, predecessor) that are linear in the history: nodes from `first` on
    /// stand for instants, each after the one before it. Returns how many there are.
    pub fn chain(&self, transactions: &[u32], first: u32, edges: &mut Vec<(u32, u32)>) -> u32 {
        let mut pending: Vec<u32> = Vec::new();
        let mut instants = 0;
        for (_, is_completion, place) in self.events(transactions) {
            if is_completion {
                pending.push(place);
                continue;
            }
            if !pending.is_empty() {
                let instant = first + instants;
                edges.extend(pending.drain(..).map(|before| (instant, before)));
                edges.extend((instants > 0).then(|| (instant, instant - 1)));
                instants += 1;
            }
            edges.extend((instants > 0).then(|| (place, first + instants - 1)));
        }
        instants
    }
}

/// From the first invocation to the last completion, by the client's clock.
pub(crate) fn by_clock(history: &History, transaction: usize) -> Interval {
    let whole = history.transactions.intervals.get(transaction);
    if whole.invoke().is_some() || history.operations.intervals.is_empty() {
        return whole;
    }
    let operations = || history.operations_of(transaction).map(|o| history.operations.intervals.get(o));
    let complete = operations().map(Interval::complete).collect::<Option<Vec<i64>>>();
    let invoke = operations().filter_map(Interval::invoke).min();
    Interval::new(invoke, complete.and_then(|ends| ends.into_iter().max()))
}

#[cfg(test)]
mod tests {
    use super::super::random::{Random, leads, turned};
    use super::*;

    /// Some without an end, some without anything.
    fn times(random: &mut Random, count: u32) -> TransactionTimes {
        let intervals = (0..count).map(|_| {
            let invoke = i64::from(random.below(12));
            let complete = invoke + i64::from(random.below(5));
            match random.below(8) {
                0 => (None, None),
                1 => (Some(invoke), None),
                _ => (Some(invoke), Some(complete)),
            }
        });
        TransactionTimes { intervals: intervals.collect(), ..TransactionTimes::default() }
    }

    /// Random times, and all pairs of places in real-time order.
    fn all_pairs(seed: u64) -> (TransactionTimes, Vec<u32>, Vec<(u32, u32)>) {
        let mut random = Random(seed);
        let count = 1 + random.below(12);
        let times = times(&mut random, count);
        let transactions: Vec<u32> = (0..count).filter(|_| random.below(5) > 0).collect();
        let places = 0..transactions.len() as u32;
        let pairs = places.clone().flat_map(|first| places.clone().map(move |second| (first, second)));
        let in_order = |&(first, second): &(u32, u32)| {
            times.precedes(transactions[first as usize], transactions[second as usize])
        };
        let pairs = pairs.filter(in_order).collect();
        (times, transactions, pairs)
    }

    /// All pairs of places below `places` of which edges (before, after) lead from one to the other.
    fn closed(edges: &[(u32, u32)], places: u32) -> Vec<(u32, u32)> {
        let pairs = (0..places).flat_map(|first| (0..places).map(move |second| (first, second)));
        pairs.filter(|&(first, second)| leads(edges, first, second)).collect()
    }

    #[test]
    fn a_chain_of_instants_says_what_all_pairs_say() {
        let mut seen = 0;
        for seed in 0..500 {
            let (times, transactions, expected) = all_pairs(seed);
            let places = transactions.len() as u32;
            let mut edges = Vec::new();
            let instants = times.chain(&transactions, places, &mut edges);
            assert!(edges.iter().all(|&(node, before)| node.max(before) < places + instants));
            assert!(edges.len() <= 4 * transactions.len());
            assert_eq!(closed(&turned(&edges), places), expected, "seed {seed}");
            seen += expected.len();
        }
        assert!(seen > 1000);
    }

    #[test]
    fn from_the_frontier_all_pairs_follow_and_no_pair_of_it_follows_from_others() {
        for seed in 0..500 {
            let (times, transactions, expected) = all_pairs(seed);
            let places = transactions.len() as u32;
            let frontier = times.frontier(&transactions);
            assert_eq!(closed(&frontier, places), expected, "seed {seed}");
            for &pair in &frontier {
                let others: Vec<(u32, u32)> = frontier.iter().copied().filter(|&o| o != pair).collect();
                assert!(!leads(&others, pair.0, pair.1), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_chain_of_a_million_is_linear() {
        let count = 1_000_000;
        let intervals = (0..count).map(|at| (Some(2 * at), Some(2 * at + 1))).collect();
        let times = TransactionTimes { intervals, ..TransactionTimes::default() };
        let transactions: Vec<u32> = (0..count as u32).collect();
        let mut edges = Vec::new();
        assert_eq!(times.chain(&transactions, count as u32, &mut edges), count as u32 - 1);
        assert!(edges.len() < 3 * transactions.len());
    }
}
