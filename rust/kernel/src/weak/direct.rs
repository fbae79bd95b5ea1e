//! What read committed and read atomic demand of the commit order: O(operations^1.5).
//!
//! Both look only at what a transaction reads itself and at its own session: for each pair (reader,
//! transaction read from) the smaller of the two key sets is walked.

use super::causal::Demands;
use super::dependencies::Dependencies;
use super::reader::{Reader, WeakLevel};
use crate::cancel::Cancel;
use crate::graph::Edges;
use crate::observations::{ABSENT, INITIAL};
use rayon::prelude::*;

/// So many transactions are looked at between two checks for cancellation.
const PATIENCE: u32 = 1 << 12;
/// Transactions with more reads than this sort them; the others compare each with each.
const FEW_READS: usize = 16;

/// The demands of read committed, and of read atomic (those of read committed included).
#[must_use]
pub fn demands(dependencies: &Dependencies<'_>, cancel: &Cancel) -> [Demands; 2] {
    let found = found(dependencies, WeakLevel::ReadAtomic, cancel);
    [WeakLevel::ReadCommitted, WeakLevel::ReadAtomic].map(|level| found_of(dependencies, &found, level))
}

/// The demands of `level` alone, which is one of the two.
#[must_use]
pub fn demands_of(dependencies: &Dependencies<'_>, level: WeakLevel, cancel: &Cancel) -> Demands {
    found_of(dependencies, &found(dependencies, level, cancel), level)
}

/// What was found for `level`, in the order of the levels.
fn found_of(dependencies: &Dependencies<'_>, found: &[Found], level: WeakLevel) -> Demands {
    let classes = ..=level as usize;
    let mut contradictions = found.iter().flat_map(|part| &part.contradictions[classes]);
    let contradiction = contradictions.find_map(|&newer| newer);
    let lists: Vec<&[(u32, u32)]> =
        found.iter().flat_map(|part| &part.pairs[classes]).map(Vec::as_slice).collect();
    Demands { edges: Edges::new(dependencies.len(), lists.concat()), contradiction }
}

/// What each core found for the levels up to `strongest`.
fn found(dependencies: &Dependencies<'_>, strongest: WeakLevel, cancel: &Cancel) -> Vec<Found> {
    let rows = dependencies.row_starts.len() - 1;
    // Few shares: each has columns as long as there are keys.
    let shares = rayon::current_num_threads().min(rows.max(1));
    (0..shares)
        .into_par_iter()
        .map(|share| {
            let mut part = Part::new(dependencies, strongest);
            for row in (share..rows).step_by(shares) {
                part.row(dependencies.row_starts[row]..dependencies.row_starts[row + 1], cancel);
            }
            part.found
        })
        .collect()
}

struct Found {
    /// Demands of stronger levels are left out.
    strongest: WeakLevel,
    pairs: [Vec<(u32, u32)>; 2],
    contradictions: [Option<u32>; 2],
}

impl Found {
    fn demand(&mut self, dependencies: &Dependencies<'_>, class: WeakLevel, source: u32, newer: u32) {
        if class > self.strongest {
            return;
        }
        let class = class as usize;
        if source == INITIAL {
            self.contradictions[class].get_or_insert(newer);
            return;
        }
        let same_row = dependencies.rows[source as usize] == dependencies.rows[newer as usize];
        if same_row && newer < source {
            return;
        }
        self.pairs[class].push((source, newer));
    }
}

/// What one key looked like to its last reader.
#[derive(Clone, Copy)]
struct Sight {
    source: u32,
    last: u32,
}

struct Part<'d, 'h> {
    dependencies: &'d Dependencies<'h>,
    /// By key: its last reader. Most keys that are looked up were not read: what was seen has a column of its own.
    readers: Vec<u32>,
    sights: Vec<Sight>,
    /// The keys that the reader at hand read, and the writers that it observed, each with the first place.
    keys: Vec<u32>,
    writers: Vec<(u32, u32)>,
    /// By key: the last writer in the session at hand.
    session_writers: Vec<(u32, u32)>,
    found: Found,
}

impl<'d, 'h> Part<'d, 'h> {
    fn new(dependencies: &'d Dependencies<'h>, strongest: WeakLevel) -> Self {
        let keys = dependencies.history.keys.len();
        Self {
            dependencies,
            readers: vec![ABSENT; keys],
            sights: vec![Sight { source: ABSENT, last: 0 }; keys],
            keys: Vec::new(),
            writers: Vec::new(),
            session_writers: vec![(ABSENT, ABSENT); keys],
            found: Found { strongest, pairs: Default::default(), contradictions: [None; 2] },
        }
    }

    fn row(&mut self, nodes: std::ops::Range<u32>, cancel: &Cancel) {
        for node in nodes {
            if node.is_multiple_of(PATIENCE) && cancel.is_asked() {
                return;
            }
            if self.dependencies.reads_lists(node) || self.dependencies.varying[node as usize] {
                self.with_care(node);
            } else {
                self.node(node);
            }
            if self.found.strongest == WeakLevel::ReadCommitted {
                continue;
            }
            let session = self.dependencies.sessions[node as usize];
            for &key in self.dependencies.writes(node) {
                self.session_writers[key as usize] = (session, node);
            }
        }
    }

    /// A transaction that saw every key in one state: its source, and where it was read last.
    fn node(&mut self, node: u32) {
        let dependencies = self.dependencies;
        let session = dependencies.sessions[node as usize];
        let (mut keys, mut writers) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.writers));
        keys.clear();
        writers.clear();
        for (place, read) in dependencies.reads(node).enumerate() {
            if std::mem::replace(&mut self.readers[read.key as usize], node) != node {
                keys.push(read.key);
            }
            self.sights[read.key as usize] = Sight { source: read.source, last: place as u32 };
            if read.source < INITIAL {
                writers.push((read.source, place as u32));
            }
        }
        keep_first(&mut writers);
        let is_direct = self.found.strongest == WeakLevel::ReadCommitted;
        let last = dependencies.read_range(node).len() as u32;
        // Read committed asks what was read after a writer was observed: nothing after the last read.
        for &(newer, first) in writers.iter().filter(|&&(_, first)| !is_direct || first + 1 < last) {
            self.observed(node, &keys, newer, first);
        }
        for &key in keys.iter().filter(|_| !is_direct) {
            let (writer_session, newer) = self.session_writers[key as usize];
            let source = self.sights[key as usize].source;
            if writer_session == session && newer != source {
                self.found.demand(dependencies, WeakLevel::ReadAtomic, source, newer);
            }
        }
        (self.keys, self.writers) = (keys, writers);
    }

    /// Conflicts with `newer`, which `node` observed at place `first`.
    fn observed(&mut self, node: u32, keys: &[u32], newer: u32, first: u32) {
        let writes = self.dependencies.writes(newer);
        if writes.len() <= keys.len() * 2 {
            for &key in writes {
                if self.readers[key as usize] == node {
                    self.conflict(self.sights[key as usize], newer, first);
                }
            }
            return;
        }
        for &key in keys {
            if writes.binary_search(&key).is_ok() {
                self.conflict(self.sights[key as usize], newer, first);
            }
        }
    }

    fn conflict(&mut self, sight: Sight, newer: u32, first: u32) {
        if sight.source == newer {
            return;
        }
        let class = if sight.last > first { WeakLevel::ReadCommitted } else { WeakLevel::ReadAtomic };
        self.found.demand(self.dependencies, class, sight.source, newer);
    }

    /// A transaction that read lists, or saw a key in several states.
    fn with_care(&mut self, node: u32) {
        let dependencies = self.dependencies;
        let reader = Reader::new(dependencies, node);
        let observed = reader.observed();
        for &(key, source) in &reader.sources {
            let writes = |newer: &&u32| dependencies.writes_key(**newer, key);
            for &newer in observed.iter().filter(writes) {
                match reader.class(key, source, newer) {
                    Some(class @ (WeakLevel::ReadCommitted | WeakLevel::ReadAtomic)) => {
                        self.found.demand(dependencies, class, source, newer);
                    }
                    Some(WeakLevel::Causal) | None => {}
                }
            }
            let atomic = |&&newer: &&u32| reader.class(key, source, newer) == Some(WeakLevel::ReadAtomic);
            if let Some(&newer) = reader.session_writers(key).iter().rev().find(atomic) {
                self.found.demand(dependencies, WeakLevel::ReadAtomic, source, newer);
            }
        }
    }
}

/// Keeps of each writer its first place.
fn keep_first(writers: &mut Vec<(u32, u32)>) {
    if writers.len() <= FEW_READS {
        let mut kept = 0;
        for place in 0..writers.len() {
            let writer = writers[place];
            if writers[..kept].iter().all(|&(known, _)| known != writer.0) {
                writers[kept] = writer;
                kept += 1;
            }
        }
        writers.truncate(kept);
        return;
    }
    writers.sort_unstable();
    writers.dedup_by_key(|writer| writer.0);
}
