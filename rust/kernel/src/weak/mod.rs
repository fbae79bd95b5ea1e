//! Read committed, read atomic and causal, from values alone.
//!
//! Biswas and Enea's axioms (OOPSLA 2019) with the patterns of Plume (OOPSLA 2024);
//! `reference/weak.py` is the specification. A level holds if the commit order that its axiom demands
//! has no cycle; the strongest level asked for is looked at first, because it decides the others if it holds.

pub mod agreement;
pub mod alternatives;
pub mod anomalies;
pub mod causal;
pub mod clocked_guess;
pub mod clocks;
pub mod commits;
pub mod dependencies;
pub mod direct;
pub mod explained;
pub mod guessed_order;
pub mod open_reads;
pub mod reader;
pub mod recorded_order;
mod rows;
mod serial_order;
pub mod tree_clock;
pub mod witness;

use crate::cancel::Cancel;
use crate::graph::{Components, Edges, Graph};
use crate::history::History;
use crate::observations::{INITIAL, Observations};
use alternatives::{Effort, HappensBeforeMethod};
use anomalies::{Conflict, Namer, WeakAnomaly};
use causal::Demands;
use clocks::HappensBefore;
use dependencies::Dependencies;
use guessed_order::Guess;
use reader::WeakLevel;
use recorded_order::RecordedOrder;
use std::cell::LazyCell;
use witness::{Finding, Witnesses};

/// What was found of the levels up to the strongest one asked for.
#[derive(Debug)]
pub struct Judgement {
    /// Whether read committed, read atomic, causal are violated by their axioms; a level that is missing
    /// could not be decided, because there are too many sessions.
    pub violated: Vec<bool>,
    /// Whether sources of the order of versions contradict each other, and lead to different answers.
    pub contradictory: Vec<bool>,
    /// How often each name was found.
    pub counts: [u64; WeakAnomaly::COUNT],
    /// Whether there may be more, because not all sessions could be looked at together.
    pub is_partial: bool,
    /// The first of each name, with their proofs.
    pub findings: Vec<Finding>,
    /// How many demands on the commit order were kept for the strongest level.
    pub demands: usize,
    /// What happens-before cost, if it was computed with tree clocks or by traversal.
    pub effort: Effort,
    /// For each level that holds, and if asked for: transactions in a commit order that satisfies its axiom.
    pub orders: Vec<Option<Vec<u32>>>,
}

impl Judgement {
    /// Every level up to the strongest one asked for holds.
    fn all_hold(question: Question) -> Self {
        let levels = question.strongest as usize + 1;
        Self {
            violated: vec![false; levels],
            contradictory: vec![false; levels],
            counts: [0; WeakAnomaly::COUNT],
            is_partial: false,
            findings: Vec::new(),
            demands: 0,
            effort: Effort::default(),
            orders: vec![None; levels],
        }
    }
}

/// What to judge, and how.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// The strongest level to judge; those below it are judged too.
    pub strongest: WeakLevel,
    /// How many findings of each name to show.
    pub max_anomalies: usize,
    /// How to compute happens-before.
    pub method: HappensBeforeMethod,
    /// How much may be done and held.
    pub limits: Limits,
    /// Whether a commit order of each level that holds is given.
    pub keeps_orders: bool,
}

impl Question {
    /// The levels up to `strongest`, in the usual way.
    #[must_use]
    pub fn new(strongest: WeakLevel, max_anomalies: usize) -> Self {
        let (method, limits) = (HappensBeforeMethod::default(), Limits::default());
        Self { strongest, max_anomalies, method, limits, keeps_orders: false }
    }
}

/// Bounds for histories with very many sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of the clocks: about (reads * sessions).
    pub steps: usize,
    /// Bytes of clocks that are held at once to name what was found.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1 << 35, bytes: 1 << 30 }
    }
}

/// Judges the levels up to the strongest one asked for.
#[must_use]
pub fn judge(
    history: &History,
    observations: &Observations,
    question: Question,
    cancel: &Cancel,
) -> Judgement {
    judge_in_order(history, observations, question, RecordedOrder::default(), cancel)
}

/// The same with what is recorded of the order of versions.
fn judge_in_order(
    history: &History,
    observations: &Observations,
    question: Question,
    recorded: RecordedOrder,
    cancel: &Cancel,
) -> Judgement {
    if let Some(order) = serial_order::find(history, observations, question, &recorded) {
        let mut judgement = Judgement::all_hold(question);
        if question.keeps_orders {
            judgement.orders.fill(Some(order));
        }
        return judgement;
    }
    let dependencies = Dependencies::new(history, observations, recorded);
    let order = LazyCell::new(|| dependencies.graph(&[]).components());
    let mut effort = Effort::default();
    let mut violated = vec![false; question.strongest as usize + 1];
    let mut is_partial = false;
    let mut strongest = question.strongest;
    let mut guessed = None;
    let demands = match causal(&dependencies, &order, question, &mut effort, cancel) {
        Answer::Demands(demands) => demands,
        Answer::PartialDemands(demands) => {
            is_partial = true;
            demands
        }
        Answer::Holds(order) => {
            guessed = Some(order);
            Demands::default()
        }
        Answer::Undecided => {
            if strongest == WeakLevel::Causal {
                strongest = WeakLevel::ReadAtomic;
                violated.pop();
            }
            direct::demands_of(&dependencies, strongest, cancel)
        }
    };
    let kept = demands.edges.len();
    let components = guessed.unwrap_or_else(|| commit_order(&dependencies, &demands.edges).components());
    if !components.is_cyclic() && demands.contradiction.is_none() {
        let mut judgement = Judgement::all_hold(Question { strongest, ..question });
        if question.keeps_orders {
            judgement.orders.fill(Some(commits::checked(&dependencies, &components, &demands, cancel)));
        }
        return Judgement { demands: kept, effort, ..judgement };
    }
    let mut levels = Vec::from(direct::demands(&dependencies, cancel));
    levels.truncate(strongest as usize);
    levels.push(demands);
    let broken = Broken { dependencies: &dependencies, order: &order, levels, cancel };
    let broken = broken.judge(question.max_anomalies, question.limits.bytes, question.keeps_orders);
    Judgement { demands: kept, effort, is_partial: is_partial || broken.is_partial, ..broken }
}

/// What is known of the causal level.
enum Answer {
    /// All its demands.
    Demands(Demands),
    /// Some of its demands, which cannot be met.
    PartialDemands(Demands),
    /// It holds, and so do the weaker levels: this is a commit order.
    Holds(Components),
    /// It was not asked for, or there are too many sessions.
    Undecided,
}

fn causal(
    dependencies: &Dependencies<'_>,
    order: &LazyCell<Components, impl FnOnce() -> Components>,
    question: Question,
    effort: &mut Effort,
    cancel: &Cancel,
) -> Answer {
    let is_asked = question.strongest == WeakLevel::Causal;
    if !is_asked && !question.keeps_orders {
        // A guess costs more than the demands of the weaker levels.
        return Answer::Undecided;
    }
    let method = question.method;
    // What happens before itself has no place in an order or a tree, and traversals would not end.
    if is_asked
        && matches!(method, HappensBeforeMethod::TreeClocks | HappensBeforeMethod::Traversal)
        && !order.is_cyclic()
    {
        let (demands, cost) = alternatives::demands(dependencies, order, method, cancel);
        *effort = cost;
        return Answer::Demands(demands);
    }
    let steps = dependencies.read_count().saturating_mul(dependencies.row_starts.len());
    let is_affordable = steps <= question.limits.steps;
    // Orders that are given out stay those of one search.
    let is_clocked = method == HappensBeforeMethod::Lazy && is_asked && !question.keeps_orders;
    // A commit order that shows causal shows the weaker levels too.
    if is_clocked && is_affordable && clocked_guess::fits(dependencies) && !order.is_cyclic() {
        let found = clocked_guess::find(dependencies, order, cancel);
        return found
            .map_or_else(|| Answer::Demands(causal::demands(dependencies, order, cancel)), Answer::Holds);
    }
    let guess = match method {
        HappensBeforeMethod::Lazy => {
            guessed_order::guess(dependencies, patience(dependencies, question.strongest), cancel)
        }
        _ => Guess::Open,
    };
    match guess {
        Guess::Holds(order) => Answer::Holds(order),
        _ if !is_asked => Answer::Undecided,
        _ if is_affordable => Answer::Demands(causal::demands(dependencies, order, cancel)),
        Guess::Violated(demands) if !order.is_cyclic() => Answer::PartialDemands(demands),
        Guess::Violated(_) | Guess::Open => Answer::Undecided,
    }
}

/// How many visits guessing is worth: a part of what the surer way would cost.
fn patience(dependencies: &Dependencies<'_>, strongest: WeakLevel) -> usize {
    let steps = dependencies.read_count().saturating_mul(dependencies.row_starts.len());
    dependencies.node_count() + if strongest == WeakLevel::Causal { steps / 32 } else { 0 }
}

pub(crate) fn commit_order<'e>(dependencies: &'e Dependencies<'_>, demands: &'e Edges) -> Graph<'e> {
    dependencies.graph(&[&dependencies.successions, demands])
}

/// A history that breaks the strongest level asked for: what exactly is wrong with it?
struct Broken<'d, 'h> {
    dependencies: &'d Dependencies<'h>,
    /// Components of session order and write-read.
    order: &'d Components,
    /// The demands of each level.
    levels: Vec<Demands>,
    cancel: &'d Cancel,
}

impl Broken<'_, '_> {
    fn judge(&self, max_anomalies: usize, bytes: usize, keeps_orders: bool) -> Judgement {
        let components: Vec<Components> = self
            .levels
            .iter()
            .map(|demands| commit_order(self.dependencies, &demands.edges).components())
            .collect();
        let violated = components.iter().zip(&self.levels);
        let violated: Vec<bool> =
            violated.map(|(found, level)| found.is_cyclic() || level.contradiction.is_some()).collect();
        let contradictory = vec![false; violated.len()];
        let order = |level: WeakLevel| {
            let is_kept = keeps_orders && !violated[level as usize];
            let (components, demands) = (&components[level as usize], &self.levels[level as usize]);
            is_kept.then(|| commits::checked(self.dependencies, components, demands, self.cancel))
        };
        let orders = WeakLevel::ALL[..violated.len()].iter().map(|&level| order(level)).collect();
        let mut rows = self.rows(components.last());
        let room = HappensBefore::rows_in(self.dependencies, bytes);
        let is_partial = rows.len() > room;
        rows.truncate(room);
        let happens_before = HappensBefore::new(self.dependencies, self.order, rows, self.cancel);
        let namer = Namer {
            dependencies: self.dependencies,
            happens_before: &happens_before,
            components: &components,
        };
        let (of_conflicts, mut conflicts) = namer.conflicts(max_anomalies, self.cancel);
        let demands = self.levels.iter().map(|level| &level.edges).collect();
        let witnesses = Witnesses::new(self.dependencies, &happens_before, demands);
        let mut counts = [0; WeakAnomaly::COUNT];
        counts[..of_conflicts.len()].copy_from_slice(&of_conflicts);
        if is_partial
            && of_conflicts.iter().all(|&count| count == 0)
            && let Some(conflict) = any_conflict(&witnesses, &components)
        {
            counts[conflict.name as usize] += 1;
            conflicts.push(conflict);
        }
        let unasked = |_: &&Conflict| !self.cancel.is_asked();
        let mut findings: Vec<Finding> =
            conflicts.iter().take_while(unasked).map(|found| witnesses.of_conflict(found)).collect();
        for (name, group) in self.cycles() {
            counts[name as usize] += 1;
            if counts[name as usize] <= max_anomalies as u64 && !self.cancel.is_asked() {
                findings.push(witnesses.of_cycle(name, &group));
            }
        }
        let (demands, effort) = (0, Effort::default());
        Judgement { violated, contradictory, counts, is_partial, findings, demands, effort, orders }
    }

    /// Rows that conflicts may be about: one that must not be missed, those on cycles, short cycles first,
    /// and those that write a key whose initial value was read.
    fn rows(&self, components: Option<&Components>) -> Vec<u32> {
        let Dependencies { rows, .. } = self.dependencies;
        let mut cycles: Vec<&[u32]> = components.into_iter().flat_map(Components::cycles).collect();
        cycles.sort_by_key(|group| group.len());
        let on_cycles = cycles.into_iter().flatten().filter_map(|&node| rows.get(node as usize).copied());
        let contradictions: Vec<u32> = self.levels.iter().filter_map(|level| level.contradiction).collect();
        let mut found: Vec<u32> = contradictions.iter().map(|&newer| rows[newer as usize]).collect();
        found.extend(on_cycles);
        if !contradictions.is_empty() {
            let nodes = 0..self.dependencies.len() as u32;
            let reads = nodes.flat_map(|node| self.dependencies.reads(node));
            let mut keys: Vec<u32> =
                reads.filter(|read| read.source == INITIAL).map(|read| read.key).collect();
            keys.sort_unstable();
            keys.dedup();
            let writers = keys.into_iter().flat_map(|key| self.dependencies.writers(key));
            found.extend(writers.map(|&writer| rows[writer as usize]));
        }
        let mut known = vec![false; self.dependencies.row_starts.len()];
        found.retain(|&row| !std::mem::replace(&mut known[row as usize], true));
        found
    }

    /// Components with several transactions that no demand is needed for, in the order of the history.
    fn cycles(&self) -> Vec<(WeakAnomaly, Vec<u32>)> {
        let Dependencies { sessions, successions, .. } = self.dependencies;
        let nodes = self.dependencies.len();
        let writes = Graph { rows: sessions, edges: vec![successions], nodes }.components();
        let base = self.dependencies.graph(&[successions]).components();
        let mut explained = self.order.on_cycle();
        for (node, on_cycle) in writes.on_cycle().into_iter().enumerate() {
            explained[node] |= on_cycle;
        }
        let flows = base.cycles().filter(|group| !group.iter().any(|&node| explained[node as usize]));
        let causal = self.order.cycles().map(|group| (WeakAnomaly::CyclicCausalOrder, group));
        let writes = writes.cycles().map(|group| (WeakAnomaly::WriteCycle, group));
        let flows = flows.map(|group| (WeakAnomaly::CircularInformationFlow, group));
        let mut found: Vec<(WeakAnomaly, Vec<u32>)> =
            causal.chain(writes).chain(flows).map(|(name, group)| (name, self.transactions(group))).collect();
        found.sort_by_key(|(name, group)| {
            let first = group.iter().map(|&node| self.dependencies.transactions[node as usize]).min();
            (*name, first)
        });
        found
    }

    fn transactions(&self, group: &[u32]) -> Vec<u32> {
        group.iter().copied().filter(|&node| (node as usize) < self.dependencies.len()).collect()
    }
}

/// One conflict of the weakest level that is broken, to show at least that.
fn any_conflict(witnesses: &Witnesses<'_, '_>, components: &[Components]) -> Option<Conflict> {
    let classes = [WeakLevel::ReadCommitted, WeakLevel::ReadAtomic, WeakLevel::Causal];
    let mut broken = components.iter().zip(classes).filter(|(found, _)| found.is_cyclic());
    broken.find_map(|(found, class)| {
        let shortest = found.cycles().min_by_key(|group| group.len())?;
        witnesses.any_conflict(shortest, class)
    })
}
