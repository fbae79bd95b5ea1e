//! Phantoms: circles that need what range reads left out. They have no other name.

use super::Judge;
use super::anomalies::{Finding, Named, VersionAnomaly, name};
use super::dependencies::{Dependencies, Order, Parts, components};
use super::level_cycles::add_level_proofs;
use super::levels::{Cycles, Level};
use super::lookup::Lookup;
use super::shortest_paths::Paths;
use super::witness::{ANY, Step, Witnesses};
use crate::graph::Edges;
use crate::history::LeftOut;
use crate::observations::{ABSENT, INITIAL};
use crate::relation::Relation;
use hashbrown::HashSet;

/// All that serializability is about.
const PARTS: Parts = Parts { wr: true, rw: true, order: Order::Plain };

/// What is on cycles, and where they rest.
pub(super) struct Circles<'l, 'h> {
    pub small: Dependencies,
    pub lookup: &'l Lookup<'h>,
    pub found: Cycles,
}

/// A reader left a key out, and a transaction wrote the next version of it.
struct Missed {
    reader: u32,
    writer: u32,
    key: u32,
}

impl Judge<'_> {
    /// Names all circles. Those that need what range reads left out are phantoms, and all others have the names that
    /// they would have without.
    pub(super) fn named(&self, circles: &Circles<'_, '_>) -> Named {
        let of_all = self.named_alike(circles);
        let has_none = self.question.is_of_items || self.history.operations.left_out.is_empty();
        if has_none || !circles.found.violated.contains(&true) {
            return of_all;
        }
        let orders = self.orders(true);
        let all = self.dependencies(&orders);
        let lookup = Lookup::new(self.history, self.observations, &orders, self.times);
        let mut named = self.named_alike(&self.circles(&all, &lookup));
        self.add_phantoms(circles, &all, &mut named);
        named.findings.extend(of_all.findings.into_iter().filter_map(|found| self.phantom_of_level(found)));
        named
    }

    /// Names all circles, and proves levels that no single name stands for.
    fn named_alike(&self, Circles { small, lookup, found }: &Circles<'_, '_>) -> Named {
        let mut named = name(small, lookup, found, self.question.max_anomalies);
        add_level_proofs(small, lookup, found, self.cancel, &mut named);
        named
    }

    /// Counts readers and keys with a read-write edge that closes a circle, where none of the circles of both
    /// transactions does without such edges; `items` has none.
    fn add_phantoms(&self, circles: &Circles<'_, '_>, items: &Dependencies, named: &mut Named) {
        let Circles { small, lookup, found } = circles;
        if !found.violated[Level::Serializable as usize] {
            return;
        }
        let edges = small.graph(PARTS);
        let of = components(&edges, small.nodes()).of;
        let without = self.components_of(items, small);
        let closes = |missed: &Missed| {
            let [reader, writer] = [missed.reader, missed.writer].map(|node| node as usize);
            of[reader] == of[writer] && without[reader] != without[writer]
        };
        let mut known = HashSet::new();
        let mut paths = Paths::new(small.nodes());
        for missed in self.missed(small, lookup).into_iter().filter(closes) {
            if !known.insert((missed.reader, missed.key)) {
                continue;
            }
            let count = &mut named.counts[VersionAnomaly::Phantom as usize];
            *count += 1;
            if *count <= self.question.max_anomalies as u64 {
                let steps = circle(&Witnesses { small, lookup }, &edges, &missed, &mut paths);
                let (name, alternatives) = (VersionAnomaly::Phantom, Vec::new());
                named.findings.push(Finding { name, steps, alternatives, level: None });
            }
        }
    }

    /// The component of each node of `small`, by the edges of `items`.
    fn components_of(&self, items: &Dependencies, small: &Dependencies) -> Vec<u32> {
        let found = components(&items.graph(PARTS), items.nodes()).of;
        let mut of = vec![ABSENT; self.history.transaction_count()];
        items
            .transactions
            .iter()
            .zip(&found)
            .for_each(|(&transaction, &group)| of[transaction as usize] = group);
        small.transactions.iter().map(|&transaction| of[transaction as usize]).collect()
    }

    /// The versions right after those that range reads left out, in the order of the history.
    fn missed(&self, small: &Dependencies, lookup: &Lookup<'_>) -> Vec<Missed> {
        let mut nodes = vec![ABSENT; self.history.transaction_count()];
        small.transactions.iter().zip(0..).for_each(|(&t, node)| nodes[t as usize] = node);
        let mut readers: Vec<u32> = (0..small.len() as u32).collect();
        readers.sort_unstable_by_key(|&node| small.transactions[node as usize]);
        let mut found = Vec::new();
        for reader in readers {
            let reads = lookup.observed(small.transactions[reader as usize]);
            for (_, key, version) in reads.filter(|&(read, ..)| self.is_left_out(read)) {
                let next = lookup.after(key, version, Order::Plain);
                let writers = next.map(|extra| lookup.orders.writers[extra.after as usize]);
                let writers =
                    writers.filter(|&writer| writer != INITIAL).map(|writer| nodes[writer as usize]);
                let others = writers.filter(|&writer| writer != ABSENT && writer != reader);
                found.extend(others.map(|writer| Missed { reader, writer, key }));
            }
        }
        found
    }

    fn is_left_out(&self, read: u32) -> bool {
        self.history.operations.left_out.get(read as usize) != LeftOut::No
    }

    /// A circle that breaks a level by what a range read left out, as the phantom of that level; nothing if it is one
    /// of rows, or if the level is the one that every phantom breaks.
    fn phantom_of_level(&self, found: Finding) -> Option<Finding> {
        let is_missed = |step: &Step| {
            let read = step.operations.first().filter(|_| step.relation == Relation::ReadWrite);
            read.is_some_and(|&read| self.is_left_out(read))
        };
        let level = found.level.or_else(|| weakest(found.name))?;
        let is_phantom = level != Level::Serializable && found.steps.iter().any(is_missed);
        is_phantom.then_some(Finding { name: VersionAnomaly::Phantom, level: Some(level), ..found })
    }
}

/// The weakest level that a circle of this name breaks, if what range reads left out counts.
fn weakest(name: VersionAnomaly) -> Option<Level> {
    match name {
        VersionAnomaly::LostUpdate | VersionAnomaly::ReadSkew => Some(Level::ParallelSnapshotIsolation),
        VersionAnomaly::ReadSkewSession => Some(Level::StrongSessionParallelSnapshotIsolation),
        VersionAnomaly::LongFork => Some(Level::SnapshotIsolation),
        VersionAnomaly::LongForkSession => Some(Level::StrongSessionSnapshotIsolation),
        VersionAnomaly::ReadSkewRealTime | VersionAnomaly::LongForkRealTime => {
            Some(Level::StrongSnapshotIsolation)
        }
        VersionAnomaly::WriteSkew => Some(Level::Serializable),
        VersionAnomaly::WriteSkewSession => Some(Level::StrongSessionSerializable),
        VersionAnomaly::WriteSkewRealTime => Some(Level::StrictSerializable),
        _ => None,
    }
}

/// The shortest circle through what was missed.
fn circle(witnesses: &Witnesses<'_, '_>, edges: &Edges, missed: &Missed, paths: &mut Paths) -> Vec<Step> {
    let [reader, writer] =
        [missed.reader, missed.writer].map(|node| witnesses.small.transactions[node as usize]);
    let mut steps: Vec<Step> =
        witnesses.missed(reader, writer, Order::Plain, |key| key == missed.key).into_iter().collect();
    if let Some(path) = witnesses.path_from(edges, missed.writer, missed.reader, paths) {
        steps.extend(witnesses.steps(&path, &ANY, Order::Plain));
    }
    steps
}
