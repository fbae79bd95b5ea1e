//! The order in which a history's events are written, and the losses of that order.
//!
//! Events are ordered by their positions, else by the clients' clock, provided that the reader would find
//! every session as it is. Any other history is written as completions only: invocations would claim a
//! real-time order that was not observed.

use super::MISSING;
use crate::evidence::has_event_order;
use crate::formats::json;
use crate::history::{History, Kind, Label, Status};
use crate::predicates::{Predicate, is_init};
use crate::value::{AtomKind, Value};
use hashbrown::HashSet;

/// One event to be written.
pub(super) struct Step {
    pub(super) position: i64,
    pub(super) transaction: usize,
    pub(super) is_completion: bool,
}

/// The source of the order of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Positions,
    Clock,
    Rows,
}

impl Order {
    /// The order of the events of `history`, and the events.
    pub(super) fn of(history: &History) -> (Self, Vec<Step>) {
        if let Some(steps) = by_position(history).filter(|steps| keeps_sessions(history, steps)) {
            return (Self::Positions, steps);
        }
        if let Some(steps) = by_clock(history).filter(|steps| keeps_sessions(history, steps)) {
            return (Self::Clock, steps);
        }
        (Self::Rows, completions(history))
    }
}

/// Losses of `history` in a log of events, beyond the features that the format does not have.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let (order, steps) = Order::of(history);
    let nameless = |step: &Step| !step.is_completion && is_nameless(history, step.transaction);
    let lost = [
        ("event order that is incomplete, or in which transactions of one session overlap", {
            order != Order::Positions && has_event_order(history)
        }),
        ("missing session ids of transactions that were invoked", steps.iter().any(nameless)),
        (
            "client intervals that are open, negative, end before they start or overlap in one session",
            lacks_events(history, order),
        ),
        ("the difference between unknown results and nil", loses_results(history, order)),
        ("the difference between vectors and lists", loses_vectors(history)),
        ("values of deletes", loses_values_of_deletes(history)),
        ("range reads other than of `:true`, `[:= n]` or `[:mod m r]`", loses_range_reads(history)),
        ("predicates of other operations than range reads", loses_predicates(history)),
        ("statement kinds other than those of a first transaction", loses_statements(history)),
    ];
    lost.into_iter().filter(|&(_, is_lost)| is_lost).map(|(name, _)| name).collect()
}

/// The same for events in JSON.
#[must_use]
pub fn unwritable_json(history: &History) -> Vec<&'static str> {
    [unwritable(history), json::unwritable(history)].concat()
}

fn is_nameless(history: &History, transaction: usize) -> bool {
    history.session_ids[history.transactions.sessions[transaction] as usize] == Value::NIL
}

/// Whether an end of a transaction has a time but no event to carry it.
fn lacks_events(history: &History, order: Order) -> bool {
    let transactions = &history.transactions;
    if transactions.intervals.is_empty() {
        return false;
    }
    (0..history.transaction_count()).any(|transaction| {
        let (times, places) =
            (transactions.intervals.get(transaction), transactions.positions.get(transaction));
        let is_lost = |time: Option<i64>, has_event: bool| time.is_some_and(|time| !has_event || !fits(time));
        let (invoked, completed) = match order {
            Order::Positions => (places.invoke().is_some(), places.complete().is_some()),
            Order::Clock => (true, true),
            Order::Rows => (false, true),
        };
        is_lost(times.invoke(), invoked) || is_lost(times.complete(), completed)
    })
}

/// Whether the reader takes `time` for one.
fn fits(time: i64) -> bool {
    time >= 0 && Value::small(time).is_some()
}

/// Nil is a result if the transaction committed and none if it did not; without a completion nothing is.
fn loses_results(history: &History, order: Order) -> bool {
    let transactions = &history.transactions;
    let completes = |transaction: usize| {
        order != Order::Positions || transactions.positions.get(transaction).complete().is_some()
    };
    let is_lost = |transaction: usize, value: Value| match transactions.statuses[transaction] {
        Status::Committed => value == Value::UNKNOWN,
        _ if value == Value::NIL => true,
        _ => value != Value::UNKNOWN && !completes(transaction),
    };
    let operations = &history.operations;
    (0..history.transaction_count()).any(|transaction| {
        history.operations_of(transaction).any(|operation| match operations.kinds[operation] {
            Kind::Read => is_lost(transaction, operations.values[operation]),
            Kind::RangeRead => !completes(transaction),
            _ => false,
        })
    })
}

fn loses_values_of_deletes(history: &History) -> bool {
    let operations = history.operations.kinds.iter().zip(&history.operations.values);
    operations.into_iter().any(|(&kind, &value)| kind == Kind::Delete && value != Value::NIL)
}

fn loses_range_reads(history: &History) -> bool {
    let is_range_read = |&place: &usize| history.operations.kinds[place] == Kind::RangeRead;
    (0..history.operation_count())
        .filter(is_range_read)
        .any(|place| Predicate::of_elle(history, place).is_none())
}

fn loses_predicates(history: &History) -> bool {
    let operations = &history.operations;
    let has_predicate = |place: usize| operations.predicates.get(place) != Label::default();
    !operations.predicates.is_empty()
        && (0..history.operation_count())
            .any(|place| operations.kinds[place] != Kind::RangeRead && has_predicate(place))
}

fn loses_statements(history: &History) -> bool {
    let statements = &history.operations.statements;
    let has_statement = |place: usize| statements.get(place) != Label::default();
    !statements.is_empty()
        && (0..history.transaction_count()).any(|transaction| {
            !is_init(history, transaction) && history.operations_of(transaction).any(has_statement)
        })
}

/// The reader takes a vector for a list, unless a vector was written to that key.
fn loses_vectors(history: &History) -> bool {
    let bracket = |value: Value| match history.values.atom(value.atom_index()?) {
        (AtomKind::Term, text) => text.bytes().next().filter(|first| b"[(".contains(first)),
        _ => None,
    };
    let operations = &history.operations;
    let of_kind = |kind: Kind| {
        let places = (0..history.operation_count()).filter(move |&place| operations.kinds[place] == kind);
        places.map(|place| (operations.keys[place], operations.values[place]))
    };
    let writes = of_kind(Kind::Write).chain(of_kind(Kind::Insert));
    let written: HashSet<u32> =
        writes.filter(|&(_, value)| bracket(value).is_some()).map(|(key, _)| key).collect();
    of_kind(Kind::Read).any(|(key, value)| match bracket(value) {
        Some(bracket) => bracket == b'(' || !written.contains(&key),
        None => value.list_index().is_some() && written.contains(&key),
    })
}

/// By positions, if they order every event that the reader needs.
fn by_position(history: &History) -> Option<Vec<Step>> {
    let transactions = &history.transactions;
    let mut steps = Vec::new();
    for (transaction, &status) in transactions.statuses.iter().enumerate() {
        let interval = transactions.positions.get(transaction);
        let needed = if status == Status::Indeterminate { interval.invoke() } else { None };
        interval.complete().or(needed)?;
        for (position, is_completion) in [(interval.invoke(), false), (interval.complete(), true)] {
            steps.extend(position.map(|position| Step { position, transaction, is_completion }));
        }
    }
    steps.sort_unstable_by_key(|step| step.position);
    let ascend = steps.windows(2).all(|pair| pair[0].position < pair[1].position);
    let fit = steps.iter().all(|step| fits(step.position));
    (ascend && fit).then_some(steps)
}

/// By the clients' clock, if it shows both ends of every transaction.
///
/// The rows may come in another order, such as session by session: the events carry the ids. Intervals are closed, so at one instant invocations come first.
fn by_clock(history: &History) -> Option<Vec<Step>> {
    if history.transaction_count() == 0 {
        return None;
    }
    let mut steps = Vec::new();
    for transaction in 0..history.transaction_count() {
        let interval = history.transactions.intervals.get(transaction);
        let (invoke, complete) = (interval.invoke()?, interval.complete()?);
        if !fits(invoke) || !fits(complete) || invoke > complete {
            return None;
        }
        for (time, is_completion) in [(invoke, false), (complete, true)] {
            steps.push((time, is_completion, Step { position: MISSING, transaction, is_completion }));
        }
    }
    steps.sort_by_key(|&(time, is_completion, _)| (time, is_completion));
    Some(steps.into_iter().map(|(.., step)| step).collect())
}

/// Completions only, as the input showed the transactions unless that breaks the order of a session.
fn completions(history: &History) -> Vec<Step> {
    let order = history.written_order();
    order.map(|transaction| Step { position: MISSING, transaction, is_completion: true }).collect()
}

/// Whether the reader would find in every session the same transactions in the same order: one at a time,
/// those that never complete at the end.
fn keeps_sessions(history: &History, steps: &[Step]) -> bool {
    let mut next = history.session_offsets.clone();
    let mut open: Vec<Option<usize>> = vec![None; history.session_ids.len()];
    for step in steps {
        let session = history.transactions.sessions[step.transaction] as usize;
        if !step.is_completion {
            if open[session].replace(step.transaction).is_some() {
                return false;
            }
            continue;
        }
        let is_next = history.session_transactions[next[session] as usize] as usize == step.transaction;
        if !is_next || open[session].take().is_some_and(|invoked| invoked != step.transaction) {
            return false;
        }
        next[session] += 1;
    }
    let completes = |(session, last): (usize, &u32)| {
        let pending = open[session].map(|transaction| transaction as u32);
        let left = &history.session_transactions[next[session] as usize..*last as usize];
        left == pending.as_slice()
    };
    history.session_offsets[1..].iter().enumerate().all(completes)
}
