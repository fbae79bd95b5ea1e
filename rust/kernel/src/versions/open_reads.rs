//! Reads that several versions explain, as the versions of one order.

use super::Judge;
use super::dependencies::Dependencies;
use super::orders::Orders;
use crate::explanations::OpenRead;
use crate::history::LeftOut;
use crate::observations::INITIAL;

/// A read, and the versions that it may have shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleVersions {
    /// The read.
    pub read: u32,
    /// The node of its transaction.
    pub node: u32,
    /// Its key.
    pub key: u32,
    /// The versions, ascending; the initial one may be the first.
    pub versions: Vec<u32>,
    /// Whether nothing follows from the versions after the one that it showed.
    pub misses_nothing: bool,
}

impl Judge<'_> {
    /// The versions of all open reads: `all` has the nodes.
    pub(super) fn possible_versions(&self, all: &Dependencies, orders: &Orders) -> Vec<PossibleVersions> {
        let mut found = possible_versions(self.open_reads, all, orders);
        if self.question.is_of_items {
            let left_out = &self.history.operations.left_out;
            for open in &mut found {
                open.misses_nothing = left_out.get(open.read as usize) != LeftOut::No;
            }
        }
        found
    }
}

/// Finds the versions of all open reads: `all` has the nodes.
#[must_use]
fn possible_versions(reads: &[OpenRead], all: &Dependencies, orders: &Orders) -> Vec<PossibleVersions> {
    let mut nodes: Vec<(u32, u32)> = all.transactions.iter().copied().zip(0..).collect();
    nodes.sort_unstable();
    let node = |transaction: u32| {
        nodes.binary_search_by_key(&transaction, |&(other, _)| other).ok().map(|at| nodes[at].1)
    };
    let mut found = Vec::new();
    for of_key in reads.chunk_by(|one, other| one.key == other.key) {
        // A stop that was asked for leaves no orders.
        let Some(order) = orders.keys.get(of_key[0].key as usize) else { continue };
        let mut by_writer: Vec<(u32, u32)> =
            (order.start..order.end).map(|version| (orders.writers[version as usize], version)).collect();
        by_writer.sort_unstable();
        let version = |writer: &u32| {
            by_writer.binary_search_by_key(writer, |&(other, _)| other).ok().map(|at| by_writer[at].1)
        };
        for open in of_key {
            let mut versions: Vec<u32> = open.writers.iter().filter_map(version).collect();
            versions.sort_unstable();
            let node = node(open.transaction);
            let (read, key) = (open.read, open.key);
            let misses_nothing = false;
            found.extend(node.map(|node| PossibleVersions { read, node, key, versions, misses_nothing }));
        }
    }
    found
}

/// Says of each read which version it showed if transactions ran as ranked: the latest that is possible, else
/// the first.
pub fn suppose_versions(reads: &[PossibleVersions], all: &Dependencies, rank: &[u32], supposed: &mut Orders) {
    for open in reads {
        let reader = rank[all.transactions[open.node as usize] as usize];
        let is_before = |&&version: &&u32| {
            let writer = supposed.writers[version as usize];
            writer == INITIAL || rank[writer as usize] < reader
        };
        let chosen = open.versions.iter().rev().find(is_before).or_else(|| open.versions.first());
        if let Some(&version) = chosen {
            supposed.observed[open.read as usize] = version;
        }
    }
}
