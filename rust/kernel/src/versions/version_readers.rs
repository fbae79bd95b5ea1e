//! The readers of each version.

use super::dependencies::Pairs;
use super::orders::Orders;
use crate::history::History;
use crate::observations::ABSENT;

/// The nodes that read each version.
pub struct Readers {
    offsets: Vec<u32>,
    nodes: Vec<u32>,
}

impl Readers {
    /// Sorts all reads by the versions that they showed last.
    #[must_use]
    pub fn new(history: &History, orders: &Orders, transactions: &[u32]) -> Self {
        let versions = orders.writers.len();
        let mut offsets = vec![0u32; versions + 1];
        let mut pairs: Pairs = Vec::new();
        for (&transaction, node) in transactions.iter().zip(0..) {
            for operation in history.operations_of(transaction as usize) {
                let version = orders.observed[operation];
                if version != ABSENT {
                    offsets[version as usize + 1] += 1;
                    pairs.push((version, node));
                }
            }
        }
        for version in 0..versions {
            offsets[version + 1] += offsets[version];
        }
        let mut next = offsets.clone();
        let mut nodes = vec![0; pairs.len()];
        for (version, node) in pairs {
            nodes[next[version as usize] as usize] = node;
            next[version as usize] += 1;
        }
        Self { offsets, nodes }
    }

    /// Nodes with a read that showed `version` last, in the order of nodes; a node that read twice is there
    /// twice.
    #[must_use]
    pub fn of(&self, version: u32) -> &[u32] {
        &self.nodes[self.offsets[version as usize] as usize..self.offsets[version as usize + 1] as usize]
    }
}
