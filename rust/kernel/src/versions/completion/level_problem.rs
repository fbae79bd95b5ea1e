//! The condition of one level as a problem to search: edges that are known, and choices between open ones.

use super::forced_orders::Consequences;
use super::{Completion, OpenPair, OpenRead};
use crate::observations::{ABSENT, INITIAL};
use crate::solver::{Literal, Problem, Side};
use crate::versions::dependencies::{Order, Parts};
use crate::versions::levels::Level;
use crate::versions::witness::{ANY, Step, Witnesses};
use hashbrown::HashMap;

/// How a level's condition is written as edges and bars.
pub(super) struct LevelProblem<'c, 's, 'h> {
    pub(super) all: &'c Completion<'s, 'h>,
    pub(super) level: Level,
    /// Monotonic view: a node for each read of each transaction, which the reads and writes up to it lead to.
    moments: HashMap<u32, u32>,
    pub(super) nodes: usize,
    writes_something: Vec<bool>,
    /// What follows from the known edges.
    pub(super) forced: Consequences,
}

impl<'c, 's, 'h> LevelProblem<'c, 's, 'h> {
    pub(super) fn new(all: &'c Completion<'s, 'h>, level: Level) -> Self {
        let small = all.small;
        // Of equal reads of a transaction one is enough, but for monotonic view their places matter.
        let reads = if level == Level::MonotonicView { &all.every_read } else { &all.reads };
        let forced = Consequences { reads: reads.clone(), ..Consequences::default() };
        let (moments, writes_something) = (HashMap::new(), Vec::new());
        let mut problem = Self { all, level, moments, nodes: small.nodes(), writes_something, forced };
        match level {
            Level::Prefix
            | Level::SnapshotIsolation
            | Level::StrongSessionSnapshotIsolation
            | Level::StrongSnapshotIsolation => problem.nodes += small.len(),
            Level::MonotonicView => {
                for &transaction in &small.transactions {
                    for (read, ..) in all.lookup.observed(transaction) {
                        problem.moments.insert(read, problem.nodes as u32);
                        problem.nodes += 1;
                    }
                }
                for open in &all.every_read {
                    problem.moments.insert(open.read, problem.nodes as u32);
                    problem.nodes += 1;
                }
            }
            Level::UpdateSerializable => {
                let transactions = small.transactions.iter();
                problem.writes_something = transactions.map(|&t| all.lookup.writes_something(t)).collect();
            }
            _ => {}
        }
        problem
    }

    pub(super) fn problem(&self, pairs: &[OpenPair]) -> Problem {
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

    pub(super) fn is_of_begins_and_commits(&self) -> bool {
        self.nodes == self.all.small.nodes() + self.all.small.len() && self.level != Level::MonotonicView
    }

    /// What is known, without any choice.
    pub(super) fn base(&self) -> Problem {
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
    pub(super) fn sources_of(&self, reader: u32) -> impl Iterator<Item = u32> {
        let all = self.all;
        let transaction = all.small.transactions[reader as usize];
        let reads = all.lookup.operations(transaction).flat_map(|read| all.lookup.read_from(read));
        let writers = reads.filter(|&writer| writer != ABSENT && writer != INITIAL);
        writers.map(|writer| all.nodes[writer as usize]).filter(move |&node| node != ABSENT && node != reader)
    }

    fn base_of_moments(&self, problem: &mut Problem) {
        let (all, small) = (self.all, self.all.small);
        let edges = small.dependencies(Order::Plain);
        problem.edges = edges.pairs().map(|(node, before)| (before, node)).collect();
        for (&read, &moment) in &self.moments {
            let transaction = self.transaction_of(read);
            let entered = all.lookup.entered_until(transaction, read);
            let inside = entered.into_iter().map(|other| all.nodes[other as usize]);
            problem.edges.extend(inside.filter(|&node| node != ABSENT).map(|node| (node, moment)));
            let Some((_, key, version)) = self.observation(transaction, read) else { continue };
            for extra in all.lookup.after(key, version, Order::Plain) {
                let writer = all.lookup.orders.writers[extra.after as usize];
                let node = if writer == transaction { ABSENT } else { all.nodes[writer as usize] };
                if node != ABSENT {
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

    fn observation(&self, transaction: u32, read: u32) -> Option<(u32, u32, u32)> {
        let mut observed = self.all.lookup.observed(transaction);
        observed.find(|&(operation, ..)| operation == read)
    }

    /// The steps along a path of the form's nodes.
    pub(super) fn steps(&self, path: &[u32]) -> Vec<Step> {
        let small = self.all.small;
        let witnesses = Witnesses { small, lookup: self.all.lookup };
        let order = self.level.order();
        if self.is_of_begins_and_commits() {
            return witnesses.steps_of_ends(path, order);
        }
        let mut path: Vec<u32> = path.iter().map(|&at| self.owner(at)).collect();
        path.dedup();
        witnesses.steps(&path, &ANY, order)
    }

    /// The node of the transaction that a node belongs to; a junction or an instant is its own.
    pub(super) fn owner(&self, node: u32) -> u32 {
        let transactions = self.all.small.len() as u32;
        if self.is_of_begins_and_commits() {
            return if node < 2 * transactions { node % transactions } else { node };
        }
        // A moment belongs to the transaction of its read.
        let moment = self.moments.iter().find(|&(_, &moment)| moment == node);
        moment.map_or(node, |(&read, _)| self.all.nodes[self.transaction_of(read) as usize])
    }

    /// The node of the transaction that begins or commits at a node; any other node stays as it is.
    pub(super) fn transaction_node(&self, node: u32) -> u32 {
        let transactions = self.all.small.len() as u32;
        let is_commit = self.is_of_begins_and_commits() && (transactions..2 * transactions).contains(&node);
        if is_commit { node - transactions } else { node }
    }

    /// Whether the level forbids paths.
    pub(super) fn has_bars(&self) -> bool {
        matches!(
            self.level,
            Level::ParallelSnapshotIsolation
                | Level::StrongSessionParallelSnapshotIsolation
                | Level::UpdateSerializable
                | Level::MonotonicView
        )
    }

    /// Whether the level asks from which transaction a read came.
    pub(super) fn has_reads(&self) -> bool {
        !matches!(self.level, Level::Pl1 | Level::StrongSessionPl1 | Level::StrongPl1)
    }

    /// Whether the level asks which versions a read missed.
    pub(super) fn has_missed_versions(&self) -> bool {
        self.has_reads() && !matches!(self.level, Level::Pl2 | Level::StrongSessionPl2 | Level::StrongPl2)
    }

    /// Whether a candidate supposes what reads show, since its places do not say it.
    pub(super) fn supposes_reads(&self) -> bool {
        self.has_bars() || self.level == Level::CursorStability
    }

    /// Reads that several versions explain.
    pub(super) fn reads(&self) -> &[OpenRead] {
        &self.forced.reads
    }

    /// The edges that follow if a read showed a version.
    pub(super) fn shows(&self, version: u32, open: &OpenRead) -> Vec<(u32, u32)> {
        let mut edges = vec![(self.end(version), open.node)];
        if self.level == Level::MonotonicView {
            let moments = self.moments_from(open.node, open.read);
            edges.extend(moments.into_iter().map(|moment| (self.end(version), moment)));
        }
        edges
    }

    /// The moments of a transaction from one of its operations on.
    pub(super) fn moments_from(&self, node: u32, operation: u32) -> Vec<u32> {
        let operations = self.all.lookup.operations(self.all.small.transactions[node as usize]);
        let later = operations.filter(|&other| other >= operation);
        later.filter_map(|read| self.moments.get(&read).copied()).collect()
    }

    pub(super) fn writes_something(&self, node: u32) -> bool {
        self.writes_something.get(node as usize).copied().unwrap_or(true)
    }

    /// The edge that follows if a node read an earlier version.
    pub(super) fn misses(&self, reader: u32, version: u32) -> (u32, u32) {
        (reader, self.end(version))
    }

    /// The node at whose place the version of a writer stands.
    pub(super) fn end(&self, version: u32) -> u32 {
        let node = self.all.node(version);
        if self.is_of_begins_and_commits() { self.all.small.commit(node) } else { node }
    }

    /// Nodes that surely read a version.
    pub(super) fn readers(&self, version: u32) -> impl Iterator<Item = u32> {
        let further = self.forced.readers.get(&version).map_or(&[][..], Vec::as_slice);
        self.all.readers(version).iter().chain(further).copied()
    }

    /// The node that earlier versions lead to.
    pub(super) fn start(&self, version: u32) -> u32 {
        if self.level == Level::Prefix { self.end(version) } else { self.all.node(version) }
    }

    /// Whether an edge leads from the readers of a version to the writer of a later one.
    pub(super) fn has_edges_of_readers(&self) -> bool {
        self.is_of_begins_and_commits()
            || matches!(
                self.level,
                Level::Serializable | Level::StrongSessionSerializable | Level::StrictSerializable
            )
    }

    /// Whether no two transactions that read one version may both write the next.
    pub(super) fn forbids_lost_updates(&self) -> bool {
        self.has_edges_of_readers() && self.level != Level::Prefix
    }

    /// Whether an order of versions has edges beside those of its writers and readers.
    pub(super) fn has_further_edges(&self) -> bool {
        matches!(self.level, Level::MonotonicView | Level::UpdateSerializable)
    }

    /// Where a node likely comes: transactions as replayed or as in the history, each of which commits when it
    /// has begun.
    pub(super) fn rank(&self, node: u32) -> u64 {
        let small = self.all.small;
        let transactions = small.len() as u32;
        let ranks = &self.all.guess.ranks[self.level.order() as usize];
        let place = |transaction: u32| ranks.get(transaction as usize).copied().unwrap_or(transaction);
        let of = |node: u32| 2 * (u64::from(place(small.transactions[node as usize])) + 1);
        match node {
            _ if node < transactions => of(node),
            _ if self.is_of_begins_and_commits() && node < 2 * transactions => of(node - transactions) + 1,
            _ => 0,
        }
    }

    /// What follows if `before` comes before `after`.
    pub(super) fn side(&self, key: u32, before: u32, after: u32) -> Side {
        let (all, small) = (self.all, self.all.small);
        let (first, second) = (all.node(before), all.node(after));
        let readers = self.readers(before).filter(|&reader| reader != second);
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
        let write = all.lookup.orders.operations[after as usize];
        side.edges.extend(self.moments_from(second, write).into_iter().map(|moment| (first, moment)));
        for &reader in all.readers(before).iter().filter(|&&reader| reader != second) {
            let transaction = all.small.transactions[reader as usize];
            let reads = all.lookup.observed(transaction).filter(|&(_, k, v)| k == key && v == before);
            side.barred.extend(
                reads.filter_map(|(read, ..)| self.moments.get(&read).map(|&moment| (second, moment))),
            );
        }
    }

    /// No other transaction's version comes between the one that was read and the own one.
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

    /// A transaction that read a version and wrote the key comes right after it.
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
