//! Levels whose verdict depends on versions without a known order: is there an order that explains all reads?

mod level_problem;
mod refutation;

use super::dependencies::{Dependencies, Order, Parts, components};
use super::levels::Level;
use super::lookup::Lookup;
use super::search::{Answer, Budget, solve};
use super::witness::Step;
use crate::cancel::Cancel;
use crate::observations::{ABSENT, INITIAL};
use hashbrown::HashMap;
use level_problem::LevelProblem;
use refutation::Refutation;

/// More open pairs than this are not tried.
const MAX_PAIRS: usize = 300_000;

/// Two versions of a key without a known order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct OpenPair {
    pub key: u32,
    pub first: u32,
    pub second: u32,
}

/// What is open, and the transactions that are on possible cycles.
pub struct Completion<'s, 'h> {
    small: &'s Dependencies,
    /// The component of each node, by edges that are known or that an order of registers may add.
    components: &'s [u32],
    lookup: &'s Lookup<'h>,
    /// The node of each transaction.
    nodes: Vec<u32>,
    pairs: Vec<OpenPair>,
    /// Nodes that read each version of the open keys.
    readers: HashMap<u32, Vec<u32>>,
    is_too_large: bool,
    budget: Budget,
}

impl<'s, 'h> Completion<'s, 'h> {
    /// Finds the open pairs.
    #[must_use]
    pub fn new(
        small: &'s Dependencies,
        components: &'s [u32],
        lookup: &'s Lookup<'h>,
        budget: Budget,
    ) -> Self {
        let mut nodes = vec![ABSENT; lookup.history.transaction_count()];
        small.transactions.iter().zip(0..).for_each(|(&t, node)| nodes[t as usize] = node);
        let mut all = Self {
            small,
            components,
            lookup,
            nodes,
            pairs: Vec::new(),
            readers: HashMap::new(),
            is_too_large: false,
            budget,
        };
        all.find_pairs();
        all
    }

    fn find_pairs(&mut self) {
        let orders = self.lookup.orders;
        for (order, key) in orders.keys.iter().zip(0..) {
            if orders.is_whole(order) {
                continue;
            }
            let tail: Vec<u32> = order.tail().filter(|&version| self.is_inside(version)).collect();
            let beyond: Vec<u32> = (order.before_tail() + 1..order.start + order.chain)
                .filter(|&version| self.is_inside(version))
                .collect();
            for (place, &first) in tail.iter().enumerate() {
                for &second in tail[place + 1..].iter().chain(&beyond) {
                    if self.pairs.len() == MAX_PAIRS {
                        self.is_too_large = true;
                        return;
                    }
                    let is_same = orders.writers[first as usize] == orders.writers[second as usize];
                    if !is_same {
                        self.pairs.push(OpenPair { key, first, second });
                    }
                }
            }
        }
        let open: hashbrown::HashSet<u32> =
            self.pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect();
        for (&transaction, node) in self.small.transactions.iter().zip(0..) {
            for (.., version) in self.lookup.observed(transaction).filter(|(.., v)| open.contains(v)) {
                self.readers.entry(version).or_default().push(node);
            }
        }
    }

    fn is_inside(&self, version: u32) -> bool {
        let writer = self.lookup.orders.writers[version as usize];
        writer != INITIAL && self.nodes[writer as usize] != ABSENT
    }

    fn node(&self, version: u32) -> u32 {
        self.nodes[self.lookup.orders.writers[version as usize] as usize]
    }

    fn readers(&self, version: u32) -> &[u32] {
        self.readers.get(&version).map_or(&[], Vec::as_slice)
    }

    /// Pairs that matter for an order: unread appends of transactions in different components are in order
    /// already, whatever the order of registers.
    fn pairs_of(&self, order: Order) -> Vec<OpenPair> {
        let known;
        let component = if self.is_of_lists() {
            let parts = Parts { wr: true, rw: true, order };
            known = components(&self.small.graph(parts), self.small.nodes());
            &known.of
        } else {
            self.components
        };
        let of = |version: u32| component[self.node(version) as usize];
        self.pairs.iter().filter(|pair| of(pair.first) == of(pair.second)).copied().collect()
    }

    /// Whether only unread appends are open.
    fn is_of_lists(&self) -> bool {
        !self.lookup.orders.has_open_registers()
    }

    /// Whether some order of the open versions satisfies the level; if not, what follows from each order of a
    /// few of them, if that is told in a few circles.
    #[must_use]
    pub fn decide(&self, level: Level, cancel: &Cancel) -> (Answer, Vec<Vec<Step>>) {
        if self.is_of_lists() && is_met_by_any_order(level) {
            return (Answer::Found(Vec::new()), Vec::new());
        }
        if self.is_too_large {
            return (Answer::Unknown, Vec::new());
        }
        let pairs = self.pairs_of(level.order());
        let level_problem = LevelProblem::new(self, level);
        let problem = level_problem.problem(&pairs);
        let answer = solve(&problem, self.budget, cancel);
        if answer != Answer::Impossible {
            return (answer, Vec::new());
        }
        let refutation =
            Refutation { all: self, level_problem: &level_problem, problem: &problem, pairs: &pairs, cancel };
        (answer, refutation.alternatives())
    }
}

/// Whether a level that no known cycle breaks holds with unread appends in any order that follows the known
/// edges: it adds no edges but from one of them to a later one.
const fn is_met_by_any_order(level: Level) -> bool {
    matches!(
        level,
        Level::Pl1
            | Level::StrongSessionPl1
            | Level::StrongPl1
            | Level::Pl2
            | Level::StrongSessionPl2
            | Level::StrongPl2
            | Level::Prefix
            | Level::Serializable
            | Level::StrongSessionSerializable
            | Level::StrictSerializable
    )
}

#[cfg(test)]
mod tests;
