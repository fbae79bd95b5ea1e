//! Which nodes reach which, as a table of bits: for graphs of a few ten thousand nodes that are asked often.

use crate::graph::Edges;
use std::cmp::Reverse;

/// A column that no source has.
const NONE: u32 = u32::MAX;

/// For each node the sources that reach it.
#[derive(Debug)]
pub struct ReachTable {
    /// The column of each source.
    columns: Vec<u32>,
    words: usize,
    bits: Vec<u64>,
    /// Edges (before, after) that the others do not imply.
    needed: Vec<(u32, u32)>,
}

impl ReachTable {
    /// Bytes that a table takes.
    #[must_use]
    pub fn bytes(nodes: usize, sources: usize) -> u64 {
        nodes as u64 * sources.div_ceil(64) as u64 * 8
    }

    /// An empty table about these sources.
    #[must_use]
    pub fn new(nodes: usize, sources: &[u32]) -> Self {
        let mut columns = vec![NONE; nodes];
        let mut next = 0;
        for &source in sources {
            let column = &mut columns[source as usize];
            if *column == NONE {
                *column = next;
                next += 1;
            }
        }
        let words = (next as usize).div_ceil(64);
        Self { columns, words, bits: vec![0; nodes * words], needed: Vec::new() }
    }

    /// Fills the table from predecessors; whether they close no cycle.
    pub fn fill(&mut self, before: &Edges) -> bool {
        let nodes = self.columns.len();
        let turned: Vec<(u32, u32)> = before.pairs().map(|(node, before)| (before, node)).collect();
        let after = Edges::collected(nodes, &[&turned]);
        let mut waiting: Vec<u32> = (0..nodes as u32).map(|node| before.of(node).len() as u32).collect();
        let mut order: Vec<u32> = (0..nodes as u32).filter(|&node| waiting[node as usize] == 0).collect();
        let mut next = 0;
        let mut places = vec![0; nodes];
        self.bits.fill(0);
        self.needed.clear();
        while next < order.len() {
            let node = order[next];
            next += 1;
            self.join(node, before.of(node), &places);
            places[node as usize] = next as u32;
            for &other in after.of(node) {
                waiting[other as usize] -= 1;
                if waiting[other as usize] == 0 {
                    order.push(other);
                }
            }
        }
        order.len() == nodes
    }

    /// A node is reached by what reaches its predecessors. The latest come first, since they are likely reached
    /// by the others.
    fn join(&mut self, node: u32, before: &[u32], places: &[u32]) {
        let mut latest: Vec<u32> = before.to_vec();
        latest.sort_unstable_by_key(|&other| Reverse(places[other as usize]));
        for other in latest {
            if !self.reaches(other, node) {
                self.needed.push((other, node));
                self.add(other, node);
            }
        }
        let column = self.columns[node as usize];
        if column != NONE {
            self.bits[node as usize * self.words + column as usize / 64] |= 1 << (column % 64);
        }
    }

    /// The edges (before, after) that the table was filled from, without those between sources and others that follow
    /// from the rest.
    #[must_use]
    pub fn needed(&self) -> &[(u32, u32)] {
        &self.needed
    }

    /// What reaches `before` reaches `after`, too; what `after` reaches learns it when the table is filled again.
    pub fn add(&mut self, before: u32, after: u32) {
        if before == after {
            return;
        }
        let (words, at, from) = (self.words, after as usize * self.words, before as usize * self.words);
        let (lower, upper) = self.bits.split_at_mut(at.max(from));
        let (row, source) = if at < from {
            (&mut lower[at..at + words], &upper[..words])
        } else {
            (&mut upper[..words], &lower[from..from + words])
        };
        row.iter_mut().zip(source).for_each(|(word, other)| *word |= other);
    }

    /// Whether a source reaches a node; every source reaches itself.
    #[must_use]
    #[inline]
    pub fn reaches(&self, source: u32, node: u32) -> bool {
        let column = self.columns[source as usize];
        column != NONE
            && self.bits[node as usize * self.words + column as usize / 64] >> (column % 64) & 1 == 1
    }
}
