//! Orders that prove levels, as witnesses of those that were asked for.

use super::completion::FoundOrder;
use super::dependencies::Dependencies;
use super::levels::Level;
use super::lookup::Lookup;
use super::orders::Orders;
use super::session_guarantees::GUARANTEES;
use super::witness_order::{Proof, ShownWrites, WitnessOrder, Witnessed, implies, write_of};
use super::{Judge, Outcome};
use std::borrow::Cow;
use std::cell::OnceCell;

impl Judge<'_> {
    /// Why levels hold, of those whose witness was asked for. A level behind one that implies it has the same witness.
    /// `all` and `lookup` are of what is known of the order of versions.
    pub(super) fn witnesses(
        &self,
        outcomes: &[Outcome; Level::COUNT],
        all: &Dependencies,
        lookup: Lookup<'_>,
        proofs: &[Proof],
    ) -> Vec<WitnessOrder> {
        let asked = self.question.witnessed.iter().copied();
        let holding = asked.filter(|&level| outcomes[level as usize] == Outcome::Holds);
        let known = self.witnessed(Cow::Borrowed(all), lookup, true);
        let proved: Vec<OnceCell<Witnessed<'_>>> = proofs.iter().map(|_| OnceCell::new()).collect();
        let mut made: Vec<WitnessOrder> = Vec::new();
        for level in holding {
            if made.iter().any(|stronger| stronger.fault.is_empty() && implies(stronger.level, level)) {
                continue;
            }
            let proof = proofs.iter().zip(&proved).find(|(proof, _)| proof.covers(level));
            let proof = proof.map(|(proof, made)| made.get_or_init(|| self.proved(proof)));
            let witness = self.witness(level, &known, proof);
            made.extend(witness.map(|witness| WitnessOrder { believed: self.believed, ..witness }));
        }
        made
    }

    fn witnessed<'w>(
        &'w self,
        all: Cow<'w, Dependencies>,
        lookup: Lookup<'w>,
        is_evaluated: bool,
    ) -> Witnessed<'w> {
        let (history, times, cancel) = (self.history, self.times, self.cancel);
        Witnessed { history, times, all, lookup, is_evaluated, cancel }
    }

    /// The order of a proof with its graph; made once, because it may prove several levels.
    fn proved<'w>(&'w self, proof: &'w Proof) -> Witnessed<'w> {
        let (history, observations, times) = (self.history, self.observations, self.times);
        let all = match &proof.evaluated {
            Some(all) => Cow::Borrowed(all),
            None => Cow::Owned(Dependencies::new(history, observations, &proof.orders, times)),
        };
        let lookup = Lookup::new(history, observations, &proof.orders, times);
        self.witnessed(all, lookup, proof.evaluated.is_some())
    }

    fn witness(
        &self,
        level: Level,
        known: &Witnessed<'_>,
        proved: Option<&Witnessed<'_>>,
    ) -> Option<WitnessOrder> {
        let is_known = known.lookup.orders.is_complete() && self.open_reads.is_empty();
        match proved.or(is_known.then_some(known)) {
            Some(by) => {
                let mut witness = by.of(level);
                witness.reads = self.shown_writes(by.lookup.orders);
                Some(witness)
            }
            None if GUARANTEES.contains(&level) && self.open_reads.is_empty() => known.of_guarantee(level),
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
            Proof { levels: vec![level], orders: completed, evaluated: None }
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
