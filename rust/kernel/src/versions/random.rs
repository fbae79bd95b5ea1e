//! Seeded numbers and graphs for tests.

/// A linear congruential generator.
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    /// So many pairs of nodes.
    pub fn pairs(&mut self, count: u32, nodes: u32) -> Vec<(u32, u32)> {
        (0..count).map(|_| (self.below(nodes), self.below(nodes))).collect()
    }
}

/// Whether a way of at least one edge (before, after) leads from one node to another: plain search.
pub fn leads(edges: &[(u32, u32)], from: u32, to: u32) -> bool {
    let mut reached = Vec::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for &(_, after) in edges.iter().filter(|&&(before, _)| before == node) {
            if !reached.contains(&after) {
                reached.push(after);
                open.push(after);
            }
        }
    }
    reached.contains(&to)
}

/// Edges (node, predecessor) the other way round, or back.
pub fn turned(edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    edges.iter().map(|&(one, other)| (other, one)).collect()
}
