//! What the explanations that were tried so far say of each level.

use super::Explained;
use crate::explanations::Worth;
use crate::versions::Outcome;
use crate::versions::anomalies::Finding;
use crate::versions::levels::Level;
use crate::versions::witness_order::WitnessOrder;

/// What the explanations so far say of each level.
pub(super) struct Tally {
    pub(super) holds: [bool; Level::COUNT],
    /// Broken by every explanation so far.
    pub(super) broken: [bool; Level::COUNT],
    /// Whether every explanation so far has wrong reads.
    pub(super) are_reads_wrong: bool,
    pub(super) explanations: usize,
    /// Of the first explanation that meets each level.
    pub(super) witnesses: Vec<WitnessOrder>,
    /// Why levels are broken in the first explanation.
    pub(super) cases: Vec<Finding>,
}

impl Tally {
    pub(super) const EMPTY: Self = Self {
        holds: [false; Level::COUNT],
        broken: [true; Level::COUNT],
        are_reads_wrong: true,
        explanations: 0,
        witnesses: Vec::new(),
        cases: Vec::new(),
    };

    pub(super) fn add(&mut self, Explained { outcomes, witnesses, cases, is_wrong, .. }: Explained) {
        self.are_reads_wrong &= is_wrong;
        if self.explanations == 0 {
            self.cases = cases;
        }
        let is_new = |witness: &WitnessOrder| {
            let level = witness.level as usize;
            outcomes[level] == Outcome::Holds && !self.holds[level]
        };
        self.witnesses.extend(witnesses.into_iter().filter(is_new));
        for (level, &outcome) in outcomes.iter().enumerate() {
            self.holds[level] |= outcome == Outcome::Holds;
            self.broken[level] &= outcome == Outcome::Violated;
        }
        self.explanations += 1;
    }

    /// Whether all ways to decide what is undecided are broken at once. A level that is neither met nor broken here stays
    /// open if it is not looked at further.
    pub(super) fn add_undecided(&mut self, judged: &Explained, searched: &[Level]) -> Worth {
        let outcomes = &judged.outcomes;
        let may_hold = |&level: &Level| {
            let outcome = outcomes[level as usize];
            !self.holds[level as usize] && matches!(outcome, Outcome::Holds | Outcome::Spent)
        };
        if searched.iter().any(may_hold) {
            return Worth::Open;
        }
        self.are_reads_wrong &= judged.is_wrong;
        for (broken, &outcome) in self.broken.iter_mut().zip(outcomes) {
            *broken &= outcome == Outcome::Violated;
        }
        self.explanations += 1;
        Worth::Broken
    }

    pub(super) fn is_settled(&self) -> bool {
        self.holds.iter().all(|&holds| holds)
    }
}
