//! What an axiom demands of the commit order, given a writer for each read, and what of it an order does not meet.

use super::Site;
use crate::observations::{ABSENT, INITIAL};
use crate::weak::dependencies::Dependencies;
use crate::weak::reader::WeakLevel;
use hashbrown::HashMap;
use std::collections::VecDeque;

/// So many demands are looked for at once.
const MOST: usize = 4_096;
const KNOWN: usize = usize::MAX;

/// A transaction must come before another one; before [`INITIAL`] none can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) before: u32,
    pub(super) after: u32,
    /// The sites whose writers it rests on.
    pub(super) because: Vec<usize>,
}

/// One external read: what it shows, and the site that it is, or [`KNOWN`].
struct Entry {
    operation: u32,
    key: u32,
    source: u32,
    site: usize,
}

struct Missed<'m, 'h> {
    dependencies: &'m Dependencies<'h>,
    sites: &'m [Site],
    writers: &'m [u32],
    places: &'m [u32],
    /// Sites of each node.
    of_node: HashMap<u32, Vec<usize>>,
    found: Vec<Demand>,
}

/// The demands that rest on open reads and that the places do not meet.
pub(super) fn missed_demands(
    dependencies: &Dependencies<'_>,
    level: WeakLevel,
    sites: &[Site],
    writers: &[u32],
    places: &[u32],
) -> Vec<Demand> {
    let mut of_node: HashMap<u32, Vec<usize>> = HashMap::new();
    for (number, site) in sites.iter().enumerate() {
        of_node.entry(site.node).or_default().push(number);
    }
    let mut missed = Missed { dependencies, sites, writers, places, of_node, found: Vec::new() };
    if level == WeakLevel::Causal {
        missed.causal();
        return missed.found;
    }
    let mut nodes: Vec<u32> = missed.of_node.keys().copied().collect();
    nodes.sort_unstable();
    for node in nodes {
        missed.direct(node, level);
    }
    missed.found
}

impl Missed<'_, '_> {
    /// External reads of a node in program order.
    fn entries(&self, node: u32) -> Vec<Entry> {
        let known = self.dependencies.reads(node).map(|read| Entry {
            operation: read.operation,
            key: read.key,
            source: read.source,
            site: KNOWN,
        });
        let open = self.of_node.get(&node).into_iter().flatten().map(|&number| {
            let Site { key, read, .. } = self.sites[number];
            Entry { operation: read, key, source: self.writers[number], site: number }
        });
        let mut entries: Vec<Entry> = known.chain(open).collect();
        entries.sort_by_key(|entry| entry.operation);
        entries
    }

    /// Transactions whose writes an entry shows.
    fn shown(&self, entry: &Entry) -> Vec<u32> {
        let seen = self.dependencies.observations.seen(entry.operation as usize).iter();
        let seen = seen.filter(|&&writer| entry.site == KNOWN && writer != ABSENT);
        let source = Some(entry.source).filter(|&source| source < INITIAL);
        seen.map(|&writer| self.dependencies.nodes[writer as usize]).chain(source).collect()
    }

    /// Whether a transaction that a reader sees must come before the one that an entry shows, and does not.
    fn is_missed(&self, node: u32, entry: &Entry, newer: u32) -> bool {
        if newer == node || newer == entry.source || entry.source == ABSENT {
            return false;
        }
        let is_behind =
            entry.source == INITIAL || self.places[newer as usize] > self.places[entry.source as usize];
        is_behind
            && self.dependencies.writes_key(newer, entry.key)
            && (entry.site != KNOWN || !self.shown(entry).contains(&newer))
    }

    fn demand(&mut self, newer: u32, entry: &Entry, because: impl IntoIterator<Item = usize>) {
        let mut because: Vec<usize> = because.into_iter().filter(|&site| site != KNOWN).collect();
        because.extend((entry.site != KNOWN).then_some(entry.site));
        because.sort_unstable();
        because.dedup();
        if !because.is_empty() && self.found.len() < MOST {
            self.found.push(Demand { before: newer, after: entry.source, because });
        }
    }

    /// What a reader saw itself: before the read at read committed, at any time or in its session at read atomic.
    fn direct(&mut self, node: u32, level: WeakLevel) {
        let entries = self.entries(node);
        let sights: Vec<Vec<u32>> = entries.iter().map(|entry| self.shown(entry)).collect();
        for (place, entry) in entries.iter().enumerate() {
            let end = if level == WeakLevel::ReadCommitted { place } else { entries.len() };
            for other in (0..end).filter(|&other| other != place) {
                for &newer in &sights[other] {
                    if self.is_missed(node, entry, newer) {
                        self.demand(newer, entry, [entries[other].site]);
                    }
                }
            }
            if level == WeakLevel::ReadAtomic && entry.site != KNOWN {
                let session = self.dependencies.session_start(node)..node;
                let last = self.dependencies.writers_among(entry.key, session).last().copied();
                if let Some(newer) = last.filter(|&newer| self.is_missed(node, entry, newer)) {
                    self.demand(newer, entry, []);
                }
            }
        }
    }

    /// Of each row the last writer of a key that happens before the reader.
    fn causal(&mut self) {
        let mut order: Vec<u32> = (0..self.dependencies.node_count() as u32).collect();
        order.sort_unstable_by_key(|&node| self.places[node as usize]);
        let rows = self.dependencies.row_starts.len() - 1;
        let mut clocks = vec![0u32; order.len() * rows];
        for node in order {
            let start = node as usize * rows;
            for (before, _) in self.predecessors(node) {
                let from = before as usize * rows;
                for row in 0..rows {
                    clocks[start + row] = clocks[start + row].max(clocks[from + row]);
                }
                if let Some(&row) = self.dependencies.rows.get(before as usize) {
                    let count = before + 1 - self.dependencies.row_bounds(row).0;
                    clocks[start + row as usize] = clocks[start + row as usize].max(count);
                }
            }
            if (node as usize) < self.dependencies.len() {
                self.causal_of(node, &clocks[start..start + rows]);
            }
            if self.found.len() >= MOST {
                return;
            }
        }
    }

    fn causal_of(&mut self, node: u32, clock: &[u32]) {
        for entry in self.entries(node) {
            for (row, &count) in clock.iter().enumerate() {
                let start = self.dependencies.row_starts[row];
                let writers = self.dependencies.writers_among(entry.key, start..start + count);
                let Some(&newer) = writers.last() else { continue };
                if self.is_missed(node, &entry, newer) {
                    let because = self.way(newer, node);
                    self.demand(newer, &entry, because);
                }
            }
        }
    }

    /// What comes right before a node, and the site that says so, or [`KNOWN`].
    fn predecessors(&self, node: u32) -> Vec<(u32, usize)> {
        let row =
            self.dependencies.row_predecessor(node).filter(|_| (node as usize) < self.dependencies.len());
        let known = self.dependencies.reads_from.of(node).iter().copied().chain(row);
        let open = self.of_node.get(&node).into_iter().flatten();
        let open = open.map(|&site| (self.writers[site], site)).filter(|&(writer, _)| writer < INITIAL);
        known.map(|before| (before, KNOWN)).chain(open).collect()
    }

    /// The sites on a way from one node to a later one that has few.
    fn way(&self, from: u32, to: u32) -> Vec<usize> {
        let earliest = self.places[from as usize];
        let mut came: HashMap<u32, (u32, usize)> = HashMap::new();
        let mut queue = VecDeque::from([(to, to, KNOWN)]);
        while let Some((node, after, site)) = queue.pop_front() {
            if came.contains_key(&node) {
                continue;
            }
            came.insert(node, (after, site));
            if node == from {
                break;
            }
            for (before, site) in self.predecessors(node) {
                if self.places[before as usize] < earliest || came.contains_key(&before) {
                    continue;
                }
                match site {
                    KNOWN => queue.push_front((before, node, site)),
                    _ => queue.push_back((before, node, site)),
                }
            }
        }
        let mut sites = Vec::new();
        let mut node = from;
        while node != to {
            let Some(&(after, site)) = came.get(&node) else { break };
            sites.push(site);
            node = after;
        }
        sites
    }
}
