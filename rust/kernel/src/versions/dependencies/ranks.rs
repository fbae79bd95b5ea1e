//! An order of all transactions that follows the dependencies as far as they allow one.

use super::{Dependencies, Order, Pairs, Parts};
use crate::graph::Edges;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Dependencies {
    /// A place for each transaction of the history, in an order that follows the edges as far as they allow
    /// it, and the history otherwise.
    #[must_use]
    pub fn ranks(&self, order: Order, transactions: usize) -> Vec<u32> {
        let edges = self.graph(Parts { wr: true, rw: true, order });
        let nodes = self.nodes();
        let mut waiting: Vec<u32> = (0..nodes as u32).map(|node| edges.of(node).len() as u32).collect();
        let forward: Pairs = edges.pairs().map(|(node, before)| (before, node)).collect();
        let after = Edges::collected(nodes, &[&forward]);
        // Junctions and instants are no events: they come as soon as they can.
        let when = |node: u32| self.transactions.get(node as usize).map_or(0, |&number| number + 1);
        let free = (0..nodes as u32).filter(|&node| waiting[node as usize] == 0);
        let mut open: BinaryHeap<Reverse<(u32, u32)>> =
            free.map(|node| Reverse((when(node), node))).collect();
        let mut later: Vec<u32> = (0..nodes as u32).collect();
        later.sort_unstable_by_key(|&node| Reverse(when(node)));
        let mut ranks = vec![0; transactions];
        let mut is_done = vec![false; nodes];
        let mut next = 0;
        loop {
            let node = match open.pop() {
                Some(Reverse((_, node))) => node,
                // A cycle: the first of it in the history breaks it.
                None => match later.pop() {
                    Some(node) => node,
                    None => return ranks,
                },
            };
            if std::mem::replace(&mut is_done[node as usize], true) {
                continue;
            }
            if let Some(&transaction) = self.transactions.get(node as usize) {
                ranks[transaction as usize] = next;
                next += 1;
            }
            for &other in after.of(node) {
                let left = &mut waiting[other as usize];
                *left = left.saturating_sub(1);
                if *left == 0 && !is_done[other as usize] {
                    open.push(Reverse((when(other), other)));
                }
            }
        }
    }
}
