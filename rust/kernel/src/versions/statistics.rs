//! Sizes of a dependency graph: Qiu's (2023) dataset characteristics.
//!
//! Edges are counted as there: between transactions that the client knows to be committed, each kind once
//! for two transactions. A read shows its last element or value, be it the transaction's own, and versions
//! that no transaction read come right after the last one that was read.

use super::dependencies::{Pairs, components};
use super::orders::{KeyOrder, Orders, Source};
use crate::by_key::ByKey;
use crate::graph::{Components, Edges};
use crate::history::{History, Kind, Status};
use crate::observations::{ABSENT, INITIAL};
use crate::value::Value;
use std::ops::Range;

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
    let kinds = Counting::new(history, orders).run().map(|pairs| {
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
    owners: Vec<u32>,
    /// Pairs (after, before) by write-read, write-write and read-write.
    edges: [Pairs; 3],
}

const WR: usize = 0;
const WW: usize = 1;
const RW: usize = 2;

impl<'c> Counting<'c> {
    fn new(history: &'c History, orders: &'c Orders) -> Self {
        Self { history, orders, owners: history.transaction_of_operation(), edges: Default::default() }
    }

    fn run(mut self) -> [Pairs; 3] {
        let by_key = ByKey::new(self.history);
        for (key, order) in self.orders.keys.iter().enumerate() {
            match order.source {
                Source::ListRead => self.list(order, by_key.of(key)),
                // Versions of which nothing is known are not right after the initial one.
                Source::Nothing => self.reads(by_key.of(key), |_| 0..0),
                _ => self.register(order, by_key.of(key)),
            }
        }
        self.edges
    }

    /// The longest list that was read is the order, with what its reader appended; the rest comes after it.
    fn list(&mut self, order: &KeyOrder, operations: &[u32]) {
        let reads: Vec<(u32, &[Value])> =
            operations.iter().filter_map(|&read| self.list_read(read)).collect();
        let longest = reads.iter().map(|&(_, list)| list).max_by_key(|list| list.len()).unwrap_or(&[]);
        let mut writers: Vec<(Value, u32)> =
            (order.start + 1..order.end).map(|version| self.element(version)).collect();
        writers.sort_unstable();
        let find = |element: &Value| writers.binary_search_by_key(element, |&(other, _)| other);
        let writer = |element: &Value| find(element).map_or(INITIAL, |place| writers[place].1);
        let mut read = longest.to_vec();
        read.sort_unstable();
        let is_read = |element: &Value| read.binary_search(element).is_ok();
        let unread: Vec<u32> = writers.iter().filter(|(e, _)| !is_read(e)).map(|&(_, t)| t).collect();
        self.edges[WW].extend(longest.windows(2).map(|pair| (writer(&pair[1]), writer(&pair[0]))));
        if let Some(last) = longest.last() {
            self.edges[WW].extend(unread.iter().map(|&after| (after, writer(last))));
        }
        for (reader, list) in reads {
            self.edges[WR].extend(list.last().map(|last| (reader, writer(last))));
            match longest.get(list.len()) {
                _ if !longest.starts_with(list) => {}
                Some(next) => self.edges[RW].push((writer(next), reader)),
                None => self.edges[RW].extend(unread.iter().map(|&after| (after, reader))),
            }
        }
    }

    /// A committed read of a list, and its reader.
    fn list_read(&self, operation: u32) -> Option<(u32, &'c [Value])> {
        let (operations, place) = (&self.history.operations, operation as usize);
        let reader = self.owners[place];
        let is_committed = self.history.transactions.statuses[reader as usize] == Status::Committed;
        let value = operations.values[place];
        let list = if value == Value::NIL { Some(&[][..]) } else { self.history.values.as_list(value) };
        list.filter(|_| is_committed && operations.kinds[place] == Kind::Read).map(|list| (reader, list))
    }

    fn element(&self, version: u32) -> (Value, u32) {
        let operation = self.orders.operations[version as usize];
        (self.history.operations.values[operation as usize], self.orders.writers[version as usize])
    }

    fn register(&mut self, order: &KeyOrder, operations: &[u32]) {
        let right_after = |version: u32| {
            let is_last = version + 1 == order.chain().end;
            if is_last { order.tail() } else { version + 1..order.chain().end.min(version + 2) }
        };
        for version in order.start + 1..order.chain().end {
            let writers = right_after(version).map(|after| self.orders.writers[after as usize]);
            let before = self.orders.writers[version as usize];
            self.edges[WW].extend(writers.map(|after| (after, before)));
        }
        self.reads(operations, right_after);
    }

    /// Edges to and from the reads of a register.
    fn reads(&mut self, operations: &[u32], right_after: impl Fn(u32) -> Range<u32>) {
        let writer = |version: u32| self.orders.writers[version as usize];
        for &operation in operations {
            let version = self.orders.observed[operation as usize];
            if version != ABSENT {
                let reader = self.owners[operation as usize];
                self.edges[WR].push((reader, writer(version)));
                self.edges[RW].extend(right_after(version).map(|after| (writer(after), reader)));
            }
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
