//! What a candidate breaks beside cycles: paths that a level forbids, and lost updates.

use super::OpenPair;
use super::level_problem::LevelProblem;
use super::order_search::{OrderSearch, Succession};
use super::supposed_reads::{Supposed, SupposedBars, SupposedRead};
use crate::observations::ABSENT;
use crate::solver::Side;
use crate::solver::bars::{Bars, Reasoned};
use crate::solver::topological_order::KNOWN;
use hashbrown::HashMap;

/// A transaction that read a version of a key and wrote the next.
pub(super) struct Update {
    /// The place among the open keys.
    at: usize,
    read: u32,
    own: u32,
    /// Whether the version that was read is known to come before all that are open.
    is_first: bool,
}

impl OrderSearch<'_, '_, '_, '_> {
    /// Forbids what breaks bars or loses updates in the candidate: how many, or nothing if that needs no choice.
    pub(super) fn forbid_at_faults(
        &mut self,
        sequences: &[Vec<u32>],
        reads: &[SupposedRead],
    ) -> Option<usize> {
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
        // Beside reads that several versions explain, also what is known to come before is among the open ones.
        let read = positions.get(&update.read);
        let first = if update.is_first && read.is_none() { 0 } else { read? + 1 };
        let between = versions.get(first..own)?;
        let is_other = |&&other: &&u32| all.node(other) != all.node(update.own);
        let &other = between.iter().find(is_other)?;
        let key = self.open()[update.at].key;
        let mut fault = vec![Succession { key, before: other, after: update.own }];
        if read.is_some() {
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
pub(super) fn updates(level_problem: &LevelProblem<'_, '_, '_>) -> Vec<Update> {
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
