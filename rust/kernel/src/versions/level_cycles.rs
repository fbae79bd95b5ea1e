//! Proofs for levels that no single name stands for: a cycle of their own graph.

use super::anomalies::{Finding, Named, classify};
use super::dependencies::{Dependencies, Order, components};
use super::levels::{Closing, Cycles, Level, Updates};
use super::lookup::Lookup;
use super::shortest_paths::Paths;
use super::witness::{ANY, Step, Witnesses};
use crate::graph::Edges;
use crate::relation::Relation;

/// Proofs for levels that no single name stands for: a cycle of their own graph.
pub fn add_level_proofs(
    small: &Dependencies,
    lookup: &Lookup<'_>,
    cycles: &Cycles,
    cancel: &crate::cancel::Cancel,
    named: &mut Named,
) {
    if small.len() == 0 || cancel.is_asked() {
        return;
    }
    let mut own = LevelGraphs {
        witnesses: Witnesses { small, lookup },
        paths: Paths::new(small.nodes() + small.len()),
    };
    let proofs = [
        (Level::Prefix, own.prefix(cycles)),
        (Level::UpdateSerializable, own.updates(cycles)),
        (Level::MonotonicView, own.views(cycles)),
    ];
    for (level, steps) in proofs {
        if let Some(steps) = steps.filter(|steps| !steps.is_empty()) {
            let name = classify(&steps);
            named.findings.push(Finding { name, steps, alternatives: Vec::new(), level: Some(level) });
        }
    }
}

/// Cycles in the graphs of single levels.
struct LevelGraphs<'s, 'h> {
    witnesses: Witnesses<'s, 'h>,
    paths: Paths,
}

impl LevelGraphs<'_, '_> {
    fn prefix(&mut self, cycles: &Cycles) -> Option<Vec<Step>> {
        if !cycles.violated[Level::Prefix as usize] {
            return None;
        }
        let small = self.witnesses.small;
        let (edges, nodes) = small.begins_and_commits(Order::Session, true);
        let transactions = small.len() as u32;
        let found = components(&edges, nodes);
        let groups: Vec<Vec<u32>> = found.cycles().take(64).map(<[u32]>::to_vec).collect();
        let mut best: Option<Vec<u32>> = None;
        for group in groups {
            let mut starts: Vec<u32> = group.into_iter().filter(|&node| node < 2 * transactions).collect();
            starts.sort_unstable();
            for &node in starts.iter().take(64) {
                let cycle = self.paths.shortest(&edges, node, node, |_, _| 1);
                if let Some(cycle) = cycle
                    && best.as_ref().is_none_or(|known| cycle.len() < known.len())
                {
                    best = Some(cycle);
                }
            }
        }
        Some(self.witnesses.steps_of_ends(&best?, Order::Session))
    }

    fn updates(&mut self, cycles: &Cycles) -> Option<Vec<Step>> {
        let (edges, _) = super::levels::edges_of_updates(self.witnesses.small, self.witnesses.lookup);
        match cycles.updates.as_ref()? {
            Updates::Writing(group) => {
                let cycle = self.witnesses.shortest_cycle(&edges, group, &mut self.paths)?;
                Some(self.witnesses.steps(&cycle, &ANY, Order::Plain))
            }
            Updates::Reading(missed, source) => self.around(&edges, *missed, *source),
        }
    }

    fn views(&mut self, cycles: &Cycles) -> Option<Vec<Step>> {
        let (missed, source) = cycles.views?;
        let edges = self.witnesses.small.dependencies(Order::Plain);
        self.around(&edges, missed, source)
    }

    /// From what a reader missed to a transaction that it depends on, and to itself.
    fn around(&mut self, edges: &Edges, missed: Closing, source: u32) -> Option<Vec<Step>> {
        let mut path = self.witnesses.path_from(edges, missed.after, source, &mut self.paths)?;
        path.push(missed.reader);
        let transactions = self.witnesses.small.len() as u32;
        let first = path.iter().position(|&node| node < transactions)?;
        let between = (first > 0).then(|| path[0]);
        let missing = [Relation::ReadWrite];
        let mut steps =
            vec![self.witnesses.step(missed.reader, path[first], between, &missing, Order::Plain)?];
        steps.extend(self.witnesses.steps(&path[first..], &ANY, Order::Plain));
        Some(steps)
    }
}
