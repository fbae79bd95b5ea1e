//! Levels whose condition is that a graph has no cycle: they are decided in linear time.

use super::dependencies::{Dependencies, Order, Parts, components};
use super::levels::{Level, of_order};

/// Such levels with no more order than this that no cycle breaks, the strongest first.
#[must_use]
pub fn acyclic_levels(small: &Dependencies, order: Order) -> Vec<Level> {
    let mut found = Vec::new();
    for order in Order::ALL.into_iter().rev().filter(|&other| other <= order) {
        let levels = of_order(order);
        let is_acyclic = |wr: bool, rw: bool| {
            !components(&small.graph(Parts { wr, rw, order }), small.nodes()).is_cyclic()
        };
        let has_snapshots = |prefix: bool| {
            let (edges, nodes) = small.begins_and_commits(order, prefix);
            !components(&edges, nodes).is_cyclic()
        };
        if is_acyclic(true, true) {
            // It implies the others.
            found.push(levels.ser);
            continue;
        }
        found.extend(has_snapshots(false).then_some(levels.si));
        found.extend((order == Order::Session && has_snapshots(true)).then_some(Level::Prefix));
        found.extend(is_acyclic(true, false).then_some(levels.pl_2));
        found.extend(is_acyclic(false, false).then_some(levels.pl_1));
    }
    found
}
