//! Which transactions likely came first: by real time, by their place in the file, by timestamps or numbers, or by their
//! place in the session.

use super::dependencies::Dependencies;
use super::lookup::Lookup;
use crate::told_order::told_orders;

/// The place of each node among those that likely came first.
#[must_use]
pub fn likely_places(all: &Dependencies, lookup: &Lookup<'_>) -> Vec<u32> {
    let nodes = told_order(all, lookup).unwrap_or_else(|| {
        let shares = shares(&all.sessions);
        let mut nodes = in_input_order(all);
        nodes.sort_by_key(|&node| shares[node as usize]);
        nodes
    });
    let mut places = vec![0; all.len()];
    nodes.iter().zip(0..).for_each(|(&node, place)| places[node as usize] = place);
    places
}

/// The nodes in an order that the history tells: that of its times or of the file; in a file with mostly one session
/// after the other, that of its timestamps or numbers.
#[must_use]
pub fn told_order(all: &Dependencies, lookup: &Lookup<'_>) -> Option<Vec<u32>> {
    let transaction = |node: u32| all.transactions[node as usize];
    let mut nodes = in_input_order(all);
    if lookup.times.is_complete && lookup.times.is_known {
        let time = |node: u32| {
            let (invoke, complete) =
                (lookup.times.invoke(transaction(node)), lookup.times.complete(transaction(node)));
            (complete.or(invoke), invoke, transaction(node))
        };
        nodes.sort_by_cached_key(|&node| time(node));
        return Some(nodes);
    }
    let session = |node: u32| all.sessions[node as usize];
    if 2 * nodes.windows(2).filter(|pair| session(pair[0]) == session(pair[1])).count() < nodes.len() {
        return Some(nodes);
    }
    let told = told_orders(lookup.history, &lookup.observations.counted).next()?;
    let mut places = vec![0; lookup.history.transaction_count()];
    told.iter().zip(0u32..).for_each(|(&transaction, place)| places[transaction as usize] = place);
    nodes.sort_by_key(|&node| places[transaction(node) as usize]);
    Some(nodes)
}

fn in_input_order(all: &Dependencies) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..all.len() as u32).collect();
    nodes.sort_unstable_by_key(|&node| all.transactions[node as usize]);
    nodes
}

/// How far into its session each node is: sessions mostly ran side by side.
fn shares(sessions: &[u32]) -> Vec<u64> {
    let rows = sessions.chunk_by(|one, other| one == other);
    rows.flat_map(|row| (0..row.len() as u64).map(|place| (place << 32) / row.len() as u64)).collect()
}
