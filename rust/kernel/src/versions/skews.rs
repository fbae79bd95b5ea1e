//! Read skews, long forks and write skews.

use super::anomalies::{Counted, LONG_FORKS, Naming, READ_SKEWS, TRIES, WRITE_SKEWS, best, shapes};
use super::dependencies::{Dependencies, Order, Pairs, components};
use super::levels::{Closing, Cycles};
use super::shortest_paths::Paths;
use super::witness::{ANY, Step, Witnesses};
use crate::graph::Edges;
use crate::relation::Relation;
use hashbrown::HashSet;

/// The edges that are left when write cycles, circular flows, lost updates and read skews are left out.
pub(super) struct Left {
    dependencies: Pairs,
    read_writes: Pairs,
}

impl Left {
    pub fn new(small: &Dependencies, cycles: &Cycles, order: Order) -> Self {
        let flows = &cycles.flows[order as usize];
        let cyclic = flows.on_cycle();
        let is_on_flow = |node: u32, before: u32| {
            cyclic[node as usize] && flows.of[node as usize] == flows.of[before as usize]
        };
        let rows = small.session_pairs(order >= Order::Session);
        let mut lists: Vec<&[(u32, u32)]> = vec![&small.ww, &small.wr, &rows];
        if order == Order::RealTime {
            lists.push(&small.real_time);
        }
        let dependencies = lists
            .into_iter()
            .flatten()
            .copied()
            .filter(|&(node, before)| !is_on_flow(node, before))
            .collect();
        let closing: HashSet<(u32, u32)> =
            cycles.closing[order as usize].iter().map(|closing| (closing.after, closing.reader)).collect();
        let lost: HashSet<(u32, u32)> = cycles.lost.iter().map(|lost| (lost.transaction, lost.key)).collect();
        let of_lost = |reader: u32, key: u32| {
            let transaction = small.transactions.get(reader as usize);
            transaction.is_some_and(|&transaction| lost.contains(&(transaction, key)))
        };
        let read_writes = small
            .believed_with_keys(order)
            .filter(|&(pair, key)| !closing.contains(&pair) && !of_lost(pair.1, key))
            .map(|(pair, _)| pair)
            .collect();
        Self { dependencies, read_writes }
    }
}

impl Naming<'_, '_> {
    pub fn read_skews(&mut self, order: Order) {
        let at = order as usize;
        let lost: HashSet<(u32, u32)> =
            self.cycles.lost.iter().map(|lost| (lost.transaction, lost.key)).collect();
        let pair = |closing: &Closing| (closing.reader, closing.key);
        let weaker: HashSet<(u32, u32)> = match at.checked_sub(1) {
            Some(weaker) => self.cycles.closing[weaker].iter().map(pair).collect(),
            None => HashSet::new(),
        };
        let cycles = self.cycles;
        let mut edges = None;
        for same in cycles.closing[at].chunk_by(|a, b| pair(a) == pair(b)) {
            let (reader, key) = pair(&same[0]);
            let transaction = self.small().transactions[reader as usize];
            if lost.contains(&(transaction, key)) || weaker.contains(&(reader, key)) {
                continue;
            }
            if !self.count(READ_SKEWS[at]) {
                continue;
            }
            let edges = edges.get_or_insert_with(|| self.witnesses.small.dependencies(order));
            let steps = skew(&self.witnesses, edges, same, order, &mut self.paths);
            if let Some(steps) = steps {
                self.show(READ_SKEWS[at], steps);
            }
        }
    }

    pub fn long_forks(&mut self, order: Order, left: &Left, counted: &mut Counted) {
        let small = self.small();
        let nodes = small.nodes() + small.len();
        let mut pairs: Pairs = (0..small.len() as u32).map(|node| (small.commit(node), node)).collect();
        pairs.extend(left.dependencies.iter().map(|&(node, b)| (small.begin(node), small.commit(b))));
        pairs.extend(left.read_writes.iter().map(|&(node, b)| (small.commit(node), small.begin(b))));
        let edges = Edges::collected(nodes, &[&pairs]);
        let found = components(&edges, nodes);
        let transactions = small.len() as u32;
        let groups = found.cycles().map(|group| {
            let ends = group.iter().copied().filter(|&node| node < 2 * transactions);
            let mut nodes: Vec<u32> = ends.map(|node| node % transactions).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        });
        let mut groups: Vec<Vec<u32>> = groups.filter(|nodes| nodes.len() > 1).collect();
        groups.sort_unstable();
        let name = LONG_FORKS[order as usize];
        groups.retain(|nodes| !counted.is_within(nodes));
        for nodes in groups {
            counted.note(&nodes);
            if self.count(name) {
                let steps = self.forks(&edges, &nodes, order);
                self.show(name, best(name, steps));
            }
        }
    }

    /// Short cycles of begins and commits.
    fn forks(&mut self, edges: &Edges, nodes: &[u32], order: Order) -> Vec<Vec<Step>> {
        let small = self.witnesses.small;
        let transactions = small.len() as u32;
        let cost = |before: u32, after: u32| match before {
            // From a begin to its own commit is no step.
            _ if before >= 2 * transactions || after == before + transactions => 0,
            _ => 16,
        };
        let inside: HashSet<u32> = nodes.iter().copied().collect();
        let in_time = self.pairs_in_time(order, |node| inside.contains(&node));
        let ends = in_time.iter().map(|&(node, before)| (small.begin(node), small.commit(before)));
        let paths = &mut self.paths;
        let mut cycles: Vec<Vec<u32>> =
            nodes.iter().take(TRIES).filter_map(|&node| paths.shortest(edges, node, node, cost)).collect();
        cycles.extend(ends.take(TRIES).filter_map(|(node, before)| {
            let mut path = paths.shortest(edges, node, before, cost)?;
            path.push(node);
            Some(path)
        }));
        cycles.iter().map(|cycle| self.witnesses.steps_of_ends(cycle, order)).collect()
    }

    pub fn write_skews(&mut self, order: Order, left: &Left, counted: &mut Counted) {
        let nodes = self.small().nodes();
        let edges = Edges::collected(nodes, &[&left.dependencies, &left.read_writes]);
        let found = components(&edges, nodes);
        let mut groups = shapes(&found, self.small().len());
        groups.retain(|nodes| !counted.is_within(nodes));
        let missed = Edges::collected(nodes, &[&left.read_writes]);
        let reversed: Pairs = left.read_writes.iter().map(|&(node, before)| (before, node)).collect();
        let overwrote = Edges::collected(nodes, &[&reversed]);
        for group in &groups {
            let inside = found.of[group[0] as usize];
            let is_inside = |node: u32| found.of[node as usize] == inside;
            let is_shown =
                self.named.counts[WRITE_SKEWS[order as usize] as usize] < self.max_anomalies as u64;
            let found = self.two_in_a_row(&edges, &missed, &overwrote, group, is_inside, is_shown);
            let Some(cycle) = found else { continue };
            counted.note(group);
            let name = WRITE_SKEWS[order as usize];
            if self.count(name) {
                let mut shown = vec![self.skew_steps(&cycle, order)];
                let in_time = self.cycles_in_time(&edges, group, order);
                shown.extend(in_time.iter().map(|cycle| self.witnesses.steps(cycle, &ANY, order)));
                self.show(name, best(name, shown));
            }
        }
    }

    /// A simple cycle that enters and leaves some transaction by read-write edges; it begins and ends there.
    /// A short one if it is to be shown.
    fn two_in_a_row(
        &mut self,
        edges: &Edges,
        missed: &Edges,
        overwrote: &Edges,
        group: &[u32],
        is_inside: impl Fn(u32) -> bool,
        is_shown: bool,
    ) -> Option<Vec<u32>> {
        let mut best: Option<(u32, Vec<u32>)> = None;
        for (tried, &middle) in group.iter().enumerate() {
            if best.is_some() && (tried > TRIES || !is_shown) {
                break;
            }
            let readers = self.ends(missed, middle, &is_inside);
            let writers = self.ends(overwrote, middle, &is_inside);
            let nodes = |ends: &[(u32, Vec<u32>)]| ends.iter().map(|&(node, _)| node).collect::<Vec<u32>>();
            let witnesses = &self.witnesses;
            let cost = |before: u32, after: u32| witnesses.cost(before, after);
            let is_allowed = |node: u32| node != middle && is_inside(node);
            let (writing, reading) = (nodes(&writers), nodes(&readers));
            let path = self.paths.shortest_between(edges, &writing, &reading, is_allowed, cost);
            let Some(path) = path else { continue };
            let way = |ends: &[(u32, Vec<u32>)], node: u32| {
                ends.iter().find(|&&(end, _)| end == node).map(|(_, way)| way.clone()).unwrap_or_default()
            };
            let mut cycle = vec![middle];
            cycle.extend(way(&writers, path[0]));
            cycle.extend(&path);
            cycle.extend(way(&readers, path[path.len() - 1]).iter().rev());
            cycle.push(middle);
            let length = self.witnesses_length(&cycle);
            if best.as_ref().is_none_or(|(known, _)| length < *known) {
                best = Some((length, cycle));
            }
        }
        best.map(|(_, cycle)| cycle)
    }

    fn witnesses_length(&self, cycle: &[u32]) -> u32 {
        cycle.windows(2).map(|pair| self.witnesses.cost(pair[0], pair[1])).sum()
    }

    /// Transactions one read-write edge away, with the junctions on the way there.
    fn ends(&self, edges: &Edges, from: u32, is_inside: &impl Fn(u32) -> bool) -> Vec<(u32, Vec<u32>)> {
        let transactions = self.small().len() as u32;
        let mut found = Vec::new();
        let mut open: Vec<(u32, Vec<u32>)> = vec![(from, Vec::new())];
        let mut known: HashSet<u32> = HashSet::new();
        while let Some((node, way)) = open.pop() {
            for &next in edges.of(node).iter().filter(|&&next| is_inside(next)) {
                if !known.insert(next) || next == from {
                    continue;
                }
                if next < transactions {
                    found.push((next, way.clone()));
                } else {
                    let mut way = way.clone();
                    way.push(next);
                    open.push((next, way));
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn skew_steps(&self, cycle: &[u32], order: Order) -> Vec<Step> {
        let transactions = self.small().len() as u32;
        let places: Vec<usize> = (0..cycle.len()).filter(|&place| cycle[place] < transactions).collect();
        let flow = [
            Relation::WriteRead,
            Relation::WriteWrite,
            Relation::Session,
            Relation::RealTime,
            Relation::ReadWrite,
        ];
        let (first, last) = (0, places.len() - 2);
        let steps = places.windows(2).enumerate().filter_map(|(number, pair)| {
            let preferred: &[Relation] =
                if number == first || number == last { &[Relation::ReadWrite] } else { &flow };
            let between = (pair[1] > pair[0] + 1).then(|| cycle[pair[0] + 1]);
            self.witnesses.step(cycle[pair[0]], cycle[pair[1]], between, preferred, order)
        });
        let mut steps: Vec<Step> = steps.collect();
        // The two reads in a row stand together.
        if steps.len() > 2 {
            steps.rotate_right(1);
        }
        steps
    }
}

/// A read that missed something, and how what it missed comes before the reader: the shortest way.
fn skew(
    witnesses: &Witnesses<'_, '_>,
    edges: &Edges,
    closing: &[Closing],
    order: Order,
    paths: &mut Paths,
) -> Option<Vec<Step>> {
    let reader = closing[0].reader;
    let key = closing[0].key;
    let ways = closing.iter().filter_map(|edge| witnesses.path_from(edges, edge.after, reader, paths));
    let length = |path: &Vec<u32>| path.windows(2).map(|pair| witnesses.cost(pair[0], pair[1])).sum::<u32>();
    let path = ways.min_by_key(length)?;
    let transactions = witnesses.small.len() as u32;
    let first = path.iter().position(|&node| node < transactions)?;
    let flow = [Relation::WriteRead, Relation::WriteWrite, Relation::Session, Relation::RealTime];
    let [from, to] = [reader, path[first]].map(|node| witnesses.small.transactions[node as usize]);
    let mut steps = vec![witnesses.missed(from, to, order, |other| other == key)?];
    steps.extend(witnesses.steps(&path[first..], &flow, order));
    Some(steps)
}
