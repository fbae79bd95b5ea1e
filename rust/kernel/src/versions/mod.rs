//! Levels from a known version order: Adya's hierarchy, PSI, snapshot isolation, serializability, real time.
//!
//! The specification is `reference/adya.py`. A cycle of known edges breaks a level; where the order of some
//! versions is open, a search for an order that closes no cycle decides. All cycles of all levels lie
//! within the components of one graph, so that after one pass over the history only those are looked at.

mod acyclic_levels;
pub mod adjacent_versions;
pub mod anomalies;
mod clock_order;
pub mod completion;
pub mod dependencies;
mod dependency_cycles;
pub mod event_graph;
pub mod explained;
mod guess;
pub mod level_cycles;
mod level_outcomes;
pub mod levels;
mod likely_order;
pub mod lookup;
pub mod lost_updates;
mod open_reads;
mod order_anomalies;
pub mod orders;
mod phantoms;
mod proofs;
#[cfg(test)]
pub(crate) mod random;
pub mod reachability;
mod recorded_graph;
mod replayed_order;
mod saturation;
mod search_times;
pub mod session_guarantees;
pub mod shortest_paths;
mod skews;
pub mod statistics;
pub mod transaction_times;
pub mod version_paths;
pub mod version_readers;
pub mod witness;
pub mod witness_order;

use crate::cancel::Cancel;
use crate::explanations::OpenRead;
use crate::graph::Components;
use crate::history::History;
use crate::named_enum::named_enum;
use crate::observations::{INITIAL, Observations};
use crate::predicates::first_transactions;
use crate::solver::{Budget, Progress};
use anomalies::{Named, VersionAnomaly};
pub use clock_order::ordered_by_clock;
use completion::{Answer, Completion, FoundOrder, Group, decide_groups};
use dependencies::{Dependencies, Order, components};
use level_outcomes::{LevelOutcomes, no_commit_order};
use levels::{Level, cycles};
use lookup::Lookup;
use order_anomalies::OrderAnomalies;
use orders::ordered_keys::OrderedKeys;
use orders::{Claims, Orders, Source};
use phantoms::Circles;
pub use recorded_graph::{edges, ordered, recorded, recorded_by};
use search_times::{SearchTimes, Searching};
use session_guarantees::GUARANTEES;
use transaction_times::TransactionTimes;
use version_readers::Readers;
use witness_order::WitnessOrder;

/// Levels that are judged by cycles, a stronger one behind those that it implies.
const JUDGED: [Level; Level::COUNT - GUARANTEES.len()] = {
    let mut levels = [Level::Pl1; Level::COUNT - GUARANTEES.len()];
    let mut place = 0;
    while place < levels.len() {
        levels[place] = Level::ALL[place];
        place += 1;
    }
    levels
};
/// In larger histories only transactions on known cycles are looked at for names: what open registers may add
/// would be most of the history.
const NAMED_WITH_OPEN: usize = 10_000;

named_enum! {
    /// The answer for one level.
    pub enum Outcome {
        Holds => "holds",
        Violated => "violated",
        /// Some transaction has no real time.
        Untimed => "untimed",
        /// The search for an order of versions was too long.
        Spent => "search-too-long",
        /// Sources of the version order contradict each other, and so do their verdicts.
        Contradictory => "contradictory",
    }
}

/// What is asked.
pub struct Question<'q> {
    /// What the user claims.
    pub claims: Claims,
    /// So many findings of each name are kept.
    pub max_anomalies: usize,
    /// What the search may cost.
    pub budget: Budget,
    /// Whether nothing follows from versions that came after what range reads left out.
    pub is_of_items: bool,
    /// Levels that are asked for; nothing: all. An order of open versions is searched for other levels only if
    /// one of these stays unknown.
    pub asked: Option<&'q [Level]>,
    /// Levels whose witness is given if they hold; not of one that stands behind a level that implies it and has one.
    pub witnessed: &'q [Level],
}

impl Question<'_> {
    /// Whether an order is searched for a level at first: it is asked for, or it proves one that is with less to
    /// choose, because sessions have an order.
    fn comes_first(&self, level: Level) -> bool {
        let Some(asked) = self.asked else { return true };
        let is_plain = |other: &Level| other.order() == Order::Plain && asked.contains(other);
        let proves = level.order() == Order::Session && level.implied().iter().any(is_plain);
        proves || asked.contains(&level)
    }

    /// Whether it is told why a level is broken: it is asked for, or one that implies it.
    fn tells(&self, level: Level) -> bool {
        let is_of = |&asked: &Level| asked == level || witness_order::implies(asked, level);
        self.asked.is_none_or(|asked| asked.iter().any(is_of))
    }
}

/// Everything found.
#[derive(Debug)]
pub struct Judgement {
    /// By level.
    pub outcomes: [Outcome; Level::COUNT],
    /// Counts by name, and the first of each.
    pub named: Named,
    /// How many keys each source orders.
    pub ordered: Vec<OrderedKeys>,
    /// Whether an append has no version, because others appended the same element.
    pub has_unsure_appends: bool,
    /// Keys with such appends, or with recorded rows of values that several transactions may have written.
    pub unsure_keys: Vec<u32>,
    /// Levels that were decided by what may explain repeated values.
    pub explained: Vec<Level>,
    /// How far each search came that was too long.
    pub progress: Vec<(Level, Progress)>,
    /// Why levels hold, of those whose witness was asked for.
    pub witnesses: Vec<WitnessOrder>,
}

/// Judges all levels that speak of versions.
#[must_use]
pub fn judge(
    history: &History,
    observations: &Observations,
    question: &Question<'_>,
    cancel: &Cancel,
) -> Judgement {
    let search_times = &SearchTimes::new(question);
    judge_within(
        history,
        observations,
        question,
        Searching { times: search_times, is_first_look: false },
        cancel,
    )
}

/// The same, as far as the time for searches lasts.
fn judge_within(
    history: &History,
    observations: &Observations,
    question: &Question<'_>,
    searching: Searching<'_>,
    cancel: &Cancel,
) -> Judgement {
    let times = TransactionTimes::new(history, &observations.counted);
    let first = first_transactions(history);
    let judge = |believed| {
        let (first, open_reads) = (&first[..], &[][..]);
        let times = &times;
        Judge { history, observations, times, question, searching, believed, first, open_reads, cancel }.run()
    };
    let (all, orders) = judge(None);
    if orders.contradictions.is_empty() {
        return all;
    }
    let alone: Vec<Judgement> = orders.speaking.iter().map(|&source| judge(Some(source)).0).collect();
    let mut alone = alone.into_iter();
    let Some(mut first) = alone.next() else { return all };
    for mut other in alone {
        first.witnesses.append(&mut other.witnesses);
        for (outcome, other) in first.outcomes.iter_mut().zip(other.outcomes) {
            if *outcome != other {
                *outcome = Outcome::Contradictory;
            }
        }
    }
    first.named.adopt(all.named, VersionAnomaly::ContradictoryEvidence);
    first.witnesses.retain(|witness| first.outcomes[witness.level as usize] == Outcome::Holds);
    first
}

struct Judge<'j> {
    history: &'j History,
    observations: &'j Observations,
    times: &'j TransactionTimes,
    question: &'j Question<'j>,
    searching: Searching<'j>,
    believed: Option<Source>,
    first: &'j [u32],
    /// Reads that several transactions may have served.
    open_reads: &'j [OpenRead],
    cancel: &'j Cancel,
}

impl Judge<'_> {
    fn run(&self) -> (Judgement, Orders) {
        let orders = self.orders(self.question.is_of_items);
        let all = self.dependencies(&orders);
        let lookup = Lookup::new(self.history, self.observations, &orders, self.times);
        let circles = self.circles(&all, &lookup);
        let mut named = self.named(&circles);
        let found = circles.found;
        let max_anomalies = self.question.max_anomalies;
        OrderAnomalies { history: self.history, orders: &orders, max_anomalies }.add(&mut named);
        let mut levels = LevelOutcomes::new(&found, &orders, self.open_reads.is_empty());
        let mut proofs = Vec::new();
        let guess = self.suppose(&all, &lookup, &mut levels, &mut proofs);
        let mut progress = Vec::new();
        let is_open = !orders.is_complete() || !self.open_reads.is_empty();
        if is_open
            && !self.is_settled(&levels)
            && JUDGED.into_iter().any(|level| self.is_asked(level, &levels))
        {
            let (small, components) = self.on_cycles(&all, Some(&orders));
            let groups = Group::all(small, components);
            let keeps = !self.question.witnessed.is_empty();
            let completions = groups.iter().map(|Group { small, components }| {
                let reads = self.possible_versions(small, &orders);
                Completion::new(small, components, &lookup, &guess, reads, keeps)
            });
            let completions: Vec<Completion<'_, '_>> = completions.collect();
            let mut found = Vec::new();
            progress = self.complete(&completions, &mut levels, &mut named, &mut found);
            proofs.extend(self.proofs(&all, &orders, found));
        }
        levels.look_at_guarantees(&all, &lookup, self.open_reads.is_empty(), &mut named);
        let outcomes = levels.outcomes(self.times.is_complete);
        named.findings.sort_by_key(|finding| finding.name);
        let witnesses = self.witnesses(&outcomes, &all, lookup, &proofs);
        let has_unsure_appends = orders.has_unsure_appends;
        let (ordered, unsure_keys, explained) = (orders.extent(), orders.unsure_keys.clone(), Vec::new());
        let judgement = Judgement {
            outcomes,
            named,
            ordered,
            has_unsure_appends,
            unsure_keys,
            explained,
            progress,
            witnesses,
        };
        (judgement, orders)
    }

    /// The versions and what is known of their order, by what this judge believes.
    fn orders(&self, is_of_items: bool) -> Orders {
        let question = orders::Question {
            history: self.history,
            observations: self.observations,
            times: self.times,
            claims: self.question.claims,
            believed: self.believed,
            first: self.first,
            is_of_items,
        };
        Orders::new(&question, self.cancel)
    }

    fn dependencies(&self, orders: &Orders) -> Dependencies {
        Dependencies::new(self.history, self.observations, orders, self.times)
    }

    /// The circles of these dependencies.
    fn circles<'l, 'h>(&self, all: &Dependencies, lookup: &'l Lookup<'h>) -> Circles<'l, 'h> {
        let open = (all.len() <= NAMED_WITH_OPEN).then_some(lookup.orders);
        let small = self.on_cycles(all, open).0;
        let found = cycles(&small, lookup, self.cancel);
        Circles { small, lookup, found }
    }

    /// What is on a cycle of all edges, or might be if open registers were ordered in some way; with the
    /// component of each node. Appends on no such cycle can follow the edges, whatever the order of registers.
    fn on_cycles(&self, all: &Dependencies, open: Option<&Orders>) -> (Dependencies, Vec<u32>) {
        let found = self.possible_components(all, open);
        let (small, kept) = all.on_cycles(&found);
        (small, kept.into_iter().map(|node| found.of[node as usize]).collect())
    }

    fn possible_components(&self, all: &Dependencies, open: Option<&Orders>) -> Components {
        let mut pairs = all.session_pairs(true);
        let mut nodes = all.nodes() as u32;
        if let Some(orders) = open {
            self.possible(all, orders, &mut nodes, &mut pairs);
        }
        let mut lists: Vec<&[(u32, u32)]> = vec![&all.ww, &all.wr, &all.real_time, &pairs];
        lists.extend(all.believed(Order::RealTime));
        components(&crate::graph::Edges::collected(nodes as usize, &lists), nodes as usize)
    }

    /// Writers of a register whose order is open may follow each other in any way, and its readers may
    /// come before any of them.
    fn possible(&self, all: &Dependencies, orders: &Orders, next: &mut u32, pairs: &mut dependencies::Pairs) {
        let mut node_of = vec![u32::MAX; self.history.transaction_count()];
        all.transactions.iter().zip(0..).for_each(|(&t, node)| node_of[t as usize] = node);
        let readers = Readers::new(self.history, orders, &all.transactions);
        for (order, key) in orders.keys.iter().zip(0..) {
            let first = self.open_reads.partition_point(|open| open.key < key);
            let reads = self.open_reads[first..].iter().take_while(|open| open.key == key);
            let open: Vec<u32> = reads.map(|open| node_of[open.transaction as usize]).collect();
            if !orders.is_open_register(order) && open.is_empty() {
                continue;
            }
            // Such a read may come before or after any writer.
            pairs.extend(open.iter().flat_map(|&reader| [(reader, *next), (*next, reader)]));
            for version in order.start..order.end {
                let writer = orders.writers[version as usize];
                if writer != INITIAL {
                    let node = node_of[writer as usize];
                    pairs.extend([(node, *next), (*next, node)]);
                    pairs.extend(readers.of(version).iter().map(|&reader| (*next, reader)));
                }
            }
            *next += 1;
        }
    }

    fn is_asked(&self, level: Level, levels: &LevelOutcomes) -> bool {
        let is_untimed = !self.times.is_known && !self.times.is_complete;
        !levels.is_known(level) && (level.order() != Order::RealTime || !is_untimed)
    }

    /// Whether all that is asked for is known.
    fn is_settled(&self, levels: &LevelOutcomes) -> bool {
        self.question.asked.is_some_and(|asked| asked.iter().all(|&level| levels.is_known(level)))
    }

    /// Searches for an order of the open versions, level by level, the strongest first. Returns how far the searches
    /// came that were too long.
    fn complete(
        &self,
        completions: &[Completion<'_, '_>],
        levels: &mut LevelOutcomes,
        named: &mut Named,
        found: &mut Vec<(Level, FoundOrder)>,
    ) -> Vec<(Level, Progress)> {
        let mut progress = Vec::new();
        let (first, others): (Vec<Level>, Vec<Level>) =
            JUDGED.into_iter().rev().partition(|&level| self.question.comes_first(level));
        let others = if self.searching.is_first_look { Vec::new() } else { others };
        for level in first.into_iter().chain(others) {
            if !self.is_asked(level, levels) {
                continue;
            }
            if self.is_settled(levels) {
                break;
            }
            let budget = self.searching.times.budget(self.question, level);
            let tells = self.question.tells(level);
            let decide = || decide_groups(completions, level, budget, tells, self.cancel);
            let decision = self.searching.times.counted(self.question, level, decide);
            found.extend(decision.found.map(|order| (level, order)));
            match decision.answer {
                Answer::Found => levels.prove(level),
                Answer::Impossible => {
                    levels.refute(level);
                    named.counts[VersionAnomaly::NoCommitOrder as usize] += 1;
                    named.findings.push(no_commit_order(level, decision.alternatives));
                }
                Answer::Unknown(came) => progress.push((level, came)),
            }
        }
        progress
    }
}
