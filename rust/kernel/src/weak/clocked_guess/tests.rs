use super::*;
use crate::formats::testing::read_blocks;
use crate::history::History;
use crate::reads;
use crate::weak::recorded_order::RecordedOrder;
use crate::weak::{causal, guessed_order};
use std::fmt::Write;

/// Numbers that look random (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

struct Size {
    sessions: usize,
    transactions: usize,
    keys: usize,
    /// A read sees a version as many versions back, or fewer; 0: always the latest.
    staleness: usize,
}

/// Plume text, session by session and numbered so: reads of the latest version before, or of one of those before it.
fn by_session(seed: u64, size: &Size) -> String {
    let mut random = Random(seed * 0x9e37_79b9 + 1);
    let mut versions = vec![vec![0]; size.keys];
    let mut texts = vec![String::new(); size.sessions];
    for transaction in 0..size.transactions {
        let session = random.below(size.sessions);
        let number = session * size.transactions + transaction;
        for operation in 0..=random.below(4) {
            let (key, value) = (random.below(size.keys), transaction * 4 + operation + 1);
            let versions = &mut versions[key];
            let text = &mut texts[session];
            if random.below(2) == 0 {
                versions.push(value);
                writeln!(text, "w({key},{value},{session},{number})").unwrap();
            } else {
                let back = random.below(size.staleness.min(versions.len() - 1) + 1);
                let value = versions[versions.len() - 1 - back];
                writeln!(text, "r({key},{value},{session},{number})").unwrap();
            }
        }
    }
    texts.concat()
}

fn history(text: &str) -> History {
    read_blocks("plume", text.as_bytes(), text.len().max(1)).unwrap()
}

/// Whether an order was found, which then is right; and whether there is one.
fn outcome(text: &str) -> (bool, bool) {
    let (history, cancel) = (history(text), Cancel::default());
    let (_, observations) = reads::judge(&history, &cancel);
    let dependencies = Dependencies::new(&history, &observations, RecordedOrder::default());
    let order = dependencies.graph(&[]).components();
    if order.is_cyclic() {
        return (false, false);
    }
    let found = find(&dependencies, &order, &cancel);
    if let Some(found) = &found {
        assert!(!found.is_cyclic());
        assert!(guessed_order::is_shown_by(&dependencies, found, &cancel));
        let graph = dependencies.graph(&[]);
        let place = |node: u32| found.of[node as usize];
        let nodes = 0..dependencies.len() as u32;
        assert!(
            nodes.into_iter().all(|node| graph.predecessors(node).all(|before| place(before) < place(node)))
        );
    }
    let demands = causal::demands(&dependencies, &order, &cancel);
    let exact = super::super::commit_order(&dependencies, &demands.edges).components();
    (found.is_some(), !exact.is_cyclic() && demands.contradiction.is_none())
}

#[test]
fn an_order_is_found_of_every_history_that_ran_one_transaction_after_the_other() {
    for seed in 0..40 {
        let sessions = [2, 7, 40, 70][seed as usize % 4];
        let size = Size { sessions, transactions: 400, keys: 4 + seed as usize % 9, staleness: 0 };
        assert_eq!(outcome(&by_session(seed, &size)), (true, true), "seed {seed}");
    }
}

#[test]
fn too_many_doubts_are_left_to_the_exact_search() {
    // Each of many sessions may have written the one key at any time.
    let size = Size { sessions: 70, transactions: 400, keys: 1, staleness: 0 };
    assert_eq!(outcome(&by_session(27, &size)), (false, true));
}

#[test]
fn what_is_found_agrees_with_all_demands() {
    let mut seen = [[0; 2]; 2];
    for seed in 0..600 {
        let staleness = 1 + seed as usize % 3;
        let sessions = 2 + seed as usize % 5;
        let size = Size { sessions, transactions: 8 + seed as usize % 20, keys: 4, staleness };
        let (is_found, holds) = outcome(&by_session(seed, &size));
        assert!(holds || !is_found, "seed {seed}");
        seen[usize::from(holds)][usize::from(is_found)] += 1;
    }
    assert!(seen[0][0] > 50, "violated: {seen:?}");
    assert!(seen[1][1] > 50, "found: {seen:?}");
    assert_eq!(seen[1][0], 0, "small histories need no other search: {seen:?}");
}

#[test]
fn places_of_32_bits_are_told_apart() {
    let mut text = String::new();
    for transaction in 0..SHORT_ROW + 2 {
        writeln!(text, "w(1,{},0,{transaction})", transaction + 1).unwrap();
    }
    let latest = SHORT_ROW + 2;
    let reads = format!("r(1,{latest},1,{latest})\n");
    assert_eq!(outcome(&format!("{text}{reads}")), (true, true));
    let stale = format!("{reads}r(1,{},1,{})\n", latest - 1, latest + 1);
    assert_eq!(outcome(&format!("{text}{stale}")), (false, false));
}

#[test]
fn a_read_of_the_initial_value_after_a_write_that_it_should_have_seen_is_no_order() {
    assert_eq!(outcome("w(1,5,0,0)\nr(1,0,0,1)\n"), (false, false));
    assert_eq!(outcome("w(1,5,0,0)\nr(1,0,1,1)\n"), (true, true));
}

#[test]
fn a_transaction_that_saw_a_key_in_two_states_is_looked_at_with_care() {
    // Both states are reads of their own: the second one does not miss the first.
    assert_eq!(outcome("w(1,5,0,0)\nw(1,6,1,1)\nr(1,5,2,2)\nr(1,6,2,2)\n"), (true, true));
    assert_eq!(outcome("w(1,5,0,0)\nw(1,6,0,1)\nr(1,6,2,2)\nr(1,5,2,2)\n"), (false, false));
}

#[test]
fn keys_are_shared_without_loss() {
    let text = by_session(5, &Size { sessions: 5, transactions: 500, keys: 90, staleness: 0 });
    let (history, cancel) = (history(&text), Cancel::default());
    let (_, observations) = reads::judge(&history, &cancel);
    let dependencies = Dependencies::new(&history, &observations, RecordedOrder::default());
    let reads = ReadsByKey::new(&dependencies);
    let shares = reads.shares(&dependencies);
    assert!(shares.len() > 8);
    let keys: Vec<u32> = shares.iter().flat_map(|share| share.keys.clone()).collect();
    assert_eq!(keys, (0..history.keys.len() as u32).collect::<Vec<u32>>());
    let writers: Vec<u32> = shares.iter().flat_map(|share| share.writers.clone()).collect();
    let expected: Vec<u32> = keys.iter().flat_map(|&key| dependencies.writers(key).to_vec()).collect();
    assert_eq!(writers, expected);
    let reads_by_key: usize = keys.iter().map(|&key| reads.of(key).len()).sum();
    assert_eq!(reads_by_key, dependencies.read_count());
}
