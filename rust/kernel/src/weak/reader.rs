//! One transaction's reads, ready for the question which level makes it see another transaction.

use super::dependencies::{Dependencies, Read};
use crate::named_enum::named_enum;
use crate::observations::{ABSENT, INITIAL};
use hashbrown::{HashMap, HashSet};

named_enum! {
    /// The levels that values decide, the weakest first; each implies those before it.
    pub enum WeakLevel {
        ReadCommitted => "read-committed",
        ReadAtomic => "read-atomic",
        Causal => "causal",
    }
}

/// A transaction as the reader of others.
pub struct Reader<'d, 'h> {
    dependencies: &'d Dependencies<'h>,
    /// The node.
    pub node: u32,
    session_start: u32,
    /// Where each transaction was first observed.
    first: HashMap<u32, u32>,
    /// (key, transaction) for each transaction that was observed in a key.
    observed: HashSet<(u32, u32)>,
    /// Places of the reads of each (key, source), in program order.
    places: HashMap<(u32, u32), Vec<u32>>,
    /// The different (key, source), in program order.
    pub sources: Vec<(u32, u32)>,
    reads: Vec<Read>,
}

impl<'d, 'h> Reader<'d, 'h> {
    /// Prepares `node`.
    #[must_use]
    pub fn new(dependencies: &'d Dependencies<'h>, node: u32) -> Self {
        let mut reader = Self {
            dependencies,
            node,
            session_start: dependencies.session_start(node),
            first: HashMap::new(),
            observed: HashSet::new(),
            places: HashMap::new(),
            sources: Vec::new(),
            reads: dependencies.reads(node).collect(),
        };
        for place in 0..reader.reads.len() {
            reader.add(place as u32);
        }
        reader
    }

    fn add(&mut self, place: u32) {
        let read = self.reads[place as usize];
        let seen: Vec<u32> = self.dependencies.seen(read).chain(Some(read.source)).collect();
        for writer in seen {
            if writer < INITIAL && writer != self.node {
                self.first.entry(writer).or_insert(place);
                self.observed.insert((read.key, writer));
            }
        }
        if read.source == ABSENT {
            return;
        }
        let places = self.places.entry((read.key, read.source)).or_default();
        if places.is_empty() {
            self.sources.push((read.key, read.source));
        }
        places.push(place);
    }

    /// Transactions that were observed, in the order of their numbers.
    #[must_use]
    pub fn observed(&self) -> Vec<u32> {
        let mut observed: Vec<u32> = self.first.keys().copied().collect();
        observed.sort_unstable();
        observed
    }

    /// Whether `writer` was observed.
    #[must_use]
    pub fn observes(&self, writer: u32) -> bool {
        self.first.contains_key(&writer)
    }

    /// Whether `writer` comes earlier in the reader's session.
    #[must_use]
    pub fn follows(&self, writer: u32) -> bool {
        (self.session_start..self.node).contains(&writer)
    }

    /// Writers of `key` earlier in the reader's session.
    #[must_use]
    pub fn session_writers(&self, key: u32) -> &'d [u32] {
        self.dependencies.writers_among(key, self.session_start..self.node)
    }

    /// The first read of `key` from `source`.
    #[must_use]
    pub fn first_read(&self, key: u32, source: u32) -> Read {
        self.reads[self.places[&(key, source)][0] as usize]
    }

    /// The last read of `key` from `source` that did not see `newer` as well.
    fn last_without(&self, key: u32, source: u32, newer: u32) -> Option<u32> {
        let places = self.places.get(&(key, source))?.iter().rev();
        places.copied().find(|&place| {
            let read = self.reads[place as usize];
            !self.dependencies.seen(read).any(|writer| writer == newer)
        })
    }

    /// The reads that make a non-monotonic conflict: an early one of `newer`, and a later one of `key`.
    #[must_use]
    pub fn non_monotonic(&self, key: u32, source: u32, newer: u32) -> Option<(Read, Read)> {
        let &first = self.first.get(&newer)?;
        let last = self.last_without(key, source, newer).filter(|&last| first < last)?;
        Some((self.reads[first as usize], self.reads[last as usize]))
    }

    /// The read that first observed `writer`.
    #[must_use]
    pub fn first_observation(&self, writer: u32) -> Option<Read> {
        self.first.get(&writer).map(|&place| self.reads[place as usize])
    }

    /// The class of the conflict that this transaction reads `key` from `source` although `newer`, which
    /// writes the key too and happens before, came to its sight. `None`: nothing is missing.
    #[must_use]
    pub fn class(&self, key: u32, source: u32, newer: u32) -> Option<WeakLevel> {
        if newer == source || newer == self.node {
            return None;
        }
        if self.non_monotonic(key, source, newer).is_some() {
            return Some(WeakLevel::ReadCommitted);
        }
        if self.observed.contains(&(key, newer)) {
            return None;
        }
        if self.follows(newer) || self.observes(newer) {
            return Some(WeakLevel::ReadAtomic);
        }
        Some(WeakLevel::Causal)
    }
}
