//! A history in memory as a timeline: its events are sorted, its transactions are looked up in columns.

use super::doubtful_writes::DoubtfulWrites;
use super::events;
use super::key_uses::KeyUses;
use super::origins::sees;
use super::passes::{self, Timeline, Visitor};
use super::replay::{Operation, Source};
use super::replay_findings::StaleRead;
use super::suspect_reads::SuspectRead;
use super::{ClockAnomaly, ClockLevel, Event, Finding, Judgement, NOTHING};
use crate::by_key::ByKey;
use crate::cancel::Cancel;
use crate::history::{History, Kind, Status, Timestamp};
use crate::reads::counted;
use crate::value::Value;
use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::RangeInclusive;

/// So many events are shown before a request to stop is looked for.
const BLOCK: usize = 4096;

/// Holds a history against its clock; of each anomaly the first `max_anomalies` findings are kept.
#[must_use]
pub fn judge(history: &History, level: ClockLevel, max_anomalies: usize, cancel: &Cancel) -> Judgement {
    judge_window(history, level, max_anomalies, i64::MIN..=i64::MAX, cancel)
}

/// The same of a part of a longer history: events whose physical time is not in `window` only shape the state.
///
/// The part has all transactions with an event in the window, all writers that run across it, and the newest
/// versions before it. So each event in the window meets the state that it meets in the longer history.
#[must_use]
pub fn judge_window(
    history: &History,
    level: ClockLevel,
    max_anomalies: usize,
    window: RangeInclusive<i64>,
    cancel: &Cancel,
) -> Judgement {
    let mut timeline = MemoryTimeline::new(history, level, max_anomalies, cancel);
    timeline.window = window;
    let Ok(judgement) = passes::judge(&mut timeline, level, max_anomalies);
    judgement
}

/// Only puts the events in order: how many timestamps belong to several transactions.
#[must_use]
pub fn ties(history: &History, level: ClockLevel) -> u64 {
    let (timed, _) = split(history, &counted_as_committed(history), level);
    events::ordered(history, &timed, level == ClockLevel::Snapshot).1
}

/// Which transactions count as committed; one that touched no data takes part in nothing.
fn counted_as_committed(history: &History) -> Vec<bool> {
    let statuses = &history.transactions.statuses;
    let touches_data = |transaction: usize| history.touches_data(transaction);
    if !statuses.contains(&Status::Indeterminate) {
        let all = statuses.iter().enumerate();
        return all.map(|(number, &status)| status == Status::Committed && touches_data(number)).collect();
    }
    let counted = counted(history, &history.transaction_of_operation(), &ByKey::new(history));
    counted.into_iter().enumerate().map(|(number, counts)| counts && touches_data(number)).collect()
}

/// Of the transactions that count as committed, those with the timestamps that the level needs, and the rest.
fn split(history: &History, counted: &[bool], level: ClockLevel) -> (Vec<u32>, Vec<u32>) {
    let is_timed = |&transaction: &u32| has_timestamps(history, transaction as usize, level);
    let all = (0..counted.len() as u32).filter(|&transaction| counted[transaction as usize]);
    all.partition(is_timed)
}

/// Whether a transaction has the timestamps that the level needs.
pub fn has_timestamps(history: &History, transaction: usize, level: ClockLevel) -> bool {
    let columns = &history.transactions;
    columns.commits.get(transaction).parts().is_some()
        && (level == ClockLevel::Serializable || columns.starts.get(transaction).parts().is_some())
}

/// A history in memory, its events in order.
struct MemoryTimeline<'h> {
    columns: Columns<'h>,
    level: ClockLevel,
    max_anomalies: usize,
    cancel: &'h Cancel,
    counted: Vec<bool>,
    timed: Vec<u32>,
    untimed: u64,
    events: Vec<Event>,
    ties: u64,
    suspects: Vec<SuspectRead>,
    /// The physical times of events that are reported on.
    window: RangeInclusive<i64>,
}

impl<'h> MemoryTimeline<'h> {
    fn new(history: &'h History, level: ClockLevel, max_anomalies: usize, cancel: &'h Cancel) -> Self {
        let counted = counted_as_committed(history);
        let (timed, untimed) = split(history, &counted, level);
        let (uses, (events, ties)) = rayon::join(
            || KeyUses::of(history, &counted, &untimed),
            || events::ordered(history, &timed, level == ClockLevel::Snapshot),
        );
        let doubtful = DoubtfulWrites::of(history, &counted, level);
        let (columns, untimed) = (Columns { history, uses, doubtful, level }, untimed.len() as u64);
        let (suspects, window) = (Vec::new(), i64::MIN..=i64::MAX);
        Self {
            columns,
            level,
            max_anomalies,
            cancel,
            counted,
            timed,
            untimed,
            events,
            ties,
            suspects,
            window,
        }
    }

    fn is_in_window(&self, event: Event) -> bool {
        event.time().parts().is_none_or(|(physical, _)| self.window.contains(&physical))
    }

    /// Shows the transactions that have no place in the order.
    fn visit_unordered(&self, visitor: &mut impl Visitor) {
        let mut is_timed = vec![false; self.counted.len()];
        for &transaction in &self.timed {
            is_timed[transaction as usize] = true;
        }
        for (transaction, &is_counted) in self.counted.iter().enumerate() {
            if !is_timed[transaction] {
                visitor.unordered(&self.columns, transaction as u32, is_counted);
            }
        }
    }

    /// The place of each commit in the order of events.
    fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![NOTHING; self.counted.len()];
        for (rank, event) in self.events.iter().enumerate().filter(|(_, event)| !event.is_start()) {
            ranks[event.transaction() as usize] = rank as u32;
        }
        ranks
    }

    fn add_inversions(&self, judgement: &mut Judgement) {
        for &transaction in &self.timed {
            let (start, commit) = self.columns.times(transaction);
            if start > commit {
                let inversion = Finding::between(ClockAnomaly::TimestampInversion, transaction, NOTHING);
                judgement.note(self.max_anomalies, inversion);
            }
        }
    }

    /// Adds the neighbours in a session of which the second does not see the first.
    fn add_session_order(&self, judgement: &mut Judgement) {
        let ranks = self.ranks();
        let history = self.columns.history;
        for session in 0..history.session_ids.len() {
            let transactions = history.transactions_of(session).iter().copied();
            let mut before = None;
            for transaction in transactions.filter(|&transaction| ranks[transaction as usize] != NOTHING) {
                let is_unseen = |&before: &u32| {
                    let is_earlier = ranks[before as usize] < ranks[transaction as usize];
                    let committed = self.columns.times(before).1;
                    !sees(self.level, self.columns.times(transaction), committed, is_earlier)
                };
                if let Some(before) = before.filter(is_unseen) {
                    let disorder = Finding::between(ClockAnomaly::SessionOrder, transaction, before);
                    judgement.note(self.max_anomalies, disorder);
                }
                before = Some(transaction);
            }
        }
    }
}

impl Timeline for MemoryTimeline<'_> {
    type Error = Infallible;

    fn visit(&mut self, visitor: &mut impl Visitor) -> Result<(), Infallible> {
        let initial = &self.columns.history.initial;
        let is_initial_open = |key| initial.of(key) == Value::UNKNOWN;
        for (block, events) in self.events.chunks(BLOCK).enumerate() {
            if self.cancel.is_asked() {
                return Ok(());
            }
            for (&event, rank) in events.iter().zip((block * BLOCK) as u32..) {
                if self.is_in_window(event) {
                    visitor.event(&self.columns, event, rank);
                } else {
                    visitor.context(&self.columns, event, rank);
                }
            }
            self.suspects.extend(visitor.suspects(is_initial_open));
        }
        self.visit_unordered(visitor);
        self.suspects.extend(visitor.suspects(is_initial_open));
        Ok(())
    }

    fn suspects(&mut self, chunk: usize) -> Result<Cow<'_, [SuspectRead]>, Infallible> {
        Ok(Cow::Borrowed(if chunk == 0 { &self.suspects } else { &[] }))
    }

    fn keys(&self) -> usize {
        self.columns.history.keys.len()
    }

    fn initial(&self, key: u32) -> Value {
        Source::initial(&self.columns, key)
    }

    fn complete(&self, judgement: &mut Judgement) {
        judgement.ties = self.ties;
        judgement.untimed = self.untimed;
        if self.level == ClockLevel::Snapshot {
            self.add_inversions(judgement);
            self.add_session_order(judgement);
        }
        self.columns.uses.report(judgement);
    }
}

/// Transactions of a history in memory.
struct Columns<'h> {
    history: &'h History,
    uses: KeyUses,
    doubtful: DoubtfulWrites,
    level: ClockLevel,
}

impl Source for Columns<'_> {
    fn operations(&self, transaction: u32) -> impl Iterator<Item = Operation> {
        let columns = &self.history.operations;
        self.history.operations_of(transaction as usize).map(|number| Operation {
            number: number as u32,
            kind: columns.kinds[number],
            key: columns.keys[number],
            value: if columns.kinds[number] == Kind::Delete { Value::NIL } else { columns.values[number] },
        })
    }

    fn list(&self, value: Value) -> Option<&[Value]> {
        self.history.values.as_list(value)
    }

    fn times(&self, transaction: u32) -> (Timestamp, Timestamp) {
        let columns = &self.history.transactions;
        (columns.starts.get(transaction as usize), columns.commits.get(transaction as usize))
    }

    fn is_judged(&self, key: u32) -> bool {
        self.uses.is_judged(key)
    }

    fn is_timed(&self, key: u32) -> bool {
        self.uses.is_timed(key)
    }

    fn initial(&self, key: u32) -> Value {
        if self.uses.is_replaced(key) { Value::NOTHING } else { self.history.initial.of(key) }
    }

    fn is_set_aside(&self, stale: &StaleRead, found: &[Value], demanded: &[Value]) -> bool {
        if self.doubtful.is_empty() {
            return false;
        }
        let reads_at = if self.level == ClockLevel::Snapshot { stale.start } else { stale.commit };
        let replaces = (stale.is_register() && stale.expected != NOTHING)
            .then(|| self.times(self.history.transaction_of(stale.expected)).1);
        self.doubtful.explain((stale.key, stale.is_register()), found, demanded, (replaces, reads_at))
    }
}
