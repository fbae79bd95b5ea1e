//! Orders of versions that follow from what sessions saw, found in near linear time in histories of any length.
//!
//! Sessions are chains, so one number for each session says which transactions come before a transaction: a
//! vector clock. If a transaction that wrote `v` comes before a reader of `u`, or before the writer of
//! `u`, then `v` is older than `u`: its writer and its readers come before the writer of `u`. These edges make the clocks
//! grow, pass by pass. What follows is true at serializability with the order of sessions; elsewhere it is a hint.
//! Cost of a pass: sessions x edges.

mod key_saturation;
mod session_clocks;

use super::dependencies::{Dependencies, Order, Pairs, Parts};
use super::orders::Orders;
use super::version_readers::Readers;
use crate::cancel::Cancel;
use crate::graph::Edges;
use crate::observations::ABSENT;
use key_saturation::KeySaturation;
use rayon::prelude::*;
use session_clocks::{Clock, SessionClocks};

/// More passes find little.
const MAX_PASSES: usize = 8;
/// A pass that finds one edge for so many transactions is the last.
const ENOUGH: usize = 2;
/// With more sessions, clocks cost more than they show.
const MAX_SESSIONS: usize = 1000;
/// The table of clocks takes no more bytes.
const MAX_BYTES: usize = 512 << 20;

/// So many keys are looked at by one core before another can have its share.
const KEYS_AT_ONCE: usize = 16;

/// What follows from the sessions.
#[derive(Debug)]
pub struct Saturation {
    /// Further edges (node, predecessor).
    pub edges: Pairs,
    /// For each transaction that is a node, how many transactions surely come before it, less those
    /// that surely come after it: it grows along every edge.
    pub balance: Vec<i64>,
}

impl Saturation {
    /// The place of each transaction by its balance; among equals by `likely`.
    #[must_use]
    pub fn places(&self, likely: &[u32]) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..self.balance.len() as u32).collect();
        nodes.sort_by_key(|&node| (self.balance[node as usize], likely[node as usize]));
        let mut places = vec![0; nodes.len()];
        nodes.iter().zip(0..).for_each(|(&node, place)| places[node as usize] = place);
        places
    }
}

/// Saturates the edges of `all`; nothing if the sessions have no order, if there are too many of them, or if the edges close a
/// cycle.
#[must_use]
pub fn saturate(
    all: &Dependencies,
    orders: &Orders,
    readers: &Readers,
    order: Order,
    cancel: &Cancel,
) -> Option<Saturation> {
    if order == Order::Plain || all.len() == 0 {
        return None;
    }
    let longest = all.sessions.chunk_by(|one, other| one == other).map(<[u32]>::len).max()?;
    if longest < usize::from(u16::MAX) {
        saturate_with::<u16>(all, orders, readers, order, cancel)
    } else {
        saturate_with::<u32>(all, orders, readers, order, cancel)
    }
}

fn saturate_with<C: Clock>(
    all: &Dependencies,
    orders: &Orders,
    readers: &Readers,
    order: Order,
    cancel: &Cancel,
) -> Option<Saturation> {
    let sessions = all.sessions.chunk_by(|one, other| one == other).count();
    if sessions > MAX_SESSIONS || all.nodes() * sessions * size_of::<C>() > MAX_BYTES {
        return None;
    }
    let known: Pairs = all.graph(Parts { wr: true, rw: true, order }).pairs().collect();
    let mut edges = Pairs::new();
    let mut clocks = SessionClocks::<C>::new(all, sessions);
    let nodes = writing_nodes(all, orders);
    for _ in 0..MAX_PASSES {
        let (before, after) = both_ways(all.nodes(), &[&known, &edges]);
        clocks.fill(&topological(&before, &after)?, &before);
        if cancel.is_asked() {
            return None;
        }
        let key = KeySaturation { clocks: &clocks, readers, nodes: &nodes };
        // Few keys may have most of the versions.
        let keys = orders.keys.par_iter().with_max_len(KEYS_AT_ONCE);
        let open = keys.filter(|order| orders.is_open_register(order));
        let found: Vec<Pairs> = open.map(|order| key.edges(order)).collect();
        let new: usize = found.iter().map(Vec::len).sum();
        edges.extend(found.into_iter().flatten());
        if new < all.len() / ENOUGH {
            break;
        }
    }
    let mut balance: Vec<i64> = (0..all.len() as u32).map(|node| clocks.sum(node)).collect();
    let (before, after) = both_ways(all.nodes(), &[&known, &edges]);
    clocks.fill_backwards(&topological(&before, &after)?, &after);
    for (balance, node) in balance.iter_mut().zip(0..) {
        *balance -= clocks.sum(node);
    }
    Some(Saturation { edges, balance })
}

/// The node that wrote each version.
fn writing_nodes(all: &Dependencies, orders: &Orders) -> Vec<u32> {
    let transactions = all.transactions.iter().max().map_or(0, |&last| last as usize + 1);
    let mut nodes = vec![ABSENT; transactions];
    all.transactions.iter().zip(0..).for_each(|(&transaction, node)| nodes[transaction as usize] = node);
    let node = |&writer: &u32| nodes.get(writer as usize).copied().unwrap_or(ABSENT);
    orders.writers.iter().map(node).collect()
}

/// Predecessors and successors.
fn both_ways(nodes: usize, lists: &[&[(u32, u32)]]) -> (Edges, Edges) {
    rayon::join(|| Edges::collected(nodes, lists), || Edges::turned(nodes, lists))
}

/// All nodes in an order that follows the edges; nothing if they close a cycle. Sessions take turns, so that what is
/// near in the order is near in time.
fn topological(before: &Edges, after: &Edges) -> Option<Vec<u32>> {
    let nodes = after.nodes();
    let mut waiting: Vec<u32> = (0..nodes as u32).map(|node| before.of(node).len() as u32).collect();
    let mut sorted: Vec<u32> = (0..nodes as u32).filter(|&node| waiting[node as usize] == 0).collect();
    let mut next = 0;
    while let Some(&node) = sorted.get(next) {
        next += 1;
        for &other in after.of(node) {
            waiting[other as usize] -= 1;
            if waiting[other as usize] == 0 {
                sorted.push(other);
            }
        }
    }
    (sorted.len() == nodes).then_some(sorted)
}

#[cfg(test)]
mod tests;
