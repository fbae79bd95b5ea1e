//! Counted transactions on dense numbers, session by session, with the reads and writes of each.

mod sorted_columns;

use super::recorded_order::RecordedOrder;
use super::rows::Rows;
use crate::graph::{Edges, Graph};
use crate::history::History;
use crate::observations::{ABSENT, Observations};

/// The transactions that count as committed, as nodes; numbers follow session order.
pub struct Dependencies<'h> {
    /// The history.
    pub history: &'h History,
    /// The transaction that served each read.
    pub observations: &'h Observations,
    /// The transaction of each node.
    pub transactions: Vec<u32>,
    /// The node of each transaction; [`ABSENT`] if it does not count.
    pub nodes: Vec<u32>,
    /// The session of each node.
    pub sessions: Vec<u32>,
    /// The first node of each session.
    session_starts: Vec<u32>,
    /// The row of each node: a session, or several where one goes on after another.
    pub rows: Vec<u32>,
    /// The first node of each row, and the number of nodes.
    pub row_starts: Vec<u32>,
    read_offsets: Vec<u32>,
    read_keys: Vec<u32>,
    read_sources: Vec<u32>,
    read_operations: Vec<u32>,
    write_offsets: Vec<u32>,
    write_keys: Vec<u32>,
    writer_offsets: Vec<u32>,
    writers: Vec<u32>,
    /// Write-read: the transactions that each node observed. Nodes beyond the transactions stand for prefixes
    /// of lists.
    pub reads_from: Edges,
    /// Order of appends to lists, and of other versions if it is recorded.
    pub successions: Edges,
    /// The latter.
    pub recorded: RecordedOrder,
    /// Whether a node observed some key in several states, or a list that fits no other or is not believed.
    pub varying: Vec<bool>,
}

/// One external read: its key, the node that it read from (or [`INITIAL`], [`ABSENT`]), its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Read {
    pub key: u32,
    pub source: u32,
    pub operation: u32,
}

impl<'h> Dependencies<'h> {
    /// Numbers the transactions and sorts their reads and writes.
    #[must_use]
    pub fn new(history: &'h History, observations: &'h Observations, recorded: RecordedOrder) -> Self {
        let rows = Rows::new(history, observations);
        let recorded = recorded.with_first_state(history, &observations.counted);
        let mut all = Self {
            history,
            observations,
            nodes: vec![ABSENT; history.transaction_count()],
            transactions: rows.transactions,
            sessions: rows.sessions,
            session_starts: rows.session_starts,
            rows: rows.numbers,
            row_starts: rows.starts,
            read_offsets: vec![0],
            read_keys: Vec::new(),
            read_sources: Vec::new(),
            read_operations: Vec::new(),
            write_offsets: vec![0],
            write_keys: Vec::new(),
            writer_offsets: Vec::new(),
            writers: Vec::new(),
            reads_from: Edges::default(),
            successions: Edges::default(),
            recorded,
            varying: Vec::new(),
        };
        for (node, &transaction) in all.transactions.iter().enumerate() {
            all.nodes[transaction as usize] = node as u32;
        }
        all.sort_operations();
        let ((writers, successions), (varying, reads_from)) = rayon::join(
            || (all.sorted_writers(), all.version_order()),
            || (all.varying_nodes(), all.write_read()),
        );
        (all.writer_offsets, all.writers) = writers;
        (all.successions, all.varying, all.reads_from) = (successions, varying, reads_from);
        all
    }

    /// How many transactions there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no caller needs it")]
    pub fn len(&self) -> usize {
        self.transactions.len()
    }

    /// How many nodes there are, those that stand for prefixes of lists included.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.len() + self.observations.pool().len()
    }

    /// Session order and write-read, with `further` edges.
    #[must_use]
    pub fn graph<'e>(&'e self, further: &[&'e Edges]) -> Graph<'e> {
        let mut edges = vec![&self.reads_from];
        edges.extend(further);
        Graph { rows: &self.rows, edges, nodes: self.node_count() }
    }

    /// The node before `node` in its row.
    #[must_use]
    #[inline]
    pub fn row_predecessor(&self, node: u32) -> Option<u32> {
        let row = self.rows.get(node as usize)?;
        let before = node.checked_sub(1)?;
        (self.rows[before as usize] == *row).then_some(before)
    }

    /// The first node of a row, and the first one behind it.
    #[must_use]
    pub fn row_bounds(&self, row: u32) -> (u32, u32) {
        (self.row_starts[row as usize], self.row_starts[row as usize + 1])
    }

    /// How many transactions the longest row has.
    #[must_use]
    pub fn longest_row(&self) -> usize {
        self.row_starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0)
    }

    /// Where the reads of `node` stand among all reads.
    #[must_use]
    pub fn read_range(&self, node: u32) -> std::ops::Range<usize> {
        self.read_offsets[node as usize] as usize..self.read_offsets[node as usize + 1] as usize
    }

    /// The read with this number.
    #[must_use]
    #[inline]
    pub fn read(&self, number: usize) -> Read {
        Read {
            key: self.read_keys[number],
            source: self.read_sources[number],
            operation: self.read_operations[number],
        }
    }

    /// External reads of `node`, in program order.
    #[must_use = "an iterator does nothing by itself"]
    pub fn reads(&self, node: u32) -> impl DoubleEndedIterator<Item = Read> + ExactSizeIterator {
        self.read_range(node).map(|number| self.read(number))
    }

    /// Whether `node` observed an element of a list.
    #[must_use]
    pub fn reads_lists(&self, node: u32) -> bool {
        self.observations.has_lists()
            && self.reads(node).any(|read| !self.observations.seen(read.operation as usize).is_empty())
    }

    /// Nodes that a read observed, besides its source: the writers of a list's elements.
    pub fn seen(&self, read: Read) -> impl Iterator<Item = u32> {
        let writers = self.observations.seen(read.operation as usize).iter();
        writers.filter(|&&writer| writer != ABSENT).map(|&writer| self.nodes[writer as usize])
    }

    /// Keys that `node` writes, ascending.
    #[must_use]
    pub fn writes(&self, node: u32) -> &[u32] {
        let bounds = &self.write_offsets[node as usize..node as usize + 2];
        &self.write_keys[bounds[0] as usize..bounds[1] as usize]
    }

    /// Where the writes of `node` stand among all writes.
    #[must_use]
    pub fn write_range(&self, node: u32) -> std::ops::Range<usize> {
        self.write_offsets[node as usize] as usize..self.write_offsets[node as usize + 1] as usize
    }

    /// The key of a write.
    #[must_use]
    pub fn written_key(&self, write: usize) -> u32 {
        self.write_keys[write]
    }

    /// The write of `key` by `node`, if there is one.
    #[must_use]
    pub fn write_entry(&self, node: u32, key: u32) -> Option<usize> {
        let place = self.writes(node).binary_search(&key).ok()?;
        Some(self.write_offsets[node as usize] as usize + place)
    }

    /// How many reads there are.
    #[must_use]
    pub fn read_count(&self) -> usize {
        self.read_keys.len()
    }

    /// How many writes there are.
    #[must_use]
    pub fn write_count(&self) -> usize {
        self.write_keys.len()
    }

    /// Where the writers of each key start among all writers.
    #[must_use]
    pub fn writer_starts(&self) -> &[u32] {
        &self.writer_offsets
    }

    /// Whether `node` writes `key`.
    #[must_use]
    pub fn writes_key(&self, node: u32, key: u32) -> bool {
        self.writes(node).binary_search(&key).is_ok()
    }

    /// Nodes that write `key`, ascending: row by row, in the order of the row.
    #[must_use]
    pub fn writers(&self, key: u32) -> &[u32] {
        let bounds = &self.writer_offsets[key as usize..key as usize + 2];
        &self.writers[bounds[0] as usize..bounds[1] as usize]
    }

    /// The writers of `key` among `nodes`, ascending.
    #[must_use]
    pub fn writers_among(&self, key: u32, nodes: std::ops::Range<u32>) -> &[u32] {
        let writers = self.writers(key);
        let from = writers.partition_point(|&writer| writer < nodes.start);
        let to = writers.partition_point(|&writer| writer < nodes.end);
        &writers[from..to.max(from)]
    }

    /// The first node of the session of `node`.
    #[must_use]
    pub fn session_start(&self, node: u32) -> u32 {
        self.session_starts[self.sessions[node as usize] as usize]
    }
}
