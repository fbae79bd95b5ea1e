//! A refutation of a large history by some of its transactions.
//!
//! What follows from all known edges takes a table of all transactions. Where that is too large, parts of the
//! history are looked at by themselves: transactions that likely ran one after the other. What some transactions
//! leave without an order, all of them do.

use super::Completion;
use super::level_problem::LevelProblem;
use crate::cancel::Cancel;
use crate::solver::Budget;
use crate::versions::dependencies::Order;
use crate::versions::levels::Level;
use crate::versions::witness::Step;
use rayon::prelude::*;
use std::ops::Range;

/// Transactions in a part; the next one begins in the middle, or further on if there would be too many.
const PART: usize = if cfg!(test) { 4 } else { 4096 };
const MAX_PARTS: usize = 64;

impl Completion<'_, '_> {
    /// What follows from each order of a few versions, if a part leaves no order.
    pub(super) fn refuted_in_parts(
        &self,
        level: Level,
        budget: Budget,
        tells: bool,
        cancel: &Cancel,
    ) -> Option<Vec<Vec<Step>>> {
        let level_problem = LevelProblem::new(self, level);
        // Where sessions have an order, more follows from that.
        if !level_problem.has_edges_of_readers() || level.order() != Order::Plain {
            return None;
        }
        let mut nodes: Vec<u32> = (0..self.small.len() as u32).collect();
        nodes.sort_by_key(|&node| (level_problem.rank(node), node));
        let mut places = vec![0; nodes.len()];
        nodes.iter().zip(0..).for_each(|(&node, place)| places[node as usize] = place);
        let step = (PART / 2).max(nodes.len() / MAX_PARTS);
        let starts: Vec<usize> = (0..nodes.len()).step_by(step).collect();
        let refuted =
            |start: usize| self.refuted_part(start..start + PART, &places, (level, budget, tells), cancel);
        starts.into_par_iter().find_map_first(refuted)
    }

    /// The same of the part with these places.
    fn refuted_part(
        &self,
        part: Range<usize>,
        places: &[usize],
        (level, budget, tells): (Level, Budget, bool),
        cancel: &Cancel,
    ) -> Option<Vec<Vec<Step>>> {
        if cancel.is_asked() {
            return None;
        }
        let small = self.small.among(|node| part.contains(&places[node as usize]));
        let components = vec![0; small.nodes()];
        let few = Completion::new(&small, &components, self.lookup, self.guess, Vec::new(), false);
        let is_refuted = LevelProblem::new(&few, level).force(budget, cancel).is_err();
        is_refuted.then(|| few.decide(level, budget, tells, cancel).alternatives)
    }
}
