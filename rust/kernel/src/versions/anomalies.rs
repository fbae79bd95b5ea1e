//! What the cycles are called, how many there are of each, and the first of them with their proofs.

use super::dependencies::{Dependencies, Order};
use super::levels::{Cycles, Level};
use super::lookup::Lookup;
use super::lost_updates;
use super::orders::Source;
use super::shortest_paths::Paths;
use super::skews::Left;
use super::witness::{Step, Witnesses};
use crate::graph::Components;
use crate::named_enum::named_enum;
use crate::relation::Relation;
use hashbrown::HashMap;

named_enum! {
    /// The anomalies that the order of versions shows.
    pub enum VersionAnomaly {
        WriteCycle => "write-cycle",
        WriteCycleSession => "write-cycle-session",
        WriteCycleRealTime => "write-cycle-real-time",
        CircularInformationFlow => "circular-information-flow",
        CircularInformationFlowSession => "circular-information-flow-session",
        CircularInformationFlowRealTime => "circular-information-flow-real-time",
        LostUpdate => "lost-update",
        ReadSkew => "read-skew",
        ReadSkewSession => "read-skew-session",
        ReadSkewRealTime => "read-skew-real-time",
        LongFork => "long-fork",
        LongForkSession => "long-fork-session",
        LongForkRealTime => "long-fork-real-time",
        WriteSkew => "write-skew",
        WriteSkewSession => "write-skew-session",
        WriteSkewRealTime => "write-skew-real-time",
        DirtyUpdate => "dirty-update",
        CyclicVersions => "cyclic-versions",
        ContradictoryEvidence => "contradictory-evidence",
        NoCommitOrder => "no-commit-order",
        Phantom => "phantom",
    }
}

pub(super) const WRITE_CYCLES: [VersionAnomaly; 3] =
    [VersionAnomaly::WriteCycle, VersionAnomaly::WriteCycleSession, VersionAnomaly::WriteCycleRealTime];
pub(super) const FLOWS: [VersionAnomaly; 3] = [
    VersionAnomaly::CircularInformationFlow,
    VersionAnomaly::CircularInformationFlowSession,
    VersionAnomaly::CircularInformationFlowRealTime,
];
pub(super) const READ_SKEWS: [VersionAnomaly; 3] =
    [VersionAnomaly::ReadSkew, VersionAnomaly::ReadSkewSession, VersionAnomaly::ReadSkewRealTime];
pub(super) const LONG_FORKS: [VersionAnomaly; 3] =
    [VersionAnomaly::LongFork, VersionAnomaly::LongForkSession, VersionAnomaly::LongForkRealTime];
pub(super) const WRITE_SKEWS: [VersionAnomaly; 3] =
    [VersionAnomaly::WriteSkew, VersionAnomaly::WriteSkewSession, VersionAnomaly::WriteSkewRealTime];

/// An anomaly with its proof.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What it is called.
    pub name: VersionAnomaly,
    /// The cycle.
    pub steps: Vec<Step>,
    /// What follows from each order that two versions may have, where both lead in a circle.
    pub alternatives: Vec<Vec<Step>>,
    /// The level that it was looked for, if it was for one only.
    pub level: Option<Level>,
}

/// Counts by name, and the first findings of each.
#[derive(Debug)]
pub struct Named {
    /// By the number of the name.
    pub counts: [u64; VersionAnomaly::COUNT],
    /// In the order of names.
    pub findings: Vec<Finding>,
}

/// Cycles are looked for from so many nodes or edges of a component.
pub(super) const TRIES: usize = 64;

/// Names all cycles.
#[must_use]
pub fn name(small: &Dependencies, lookup: &Lookup<'_>, cycles: &Cycles, max_anomalies: usize) -> Named {
    let mut naming = Naming {
        witnesses: Witnesses { small, lookup },
        cycles,
        max_anomalies,
        named: Named { counts: [0; VersionAnomaly::COUNT], findings: Vec::new() },
        paths: Paths::new(small.nodes() + small.len()),
    };
    naming.lost_updates();
    for order in Order::ALL {
        if order == Order::RealTime && small.real_time.is_empty() {
            break;
        }
        naming.write_cycles(order);
        naming.flows(order);
        naming.read_skews(order);
        let left = Left::new(small, cycles, order, order);
        let weaker = order.weaker().map(|weaker| Left::new(small, cycles, order, weaker));
        naming.long_forks(order, &left, weaker.as_ref());
        naming.write_skews(order, &left, weaker.as_ref());
    }
    naming.named.findings.sort_by_key(|finding| finding.name);
    naming.named
}

/// The shortest proof that is what it is called, else the shortest.
pub(super) fn best(name: VersionAnomaly, proofs: impl IntoIterator<Item = Vec<Step>>) -> Vec<Step> {
    let proofs = proofs.into_iter().filter(|steps| !steps.is_empty());
    proofs.min_by_key(|steps| (classify(steps) != name, steps.len())).unwrap_or_default()
}

/// What a cycle is called, by its steps.
pub(super) fn classify(steps: &[Step]) -> VersionAnomaly {
    let has = |relation: Relation| steps.iter().any(|step| step.relation == relation);
    // An edge may rest on an order of versions that only sessions or real time show.
    let rests_on = |source: Source| steps.iter().any(|step| step.source == source);
    let is_timed = has(Relation::RealTime) || rests_on(Source::RealTime);
    let order = match (is_timed, has(Relation::Session) || rests_on(Source::Session)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    };
    let is_missed = |place: usize| steps[place % steps.len()].relation == Relation::ReadWrite;
    let missed = (0..steps.len()).filter(|&place| is_missed(place)).count();
    let in_a_row = missed > 1 && (0..steps.len()).any(|place| is_missed(place) && is_missed(place + 1));
    match missed {
        0 if has(Relation::WriteRead) => FLOWS[order],
        0 => WRITE_CYCLES[order],
        1 => READ_SKEWS[order],
        _ if in_a_row => WRITE_SKEWS[order],
        _ => LONG_FORKS[order],
    }
}

/// Components of a weaker order: one that contains such a component needs no more than that order.
#[derive(Default)]
pub(super) struct Weaker {
    sizes: Vec<usize>,
    /// The components that a node is in; long forks may share nodes.
    of: HashMap<u32, Vec<u32>>,
}

impl Weaker {
    /// The components by their nodes.
    pub fn new(components: &[Vec<u32>]) -> Self {
        let mut all = Self::default();
        for (nodes, number) in components.iter().zip(0..) {
            for &node in nodes {
                all.of.entry(node).or_default().push(number);
            }
            all.sizes.push(nodes.len());
        }
        all
    }

    /// Whether one of them lies within these nodes.
    pub fn is_within(&self, nodes: &[u32]) -> bool {
        let mut found: HashMap<u32, usize> = HashMap::new();
        let groups = nodes.iter().filter_map(|node| self.of.get(node)).flatten();
        groups.into_iter().any(|&group| {
            let count = found.entry(group).or_default();
            *count += 1;
            *count == self.sizes[group as usize]
        })
    }
}

/// The components with several transactions, by their nodes.
pub(super) fn shapes(components: &Components, transactions: usize) -> Vec<Vec<u32>> {
    let groups = components.cycles().map(|group| {
        let mut nodes: Vec<u32> =
            group.iter().copied().filter(|&node| (node as usize) < transactions).collect();
        nodes.sort_unstable();
        nodes
    });
    let mut found: Vec<Vec<u32>> = groups.filter(|nodes| nodes.len() > 1).collect();
    found.sort_unstable();
    found
}

/// Names in the making.
pub(super) struct Naming<'s, 'h> {
    pub witnesses: Witnesses<'s, 'h>,
    pub cycles: &'s Cycles,
    pub max_anomalies: usize,
    pub named: Named,
    pub paths: Paths,
}

impl Naming<'_, '_> {
    pub fn small(&self) -> &Dependencies {
        self.witnesses.small
    }

    /// Counts one more; whether it is to be shown.
    pub fn count(&mut self, name: VersionAnomaly) -> bool {
        let count = &mut self.named.counts[name as usize];
        *count += 1;
        *count <= self.max_anomalies as u64
    }

    pub fn show(&mut self, name: VersionAnomaly, steps: Vec<Step>) {
        debug_assert!(!steps.is_empty(), "{name:?} without a proof");
        self.named.findings.push(Finding { name, steps, alternatives: Vec::new(), level: None });
    }

    fn lost_updates(&mut self) {
        for &found in &self.cycles.lost {
            if self.count(VersionAnomaly::LostUpdate) {
                let steps = lost_updates::proof(self.witnesses.lookup, found);
                self.show(VersionAnomaly::LostUpdate, steps);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Weaker;

    #[test]
    fn a_component_that_contains_another_is_known() {
        let weaker = Weaker::new(&[vec![1, 2, 3], vec![3, 4]]);
        let cases: [(&[u32], bool); 5] = [
            (&[1, 2, 3], true),
            (&[0, 1, 2, 3, 9], true),
            (&[1, 2], false),
            (&[2, 3, 4], true),
            (&[5], false),
        ];
        for (nodes, is_known) in cases {
            assert_eq!(weaker.is_within(nodes), is_known, "{nodes:?}");
        }
    }
}
