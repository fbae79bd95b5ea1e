//! Levels whose verdict depends on versions without a known order: is there an order that explains all reads?

mod candidate_faults;
mod case_tree;
mod forced_orders;
mod forced_reasons;
mod found_order;
mod groups;
mod level_problem;
mod local_repair;
mod order_search;
mod parts;
mod read_choices;
mod refutation;
mod supposed_reads;
mod unsettled_keys;
mod windows;

use super::dependencies::Dependencies;
use super::guess::Guess;
use super::levels::Level;
use super::lookup::Lookup;
use super::open_reads::PossibleVersions;
use super::witness::Step;
use crate::cancel::Cancel;
use crate::graph::Edges;
use crate::observations::{ABSENT, INITIAL};
use crate::solver::Budget;
use case_tree::CaseTree;
pub use found_order::FoundOrder;
pub use groups::{Group, decide_groups};
use level_problem::LevelProblem;
pub use order_search::Answer;
use order_search::OrderSearch;
use refutation::Refutation;

/// What the search for pairs that leave no order may cost, once it is known that there are some.
const TOLD_STEPS: u64 = 5_000_000;

/// Two versions of a key without a known order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct OpenPair {
    pub key: u32,
    pub first: u32,
    pub second: u32,
}

/// Versions of a key such that some are in no known order with others.
#[derive(Debug)]
struct OpenKey {
    key: u32,
    versions: Vec<u32>,
}

/// A read that several versions explain.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenRead {
    node: u32,
    /// The operation.
    read: u32,
    key: u32,
    /// The place of the key among the open ones.
    at: usize,
    /// Ascending.
    versions: Vec<u32>,
    /// Whether nothing follows from the versions after the one that it showed.
    misses_nothing: bool,
}

/// What is open, and the transactions that are on possible cycles.
pub struct Completion<'s, 'h> {
    small: &'s Dependencies,
    lookup: &'s Lookup<'h>,
    /// The node of each transaction.
    nodes: Vec<u32>,
    open: Vec<OpenKey>,
    /// Each of them, and those that differ by more than their place in the transaction.
    every_read: Vec<OpenRead>,
    reads: Vec<OpenRead>,
    /// Nodes that read each version of the open keys.
    readers: Edges,
    guess: &'s Guess,
    /// Whether orders that satisfy a level are kept.
    keeps_orders: bool,
}

impl<'s, 'h> Completion<'s, 'h> {
    /// Finds what is open; `components` are by node, by edges that are known or that an order of registers may
    /// add.
    #[must_use]
    pub fn new(
        small: &'s Dependencies,
        components: &[u32],
        lookup: &'s Lookup<'h>,
        guess: &'s Guess,
        reads: Vec<PossibleVersions>,
        keeps_orders: bool,
    ) -> Self {
        let mut nodes = vec![ABSENT; lookup.history.transaction_count()];
        small.transactions.iter().zip(0..).for_each(|(&t, node)| nodes[t as usize] = node);
        let (open, readers) = (Vec::new(), Edges::default());
        let (every_read, few) = (Vec::new(), Vec::new());
        let mut all =
            Self { small, lookup, nodes, open, every_read, reads: few, readers, guess, keeps_orders };
        all.find_open(components, &reads);
        all.find_reads(reads);
        all.find_readers();
        all
    }

    /// Versions whose writers are in different components are in order, whatever the order of registers.
    /// All versions of a key with reads that several of them explain are open.
    fn find_open(&mut self, components: &[u32], reads: &[PossibleVersions]) {
        let orders = self.lookup.orders;
        let mut open = Vec::new();
        for (order, key) in orders.keys.iter().zip(0..) {
            if reads.binary_search_by_key(&key, |read| read.key).is_ok() {
                open.push(OpenKey { key, versions: (order.start + 1..order.end).collect() });
                continue;
            }
            if orders.is_whole(order) {
                continue;
            }
            let beyond = order.before_tail() + 1..order.start + order.chain;
            let component = |version: u32| components[self.node(version) as usize];
            let mut versions: Vec<u32> =
                order.tail().chain(beyond).filter(|&version| self.is_inside(version)).collect();
            versions.sort_unstable_by_key(|&version| (component(version), version));
            for same in versions.chunk_by(|&one, &other| component(one) == component(other)) {
                let first = self.node(same[0]);
                if same.iter().any(|&version| self.node(version) != first) {
                    open.push(OpenKey { key, versions: same.to_vec() });
                }
            }
        }
        self.open = open;
    }

    /// Equal reads of a transaction have one explanation: where two do, one does.
    fn find_reads(&mut self, reads: Vec<PossibleVersions>) {
        for PossibleVersions { node, read, key, versions, misses_nothing } in reads {
            if let Ok(at) = self.open.binary_search_by_key(&key, |open| open.key) {
                self.every_read.push(OpenRead { node, read, key, at, versions, misses_nothing });
            }
        }
        self.reads.clone_from(&self.every_read);
        self.reads.dedup_by(|one, other| {
            let is_same = one.misses_nothing == other.misses_nothing;
            is_same && (one.node, one.key, &one.versions) == (other.node, other.key, &other.versions)
        });
        self.reads.sort_by_key(|open| (open.node, open.read));
    }

    fn find_readers(&mut self) {
        let mut is_open = vec![false; self.lookup.orders.writers.len()];
        for &version in self.open.iter().flat_map(|key| &key.versions) {
            is_open[version as usize] = true;
        }
        let mut pairs = Vec::new();
        let mut seen = Vec::new();
        for (&transaction, node) in self.small.transactions.iter().zip(0..) {
            seen.extend(self.lookup.observed(transaction).map(|(.., version)| version));
            seen.sort_unstable();
            seen.dedup();
            let open = seen.drain(..).filter(|&version| version != ABSENT && is_open[version as usize]);
            pairs.extend(open.map(|version| (version, node)));
        }
        self.readers = Edges::collected(is_open.len(), &[&pairs]);
    }

    fn is_inside(&self, version: u32) -> bool {
        let writer = self.lookup.orders.writers[version as usize];
        writer != INITIAL && self.nodes[writer as usize] != ABSENT
    }

    fn node(&self, version: u32) -> u32 {
        self.nodes[self.lookup.orders.writers[version as usize] as usize]
    }

    fn readers(&self, version: u32) -> &[u32] {
        self.readers.of(version)
    }

    /// Whether only unread appends are open.
    fn is_of_lists(&self) -> bool {
        !self.lookup.orders.has_open_registers() && self.reads.is_empty()
    }

    /// Whether some order of the open versions satisfies the level. If none does, `tells` asks why.
    #[must_use]
    pub fn decide(&self, level: Level, mut budget: Budget, tells: bool, cancel: &Cancel) -> Decision {
        let mut level_problem = LevelProblem::new(self, level);
        if self.is_of_lists() && is_met_by_any_order(level) {
            let found = self.keeps_orders.then(|| level_problem.any_order()).flatten();
            return Decision { answer: Answer::Found, alternatives: Vec::new(), found };
        }
        let time = budget.time;
        let clock = || time.map_or(0, |time| (time.clock)());
        let began = clock();
        let forced = level_problem.force(budget, cancel);
        if let Some(time) = &mut budget.time {
            time.milliseconds = time.milliseconds.saturating_sub(clock() - began);
        }
        if forced.is_ok()
            && level_problem.is_too_large(budget)
            && let Some(alternatives) = self.refuted_in_parts(level, budget, tells, cancel)
        {
            return Decision { answer: Answer::Impossible, alternatives, found: None };
        }
        let (answer, mut pairs, candidate) = match forced {
            Ok(()) => OrderSearch::decide(&level_problem, budget, cancel),
            Err(pairs) => (Answer::Impossible, pairs, None),
        };
        if answer != Answer::Impossible {
            let candidate = candidate.filter(|_| self.keeps_orders);
            let found = candidate.map(|candidate| level_problem.found_order(&candidate));
            return Decision { answer, alternatives: Vec::new(), found };
        }
        if !tells {
            return Decision { answer, alternatives: Vec::new(), found: None };
        }
        if !self.reads.is_empty() {
            return Decision { answer, alternatives: self.cases(level, budget, cancel), found: None };
        }
        if level_problem.forced.has_orders {
            // Pairs that leave no order without what was forced.
            level_problem = LevelProblem::new(self, level);
            pairs = OrderSearch::decide(&level_problem, Budget { steps: TOLD_STEPS, ..budget }, cancel).1;
        }
        let alternatives = Refutation::alternatives_of(self, &level_problem, pairs, cancel);
        Decision { answer, alternatives, found: None }
    }

    /// The cases of orders and of writers, all of which close a circle; nothing if that takes too many.
    fn cases(&self, level: Level, budget: Budget, cancel: &Cancel) -> Vec<Vec<Step>> {
        let level_problem = LevelProblem::new(self, level);
        let budget = Budget { steps: TOLD_STEPS, ..budget };
        let (questions, answer) = OrderSearch::questions(&level_problem, budget, cancel);
        if answer != Answer::Impossible {
            return Vec::new();
        }
        CaseTree::cases(&level_problem, questions, cancel)
    }
}

/// What became of a level.
pub struct Decision {
    /// Whether some order satisfies it.
    pub answer: Answer,
    /// If none does, what follows from each order of a few versions, if that is told in a few circles.
    pub alternatives: Vec<Vec<Step>>,
    /// An order that satisfies it, if such orders are kept.
    pub found: Option<FoundOrder>,
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
