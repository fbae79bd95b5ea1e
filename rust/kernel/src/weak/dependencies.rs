//! Counted transactions on dense numbers, session by session, with what each read from whom and wrote.

use crate::graph::{Edges, Graph};
use crate::history::History;
use crate::observations::{INITIAL, NOBODY, Observations};
use rayon::prelude::*;

/// Sessions are joined into longer rows only if there are more of them than this: clocks are as wide as
/// there are rows.
const MANY_SESSIONS: usize = 128;

/// The transactions that count as committed, as nodes; numbers follow session order.
pub struct Dependencies<'h> {
    /// The history.
    pub history: &'h History,
    /// Who served which read.
    pub observations: &'h Observations,
    /// The transaction of each node.
    pub transactions: Vec<u32>,
    /// The node of each transaction; [`NOBODY`] if it does not count.
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
    /// Write-read: who was observed by whom. Nodes beyond the transactions stand for prefixes of lists.
    pub reads_from: Edges,
    /// Order of appends to lists.
    pub successions: Edges,
    /// Whether a node observed some key in several states, or a list that fits no other.
    pub varying: Vec<bool>,
}

/// One external read: its key, the node that it read from (or [`INITIAL`], [`NOBODY`]), its operation.
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
    pub fn new(history: &'h History, observations: &'h Observations) -> Self {
        let rows = Rows::new(history, observations);
        let mut all = Self {
            history,
            observations,
            nodes: vec![NOBODY; history.transaction_count()],
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
            varying: Vec::new(),
        };
        for (node, &transaction) in all.transactions.iter().enumerate() {
            all.nodes[transaction as usize] = node as u32;
        }
        all.sort_operations();
        all.sort_writers();
        all.varying = (0..all.len() as u32).into_par_iter().map(|node| all.varies(node)).collect();
        all.reads_from = all.write_read();
        all.successions = all.list_order();
        all
    }

    /// How many transactions there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
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
        writers.filter(|&&writer| writer != NOBODY).map(|&writer| self.nodes[writer as usize])
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

    /// Brings the reads and writes of each node together; cores take different nodes.
    fn sort_operations(&mut self) {
        const SHARE: usize = 1 << 14;
        let shares: Vec<Sorted> =
            self.transactions.par_chunks(SHARE).map(|transactions| self.sorted(transactions)).collect();
        let total = |length: fn(&Sorted) -> usize| shares.iter().map(length).sum();
        let reads = total(|share| share.read_keys.len());
        self.read_keys.reserve_exact(reads);
        self.read_sources.reserve_exact(reads);
        self.read_operations.reserve_exact(reads);
        self.write_keys.reserve_exact(total(|share| share.write_keys.len()));
        for share in shares {
            let (read, written) = (self.read_keys.len() as u32, self.write_keys.len() as u32);
            self.read_offsets.extend(share.read_ends.iter().map(|end| end + read));
            self.write_offsets.extend(share.write_ends.iter().map(|end| end + written));
            self.read_keys.extend(share.read_keys);
            self.read_sources.extend(share.read_sources);
            self.read_operations.extend(share.read_operations);
            self.write_keys.extend(share.write_keys);
        }
    }

    fn sorted(&self, transactions: &[u32]) -> Sorted {
        let operations = &self.history.operations;
        let mut share = Sorted::default();
        for &transaction in transactions {
            let first_write = share.write_keys.len();
            for operation in self.history.operations_of(transaction as usize) {
                let (key, source) = (operations.keys[operation], self.observations.sources[operation]);
                if operations.kinds[operation].installs() {
                    share.write_keys.push(key);
                } else if source != NOBODY || !self.observations.seen(operation).is_empty() {
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

    fn sort_writers(&mut self) {
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
        (self.writer_offsets, self.writers) = (offsets, writers);
    }

    fn varies(&self, node: u32) -> bool {
        let reads = self.read_range(node);
        let odd = |operation: u32, key: u32| {
            !self.observations.seen(operation as usize).is_empty()
                && self.observations.prefix(operation as usize, key).is_none()
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

    fn write_read(&self) -> Edges {
        let mut ends = Vec::with_capacity(self.node_count());
        let mut targets = Vec::with_capacity(self.read_keys.len());
        for node in 0..self.len() as u32 {
            let first = targets.len();
            for read in self.reads(node) {
                self.read_from(node, read, &mut targets);
            }
            sort_tail(&mut targets, first);
            ends.push(targets.len() as u32);
        }
        // A prefix of a list is the one before it and one more writer.
        for (place, &writer) in self.observations.pool().iter().enumerate() {
            if !self.observations.starts_list(place) {
                targets.push((self.len() + place - 1) as u32);
            }
            if writer != NOBODY {
                targets.push(self.nodes[writer as usize]);
            }
            ends.push(targets.len() as u32);
        }
        Edges::in_order(ends, targets)
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

    fn list_order(&self) -> Edges {
        let node = |transaction: u32| self.nodes[transaction as usize];
        let pairs = self.observations.successions.iter().map(|&(before, after)| (node(after), node(before)));
        Edges::new(self.len(), pairs.collect())
    }
}

/// The reads and writes of some nodes.
#[derive(Default)]
struct Sorted {
    read_ends: Vec<u32>,
    read_keys: Vec<u32>,
    read_sources: Vec<u32>,
    read_operations: Vec<u32>,
    write_ends: Vec<u32>,
    write_keys: Vec<u32>,
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

/// Counted transactions in rows.
struct Rows {
    transactions: Vec<u32>,
    sessions: Vec<u32>,
    session_starts: Vec<u32>,
    /// The row of each transaction.
    numbers: Vec<u32>,
    starts: Vec<u32>,
}

impl Rows {
    fn new(history: &History, observations: &Observations) -> Self {
        let counted = |&transaction: &u32| observations.counted[transaction as usize];
        let sessions: Vec<Vec<u32>> = (0..history.session_ids.len())
            .map(|session| history.transactions_of(session).iter().copied().filter(counted).collect())
            .collect();
        let next = if sessions.len() > MANY_SESSIONS {
            successors(history, observations, &sessions)
        } else {
            vec![NOBODY; sessions.len()]
        };
        let mut follows = vec![false; sessions.len()];
        for &session in next.iter().filter(|&&session| session != NOBODY) {
            follows[session as usize] = true;
        }
        let mut rows = Self {
            transactions: Vec::with_capacity(history.transaction_count()),
            sessions: Vec::new(),
            session_starts: vec![0; sessions.len()],
            numbers: Vec::new(),
            starts: Vec::new(),
        };
        for first in (0..sessions.len()).filter(|&session| !follows[session] && !sessions[session].is_empty())
        {
            let row = rows.starts.len() as u32;
            rows.starts.push(rows.transactions.len() as u32);
            let mut session = first as u32;
            while session != NOBODY {
                rows.session_starts[session as usize] = rows.transactions.len() as u32;
                rows.transactions.extend(&sessions[session as usize]);
                rows.sessions.resize(rows.transactions.len(), session);
                rows.numbers.resize(rows.transactions.len(), row);
                session = next[session as usize];
            }
        }
        rows.starts.push(rows.transactions.len() as u32);
        rows
    }
}

/// For each session one that starts by reading from its end, so that the two make one row.
fn successors(history: &History, observations: &Observations, sessions: &[Vec<u32>]) -> Vec<u32> {
    let mut next = vec![NOBODY; sessions.len()];
    // The first session of the row that a session is the last of: rows must not close to a ring.
    let mut first: Vec<u32> = (0..sessions.len() as u32).collect();
    let mut last = first.clone();
    for (session, transactions) in sessions.iter().enumerate() {
        let Some(&start) = transactions.first() else { continue };
        let sources = history.operations_of(start as usize).map(|operation| observations.sources[operation]);
        let before = sources
            .filter(|&source| source < INITIAL)
            .map(|source| (source, history.transactions.sessions[source as usize]))
            .find(|&(source, before)| {
                sessions[before as usize].last() == Some(&source)
                    && next[before as usize] == NOBODY
                    && first[before as usize] != session as u32
            });
        let Some((_, before)) = before else { continue };
        next[before as usize] = session as u32;
        let (head, tail) = (first[before as usize], last[session]);
        first[tail as usize] = head;
        last[head as usize] = tail;
    }
    next
}
