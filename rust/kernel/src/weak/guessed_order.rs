//! The causal level by a guess that is checked: near linear where the guess is good, always exact.
//!
//! A commit order that extends session order and write-read is guessed from the order of the input. If no
//! read of a key misses a writer of it that stands between its source and the reader and happens before
//! the reader, the guess is a proof. What it misses are demands: with them another order is guessed. A
//! cycle refutes the level. Happens-before is asked for only between the few transactions in doubt.

use super::causal::Demands;
use super::clocks::PATIENCE;
use super::dependencies::{Dependencies, Read};
use super::reader::Reader;
use crate::cancel::Cancel;
use crate::graph::{Components, Edges};
use crate::observations::{ABSENT, INITIAL};
use crate::told_order::told_orders;

/// After so many guesses they are not worth it.
const GUESSES: usize = 16;

/// What came of the guesses.
pub enum Guess {
    /// The level holds: this is a commit order.
    Holds(Components),
    /// These demands, which are not all, cannot be met.
    Violated(Demands),
    /// Not decided yet.
    Open,
}

/// Looks for a commit order with at most so many visits. No demand is needed to violate the level if session order
/// and write-read have a cycle.
#[must_use]
pub fn guess(dependencies: &Dependencies<'_>, mut visits: usize, cancel: &Cancel) -> Guess {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let first = likely_order(dependencies);
    for _ in 0..GUESSES {
        let demands = Edges::new(dependencies.len(), pairs.clone());
        let order = super::commit_order(dependencies, &demands).components_from(&first);
        if order.is_cyclic() {
            return Guess::Violated(Demands { edges: demands, contradiction: None });
        }
        let mut check = Check::new(dependencies, &order, visits);
        if !check.run(cancel) {
            return Guess::Open;
        }
        visits = check.visits_left;
        if check.contradiction.is_some() {
            let edges = Edges::new(dependencies.len(), check.missed);
            return Guess::Violated(Demands { edges, contradiction: check.contradiction });
        }
        if check.missed.is_empty() {
            return Guess::Holds(order);
        }
        pairs.append(&mut check.missed);
    }
    Guess::Open
}

/// Whether a commit order shows the causal level: no read misses a writer that stands behind its source and happens before
/// the reader.
#[must_use]
pub fn is_shown_by(dependencies: &Dependencies<'_>, order: &Components, cancel: &Cancel) -> bool {
    let mut check = Check::new(dependencies, order, usize::MAX);
    check.run(cancel) && check.missed.is_empty() && check.contradiction.is_none()
}

/// Nodes in the order of the input; where that is session after session, in the order of commit timestamps or of
/// numbers; where these tell none, as far into each session as into the others, because sessions mostly ran side by side.
pub(super) fn likely_order(dependencies: &Dependencies<'_>) -> Vec<u32> {
    let mut nodes: Vec<u32> = dependencies.nodes.iter().copied().filter(|&node| node < INITIAL).collect();
    let sessions = &dependencies.sessions;
    let same = nodes.windows(2).filter(|pair| sessions[pair[0] as usize] == sessions[pair[1] as usize]);
    if same.count() * 2 < nodes.len() {
        return nodes;
    }
    if let Some(order) = told_orders(dependencies.history, &dependencies.observations.counted).next() {
        return order.into_iter().map(|transaction| dependencies.nodes[transaction as usize]).collect();
    }
    let starts = &dependencies.row_starts;
    let share = |&node: &u32| {
        let row = dependencies.rows[node as usize] as usize;
        let (place, length) = (node - starts[row], starts[row + 1] - starts[row]);
        (u64::from(place) << 32) / u64::from(length)
    };
    nodes.sort_by_cached_key(share);
    nodes
}

/// One guess, held against every read.
struct Check<'d, 'h> {
    dependencies: &'d Dependencies<'h>,
    order: &'d Components,
    /// Where each node stands in the order.
    places: Vec<u32>,
    /// Writers of each key in this order, as far as the check has come: `writers[starts[k]..ends[k]]`.
    writers: Vec<u32>,
    ends: Vec<u32>,
    /// For each write where it stands among the writers of its key.
    ranks: Vec<u32>,
    /// In which search each node was visited last.
    visited: Vec<u32>,
    visits_left: usize,
    missed: Vec<(u32, u32)>,
    contradiction: Option<u32>,
}

impl<'d, 'h> Check<'d, 'h> {
    fn new(dependencies: &'d Dependencies<'h>, order: &'d Components, visits_left: usize) -> Self {
        let mut places = vec![0; dependencies.node_count()];
        for (place, &node) in order.order.iter().enumerate() {
            places[node as usize] = place as u32;
        }
        let writes = dependencies.write_count();
        Self {
            dependencies,
            order,
            places,
            writers: vec![ABSENT; writes],
            ends: dependencies.writer_starts().to_vec(),
            ranks: vec![0; writes],
            visited: vec![ABSENT; dependencies.node_count()],
            visits_left,
            missed: Vec::new(),
            contradiction: None,
        }
    }

    /// Checks every transaction in the order of the guess; whether it came to an end.
    fn run(&mut self, cancel: &Cancel) -> bool {
        for (count, &node) in self.order.order.iter().enumerate() {
            if count.is_multiple_of(PATIENCE) && cancel.is_asked() {
                return false;
            }
            if (node as usize) < self.dependencies.len() {
                self.node(node);
                self.install(node);
            }
            if self.visits_left == 0 {
                // The last search did not come to its end: what it did not find means nothing.
                return false;
            }
        }
        true
    }

    fn install(&mut self, node: u32) {
        for entry in self.dependencies.write_range(node) {
            let end = &mut self.ends[self.dependencies.written_key(entry) as usize];
            self.writers[*end as usize] = node;
            self.ranks[entry] = *end;
            *end += 1;
        }
    }

    fn node(&mut self, node: u32) {
        let mut doubts: Vec<(Read, u32)> = Vec::new();
        for read in self.dependencies.reads(node).filter(|read| read.source != ABSENT) {
            let from = self.behind(read);
            let between = &self.writers[from..self.ends[read.key as usize] as usize];
            doubts.extend(between.iter().map(|&newer| (read, newer)));
        }
        if !doubts.is_empty() {
            self.resolve(node, &doubts);
        }
    }

    /// Where the writers of the read's key that come after its source start.
    fn behind(&self, read: Read) -> usize {
        if read.source == INITIAL {
            return self.dependencies.writer_starts()[read.key as usize] as usize;
        }
        match self.dependencies.write_entry(read.source, read.key) {
            Some(entry) => self.ranks[entry] as usize + 1,
            None => self.ends[read.key as usize] as usize,
        }
    }

    /// Which of the writers in doubt happen before `node`, and so should have been read.
    fn resolve(&mut self, node: u32, doubts: &[(Read, u32)]) {
        let earliest = doubts.iter().map(|&(_, newer)| self.places[newer as usize]).min().unwrap_or(0);
        self.search(node, earliest);
        let mut reader = None;
        for &(read, newer) in doubts {
            if self.visited[newer as usize] != node || newer == node {
                continue;
            }
            let reader = reader.get_or_insert_with(|| Reader::new(self.dependencies, node));
            if reader.class(read.key, read.source, newer).is_none() {
                continue;
            }
            if read.source == INITIAL {
                self.contradiction.get_or_insert(newer);
            } else {
                self.missed.push((read.source, newer));
            }
        }
    }

    /// Visits everything that happens before `node` and stands at or after `earliest`.
    fn search(&mut self, node: u32, earliest: u32) {
        let mut stack = vec![node];
        while let Some(next) = stack.pop() {
            let row = self.dependencies.row_predecessor(next);
            for before in self.dependencies.reads_from.of(next).iter().copied().chain(row) {
                let is_new = self.places[before as usize] >= earliest
                    && std::mem::replace(&mut self.visited[before as usize], node) != node;
                if is_new {
                    self.visits_left = self.visits_left.saturating_sub(1);
                    stack.push(before);
                }
            }
            if self.visits_left == 0 {
                return;
            }
        }
    }
}
