//! Why no order is left: the forced orders behind a contradiction, and those that forced them.

use super::OpenPair;
use super::forced_orders::Forced;
use super::level_problem::LevelProblem;
use super::order_search::Succession;
use crate::graph::Edges;
use crate::solver::Problem;
use crate::versions::dependencies::components;
use hashbrown::HashMap;
use std::collections::{BTreeMap, VecDeque};

/// More pairs are not told.
const MAX_PAIRS: usize = 64;

/// The known edges and the forced ones.
pub(super) struct Reasons<'r, 'c, 's, 'h> {
    level_problem: &'r LevelProblem<'c, 's, 'h>,
    base: &'r Problem,
    forced: &'r [Forced],
    /// Edges of each node: where they lead, and the number of the forced edge, or [`KNOWN`].
    after: Vec<Vec<(u32, u32)>>,
    /// The first edge of each order.
    first: HashMap<(u32, u32), u32>,
}

const KNOWN: u32 = u32::MAX;

impl<'r, 'c, 's, 'h> Reasons<'r, 'c, 's, 'h> {
    pub(super) fn new(
        level_problem: &'r LevelProblem<'c, 's, 'h>,
        base: &'r Problem,
        forced: &'r [Forced],
    ) -> Self {
        let mut after = vec![Vec::new(); base.nodes];
        for &(before, to) in &base.edges {
            after[before as usize].push((to, KNOWN));
        }
        let mut first = HashMap::new();
        for (edge, number) in forced.iter().zip(0..) {
            after[edge.before as usize].push((edge.after, number));
            if let Some(order) = edge.order {
                first.entry((order.before, order.after)).or_insert(number);
            }
        }
        Self { level_problem, base, forced, after, first }
    }

    /// Pairs of versions that leave no order; none if they are many, or if reads take part.
    pub(super) fn blamed(&self, broken: Option<Succession>) -> Vec<OpenPair> {
        self.needed(broken).unwrap_or_default()
    }

    fn needed(&self, broken: Option<Succession>) -> Option<Vec<OpenPair>> {
        // By the first edge of each order: what forced it came before.
        let mut open: BTreeMap<u32, Succession> = BTreeMap::new();
        let mut found: Vec<Succession> = Vec::new();
        match broken {
            Some(order) => {
                found.push(order);
                let opposite = Succession { before: order.after, after: order.before, ..order };
                self.add_all(self.closing(order, KNOWN)?, &mut open)?;
                self.add_all(self.closing(opposite, KNOWN)?, &mut open)?;
            }
            None => self.add_all(self.cycle()?, &mut open)?,
        }
        while let Some((number, order)) = open.pop_last() {
            found.push(order);
            if found.len() > MAX_PAIRS {
                return None;
            }
            let opposite = Succession { before: order.after, after: order.before, ..order };
            self.add_all(self.closing(opposite, number)?, &mut open)?;
        }
        let pair = |order: Succession| OpenPair {
            key: order.key,
            first: order.before.min(order.after),
            second: order.before.max(order.after),
        };
        Some(found.into_iter().map(pair).collect())
    }

    /// Adds the orders of these forced edges.
    fn add_all(&self, edges: Vec<u32>, open: &mut BTreeMap<u32, Succession>) -> Option<()> {
        for edge in edges {
            let order = self.forced[edge as usize].order?;
            open.insert(self.first[&(order.before, order.after)], order);
        }
        Some(())
    }

    /// The forced edges before `until` with which an order closes a cycle.
    fn closing(&self, order: Succession, until: u32) -> Option<Vec<u32>> {
        let side = self.level_problem.side(order.key, order.before, order.after);
        side.edges.iter().find_map(|&(before, after)| self.path(after, before, until))
    }

    /// The forced edges of a cycle.
    fn cycle(&self) -> Option<Vec<u32>> {
        let known = self.base.edges.iter().map(|&(before, after)| (after, before));
        let forced = self.forced.iter().map(|edge| (edge.after, edge.before));
        let pairs: Vec<(u32, u32)> = known.chain(forced).collect();
        let components = components(&Edges::collected(self.base.nodes, &[&pairs]), self.base.nodes);
        let is_inside =
            |edge: &&Forced| components.of[edge.before as usize] == components.of[edge.after as usize];
        let number = self.forced.iter().position(|edge| is_inside(&edge))? as u32;
        let Forced { before, after, .. } = self.forced[number as usize];
        let mut edges = self.path(after, before, KNOWN)?;
        edges.push(number);
        Some(edges)
    }

    /// The forced edges on a way that has few, all of them before `until`.
    fn path(&self, from: u32, to: u32, until: u32) -> Option<Vec<u32>> {
        let mut came = vec![None; self.base.nodes];
        let mut queue = VecDeque::from([(from, from, KNOWN)]);
        while let Some((node, before, number)) = queue.pop_front() {
            if came[node as usize].is_some() {
                continue;
            }
            came[node as usize] = Some((before, number));
            if node == to {
                break;
            }
            for &(next, number) in &self.after[node as usize] {
                match number {
                    KNOWN => queue.push_front((next, node, number)),
                    _ if number < until => queue.push_back((next, node, number)),
                    _ => {}
                }
            }
        }
        let mut edges = Vec::new();
        let mut node = to;
        loop {
            let (before, number) = came[node as usize]?;
            edges.extend((number != KNOWN).then_some(number));
            if node == from {
                return Some(edges);
            }
            node = before;
        }
    }
}
