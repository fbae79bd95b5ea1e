//! Open keys that are to be looked at again, because a transaction that touches them moved.

use super::level_problem::LevelProblem;
use crate::graph::Edges;
use std::collections::VecDeque;

/// A queue of open keys, each in it at most once.
pub(super) struct UnsettledKeys {
    queue: VecDeque<u32>,
    is_queued: Vec<bool>,
    /// The open keys that each node writes or reads, by their places.
    touched: Edges,
}

impl UnsettledKeys {
    pub(super) fn new(level_problem: &LevelProblem<'_, '_, '_>) -> Self {
        let all = level_problem.all;
        let mut pairs = Vec::new();
        for (open, at) in all.open.iter().zip(0..) {
            for &version in &open.versions {
                pairs.push((all.node(version), at));
                pairs.extend(level_problem.readers(version).map(|reader| (reader, at)));
            }
        }
        let touched = Edges::collected(all.small.len(), &[&pairs]);
        Self { queue: VecDeque::new(), is_queued: vec![false; all.open.len()], touched }
    }

    pub(super) fn push_all(&mut self) {
        for at in 0..self.is_queued.len() as u32 {
            self.push(at);
        }
    }

    /// Adds all keys that this node touches.
    pub(super) fn push_of(&mut self, node: u32) {
        for place in 0..self.touched.of(node).len() {
            self.push(self.touched.of(node)[place]);
        }
    }

    fn push(&mut self, at: u32) {
        if !std::mem::replace(&mut self.is_queued[at as usize], true) {
            self.queue.push_back(at);
        }
    }

    pub(super) fn pop(&mut self) -> Option<usize> {
        let at = self.queue.pop_front()? as usize;
        self.is_queued[at] = false;
        Some(at)
    }

    pub(super) fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}
