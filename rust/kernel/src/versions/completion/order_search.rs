//! The search for an order of all open versions, in which pairs of versions become choices only when a
//! candidate fails at them.
//!
//! A candidate is an order of nodes that follows all that is known and chosen. The versions of each key stand in
//! the order of their writers. If every neighbour's edges lead forward there, it is an order that closes no
//! cycle: pairs that are further apart follow.

use super::level_problem::LevelProblem;
use super::{OpenKey, OpenPair};
use crate::cancel::Cancel;
use crate::observations::ABSENT;
use crate::solver::bars::{Bars, Reasoned};
use crate::solver::engine::{Ending, Engine};
use crate::solver::topological_order::KNOWN;
use crate::solver::{Budget, Literal, Problem, Side, starting_order};
use crate::versions::levels::Level;
use hashbrown::HashMap;

/// So many pairs with one version become choices for one candidate.
const MAX_AT_ONCE: usize = 8;

/// Whether an order satisfies a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Some order does.
    Found,
    /// None does.
    Impossible,
    /// The budget is spent.
    Unknown,
}

/// One version before another of the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Succession {
    key: u32,
    before: u32,
    after: u32,
}

/// A transaction that read a version of a key and wrote the next.
struct Update {
    /// The place among the open keys.
    at: usize,
    read: u32,
    own: u32,
    /// Whether the version that was read is known to come before all that are open.
    is_first: bool,
}

/// A search for one level.
pub(super) struct OrderSearch<'p, 'c, 's, 'h> {
    level_problem: &'p LevelProblem<'c, 's, 'h>,
    base: Problem,
    updates: Vec<Update>,
    engine: Engine<'p>,
    pairs: Vec<OpenPair>,
    /// The choice of each pair: the lower version first.
    choices: HashMap<(u32, u32), u32>,
    cancel: &'p Cancel,
}

impl<'p, 'c, 's, 'h> OrderSearch<'p, 'c, 's, 'h> {
    /// Decides a level; if it is impossible, also says which pairs leave no order.
    pub(super) fn decide(
        level_problem: &'p LevelProblem<'c, 's, 'h>,
        budget: Budget,
        cancel: &'p Cancel,
    ) -> (Answer, Vec<OpenPair>) {
        let base = level_problem.base();
        let rank = |node: u32| level_problem.rank(node);
        let Some(places) = starting_order(base.nodes, &base.edges, rank) else {
            return (Answer::Impossible, Vec::new());
        };
        let engine = Engine::new(&base.edges, places, budget, cancel);
        let updates =
            if level_problem.level == Level::CursorStability { updates(level_problem) } else { Vec::new() };
        let (pairs, choices) = (Vec::new(), HashMap::new());
        let mut search = Self { level_problem, base, updates, engine, pairs, choices, cancel };
        let answer = search.run();
        let blamed = search.engine.blamed().map(|choice| search.pairs[choice as usize]).collect();
        (answer, blamed)
    }

    fn run(&mut self) -> Answer {
        loop {
            let sequences = self.sequences();
            if !self.choose_at_faults(&sequences) {
                match self.forbid_at_faults(&sequences) {
                    Some(0) => return Answer::Found,
                    None => return Answer::Impossible,
                    Some(_) => {}
                }
            }
            match self.engine.run() {
                Ending::Spent => return Answer::Unknown,
                Ending::Impossible => return Answer::Impossible,
                Ending::Settled => {}
            }
            if self.engine.is_over() {
                return Answer::Unknown;
            }
        }
    }

    fn open(&self) -> &'c [OpenKey] {
        &self.level_problem.all.open
    }

    /// The versions of each open key in the order of the candidate.
    fn sequences(&self) -> Vec<Vec<u32>> {
        let places = self.engine.places();
        let place = |&version: &u32| (places[self.level_problem.end(version) as usize], version);
        let sorted = |open: &OpenKey| {
            let mut versions = open.versions.clone();
            versions.sort_unstable_by_key(place);
            versions
        };
        self.open().iter().map(sorted).collect()
    }

    /// Neighbours of different writers in the candidate.
    fn successions<'q>(
        &self,
        sequences: &'q [Vec<u32>],
    ) -> impl Iterator<Item = Succession> + use<'q, 'c, 's, 'h> {
        let all = self.level_problem.all;
        let open = &all.open;
        open.iter().zip(sequences).flat_map(move |(open, versions)| {
            let pairs =
                versions.windows(2).map(|pair| Succession { key: open.key, before: pair[0], after: pair[1] });
            pairs.filter(|pair| all.node(pair.before) != all.node(pair.after))
        })
    }

    fn side(&self, succession: Succession) -> Side {
        self.level_problem.side(succession.key, succession.before, succession.after)
    }

    /// How far the edges of a side lead back at most.
    fn distance_back(&self, side: &Side) -> u32 {
        let places = self.engine.places();
        let back = |&(before, after): &(u32, u32)| {
            (places[before as usize] + 1).saturating_sub(places[after as usize])
        };
        side.edges.iter().map(back).max().unwrap_or(0)
    }

    /// Makes choices of pairs whose edges lead back; whether there were any. A read that comes after several
    /// writers fails at each of them.
    fn choose_at_faults(&mut self, sequences: &[Vec<u32>]) -> bool {
        let mut found = Vec::new();
        for (open, versions) in self.open().iter().zip(sequences) {
            for (place, &before) in versions.iter().enumerate() {
                let later = versions[place + 1..].iter().take(MAX_AT_ONCE);
                let others = later.map(|&after| Succession { key: open.key, before, after });
                found.extend(others.take_while(|&pair| self.leads_back(pair)));
            }
        }
        for &succession in &found {
            self.literal(succession);
        }
        !found.is_empty()
    }

    fn leads_back(&self, pair: Succession) -> bool {
        let all = self.level_problem.all;
        all.node(pair.before) != all.node(pair.after) && self.distance_back(&self.side(pair)) > 0
    }

    /// The literal that says this, which may be new.
    fn literal(&mut self, succession: Succession) -> Literal {
        let Succession { key, before, after } = succession;
        let (first, second) = (before.min(after), before.max(after));
        let side = u8::from(before > after);
        if let Some(&choice) = self.choices.get(&(first, second)) {
            return (choice, side);
        }
        let sides = [(first, second), (second, first)]
            .map(|(before, after)| self.side(Succession { key, before, after }));
        let [one, other] = sides.each_ref().map(|side| self.distance_back(side));
        let preferred = u8::from(other < one);
        let choice = self.engine.choice(sides.map(|side| side.edges), preferred);
        self.pairs.push(OpenPair { key, first, second });
        self.choices.insert((first, second), choice);
        (choice, side)
    }

    /// Forbids what breaks bars or loses updates in the candidate: how many, or nothing if that needs no choice.
    fn forbid_at_faults(&mut self, sequences: &[Vec<u32>]) -> Option<usize> {
        let mut faults = self.broken_bars(sequences);
        if !self.updates.is_empty() {
            let positions = positions(sequences);
            let updates = self.updates.iter();
            faults.extend(updates.filter_map(|update| self.lost(update, &sequences[update.at], &positions)));
        }
        for fault in &faults {
            if fault.is_empty() {
                return None;
            }
            let literals: Vec<Literal> = fault.iter().map(|&succession| self.literal(succession)).collect();
            self.engine.forbid(&literals);
        }
        Some(faults.len())
    }

    fn broken_bars(&self, sequences: &[Vec<u32>]) -> Vec<Vec<Succession>> {
        let known = |pairs: &[(u32, u32)]| -> Vec<Reasoned> {
            pairs.iter().map(|&(from, to)| Reasoned { from, to, reason: KNOWN }).collect()
        };
        let mut bars =
            Bars { nodes: self.base.nodes, edges: known(&self.base.edges), barred: known(&self.base.barred) };
        let mut reasons: Vec<Succession> = self.chosen().collect();
        reasons.extend(self.successions(sequences));
        for (&succession, reason) in reasons.iter().zip(0..) {
            let Side { edges, barred, .. } = self.side(succession);
            bars.edges.extend(edges.iter().map(|&(from, to)| Reasoned { from, to, reason }));
            bars.barred.extend(barred.iter().map(|&(from, to)| Reasoned { from, to, reason }));
        }
        let told = bars.broken(self.cancel).into_iter();
        told.map(|blamed| blamed.into_iter().map(|reason| reasons[reason as usize]).collect()).collect()
    }

    /// What was chosen in the last run.
    fn chosen(&self) -> impl Iterator<Item = Succession> {
        self.pairs.iter().zip(0..).map(|(&OpenPair { key, first, second }, choice)| {
            let (before, after) =
                if self.engine.side(choice) == 0 { (first, second) } else { (second, first) };
            Succession { key, before, after }
        })
    }

    /// What loses an update: another version between the one that was read and the own one.
    fn lost(
        &self,
        update: &Update,
        versions: &[u32],
        positions: &HashMap<u32, usize>,
    ) -> Option<Vec<Succession>> {
        let all = self.level_problem.all;
        let &own = positions.get(&update.own)?;
        let first = if update.is_first { 0 } else { positions.get(&update.read)? + 1 };
        let between = versions.get(first..own)?;
        let is_other = |&&other: &&u32| all.node(other) != all.node(update.own);
        let &other = between.iter().find(is_other)?;
        let key = self.open()[update.at].key;
        let mut fault = vec![Succession { key, before: other, after: update.own }];
        if !update.is_first {
            fault.push(Succession { key, before: update.read, after: other });
        }
        Some(fault)
    }
}

/// The place of each version in the sequence of its key.
fn positions(sequences: &[Vec<u32>]) -> HashMap<u32, usize> {
    sequences
        .iter()
        .flat_map(|versions| versions.iter().zip(0..).map(|(&version, place)| (version, place)))
        .collect()
}

/// Transactions that read a version of an open key and wrote one.
fn updates(level_problem: &LevelProblem<'_, '_, '_>) -> Vec<Update> {
    let all = level_problem.all;
    let lookup = all.lookup;
    let mut found = Vec::new();
    for (open, at) in all.open.iter().zip(0..) {
        let order = lookup.order(open.key);
        for &own in &open.versions {
            let writer = lookup.orders.writers[own as usize];
            let reads = lookup.observed(writer).filter(|&(_, key, _)| key == open.key);
            for (.., read) in reads.filter(|&(.., read)| read != own && read != ABSENT) {
                let is_first = order.chain().contains(&read) && read <= order.before_tail();
                found.push(Update { at, read, own, is_first });
            }
        }
    }
    found
}
