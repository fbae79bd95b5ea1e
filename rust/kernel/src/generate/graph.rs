//! Graphs of begins and commits like those of histories, of any size.

use super::random::Random;
use crate::graph::Edges;

/// How many transactions later a dependency ends at most.
const REACH: u32 = 1000;

/// A BC-graph without cycles, by predecessors: begins in front of commits, both session by session.
///
/// Transactions run one after the other and take turns between sessions. Beside begin to commit and session
/// order, `edges` dependencies lead from commits to later begins, or from begins to later commits.
#[must_use]
pub fn begins_and_commits(seed: u64, transactions: u32, sessions: u32, edges: usize) -> Edges {
    let mut random = Random(seed);
    let in_each = transactions.div_ceil(sessions);
    let begin = |place: u32| (place % sessions) * in_each + place / sessions;
    let commit = |place: u32| begin(place) + in_each * sessions;
    let mut pairs: Vec<(u32, u32)> = (0..transactions).map(|place| (commit(place), begin(place))).collect();
    pairs.extend((sessions..transactions).map(|place| (begin(place), commit(place - sessions))));
    for _ in 0..if transactions > 1 { edges } else { 0 } {
        let place = 1 + random.below(transactions - 1);
        let before = place - random.between((1, place.min(REACH)));
        let is_missed = random.below(2) == 0;
        pairs.push(if is_missed { (commit(place), begin(before)) } else { (begin(place), commit(before)) });
    }
    Edges::collected((2 * in_each * sessions) as usize, &[&pairs])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versions::dependencies::components;

    #[test]
    fn it_has_so_many_edges_and_no_cycle() {
        let graph = begins_and_commits(1, 1000, 10, 3000);
        assert_eq!(graph.len(), 1000 + 990 + 3000);
        assert!(!components(&graph, 2000).is_cyclic());
        let backwards: Vec<(u32, u32)> = graph.pairs().map(|(node, before)| (before, node)).collect();
        let both: Vec<(u32, u32)> = graph.pairs().collect();
        assert!(components(&Edges::collected(2000, &[&backwards, &both]), 2000).is_cyclic());
    }

    #[test]
    fn one_transaction_is_a_graph_too() {
        assert_eq!(begins_and_commits(1, 1, 1, 5).len(), 1);
    }
}
