//! Ways that must not be: which of them there are, and which choices made them.

use super::topological_order::KNOWN;
use crate::cancel::Cancel;
use crate::graph::Edges;
use crate::versions::reachability::Reach;
use crate::versions::shortest_paths::Paths;
use hashbrown::HashMap;

/// So many ways are told at once.
const MAX_TOLD: usize = 200;

/// An edge or a bar, and the choice that it is of, or [`KNOWN`].
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Reasoned {
    pub from: u32,
    pub to: u32,
    pub reason: u32,
}

/// A graph without cycles, and pairs of nodes such that nothing may lead from the first to the second.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Bars {
    pub nodes: usize,
    pub edges: Vec<Reasoned>,
    pub barred: Vec<Reasoned>,
}

impl Bars {
    /// For some of the bars that are broken, the choices that break them: of each a way with few choices.
    #[must_use]
    pub fn broken(&self, cancel: &Cancel) -> Vec<Vec<u32>> {
        if self.barred.is_empty() {
            return Vec::new();
        }
        let pairs: Vec<(u32, u32)> = self.edges.iter().map(|edge| (edge.to, edge.from)).collect();
        let edges = Edges::collected(self.nodes, &[&pairs]);
        let asked: Vec<(u32, u32)> = self.barred.iter().map(|bar| (bar.from, bar.to)).collect();
        let answers = Reach::new(&edges, self.nodes).asked(&asked, cancel);
        let mut broken = self.barred.iter().zip(answers).filter(|&(_, reached)| reached).peekable();
        if broken.peek().is_none() {
            return Vec::new();
        }
        let reasons = self.reasons();
        let mut paths = Paths::new(self.nodes);
        let reason = |from: u32, to: u32| reasons.get(&(from, to)).copied().unwrap_or(KNOWN);
        let cost = |from: u32, to: u32| if reason(from, to) == KNOWN { 1 } else { 1000 };
        let told = broken.take(MAX_TOLD).map(|(bar, _)| {
            let path = if bar.from == bar.to {
                Vec::new()
            } else {
                paths.shortest(&edges, bar.from, bar.to, cost).unwrap_or_default()
            };
            let along = path.windows(2).map(|pair| reason(pair[0], pair[1]));
            let mut blamed: Vec<u32> = along.chain([bar.reason]).filter(|&reason| reason != KNOWN).collect();
            blamed.sort_unstable();
            blamed.dedup();
            blamed
        });
        told.collect()
    }

    /// The choice of each edge; what is known needs none.
    fn reasons(&self) -> HashMap<(u32, u32), u32> {
        let mut reasons = HashMap::new();
        for edge in &self.edges {
            if edge.reason == KNOWN {
                reasons.insert((edge.from, edge.to), KNOWN);
            } else {
                reasons.entry((edge.from, edge.to)).or_insert(edge.reason);
            }
        }
        reasons
    }
}
