//! Is there a way to choose such that no cycle is closed? Conflict-driven search above a topological order.
//!
//! A choice is between two sides, each with edges that must close no cycle, and bars: nothing may lead from
//! one node to another. Edges are looked at while choices are made ([`engine`]), bars when all are
//! made ([`bars`]): a way that is barred then becomes a clause.

pub mod bars;
mod clauses;
pub mod engine;
pub mod reach_table;
mod starting_order;
pub mod topological_order;

use crate::cancel::Cancel;
use bars::{Bars, Reasoned};
use engine::{Ending, Engine};
pub use starting_order::starting_order;
use topological_order::KNOWN;

/// What follows if the versions of a pair are in one order.
#[derive(Debug, Clone, Default)]
pub struct Side {
    /// Edges (before, after) that must not close a cycle.
    pub edges: Vec<(u32, u32)>,
    /// Pairs (from, to) such that nothing may lead from the first to the second.
    pub barred: Vec<(u32, u32)>,
    /// The level forbids this order by itself.
    pub is_impossible: bool,
}

/// A choice: which side, 0 or 1.
pub type Literal = (u32, u8);

/// All that is to be decided together.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    /// How many nodes there are.
    pub nodes: usize,
    /// Edges (before, after) that are known.
    pub edges: Vec<(u32, u32)>,
    /// Pairs (from, to) such that nothing may lead from the first to the second.
    pub barred: Vec<(u32, u32)>,
    /// What is open.
    pub choices: Vec<[Side; 2]>,
    /// Pairs of literals that exclude each other.
    pub exclusive: Vec<(Literal, Literal)>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A side for each choice.
    Found(Vec<u8>),
    /// There is none; these choices leave none by themselves.
    Impossible(Vec<u32>),
    /// The budget is spent.
    Unknown,
}

/// How far a search came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Choices that had to be made.
    pub choices: u64,
    /// Conflicts between them that were met.
    pub conflicts: u64,
    /// How long it took, if the budget has a clock.
    pub milliseconds: u64,
    /// Whether memory ended it.
    pub is_full: bool,
}

impl Progress {
    /// How far two searches came that were made at the same time.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            choices: self.choices + other.choices,
            conflicts: self.conflicts + other.conflicts,
            milliseconds: self.milliseconds.max(other.milliseconds),
            is_full: self.is_full || other.is_full,
        }
    }
}

/// How much may be spent.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Edges looked at.
    pub steps: u64,
    /// Bytes of nodes, edges, choices and clauses.
    pub bytes: u64,
    /// How long each search may take.
    pub time: Option<TimeLimit>,
}

/// A bound on time, by a clock that the caller has.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimit {
    /// Milliseconds since some moment.
    pub clock: fn() -> u64,
    /// So many milliseconds may pass.
    pub milliseconds: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: u64::MAX, bytes: 2 << 30, time: None }
    }
}

/// Decides the problem.
#[must_use]
pub fn solve(problem: &Problem, budget: Budget, cancel: &Cancel) -> Answer {
    let Some(places) = starting_order(problem.nodes, &problem.edges, u64::from) else {
        return Answer::Impossible(Vec::new());
    };
    let mut engine = Engine::new(&problem.edges, places, budget, cancel);
    for sides in &problem.choices {
        let [first, second] = sides.each_ref().map(|side| side.edges.clone());
        engine.choice([first, second], 0);
    }
    for (sides, number) in problem.choices.iter().zip(0..) {
        for (_, place) in sides.iter().zip(0..).filter(|(side, _)| side.is_impossible) {
            engine.forbid(&[(number, place)]);
        }
    }
    for &(one, other) in &problem.exclusive {
        engine.forbid(&[one, other]);
    }
    loop {
        match engine.run() {
            Ending::Spent => return Answer::Unknown,
            Ending::Impossible => return Answer::Impossible(engine.blamed().collect()),
            Ending::Settled => {}
        }
        let sides: Vec<u8> = (0..problem.choices.len() as u32).map(|choice| engine.side(choice)).collect();
        let broken = problem.bars(&sides).broken(cancel);
        if cancel.is_asked() {
            return Answer::Unknown;
        }
        if broken.is_empty() {
            return Answer::Found(sides);
        }
        for reasons in broken {
            if reasons.is_empty() {
                return Answer::Impossible(Vec::new());
            }
            let taken: Vec<Literal> =
                reasons.iter().map(|&choice| (choice, sides[choice as usize])).collect();
            engine.forbid(&taken);
        }
    }
}

impl Problem {
    /// All edges and bars of these sides, each with its choice.
    fn bars(&self, sides: &[u8]) -> Bars {
        let chosen = || self.choices.iter().zip(sides).map(|(both, &side)| &both[side as usize]).zip(0u32..);
        let known = |pairs: &[(u32, u32)]| -> Vec<Reasoned> {
            pairs.iter().map(|&(from, to)| Reasoned { from, to, reason: KNOWN }).collect()
        };
        let mut bars = Bars { nodes: self.nodes, edges: known(&self.edges), barred: known(&self.barred) };
        for (side, reason) in chosen() {
            bars.edges.extend(side.edges.iter().map(|&(from, to)| Reasoned { from, to, reason }));
            bars.barred.extend(side.barred.iter().map(|&(from, to)| Reasoned { from, to, reason }));
        }
        bars
    }
}

#[cfg(test)]
mod growing_tests;
#[cfg(test)]
mod tests;
