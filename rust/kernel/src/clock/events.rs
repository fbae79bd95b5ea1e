//! When transactions start and commit by the database's own clock, and in which order.
//!
//! Events are ordered by (timestamp, commit before start, start timestamp, session, position): a commit is
//! visible to a start at the same time. Sessions are compared by their ids in the input, so that the order of
//! arrival never matters.

use crate::history::{History, Timestamp};
use crate::value::{AtomKind, Value, Values};
use rayon::prelude::*;
use std::cmp::Ordering;

/// A start or a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    time: Timestamp,
    /// The transaction and, in the last bit, whether it is a start.
    place: u32,
}

impl Event {
    /// A commit, or a start, of `transaction`.
    #[must_use]
    pub const fn new(time: Timestamp, transaction: u32, is_start: bool) -> Self {
        Self { time, place: transaction << 1 | is_start as u32 }
    }

    /// The time.
    #[must_use]
    pub const fn time(self) -> Timestamp {
        self.time
    }

    /// The transaction.
    #[must_use]
    pub const fn transaction(self) -> u32 {
        self.place >> 1
    }

    /// Whether it is a start, not a commit.
    #[must_use]
    pub const fn is_start(self) -> bool {
        self.place & 1 == 1
    }
}

/// The events of `transactions` in order, and how many timestamps belong to several transactions.
#[must_use]
pub fn ordered(history: &History, transactions: &[u32], with_starts: bool) -> (Vec<Event>, u64) {
    let columns = &history.transactions;
    let mut events: Vec<Event> = Vec::with_capacity(transactions.len() << usize::from(with_starts));
    for &transaction in transactions {
        events.push(Event::new(columns.commits.get(transaction as usize), transaction, false));
        if with_starts {
            events.push(Event::new(columns.starts.get(transaction as usize), transaction, true));
        }
    }
    events.par_sort_unstable_by_key(|event| (event.time, event.is_start(), event.transaction()));
    let ties = Ties { history, places: Vec::new() }.settle(&mut events);
    (events, ties)
}

/// Puts events at the same time into the order that their transactions have.
struct Ties<'h> {
    history: &'h History,
    /// The place of each transaction in its session, computed when it is first needed.
    places: Vec<u32>,
}

impl Ties<'_> {
    fn settle(mut self, events: &mut [Event]) -> u64 {
        let mut ties = 0;
        for run in events.chunk_by_mut(|a, b| a.time == b.time) {
            if run.len() == 1 {
                continue;
            }
            ties += u64::from(run.iter().any(|event| event.transaction() != run[0].transaction()));
            for same in run.chunk_by_mut(|a, b| a.is_start() == b.is_start()) {
                if same.len() > 1 {
                    self.know_places();
                    same.sort_unstable_by(|a, b| self.compare(a.transaction(), b.transaction()));
                }
            }
        }
        ties
    }

    fn know_places(&mut self) {
        if !self.places.is_empty() {
            return;
        }
        self.places = vec![0; self.history.transaction_count()];
        for session in 0..self.history.session_ids.len() {
            for (place, &transaction) in self.history.transactions_of(session).iter().enumerate() {
                self.places[transaction as usize] = place as u32;
            }
        }
    }

    fn compare(&self, one: u32, other: u32) -> Ordering {
        let (one, other) = (one as usize, other as usize);
        let columns = &self.history.transactions;
        let starts = columns.starts.get(one).cmp(&columns.starts.get(other));
        let (session, others) = (columns.sessions[one] as usize, columns.sessions[other] as usize);
        starts.then_with(|| {
            if session == others {
                return self.places[one].cmp(&self.places[other]);
            }
            let ids = &self.history.session_ids;
            sessions(
                &self.history.values,
                (ids[session], columns.ids[one]),
                (ids[others], columns.ids[other]),
            )
        })
    }
}

/// Compares sessions by their ids; nameless ones come last, by the ids of their transactions.
pub(super) fn sessions(values: &Values, one: (Value, Value), other: (Value, Value)) -> Ordering {
    let is_nameless = |(session, _): (Value, Value)| session == Value::NIL;
    is_nameless(one).cmp(&is_nameless(other)).then_with(|| {
        if is_nameless(one) { ids(values, one.1, other.1) } else { ids(values, one.0, other.0) }
    })
}

/// Compares ids: integers by number, then strings, then all others by their texts.
fn ids(values: &Values, one: Value, other: Value) -> Ordering {
    if let (Some(one), Some(other)) = (one.as_small(), other.as_small()) {
        return one.cmp(&other);
    }
    let (one, other) = (id(values, one), id(values, other));
    one.cmp(&other)
}

/// Rank of the kind; for integers sign, length and digits; the text.
pub(super) fn id(values: &Values, value: Value) -> (u8, i64, String) {
    if let Some(number) = value.as_small() {
        return integer(&number.to_string());
    }
    let (kind, text) = value.atom_index().map_or((AtomKind::Nil, ""), |index| values.atom(index));
    match kind {
        AtomKind::Integer => integer(text),
        AtomKind::Text => (1, 0, text.to_owned()),
        _ => (2, 0, text.to_owned()),
    }
}

/// Decimals of one sign and length compare like their numbers; of negative ones the other way round.
fn integer(text: &str) -> (u8, i64, String) {
    match text.strip_prefix('-') {
        None => (0, text.len() as i64, text.to_owned()),
        Some(digits) => {
            let turned = digits.bytes().map(|digit| (b'9' - digit + b'0') as char).collect();
            (0, -(digits.len() as i64), turned)
        }
    }
}
