//! The columns of dependencies, sorted by node and by key, and the edges that follow from them.

use super::{Dependencies, Read};
use crate::graph::Edges;
use crate::observations::{ABSENT, INITIAL};
use rayon::prelude::*;

impl Dependencies<'_> {
    /// Brings the reads and writes of each node together; cores take different nodes.
    pub(super) fn sort_operations(&mut self) {
        const SHARE: usize = 1 << 14;
        let shares: Vec<Sorted> =
            self.transactions.par_chunks(SHARE).map(|transactions| self.sorted(transactions)).collect();
        let offsets = |ends: fn(&Sorted) -> &[u32]| offsets(shares.iter().map(ends));
        self.read_offsets = offsets(|share| &share.read_ends);
        self.write_offsets = offsets(|share| &share.write_ends);
        let joined = |column: fn(&Sorted) -> &[u32]| shares.iter().map(column).collect::<Vec<_>>().concat();
        let ((keys, sources), (operations, written)) = rayon::join(
            || (joined(|share| &share.read_keys), joined(|share| &share.read_sources)),
            || (joined(|share| &share.read_operations), joined(|share| &share.write_keys)),
        );
        (self.read_keys, self.read_sources) = (keys, sources);
        (self.read_operations, self.write_keys) = (operations, written);
    }

    fn sorted(&self, transactions: &[u32]) -> Sorted {
        let operations = &self.history.operations;
        let count = transactions.iter().map(|&each| self.history.operations_of(each as usize).len()).sum();
        let mut share = Sorted::with_capacity(transactions.len(), count);
        for &transaction in transactions {
            let first_write = share.write_keys.len();
            for operation in self.history.operations_of(transaction as usize) {
                let (key, source) = (operations.keys[operation], self.observations.sources[operation]);
                if operations.kinds[operation].installs() {
                    share.write_keys.push(key);
                } else if source != ABSENT || !self.observations.seen(operation).is_empty() {
                    let node = if source < INITIAL { self.nodes[source as usize] } else { source };
                    share.read_keys.push(key);
                    share.read_sources.push(node);
                    share.read_operations.push(operation as u32);
                }
            }
            sort_tail(&mut share.write_keys, first_write);
            share.read_ends.push(share.read_keys.len() as u32);
            share.write_ends.push(share.write_keys.len() as u32);
        }
        share
    }

    /// Where the writers of each key start, and the writers, ascending.
    pub(super) fn sorted_writers(&self) -> (Vec<u32>, Vec<u32>) {
        let mut offsets = vec![0u32; self.history.keys.len() + 1];
        for &key in &self.write_keys {
            offsets[key as usize + 1] += 1;
        }
        for key in 0..self.history.keys.len() {
            offsets[key + 1] += offsets[key];
        }
        let mut next = offsets.clone();
        let mut writers = vec![0; self.write_keys.len()];
        for node in 0..self.len() as u32 {
            for &key in self.writes(node) {
                writers[next[key as usize] as usize] = node;
                next[key as usize] += 1;
            }
        }
        (offsets, writers)
    }

    pub(super) fn varying_nodes(&self) -> Vec<bool> {
        (0..self.len() as u32).into_par_iter().map(|node| self.varies(node)).collect()
    }

    fn varies(&self, node: u32) -> bool {
        let reads = self.read_range(node);
        let odd = |operation: u32, key: u32| {
            // Without the order of lists, what a read shows besides its source need not come before that.
            !self.observations.seen(operation as usize).is_empty()
                && (self.recorded.without_lists
                    || self.observations.prefix(operation as usize, key).is_none())
        };
        if self.observations.has_lists() && self.reads(node).any(|read| odd(read.operation, read.key)) {
            return true;
        }
        let (keys, sources) = (&self.read_keys[reads.clone()], &self.read_sources[reads]);
        if keys.len() <= 16 {
            // Few enough to compare each with each.
            return (1..keys.len()).any(|i| (0..i).any(|j| keys[i] == keys[j] && sources[i] != sources[j]));
        }
        let mut pairs: Vec<(u32, u32)> = keys.iter().copied().zip(sources.iter().copied()).collect();
        pairs.sort_unstable();
        pairs.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1)
    }

    pub(super) fn write_read(&self) -> Edges {
        let (mut ends, mut targets) = self.writers_read_by_nodes();
        // A prefix of a list is the one before it and one more writer.
        for (place, &writer) in self.observations.pool().iter().enumerate() {
            if !self.observations.starts_list(place) {
                targets.push((self.len() + place - 1) as u32);
            }
            if writer != ABSENT {
                targets.push(self.nodes[writer as usize]);
            }
            ends.push(targets.len() as u32);
        }
        Edges::in_order(ends, targets)
    }

    /// The transactions that the nodes observed, one node after the other; cores take different nodes.
    fn writers_read_by_nodes(&self) -> (Vec<u32>, Vec<u32>) {
        const SHARE: usize = 1 << 14;
        let nodes: Vec<u32> = (0..self.len() as u32).collect();
        let shares: Vec<(Vec<u32>, Vec<u32>)> = nodes
            .par_chunks(SHARE)
            .map(|nodes| {
                let reads = self.read_range(nodes[nodes.len() - 1]).end - self.read_range(nodes[0]).start;
                let (mut ends, mut targets) = (Vec::with_capacity(nodes.len()), Vec::with_capacity(reads));
                for &node in nodes {
                    let first = targets.len();
                    self.reads(node).for_each(|read| self.read_from(node, read, &mut targets));
                    sort_tail(&mut targets, first);
                    ends.push(targets.len() as u32);
                }
                (ends, targets)
            })
            .collect();
        let mut ends = offsets(shares.iter().map(|(ends, _)| ends.as_slice()));
        ends.remove(0);
        (ends, shares.iter().map(|(_, targets)| targets.as_slice()).collect::<Vec<_>>().concat())
    }

    fn read_from(&self, node: u32, read: Read, targets: &mut Vec<u32>) {
        let seen = self.observations.seen(read.operation as usize);
        if seen.len() < 2 {
            targets.extend(Some(read.source).filter(|&source| source < INITIAL && source != node));
            return;
        }
        let own = self.writes_key(node, read.key) && self.seen(read).any(|writer| writer == node);
        match self.observations.prefix(read.operation as usize, read.key) {
            Some((start, length)) if !own => targets.push(self.len() as u32 + start + length - 1),
            _ => targets.extend(self.seen(read).filter(|&writer| writer != node)),
        }
    }

    pub(super) fn version_order(&self) -> Edges {
        let node = |transaction: u32| self.nodes[transaction as usize];
        let lists = self.observations.successions.iter().filter(|_| !self.recorded.without_lists);
        let recorded = self.recorded.pairs.iter().map(|pair| (pair.before, pair.after));
        let pairs = lists.copied().chain(recorded).map(|(before, after)| (node(after), node(before)));
        Edges::new(self.len(), pairs.collect())
    }
}

/// The reads and writes of some nodes.
struct Sorted {
    read_ends: Vec<u32>,
    read_keys: Vec<u32>,
    read_sources: Vec<u32>,
    read_operations: Vec<u32>,
    write_ends: Vec<u32>,
    write_keys: Vec<u32>,
}

impl Sorted {
    /// Room for so many nodes, and for so many operations in each column: what stays empty is never touched.
    fn with_capacity(nodes: usize, operations: usize) -> Self {
        let [read_ends, write_ends] = [(); 2].map(|()| Vec::with_capacity(nodes));
        let [read_keys, read_sources, read_operations, write_keys] =
            [(); 4].map(|()| Vec::with_capacity(operations));
        Self { read_ends, read_keys, read_sources, read_operations, write_ends, write_keys }
    }
}

/// The ends of shares, counted over all of them, with the start of the first.
fn offsets<'s>(shares: impl Iterator<Item = &'s [u32]>) -> Vec<u32> {
    let (mut offsets, mut before) = (vec![0], 0);
    for ends in shares {
        offsets.extend(ends.iter().map(|end| end + before));
        before = offsets[offsets.len() - 1];
    }
    offsets
}

/// Sorts what was pushed since `first` and drops what is there twice.
fn sort_tail(column: &mut Vec<u32>, first: usize) {
    if column.len() < first + 2 {
        return;
    }
    column[first..].sort_unstable();
    let mut kept = first + 1;
    for place in first + 1..column.len() {
        if column[place] != column[kept - 1] {
            column[kept] = column[place];
            kept += 1;
        }
    }
    column.truncate(kept);
}
