//! Choices between two sets of edges, such that no cycle is closed: conflict-driven search (MiniSat) above a
//! topological order that is kept.

use super::topological_order::TopologicalOrder;
use super::{Budget, Literal, Progress, TimeLimit};
use crate::cancel::Cancel;
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, Theory, TheoryArg, Var, lbool};
use std::cell::Cell;
use std::rc::Rc;

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

/// What a choice and one of its edges take: in its list, and once more while it is chosen.
const CHOICE_BYTES: u64 = 256;
const EDGE_BYTES: u64 = 32;
/// The clock is looked at after so many edges.
const PATIENCE: u64 = 1 << 12;

/// Edges (before, after).
pub type EdgeList = Vec<(u32, u32)>;

/// The search, to which choices are added between its runs.
pub struct Engine<'c> {
    solver: Solver<Stop>,
    acyclicity: Acyclicity<'c>,
    /// So many edges were there before sides were held.
    held_from: usize,
}

impl<'c> Engine<'c> {
    /// Starts with known edges, and places of nodes that follow them.
    #[must_use]
    pub fn new(edges: &[(u32, u32)], places: Vec<u32>, budget: Budget, cancel: &'c Cancel) -> Self {
        let is_spent = Rc::new(Cell::new(false));
        let acyclicity = Acyclicity {
            order: TopologicalOrder::new(edges, places),
            choices: Vec::new(),
            taken: 0,
            levels: Vec::new(),
            reasons: Vec::new(),
            blamed: Vec::new(),
            budget,
            end: budget.time.map(|TimeLimit { clock, milliseconds }| clock().saturating_add(milliseconds)),
            next_look: 0,
            bytes: 0,
            cancel,
            is_spent: Rc::clone(&is_spent),
        };
        Self { solver: Solver::new(SolverOpts::default(), Stop(is_spent)), acyclicity, held_from: 0 }
    }

    /// The place of each node, in an order that follows all edges that are chosen.
    #[must_use]
    pub fn places(&self) -> &[u32] {
        self.acyclicity.order.places()
    }

    /// Adds a choice; `preferred` is tried first.
    pub fn choice(&mut self, sides: [EdgeList; 2], preferred: u8) -> u32 {
        let number = self.acyclicity.choices.len() as u32;
        let variable = self.solver.new_var_default();
        debug_assert_eq!(variable.idx(), number);
        let edges = sides.iter().map(Vec::len).sum::<usize>() as u64;
        self.acyclicity.bytes += CHOICE_BYTES + EDGE_BYTES * edges;
        self.acyclicity.choices.push(Choice { variable, sides, preferred });
        self.acyclicity.blamed.push(false);
        number
    }

    /// Adds a choice and takes one of its sides until [`Self::release`], `preferred` if that closes no cycle;
    /// whether one could be taken. The side that is taken is tried first.
    pub fn held_choice(&mut self, sides: [EdgeList; 2], preferred: u8) -> (u32, bool) {
        let number = self.acyclicity.choices.len() as u32;
        let mut tried = [preferred, 1 - preferred].into_iter();
        let taken = tried.find(|&side| self.acyclicity.add_all(&sides[side as usize], number));
        (self.choice(sides, taken.unwrap_or(preferred)), taken.is_some())
    }

    /// Takes the sides of the last run again, until [`Self::release`], and notes which nodes move.
    pub fn hold(&mut self) {
        self.held_from = self.acyclicity.order.added();
        for choice in 0..self.acyclicity.choices.len() as u32 {
            let side = self.side(choice) as usize;
            let edges = std::mem::take(&mut self.acyclicity.choices[choice as usize].sides[side]);
            self.acyclicity.add_all(&edges, choice);
            self.acyclicity.choices[choice as usize].sides[side] = edges;
        }
        self.acyclicity.order.note_moves(true);
    }

    /// Takes back what was held; nodes stay at their places.
    pub fn release(&mut self) {
        self.acyclicity.order.note_moves(false);
        self.acyclicity.order.take_back(self.held_from);
    }

    /// Nodes that moved since the last call, while sides are held.
    pub fn moved(&mut self) -> Vec<u32> {
        self.acyclicity.order.moved()
    }

    /// How many choices there are.
    #[must_use]
    pub fn choices(&self) -> usize {
        self.acyclicity.choices.len()
    }

    /// Forbids that all of these are taken.
    pub fn forbid(&mut self, literals: &[Literal]) {
        let mut clause: Vec<Lit> =
            literals.iter().map(|&literal| !self.acyclicity.solver_literal(literal)).collect();
        for &(choice, _) in literals {
            self.acyclicity.blamed[choice as usize] = true;
        }
        self.solver.add_clause_reuse(&mut clause);
    }

    /// Chooses.
    pub fn run(&mut self) -> Ending {
        self.acyclicity.next_look = 0;
        let found = self.solver.solve_limited_th(&mut self.acyclicity, &[]);
        if self.acyclicity.is_spent.get() {
            Ending::Spent
        } else if found == lbool::TRUE {
            Ending::Settled
        } else if found == lbool::FALSE {
            Ending::Impossible
        } else {
            Ending::Spent
        }
    }

    /// How far the search came.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let Acyclicity { choices, budget, end, .. } = &self.acyclicity;
        let began = budget.time.zip(*end).map(|(time, end)| (time, end.saturating_sub(time.milliseconds)));
        let passed = began.map(|(time, began)| (time.clock)().saturating_sub(began));
        Progress {
            choices: choices.len() as u64,
            conflicts: self.solver.num_conflicts(),
            milliseconds: passed.unwrap_or(0),
        }
    }

    /// Whether the budget is spent, or a stop was asked for.
    pub fn is_over(&mut self) -> bool {
        self.acyclicity.next_look = 0;
        self.acyclicity.is_over()
    }

    /// The side of a choice in the last run that settled all.
    #[must_use]
    pub fn side(&self, choice: u32) -> u8 {
        let choice = &self.acyclicity.choices[choice as usize];
        choice.side(self.solver.value_var(choice.variable) == lbool::TRUE)
    }

    /// Choices that were part of a conflict.
    pub fn blamed(&self) -> impl Iterator<Item = u32> {
        let blamed = self.acyclicity.blamed.iter().zip(0..);
        blamed.filter(|&(&is_blamed, _)| is_blamed).map(|(_, choice)| choice)
    }
}

struct Choice {
    variable: Var,
    sides: [EdgeList; 2],
    preferred: u8,
}

impl Choice {
    /// The solver tries false first.
    fn side(&self, is_true: bool) -> u8 {
        if is_true { 1 - self.preferred } else { self.preferred }
    }
}

struct Stop(Rc<Cell<bool>>);

impl Callbacks for Stop {
    fn stop(&self) -> bool {
        self.0.get()
    }
}

/// The theory of edges that close no cycle.
struct Acyclicity<'c> {
    order: TopologicalOrder,
    choices: Vec<Choice>,
    /// So many literals of the solver's trail are taken.
    taken: usize,
    /// Literals taken and edges added before each level of decisions.
    levels: Vec<(usize, usize)>,
    reasons: Vec<u32>,
    blamed: Vec<bool>,
    budget: Budget,
    /// When the time is over, by the clock of the budget.
    end: Option<u64>,
    /// The clock is looked at again after so many steps.
    next_look: u64,
    /// Bytes of all choices.
    bytes: u64,
    cancel: &'c Cancel,
    is_spent: Rc<Cell<bool>>,
}

impl Acyclicity<'_> {
    fn solver_literal(&self, (choice, side): Literal) -> Lit {
        let Choice { variable, preferred, .. } = self.choices[choice as usize];
        Lit::new(variable, side != preferred)
    }

    fn is_over(&mut self) -> bool {
        let (steps, budget) = (self.order.steps, self.budget);
        if steps >= budget.steps || self.bytes > budget.bytes || self.cancel.is_asked() {
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
        let number = literal.var().idx();
        let choice = &self.choices[number as usize];
        let edges = &choice.sides[choice.side(literal.sign()) as usize];
        let is_open =
            |&(before, after): &(u32, u32)| self.order.add(before, after, number, &mut self.reasons);
        edges.iter().all(is_open)
    }
}

impl Theory for Acyclicity<'_> {
    fn final_check(&mut self, acts: &mut TheoryArg) {
        self.partial_check(acts);
    }

    fn create_level(&mut self) {
        self.levels.push((self.taken, self.order.added()));
    }

    fn pop_levels(&mut self, n: usize) {
        let left = self.levels.len() - n;
        if let Some(&(taken, edges)) = self.levels.get(left) {
            self.taken = taken;
            self.order.take_back(edges);
        }
        self.levels.truncate(left);
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn partial_check(&mut self, acts: &mut TheoryArg) {
        while self.taken < acts.model().len() {
            if self.is_over() {
                self.is_spent.set(true);
                return;
            }
            let literal = acts.model()[self.taken];
            if !self.take(literal) {
                self.reasons.push(literal.var().idx());
                self.reasons.sort_unstable();
                self.reasons.dedup();
                let variables = self.reasons.iter().map(|&choice| self.choices[choice as usize].variable);
                let opposite = |variable: Var| Lit::new(variable, acts.value(variable) != lbool::TRUE);
                let clause: Vec<Lit> = variables.map(opposite).collect();
                for &choice in &self.reasons {
                    self.blamed[choice as usize] = true;
                }
                acts.raise_conflict(&clause, false);
                return;
            }
            self.taken += 1;
        }
    }

    fn explain_propagation(&mut self, _literal: Lit) -> &[Lit] {
        unreachable!("nothing is propagated")
    }
}
