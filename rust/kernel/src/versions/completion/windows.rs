//! A refutation from few transactions, before the whole search begins.
//!
//! What breaks a level is mostly a circle of a few transactions that ran at the same time. A window is a part of the
//! starting order from one place to another. Known edges lead forward, so no known path leaves a window and comes back: the
//! edges inside it are all that is known of its nodes. If the pairs of versions inside a window leave no order by
//! themselves, there is none at all. Windows of one size are searched at the same time, each in few steps.

use super::OpenPair;
use super::order_search::OrderSearch;
use crate::solver::engine::{EdgeList, Ending, Engine};
use crate::solver::starting_order;
use rayon::prelude::*;
use std::ops::Range;

/// Nodes in a window, and what the search of one may cost.
const SIZES: [(u32, u64); 3] =
    if cfg!(test) { [(4, 10_000); 3] } else { [(256, 100_000), (1024, 1_000_000), (4096, 10_000_000)] };
/// Each version is compared with so many that come next in a window.
const MAX_COMPARED: usize = 32;

/// A window may use so much of the memory that is left: several are searched at the same time.
const SHARE: u64 = 16;

/// A version at its place.
#[derive(Clone, Copy)]
struct Placed {
    place: u32,
    /// The place of the key among the open ones.
    at: usize,
    version: u32,
}

/// The starting order, and the versions in it.
struct Windows<'w, 'p, 'c, 's, 'h> {
    search: &'w OrderSearch<'p, 'c, 's, 'h>,
    places: Vec<u32>,
    /// Nodes by their places.
    nodes: Vec<u32>,
    /// Versions by the places of their writers.
    versions: Vec<Placed>,
}

impl OrderSearch<'_, '_, '_, '_> {
    /// Pairs of versions in a window that leave no order; nothing if no window was found to have such.
    pub(super) fn refuted_in_windows(&self) -> Vec<OpenPair> {
        let problem = self.level_problem;
        // The whole search is as fast as one window.
        let is_small = self.base.nodes <= SIZES[0].0 as usize;
        if is_small || !problem.has_edges_of_readers() || problem.is_too_large(self.budget) {
            return Vec::new();
        }
        let rank = |node: u32| problem.rank(node);
        let Some(places) = starting_order(self.base.nodes, &self.base.edges, rank) else { return Vec::new() };
        let windows = Windows::new(self, places);
        let mut sizes = SIZES.into_iter();
        let mut looked = 0;
        while let Some((size, steps)) = sizes.next()
            && looked < self.base.nodes
            && !self.cancel.is_asked()
        {
            if let Some(pairs) = windows.refuted(size, steps) {
                return pairs;
            }
            looked = size as usize;
        }
        Vec::new()
    }
}

impl<'w, 'p, 'c, 's, 'h> Windows<'w, 'p, 'c, 's, 'h> {
    fn new(search: &'w OrderSearch<'p, 'c, 's, 'h>, places: Vec<u32>) -> Self {
        let mut nodes = vec![0; places.len()];
        places.iter().zip(0..).for_each(|(&place, node)| nodes[place as usize] = node);
        let mut versions: Vec<Placed> = Vec::new();
        for (open, at) in search.open().iter().zip(0..) {
            let place = |version: u32| places[search.level_problem.end(version) as usize];
            versions.extend(open.versions.iter().map(|&version| Placed {
                place: place(version),
                at,
                version,
            }));
        }
        versions.sort_unstable_by_key(|placed| (placed.place, placed.version));
        Self { search, places, nodes, versions }
    }

    /// The first window of this size that leaves no order, by its pairs.
    fn refuted(&self, size: u32, steps: u64) -> Option<Vec<OpenPair>> {
        let all = self.nodes.len() as u32;
        let starts: Vec<u32> = (0..all).step_by(size as usize / 2).collect();
        let found = starts.into_par_iter().map(|start| self.refute(start..(start + size).min(all), steps));
        found.find_first(|pairs| !pairs.is_empty())
    }

    /// The pairs of a window that leave no order.
    fn refute(&self, window: Range<u32>, steps: u64) -> Vec<OpenPair> {
        let mut budget = self.search.engine.left();
        budget.steps = budget.steps.min(steps);
        budget.bytes /= SHARE;
        let mut engine =
            Engine::new(&self.known(&window), (0..window.len() as u32).collect(), budget, self.search.cancel);
        let mut pairs = Vec::new();
        let first = self.versions.partition_point(|placed| placed.place < window.start);
        let end = self.versions.partition_point(|placed| placed.place < window.end);
        let mut inside = self.versions[first..end].to_vec();
        inside.sort_by_key(|placed| placed.at);
        for same in inside.chunk_by(|one, other| one.at == other.at) {
            self.add_pairs(&window, same, &mut engine, &mut pairs);
        }
        if engine.run() != Ending::Impossible {
            return Vec::new();
        }
        engine.blamed().map(|choice| pairs[choice as usize]).collect()
    }

    /// Makes choices of the pairs of a key.
    fn add_pairs(
        &self,
        window: &Range<u32>,
        versions: &[Placed],
        engine: &mut Engine<'_>,
        pairs: &mut Vec<OpenPair>,
    ) {
        let key = self.search.open()[versions[0].at].key;
        let all = self.search.level_problem.all;
        for (place, one) in versions.iter().enumerate() {
            for other in versions[place + 1..].iter().take(MAX_COMPARED) {
                if all.node(one.version) == all.node(other.version) {
                    continue;
                }
                let sides = [(one, other), (other, one)]
                    .map(|(before, after)| self.side(window, before.version, after.version));
                // A side that says nothing inside the window can be taken in any case.
                if sides.iter().all(|side| !side.is_empty()) {
                    engine.choice(sides, 0);
                    pairs.push(OpenPair { key, first: one.version, second: other.version });
                }
            }
        }
    }

    /// The edges inside a window that follow if a version comes before another.
    fn side(&self, window: &Range<u32>, before: u32, after: u32) -> EdgeList {
        let problem = self.search.level_problem;
        let writer = problem.all.node(after);
        let readers = problem.readers(before).filter(|&reader| reader != writer);
        let missed = readers.map(|reader| problem.misses(reader, after));
        let edges = missed.chain([(problem.end(before), problem.start(after))]);
        edges.filter_map(|edge| self.inside(window, edge)).collect()
    }

    /// The known edges inside a window.
    fn known(&self, window: &Range<u32>) -> EdgeList {
        let mut edges = Vec::new();
        for place in window.clone() {
            let node = self.nodes[place as usize];
            let after = self.search.engine.known_after(node).iter();
            edges.extend(after.filter_map(|&other| self.inside(window, (node, other))));
        }
        edges
    }

    /// An edge by places in a window, if both its nodes are there.
    fn inside(&self, window: &Range<u32>, (before, after): (u32, u32)) -> Option<(u32, u32)> {
        let [before, after] = [before, after].map(|node| self.places[node as usize]);
        let is_inside = window.contains(&before) && window.contains(&after);
        is_inside.then(|| (before - window.start, after - window.start))
    }
}
