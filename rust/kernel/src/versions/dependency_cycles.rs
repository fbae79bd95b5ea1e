//! Write cycles and circular information flow.

use super::anomalies::{Counted, FLOWS, Naming, TRIES, WRITE_CYCLES, best, shapes};
use super::dependencies::{Order, Pairs, Parts};
use super::witness::Witnesses;
use crate::graph::Edges;
use crate::relation::Relation;
use hashbrown::{HashMap, HashSet};

impl Naming<'_, '_> {
    pub fn write_cycles(&mut self, order: Order, counted: &mut Counted) {
        let mut found = shapes(&self.cycles.writes[order as usize], self.small().len());
        found.retain(|nodes| !counted.is_within(nodes));
        if found.is_empty() {
            return;
        }
        let parts = Parts { wr: false, rw: false, order };
        let edges = self.small().graph(parts);
        let preferred = [Relation::WriteWrite, Relation::Session, Relation::RealTime];
        let name = WRITE_CYCLES[order as usize];
        for nodes in found {
            counted.note(&nodes);
            if !self.count(name) {
                continue;
            }
            let mut cycles = self.cycles_in_time(&edges, &nodes, order);
            cycles.extend(self.witnesses.shortest_cycle(&edges, &nodes, &mut self.paths));
            let steps = cycles.iter().map(|cycle| self.witnesses.steps(cycle, &preferred, order));
            let shown = best(name, steps);
            self.show(name, shown);
        }
    }

    /// Short cycles through what this order adds to the weaker one.
    pub fn cycles_in_time(&mut self, edges: &Edges, nodes: &[u32], order: Order) -> Vec<Vec<u32>> {
        let inside: HashSet<u32> = nodes.iter().copied().collect();
        let pairs = self.pairs_in_time(order, |node| inside.contains(&node));
        self.cycles_through(edges, &pairs)
    }

    /// Edges that this order adds to the weaker one, between nodes that are wanted or from instants.
    pub fn pairs_in_time(&self, order: Order, wanted: impl Fn(u32) -> bool) -> Pairs {
        let small = self.small();
        let transactions = small.len() as u32;
        let is_wanted = |&(node, before): &(u32, u32)| {
            node < transactions && wanted(node) && (before >= transactions || wanted(before))
        };
        match order {
            Order::Plain => Pairs::new(),
            Order::Session => small.session_pairs(true).into_iter().filter(is_wanted).collect(),
            Order::RealTime => small.real_time.iter().copied().filter(is_wanted).collect(),
        }
    }

    /// The shortest cycle through each of the first of these edges.
    fn cycles_through(&mut self, edges: &Edges, pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let witnesses = &self.witnesses;
        let paths = &mut self.paths;
        let cycles = pairs.iter().take(TRIES).filter_map(|&(node, before)| {
            let mut path = witnesses.path_from(edges, node, before, paths)?;
            path.push(node);
            // A cycle begins with a transaction.
            let first = path.iter().position(|&node| (node as usize) < witnesses.small.len())?;
            path.pop();
            path.rotate_left(first);
            path.push(path[0]);
            Some(path)
        });
        cycles.collect()
    }

    pub fn flows(&mut self, order: Order, counted: &mut Counted) {
        let mut found = shapes(&self.cycles.flows[order as usize], self.small().len());
        found.retain(|nodes| !counted.is_within(nodes));
        if found.is_empty() {
            return;
        }
        let edges = self.small().dependencies(order);
        let writes: HashSet<(u32, u32)> = self.small().ww.iter().copied().collect();
        let preferred = [Relation::WriteRead, Relation::WriteWrite, Relation::Session, Relation::RealTime];
        for nodes in found {
            let reads = self.reads_inside(&nodes, &writes);
            if reads.is_empty() {
                continue;
            }
            counted.note(&nodes);
            if !self.count(FLOWS[order as usize]) {
                continue;
            }
            let name = FLOWS[order as usize];
            let mut cycles = self.cycles_through(&edges, &reads);
            cycles.extend(self.cycles_in_time(&edges, &nodes, order));
            let steps = cycles.iter().map(|cycle| self.witnesses.steps(cycle, &preferred, order));
            let shown = best(name, steps);
            self.show(name, shown);
        }
    }

    /// Which of these read from which, without having overwritten it right away.
    fn reads_inside(&self, nodes: &[u32], writes: &HashSet<(u32, u32)>) -> Vec<(u32, u32)> {
        let Witnesses { small, lookup } = self.witnesses;
        let inside: HashMap<u32, u32> = nodes.iter().map(|&n| (small.transactions[n as usize], n)).collect();
        let mut found = Vec::new();
        for &node in nodes {
            let transaction = small.transactions[node as usize];
            let writers = lookup.operations(transaction).flat_map(|read| lookup.read_from(read));
            let members = writers.filter_map(|writer| inside.get(&writer).copied());
            found.extend(members.map(|before| (node, before)));
        }
        found.retain(|pair| pair.0 != pair.1 && !writes.contains(pair));
        found.sort_unstable();
        found.dedup();
        found
    }
}
