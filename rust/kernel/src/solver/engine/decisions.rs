//! What the search decides next: only where the order meets neither a choice nor a clause.

use super::Engine;
use crate::solver::clauses::{Lit, OPEN, choice_of, literal, side_of};
use crate::solver::topological_order::Moved;
use std::cmp::Reverse;

impl Engine<'_> {
    /// Which side of a choice holds is to be found out again.
    pub(super) fn doubt(&mut self, choice: u32) {
        if !std::mem::replace(&mut self.is_doubtful[choice as usize], true) {
            self.doubtful.push(choice);
        }
    }

    /// A side that leads forward stops to do so only if an edge of it leaves a node that moved behind, or enters
    /// one that moved before. What fails is looked at again when it is to be decided.
    fn doubt_moved(&mut self) {
        let Moved { earlier, later } = self.order.moved();
        let leaving = later.iter().flat_map(|&node| &self.leaving[node as usize]);
        let entering = earlier.iter().flat_map(|&node| &self.entering[node as usize]);
        let mut steps = 0;
        for &choice in leaving.chain(entering) {
            steps += 1;
            if self.holds[choice as usize] != OPEN
                && !std::mem::replace(&mut self.is_doubtful[choice as usize], true)
            {
                self.doubtful.push(choice);
            }
        }
        self.order.steps += steps;
    }

    /// What is to be decided next: a literal of a clause that no literal meets, or a side of a choice that fails.
    pub(super) fn decision(&mut self) -> Option<Lit> {
        self.doubt_moved();
        loop {
            while let Some(choice) = self.doubtful.pop() {
                self.is_doubtful[choice as usize] = false;
                self.find_side(choice);
            }
            while let Some(&clause) = self.unmet.last() {
                let decision = self.meet(clause);
                self.unmet.pop();
                if decision.is_some() {
                    return decision;
                }
            }
            let (_, Reverse(choice)) = self.failing.pop()?;
            self.choices[choice as usize].is_failing = false;
            if self.holds[choice as usize] != OPEN || self.clauses.value(choice) != OPEN {
                continue;
            }
            // It may lead forward by now, and then clauses are to be met anew.
            self.find_side(choice);
            if self.holds[choice as usize] == OPEN {
                let [one, other] = [literal(choice, 0), literal(choice, 1)];
                let is_nearer = self.distance_back(other) < self.distance_back(one);
                return Some(if is_nearer { other } else { one });
            }
        }
    }

    /// Finds out which side of a choice holds.
    fn find_side(&mut self, choice: u32) {
        self.order.steps += 1;
        let side = match self.clauses.value(choice) {
            OPEN => {
                let preferred = self.choices[choice as usize].preferred;
                let mut sides = [preferred, 1 - preferred].into_iter();
                sides.find(|&side| self.leads_forward(choice, side)).unwrap_or(OPEN)
            }
            taken => taken,
        };
        self.holds[choice as usize] = side;
        if side == OPEN && !std::mem::replace(&mut self.choices[choice as usize].is_failing, true) {
            // Activities are no less than zero: their bits are in the same order.
            self.failing.push((self.clauses.activity(choice).to_bits(), Reverse(choice)));
        }
        for other in [0, 1] {
            if other != side {
                self.unmet.append(&mut self.met[literal(choice, other) as usize]);
            }
        }
    }

    fn leads_forward(&self, choice: u32, side: u8) -> bool {
        let places = self.order.places();
        let edges = &self.choices[choice as usize].sides[side as usize];
        edges.iter().all(|&(before, after)| places[before as usize] < places[after as usize])
    }

    fn distance_back(&self, literal: Lit) -> u32 {
        let places = self.order.places();
        let edges = &self.choices[choice_of(literal)].sides[side_of(literal) as usize];
        let back = |&(before, after): &(u32, u32)| {
            (places[before as usize] + 1).saturating_sub(places[after as usize])
        };
        edges.iter().map(back).max().unwrap_or(0)
    }

    /// Notes which literal of a clause holds; if none does, the one that moves the order least.
    fn meet(&mut self, clause: u32) -> Option<Lit> {
        let literals = self.clauses.of(clause);
        self.order.steps += literals.len() as u64;
        let holds = |literal: &&Lit| self.holds[choice_of(**literal)] == side_of(**literal);
        let &first = literals.first()?;
        let open = || literals.iter().copied().filter(|&literal| self.clauses.is_open(literal));
        let (literal, is_met) = match literals.iter().find(holds) {
            Some(&literal) => (literal, true),
            None => (open().min_by_key(|&literal| self.distance_back(literal)).unwrap_or(first), false),
        };
        self.met[literal as usize].push(clause);
        (!is_met).then_some(literal)
    }
}
