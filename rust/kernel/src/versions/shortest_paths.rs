//! Short paths in a graph given by predecessors.

use crate::graph::Edges;
use crate::observations::ABSENT;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A search for short paths in one graph by predecessors; one array each, used again and again.
pub struct Paths {
    distance: Vec<u32>,
    next: Vec<u32>,
    touched: Vec<u32>,
    ends: Vec<u32>,
}

impl Paths {
    /// For graphs with so many nodes.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        let (distance, next) = (vec![u32::MAX; nodes], vec![ABSENT; nodes]);
        Self { distance, next, touched: Vec::new(), ends: Vec::new() }
    }

    /// The shortest path from `from` to `to`; `from` may be `to`, then it is a cycle. `cost` is that of an
    /// edge (before, after).
    pub fn shortest(
        &mut self,
        edges: &Edges,
        from: u32,
        to: u32,
        cost: impl Fn(u32, u32) -> u32,
    ) -> Option<Vec<u32>> {
        self.start();
        self.grow(edges, &[to], |_| true, cost, |node| node == from).map(|found| self.path(found))
    }

    /// The shortest path from one of `from` to one of `to` over nodes that are allowed; it may be one node.
    pub fn shortest_between(
        &mut self,
        edges: &Edges,
        from: &[u32],
        to: &[u32],
        is_allowed: impl Fn(u32) -> bool,
        cost: impl Fn(u32, u32) -> u32,
    ) -> Option<Vec<u32>> {
        if let Some(&both) = from.iter().find(|node| to.contains(node)) {
            return Some(vec![both]);
        }
        self.start();
        self.grow(edges, to, is_allowed, cost, |node| from.contains(&node)).map(|found| self.path(found))
    }

    fn start(&mut self) {
        for node in self.touched.drain(..) {
            self.distance[node as usize] = u32::MAX;
            self.next[node as usize] = ABSENT;
        }
    }

    /// Looks back from `to` until a node is wanted.
    fn grow(
        &mut self,
        edges: &Edges,
        to: &[u32],
        is_allowed: impl Fn(u32) -> bool,
        cost: impl Fn(u32, u32) -> u32,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut open: BinaryHeap<_> = to.iter().map(|&node| Reverse((0u32, node, true))).collect();
        while let Some(Reverse((so_far, node, is_end))) = open.pop() {
            if !is_end && is_wanted(node) {
                self.ends.clear();
                self.ends.extend(to);
                return Some(node);
            }
            if !is_end && so_far > self.distance[node as usize] {
                continue;
            }
            for &before in edges.of(node) {
                let total = so_far + cost(before, node);
                if total < self.distance[before as usize] && is_allowed(before) {
                    self.distance[before as usize] = total;
                    self.next[before as usize] = node;
                    self.touched.push(before);
                    open.push(Reverse((total, before, false)));
                }
            }
        }
        None
    }

    fn path(&self, from: u32) -> Vec<u32> {
        let mut path = vec![from, self.next[from as usize]];
        while !self.ends.contains(&path[path.len() - 1]) {
            path.push(self.next[path[path.len() - 1] as usize]);
        }
        path
    }
}
