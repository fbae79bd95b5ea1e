//! The dependency graph between operations, for storage in a graph database (Qiu 2023, Figure 3.3).
//!
//! Each edge between two transactions appears once for every pair of operations that shows it. The edges are
//! those of levels without sessions: sessions and real time are pairs of transactions beside them.

use super::adjacent_versions::{Neighbour, adjacent_versions};
use super::dependencies::{Basis, Dependencies, Order};
use super::lookup::Lookup;
use super::orders::{Orders, Source};
use super::recorded_graph::recorded;
use super::transaction_times::TransactionTimes;
use super::witness::Witnesses;
use crate::cancel::Cancel;
use crate::history::{History, Kind};
use crate::observations::{ABSENT, INITIAL, Observations};
use crate::relation::Relation;

/// Two operations that show why one transaction precedes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct EventEdge {
    pub before: u32,
    pub after: u32,
    pub relation: Relation,
    pub key: u32,
    /// The operation of `before`.
    pub first: u32,
    /// The operation of `after`.
    pub second: u32,
    pub source: Source,
}

/// The graph, and what it leaves open.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is one reason for doubt")]
pub struct EventGraph {
    /// Transactions that count as committed and touch data, session by session.
    pub transactions: Vec<u32>,
    /// Sorted, each once.
    pub edges: Vec<EventEdge>,
    /// Neighbours in a session: (before, after).
    pub sessions: Vec<(u32, u32)>,
    /// Pairs in real-time order from which all others follow: (before, after).
    pub real_time: Vec<(u32, u32)>,
    /// Reads of lists that show an append that was never committed, before one that was.
    pub dirty_reads: Vec<u32>,
    /// Whether all versions of all keys are in order.
    pub is_complete: bool,
    /// Whether versions that may have been read are not in order, also by what read-then-write shows.
    pub has_open_registers: bool,
    /// Whether two sources order versions differently.
    pub is_contradictory: bool,
    /// Whether an append or a recorded row may be of several transactions.
    pub has_unsure_keys: bool,
}

/// The edges between operations that the history shows.
#[must_use]
pub fn event_graph(history: &History, observations: &Observations, cancel: &Cancel) -> EventGraph {
    let times = TransactionTimes::new(history, &observations.counted);
    let orders = recorded(history, observations, &times, cancel);
    let all = Dependencies::new(history, observations, &orders, &times);
    let lookup = Lookup::new(history, observations, &orders, &times);
    let witnesses = Witnesses { small: &all, lookup: &lookup };
    let mut edges = Vec::new();
    for &transaction in all.transactions.iter().take_while(|_| !cancel.is_asked()) {
        write_read(&witnesses, transaction, &mut edges);
    }
    edges.extend(write_write(&lookup));
    let readers = readers(&lookup, &all.transactions);
    read_write(&lookup, &readers, &mut edges);
    edges.sort_unstable();
    edges.dedup();
    let named =
        |(before, after): (u32, u32)| (all.transactions[before as usize], all.transactions[after as usize]);
    let mut dirty_reads: Vec<u32> = orders.dirty.iter().map(|&(read, ..)| read).collect();
    dirty_reads.dedup();
    EventGraph {
        sessions: all.session_pairs(true).into_iter().map(|(after, before)| named((before, after))).collect(),
        real_time: times.frontier(&all.transactions).into_iter().map(named).collect(),
        edges,
        dirty_reads,
        is_complete: orders.is_complete(),
        has_open_registers: has_open_registers(&orders),
        is_contradictory: !orders.contradictions.is_empty(),
        has_unsure_keys: orders.has_unsure_appends || !orders.unsure_keys.is_empty(),
        transactions: all.transactions.clone(),
    }
}

/// From writes to the reads of a transaction that show them: of a list that is a beginning of the longest one,
/// the last element is enough.
fn write_read(witnesses: &Witnesses<'_, '_>, reader: u32, found: &mut Vec<EventEdge>) {
    let lookup = witnesses.lookup;
    let mut add = |writer: u32, read: u32, key: u32, version: u32| {
        if writer == ABSENT || writer == INITIAL || writer == reader {
            return;
        }
        let written = witnesses.shown_write(writer, read, key, version);
        let Some(write) = written.or_else(|| any_write(lookup, writer, key)) else { return };
        let (relation, source) = (Relation::WriteRead, Source::Nothing);
        found.push(EventEdge {
            before: writer,
            after: reader,
            relation,
            key,
            first: write,
            second: read,
            source,
        });
    };
    for read in lookup.operations(reader) {
        let at = read as usize;
        let (source, observed) = (lookup.observations.sources[at], lookup.orders.observed[at]);
        let key = lookup.key(read);
        let is_by_reads = lookup.orders.source_of(key) == Source::ListRead;
        if source != ABSENT && source != INITIAL && observed != ABSENT {
            add(source, read, key, observed);
            let seen = lookup.observations.seen(at).iter().filter(|_| !is_by_reads);
            seen.for_each(|&writer| add(writer, read, key, observed));
        } else if observed != ABSENT {
            add(lookup.orders.writers[observed as usize], read, key, observed);
        } else if lookup.history.operations.kinds[at] == Kind::Read {
            add(source, read, key, observed);
            lookup.observations.seen(at).iter().for_each(|&writer| add(writer, read, key, observed));
        }
    }
}

/// The last write of a key by a transaction.
fn any_write(lookup: &Lookup<'_>, writer: u32, key: u32) -> Option<u32> {
    let kinds = &lookup.history.operations.kinds;
    let mut writes = lookup.operations(writer).rev();
    writes.find(|&write| {
        lookup.key(write) == key
            && (kinds[write as usize].installs() || kinds[write as usize] == Kind::Delete)
    })
}

fn write_write(lookup: &Lookup<'_>) -> Vec<EventEdge> {
    let orders = lookup.orders;
    let mut found = Vec::new();
    each_neighbour(orders, Basis::Recorded, |key, edge| {
        let (before, after) = (orders.writers[edge.before as usize], orders.writers[edge.after as usize]);
        if before != INITIAL && before != after {
            found.push(EventEdge {
                before,
                after,
                relation: Relation::WriteWrite,
                key,
                first: orders.operations[edge.before as usize],
                second: orders.operations[edge.after as usize],
                source: source_of(lookup, key, edge),
            });
        }
    });
    found
}

/// (version that it showed last, reader, read), sorted.
fn readers(lookup: &Lookup<'_>, transactions: &[u32]) -> Vec<(u32, u32, u32)> {
    let observed = |&reader: &u32| {
        lookup.observed(reader).map(move |(read, _, version)| (version, reader, read)).collect::<Vec<_>>()
    };
    let mut found: Vec<(u32, u32, u32)> = transactions.iter().flat_map(observed).collect();
    found.sort_unstable();
    found
}

fn read_write(lookup: &Lookup<'_>, readers: &[(u32, u32, u32)], found: &mut Vec<EventEdge>) {
    let orders = lookup.orders;
    each_neighbour(orders, Basis::ReadThenWrite, |key, edge| {
        let after = orders.writers[edge.after as usize];
        let is_initial = orders.writers[edge.before as usize] == INITIAL;
        let source = if is_initial { Source::Initial } else { source_of(lookup, key, edge) };
        let start = readers.partition_point(|&(version, ..)| version < edge.before);
        let reading = readers[start..].iter().take_while(|&&(version, ..)| version == edge.before);
        for &(_, reader, read) in reading.filter(|&&(_, reader, _)| reader != after) {
            let (relation, second) = (Relation::ReadWrite, orders.operations[edge.after as usize]);
            found.push(EventEdge { before: reader, after, relation, key, first: read, second, source });
        }
    });
}

fn each_neighbour(orders: &Orders, basis: Basis, mut visit: impl FnMut(u32, &Neighbour)) {
    let mut next = Vec::new();
    for (order, key) in orders.keys.iter().zip(0..) {
        adjacent_versions(orders, order, &mut next);
        next.iter().filter(|edge| edge.is_direct(basis)).for_each(|edge| visit(key, edge));
    }
}

/// Whether the versions of a register are in no one order, even with what transactions show that read one and
/// then wrote the other.
fn has_open_registers(orders: &Orders) -> bool {
    let mut next = Vec::new();
    orders.keys.iter().filter(|order| orders.is_open_register(order)).any(|order| {
        adjacent_versions(orders, order, &mut next);
        next.retain(|edge| edge.is_direct(Basis::ReadThenWrite));
        !is_chain(&next, (order.end - order.start) as usize)
    })
}

/// Whether so many versions follow each other one by one.
fn is_chain(neighbours: &[Neighbour], versions: usize) -> bool {
    let mut before: Vec<u32> = neighbours.iter().map(|edge| edge.before).collect();
    let mut after: Vec<u32> = neighbours.iter().map(|edge| edge.after).collect();
    before.sort_unstable();
    after.sort_unstable();
    before.dedup();
    after.dedup();
    // Order has no circles without claims, so that as many pairs as a chain has are one.
    neighbours.len() + 1 == versions && before.len() + 1 == versions && after.len() + 1 == versions
}

fn source_of(lookup: &Lookup<'_>, key: u32, edge: &Neighbour) -> Source {
    let mut after = lookup.after(key, edge.before, Order::Plain);
    after.find(|extra| extra.after == edge.after).map_or(Source::Nothing, |extra| extra.source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_one_pair_less_than_versions() {
        let pair = |before, after| Neighbour { before, after, from: 0, until: 4 };
        assert!(is_chain(&[], 1));
        assert!(is_chain(&[pair(0, 2), pair(2, 1)], 3));
        assert!(!is_chain(&[pair(0, 1), pair(0, 2)], 3));
        assert!(!is_chain(&[pair(0, 1)], 3));
    }
}
