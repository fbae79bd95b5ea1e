//! Transactions that no possible cycle joins with others: groups of them are decided by themselves, at the same time.
//!
//! A level holds if it holds in every group. Groups depend on the history alone, and each has its share of the memory:
//! the same history gives the same answer, however many cores there are.

use super::order_search::Answer;
use super::{Completion, Decision, FoundOrder};
use crate::cancel::Cancel;
use crate::solver::{Budget, Progress};
use crate::versions::dependencies::Dependencies;
use crate::versions::levels::Level;
use rayon::prelude::*;

/// There are no more groups: small components share one.
const MAX_GROUPS: usize = 16;

/// Some components of all that is on possible cycles.
pub struct Group {
    /// Their transactions, and the edges between them.
    pub small: Dependencies,
    /// The component of each node.
    pub components: Vec<u32>,
}

impl Group {
    /// All groups; `components` are by node.
    #[must_use]
    pub fn all(small: Dependencies, components: Vec<u32>) -> Vec<Self> {
        let groups = groups(&components);
        let last = groups.iter().copied().max().unwrap_or(0);
        if last == 0 {
            return vec![Self { small, components }];
        }
        let group = |number: u32| {
            let inside = groups.iter().zip(&components).filter(|&(&group, _)| group == number);
            Self {
                small: small.group(&groups, number),
                components: inside.map(|(_, &component)| component).collect(),
            }
        };
        (0..=last).into_par_iter().map(group).collect()
    }
}

/// The group of each node: components in order, until a group has its share of all nodes.
fn groups(components: &[u32]) -> Vec<u32> {
    let component = |&node: &u32| components[node as usize];
    let mut nodes: Vec<u32> = (0..components.len() as u32).collect();
    nodes.sort_by_key(component);
    let enough = components.len().div_ceil(MAX_GROUPS);
    let mut groups = vec![0; components.len()];
    let (mut group, mut size) = (0, 0);
    for same in nodes.chunk_by(|one, other| component(one) == component(other)) {
        if size >= enough {
            (group, size) = (group + 1, 0);
        }
        for &node in same {
            groups[node as usize] = group;
        }
        size += same.len();
    }
    groups
}

/// Whether some order of the open versions of all groups satisfies the level. If none does, `tells` asks why.
#[must_use]
pub fn decide_groups(
    groups: &[Completion<'_, '_>],
    level: Level,
    budget: Budget,
    tells: bool,
    cancel: &Cancel,
) -> Decision {
    if let [only] = groups {
        return only.decide(level, budget, tells, cancel);
    }
    let nodes: usize = groups.iter().map(|group| group.small.nodes()).sum();
    let clock = || budget.time.map_or(0, |time| (time.clock)());
    let began = clock();
    let decide = |group: &Completion<'_, '_>| {
        let mut budget = budget;
        budget.bytes = (u128::from(budget.bytes) * group.small.nodes() as u128 / nodes.max(1) as u128) as u64;
        if let Some(time) = &mut budget.time {
            time.milliseconds = time.milliseconds.saturating_sub(clock() - began);
        }
        group.decide(level, budget, tells, cancel)
    };
    joined(groups.par_iter().map(decide).collect())
}

/// A group that no order satisfies breaks the level; otherwise one without an answer leaves it open.
fn joined(mut decisions: Vec<Decision>) -> Decision {
    if let Some(broken) = decisions.iter().position(|one| one.answer == Answer::Impossible) {
        return decisions.swap_remove(broken);
    }
    let mut came: Option<Progress> = None;
    let mut found = Some(FoundOrder::default());
    for decision in decisions {
        if let Answer::Unknown(further) = decision.answer {
            came = Some(came.map_or(further, |came| came.joined(further)));
        }
        found = found.zip(decision.found).map(|(mut all, FoundOrder { places, shown })| {
            all.places.extend(places);
            all.shown.extend(shown);
            all
        });
    }
    let answer = came.map_or(Answer::Found, Answer::Unknown);
    Decision { answer, alternatives: Vec::new(), found }
}
