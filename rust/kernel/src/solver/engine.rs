//! Choices between two sets of edges, such that no cycle is closed: conflict-driven search above a topological order
//! that is kept.
//!
//! A choice is made only where the order fails: a choice one side of which leads forward in the order needs no
//! decision, since that side holds by itself. So the sides that are taken are few, and the order is repaired
//! where it is wrong.

mod decisions;

use super::clauses::{Clauses, Lit, NONE, OPEN, choice_of, literal, opposite, side_of};
use super::topological_order::{Moved, TopologicalOrder};
use super::{Budget, Literal, Progress, TimeLimit};
use crate::cancel::Cancel;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every choice is made, and no cycle closed.
    Settled,
    /// There is no way to choose.
    Impossible,
    /// The budget is spent, or a stop was asked for.
    Spent,
}

/// What a node, a known edge, a choice, one of its edges, a clause and one of its literals take.
const NODE_BYTES: u64 = 128;
const KNOWN_BYTES: u64 = 24;
const CHOICE_BYTES: u64 = 256;
const EDGE_BYTES: u64 = 40;
const CLAUSE_BYTES: u64 = 64;
const LITERAL_BYTES: u64 = 8;
/// The clock is looked at after so many edges.
const PATIENCE: u64 = 1 << 12;
/// The search starts again after so many conflicts, times Luby's number.
const RESTART: u64 = if cfg!(test) { 4 } else { 100 };

/// Edges (before, after).
pub type EdgeList = Vec<(u32, u32)>;

struct Choice {
    sides: [EdgeList; 2],
    preferred: u8,
    /// Whether it is among those that fail.
    is_failing: bool,
}

/// The search, to which choices are added between its runs.
pub struct Engine<'c> {
    order: TopologicalOrder,
    clauses: Clauses,
    choices: Vec<Choice>,
    /// The side of each choice that holds now: it is taken, or leads forward in the order. One that was found to
    /// fail may lead forward by now.
    holds: Vec<u8>,
    /// Whether `holds` is to be found out again.
    is_doubtful: Vec<bool>,
    /// The choices that have an edge from each node, and those that have one to it.
    leaving: Vec<Vec<u32>>,
    entering: Vec<Vec<u32>>,
    /// So many literals of the trail have their edges in the order.
    taken: usize,
    /// Literals and edges before each decision.
    decisions: Vec<(usize, usize)>,
    doubtful: Vec<u32>,
    /// Choices neither side of which holds, by how much they took part in conflicts.
    failing: BinaryHeap<(u64, Reverse<u32>)>,
    /// Clauses that may have no literal that holds, and for each literal those that it meets.
    unmet: Vec<u32>,
    met: Vec<Vec<u32>>,
    /// The sides of the last run that settled all.
    settled: Vec<u8>,
    reasons: Vec<u32>,
    blamed: Vec<bool>,
    conflicts: u64,
    budget: Budget,
    /// When the time is over, by the clock of the budget.
    end: Option<u64>,
    /// The clock is looked at again after so many steps.
    next_look: u64,
    /// Bytes of all but clauses.
    bytes: u64,
    cancel: &'c Cancel,
    /// So many edges were there before sides were held.
    held_from: usize,
}

impl<'c> Engine<'c> {
    /// Starts with known edges, and places of nodes that follow them.
    #[must_use]
    pub fn new(edges: &[(u32, u32)], places: Vec<u32>, budget: Budget, cancel: &'c Cancel) -> Self {
        let nodes = places.len();
        Self {
            order: TopologicalOrder::new(edges, places),
            clauses: Clauses::new(),
            choices: Vec::new(),
            holds: Vec::new(),
            is_doubtful: Vec::new(),
            leaving: vec![Vec::new(); nodes],
            entering: vec![Vec::new(); nodes],
            taken: 0,
            decisions: Vec::new(),
            doubtful: Vec::new(),
            failing: BinaryHeap::new(),
            unmet: Vec::new(),
            met: Vec::new(),
            settled: Vec::new(),
            reasons: Vec::new(),
            blamed: Vec::new(),
            conflicts: 0,
            budget,
            end: budget.time.map(|TimeLimit { clock, milliseconds }| clock().saturating_add(milliseconds)),
            next_look: 0,
            bytes: NODE_BYTES * nodes as u64 + KNOWN_BYTES * edges.len() as u64,
            cancel,
            held_from: 0,
        }
    }

    /// The place of each node, in an order that follows all edges that are chosen.
    #[must_use]
    pub fn places(&self) -> &[u32] {
        self.order.places()
    }

    /// Adds a choice; `preferred` is tried first.
    pub fn choice(&mut self, sides: [EdgeList; 2], preferred: u8) -> u32 {
        let number = self.choices.len() as u32;
        for &(from, to) in sides.iter().flatten() {
            self.bytes += EDGE_BYTES;
            for touching in [&mut self.leaving[from as usize], &mut self.entering[to as usize]] {
                if touching.last() != Some(&number) {
                    touching.push(number);
                }
            }
        }
        self.bytes += CHOICE_BYTES;
        self.clauses.add_choice();
        self.choices.push(Choice { sides, preferred, is_failing: false });
        self.holds.push(OPEN);
        self.is_doubtful.push(false);
        self.met.extend([Vec::new(), Vec::new()]);
        self.settled.push(preferred);
        self.blamed.push(false);
        self.doubt(number);
        number
    }

    /// Adds a choice and takes one of its sides until [`Self::release`], `preferred` if that closes no cycle;
    /// whether one could be taken. The side that is taken is tried first.
    pub fn held_choice(&mut self, sides: [EdgeList; 2], preferred: u8) -> (u32, bool) {
        let number = self.choices.len() as u32;
        let mut tried = [preferred, 1 - preferred].into_iter();
        let taken = tried.find(|&side| self.add_all(&sides[side as usize], number));
        (self.choice(sides, taken.unwrap_or(preferred)), taken.is_some())
    }

    /// Takes the sides of the last run again, until [`Self::release`], and notes which nodes move.
    pub fn hold(&mut self) {
        self.held_from = self.order.added();
        for choice in 0..self.choices.len() as u32 {
            let side = self.side(choice) as usize;
            let edges = std::mem::take(&mut self.choices[choice as usize].sides[side]);
            self.add_all(&edges, choice);
            self.choices[choice as usize].sides[side] = edges;
        }
        self.order.note_moves(true);
    }

    /// Takes back what was held; nodes stay at their places.
    pub fn release(&mut self) {
        self.order.note_moves(false);
        self.order.take_back(self.held_from);
    }

    /// Nodes that moved since the last call, while sides are held.
    pub fn moved(&mut self) -> Vec<u32> {
        let Moved { earlier, later } = self.order.moved();
        [earlier, later].concat()
    }

    /// How many choices there are.
    #[must_use]
    pub fn choices(&self) -> usize {
        self.choices.len()
    }

    /// Forbids that all of these are taken.
    pub fn forbid(&mut self, literals: &[Literal]) {
        for &(choice, _) in literals {
            self.blamed[choice as usize] = true;
        }
        let clause = literals.iter().map(|&(choice, side)| literal(choice, 1 - side)).collect();
        self.unmet.extend(self.clauses.add(clause));
    }

    /// How far the search came.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let began =
            self.budget.time.zip(self.end).map(|(time, end)| (time, end.saturating_sub(time.milliseconds)));
        let passed = began.map(|(time, began)| (time.clock)().saturating_sub(began));
        Progress {
            choices: self.choices.len() as u64,
            conflicts: self.conflicts,
            milliseconds: passed.unwrap_or(0),
            is_full: self.bytes() > self.budget.bytes,
        }
    }

    /// What everything takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes + CLAUSE_BYTES * self.clauses.count() + LITERAL_BYTES * self.clauses.literals
    }

    /// The budget with the time and the memory that are left.
    #[must_use]
    pub fn left(&self) -> Budget {
        let mut budget = self.budget;
        budget.bytes = budget.bytes.saturating_sub(self.bytes());
        if let (Some(time), Some(end)) = (&mut budget.time, self.end) {
            time.milliseconds = end.saturating_sub((time.clock)());
        }
        budget
    }

    /// Whether the budget is spent, or a stop was asked for.
    pub fn is_over(&mut self) -> bool {
        self.next_look = 0;
        self.is_spent()
    }

    /// The side of a choice in the last run that settled all.
    #[must_use]
    pub fn side(&self, choice: u32) -> u8 {
        self.settled[choice as usize]
    }

    /// Supposes that the last run took this side.
    pub fn prefer(&mut self, (choice, side): Literal) {
        self.choices[choice as usize].preferred = side;
        self.settled[choice as usize] = side;
    }

    /// The edges of one side.
    #[must_use]
    pub fn edges(&self, (choice, side): Literal) -> &[(u32, u32)] {
        &self.choices[choice as usize].sides[side as usize]
    }

    /// Nodes that known edges lead to from a node.
    #[must_use]
    pub fn known_after(&self, node: u32) -> &[u32] {
        self.order.known_after(node)
    }

    /// Choices that were part of a conflict.
    pub fn blamed(&self) -> impl Iterator<Item = u32> {
        let blamed = self.blamed.iter().zip(0..);
        blamed.filter(|&(&is_blamed, _)| is_blamed).map(|(_, choice)| choice)
    }

    /// Chooses.
    pub fn run(&mut self) -> Ending {
        self.next_look = 0;
        self.order.note_moves(true);
        (0..self.choices.len() as u32).for_each(|choice| self.doubt(choice));
        let ending = self.search();
        if ending == Ending::Settled {
            self.settled.clone_from(&self.holds);
        }
        self.back_to(0);
        self.order.note_moves(false);
        ending
    }

    fn search(&mut self) -> Ending {
        let (mut restarts, mut until) = (1, self.conflicts + RESTART);
        loop {
            if self.is_spent() {
                return Ending::Spent;
            }
            if self.clauses.is_contradictory {
                return Ending::Impossible;
            }
            if let Some(failed) = self.take_what_follows() {
                if self.decisions.is_empty() {
                    return Ending::Impossible;
                }
                self.learn(failed);
            } else if self.conflicts >= until {
                restarts += 1;
                until = self.conflicts + RESTART * luby(restarts);
                self.back_to(0);
                self.clauses.forget();
            } else if let Some(decision) = self.decision() {
                self.order.steps += 1;
                self.decisions.push((self.clauses.trail.len(), self.order.added()));
                self.clauses.enqueue(decision, self.decisions.len() as u32, NONE);
            } else {
                return Ending::Settled;
            }
        }
    }

    /// Takes what follows from the sides that are taken, and adds their edges; literals that fail together.
    fn take_what_follows(&mut self) -> Option<Vec<Lit>> {
        let level = self.decisions.len() as u32;
        loop {
            if let Some(failed) = self.clauses.propagate(level) {
                return Some(self.clauses.of(failed).to_vec());
            }
            let &literal = self.clauses.trail.get(self.taken)?;
            self.doubt(choice_of(literal) as u32);
            if !self.take(literal) {
                self.reasons.push(choice_of(literal) as u32);
                self.reasons.sort_unstable();
                self.reasons.dedup();
                let blamed = std::mem::take(&mut self.reasons);
                for &choice in &blamed {
                    self.blamed[choice as usize] = true;
                }
                let taken = blamed.iter().map(|&choice| (choice, self.clauses.value(choice)));
                return Some(
                    taken.map(|(choice, side)| opposite(super::clauses::literal(choice, side))).collect(),
                );
            }
            self.taken += 1;
        }
    }

    fn learn(&mut self, failed: Vec<Lit>) {
        self.conflicts += 1;
        let lesson = self.clauses.lesson(failed, self.decisions.len() as u32);
        self.back_to(lesson.level as usize);
        self.unmet.extend(self.clauses.learn(lesson));
    }

    fn back_to(&mut self, level: usize) {
        let Some(&(trail, edges)) = self.decisions.get(level) else { return };
        self.decisions.truncate(level);
        for literal in self.clauses.take_back(trail) {
            self.choices[choice_of(literal)].preferred = side_of(literal);
            self.doubt(choice_of(literal) as u32);
        }
        self.taken = trail;
        self.order.take_back(edges);
    }

    fn is_spent(&mut self) -> bool {
        let (steps, budget) = (self.order.steps, self.budget);
        if steps >= budget.steps || self.bytes() > budget.bytes || self.cancel.is_asked() {
            return true;
        }
        if steps < self.next_look {
            return false;
        }
        self.next_look = steps + PATIENCE;
        let is_late = |end: u64| budget.time.is_some_and(|time| (time.clock)() >= end);
        self.end.is_some_and(is_late)
    }

    /// Adds all of these edges, or none if that would close a cycle.
    fn add_all(&mut self, edges: &[(u32, u32)], reason: u32) -> bool {
        let before = self.order.added();
        let is_open = |&(from, to): &(u32, u32)| self.order.add(from, to, reason, &mut self.reasons);
        let all = edges.iter().all(is_open);
        if !all {
            self.order.take_back(before);
        }
        all
    }

    /// Adds the edges of a literal; otherwise the choices of a cycle are in `reasons`.
    fn take(&mut self, literal: Lit) -> bool {
        let number = choice_of(literal);
        let edges = &self.choices[number].sides[side_of(literal) as usize];
        let is_open =
            |&(before, after): &(u32, u32)| self.order.add(before, after, number as u32, &mut self.reasons);
        edges.iter().all(is_open)
    }
}

/// Luby's sequence from its first number on: 1, 1, 2, 1, 1, 2, 4.
const fn luby(number: u64) -> u64 {
    let mut number = number;
    loop {
        let size = number.ilog2() + 1;
        if number == (1 << size) - 1 {
            return 1 << (size - 1);
        }
        number -= (1 << (size - 1)) - 1;
    }
}
