//! The solver finds a way to choose exactly where one exists, within its budget.

use super::reach_table::ReachTable;
use super::topological_order::TopologicalOrder;
use super::*;
use crate::graph::Edges;
use crate::versions::random::{Random, leads, turned};

fn forward(random: &mut Random, nodes: u32) -> (u32, u32) {
    let (one, other) = (random.below(nodes), random.below(nodes));
    (one.min(other), one.max(other))
}

fn side(random: &mut Random, nodes: u32) -> Side {
    let (edges, barred) = (1 + random.below(2), random.below(2) * random.below(2));
    Side {
        edges: random.pairs(edges, nodes),
        barred: random.pairs(barred, nodes),
        is_impossible: random.below(12) == 0,
    }
}

/// Known edges lead forward, so that they close no cycle by themselves.
fn problem(random: &mut Random) -> Problem {
    let nodes = 4 + random.below(5);
    let count = random.below(nodes);
    let edges = (0..count).map(|_| forward(random, nodes)).filter(|(one, other)| one != other).collect();
    let bars = random.below(2);
    let barred = (0..bars).map(|_| forward(random, nodes)).filter(|(one, other)| one != other).collect();
    let open = 1 + random.below(5);
    let choices = (0..open).map(|_| [side(random, nodes), side(random, nodes)]).collect();
    let pairs = random.below(3);
    let mut literal = || (random.below(open), random.below(2) as u8);
    let exclusive = (0..pairs).map(|_| (literal(), literal())).filter(|(one, other)| one.0 != other.0);
    let exclusive = exclusive.collect();
    Problem { nodes: nodes as usize, edges, barred, choices, exclusive }
}

/// The definition, looked at edge by edge.
fn solves(problem: &Problem, sides: &[u8]) -> bool {
    let chosen: Vec<&Side> =
        problem.choices.iter().zip(sides).map(|(both, &side)| &both[side as usize]).collect();
    let mut edges = problem.edges.clone();
    edges.extend(chosen.iter().flat_map(|side| &side.edges));
    let mut barred = problem.barred.clone();
    barred.extend(chosen.iter().flat_map(|side| &side.barred));
    let is_taken = |(choice, side): Literal| sides[choice as usize] == side;
    !chosen.iter().any(|side| side.is_impossible)
        && !(0..problem.nodes as u32).any(|node| leads(&edges, node, node))
        && !barred.iter().any(|&(from, to)| from == to || leads(&edges, from, to))
        && !problem.exclusive.iter().any(|&(one, other)| is_taken(one) && is_taken(other))
}

/// Every way to choose.
fn all_sides(choices: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..1u32 << choices).map(move |bits| (0..choices).map(|at| (bits >> at & 1) as u8).collect())
}

#[test]
fn a_way_to_choose_is_found_exactly_where_trying_all_finds_one() {
    let (mut found, mut impossible, mut few) = (0, 0, 0);
    for seed in 0..3000 {
        let problem = problem(&mut Random(seed));
        let is_possible = all_sides(problem.choices.len()).any(|sides| solves(&problem, &sides));
        match solve(&problem, Budget::default(), &Cancel::default()) {
            Answer::Found(sides) => assert!(solves(&problem, &sides), "seed {seed}"),
            Answer::Impossible(blamed) => {
                assert!(!is_possible, "seed {seed}");
                few += u32::from(blamed.len() < problem.choices.len());
            }
            Answer::Unknown => panic!("seed {seed}"),
        }
        found += u32::from(is_possible);
        impossible += u32::from(!is_possible);
    }
    assert!(found > 500 && impossible > 500 && few > 100, "{found} {impossible} {few}");
}

#[test]
fn the_choices_that_are_blamed_leave_no_way_by_themselves() {
    for seed in 0..3000 {
        let whole = problem(&mut Random(seed));
        let Answer::Impossible(blamed) = solve(&whole, Budget::default(), &Cancel::default()) else {
            continue;
        };
        let place = |choice: u32| blamed.iter().position(|&other| other == choice).map(|at| at as u32);
        let moved = |(choice, side): Literal| Some((place(choice)?, side));
        let exclusive = whole.exclusive.iter().filter_map(|&(one, other)| Some((moved(one)?, moved(other)?)));
        let choices: Vec<[Side; 2]> = blamed.iter().map(|&at| whole.choices[at as usize].clone()).collect();
        let alone = Problem { choices, exclusive: exclusive.collect(), ..whole.clone() };
        assert!(!all_sides(blamed.len()).any(|sides| solves(&alone, &sides)), "seed {seed}");
    }
}

/// Pairs of nodes that may come in either order, and nothing else.
fn open_pairs(count: u32) -> Problem {
    let side = |before, after| Side { edges: vec![(before, after)], ..Side::default() };
    let choices = (0..count).map(|n| [side(2 * n, 2 * n + 1), side(2 * n + 1, 2 * n)]).collect();
    Problem { nodes: 2 * count as usize, choices, ..Problem::default() }
}

#[test]
fn a_cancelled_search_stops_before_the_first_choice() {
    let cancel = Cancel::default();
    cancel.now();
    assert_eq!(solve(&open_pairs(1), Budget::default(), &cancel), Answer::Unknown);
}

const NO_STEPS: Budget = Budget { steps: 0, bytes: u64::MAX, time: None };

#[test]
fn a_budget_that_is_spent_is_no_answer() {
    assert_eq!(solve(&open_pairs(1), NO_STEPS, &Cancel::default()), Answer::Unknown);
    assert!(matches!(solve(&open_pairs(1), Budget::default(), &Cancel::default()), Answer::Found(_)));
    let closed = Problem { edges: vec![(0, 1), (1, 0)], nodes: 2, ..Problem::default() };
    assert_eq!(solve(&closed, NO_STEPS, &Cancel::default()), Answer::Impossible(Vec::new()));
}

#[test]
fn time_that_is_over_is_no_answer() {
    let limited = |clock: fn() -> u64, milliseconds| {
        let time = Some(TimeLimit { clock, milliseconds });
        solve(&open_pairs(3), Budget { time, ..Budget::default() }, &Cancel::default())
    };
    assert!(matches!(limited(|| 5, 1), Answer::Found(_)));
    assert_eq!(limited(|| 5, 0), Answer::Unknown);
    assert_eq!(limited(passed, 1), Answer::Unknown);
}

/// A clock that goes on whenever it is looked at.
fn passed() -> u64 {
    static LOOKED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    LOOKED.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// Adds and takes back edges; after each step the order follows all edges, and cycles are refused exactly.
#[test]
fn the_order_follows_all_edges_while_they_come_and_go() {
    let (mut refused, mut taken_back) = (0, 0);
    for seed in 0..300 {
        let mut random = Random(seed);
        let nodes = 3 + random.below(9);
        let known: Vec<(u32, u32)> =
            (0..random.below(4)).map(|_| forward(&mut random, nodes)).filter(|(a, b)| a != b).collect();
        let mut order = TopologicalOrder::new(&known, (0..nodes).collect());
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut reasons = Vec::new();
        for step in 0..40 {
            if random.below(4) == 0 && !edges.is_empty() {
                edges.truncate(random.below(edges.len() as u32) as usize);
                order.take_back(edges.len());
                taken_back += 1;
            }
            let (before, after) = (random.below(nodes), random.below(nodes));
            let all = [&known[..], &edges[..]].concat();
            let closes = before == after || leads(&all, after, before);
            let number = edges.len() as u32;
            assert_eq!(order.add(before, after, number, &mut reasons), !closes, "seed {seed} step {step}");
            if closes {
                let blamed: Vec<(u32, u32)> = reasons.iter().map(|&reason| edges[reason as usize]).collect();
                let blamed = [&known[..], &blamed[..]].concat();
                assert!(before == after || leads(&blamed, after, before), "seed {seed} step {step}");
                refused += 1;
            } else {
                edges.push((before, after));
            }
            let places = order.places();
            let mut all = known.iter().chain(&edges);
            assert!(all.all(|&(before, after)| places[before as usize] < places[after as usize]));
        }
    }
    assert!(refused > 1000 && taken_back > 1000, "{refused} {taken_back}");
}

#[test]
fn the_table_says_which_sources_reach_which_nodes() {
    let mut random = Random(11);
    let mut cyclic = 0;
    for _ in 0..500 {
        let nodes = 2 + random.below(90);
        let count = random.below(2 * nodes);
        let edges = random.pairs(count, nodes);
        let sources: Vec<u32> = (0..nodes).filter(|_| random.below(3) > 0).collect();
        let mut table = ReachTable::new(nodes as usize, &sources);
        let is_acyclic = table.fill(&Edges::collected(nodes as usize, &[&turned(&edges)]));
        assert_eq!(is_acyclic, !(0..nodes).any(|node| leads(&edges, node, node)));
        if !is_acyclic {
            cyclic += 1;
            continue;
        }
        for (from, to) in random.pairs(50, nodes) {
            let expected = sources.contains(&from) && (from == to || leads(&edges, from, to));
            assert_eq!(table.reaches(from, to), expected, "{edges:?}: {from} to {to}");
        }
    }
    assert!((50..450).contains(&cyclic));
}
