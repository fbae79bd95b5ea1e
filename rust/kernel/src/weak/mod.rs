//! Read committed, read atomic and causal, from values alone.
//!
//! Biswas and Enea's axioms (OOPSLA 2019) with the patterns of Plume (OOPSLA 2024);
//! `reference/weak.py` is the specification. A level holds if the commit order that its axiom demands
//! has no cycle; the strongest level asked for is looked at first, because it decides the others if it holds.

pub mod causal;
pub mod clocks;
pub mod dependencies;
pub mod direct;
pub mod names;
pub mod reader;
pub mod witness;

use crate::cancel::Cancel;
use crate::graph::{Components, Edges, Graph};
use crate::history::History;
use crate::observations::Observations;
use causal::Demands;
use clocks::HappensBefore;
use dependencies::Dependencies;
use names::{NAMES, Name, Namer};
use reader::Class;
use witness::{Finding, Witnesses};

/// What was found of the levels up to the strongest one asked for.
#[derive(Debug)]
pub struct Judgement {
    /// Whether read committed, read atomic, causal are violated by their axioms.
    pub violated: Vec<bool>,
    /// How often each name was found.
    pub counts: [u64; NAMES],
    /// The first of each name, with their proofs.
    pub findings: Vec<Finding>,
    /// How many demands on the commit order were kept for the strongest level.
    pub demands: usize,
}

/// Judges the levels up to `strongest`; shows the first `most` findings of each name.
#[must_use]
pub fn judge(
    history: &History,
    observations: &Observations,
    strongest: Class,
    most: usize,
    cancel: &Cancel,
) -> Judgement {
    let dependencies = Dependencies::new(history, observations);
    let order = dependencies.graph(&[]).components();
    let demands = match strongest {
        Class::Causal => causal::demands(&dependencies, &order, cancel),
        class => direct_demands(&dependencies, class, cancel),
    };
    let components = commit_order(&dependencies, &demands.edges).components();
    if !components.is_cyclic() && !demands.contradicts_initial {
        return Judgement {
            violated: vec![false; strongest as usize + 1],
            counts: [0; NAMES],
            findings: Vec::new(),
            demands: demands.edges.len(),
        };
    }
    let mut levels = Vec::from(direct::demands(&dependencies, cancel));
    levels.truncate(strongest as usize);
    levels.push(demands);
    Broken { dependencies: &dependencies, order: &order, levels, cancel }.judge(most)
}

fn direct_demands(dependencies: &Dependencies<'_>, class: Class, cancel: &Cancel) -> Demands {
    let [committed, atomic] = direct::demands(dependencies, cancel);
    if class == Class::ReadCommitted { committed } else { atomic }
}

fn commit_order<'e>(dependencies: &'e Dependencies<'_>, demands: &'e Edges) -> Graph<'e> {
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
    fn judge(&self, most: usize) -> Judgement {
        let components: Vec<Components> = self
            .levels
            .iter()
            .map(|demands| commit_order(self.dependencies, &demands.edges).components())
            .collect();
        let violated = components.iter().zip(&self.levels);
        let violated =
            violated.map(|(found, level)| found.is_cyclic() || level.contradicts_initial).collect();
        let happens_before = HappensBefore::new(self.dependencies, self.order, self.cancel);
        let namer = Namer {
            dependencies: self.dependencies,
            happens_before: &happens_before,
            components: &components,
        };
        let (of_conflicts, conflicts) = namer.conflicts(most, self.cancel);
        let demands = self.levels.iter().map(|level| &level.edges).collect();
        let witnesses = Witnesses::new(self.dependencies, &happens_before, demands);
        let mut counts = [0; NAMES];
        counts[..of_conflicts.len()].copy_from_slice(&of_conflicts);
        let mut findings: Vec<Finding> = conflicts.iter().map(|found| witnesses.of_conflict(found)).collect();
        for (name, group) in self.cycles() {
            counts[name as usize] += 1;
            if counts[name as usize] <= most as u64 {
                findings.push(witnesses.of_cycle(name, &group));
            }
        }
        let kept = self.levels.last().map_or(0, |level| level.edges.len());
        Judgement { violated, counts, findings, demands: kept }
    }

    /// Components with several transactions that no demand is needed for, in the order of the history.
    fn cycles(&self) -> Vec<(Name, Vec<u32>)> {
        let Dependencies { sessions, successions, .. } = self.dependencies;
        let nodes = self.dependencies.len();
        let writes = Graph { rows: sessions, edges: vec![successions], nodes }.components();
        let base = self.dependencies.graph(&[successions]).components();
        let mut explained = self.order.on_cycle();
        for (node, on_cycle) in writes.on_cycle().into_iter().enumerate() {
            explained[node] |= on_cycle;
        }
        let flows = base.cycles().filter(|group| !group.iter().any(|&node| explained[node as usize]));
        let causal = self.order.cycles().map(|group| (Name::CyclicCausalOrder, group));
        let writes = writes.cycles().map(|group| (Name::WriteCycle, group));
        let flows = flows.map(|group| (Name::CircularInformationFlow, group));
        let mut found: Vec<(Name, Vec<u32>)> =
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
