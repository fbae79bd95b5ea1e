//! The dependency graph: which transactions precede which, and by which relation.
//!
//! Nodes are transactions, session by session; behind them stand junctions (all readers of a version before
//! all that overwrote it) and instants of real time, so that edges stay linear in the history.

mod selection;

use super::adjacent_versions::{Neighbour, adjacent_versions};
use super::orders::{Orders, Source};
use super::transaction_times::TransactionTimes;
use super::version_readers::Readers;
use crate::graph::{Components, Edges, Graph};
use crate::history::{History, Kind};
use crate::observations::{ABSENT, INITIAL, Observations};
use rayon::prelude::*;

/// Pairs (node, predecessor).
pub type Pairs = Vec<(u32, u32)>;

/// What rests on which order of versions; each level believes some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[allow(missing_docs)]
pub enum Basis {
    Recorded,
    ReadThenWrite,
    Session,
    RealTime,
}

/// How many there are.
pub const BASES: usize = 4;
/// The first and the last order of transactions at whose levels a version comes right after another: with
/// more order there may be others in between.
const SPANS: [(Order, Order); 6] = [
    (Order::Plain, Order::RealTime),
    (Order::Session, Order::RealTime),
    (Order::RealTime, Order::RealTime),
    (Order::Plain, Order::Plain),
    (Order::Plain, Order::Session),
    (Order::Session, Order::Session),
];
/// So few readers and writers are joined one by one.
const FEW: usize = 8;

impl Basis {
    /// What order of this source rests on.
    #[must_use]
    pub fn of(source: Source) -> Self {
        match source {
            Source::ReadThenWrite => Self::ReadThenWrite,
            Source::Session => Self::Session,
            Source::RealTime => Self::RealTime,
            _ => Self::Recorded,
        }
    }
}

/// The transactions that count as committed, and the edges between them.
#[derive(Debug, Default, Clone)]
pub struct Dependencies {
    /// The transaction of each node.
    pub transactions: Vec<u32>,
    /// The session of each node.
    pub sessions: Vec<u32>,
    /// How many junctions stand behind the transactions.
    pub junctions: u32,
    /// How many instants stand behind those.
    pub instants: u32,
    /// Write-read.
    pub wr: Pairs,
    /// Write-write, of recorded order: inferred order is parallel to the edges that it was inferred from.
    pub ww: Pairs,
    /// Read-write, by the orders of transactions at whose levels they are edges.
    rw: [Pairs; SPANS.len()],
    /// The key of each of those.
    rw_keys: [Vec<u32>; SPANS.len()],
    /// Real time.
    pub real_time: Pairs,
}

/// Which edges a graph has.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)]
pub struct Parts {
    pub wr: bool,
    pub rw: bool,
    pub order: Order,
}

/// What orders transactions beside the data that they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(usize)]
#[allow(missing_docs)]
pub enum Order {
    #[default]
    Plain,
    Session,
    /// Contains session order.
    RealTime,
}

impl Order {
    /// From the weakest to the strongest.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Session, Self::RealTime];

    /// The next weaker one.
    #[must_use]
    pub fn weaker(self) -> Option<Self> {
        (self as usize).checked_sub(1).map(|weaker| Self::ALL[weaker])
    }
}

impl Dependencies {
    /// The graph of a whole history.
    #[must_use]
    pub fn new(
        history: &History,
        observations: &Observations,
        orders: &Orders,
        times: &TransactionTimes,
    ) -> Self {
        let mut all = Self::default();
        let mut nodes = vec![ABSENT; history.transaction_count()];
        for session in 0..history.session_ids.len() {
            for &transaction in history.transactions_of(session) {
                // One without operations is in order with any others: sessions and real time go past it.
                if observations.counted[transaction as usize] && history.touches_data(transaction as usize) {
                    nodes[transaction as usize] = all.transactions.len() as u32;
                    all.transactions.push(transaction);
                    all.sessions.push(session as u32);
                }
            }
        }
        all.wr = write_read(history, observations, orders, &all.transactions, &nodes);
        all.write_write(orders, &nodes);
        all.read_write(history, orders, &nodes);
        if times.is_known {
            let first = all.len() as u32 + all.junctions;
            all.instants = times.chain(&all.transactions, first, &mut all.real_time);
        }
        all
    }

    /// How many transactions there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no caller needs it")]
    pub fn len(&self) -> usize {
        self.transactions.len()
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.len() + (self.junctions + self.instants) as usize
    }

    fn write_write(&mut self, orders: &Orders, nodes: &[u32]) {
        let mut edges = Vec::new();
        for order in &orders.keys {
            adjacent_versions(orders, order, &mut edges);
            for edge in edges.iter().filter(|edge| edge.is_direct(Basis::Recorded)) {
                let writer = orders.writers[edge.before as usize];
                if writer != INITIAL && writer != orders.writers[edge.after as usize] {
                    let after = nodes[orders.writers[edge.after as usize] as usize];
                    self.ww.push((after, nodes[writer as usize]));
                }
            }
        }
    }

    fn read_write(&mut self, history: &History, orders: &Orders, nodes: &[u32]) {
        let readers = Readers::new(history, orders, &self.transactions);
        let mut edges = Vec::new();
        let mut successors: [Vec<u32>; SPANS.len()] = Default::default();
        for (order, key) in orders.keys.iter().zip(0..) {
            adjacent_versions(orders, order, &mut edges);
            for same in edges.chunk_by(|a, b| a.before == b.before) {
                let mut reading = readers.of(same[0].before);
                let once: Vec<u32>;
                if reading.is_empty() {
                    continue;
                }
                if reading.windows(2).any(|pair| pair[0] == pair[1]) {
                    once = reading.chunk_by(|a, b| a == b).map(|same| same[0]).collect();
                    reading = &once;
                }
                successors.iter_mut().for_each(Vec::clear);
                for edge in same {
                    let node = nodes[orders.writers[edge.after as usize] as usize];
                    if let Some(span) = span(edge) {
                        successors[span].push(node);
                    }
                }
                for (span, after) in successors.iter_mut().enumerate() {
                    after.sort_unstable();
                    after.dedup();
                    self.junction(span, key, reading, after);
                }
            }
        }
    }

    /// All of `before` come before all of `after`, except for those on both sides.
    fn junction(&mut self, span: usize, key: u32, before: &[u32], after: &[u32]) {
        let start = self.rw[span].len();
        let few = before.len() < 2 || after.len() < 2 || before.len() + after.len() < FEW;
        if few {
            let pairs = after.iter().flat_map(|&after| before.iter().map(move |&before| (after, before)));
            self.rw[span].extend(pairs.filter(|(after, before)| after != before));
        } else {
            self.join(span, before, after);
        }
        let added = self.rw[span].len() - start;
        self.rw_keys[span].extend(std::iter::repeat_n(key, added));
    }

    /// A row of junctions leads to all of `after` from the first to each, another from each to the last: a
    /// node of `before` that is also in `after` goes to both its neighbours, and not to itself.
    fn join(&mut self, span: usize, before: &[u32], after: &[u32]) {
        let mut places: Vec<(u32, u32)> = after.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let rw = &mut self.rw[span];
        let first = self.transactions.len() as u32 + self.junctions;
        let count = after.len() as u32;
        self.junctions += 2 * count;
        let (up_to, from) = (|place: u32| first + place, |place: u32| first + count + place);
        for (&node, place) in after.iter().zip(0..) {
            rw.extend([(node, up_to(place)), (node, from(place))]);
            if place > 0 {
                rw.extend([(up_to(place - 1), up_to(place)), (from(place), from(place - 1))]);
            }
        }
        for &reader in before {
            match places.binary_search_by_key(&reader, |&(node, _)| node) {
                Err(_) => rw.push((from(0), reader)),
                Ok(found) => {
                    let place = places[found].1;
                    rw.extend((place > 0).then(|| (up_to(place - 1), reader)));
                    rw.extend((place + 1 < count).then(|| (from(place + 1), reader)));
                }
            }
        }
    }

    /// The predecessors of every node by these relations.
    #[must_use]
    pub fn graph(&self, parts: Parts) -> Edges {
        let rows = self.session_pairs(parts.order >= Order::Session);
        let mut lists: Vec<&[(u32, u32)]> = vec![&self.ww, &rows];
        if parts.wr {
            lists.push(&self.wr);
        }
        if parts.rw {
            lists.extend(self.believed(parts.order));
        }
        if parts.order == Order::RealTime {
            lists.push(&self.real_time);
        }
        Edges::collected(self.nodes(), &lists)
    }

    /// Read-write edges by the order of versions that levels with this order of transactions believe.
    pub fn believed(&self, order: Order) -> impl Iterator<Item = &[(u32, u32)]> {
        self.rw
            .iter()
            .zip(SPANS)
            .filter(move |(_, span)| is_within(order, *span))
            .map(|(pairs, _)| &pairs[..])
    }

    /// The same edges, one by one, with their keys.
    pub fn believed_with_keys(&self, order: Order) -> impl Iterator<Item = ((u32, u32), u32)> {
        let lists = self.rw.iter().zip(&self.rw_keys).zip(SPANS);
        let lists = lists.filter(move |(_, span)| is_within(order, *span));
        lists.flat_map(|((pairs, keys), _)| pairs.iter().copied().zip(keys.iter().copied()))
    }

    /// Session order as pairs, or nothing.
    #[must_use]
    pub fn session_pairs(&self, wanted: bool) -> Pairs {
        if !wanted {
            return Pairs::new();
        }
        let nodes = 1..self.len();
        let same = nodes.filter(|&node| self.sessions[node] == self.sessions[node - 1]);
        same.map(|node| (node as u32, node as u32 - 1)).collect()
    }
}

fn is_within(order: Order, (first, last): (Order, Order)) -> bool {
    first <= order && order <= last
}

/// The place among [`SPANS`] of the levels that know two versions to be neighbours; they all believe what a
/// transaction shows that read and then wrote.
fn span(edge: &Neighbour) -> Option<usize> {
    let bases = [Basis::ReadThenWrite, Basis::Session, Basis::RealTime];
    let knows = |(_, basis): &(Order, Basis)| edge.is_direct(*basis);
    let mut orders = Order::ALL.into_iter().zip(bases).filter(knows).map(|(order, _)| order);
    let first = orders.next()?;
    let last = orders.next_back().unwrap_or(first);
    SPANS.iter().position(|&span| span == (first, last))
}

/// The components of a graph given by predecessors.
#[must_use]
pub fn components(edges: &Edges, nodes: usize) -> Components {
    Graph { rows: &[], edges: vec![edges], nodes }.components()
}

/// The write-read edges: of a list that is a beginning of the longest one, the writer of the last element is
/// enough. Reads of the state before a first transaction come after it too.
fn write_read(
    history: &History,
    observations: &Observations,
    orders: &Orders,
    transactions: &[u32],
    nodes: &[u32],
) -> Pairs {
    let add_edges = |mut found: Pairs, (node, &transaction): (usize, &u32)| {
        let node = node as u32;
        let mut add = |writer: u32| {
            if writer != ABSENT && writer != INITIAL && nodes[writer as usize] != node {
                found.push((node, nodes[writer as usize]));
            }
        };
        for operation in history.operations_of(transaction as usize) {
            let (source, observed) = (observations.sources[operation], orders.observed[operation]);
            let key = history.operations.keys[operation];
            let is_by_reads = orders.source_of(key) == Source::ListRead;
            orders.first_after(key, observed).for_each(|version| add(orders.writers[version as usize]));
            if source != ABSENT && source != INITIAL && observed != ABSENT {
                add(source);
                let seen = observations.seen(operation).iter().filter(|_| !is_by_reads);
                seen.for_each(|&writer| add(writer));
            } else if observed != ABSENT {
                add(orders.writers[observed as usize]);
            } else if history.operations.kinds[operation] == Kind::Read {
                add(source);
                observations.seen(operation).iter().for_each(|&writer| add(writer));
            }
        }
        found
    };
    let shares: Vec<Pairs> = transactions.par_iter().enumerate().fold(Pairs::new, add_edges).collect();
    shares.concat()
}

#[cfg(test)]
mod tests;
