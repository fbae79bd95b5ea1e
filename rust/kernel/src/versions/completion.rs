//! LevelOutcomes whose verdict depends on the order of versions that nobody knows: is there one that explains all?

use super::dependencies::{Dependencies, Order, Parts, components};
use super::levels::Level;
use super::lookup::Lookup;
use super::orders::Source;
use super::search::{Answer, Budget, Literal, Problem, Side, blamed, solve};
use super::witness::{ANY, Paths, Step, Witnesses};
use crate::cancel::Cancel;
use crate::graph::{Components, Edges};
use crate::observations::{INITIAL, NOBODY};
use crate::relation::Relation;
use hashbrown::HashMap;

/// More open pairs than this are not tried.
const MOST_PAIRS: usize = 300_000;

/// Two versions of a key that nobody ordered.
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
    pub fn new(small: &'s Dependencies, lookup: &'s Lookup<'h>, budget: Budget) -> Self {
        let mut nodes = vec![NOBODY; lookup.history.transaction_count()];
        small.transactions.iter().zip(0..).for_each(|(&t, node)| nodes[t as usize] = node);
        let mut all = Self {
            small,
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
                    if self.pairs.len() == MOST_PAIRS {
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
        writer != INITIAL && self.nodes[writer as usize] != NOBODY
    }

    fn node(&self, version: u32) -> u32 {
        self.nodes[self.lookup.orders.writers[version as usize] as usize]
    }

    fn readers(&self, version: u32) -> &[u32] {
        self.readers.get(&version).map_or(&[], Vec::as_slice)
    }

    /// Pairs that matter for an order: transactions in different components are in order already, if
    /// nobody read the open versions.
    fn pairs_of(&self, found: &Components) -> Vec<OpenPair> {
        let matters = |pair: &&OpenPair| {
            let is_read = !self.readers(pair.first).is_empty() || !self.readers(pair.second).is_empty();
            let is_list = self.lookup.order(pair.key).source == Source::ListRead;
            let (first, second) = (self.node(pair.first), self.node(pair.second));
            !is_list || is_read || found.of[first as usize] == found.of[second as usize]
        };
        self.pairs.iter().filter(matters).copied().collect()
    }

    /// Whether only appends that nobody saw are open.
    fn is_of_lists(&self) -> bool {
        let orders = self.lookup.orders;
        orders.keys.iter().all(|order| order.source == Source::ListRead || orders.is_whole(order))
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
        let order = level.order();
        let parts = Parts { wr: true, rw: true, order };
        let pairs = self.pairs_of(&components(&self.small.graph(parts), self.small.nodes()));
        let form = Form::new(self, level);
        let problem = form.problem(&pairs);
        let answer = solve(&problem, self.budget, cancel);
        if answer != Answer::Impossible {
            return (answer, Vec::new());
        }
        let alternatives = match blamed(&problem, cancel) {
            Some((number, closed)) => self.alternatives(&form, &problem, pairs[number], closed),
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
        form: &Form<'_, '_, '_>,
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
            let found = form.steps(&path);
            let end = found.last().map_or(self.lookup.orders.writers[after as usize], |step| step.after);
            steps.extend(found);
            if end != self.lookup.orders.writers[before as usize] {
                steps.extend(self.missed(end, before, after));
            }
        }
        if alternatives.iter().all(|steps| is_circle(steps)) { alternatives } else { Vec::new() }
    }

    /// Somebody at the end of a path, or who read from him, read the one version and so missed the other.
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

/// How a level's condition is written as edges and bars.
struct Form<'c, 's, 'h> {
    all: &'c Completion<'s, 'h>,
    level: Level,
    /// Monotonic view: a node for each read of each transaction, which the reads and writes up to it lead to.
    moments: HashMap<u32, u32>,
    nodes: usize,
    writes_something: Vec<bool>,
}

impl<'c, 's, 'h> Form<'c, 's, 'h> {
    fn new(all: &'c Completion<'s, 'h>, level: Level) -> Self {
        let small = all.small;
        let mut form =
            Self { all, level, moments: HashMap::new(), nodes: small.nodes(), writes_something: Vec::new() };
        match level {
            Level::Prefix
            | Level::SnapshotIsolation
            | Level::StrongSessionSnapshotIsolation
            | Level::StrongSnapshotIsolation => form.nodes += small.len(),
            Level::MonotonicView => {
                for &transaction in &small.transactions {
                    for (read, ..) in all.lookup.observed(transaction) {
                        form.moments.insert(read, form.nodes as u32);
                        form.nodes += 1;
                    }
                }
            }
            Level::UpdateSerializable => {
                let transactions = small.transactions.iter();
                form.writes_something = transactions.map(|&t| all.lookup.writes_something(t)).collect();
            }
            _ => {}
        }
        form
    }

    fn problem(&self, pairs: &[OpenPair]) -> Problem {
        let mut problem = self.base();
        for pair in pairs {
            let side = |before: u32, after: u32| self.side(pair.key, before, after);
            problem.choices.push([side(pair.first, pair.second), side(pair.second, pair.first)]);
        }
        if self.level == Level::CursorStability {
            self.forbid_lost_updates(pairs, &mut problem);
        }
        problem
    }

    fn is_of_begins_and_commits(&self) -> bool {
        self.nodes == self.all.small.nodes() + self.all.small.len() && self.level != Level::MonotonicView
    }

    fn base(&self) -> Problem {
        let small = self.all.small;
        let order = self.level.order();
        let mut problem = Problem { nodes: self.nodes, ..Problem::default() };
        if self.is_of_begins_and_commits() {
            let (edges, _) = small.begins_and_commits(order, self.level == Level::Prefix);
            problem.edges = edges.pairs().map(|(node, before)| (before, node)).collect();
            return problem;
        }
        let turned =
            |edges: crate::graph::Edges| edges.pairs().map(|(node, before)| (before, node)).collect();
        match self.level {
            Level::Pl1 | Level::StrongSessionPl1 | Level::StrongPl1 => {
                problem.edges = turned(small.graph(Parts { wr: false, rw: false, order }));
            }
            Level::Pl2 | Level::StrongSessionPl2 | Level::StrongPl2 | Level::CursorStability => {
                problem.edges = turned(small.graph(Parts { wr: true, rw: false, order }));
            }
            Level::ParallelSnapshotIsolation | Level::StrongSessionParallelSnapshotIsolation => {
                problem.edges = turned(small.dependencies(order));
                problem.barred = small.read_writes(order).map(|edge| (edge.after, edge.reader)).collect();
            }
            Level::UpdateSerializable => self.base_of_updates(&mut problem),
            Level::MonotonicView => self.base_of_moments(&mut problem),
            _ => problem.edges = turned(small.graph(Parts { wr: true, rw: true, order })),
        }
        problem
    }

    fn base_of_updates(&self, problem: &mut Problem) {
        let small = self.all.small;
        let keeps = |node: u32| self.writes_something.get(node as usize).copied().unwrap_or(true);
        let lists = [&small.ww, &small.wr].into_iter().map(Vec::as_slice).chain(small.believed(Order::Plain));
        let kept = lists.flatten().filter(|&&(node, before)| keeps(node) && keeps(before));
        problem.edges = kept.map(|&(node, before)| (before, node)).collect();
        for edge in small.read_writes(Order::Plain).filter(|edge| !keeps(edge.reader)) {
            problem.barred.extend(self.sources_of(edge.reader).map(|source| (edge.after, source)));
        }
    }

    /// Nodes that a node read from.
    fn sources_of(&self, reader: u32) -> impl Iterator<Item = u32> {
        let all = self.all;
        let transaction = all.small.transactions[reader as usize];
        let reads = all.lookup.operations(transaction).flat_map(|read| all.lookup.read_from(read));
        let writers = reads.filter(|&writer| writer != NOBODY && writer != INITIAL);
        writers.map(|writer| all.nodes[writer as usize]).filter(move |&node| node != NOBODY && node != reader)
    }

    fn base_of_moments(&self, problem: &mut Problem) {
        let (all, small) = (self.all, self.all.small);
        let edges = small.dependencies(Order::Plain);
        problem.edges = edges.pairs().map(|(node, before)| (before, node)).collect();
        for (&read, &moment) in &self.moments {
            let transaction = self.transaction_of(read);
            let entered = all.lookup.entered_until(transaction, read);
            let inside = entered.into_iter().map(|other| all.nodes[other as usize]);
            problem.edges.extend(inside.filter(|&node| node != NOBODY).map(|node| (node, moment)));
            let (_, key, version) = self.observation(transaction, read);
            for extra in all.lookup.after(key, version, Order::Plain) {
                let writer = all.lookup.orders.writers[extra.after as usize];
                let node = if writer == transaction { NOBODY } else { all.nodes[writer as usize] };
                if node != NOBODY {
                    problem.barred.push((node, moment));
                }
            }
        }
        problem.edges.sort_unstable();
        problem.barred.sort_unstable();
    }

    fn transaction_of(&self, operation: u32) -> u32 {
        let offsets = &self.all.lookup.history.operation_offsets;
        offsets.partition_point(|&start| start <= operation) as u32 - 1
    }

    fn observation(&self, transaction: u32, read: u32) -> (u32, u32, u32) {
        let mut observed = self.all.lookup.observed(transaction);
        observed.find(|&(operation, ..)| operation == read).unwrap_or((read, 0, 0))
    }

    /// The steps along a path of the form's nodes.
    fn steps(&self, path: &[u32]) -> Vec<Step> {
        let small = self.all.small;
        let witnesses = Witnesses { small, lookup: self.all.lookup };
        let order = self.level.order();
        if self.is_of_begins_and_commits() {
            return witnesses.steps_of_ends(path, order);
        }
        // A moment belongs to the transaction of its read.
        let node = |node: u32| {
            let moment = self.moments.iter().find(|&(_, &moment)| moment == node);
            moment.map_or(node, |(&read, _)| self.all.nodes[self.transaction_of(read) as usize])
        };
        let path: Vec<u32> = path.iter().map(|&at| node(at)).collect();
        witnesses.steps(&path, &ANY, order)
    }

    /// What follows if `before` comes before `after`.
    fn side(&self, key: u32, before: u32, after: u32) -> Side {
        let (all, small) = (self.all, self.all.small);
        let (first, second) = (all.node(before), all.node(after));
        let readers = all.readers(before).iter().copied().filter(|&reader| reader != second);
        let mut side = Side::default();
        if self.is_of_begins_and_commits() {
            let end = if self.level == Level::Prefix { small.commit(second) } else { second };
            side.edges.push((small.commit(first), end));
            side.edges.extend(readers.map(|reader| (reader, small.commit(second))));
            return side;
        }
        side.edges.push((first, second));
        match self.level {
            Level::Serializable | Level::StrongSessionSerializable | Level::StrictSerializable => {
                side.edges.extend(readers.map(|reader| (reader, second)));
            }
            Level::ParallelSnapshotIsolation | Level::StrongSessionParallelSnapshotIsolation => {
                side.barred.extend(readers.map(|reader| (second, reader)));
            }
            Level::UpdateSerializable => {
                for reader in readers {
                    if self.writes_something[reader as usize] {
                        side.edges.push((reader, second));
                    } else {
                        side.barred.extend(self.sources_of(reader).map(|source| (second, source)));
                    }
                }
            }
            Level::MonotonicView => self.side_of_moments(key, before, after, &mut side),
            _ => {}
        }
        side
    }

    fn side_of_moments(&self, key: u32, before: u32, after: u32, side: &mut Side) {
        let all = self.all;
        let (first, second) = (all.node(before), all.node(after));
        let writer = all.small.transactions[second as usize];
        let write = all.lookup.orders.operations[after as usize];
        for (read, ..) in all.lookup.observed(writer).filter(|&(read, ..)| read > write) {
            side.edges.extend(self.moments.get(&read).map(|&moment| (first, moment)));
        }
        for &reader in all.readers(before).iter().filter(|&&reader| reader != second) {
            let transaction = all.small.transactions[reader as usize];
            let reads = all.lookup.observed(transaction).filter(|&(_, k, v)| k == key && v == before);
            side.barred.extend(
                reads.filter_map(|(read, ..)| self.moments.get(&read).map(|&moment| (second, moment))),
            );
        }
    }

    /// Nobody else's version comes between the one that was read and the own one.
    fn forbid_between(
        &self,
        key: u32,
        read: u32,
        own: u32,
        choices: &HashMap<(u32, u32), Literal>,
        problem: &mut Problem,
    ) {
        let lookup = self.all.lookup;
        let order = lookup.order(key);
        let writer = lookup.orders.writers[own as usize];
        let others = (order.start + 1..order.end).filter(|&other| other != read);
        for other in others.filter(|&other| lookup.orders.writers[other as usize] != writer) {
            let behind = choices.get(&(read, other)).copied();
            let into = choices.get(&(other, own)).copied();
            let is_behind = lookup.precedes(key, read, other, Order::Plain);
            let is_before = lookup.precedes(key, other, own, Order::Plain);
            let mut forbid = |(choice, side): Literal| {
                problem.choices[choice as usize][side as usize].is_impossible = true;
            };
            match (behind, into) {
                (_, Some(into)) if is_behind => forbid(into),
                (Some(behind), _) if is_before => forbid(behind),
                (Some(behind), Some(into)) => problem.exclusive.push((behind, into)),
                _ => {}
            }
        }
    }

    /// Whoever read a version and wrote the key comes right after it.
    fn forbid_lost_updates(&self, pairs: &[OpenPair], problem: &mut Problem) {
        let lookup = self.all.lookup;
        let choices: HashMap<(u32, u32), Literal> = pairs
            .iter()
            .zip(0..)
            .flat_map(|(p, number)| [((p.first, p.second), (number, 0)), ((p.second, p.first), (number, 1))])
            .collect();
        for &transaction in &self.all.small.transactions {
            let observed: Vec<(u32, u32, u32)> = lookup.observed(transaction).collect();
            for (_, key, read) in observed {
                let versions = lookup.installed(transaction).filter(|&(_, other, _)| other == key);
                for (.., own) in versions {
                    self.forbid_between(key, read, own, &choices, problem);
                }
            }
        }
    }
}

/// Whether a level that no known cycle breaks holds with appends that nobody saw in any order that follows the
/// known edges: it adds none but from one of them to a later one.
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
