//! A first order of nodes: it follows the edges, and a rank where they leave it open.

use crate::graph::Edges;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The place of each node in an order that follows the edges (before, after): of the nodes that can come next,
/// the one with the lowest rank does. Nothing if the edges close a cycle.
#[must_use]
pub fn starting_order(nodes: usize, edges: &[(u32, u32)], rank: impl Fn(u32) -> u64) -> Option<Vec<u32>> {
    let after = Edges::collected(nodes, &[edges]);
    let mut waiting = vec![0u32; nodes];
    for &(_, after) in edges {
        waiting[after as usize] += 1;
    }
    let free = (0..nodes as u32).filter(|&node| waiting[node as usize] == 0);
    let mut open: BinaryHeap<Reverse<(u64, u32)>> = free.map(|node| Reverse((rank(node), node))).collect();
    let mut places = vec![u32::MAX; nodes];
    let mut next = 0;
    while let Some(Reverse((_, node))) = open.pop() {
        places[node as usize] = next;
        next += 1;
        for &other in after.of(node) {
            waiting[other as usize] -= 1;
            if waiting[other as usize] == 0 {
                open.push(Reverse((rank(other), other)));
            }
        }
    }
    (next as usize == nodes).then_some(places)
}
