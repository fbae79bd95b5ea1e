//! The cheapest path between two transactions.

use super::{Link, Order, Witnesses};
use crate::observations::INITIAL;
use crate::relation::Relation;

/// A step of the search costs as many transactions as it brings in, and a little less if they are in the
/// proof already.
const COSTS: [usize; 4] = [4, 4, 4, 12];
const KNOWN: usize = 1;
/// Dijkstra's algorithm backwards from a node, with the costs of steps; a session is one step whatever its
/// length.
pub(super) struct Search<'w, 'd, 'h> {
    witnesses: &'w Witnesses<'d, 'h>,
    order: Order,
    costs: Vec<u32>,
    pub(super) next: Vec<Option<Link>>,
    /// Nodes whose whole earlier session has been reached.
    covered: Vec<bool>,
    buckets: Vec<Vec<u32>>,
    target: u32,
    /// Nodes that are in the proof already.
    known: &'w [u32],
}

impl<'w, 'd, 'h> Search<'w, 'd, 'h> {
    pub(super) fn new(witnesses: &'w Witnesses<'d, 'h>, order: Order, target: u32, known: &'w [u32]) -> Self {
        let nodes = witnesses.dependencies.len();
        Self {
            witnesses,
            order,
            costs: vec![u32::MAX; nodes],
            next: vec![None; nodes],
            covered: vec![false; nodes],
            buckets: vec![vec![target]],
            target,
            known,
        }
    }

    pub(super) fn run(&mut self, from: u32) {
        let mut cost = 0;
        while cost < self.buckets.len() {
            while let Some(node) = self.buckets[cost].pop() {
                if cost > 0 && self.costs[node as usize] != cost as u32 {
                    continue;
                }
                if node == from && cost > 0 {
                    return;
                }
                if cost == 0 || node != self.target {
                    self.expand(node, cost);
                }
            }
            cost += 1;
        }
    }

    fn expand(&mut self, node: u32, cost: usize) {
        let dependencies = self.witnesses.dependencies;
        let mut found = Vec::new();
        let in_sessions = !matches!(self.order, Order::Reads | Order::Succession | Order::ReadsAndSuccession);
        let start = if in_sessions { dependencies.session_start(node) } else { node };
        for before in (start..node).rev() {
            if std::mem::replace(&mut self.covered[before as usize], true) {
                break;
            }
            found.push((before, Relation::Session));
        }
        if !matches!(self.order, Order::SessionAndSuccession | Order::Succession) {
            for read in dependencies.reads(node) {
                let sources =
                    dependencies.seen(read).chain(Some(read.source).filter(|&source| source < INITIAL));
                found.extend(
                    sources.filter(|&writer| writer != node).map(|writer| (writer, Relation::WriteRead)),
                );
            }
        }
        if !matches!(self.order, Order::HappensBefore | Order::Reads) {
            let before = dependencies.successions.of(node).iter();
            found.extend(before.map(|&before| (before, Relation::WriteWrite)));
        }
        if let Order::Commit(class) = self.order {
            let before = self.witnesses.demands[class as usize].of(node).iter();
            found.extend(before.map(|&before| (before, Relation::CommitOrder)));
        }
        for (before, relation) in found {
            let cost = cost + COSTS[relation as usize];
            let discount = if self.known.contains(&before) { KNOWN } else { 0 };
            self.reach(before, (node, relation), cost - discount);
        }
    }

    fn reach(&mut self, before: u32, link: Link, cost: usize) {
        if self.costs[before as usize] as usize <= cost {
            return;
        }
        self.costs[before as usize] = cost as u32;
        self.next[before as usize] = Some(link);
        if self.buckets.len() <= cost {
            self.buckets.resize(cost + 1, Vec::new());
        }
        self.buckets[cost].push(before);
    }
}
