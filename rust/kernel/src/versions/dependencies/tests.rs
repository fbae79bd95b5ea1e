//! Junctions stand for all pairs of nodes, and stay linear.

use super::*;
use crate::versions::random::{Random, leads, turned};

/// Some of the nodes, in order.
fn some(random: &mut Random, nodes: u32) -> Vec<u32> {
    (0..nodes).filter(|_| random.below(2) == 0).collect()
}

#[test]
fn a_row_of_junctions_says_what_all_pairs_say() {
    let (mut rows, mut pairs) = (0, 0);
    for seed in 0..400 {
        let mut random = Random(seed);
        let nodes = 4 + random.below(12);
        let (before, after) = (some(&mut random, nodes), some(&mut random, nodes));
        let transactions = (0..nodes).collect();
        let mut all = Dependencies { transactions, ..Dependencies::default() };
        all.junction(0, 0, &before, &after);
        assert_eq!(all.rw_keys[0].len(), all.rw[0].len());
        // Junctions only: a way through another transaction would be another edge.
        let edges = turned(&all.rw[0]);
        for first in 0..nodes {
            let from_first = |&(one, _): &(u32, u32)| one == first || one >= nodes;
            let ways: Vec<(u32, u32)> = edges.iter().copied().filter(from_first).collect();
            for second in 0..nodes {
                let expected = first != second && before.contains(&first) && after.contains(&second);
                assert_eq!(leads(&ways, first, second), expected, "seed {seed}: {first} {second}");
            }
        }
        rows += u32::from(all.junctions > 0);
        pairs += u32::from(all.junctions == 0 && !edges.is_empty());
    }
    assert!(rows > 100 && pairs > 50, "{rows} {pairs}");
}

#[test]
fn edges_through_junctions_stay_linear() {
    let nodes: Vec<u32> = (0..10_000).collect();
    let mut all = Dependencies { transactions: nodes.clone(), ..Dependencies::default() };
    all.junction(0, 0, &nodes, &nodes);
    assert!(all.rw[0].len() < 8 * nodes.len());
}
