//! A commit order that satisfies the axiom of a level, checked before it is given.

use super::causal::Demands;
use super::dependencies::Dependencies;
use super::reader::WeakLevel;
use super::{direct, guessed_order};
use crate::cancel::Cancel;
use crate::graph::Components;

/// The transactions of components that are single nodes, in their order; `demands` are those of the level, as they were
/// found when it was decided, none if the order was guessed and shown to satisfy it.
///
/// # Panics
///
/// The order does not meet the demands, which is a fault of the search.
#[must_use]
pub fn checked(
    dependencies: &Dependencies<'_>,
    components: &Components,
    demands: &Demands,
    cancel: &Cancel,
) -> Vec<u32> {
    let is_right = follows_edges(dependencies, components) && meets(demands, components);
    assert!(is_right || cancel.is_asked(), "the commit order breaks what it was made of");
    let nodes = components.order.iter().filter(|&&node| (node as usize) < dependencies.len());
    nodes.map(|&node| dependencies.transactions[node as usize]).collect()
}

/// Whether transactions in this order satisfy a level, if open reads were served by these transactions.
#[must_use]
pub fn is_satisfied(
    dependencies: &Dependencies<'_>,
    order: &[u32],
    shown: &[(u32, u32)],
    level: WeakLevel,
    cancel: &Cancel,
) -> bool {
    let mut observations = dependencies.observations.clone();
    for &(read, writer) in shown {
        observations.sources[read as usize] = writer;
    }
    let recorded = dependencies.recorded.clone();
    let known = Dependencies::new(dependencies.history, &observations, recorded);
    let nodes: Vec<u32> = order.iter().map(|&transaction| known.nodes[transaction as usize]).collect();
    // Nodes that stand for lists have no place of their own: they come right after what they are made of.
    let components = known.graph(&[]).components_from(&nodes);
    let follows = components.order.iter().filter(|&&node| (node as usize) < known.len()).eq(nodes.iter());
    (follows && is_right(&known, &components, level, cancel)) || cancel.is_asked()
}

fn is_right(
    dependencies: &Dependencies<'_>,
    components: &Components,
    level: WeakLevel,
    cancel: &Cancel,
) -> bool {
    follows_edges(dependencies, components)
        && match level {
            WeakLevel::Causal => guessed_order::is_shown_by(dependencies, components, cancel),
            WeakLevel::ReadAtomic | WeakLevel::ReadCommitted => {
                meets_demands(dependencies, components, level, cancel)
            }
        }
}

/// Whether session order, what was read and what is recorded lead forward.
fn follows_edges(dependencies: &Dependencies<'_>, components: &Components) -> bool {
    let graph = dependencies.graph(&[&dependencies.successions]);
    let place = |node: u32| components.of[node as usize];
    (0..graph.nodes as u32).all(|node| graph.predecessors(node).all(|before| place(before) < place(node)))
}

/// Whether a transaction that the axiom puts before another one stands before it.
fn meets_demands(
    dependencies: &Dependencies<'_>,
    components: &Components,
    level: WeakLevel,
    cancel: &Cancel,
) -> bool {
    meets(&direct::demands_of(dependencies, level, cancel), components)
}

fn meets(demands: &Demands, components: &Components) -> bool {
    let place = |node: u32| components.of[node as usize];
    demands.contradiction.is_none() && demands.edges.pairs().all(|(older, newer)| place(newer) < place(older))
}
