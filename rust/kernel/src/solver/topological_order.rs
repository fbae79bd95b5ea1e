//! An order of nodes that follows all edges, kept while edges come and go.
//!
//! After Pearce and Kelly (2006): an edge that leads back moves only nodes between its ends. Edges go in the
//! opposite order in which they came; the order of nodes stays, since fewer edges allow it too.

use crate::graph::Edges;
use std::collections::VecDeque;

/// The reason of an edge that is known.
pub const KNOWN: u32 = u32::MAX;

/// Nodes that got another place; a node may be there several times.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Moved {
    pub earlier: Vec<u32>,
    pub later: Vec<u32>,
}

/// Nodes in order, and the edges between them.
#[derive(Debug)]
pub struct TopologicalOrder {
    known_before: Edges,
    known_after: Edges,
    /// Further edges of each node: (node, reason).
    after: Vec<Vec<(u32, u32)>>,
    before: Vec<Vec<u32>>,
    /// Further edges (before, after), the latest last.
    added: Vec<(u32, u32)>,
    places: Vec<u32>,
    /// How the search came to each node: (node, reason).
    came: Vec<(u32, u32)>,
    is_met: Vec<bool>,
    forward: Vec<u32>,
    backward: Vec<u32>,
    queue: VecDeque<(u32, u32, u32)>,
    /// Nodes that got an earlier place, and those that got a later one, since this was asked for.
    moved: Option<Moved>,
    /// Edges looked at so far.
    pub steps: u64,
}

impl TopologicalOrder {
    /// Starts from an order that follows all edges (before, after): `places` is by node.
    #[must_use]
    pub fn new(edges: &[(u32, u32)], places: Vec<u32>) -> Self {
        let nodes = places.len();
        let turned: Vec<(u32, u32)> = edges.iter().map(|&(before, after)| (after, before)).collect();
        Self {
            known_before: Edges::collected(nodes, &[&turned]),
            known_after: Edges::collected(nodes, &[edges]),
            after: vec![Vec::new(); nodes],
            before: vec![Vec::new(); nodes],
            added: Vec::new(),
            places,
            came: vec![(0, KNOWN); nodes],
            is_met: vec![false; nodes],
            forward: Vec::new(),
            backward: Vec::new(),
            queue: VecDeque::new(),
            moved: None,
            steps: 0,
        }
    }

    /// The place of each node.
    #[must_use]
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Nodes that known edges lead to from a node.
    #[must_use]
    pub fn known_after(&self, node: u32) -> &[u32] {
        self.known_after.of(node)
    }

    /// Notes from now on which nodes get another place, or no longer.
    pub fn note_moves(&mut self, wanted: bool) {
        self.moved = wanted.then(Moved::default);
    }

    /// Nodes that got another place since the last call.
    pub fn moved(&mut self) -> Moved {
        self.moved.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// How many edges were added and not taken back.
    #[must_use]
    pub fn added(&self) -> usize {
        self.added.len()
    }

    /// Takes the latest edges back until so many are left.
    pub fn take_back(&mut self, left: usize) {
        while self.added.len() > left
            && let Some((before, after)) = self.added.pop()
        {
            self.after[before as usize].pop();
            self.before[after as usize].pop();
        }
    }

    /// Adds an edge; if it closes a cycle, it is not added, and the reasons of the other edges of one with few
    /// reasons are put into `reasons`.
    pub fn add(&mut self, before: u32, after: u32, reason: u32, reasons: &mut Vec<u32>) -> bool {
        self.steps += 1;
        reasons.clear();
        if before == after {
            return false;
        }
        let (low, high) = (self.places[after as usize], self.places[before as usize]);
        if low < high {
            if self.search_forward(after, before, high, reasons) {
                return false;
            }
            self.search_backward(before, low);
            self.reorder();
        }
        self.after[before as usize].push((after, reason));
        self.before[after as usize].push(before);
        self.added.push((before, after));
        true
    }

    /// Looks for `target` from `start`; the nodes before `high` that are reached are in `forward`. Known edges
    /// are followed first, so that the way has few reasons.
    fn search_forward(&mut self, start: u32, target: u32, high: u32, reasons: &mut Vec<u32>) -> bool {
        self.forward.clear();
        self.queue.clear();
        self.queue.push_back((start, start, KNOWN));
        let mut is_found = false;
        while let Some((node, from, reason)) = self.queue.pop_front() {
            if std::mem::replace(&mut self.is_met[node as usize], true) {
                continue;
            }
            self.forward.push(node);
            self.came[node as usize] = (from, reason);
            if node == target {
                is_found = true;
                break;
            }
            let known = self.known_after.of(node);
            self.steps += (known.len() + self.after[node as usize].len()) as u64;
            for &next in known {
                if self.places[next as usize] <= high && !self.is_met[next as usize] {
                    self.queue.push_front((next, node, KNOWN));
                }
            }
            for &(next, reason) in &self.after[node as usize] {
                if self.places[next as usize] <= high && !self.is_met[next as usize] {
                    self.queue.push_back((next, node, reason));
                }
            }
        }
        self.forward.iter().for_each(|&node| self.is_met[node as usize] = false);
        if is_found {
            let mut node = target;
            while node != start {
                let (from, reason) = self.came[node as usize];
                reasons.extend((reason != KNOWN).then_some(reason));
                node = from;
            }
        }
        is_found
    }

    /// The nodes behind `low` that lead to `start` are put into `backward`.
    fn search_backward(&mut self, start: u32, low: u32) {
        self.backward.clear();
        self.backward.push(start);
        self.is_met[start as usize] = true;
        let mut next = 0;
        while next < self.backward.len() {
            let node = self.backward[next] as usize;
            next += 1;
            let known = self.known_before.of(node as u32);
            self.steps += (known.len() + self.before[node].len()) as u64;
            for &from in known.iter().chain(&self.before[node]) {
                if self.places[from as usize] > low && !self.is_met[from as usize] {
                    self.is_met[from as usize] = true;
                    self.backward.push(from);
                }
            }
        }
        self.backward.iter().for_each(|&node| self.is_met[node as usize] = false);
    }

    /// What leads to the edge comes before what it leads to, in the places that they had together.
    fn reorder(&mut self) {
        let places = &mut self.places;
        self.backward.sort_unstable_by_key(|&node| places[node as usize]);
        self.forward.sort_unstable_by_key(|&node| places[node as usize]);
        let nodes: Vec<u32> = self.backward.iter().chain(&self.forward).copied().collect();
        let mut free: Vec<u32> = nodes.iter().map(|&node| places[node as usize]).collect();
        free.sort_unstable();
        nodes.iter().zip(free).for_each(|(&node, place)| places[node as usize] = place);
        if let Some(moved) = &mut self.moved {
            moved.earlier.extend(&self.backward);
            moved.later.extend(&self.forward);
        }
    }
}
