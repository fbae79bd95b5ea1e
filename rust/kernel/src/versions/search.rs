//! Is there an order of the open versions that closes no cycle? A guess first, then an exhaustive search.
//!
//! Every open pair of versions is a choice between two sets of edges. Reachability is kept as bits; a side
//! of a choice that would close a cycle is ruled out, and where neither side is, one is tried.

use super::dependencies::components;
use super::reachability::Reach;
use crate::cancel::Cancel;
use crate::graph::Edges;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
#[derive(Debug, Default)]
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
    /// There is none.
    Impossible,
    /// The budget is spent.
    Unknown,
}

/// How much may be spent.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Edges added and sides looked at.
    pub steps: u64,
    /// Bytes of reachability.
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: 50_000_000, bytes: 512 << 20 }
    }
}

/// Decides the problem.
#[must_use]
pub fn solve(problem: &Problem, budget: Budget, cancel: &Cancel) -> Answer {
    if let Some(sides) = guess(problem, cancel) {
        return Answer::Found(sides);
    }
    let width = problem.nodes.div_ceil(64) as u64;
    if width * 8 * problem.nodes as u64 > budget.bytes {
        return Answer::Unknown;
    }
    Search::new(problem, budget).run(cancel)
}

/// A topological order of what is known settles every choice; whether that closes a cycle is looked at after.
fn guess(problem: &Problem, cancel: &Cancel) -> Option<Vec<u8>> {
    let place = topological(problem)?;
    let is_forward = |side: &Side| {
        !side.is_impossible
            && side
                .edges
                .first()
                .is_none_or(|&(before, after)| place[before as usize] < place[after as usize])
    };
    let lateness = |side: &Side| side.edges.first().map_or(0, |&(before, _)| place[before as usize]);
    let pick = |[first, second]: &[Side; 2]| match (is_forward(first), is_forward(second)) {
        (true, false) => 0,
        (false, true) => 1,
        _ if first.is_impossible => 1,
        _ if second.is_impossible => 0,
        _ => u8::from(lateness(second) < lateness(first)),
    };
    let sides: Vec<u8> = problem.choices.iter().map(pick).collect();
    is_solution(problem, &sides, cancel).then_some(sides)
}

/// Places of nodes in an order that follows the edges: the first that can come does.
fn topological(problem: &Problem) -> Option<Vec<u32>> {
    let forward: Vec<(u32, u32)> = problem.edges.clone();
    let after = Edges::collected(problem.nodes, &[&forward]);
    let mut waiting = vec![0u32; problem.nodes];
    for &(_, after) in &problem.edges {
        waiting[after as usize] += 1;
    }
    let free = (0..problem.nodes as u32).filter(|&node| waiting[node as usize] == 0);
    // Commits stand behind begins: a transaction that has begun commits as soon as possible.
    let mut open: BinaryHeap<(bool, Reverse<u32>)> =
        free.map(|node| (node as usize * 2 >= problem.nodes, Reverse(node))).collect();
    let mut place = vec![u32::MAX; problem.nodes];
    let mut next = 0;
    while let Some((_, Reverse(node))) = open.pop() {
        place[node as usize] = next;
        next += 1;
        for &other in after.of(node) {
            waiting[other as usize] -= 1;
            if waiting[other as usize] == 0 {
                open.push((other as usize * 2 >= problem.nodes, Reverse(other)));
            }
        }
    }
    (next as usize == problem.nodes).then_some(place)
}

/// Whether these sides close no cycle.
fn is_solution(problem: &Problem, sides: &[u8], cancel: &Cancel) -> bool {
    let chosen = || problem.choices.iter().zip(sides).map(|(sides, &side)| &sides[side as usize]);
    if chosen().any(|side| side.is_impossible) || excluded(problem, sides) {
        return false;
    }
    let edges = problem.edges.iter().chain(chosen().flat_map(|side| &side.edges));
    let pairs: Vec<(u32, u32)> = edges.map(|&(before, after)| (after, before)).collect();
    if pairs.iter().any(|(after, before)| after == before) {
        return false;
    }
    let edges = Edges::collected(problem.nodes, &[&pairs]);
    let barred: Vec<(u32, u32)> =
        problem.barred.iter().chain(chosen().flat_map(|side| &side.barred)).copied().collect();
    if barred.is_empty() {
        return !components(&edges, problem.nodes).is_cyclic();
    }
    let reach = Reach::new(&edges, problem.nodes);
    !reach.components().is_cyclic() && !reach.asked(&barred, cancel).contains(&true)
}

fn excluded(problem: &Problem, sides: &[u8]) -> bool {
    let holds = |(choice, side): Literal| sides[choice as usize] == side;
    problem.exclusive.iter().any(|&(one, other)| holds(one) && holds(other))
}

const OPEN: u8 = 2;

/// What is decided on the way.
#[derive(Clone)]
struct State {
    /// Rows of bits: the nodes that each node reaches.
    reach: Vec<u64>,
    sides: Vec<u8>,
    barred: Vec<(u32, u32)>,
}

struct Search<'p> {
    problem: &'p Problem,
    width: usize,
    steps: u64,
    /// So many states may wait.
    room: usize,
    /// Literals excluded by a literal.
    excludes: Vec<Vec<Literal>>,
}

enum Progress {
    Settled,
    Conflict,
    Spent,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, budget: Budget) -> Self {
        let mut excludes = vec![Vec::new(); 2 * problem.choices.len()];
        for &(one, other) in &problem.exclusive {
            excludes[literal(one)].push(other);
            excludes[literal(other)].push(one);
        }
        let width = problem.nodes.div_ceil(64);
        let bytes = (8 * width * problem.nodes + problem.choices.len()).max(1);
        Self { problem, width, steps: budget.steps, room: budget.bytes as usize / bytes, excludes }
    }

    fn run(mut self, cancel: &Cancel) -> Answer {
        let problem = self.problem;
        let Some(place) = topological(problem) else {
            return Answer::Impossible;
        };
        let state = State {
            reach: self.known(&place),
            sides: vec![OPEN; problem.choices.len()],
            barred: problem.barred.clone(),
        };
        let mut tries = vec![state];
        while let Some(mut state) = tries.pop() {
            match self.propagate(&mut state, cancel) {
                Progress::Spent => return Answer::Unknown,
                Progress::Conflict => {}
                Progress::Settled => {
                    let Some(open) = state.sides.iter().position(|&side| side == OPEN) else {
                        return Answer::Found(state.sides);
                    };
                    if tries.len() > self.room {
                        return Answer::Unknown;
                    }
                    let mut other = state.clone();
                    if self.take(&mut other, open as u32, 1) {
                        tries.push(other);
                    }
                    if self.take(&mut state, open as u32, 0) {
                        tries.push(state);
                    }
                }
            }
        }
        Answer::Impossible
    }

    /// The nodes that each node reaches by known edges, the last ones first.
    fn known(&self, place: &[u32]) -> Vec<u64> {
        let (problem, width) = (self.problem, self.width);
        let after = Edges::collected(problem.nodes, &[&problem.edges]);
        let mut nodes: Vec<u32> = (0..problem.nodes as u32).collect();
        nodes.sort_unstable_by_key(|&node| Reverse(place[node as usize]));
        let mut reach = vec![0; width * problem.nodes];
        let mut row = vec![0u64; width];
        for node in nodes {
            row.fill(0);
            for &other in after.of(node) {
                let gained = &reach[other as usize * width..(other as usize + 1) * width];
                row.iter_mut().zip(gained).for_each(|(old, new)| *old |= new);
                row[other as usize / 64] |= 1 << (other % 64);
            }
            reach[node as usize * width..(node as usize + 1) * width].copy_from_slice(&row);
        }
        reach
    }

    fn reaches(&self, state: &State, from: u32, to: u32) -> bool {
        let row = from as usize * self.width;
        state.reach[row + to as usize / 64] >> (to % 64) & 1 == 1
    }

    /// Adds an edge; whether that closes no cycle.
    fn add(&mut self, state: &mut State, before: u32, after: u32) -> bool {
        self.steps = self.steps.saturating_sub(1);
        if before == after || self.reaches(state, after, before) {
            return false;
        }
        if self.reaches(state, before, after) {
            return true;
        }
        let width = self.width;
        let mut gained = state.reach[after as usize * width..(after as usize + 1) * width].to_vec();
        gained[after as usize / 64] |= 1 << (after % 64);
        let mut rows = 0;
        for node in 0..self.problem.nodes as u32 {
            if node == before || self.reaches(state, node, before) {
                let row = &mut state.reach[node as usize * width..(node as usize + 1) * width];
                row.iter_mut().zip(&gained).for_each(|(old, new)| *old |= new);
                rows += 1;
            }
        }
        let words = rows * width + 4 * self.problem.nodes;
        self.steps = self.steps.saturating_sub(words as u64 / 64);
        true
    }

    fn take(&mut self, state: &mut State, choice: u32, side: u8) -> bool {
        let chosen = &self.problem.choices[choice as usize][side as usize];
        if chosen.is_impossible {
            return false;
        }
        state.sides[choice as usize] = side;
        for &(before, after) in &chosen.edges {
            if !self.add(state, before, after) {
                return false;
            }
        }
        state.barred.extend(&chosen.barred);
        let others = &self.excludes[literal((choice, side))];
        others.iter().all(|&(choice, side)| state.sides[choice as usize] != side)
    }

    fn is_barred(&self, state: &State) -> bool {
        state.barred.iter().any(|&(from, to)| from == to || self.reaches(state, from, to))
    }

    /// Whether a side does not close a cycle at once.
    fn is_open(&self, state: &State, choice: u32, side: u8) -> bool {
        let chosen = &self.problem.choices[choice as usize][side as usize];
        let others = &self.excludes[literal((choice, side))];
        !chosen.is_impossible
            && chosen
                .edges
                .iter()
                .all(|&(before, after)| before != after && !self.reaches(state, after, before))
            && chosen.barred.iter().all(|&(from, to)| from != to && !self.reaches(state, from, to))
            && others.iter().all(|&(choice, side)| state.sides[choice as usize] != side)
    }

    /// Takes every side whose opposite is ruled out.
    fn propagate(&mut self, state: &mut State, cancel: &Cancel) -> Progress {
        loop {
            if self.is_barred(state) {
                return Progress::Conflict;
            }
            let mut has_changed = false;
            for choice in 0..self.problem.choices.len() as u32 {
                if state.sides[choice as usize] != OPEN {
                    continue;
                }
                if self.steps == 0 || cancel.is_asked() {
                    return Progress::Spent;
                }
                self.steps -= 1;
                let side = match (self.is_open(state, choice, 0), self.is_open(state, choice, 1)) {
                    (true, true) => continue,
                    (false, false) => return Progress::Conflict,
                    (first, _) => u8::from(!first),
                };
                if !self.take(state, choice, side) {
                    return Progress::Conflict;
                }
                has_changed = true;
            }
            if !has_changed {
                return Progress::Settled;
            }
        }
    }
}

fn literal((choice, side): Literal) -> usize {
    2 * choice as usize + side as usize
}

#[cfg(test)]
mod tests;
