//! Proofs: short cycles, each step with the operations that it rests on.

use super::dependencies::{Dependencies, Order};
use super::lookup::Lookup;
use super::orders::Source;
use super::shortest_paths::Paths;
use crate::graph::Edges;
use crate::history::{LeftOut, NO_KEY};
use crate::observations::{ABSENT, INITIAL};
use crate::relation::Relation;

/// All relations between versions and in time, the most informative first; a level without sessions or real time
/// uses none of theirs.
pub const ANY: [Relation; 5] =
    [Relation::WriteRead, Relation::WriteWrite, Relation::Session, Relation::RealTime, Relation::ReadWrite];

/// One step of a proof; transactions and operations by their numbers in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Step {
    pub before: u32,
    pub after: u32,
    pub relation: Relation,
    pub key: u32,
    pub operations: Vec<u32>,
    pub source: Source,
}

/// A cycle is looked for from so many nodes of a component.
const TRIES: usize = 64;
/// What a step costs in the search for a short path: session order and real time are collapsed to one step.
const STEP: u32 = 16;
const SESSION_STEP: u32 = 1;

/// Finds paths and says what they rest on.
pub struct Witnesses<'s, 'h> {
    /// The transactions that are on cycles.
    pub small: &'s Dependencies,
    /// Their operations.
    pub lookup: &'s Lookup<'h>,
}

impl Witnesses<'_, '_> {
    fn is_transaction(&self, node: u32) -> bool {
        (node as usize) < self.small.len()
    }

    /// What an edge costs: junctions and instants are no steps of their own.
    #[must_use]
    pub fn cost(&self, before: u32, after: u32) -> u32 {
        if !self.is_transaction(before) {
            return 0;
        }
        let sessions = &self.small.sessions;
        let in_session = after == before + 1
            && self.is_transaction(after)
            && sessions[before as usize] == sessions[after as usize];
        if in_session { SESSION_STEP } else { STEP }
    }

    /// The shortest cycle through some of these nodes, begun with its smallest transaction; the first node is
    /// there again at the end.
    pub fn shortest_cycle(&self, edges: &Edges, nodes: &[u32], paths: &mut Paths) -> Option<Vec<u32>> {
        let mut tried: Vec<u32> = nodes.iter().copied().filter(|&n| self.is_transaction(n)).collect();
        tried.sort_unstable();
        let cycles = tried
            .iter()
            .take(TRIES)
            .filter_map(|&node| paths.shortest(edges, node, node, |before, after| self.cost(before, after)));
        let shortest = cycles.min_by_key(|cycle| self.length(cycle))?;
        Some(self.without_chords(edges, shortest, paths))
    }

    fn length(&self, cycle: &[u32]) -> u32 {
        cycle.windows(2).map(|pair| self.cost(pair[0], pair[1])).sum()
    }

    /// The shortest cycle among the nodes of a cycle.
    fn without_chords(&self, edges: &Edges, cycle: Vec<u32>, paths: &mut Paths) -> Vec<u32> {
        let mut sorted = cycle.clone();
        sorted.sort_unstable();
        let inside = |node: u32| sorted.binary_search(&node).is_ok();
        let cost = |before: u32, after: u32| {
            if inside(before) { self.cost(before, after) } else { u32::MAX / 4 }
        };
        let shorter = sorted.iter().filter(|&&node| self.is_transaction(node)).filter_map(|&node| {
            let found = paths.shortest(edges, node, node, cost)?;
            found.iter().all(|&node| inside(node)).then_some(found)
        });
        shorter.min_by_key(|found| self.length(found)).unwrap_or(cycle)
    }

    /// The steps along a path of nodes; of an edge that has several reasons the first of `preferred` counts.
    #[must_use]
    pub fn steps(&self, path: &[u32], preferred: &[Relation], order: Order) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut from = 0;
        for place in 1..path.len() {
            if !self.is_transaction(path[place]) {
                continue;
            }
            let (before, after) = (path[from], path[place]);
            let between = (place > from + 1).then(|| path[from + 1]);
            from = place;
            steps.extend(self.step(before, after, between, preferred, order));
        }
        self.collapsed(steps)
    }

    /// The steps along a path of begins and commits.
    #[must_use]
    pub fn steps_of_ends(&self, path: &[u32], order: Order) -> Vec<Step> {
        let transactions = self.small.len() as u32;
        let places: Vec<usize> = (0..path.len()).filter(|&place| path[place] < 2 * transactions).collect();
        let steps = places.windows(2).filter_map(|pair| {
            let (before, after) = (path[pair[0]], path[pair[1]]);
            if before % transactions == after % transactions {
                return None;
            }
            let between = (pair[1] > pair[0] + 1).then(|| path[pair[0] + 1] - transactions);
            let preferred: &[Relation] = match (before < transactions, after < transactions) {
                (true, _) => &[Relation::ReadWrite],
                (false, false) => &[Relation::WriteWrite],
                (false, true) => &ANY[..4],
            };
            let nodes = (before % transactions, after % transactions);
            self.step(nodes.0, nodes.1, between, preferred, order)
        });
        self.collapsed(steps.collect())
    }

    /// One step between two nodes, through a junction or an instant if there is one in `between`.
    #[must_use]
    pub fn step(
        &self,
        before: u32,
        after: u32,
        between: Option<u32>,
        preferred: &[Relation],
        order: Order,
    ) -> Option<Step> {
        let instants_from = (self.small.len() as u32) + self.small.junctions;
        let (first, second) =
            (self.small.transactions[before as usize], self.small.transactions[after as usize]);
        match between {
            Some(instant) if instant >= instants_from => {
                let in_session = self.in_session(first, second);
                in_session.or_else(|| Some(plain(first, second, Relation::RealTime)))
            }
            Some(_) => self.reason(first, second, Relation::ReadWrite, order),
            None => preferred.iter().find_map(|&relation| self.reason(first, second, relation, order)),
        }
    }

    /// Session order and real time are transitive.
    fn collapsed(&self, steps: Vec<Step>) -> Vec<Step> {
        let mut shorter: Vec<Step> = Vec::new();
        for step in steps {
            if let Some(seen) = shorter.last().and_then(|last| self.seen_at_once(last, &step)) {
                shorter.pop();
                shorter.push(seen);
                continue;
            }
            match shorter.last_mut() {
                Some(last) if self.follows_on(last, &step) => {
                    let is_session = last.relation == Relation::Session && step.relation == Relation::Session;
                    last.relation = if is_session { Relation::Session } else { Relation::RealTime };
                    last.after = step.after;
                }
                _ => shorter.push(step),
            }
        }
        shorter
    }

    /// A read of a later element of a list shows the earlier ones too: no transaction is needed in between.
    fn seen_at_once(&self, first: &Step, second: &Step) -> Option<Step> {
        let is_of_list = (first.relation, second.relation) == (Relation::WriteWrite, Relation::WriteRead)
            && first.key == second.key
            && first.before != second.after;
        let direct = is_of_list.then(|| self.write_read(first.before, second.after)).flatten();
        direct.filter(|step| step.key == second.key)
    }

    fn follows_on(&self, first: &Step, second: &Step) -> bool {
        match (first.relation, second.relation) {
            (Relation::Session, Relation::Session) => true,
            (Relation::Session | Relation::RealTime, Relation::Session | Relation::RealTime) => {
                self.lookup.times.precedes(first.before, second.after)
            }
            _ => false,
        }
    }

    /// Why `first` comes before `second` by this relation, if levels with this order know it.
    #[must_use]
    pub fn reason(&self, first: u32, second: u32, relation: Relation, order: Order) -> Option<Step> {
        match relation {
            Relation::Session if order == Order::Plain => None,
            Relation::RealTime if order != Order::RealTime => None,
            Relation::Session => self.in_session(first, second),
            Relation::RealTime => {
                let precedes = self.lookup.times.precedes(first, second);
                precedes.then(|| plain(first, second, Relation::RealTime))
            }
            Relation::WriteRead => self.write_read(first, second),
            Relation::WriteWrite => self.write_write(first, second),
            Relation::ReadWrite => self.read_write(first, second, order),
            Relation::CommitOrder => None,
        }
    }

    fn in_session(&self, first: u32, second: u32) -> Option<Step> {
        let sessions = &self.lookup.history.transactions.sessions;
        let places = &self.lookup.times.place_in_session;
        let (one, other) = (first as usize, second as usize);
        let is_before = sessions[one] == sessions[other] && places[one] < places[other];
        is_before.then(|| plain(first, second, Relation::Session))
    }

    fn write_read(&self, first: u32, second: u32) -> Option<Step> {
        let lookup = self.lookup;
        // A read that ends with the write shows it best.
        let mut observed = lookup.observed(second);
        let exact = observed.find(|&(.., version)| lookup.orders.writers[version as usize] == first);
        let (read, key, version) = if let Some(found) = exact {
            found
        } else {
            let read = lookup.operations(second).find(|&read| lookup.read_from(read).contains(&first))?;
            (read, lookup.key(read), lookup.orders.observed[read as usize])
        };
        let write = self.shown_write(first, read, key, version)?;
        let (relation, source) = (Relation::WriteRead, Source::Nothing);
        Some(Step { before: first, after: second, relation, key, operations: vec![read, write], source })
    }

    fn key_of(&self, version: u32) -> Option<u32> {
        let keys = &self.lookup.orders.keys;
        let after = keys.partition_point(|order| order.start <= version);
        after.checked_sub(1).map(|key| key as u32)
    }

    /// The write of `writer` that a read shows, or that it does not show although it comes first.
    pub(super) fn shown_write(&self, writer: u32, read: u32, key: u32, version: u32) -> Option<u32> {
        let lookup = self.lookup;
        let (kinds, values) = (&lookup.history.operations.kinds, &lookup.history.operations.values);
        let shown = lookup.history.values.as_list(values[read as usize]);
        if version != ABSENT && shown.is_some() {
            let order = lookup.order(key);
            let own = (order.start..=version).rev();
            let mut own = own.filter(|&version| lookup.orders.writers[version as usize] == writer);
            if let Some(found) = own.next() {
                return Some(lookup.orders.operations[found as usize]);
            }
        }
        let is_of_key = |&write: &u32| kinds[write as usize].installs() && lookup.key(write) == key;
        let writes: Vec<u32> = lookup.operations(writer).filter(is_of_key).collect();
        let is_shown = |&write: &u32| match shown {
            Some(list) => list.contains(&values[write as usize]),
            None => values[write as usize] == values[read as usize],
        };
        // What a predicate read saw of a key, or that a key is gone, is the value of no write.
        let left = || {
            let is_seen = version != ABSENT && lookup.orders.writers[version as usize] == writer;
            is_seen.then(|| lookup.orders.operations[version as usize])
        };
        let last = || {
            let is_left_out = lookup.history.operations.left_out.get(read as usize) != LeftOut::No;
            is_left_out.then(|| writes.last().copied()).flatten()
        };
        let first = || {
            let mut inserted = lookup.orders.first_after(key, version);
            let found = inserted.find(|&version| lookup.orders.writers[version as usize] == writer)?;
            Some(lookup.orders.operations[found as usize])
        };
        writes.iter().copied().rev().find(is_shown).or_else(left).or_else(last).or_else(first)
    }

    fn write_write(&self, first: u32, second: u32) -> Option<Step> {
        let lookup = self.lookup;
        for (_, key, version) in lookup.installed(second) {
            let befores: Vec<u32> = lookup.before(key, version, Order::RealTime).collect();
            for before in befores {
                if lookup.orders.writers[before as usize] != first {
                    continue;
                }
                let source = self.source_of(key, before, version);
                // Then the session, or real time, is a step by itself, and says it better.
                if matches!(source, Source::Session | Source::RealTime) {
                    continue;
                }
                let operations = lookup.ordered(key, before, version, source);
                let relation = Relation::WriteWrite;
                return Some(Step { before: first, after: second, relation, key, operations, source });
            }
        }
        None
    }

    fn source_of(&self, key: u32, before: u32, after: u32) -> Source {
        let known = self.lookup.after(key, before, Order::RealTime).find(|extra| extra.after == after);
        known.map_or(Source::Nothing, |extra| extra.source)
    }

    fn read_write(&self, first: u32, second: u32, order: Order) -> Option<Step> {
        self.missed(first, second, order, |_| true)
    }

    /// What a read of one of these keys missed.
    pub fn missed(
        &self,
        first: u32,
        second: u32,
        order: Order,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<Step> {
        let lookup = self.lookup;
        for (read, _, version) in lookup.observed(first) {
            let Some(key) = self.key_of(version).filter(|&key| is_wanted(key)) else { continue };
            let mut after = lookup.after(key, version, order);
            let overwriting = after.find(|extra| lookup.orders.writers[extra.after as usize] == second);
            let Some(extra) = overwriting else { continue };
            let operations = lookup.missed(read, version, extra.after);
            let is_initial = lookup.orders.writers[version as usize] == INITIAL;
            let source = if is_initial { Source::Initial } else { extra.source };
            let relation = Relation::ReadWrite;
            return Some(Step { before: first, after: second, relation, key, operations, source });
        }
        None
    }

    /// The transaction behind this node that overwrote what a reader saw of a key.
    #[must_use]
    pub fn path_from(&self, edges: &Edges, from: u32, to: u32, paths: &mut Paths) -> Option<Vec<u32>> {
        if from == to {
            return Some(vec![from]);
        }
        paths.shortest(edges, from, to, |before, after| self.cost(before, after))
    }
}

fn plain(before: u32, after: u32, relation: Relation) -> Step {
    Step { before, after, relation, key: NO_KEY, operations: Vec::new(), source: Source::Nothing }
}
