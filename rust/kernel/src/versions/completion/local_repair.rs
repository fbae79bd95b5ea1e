//! A repair of the candidate near the pairs that fail in it, while all choices elsewhere stay.
//!
//! A large history has many choices, and each conflict of the whole search makes most of them anew. Pairs that
//! fail mostly contradict choices near them in the candidate. A part of the candidate, from one place to another, can be
//! searched by itself: every edge that is chosen elsewhere leads forward, so no cycle leaves the part. If a part
//! has no solution it grows, and at last the whole search decides.

use super::order_search::OrderSearch;
use crate::cancel::Cancel;
use crate::solver::Budget;
use crate::solver::engine::{EdgeList, Ending, Engine};
use rayon::prelude::*;

/// Fewer choices are better searched as a whole.
const MANY: usize = if cfg!(test) { 1 } else { 10_000 };
/// So many places around a pair that fails are a part at first, and at most.
const MARGIN: u32 = 32;
const MAX_MARGIN: u32 = 1 << 14;

/// Places from the first to the last.
type Span = (u32, u32);

/// A part of the candidate, as a problem of its own: nodes are numbered by their places in it.
struct Part {
    span: Span,
    /// Choices between nodes of the part, with their edges and the side that is tried first.
    free: Vec<u32>,
    choices: Vec<([EdgeList; 2], u8)>,
    has_failed: Vec<bool>,
    /// Edges that are known, or chosen by others.
    edges: EdgeList,
}

impl OrderSearch<'_, '_, '_, '_> {
    /// Chooses anew near the pairs that failed; whether that helped all of them.
    pub(super) fn repair_locally(&mut self) -> bool {
        // Parts are copies: together they take no more than the whole.
        let left = self.engine.left().bytes;
        if self.engine.choices() < MANY || self.failed.is_empty() || left < self.engine.bytes() {
            return false;
        }
        let mut failed: Vec<Span> = self.failed.iter().map(|&choice| self.span(choice)).collect();
        let mut nodes: Vec<u32> = (0..self.base.nodes as u32).collect();
        nodes.sort_unstable_by_key(|&node| self.engine.places()[node as usize]);
        let mut margin = MARGIN;
        while !failed.is_empty() && margin <= MAX_MARGIN && !self.engine.is_over() {
            let parts = self.parts(&failed, margin, &nodes);
            let (budget, cancel) = (self.budget, self.cancel);
            let found: Vec<Option<Vec<u8>>> =
                parts.par_iter().map(|part| part.solve(budget, cancel)).collect();
            failed.clear();
            for (part, sides) in parts.iter().zip(found) {
                match sides {
                    None => failed.push(part.span),
                    Some(sides) => {
                        part.free.iter().copied().zip(sides).for_each(|literal| self.engine.prefer(literal));
                    }
                }
            }
            margin *= 4;
        }
        failed.is_empty()
    }

    /// The first and the last place of the nodes that a choice is about.
    fn span(&self, choice: u32) -> Span {
        let places = self.engine.places();
        let sides = [0, 1].into_iter().flat_map(|side| self.engine.edges((choice, side)));
        let nodes = sides.flat_map(|&(before, after)| [places[before as usize], places[after as usize]]);
        nodes.fold((u32::MAX, 0), |(low, high), place| (low.min(place), high.max(place)))
    }

    /// The parts around these spans, apart from each other; `nodes` are in the order of the candidate.
    fn parts(&self, spans: &[Span], margin: u32, nodes: &[u32]) -> Vec<Part> {
        let last = nodes.len() as u32 - 1;
        let mut parts: Vec<Part> = merged(spans, margin, last).into_iter().map(Part::new).collect();
        for part in &mut parts {
            for &node in &nodes[part.span.0 as usize..=part.span.1 as usize] {
                let known = self.engine.known_after(node).iter();
                part.edges.extend(known.filter_map(|&after| self.inside(part.span, (node, after))));
            }
        }
        let mut is_failed = vec![false; self.engine.choices()];
        self.failed.iter().for_each(|&choice| is_failed[choice as usize] = true);
        for choice in 0..self.engine.choices() as u32 {
            let (low, high) = self.span(choice);
            let first = parts.partition_point(|part| part.span.1 < low);
            for part in parts[first..].iter_mut().take_while(|part| part.span.0 <= high) {
                let inside = |side: u8| -> EdgeList {
                    let edges = self.engine.edges((choice, side)).iter();
                    edges.filter_map(|&edge| self.inside(part.span, edge)).collect()
                };
                if part.span.0 <= low && high <= part.span.1 {
                    part.choices.push(([inside(0), inside(1)], self.engine.side(choice)));
                    part.free.push(choice);
                    part.has_failed.push(is_failed[choice as usize]);
                } else {
                    let chosen = inside(self.engine.side(choice));
                    part.edges.extend(chosen.into_iter().filter(|&(before, after)| before < after));
                }
            }
        }
        parts
    }

    /// An edge by places in a part, if both its nodes are there.
    fn inside(&self, (low, high): Span, (before, after): (u32, u32)) -> Option<(u32, u32)> {
        let [before, after] = [before, after].map(|node| self.engine.places()[node as usize]);
        let is_inside = |place: u32| low <= place && place <= high;
        (is_inside(before) && is_inside(after)).then(|| (before - low, after - low))
    }
}

impl Part {
    fn new(span: Span) -> Self {
        Self { span, free: Vec::new(), choices: Vec::new(), has_failed: Vec::new(), edges: Vec::new() }
    }

    /// A side for each free choice such that no cycle is closed: if possible the sides that they have, but for those
    /// that failed.
    fn solve(&self, budget: Budget, cancel: &Cancel) -> Option<Vec<u8>> {
        let kept = [0, 1].into_iter().find_map(|turned| self.keep(turned, budget, cancel));
        kept.or_else(|| self.search(budget, cancel))
    }

    /// Takes a side of each choice that failed, and then of each other one the side that it has, or the opposite one.
    fn keep(&self, turned: u8, budget: Budget, cancel: &Cancel) -> Option<Vec<u8>> {
        let mut engine = self.engine(budget, cancel);
        let mut sides = vec![0; self.free.len()];
        let (failed, others): (Vec<usize>, Vec<usize>) =
            (0..self.free.len()).partition(|&at| self.has_failed[at]);
        for at in failed.into_iter().chain(others) {
            let (edges, preferred) = &self.choices[at];
            let first = preferred ^ u8::from(self.has_failed[at] && turned == 1);
            let (choice, is_taken) = engine.held_choice(edges.clone(), first);
            if !is_taken {
                return None;
            }
            sides[at] = engine.side(choice);
        }
        Some(sides)
    }

    fn search(&self, budget: Budget, cancel: &Cancel) -> Option<Vec<u8>> {
        let mut engine = self.engine(budget, cancel);
        for (sides, preferred) in &self.choices {
            engine.choice(sides.clone(), *preferred);
        }
        let is_settled = engine.run() == Ending::Settled;
        is_settled.then(|| (0..self.free.len() as u32).map(|at| engine.side(at)).collect())
    }

    fn engine<'c>(&self, budget: Budget, cancel: &'c Cancel) -> Engine<'c> {
        Engine::new(&self.edges, (0..=self.span.1 - self.span.0).collect(), budget, cancel)
    }
}

/// Spans with a margin, joined where they meet.
fn merged(spans: &[Span], margin: u32, last: u32) -> Vec<Span> {
    let wide = |&(low, high): &Span| (low.saturating_sub(margin), high.saturating_add(margin).min(last));
    let mut spans: Vec<Span> = spans.iter().map(wide).collect();
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for (low, high) in spans {
        match merged.last_mut() {
            Some(before) if low <= before.1 => before.1 = before.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    merged
}
