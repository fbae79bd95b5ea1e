//! Choices and clauses that come between the runs of a search, compared with trying all sides.

use super::engine::{EdgeList, Ending, Engine};
use super::{Budget, Literal};
use crate::cancel::Cancel;
use crate::versions::random::Random;

/// What the search knows so far.
#[derive(Default)]
struct Known {
    edges: EdgeList,
    choices: Vec<[EdgeList; 2]>,
    forbidden: Vec<Vec<Literal>>,
}

impl Known {
    fn is_met_by(&self, nodes: u32, sides: u32) -> bool {
        let side = |choice: u32| (sides >> choice & 1) as u8;
        let is_taken = |&(choice, taken): &Literal| side(choice) == taken;
        let chosen = self.choices.iter().zip(0..).flat_map(|(both, choice)| &both[side(choice) as usize]);
        let edges: EdgeList = self.edges.iter().chain(chosen).copied().collect();
        !self.forbidden.iter().any(|literals| literals.iter().all(is_taken)) && is_acyclic(nodes, edges)
    }

    fn is_possible(&self, nodes: u32) -> bool {
        (0..1u32 << self.choices.len()).any(|sides| self.is_met_by(nodes, sides))
    }
}

/// Takes away nodes that no edge leads to until none is left.
fn is_acyclic(nodes: u32, mut edges: EdgeList) -> bool {
    let mut left: Vec<u32> = (0..nodes).collect();
    loop {
        let before = left.len();
        left.retain(|&node| edges.iter().any(|&(_, to)| to == node));
        edges.retain(|(from, _)| left.contains(from));
        if left.len() == before {
            return left.is_empty();
        }
    }
}

fn edges(random: &mut Random, nodes: u32, most: u32) -> EdgeList {
    let count = random.below(most + 1);
    (0..count).map(|_| (random.below(nodes), random.below(nodes))).collect()
}

fn literals(random: &mut Random, choices: u32) -> Vec<Literal> {
    let count = 2 + random.below(2);
    (0..count).map(|_| (random.below(choices), random.below(2) as u8)).collect()
}

#[test]
fn choices_that_come_between_runs_are_decided_as_if_all_came_at_once() {
    let (mut settled, mut impossible) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random(seed * 31 + 7);
        let nodes = 4 + random.below(5);
        let mut known = Known::default();
        let forward = edges(&mut random, nodes, 3).into_iter().filter(|(from, to)| from < to);
        known.edges = forward.collect();
        let cancel = Cancel::default();
        let places = (0..nodes).collect();
        let mut engine = Engine::new(&known.edges, places, Budget::default(), &cancel);
        for _ in 0..5 {
            for _ in 0..random.below(3) {
                let sides = [edges(&mut random, nodes, 2), edges(&mut random, nodes, 2)];
                engine.choice(sides.clone(), random.below(2) as u8);
                known.choices.push(sides);
            }
            let choices = known.choices.len() as u32;
            for _ in 0..if choices == 0 { 0 } else { random.below(4) } {
                let forbidden = literals(&mut random, choices);
                engine.forbid(&forbidden);
                known.forbidden.push(forbidden);
            }
            match engine.run() {
                Ending::Settled => {
                    let sides = (0..choices).map(|choice| u32::from(engine.side(choice)) << choice).sum();
                    assert!(known.is_met_by(nodes, sides), "seed {seed}");
                    settled += 1;
                }
                Ending::Impossible => {
                    assert!(!known.is_possible(nodes), "seed {seed}");
                    impossible += 1;
                    break;
                }
                Ending::Spent => panic!("seed {seed}"),
            }
        }
    }
    assert!(settled > 1000 && impossible > 300, "{settled} {impossible}");
}

/// Clauses of three literals, so many that the search starts again and forgets.
#[test]
fn a_search_that_forgets_what_it_learnt_finds_the_same() {
    let (mut settled, mut impossible) = (0, 0);
    for seed in 0..60 {
        let mut random = Random(seed * 97 + 3);
        let (nodes, choices) = (6, 11);
        let mut known = Known::default();
        let cancel = Cancel::default();
        let mut engine = Engine::new(&[], (0..nodes).collect(), Budget::default(), &cancel);
        for _ in 0..choices {
            let sides = [edges(&mut random, nodes, 1), edges(&mut random, nodes, 1)];
            engine.choice(sides.clone(), 0);
            known.choices.push(sides);
        }
        for _ in 0..30 {
            let forbidden: Vec<Literal> =
                (0..3).map(|_| (random.below(choices), random.below(2) as u8)).collect();
            engine.forbid(&forbidden);
            known.forbidden.push(forbidden);
        }
        let is_settled = engine.run() == Ending::Settled;
        assert_eq!(is_settled, known.is_possible(nodes), "seed {seed}");
        settled += u32::from(is_settled);
        impossible += u32::from(!is_settled);
    }
    assert!(settled > 5 && impossible > 5, "{settled} {impossible}");
}
