//! Phantoms: circles that need what range reads left out.

use super::Judge;
use super::anomalies::{Finding, Named, VersionAnomaly};
use super::dependencies::{Dependencies, Order, Parts, components};
use super::levels::{Cycles, Level};
use super::lookup::Lookup;
use super::orders::{self, Orders};
use super::shortest_paths::Paths;
use super::witness::{ANY, Step, Witnesses};
use crate::history::LeftOut;
use crate::observations::{ABSENT, INITIAL};
use hashbrown::HashSet;

/// All that serializability is about.
const PARTS: Parts = Parts { wr: true, rw: true, order: Order::Plain };

/// A reader left a key out, and a transaction wrote the next version of it.
struct Missed {
    reader: u32,
    writer: u32,
    key: u32,
}

impl Judge<'_> {
    /// Counts readers and keys with a read-write edge that closes a circle, where none of the circles of both
    /// transactions does without such edges.
    pub(super) fn phantoms(
        &self,
        small: &Dependencies,
        lookup: &Lookup<'_>,
        found: &Cycles,
        named: &mut Named,
    ) {
        let has_none = self.question.is_of_items || self.history.operations.left_out.is_empty();
        if has_none || !found.violated[Level::Serializable as usize] {
            return;
        }
        let edges = small.graph(PARTS);
        let of = components(&edges, small.nodes()).of;
        let without = self.components_of_items(small);
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

    /// The component of each node, by all edges but those of what range reads left out.
    fn components_of_items(&self, small: &Dependencies) -> Vec<u32> {
        let question = orders::Question {
            history: self.history,
            observations: self.observations,
            times: self.times,
            claims: self.question.claims,
            believed: self.believed,
            first: self.first,
            is_of_items: true,
        };
        let orders = Orders::new(&question, self.cancel);
        let all = Dependencies::new(self.history, self.observations, &orders, self.times);
        let found = components(&all.graph(PARTS), all.nodes()).of;
        let mut of = vec![ABSENT; self.history.transaction_count()];
        all.transactions
            .iter()
            .zip(&found)
            .for_each(|(&transaction, &group)| of[transaction as usize] = group);
        small.transactions.iter().map(|&transaction| of[transaction as usize]).collect()
    }

    /// The versions right after those that range reads left out, in the order of the history.
    fn missed(&self, small: &Dependencies, lookup: &Lookup<'_>) -> Vec<Missed> {
        let mut nodes = vec![ABSENT; self.history.transaction_count()];
        small.transactions.iter().zip(0..).for_each(|(&t, node)| nodes[t as usize] = node);
        let left_out = &self.history.operations.left_out;
        let mut readers: Vec<u32> = (0..small.len() as u32).collect();
        readers.sort_unstable_by_key(|&node| small.transactions[node as usize]);
        let mut found = Vec::new();
        for reader in readers {
            let reads = lookup.observed(small.transactions[reader as usize]);
            for (_, key, version) in reads.filter(|&(read, ..)| left_out.get(read as usize) != LeftOut::No) {
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
}

/// The shortest circle through what was missed.
fn circle(
    witnesses: &Witnesses<'_, '_>,
    edges: &crate::graph::Edges,
    missed: &Missed,
    paths: &mut Paths,
) -> Vec<Step> {
    let [reader, writer] =
        [missed.reader, missed.writer].map(|node| witnesses.small.transactions[node as usize]);
    let mut steps: Vec<Step> =
        witnesses.missed(reader, writer, Order::Plain, |key| key == missed.key).into_iter().collect();
    if let Some(path) = witnesses.path_from(edges, missed.writer, missed.reader, paths) {
        steps.extend(witnesses.steps(&path, &ANY, Order::Plain));
    }
    steps
}
