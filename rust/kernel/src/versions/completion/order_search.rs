//! The search for an order of all open versions, in which pairs of versions become choices only when a
//! candidate fails at them.
//!
//! A candidate is an order of nodes that follows all that is known and chosen. The versions of each key stand in
//! the order of their writers. If every neighbour's edges lead forward there, it is an order that closes no
//! cycle: pairs that are further apart follow. A candidate that fails is repaired pair by pair, key by key, as long as
//! one order of a pair closes no cycle with those taken before; the solver decides the rest.

use super::level_problem::LevelProblem;
use super::read_choices::ReadChoices;
use super::supposed_reads::{Supposed, SupposedBars, SupposedRead};
use super::unsettled_keys::UnsettledKeys;
use super::{OpenKey, OpenPair};
use crate::cancel::Cancel;
use crate::observations::ABSENT;
use crate::solver::bars::{Bars, Reasoned};
use crate::solver::engine::{EdgeList, Ending, Engine};
use crate::solver::topological_order::KNOWN;
use crate::solver::{Budget, Literal, Problem, Progress, Side, starting_order};
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
    Unknown(Progress),
}

/// One version before another of the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Succession {
    pub(super) key: u32,
    pub(super) before: u32,
    pub(super) after: u32,
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
    pub(super) level_problem: &'p LevelProblem<'c, 's, 'h>,
    base: Problem,
    updates: Vec<Update>,
    pub(super) engine: Engine<'p>,
    /// The pair of each choice; a choice about a read has none.
    pub(super) pairs: Vec<Option<OpenPair>>,
    /// The choice of each pair: the lower version first.
    choices: HashMap<(u32, u32), u32>,
    pub(super) reads: ReadChoices,
    cancel: &'p Cancel,
}

impl<'p, 'c, 's, 'h> OrderSearch<'p, 'c, 's, 'h> {
    /// Decides a level; if it is impossible, also says which pairs leave no order.
    pub(super) fn decide(
        level_problem: &'p LevelProblem<'c, 's, 'h>,
        budget: Budget,
        cancel: &'p Cancel,
    ) -> (Answer, Vec<OpenPair>) {
        let mut base = level_problem.base();
        base.edges.extend(&level_problem.forced.edges);
        let rank = |node: u32| level_problem.rank(node);
        let Some(places) = starting_order(base.nodes, &base.edges, rank) else {
            return (Answer::Impossible, Vec::new());
        };
        let engine = Engine::new(&base.edges, places, budget, cancel);
        let updates =
            if level_problem.level == Level::CursorStability { updates(level_problem) } else { Vec::new() };
        let (pairs, choices) = (Vec::new(), HashMap::new());
        let reads = ReadChoices::default();
        let mut search = Self { level_problem, base, updates, engine, pairs, choices, reads, cancel };
        let answer = search.run();
        let blamed = search.engine.blamed().filter_map(|choice| search.pairs[choice as usize]).collect();
        (answer, blamed)
    }

    fn run(&mut self) -> Answer {
        let mut unsettled = UnsettledKeys::new(self.level_problem);
        loop {
            self.engine.hold();
            let is_repaired = self.repair(&mut unsettled);
            self.engine.release();
            if self.engine.is_over() {
                return Answer::Unknown(self.engine.progress());
            }
            if is_repaired {
                let sequences = self.sequences();
                let failed = self.choose_at_reads(&sequences);
                let (reads, unmet) = self.suppose_reads();
                let failed = failed + unmet;
                match self.forbid_at_faults(&sequences, &reads) {
                    Some(0) if failed == 0 => return Answer::Found,
                    None => return Answer::Impossible,
                    Some(_) => {}
                }
            }
            match self.engine.run() {
                Ending::Spent => return Answer::Unknown(self.engine.progress()),
                Ending::Impossible => return Answer::Impossible,
                Ending::Settled => {}
            }
        }
    }

    /// Takes an order of each pair that fails in the candidate; whether that could be done for all. Every key is
    /// looked at again at the end, since a move is only noted for the transactions that touch it.
    fn repair(&mut self, unsettled: &mut UnsettledKeys) -> bool {
        let mut is_repaired = true;
        loop {
            let known = self.engine.choices();
            unsettled.push_all();
            while let Some(at) = unsettled.pop() {
                is_repaired &= self.repair_key(at);
                for node in self.engine.moved() {
                    unsettled.push_of(self.level_problem.transaction_node(node));
                }
                if self.engine.is_over() {
                    unsettled.clear();
                    return false;
                }
            }
            if !is_repaired || self.engine.choices() == known {
                return is_repaired;
            }
        }
    }

    /// Takes an order of pairs of one key whose edges lead back. A read that comes after several writers fails at
    /// each of them.
    fn repair_key(&mut self, at: usize) -> bool {
        let open = &self.open()[at];
        let versions = self.sequence(open);
        let mut is_repaired = true;
        for (place, &before) in versions.iter().enumerate() {
            for &after in versions[place + 1..].iter().take(MAX_AT_ONCE) {
                let pair = Succession { key: open.key, before, after };
                // A pair that turned meanwhile is looked at when its key comes again.
                if !self.is_in_order(pair) || !self.leads_back(pair) {
                    break;
                }
                is_repaired &= self.take(pair);
            }
        }
        is_repaired
    }

    fn is_in_order(&self, pair: Succession) -> bool {
        let (places, problem) = (self.engine.places(), self.level_problem);
        places[problem.end(pair.before) as usize] < places[problem.end(pair.after) as usize]
    }

    /// Makes a choice of a pair and takes a side of it; whether one closes no cycle.
    fn take(&mut self, pair: Succession) -> bool {
        let (first, second) = (pair.before.min(pair.after), pair.before.max(pair.after));
        if self.choices.contains_key(&(first, second)) {
            return false;
        }
        let (sides, preferred) = self.sides(pair.key, first, second);
        let (choice, is_taken) = self.engine.held_choice(sides, preferred);
        self.pairs.push(Some(OpenPair { key: pair.key, first, second }));
        self.choices.insert((first, second), choice);
        is_taken
    }

    /// The edges of both orders, and the order that moves the candidate less.
    fn sides(&self, key: u32, first: u32, second: u32) -> ([EdgeList; 2], u8) {
        let sides = [(first, second), (second, first)]
            .map(|(before, after)| self.side(Succession { key, before, after }));
        let [one, other] = sides.each_ref().map(|side| self.distance_back(side));
        (sides.map(|side| side.edges), u8::from(other < one))
    }

    fn open(&self) -> &'c [OpenKey] {
        &self.level_problem.all.open
    }

    /// The versions of an open key in the order of the candidate.
    fn sequence(&self, open: &OpenKey) -> Vec<u32> {
        let places = self.engine.places();
        let mut versions = open.versions.clone();
        versions.sort_unstable_by_key(|&version| (places[self.level_problem.end(version) as usize], version));
        versions
    }

    fn sequences(&self) -> Vec<Vec<u32>> {
        self.open().iter().map(|open| self.sequence(open)).collect()
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

    fn leads_back(&self, pair: Succession) -> bool {
        let (all, problem) = (self.level_problem.all, self.level_problem);
        let after = all.node(pair.after);
        if all.node(pair.before) == after {
            return false;
        }
        if problem.has_further_edges() {
            return self.distance_back(&self.side(pair)) > 0;
        }
        let place = |node: u32| self.engine.places()[node as usize];
        let end = place(problem.end(pair.after));
        place(problem.end(pair.before)) >= place(problem.start(pair.after))
            || problem.has_edges_of_readers()
                && problem.readers(pair.before).any(|reader| reader != after && place(reader) >= end)
    }

    /// The literal that says this, which may be new.
    pub(super) fn literal(&mut self, succession: Succession) -> Literal {
        let Succession { key, before, after } = succession;
        let (first, second) = (before.min(after), before.max(after));
        let side = u8::from(before > after);
        if let Some(&choice) = self.choices.get(&(first, second)) {
            return (choice, side);
        }
        let (sides, preferred) = self.sides(key, first, second);
        let choice = self.engine.choice(sides, preferred);
        self.pairs.push(Some(OpenPair { key, first, second }));
        self.choices.insert((first, second), choice);
        (choice, side)
    }

    /// Forbids what breaks bars or loses updates in the candidate: how many, or nothing if that needs no choice.
    fn forbid_at_faults(&mut self, sequences: &[Vec<u32>], reads: &[SupposedRead]) -> Option<usize> {
        let mut faults = self.broken_bars(sequences, reads);
        faults.extend(self.lost_by_reads(reads, sequences));
        if !self.updates.is_empty() {
            let positions = positions(sequences);
            let updates = self.updates.iter();
            let lost = updates.filter_map(|update| self.lost(update, &sequences[update.at], &positions));
            faults.extend(lost.map(|fault| fault.into_iter().map(Supposed::Order).collect()));
        }
        for fault in &faults {
            if fault.is_empty() {
                return None;
            }
            let literals = self.literals_of(fault);
            self.engine.forbid(&literals);
        }
        Some(faults.len())
    }

    fn broken_bars(&self, sequences: &[Vec<u32>], reads: &[SupposedRead]) -> Vec<Vec<Supposed>> {
        if !self.level_problem.has_bars() {
            return Vec::new();
        }
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
        let reasons = reasons.into_iter().map(|succession| vec![Supposed::Order(succession)]).collect();
        let mut all = SupposedBars { bars, reasons };
        self.add_reads(reads, &mut all);
        let SupposedBars { bars, reasons } = all;
        let told = bars.broken(self.cancel).into_iter();
        told.map(|blamed| blamed.into_iter().flat_map(|reason| reasons[reason as usize].clone()).collect())
            .collect()
    }

    /// What was chosen in the last run.
    fn chosen(&self) -> impl Iterator<Item = Succession> {
        self.pairs.iter().zip(0..).filter_map(|(&pair, choice)| {
            let OpenPair { key, first, second } = pair?;
            let (before, after) =
                if self.engine.side(choice) == 0 { (first, second) } else { (second, first) };
            Some(Succession { key, before, after })
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
