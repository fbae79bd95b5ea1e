//! Orders that prove levels, as witnesses of those that were asked for.

use super::completion::FoundOrder;
use super::dependencies::Dependencies;
use super::levels::Level;
use super::orders::Orders;
use super::session_guarantees::GUARANTEES;
use super::witness_order::{Proof, ShownWrites, WitnessOrder, Witnessed, implies, write_of};
use super::{Judge, Outcome};

impl Judge<'_> {
    /// Why levels hold, of those whose witness was asked for. A level behind one that implies it has the same witness.
    pub(super) fn witnesses(
        &self,
        outcomes: &[Outcome; Level::COUNT],
        orders: &Orders,
        proofs: &[Proof],
    ) -> Vec<WitnessOrder> {
        let asked = self.question.witnessed.iter().copied();
        let holding = asked.filter(|&level| outcomes[level as usize] == Outcome::Holds);
        let mut made: Vec<WitnessOrder> = Vec::new();
        for level in holding {
            if made.iter().any(|stronger| stronger.fault.is_empty() && implies(stronger.level, level)) {
                continue;
            }
            let witness = self.witness(level, orders, proofs);
            made.extend(witness.map(|witness| WitnessOrder { believed: self.believed, ..witness }));
        }
        made
    }

    fn witness(&self, level: Level, orders: &Orders, proofs: &[Proof]) -> Option<WitnessOrder> {
        let (history, observations, times, cancel) =
            (self.history, self.observations, self.times, self.cancel);
        let by = |orders| Witnessed { history, observations, times, orders, cancel };
        let proved = proofs.iter().find(|proof| proof.covers(level)).map(|proof| &proof.orders);
        let known = (orders.is_complete() && self.open_reads.is_empty()).then_some(orders);
        match proved.or(known) {
            Some(orders) => {
                let mut witness = by(orders).of(level);
                witness.reads = self.shown_writes(orders);
                Some(witness)
            }
            None if GUARANTEES.contains(&level) && self.open_reads.is_empty() => {
                by(orders).of_guarantee(level)
            }
            None => None,
        }
    }

    /// Complete orders of versions from what the search found: transactions on no possible cycle stand as the known
    /// edges lead.
    pub(super) fn proofs(
        &self,
        all: &Dependencies,
        orders: &Orders,
        found: Vec<(Level, FoundOrder)>,
    ) -> Vec<Proof> {
        if found.is_empty() {
            return Vec::new();
        }
        let of = self.possible_components(all, Some(orders)).of;
        let proof = |(level, order): (Level, FoundOrder)| {
            let ranks = self.ranks(all, &of, &order);
            let mut completed = orders.completed(&ranks, level.order());
            for open in self.possible_versions(all, &completed) {
                let writer = order.shown.get(&open.read);
                let is_shown = |version: &u32| writer == Some(&completed.writers[*version as usize]);
                let chosen = open.versions.iter().copied().find(is_shown).unwrap_or(open.versions[0]);
                completed.observed[open.read as usize] = chosen;
            }
            Proof { levels: vec![level], orders: completed }
        };
        found.into_iter().map(proof).collect()
    }

    /// What reads with several possible writers show.
    fn shown_writes(&self, orders: &Orders) -> Vec<ShownWrites> {
        let shown = self.open_reads.iter().map(|open| {
            let version = orders.observed[open.read as usize];
            ShownWrites { read: open.read, writes: vec![write_of(orders, version)], is_list: false }
        });
        shown.collect()
    }

    /// A rank for each transaction: by component, then as the search found.
    fn ranks(&self, all: &Dependencies, of: &[u32], found: &FoundOrder) -> Vec<u32> {
        let mut places = vec![0; self.history.transaction_count()];
        for &(transaction, place) in &found.places {
            places[transaction as usize] = place;
        }
        let mut nodes: Vec<u32> = (0..all.len() as u32).collect();
        nodes.sort_by_key(|&node| (of[node as usize], places[all.transactions[node as usize] as usize]));
        let mut ranks = vec![0; places.len()];
        nodes
            .iter()
            .zip(0..)
            .for_each(|(&node, rank)| ranks[all.transactions[node as usize] as usize] = rank);
        ranks
    }
}
