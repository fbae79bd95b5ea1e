//! What is recorded of a history's versions, without a judgement of levels.

use super::adjacent_versions::adjacent_versions;
use super::dependencies::{Basis, Dependencies};
use super::orders::ordered_keys::OrderedKeys;
use super::orders::{self, Claims, Orders, Source};
use super::transaction_times::TransactionTimes;
use super::version_readers::Readers;
use crate::cancel::Cancel;
use crate::history::History;
use crate::observations::Observations;
use crate::predicates::first_transactions;
use crate::relation::Relation;

/// How many keys each source orders, without a judgement of levels.
#[must_use]
pub fn ordered(
    history: &History,
    observations: &Observations,
    claims: Claims,
    cancel: &Cancel,
) -> Vec<OrderedKeys> {
    let times = TransactionTimes::new(history, &observations.counted);
    let first = &first_transactions(history)[..];
    let orders = |believed| {
        let (times, is_of_items) = (&times, false);
        let question =
            orders::Question { history, observations, times, claims, believed, first, is_of_items };
        Orders::new(&question, cancel)
    };
    let all = orders(None);
    match all.speaking.first() {
        Some(&strongest) if !all.contradictions.is_empty() => orders(Some(strongest)).extent(),
        _ => all.extent(),
    }
}

/// The order of versions by evidence alone, without claims.
#[must_use]
pub fn recorded(
    history: &History,
    observations: &Observations,
    times: &TransactionTimes,
    cancel: &Cancel,
) -> Orders {
    recorded_by(None, history, observations, times, cancel)
}

/// The same by one source alone, if one is named.
#[must_use]
pub fn recorded_by(
    believed: Option<Source>,
    history: &History,
    observations: &Observations,
    times: &TransactionTimes,
    cancel: &Cancel,
) -> Orders {
    let claims = Claims::default();
    let (first, is_of_items) = (&first_transactions(history)[..], false);
    let question = orders::Question { history, observations, times, claims, believed, first, is_of_items };
    Orders::new(&question, cancel)
}

/// All edges of the dependency graph between transactions: (before, after, relation), sorted, each once.
#[must_use]
pub fn edges(history: &History, observations: &Observations, cancel: &Cancel) -> Vec<(u32, u32, Relation)> {
    let times = TransactionTimes::new(history, &observations.counted);
    let orders = recorded(history, observations, &times, cancel);
    let all = Dependencies::new(history, observations, &orders, &times);
    let transaction = |node: u32| all.transactions[node as usize];
    let direct = |pairs: &[(u32, u32)], relation: Relation| -> Vec<(u32, u32, Relation)> {
        let edges = pairs.iter().map(|&(node, before)| (transaction(before), transaction(node), relation));
        edges.collect()
    };
    let mut found = direct(&all.wr, Relation::WriteRead);
    found.extend(direct(&all.ww, Relation::WriteWrite));
    let readers = Readers::new(history, &orders, &all.transactions);
    let mut next = Vec::new();
    for order in &orders.keys {
        adjacent_versions(&orders, order, &mut next);
        for edge in next.iter().filter(|edge| edge.is_direct(Basis::ReadThenWrite)) {
            let writer = orders.writers[edge.after as usize];
            let others = readers.of(edge.before).iter().map(|&reader| transaction(reader));
            let others = others.filter(|&reader| reader != writer);
            found.extend(others.map(|reader| (reader, writer, Relation::ReadWrite)));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
