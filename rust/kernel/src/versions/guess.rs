//! A guess at the order of all transactions: whatever it does not break holds, and a search starts from it.

use super::acyclic_levels::acyclic_levels;
use super::dependencies::{Dependencies, Order};
use super::level_outcomes::LevelOutcomes;
use super::likely_order::told_order;
use super::lookup::Lookup;
use super::open_reads::{PossibleVersions, suppose_versions};
use super::replayed_order::replayed_order;
use super::saturation::{Saturation, saturate};
use super::version_readers::Readers;
use super::witness_order::Proof;
use super::{JUDGED, Judge};

/// A replay of more transactions fails somewhere, unless the order of the file is a good hint.
const REPLAYED: usize = 100_000;

/// What is guessed, and what follows, for each order of transactions.
#[derive(Debug, Default)]
pub struct Guess {
    /// A likely place of each transaction; nothing if only appends are open.
    pub ranks: [Vec<u32>; 3],
    /// Pairs of transactions (before, after) that follow at serializability with this order.
    pub follows: [Vec<(u32, u32)>; 3],
}

impl Judge<'_> {
    /// Orders open versions of registers as a guess suggests, and proves the levels that this order does not break.
    pub(super) fn suppose(
        &self,
        all: &Dependencies,
        lookup: &Lookup<'_>,
        levels: &mut LevelOutcomes,
        proofs: &mut Vec<Proof>,
    ) -> Guess {
        let mut guessing = Guessing {
            judge: self,
            all,
            lookup,
            reads: self.possible_versions(all, lookup.orders),
            levels,
            proofs,
            guess: Guess::default(),
        };
        if lookup.orders.has_open_registers() || !self.open_reads.is_empty() {
            guessing.run();
        }
        guessing.guess
    }
}

struct Guessing<'g, 'h> {
    judge: &'g Judge<'h>,
    all: &'g Dependencies,
    lookup: &'g Lookup<'g>,
    reads: Vec<PossibleVersions>,
    levels: &'g mut LevelOutcomes,
    proofs: &'g mut Vec<Proof>,
    guess: Guess,
}

impl Guessing<'_, '_> {
    fn run(&mut self) {
        let is_blind = told_order(self.all, self.lookup).is_none();
        let mut saturated: Option<Order> = None;
        for order in Order::ALL.into_iter().rev() {
            let is_untimed = order == Order::RealTime && !self.judge.times.is_complete;
            if is_untimed || self.judge.cancel.is_asked() || !self.is_open(order) {
                continue;
            }
            if let Some(stronger) = saturated {
                // Another replay would hardly do better than what follows with more order.
                let ranks = self.guess.ranks[stronger as usize].clone();
                self.guess.ranks[order as usize] = ranks;
                continue;
            }
            if !is_blind {
                self.guess.ranks[order as usize] = self.replay(order, None);
            }
            if (is_blind || self.is_open(order)) && self.saturate(order) {
                saturated = Some(order);
            }
            if self.guess.ranks[order as usize].is_empty() {
                self.guess.ranks[order as usize] = self.replay(order, None);
            }
        }
    }

    /// Whether a level with no more order than this is neither proved nor broken.
    fn is_open(&self, order: Order) -> bool {
        JUDGED.into_iter().any(|level| level.order() <= order && !self.levels.is_known(level))
    }

    /// Replays with what follows from the sessions; whether something does.
    fn saturate(&mut self, order: Order) -> bool {
        let (all, orders, cancel) = (self.all, self.lookup.orders, self.judge.cancel);
        let readers = Readers::new(self.judge.history, orders, &all.transactions);
        let Some(saturation) = saturate(all, orders, &readers, order, cancel) else { return false };
        if all.len() <= REPLAYED {
            self.replay(order, Some(&saturation));
        }
        // A search repairs what is near, and where a replay failed it may be far.
        let nodes: Vec<u32> = (0..all.len() as u32).collect();
        let mut ranks = vec![0; self.judge.history.transaction_count()];
        for (&place, &transaction) in saturation.places(&nodes).iter().zip(&all.transactions) {
            ranks[transaction as usize] = place;
        }
        self.guess.ranks[order as usize] = ranks;
        let transaction = |node: u32| all.transactions[node as usize];
        let edges = saturation.edges.iter();
        self.guess.follows[order as usize] =
            edges.map(|&(node, before)| (transaction(before), transaction(node))).collect();
        true
    }

    /// The place of each transaction in a replay; proves what that order does not break.
    fn replay(&mut self, order: Order, saturation: Option<&Saturation>) -> Vec<u32> {
        let (judge, all) = (self.judge, self.all);
        let ranks = replayed_order(all, self.lookup, order, &self.reads, saturation);
        let mut supposed = self.lookup.orders.completed(&ranks, order);
        let reads = judge.possible_versions(all, &supposed);
        suppose_versions(&reads, all, &ranks, &mut supposed);
        let all = Dependencies::new(judge.history, judge.observations, &supposed, judge.times);
        let small = judge.on_cycles(&all, None).0;
        if judge.cancel.is_asked() {
            return ranks;
        }
        let levels = acyclic_levels(&small, order);
        for &level in &levels {
            self.levels.prove(level);
        }
        if !judge.question.witnessed.is_empty() {
            self.proofs.push(Proof { levels, orders: supposed, evaluated: Some(all) });
        }
        ranks
    }
}
