//! Every version in some place: what is known, and a rank where the order is open.

use super::super::dependencies::Order;
use super::super::lookup::is_believed;
use super::{KeyOrder, Orders};
use crate::graph::Edges;
use crate::observations::{ABSENT, INITIAL};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Orders {
    /// The same with every version in its place: where the order is open, the version with the lower rank
    /// comes first. `rank` is by transaction.
    #[must_use]
    pub fn completed(&self, rank: &[u32], believed: Order) -> Self {
        let mut all = Self {
            keys: self.keys.clone(),
            writers: self.writers.clone(),
            operations: self.operations.clone(),
            observed: self.observed.clone(),
            ..Self::default()
        };
        let mut new_place: Vec<u32> = (0..self.writers.len() as u32).collect();
        for (order, new) in self.keys.iter().zip(&mut all.keys) {
            if self.is_whole(order) {
                continue;
            }
            for (place, &version) in self.sequence(order, rank, believed).iter().enumerate() {
                let at = order.start + place as u32;
                new_place[version as usize] = at;
                all.writers[at as usize] = self.writers[version as usize];
                all.operations[at as usize] = self.operations[version as usize];
            }
            *new = KeyOrder { chain: order.end - order.start, after: order.end - order.start - 1, ..*order };
        }
        let moved = |version: &mut u32| {
            if *version != ABSENT {
                *version = new_place[*version as usize];
            }
        };
        all.observed.iter_mut().for_each(moved);
        all
    }

    /// The versions of a key in an order that contains what is known, by rank where it is open.
    fn sequence(&self, order: &KeyOrder, rank: &[u32], believed: Order) -> Vec<u32> {
        let count = (order.end - order.start) as usize;
        let local = |version: u32| (version - order.start) as usize;
        let extras = self.extras_of(order).iter();
        let extras = extras.filter(|extra| is_believed(extra.source, believed));
        let chain = order.chain().skip(1).map(|version| (version - 1, version));
        let tail = order.tail().map(|version| (order.before_tail(), version));
        let pairs: Vec<(u32, u32)> =
            chain.chain(tail).chain(extras.map(|extra| (extra.before, extra.after))).collect();
        let mut waiting = vec![0u32; count];
        let forward: Vec<(u32, u32)> =
            pairs.iter().map(|&(before, after)| (local(before) as u32, local(after) as u32)).collect();
        for &(_, after) in &forward {
            waiting[after as usize] += 1;
        }
        let after = Edges::collected(count, &[&forward]);
        let rank_of = |place: u32| {
            let writer = self.writers[(order.start + place) as usize];
            if writer == INITIAL { 0 } else { rank[writer as usize] + 1 }
        };
        let mut open: BinaryHeap<Reverse<(u32, u32)>> = (0..count as u32)
            .filter(|&place| waiting[place as usize] == 0)
            .map(|place| Reverse((rank_of(place), place)))
            .collect();
        let mut found = Vec::with_capacity(count);
        while let Some(Reverse((_, place))) = open.pop() {
            found.push(order.start + place);
            for &next in after.of(place) {
                waiting[next as usize] -= 1;
                if waiting[next as usize] == 0 {
                    open.push(Reverse((rank_of(next), next)));
                }
            }
        }
        debug_assert_eq!(found.len(), count, "known order has no circle");
        found
    }
}
