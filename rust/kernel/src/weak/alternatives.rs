//! The causal level without our clocks: with tree clocks, and by plain traversal (Plume, sections 4.3 and
//! 5.5.4). They find the same demands, slower; they are there to be measured and to check each other.

use super::causal::Demands;
use super::dependencies::Dependencies;
use super::reader::Reader;
use super::tree_clock::TreeClock;
use crate::cancel::Cancel;
use crate::graph::{Components, Edges};
use crate::named_enum::named_enum;
use crate::observations::INITIAL;

named_enum! {
    /// How happens-before is computed.
    #[derive(Default)]
    pub enum HappensBeforeMethod {
        /// Only where a guessed commit order leaves doubt: see [`super::clocked_guess`] and, for very many sessions,
        /// [`super::guessed_order`]. If that does not decide, vector clocks of every demand.
        #[default]
        Lazy => "lazy",
        /// Clocks of one cache line a transaction: see [`super::clocks`].
        VectorClocks => "vector-clocks",
        /// Clocks that remember from which transaction each entry came.
        TreeClocks => "tree-clocks",
        /// No clocks: everything that happens before a transaction is looked for again.
        Traversal => "traversal",
    }
}

/// What a method had to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effort {
    /// Clocks that were joined.
    pub joins: u64,
    /// Entries of clocks that were looked at.
    pub entries: u64,
    /// Traversals of the graph.
    pub traversals: u64,
    /// Transactions that were visited by them.
    pub visits: u64,
}

/// The demands of the causal axiom, with tree clocks or by traversal; session order and write-read must
/// have no cycle.
#[must_use]
pub fn demands(
    dependencies: &Dependencies<'_>,
    order: &Components,
    method: HappensBeforeMethod,
    cancel: &Cancel,
) -> (Demands, Effort) {
    let mut search = Search::new(dependencies, method == HappensBeforeMethod::TreeClocks);
    for &node in order.order.iter().filter(|&&node| (node as usize) < dependencies.len()) {
        if cancel.is_asked() {
            break;
        }
        search.node(node);
    }
    search.finish()
}

struct Search<'d, 'h> {
    dependencies: &'d Dependencies<'h>,
    /// For each row its clock; none when traversing.
    clocks: Vec<TreeClock>,
    /// Copies for the readers that are still to come, and how many those are.
    copies: Vec<Option<TreeClock>>,
    readers: Vec<u32>,
    /// When traversing: in which traversal each node was seen last, and which of a row's nodes was reached.
    seen: Vec<u32>,
    reached: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    contradiction: Option<u32>,
    effort: Effort,
}

impl<'d, 'h> Search<'d, 'h> {
    fn new(dependencies: &'d Dependencies<'h>, with_clocks: bool) -> Self {
        let (nodes, rows) = (dependencies.len(), dependencies.row_starts.len() - 1);
        let mut search = Self {
            dependencies,
            clocks: Vec::new(),
            copies: vec![None; nodes],
            readers: vec![0; nodes],
            seen: vec![u32::MAX; nodes],
            reached: vec![0; rows],
            pairs: Vec::new(),
            contradiction: None,
            effort: Effort::default(),
        };
        if with_clocks {
            search.clocks = (0..rows as u32).map(|row| TreeClock::new(row, rows)).collect();
            for node in 0..nodes as u32 {
                for writer in search.observed(node) {
                    search.readers[writer as usize] += 1;
                }
            }
        }
        search
    }

    /// The nodes that `node` observed, each once.
    fn observed(&self, node: u32) -> Vec<u32> {
        let reads = self.dependencies.reads(node);
        let mut observed: Vec<u32> = reads
            .flat_map(|read| self.dependencies.seen(read).chain(Some(read.source)))
            .filter(|&writer| writer < INITIAL && writer != node)
            .collect();
        observed.sort_unstable();
        observed.dedup();
        observed
    }

    fn node(&mut self, node: u32) {
        if self.clocks.is_empty() {
            self.traverse(node);
        } else {
            self.join(node);
        }
        self.conflicts(node);
    }

    fn join(&mut self, node: u32) {
        let row = self.dependencies.rows[node as usize] as usize;
        self.clocks[row].increment();
        for writer in self.observed(node) {
            if let Some(copy) = &self.copies[writer as usize] {
                self.effort.joins += 1;
                self.effort.entries += self.clocks[row].join(copy);
            }
            self.readers[writer as usize] -= 1;
            if self.readers[writer as usize] == 0 {
                self.copies[writer as usize] = None;
            }
        }
        if self.readers[node as usize] > 0 {
            self.copies[node as usize] = Some(self.clocks[row].clone());
        }
    }

    /// Finds everything that happens before `node`.
    fn traverse(&mut self, node: u32) {
        self.effort.traversals += 1;
        self.reached.fill(0);
        let mut stack = vec![node];
        while let Some(next) = stack.pop() {
            let before = self.observed(next).into_iter().chain(self.dependencies.row_predecessor(next));
            for earlier in before {
                if std::mem::replace(&mut self.seen[earlier as usize], node) == node {
                    continue;
                }
                self.effort.visits += 1;
                let row = self.dependencies.rows[earlier as usize] as usize;
                let place = earlier - self.dependencies.row_starts[row] + 1;
                self.reached[row] = self.reached[row].max(place);
                stack.push(earlier);
            }
        }
    }

    /// How many transactions of `row` happen before the node at hand.
    fn count(&self, node: u32, row: u32) -> u32 {
        let own = self.dependencies.rows[node as usize];
        match self.clocks.get(own as usize) {
            // The clock of a row counts the node itself.
            Some(clock) => clock.count(row) - u32::from(row == own),
            None => self.reached[row as usize],
        }
    }

    fn conflicts(&mut self, node: u32) {
        let reader = Reader::new(self.dependencies, node);
        for &(key, source) in &reader.sources {
            for row in 0..self.dependencies.row_starts.len() as u32 - 1 {
                let start = self.dependencies.row_starts[row as usize];
                let end = start + self.count(node, row);
                let writers = self.dependencies.writers_among(key, start..end);
                let conflicts = |&&writer: &&u32| reader.class(key, source, writer).is_some();
                if let Some(&newer) = writers.iter().rev().find(conflicts) {
                    self.demand(source, newer);
                }
            }
        }
    }

    fn demand(&mut self, source: u32, newer: u32) {
        if source == INITIAL {
            self.contradiction.get_or_insert(newer);
            return;
        }
        let rows = &self.dependencies.rows;
        if rows[source as usize] != rows[newer as usize] || newer > source {
            self.pairs.push((source, newer));
        }
    }

    fn finish(self) -> (Demands, Effort) {
        let edges = Edges::new(self.dependencies.len(), self.pairs);
        (Demands { edges, contradiction: self.contradiction }, self.effort)
    }
}
