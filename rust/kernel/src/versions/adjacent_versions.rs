//! Which versions come right after which: order that follows from other order is left out.
//!
//! A key whose versions are a chain and a tail is simple. Where several sources, claims or inferred
//! order speak of one key, an edge is direct as long as no other path leads where it leads.

use super::dependencies::{BASES, Basis};
use super::orders::{KeyOrder, Orders};
use std::collections::VecDeque;

/// Of keys with more edges than this all are kept.
const MAX_EDGES: usize = 1000;

/// `after` comes right after `before` at levels that believe no less than `from` and less than `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Neighbour {
    pub before: u32,
    pub after: u32,
    pub from: usize,
    pub until: usize,
}

impl Neighbour {
    /// Whether levels that believe so much know it, and know no version in between.
    #[must_use]
    pub fn is_direct(&self, believed: Basis) -> bool {
        (self.from..self.until).contains(&(believed as usize))
    }
}

/// Replaces `found` by the neighbours among a key's versions, sorted.
pub fn adjacent_versions(orders: &Orders, order: &KeyOrder, found: &mut Vec<Neighbour>) {
    let simple = |(before, after)| Neighbour { before, after, from: 0, until: BASES };
    found.clear();
    found.extend(simple_pairs(order).map(simple));
    let further = orders.extras_of(order).iter();
    found.extend(further.map(|extra| Neighbour {
        from: Basis::of(extra.source) as usize,
        ..simple((extra.before, extra.after))
    }));
    found.sort_unstable_by_key(|edge| (edge.before, edge.after, edge.from));
    if !orders.extras_of(order).is_empty() {
        found.dedup_by_key(|edge| (edge.before, edge.after));
        // Edges that follow from others do no harm; to find them costs more than they do on large keys.
        if found.len() <= MAX_EDGES {
            Predecessors::new(order, found).shorten(found);
        }
        found.retain(|edge| edge.from < edge.until);
    }
}

/// The chain, and the tail behind its place in it.
pub(super) fn simple_pairs(order: &KeyOrder) -> impl Iterator<Item = (u32, u32)> {
    let before_tail = order.before_tail();
    let chain = order.chain().skip(1).map(|version| (version - 1, version));
    chain.chain(order.tail().map(move |version| (before_tail, version)))
}

/// The predecessors of each version, and places in an order that contains all of them.
struct Predecessors<'o> {
    order: &'o KeyOrder,
    offsets: Vec<u32>,
    before: Vec<(u32, usize)>,
    places: Vec<u32>,
}

impl<'o> Predecessors<'o> {
    fn new(order: &'o KeyOrder, edges: &[Neighbour]) -> Self {
        let count = (order.end - order.start) as usize;
        let mut sorted: Vec<(u32, u32, usize)> =
            edges.iter().map(|edge| (edge.after, edge.before, edge.from)).collect();
        sorted.sort_unstable();
        let mut offsets = vec![0; count + 1];
        for &(after, ..) in &sorted {
            offsets[(after - order.start) as usize + 1] += 1;
        }
        for place in 0..count {
            offsets[place + 1] += offsets[place];
        }
        let places = places(order, edges);
        let before = sorted.into_iter().map(|(_, before, from)| (before, from)).collect();
        Self { order, offsets, before, places }
    }

    fn before(&self, version: u32) -> &[(u32, usize)] {
        let at = (version - self.order.start) as usize;
        &self.before[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    fn place(&self, version: u32) -> u32 {
        self.places[(version - self.order.start) as usize]
    }

    /// Ends each edge where another way is believed.
    fn shorten(&self, edges: &mut [Neighbour]) {
        for edge in edges {
            let longer = (edge.from..BASES).find(|&believed| self.has_other_way(edge, believed));
            edge.until = longer.unwrap_or(BASES);
        }
    }

    fn has_other_way(&self, edge: &Neighbour, believed: usize) -> bool {
        let first = self.place(edge.before);
        let mut known = vec![edge.after];
        let mut next = 0;
        while next < known.len() {
            let is_last = next == 0;
            for &(before, from) in self.before(known[next]) {
                if from > believed || (is_last && before == edge.before) {
                    continue;
                }
                if before == edge.before || self.is_surely_behind(edge.before, before) {
                    return true;
                }
                if self.place(before) > first && !known.contains(&before) {
                    known.push(before);
                }
            }
            next += 1;
        }
        false
    }

    /// Whether the chain and the tail alone say that the second comes after the first.
    fn is_surely_behind(&self, first: u32, second: u32) -> bool {
        let chain = self.order.chain();
        match (chain.contains(&first), chain.contains(&second)) {
            (true, true) => first < second,
            (true, false) => first <= self.order.before_tail(),
            (false, _) => false,
        }
    }
}

/// Places of a key's versions in an order that contains all edges; circles come last.
fn places(order: &KeyOrder, edges: &[Neighbour]) -> Vec<u32> {
    let count = (order.end - order.start) as usize;
    let mut waiting = vec![0u32; count];
    for edge in edges {
        waiting[(edge.after - order.start) as usize] += 1;
    }
    let mut places = vec![count as u32; count];
    let mut free: VecDeque<u32> =
        (order.start..order.end).filter(|v| waiting[(v - order.start) as usize] == 0).collect();
    let mut next = 0;
    while let Some(version) = free.pop_front() {
        places[(version - order.start) as usize] = next;
        next += 1;
        let from = edges.partition_point(|edge| edge.before < version);
        for edge in edges[from..].iter().take_while(|edge| edge.before == version) {
            let left = &mut waiting[(edge.after - order.start) as usize];
            *left -= 1;
            if *left == 0 {
                free.push_back(edge.after);
            }
        }
    }
    places
}
