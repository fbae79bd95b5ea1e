//! Which nodes reach which, for many pairs at once: sources are bits of wide words, which flow along the
//! edges.

use super::dependencies::components;
use crate::cancel::Cancel;
use crate::graph::{Components, Edges};

const WORDS: usize = 8;
/// So many sources are looked at together.
const BATCH: usize = 64 * WORDS;

/// A graph by predecessors, ready to be asked which nodes reach which.
pub struct Reach<'g> {
    edges: &'g Edges,
    components: Components,
    /// Where the nodes of each component stand in the order.
    starts: Vec<u32>,
}

impl<'g> Reach<'g> {
    /// Puts the components of the graph in order.
    #[must_use]
    pub fn new(edges: &'g Edges, nodes: usize) -> Self {
        let components = components(edges, nodes);
        let mut starts = vec![0u32];
        starts.extend(components.groups().scan(0, |end, group| {
            *end += group.len() as u32;
            Some(*end)
        }));
        Self { edges, components, starts }
    }

    /// The components.
    #[must_use]
    pub fn components(&self) -> &Components {
        &self.components
    }

    /// Whether the first of each pair reaches the second, by no edge at all if they are the same.
    #[must_use]
    pub fn asked(&self, pairs: &[(u32, u32)], cancel: &Cancel) -> Vec<bool> {
        let of = &self.components.of;
        let mut answers = vec![false; pairs.len()];
        let mut open: Vec<(u32, u32, u32)> = Vec::new();
        for (number, &(from, to)) in pairs.iter().enumerate() {
            let (from, to) = (of[from as usize], of[to as usize]);
            answers[number] = from == to;
            // Edges lead to later components only.
            if from < to {
                open.push((from, to, number as u32));
            }
        }
        open.sort_unstable();
        let mut bits = vec![[0u64; WORDS]; self.components.count as usize];
        let mut rest = &open[..];
        while !rest.is_empty() && !cancel.is_asked() {
            let (batch, others) = rest.split_at(batch_length(rest));
            rest = others;
            self.flow(batch, &mut bits, &mut answers);
        }
        answers
    }

    fn flow(&self, batch: &[(u32, u32, u32)], bits: &mut [[u64; WORDS]], answers: &mut [bool]) {
        let first = batch[0].0;
        let last = batch.iter().map(|&(_, to, _)| to).max().unwrap_or(first);
        bits[first as usize..=last as usize].fill([0; WORDS]);
        let mut sources = batch.chunk_by(|a, b| a.0 == b.0).zip(0usize..).peekable();
        for component in first..=last {
            let mut word = [0u64; WORDS];
            if let Some((_, bit)) = sources.next_if(|(same, _)| same[0].0 == component) {
                word[bit / 64] |= 1 << (bit % 64);
            }
            let (start, end) = (self.starts[component as usize], self.starts[component as usize + 1]);
            for &node in &self.components.order[start as usize..end as usize] {
                for &before in self.edges.of(node) {
                    let before = self.components.of[before as usize];
                    if before >= first && before != component {
                        let other = &bits[before as usize];
                        word.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
                    }
                }
            }
            bits[component as usize] = word;
        }
        for (same, bit) in batch.chunk_by(|a, b| a.0 == b.0).zip(0usize..) {
            for &(_, to, number) in same {
                answers[number as usize] = bits[to as usize][bit / 64] >> (bit % 64) & 1 == 1;
            }
        }
    }
}

/// How many of the pairs, sorted by source, have no more sources than fit.
fn batch_length(pairs: &[(u32, u32, u32)]) -> usize {
    let mut sources = 0;
    let mut last = None;
    for (place, &(from, ..)) in pairs.iter().enumerate() {
        if last != Some(from) {
            if sources == BATCH {
                return place;
            }
            sources += 1;
            last = Some(from);
        }
    }
    pairs.len()
}

#[cfg(test)]
mod tests {
    use super::super::random::{Random, leads, turned};
    use super::*;

    fn answers(edges: &[(u32, u32)], nodes: u32, asked: &[(u32, u32)]) -> Vec<bool> {
        let edges = Edges::new(nodes as usize, turned(edges));
        Reach::new(&edges, nodes as usize).asked(asked, &Cancel::default())
    }

    #[test]
    fn many_answers_are_those_of_a_plain_search() {
        let (mut yes, mut no) = (0, 0);
        for seed in 0..300 {
            let mut random = Random(seed);
            let nodes = 1 + random.below(24);
            let count = random.below(2 * nodes);
            let edges = random.pairs(count, nodes);
            let asked = random.pairs(40, nodes);
            let expected: Vec<bool> =
                asked.iter().map(|&(from, to)| from == to || leads(&edges, from, to)).collect();
            assert_eq!(answers(&edges, nodes, &asked), expected, "seed {seed}");
            yes += expected.iter().filter(|&&reached| reached).count();
            no += expected.iter().filter(|&&reached| !reached).count();
        }
        assert!(yes > 1000 && no > 1000);
    }

    #[test]
    fn more_sources_than_fit_into_one_batch_are_asked_one_batch_after_the_other() {
        let nodes = 3 * BATCH as u32;
        // Two rows: even nodes lead to even ones, odd ones to odd ones.
        let edges: Vec<(u32, u32)> = (2..nodes).map(|node| (node - 2, node)).collect();
        let asked: Vec<(u32, u32)> =
            (0..nodes).flat_map(|from| [(from, nodes - 1), (from, nodes - 2)]).collect();
        let expected: Vec<bool> =
            asked.iter().map(|&(from, to)| from <= to && (to - from) % 2 == 0).collect();
        assert_eq!(answers(&edges, nodes, &asked), expected);
    }

    #[test]
    fn a_chain_of_a_million_needs_no_deep_stack() {
        let nodes = 1_000_000;
        let edges: Vec<(u32, u32)> = (1..nodes).map(|node| (node - 1, node)).collect();
        assert_eq!(answers(&edges, nodes, &[(0, nodes - 1), (nodes - 1, 0)]), [true, false]);
    }
}
