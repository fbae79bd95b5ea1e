//! Directed graphs on dense numbers, stored by predecessors, and their strongly connected components.

/// Predecessors of every node, in one vector.
#[derive(Debug, Clone, Default)]
pub struct Edges {
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Edges {
    /// From pairs (node, predecessor) in any order; pairs that are there twice are kept once.
    #[must_use]
    pub fn new(nodes: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut offsets = vec![0; nodes + 1];
        for &(node, _) in &pairs {
            offsets[node as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        Self { offsets, targets: pairs.into_iter().map(|(_, predecessor)| predecessor).collect() }
    }

    /// From lists of pairs (node, predecessor), as they are: nothing is sorted or kept once.
    #[must_use]
    pub fn collected(nodes: usize, lists: &[&[(u32, u32)]]) -> Self {
        Self::of_pairs(nodes, lists.iter().copied().flatten().copied())
    }

    /// The same with each pair turned: the successors of every node.
    #[must_use]
    pub fn turned(nodes: usize, lists: &[&[(u32, u32)]]) -> Self {
        let pairs = lists.iter().copied().flatten();
        Self::of_pairs(nodes, pairs.map(|&(node, predecessor)| (predecessor, node)))
    }

    fn of_pairs(nodes: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut offsets = vec![0u32; nodes + 1];
        for (node, _) in pairs.clone() {
            offsets[node as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0; offsets[nodes] as usize];
        for (node, predecessor) in pairs {
            targets[next[node as usize] as usize] = predecessor;
            next[node as usize] += 1;
        }
        Self { offsets, targets }
    }

    /// From the predecessors of one node after the other: `ends[i]` is where those of node `i` end.
    #[must_use]
    pub fn in_order(ends: Vec<u32>, targets: Vec<u32>) -> Self {
        let mut offsets = ends;
        offsets.insert(0, 0);
        Self { offsets, targets }
    }

    /// Predecessors of `node`.
    #[must_use]
    #[inline]
    pub fn of(&self, node: u32) -> &[u32] {
        match self.offsets.get(node as usize..node as usize + 2) {
            Some(bounds) => &self.targets[bounds[0] as usize..bounds[1] as usize],
            None => &[],
        }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// How many edges there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Pairs (node, predecessor).
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.offsets.len().saturating_sub(1) as u32)
            .flat_map(|node| self.of(node).iter().map(move |&predecessor| (node, predecessor)))
    }
}

/// A graph: nodes in rows, each preceded by the one before it in its row, and further edges.
#[derive(Clone)]
pub struct Graph<'e> {
    /// The row of each node; nodes of a row are numbered one after the other.
    pub rows: &'e [u32],
    /// Further predecessors; nodes beyond the rows have only these.
    pub edges: Vec<&'e Edges>,
    /// How many nodes there are.
    pub nodes: usize,
}

impl Graph<'_> {
    /// The node before `node` in its row.
    #[must_use]
    #[inline]
    pub fn row_predecessor(&self, node: u32) -> Option<u32> {
        let row = self.rows.get(node as usize)?;
        let before = node.checked_sub(1)?;
        (self.rows[before as usize] == *row).then_some(before)
    }

    /// All predecessors of `node`.
    pub fn predecessors(&self, node: u32) -> impl Iterator<Item = u32> {
        let further = self.edges.iter().flat_map(move |edges| edges.of(node).iter().copied());
        self.row_predecessor(node).into_iter().chain(further)
    }

    /// The strongly connected components, in topological order.
    #[must_use]
    pub fn components(&self) -> Components {
        Search::new(self).run(0..self.nodes as u32)
    }

    /// The same, in an order that follows `first` as far as edges allow it; other numbers are skipped.
    #[must_use]
    pub fn components_from(&self, first: &[u32]) -> Components {
        let known = first.iter().copied().filter(|&node| (node as usize) < self.nodes);
        Search::new(self).run(known.chain(0..self.nodes as u32))
    }
}

/// Strongly connected components in topological order: every edge leads to the same or a later one.
#[derive(Debug, Clone, Default)]
pub struct Components {
    /// The component of each node.
    pub of: Vec<u32>,
    /// Nodes, component by component.
    pub order: Vec<u32>,
    /// How many components there are.
    pub count: u32,
}

impl Components {
    /// Whether some component has several nodes.
    #[must_use]
    pub fn is_cyclic(&self) -> bool {
        (self.count as usize) < self.of.len()
    }

    /// Components with several nodes, in topological order.
    pub fn cycles(&self) -> impl Iterator<Item = &[u32]> {
        self.groups().filter(|group| group.len() > 1)
    }

    /// All components, in topological order.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.order.chunk_by(|&a, &b| self.of[a as usize] == self.of[b as usize])
    }

    /// Whether each node is on a cycle.
    #[must_use]
    pub fn on_cycle(&self) -> Vec<bool> {
        let mut cyclic = vec![false; self.of.len()];
        for group in self.cycles() {
            for &node in group {
                cyclic[node as usize] = true;
            }
        }
        cyclic
    }
}

const UNSEEN: u32 = u32::MAX;

/// Tarjan's algorithm without recursion, along predecessors: components come out in topological order.
struct Search<'g, 'e> {
    graph: &'g Graph<'e>,
    /// When each node was first seen; [`UNSEEN`] before.
    seen: Vec<u32>,
    /// The earliest seen node that is known to be in the same component.
    low: Vec<u32>,
    stack: Vec<u32>,
    path: Vec<Frame>,
    clock: u32,
    found: Components,
}

/// A node on the current path: which of its predecessors comes next.
struct Frame {
    node: u32,
    list: u32,
    place: u32,
}

impl<'g, 'e> Search<'g, 'e> {
    fn new(graph: &'g Graph<'e>) -> Self {
        let nodes = graph.nodes;
        let found = Components { of: vec![UNSEEN; nodes], order: Vec::with_capacity(nodes), count: 0 };
        Self {
            graph,
            seen: vec![UNSEEN; nodes],
            low: vec![0; nodes],
            stack: Vec::new(),
            path: Vec::new(),
            clock: 0,
            found,
        }
    }

    fn run(mut self, roots: impl Iterator<Item = u32>) -> Components {
        for root in roots {
            if self.seen[root as usize] != UNSEEN {
                continue;
            }
            self.enter(root);
            while let Some(frame) = self.path.last_mut() {
                let node = frame.node;
                match next_predecessor(self.graph, frame) {
                    None => self.leave(node),
                    Some(predecessor) if self.seen[predecessor as usize] == UNSEEN => self.enter(predecessor),
                    Some(predecessor) if self.found.of[predecessor as usize] == UNSEEN => {
                        let seen = self.seen[predecessor as usize];
                        let low = &mut self.low[node as usize];
                        *low = seen.min(*low);
                    }
                    Some(_) => {}
                }
            }
        }
        self.found
    }

    fn enter(&mut self, node: u32) {
        self.seen[node as usize] = self.clock;
        self.low[node as usize] = self.clock;
        self.clock += 1;
        self.stack.push(node);
        self.path.push(Frame { node, list: 0, place: 0 });
    }

    fn leave(&mut self, node: u32) {
        self.path.pop();
        let low = self.low[node as usize];
        if let Some(caller) = self.path.last() {
            let of_caller = &mut self.low[caller.node as usize];
            *of_caller = low.min(*of_caller);
        }
        if low != self.seen[node as usize] {
            return;
        }
        let component = self.found.count;
        self.found.count += 1;
        while let Some(member) = self.stack.pop() {
            self.found.of[member as usize] = component;
            self.found.order.push(member);
            if member == node {
                break;
            }
        }
    }
}

/// The next predecessor that the frame has not looked at: first the one in the row, then the further ones.
fn next_predecessor(graph: &Graph<'_>, frame: &mut Frame) -> Option<u32> {
    if frame.list == 0 {
        frame.list = 1;
        if let Some(before) = graph.row_predecessor(frame.node) {
            return Some(before);
        }
    }
    while let Some(edges) = graph.edges.get(frame.list as usize - 1) {
        if let Some(&predecessor) = edges.of(frame.node).get(frame.place as usize) {
            frame.place += 1;
            return Some(predecessor);
        }
        (frame.list, frame.place) = (frame.list + 1, 0);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_in_topological_order() {
        // Two rows of three; 5 -> 1 and 2 -> 4 close a cycle through 1, 2, 4, 5.
        let rows = [0, 0, 0, 1, 1, 1];
        let edges = Edges::new(6, vec![(1, 5), (4, 2), (4, 2)]);
        let graph = Graph { rows: &rows, edges: vec![&edges], nodes: 6 };
        let found = graph.components();
        let mut groups: Vec<Vec<u32>> = found.groups().map(<[u32]>::to_vec).collect();
        for group in &mut groups {
            group.sort_unstable();
        }
        assert_eq!(groups, [vec![0], vec![3], vec![1, 2, 4, 5]]);
        assert_eq!(found.cycles().count(), 1);
        assert!(found.is_cyclic());
    }

    #[test]
    fn a_row_of_a_million_needs_no_deep_stack() {
        let rows = vec![0; 1_000_000];
        let graph = Graph { rows: &rows, edges: Vec::new(), nodes: rows.len() };
        let found = graph.components();
        assert!(!found.is_cyclic());
        assert!(found.order.is_sorted());
    }
}
