//! Levels whose verdict depends on versions without a known order: is there an order that explains all reads?

mod level_problem;

use super::dependencies::{Dependencies, Order, Parts, components};
use super::levels::Level;
use super::lookup::Lookup;
use super::orders::Source;
use super::search::{Answer, Budget, Problem, blamed, solve};
use super::shortest_paths::Paths;
use super::witness::{Step, Witnesses};
use crate::cancel::Cancel;
use crate::graph::Edges;
use crate::observations::{ABSENT, INITIAL};
use crate::relation::Relation;
use hashbrown::HashMap;
use level_problem::LevelProblem;

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

    /// Whether some order of the open versions satisfies the level; if not, what follows from each order of
    /// one pair of versions, if that is told in two circles.
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
        let alternatives = match blamed(&problem, cancel) {
            Some((number, closed)) => self.alternatives(&level_problem, &problem, pairs[number], closed),
            None => Vec::new(),
        };
        (answer, alternatives)
    }

    /// The two orders of a pair, as steps.
    fn supposed(&self, pair: OpenPair) -> Vec<Vec<Step>> {
        let orders = self.lookup.orders;
        let suppose = |before: u32, after: u32| Step {
            before: orders.writers[before as usize],
            after: orders.writers[after as usize],
            relation: Relation::WriteWrite,
            key: pair.key,
            operations: vec![orders.operations[before as usize], orders.operations[after as usize]],
            source: Source::Supposed,
        };
        vec![vec![suppose(pair.first, pair.second)], vec![suppose(pair.second, pair.first)]]
    }

    /// The two orders of a pair, each with the way that it closes to a cycle.
    fn alternatives(
        &self,
        level_problem: &LevelProblem<'_, '_, '_>,
        problem: &Problem,
        pair: OpenPair,
        closed: [Option<(u32, u32)>; 2],
    ) -> Vec<Vec<Step>> {
        let pairs: Vec<(u32, u32)> = problem.edges.iter().map(|&(before, after)| (after, before)).collect();
        let edges = Edges::collected(problem.nodes, &[&pairs]);
        let mut paths = Paths::new(problem.nodes);
        let mut alternatives = self.supposed(pair);
        let orders = [(pair.first, pair.second), (pair.second, pair.first)];
        for ((steps, closed), (before, after)) in alternatives.iter_mut().zip(closed).zip(orders) {
            let Some((from, to)) = closed else { continue };
            let path = if from == to { Some(vec![from]) } else { paths.shortest(&edges, from, to, |_, _| 1) };
            let Some(path) = path else { continue };
            let found = level_problem.steps(&path);
            let end = found.last().map_or(self.lookup.orders.writers[after as usize], |step| step.after);
            steps.extend(found);
            if end != self.lookup.orders.writers[before as usize] {
                steps.extend(self.missed(end, before, after));
            }
        }
        if alternatives.iter().all(|steps| is_circle(steps)) { alternatives } else { Vec::new() }
    }

    /// A transaction at the end of a path, or one that read from it, read the one version and so missed the
    /// other.
    fn missed(&self, end: u32, before: u32, after: u32) -> Vec<Step> {
        let orders = self.lookup.orders;
        let reading = self.readers(before).iter().map(|&node| self.small.transactions[node as usize]);
        let witnesses = Witnesses { small: self.small, lookup: self.lookup };
        for reader in reading {
            let came = if reader == end {
                Some(None)
            } else {
                witnesses.reason(end, reader, Relation::WriteRead, Order::Plain).map(Some)
            };
            let mut observed = self.lookup.observed(reader).filter(|&(.., version)| version == before);
            let (Some(came), Some((read, key, _))) = (came, observed.next()) else { continue };
            let missed = Step {
                before: reader,
                after: orders.writers[after as usize],
                relation: Relation::ReadWrite,
                key,
                operations: self.lookup.missed(read, before, after),
                source: Source::Supposed,
            };
            return came.into_iter().chain([missed]).collect();
        }
        Vec::new()
    }
}

/// Whether steps lead back to where they began: to what is supposed first, or to what follows it.
fn is_circle(steps: &[Step]) -> bool {
    let is_chain = |steps: &[Step]| steps.windows(2).all(|pair| pair[0].after == pair[1].before);
    match steps {
        [_] | [] => false,
        [first, rest @ .., last] => {
            let second = rest.first().unwrap_or(last);
            is_chain(&steps[1..])
                && (last.after == second.before
                    || (first.after == second.before && last.after == first.before))
        }
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
