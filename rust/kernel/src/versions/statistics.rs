//! What a dependency graph looks like: Qiu's (2023) dataset characteristics.
//!
//! Edges are counted as there: between transactions that the client knows to be committed, each kind once
//! for two transactions. A read shows its last element or value, be it the transaction's own, and versions
//! that nobody read come right after the last one that somebody did.

use super::dependencies::{Pairs, components};
use super::orders::Orders;
use crate::graph::{Components, Edges};
use crate::history::{History, Kind, Status};
use crate::observations::{INITIAL, NOBODY};

/// Sizes of a dependency graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Committed transactions.
    pub vertices: u64,
    /// Write-read, write-write and read-write edges.
    pub edges: [u64; 3],
    /// Components with several transactions.
    pub components: u64,
    /// Transactions in the largest of those.
    pub largest: u64,
    /// The lengths of all cycles that meet no transaction twice, added up: a search from every transaction
    /// finds each as often.
    pub traversals: u64,
    /// Whether there are more traversals than were counted.
    pub is_partial: bool,
}

/// Counts; `budget` is how many edges the search for cycles may follow.
#[must_use]
pub fn statistics(history: &History, orders: &Orders, budget: u64) -> Statistics {
    let committed = |transaction: u32| {
        transaction != INITIAL && history.transactions.statuses[transaction as usize] == Status::Committed
    };
    let kinds = Counting::new(history, orders).edges().map(|pairs| {
        let mut kept: Pairs =
            pairs.into_iter().filter(|&(a, b)| a != b && committed(a) && committed(b)).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    });
    let lists: Vec<&[(u32, u32)]> = kinds.iter().map(Vec::as_slice).collect();
    let graph = Edges::collected(history.transaction_count(), &lists);
    let found = components(&graph, history.transaction_count());
    let (traversals, is_partial) = traversals(&graph, &found, budget);
    Statistics {
        vertices: (0..history.transaction_count() as u32).filter(|&t| committed(t)).count() as u64,
        edges: kinds.map(|pairs| pairs.len() as u64),
        components: found.cycles().count() as u64,
        largest: found.cycles().map(<[u32]>::len).max().unwrap_or(0) as u64,
        traversals,
        is_partial,
    }
}

struct Counting<'c> {
    history: &'c History,
    orders: &'c Orders,
    /// The version that an operation installed.
    installed: Vec<u32>,
}

impl<'c> Counting<'c> {
    fn new(history: &'c History, orders: &'c Orders) -> Self {
        let mut installed = vec![NOBODY; history.operation_count()];
        for (&operation, version) in orders.operations.iter().zip(0..) {
            if operation != NOBODY {
                installed[operation as usize] = version;
            }
        }
        Self { history, orders, installed }
    }

    /// Pairs (after, before) by write-read, write-write and read-write.
    fn edges(&self) -> [Pairs; 3] {
        let (mut wr, mut ww, mut rw) = (Pairs::new(), Pairs::new(), Pairs::new());
        let writer = |version: u32| self.orders.writers[version as usize];
        for (key, order) in self.orders.keys.iter().enumerate() {
            for version in order.start + 1..order.end {
                self.right_after(key, version, |after| ww.push((writer(after), writer(version))));
            }
        }
        for transaction in 0..self.history.transaction_count() as u32 {
            for (key, version) in self.shown(transaction) {
                wr.push((transaction, writer(version)));
                self.right_after(key, version, |after| rw.push((writer(after), transaction)));
            }
        }
        [wr, ww, rw]
    }

    /// For each read of a transaction, its key and the last version that it shows.
    fn shown(&self, transaction: u32) -> Vec<(usize, u32)> {
        let mut own: Vec<(usize, u32)> = Vec::new();
        let mut shown = Vec::new();
        for operation in self.history.operations_of(transaction as usize) {
            let key = self.history.operations.keys[operation] as usize;
            match self.history.operations.kinds[operation] {
                Kind::Write | Kind::Append if self.installed[operation] != NOBODY => {
                    own.push((key, self.installed[operation]));
                }
                Kind::Read => {
                    let mine = own.iter().rev().find(|&&(other, _)| other == key);
                    let version = mine.map_or(self.orders.observed[operation], |&(_, version)| version);
                    shown.extend((version != NOBODY).then_some((key, version)));
                }
                _ => {}
            }
        }
        shown
    }

    fn right_after(&self, key: usize, version: u32, mut found: impl FnMut(u32)) {
        let order = &self.orders.keys[key];
        if order.chain().contains(&(version + 1)) && version >= order.start {
            found(version + 1);
        }
        // Versions of which nothing is known are not right after the initial one.
        if version == order.before_tail() && order.source != super::orders::Source::Nothing {
            order.tail().for_each(&mut found);
        }
    }
}

/// The lengths of all cycles added up, and whether the budget was spent before the end.
fn traversals(graph: &Edges, components: &Components, budget: u64) -> (u64, bool) {
    let mut walk = Walk { graph, components, budget, on_path: vec![false; components.of.len()], total: 0 };
    let is_whole = components.cycles().flatten().all(|&start| walk.from(start));
    (walk.total, !is_whole)
}

/// A search for the cycles whose smallest node is the first.
struct Walk<'w> {
    graph: &'w Edges,
    components: &'w Components,
    budget: u64,
    on_path: Vec<bool>,
    total: u64,
}

impl Walk<'_> {
    /// Follows every way; false if the budget is spent.
    fn from(&mut self, start: u32) -> bool {
        let mut path = vec![(start, 0)];
        while let Some((node, place)) = path.last_mut() {
            let Some(&next) = self.graph.of(*node).get(*place) else {
                self.on_path[*node as usize] = false;
                path.pop();
                continue;
            };
            *place += 1;
            if self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            if next == start {
                self.total += path.len() as u64;
            } else if self.is_new(start, next) {
                self.on_path[next as usize] = true;
                path.push((next, 0));
            }
        }
        true
    }

    fn is_new(&self, start: u32, node: u32) -> bool {
        let of = &self.components.of;
        node > start && of[node as usize] == of[start as usize] && !self.on_path[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traversals_of(nodes: usize, pairs: &[(u32, u32)], budget: u64) -> (u64, bool) {
        let graph = Edges::collected(nodes, &[pairs]);
        traversals(&graph, &components(&graph, nodes), budget)
    }

    #[test]
    fn every_cycle_counts_by_its_length() {
        // 0 <-> 1 twice one way, and 1 -> 2 -> 3 -> 1; 4 is only led to.
        let pairs = [(1, 0), (1, 0), (0, 1), (2, 1), (3, 2), (1, 3), (4, 3)];
        assert_eq!(traversals_of(5, &pairs, 100), (2 + 2 + 3, false));
        assert_eq!(traversals_of(5, &pairs[3..5], 100), (0, false));
    }

    #[test]
    fn a_spent_budget_says_so() {
        let all: Pairs =
            (0..20).flat_map(|a| (0..20).filter(move |&b| a != b).map(move |b| (a, b))).collect();
        let (found, is_partial) = traversals_of(20, &all, 10_000);
        assert!(is_partial && found > 0);
    }
}
