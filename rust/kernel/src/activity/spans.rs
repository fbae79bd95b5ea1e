//! When each transaction began and ended, by the best clock that a history has.

use crate::history::{History, Timestamp};
use crate::named_enum::named_enum;
use crate::versions::transaction_times::by_clock;

named_enum! {
    /// The clock that the spans are of.
    #[derive(Default)]
    pub enum Clock {
        /// The client's clock, in nanoseconds.
        Client => "client",
        /// The database's own clock; the length of a tick is unknown.
        Database => "database",
        /// No clock, but one order of all invocations and completions.
        Events => "events",
        /// Nothing but the order in which the input shows transactions.
        #[default]
        Appearance => "appearance",
    }
}

/// From the first invocation to the last completion, as far as both are known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    pub began: Option<i64>,
    pub ended: Option<i64>,
}

impl Span {
    /// Both ends, if they are known and in this order.
    pub fn both(self) -> Option<(i64, i64)> {
        self.began.zip(self.ended).filter(|(began, ended)| began <= ended)
    }
}

/// The spans of all transactions.
pub struct Spans {
    pub clock: Clock,
    pub all: Vec<Span>,
}

impl Spans {
    pub fn new(history: &History) -> Self {
        let clocks = [Clock::Client, Clock::Database, Clock::Events].into_iter();
        let found = clocks.map(|clock| Self::by(history, clock)).find(|spans| spans.bounds().is_some());
        found.unwrap_or_else(|| Self::by(history, Clock::Appearance))
    }

    fn by(history: &History, clock: Clock) -> Self {
        let all = (0..history.transaction_count()).map(|transaction| span(history, clock, transaction));
        Self { clock, all: all.collect() }
    }

    /// The first and the last instant that is known.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        let instants = || self.all.iter().flat_map(|span| [span.began, span.ended]).flatten();
        instants().min().zip(instants().max())
    }
}

fn span(history: &History, clock: Clock, transaction: usize) -> Span {
    let transactions = &history.transactions;
    let physical = |timestamp: Timestamp| timestamp.parts().map(|(physical, _)| physical);
    match clock {
        Clock::Client => of_interval(by_clock(history, transaction)),
        Clock::Events => of_interval(transactions.positions.get(transaction)),
        Clock::Database => Span {
            began: physical(transactions.starts.get(transaction)),
            ended: physical(transactions.commits.get(transaction)),
        },
        // An order has places, and no time between them.
        Clock::Appearance => Span { began: None, ended: Some(transaction as i64) },
    }
}

fn of_interval(interval: crate::history::Interval) -> Span {
    Span { began: interval.invoke(), ended: interval.complete() }
}
