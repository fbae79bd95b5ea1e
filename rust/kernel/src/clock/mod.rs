//! Snapshot isolation and serializability by the database's own clock: replay, and compare every read.
//!
//! Li et al. 2025 (CHRONOS); `reference/clock.py` is the specification. Cost: a sort of the events, then
//! linear in the operations.

mod aside;
mod classes;
mod events;
mod found;
mod learn;
mod list;
pub mod online;
mod replay;
pub mod stream;
mod writers;

use crate::by_key::ByKey;
use crate::cancel::Cancel;
use crate::history::{History, Kind, Status, Timestamp};
use crate::reads::{self, counted};
use crate::value::Value;
use aside::Shapes;
pub use classes::Class;
use classes::{Origins, Shown, Write, sees};
pub use events::Event;
use found::{Found, Unequal};
use learn::{Learned, Suspects};
use list::Relation;
use replay::{Operation, Replay, Source};

/// No transaction, or no operation.
pub const NOTHING: u32 = reads::NOTHING;

/// What the clock is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Isolation {
    /// Every transaction reads the snapshot of its start, and none that overlap write the same key.
    Snapshot,
    /// Every transaction happens at its commit.
    Serializable,
}

/// What can contradict the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Name {
    /// EXT: a read shows another version than the newest that was committed.
    StaleRead,
    /// SESSION: a transaction starts before the one before it in its session committed.
    SessionOrder,
    /// NOCONFLICT: two that overlap wrote the same key.
    WriteConflict,
    /// A transaction starts after it committed.
    TimestampInversion,
    /// INT: a read does not show what its transaction wrote.
    NotMyOwnWrite,
    /// INT: it shows what its transaction wrote and then replaced.
    NotMyLastWrite,
    /// INT: it does not show what its transaction read before.
    NonRepeatableRead,
}

/// How many names there are.
pub const NAMES: usize = 7;

/// One contradiction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub name: Name,
    /// Whose read, or who starts too early, or who committed first.
    pub transaction: u32,
    /// The other transaction; [`NOTHING`] if there is none.
    pub other: u32,
    /// The key.
    pub key: u32,
    /// The read; of a conflict the write of the first.
    pub operation: u32,
    /// What it must be held against: the write that the read should have shown ([`NOTHING`]: the initial
    /// value), the access before it; of a conflict the write of the second.
    pub against: u32,
    /// What a stale read should have shown, element by element.
    pub expected: Vec<Value>,
    /// Where what a stale read shows comes from, and the write that it was.
    pub class: Option<(Class, u32)>,
}

/// Everything found, and everything that could not be judged.
#[derive(Debug, Default)]
pub struct Judgement {
    /// By name.
    pub counts: [u64; NAMES],
    /// The first of each name, in the order of events.
    pub findings: Vec<Finding>,
    /// Timestamps that belong to several transactions.
    pub ties: u64,
    /// Transactions that count as committed and have not the timestamps that are needed.
    pub untimed: u64,
    /// Keys that were set aside because they are deleted at times.
    pub deleted_keys: Vec<u32>,
    /// Keys that are both written and appended to.
    pub mixed_keys: Vec<u32>,
    /// Keys that a transaction without timestamps wrote.
    pub untimed_keys: u64,
    /// Range reads, which are not judged.
    pub range_reads: u64,
}

/// Holds a history against its clock; of each name the first `most` findings are kept.
#[must_use]
pub fn judge(history: &History, isolation: Isolation, most: usize, cancel: &Cancel) -> Judgement {
    let counted = counted_as_committed(history);
    let (timed, untimed) = split(history, &counted, isolation);
    let (shapes, (events, ties)) = rayon::join(
        || Shapes::of(history, &counted, &untimed),
        || events::ordered(history, &timed, isolation == Isolation::Snapshot),
    );
    let source = Columns { history, shapes: &shapes };
    let keys = history.keys.len();
    let mut replay = Replay::new(isolation, keys, most);
    for (place, &event) in events.iter().enumerate() {
        if place.is_multiple_of(4096) && cancel.is_asked() {
            return Judgement::default();
        }
        replay.happen(&source, event);
    }
    for &transaction in &untimed {
        replay.hear(&source, transaction);
    }
    let mut judgement = Judgement { ties, untimed: untimed.len() as u64, ..Judgement::default() };
    let ranks = ranks(&events, history.transaction_count());
    let context = Context { history, counted: &counted, isolation, ranks, shapes: &shapes };
    judgement.of_reads(&context, &replay.found(), most);
    if isolation == Isolation::Snapshot {
        judgement.of_times(&context, &timed, most);
    }
    shapes.report(&mut judgement);
    judgement
}

/// Only puts the events in order: how many timestamps belong to several transactions.
#[must_use]
pub fn ties(history: &History, isolation: Isolation) -> u64 {
    let (timed, _) = split(history, &counted_as_committed(history), isolation);
    events::ordered(history, &timed, isolation == Isolation::Snapshot).1
}

/// The place of each commit in the order of events; the last for those without one.
fn ranks(events: &[Event], transactions: usize) -> Vec<u32> {
    let mut ranks = vec![u32::MAX; transactions];
    for (place, event) in events.iter().enumerate().filter(|(_, event)| !event.is_start()) {
        ranks[event.transaction() as usize] = place as u32;
    }
    ranks
}

/// Which transactions count as committed.
fn counted_as_committed(history: &History) -> Vec<bool> {
    let statuses = &history.transactions.statuses;
    if !statuses.contains(&Status::Indeterminate) {
        return statuses.iter().map(|&status| status == Status::Committed).collect();
    }
    counted(history, &history.transaction_of_operation(), &ByKey::new(history))
}

/// Those that count and have the timestamps that are needed, and those that count and have not.
fn split(history: &History, counted: &[bool], isolation: Isolation) -> (Vec<u32>, Vec<u32>) {
    let columns = &history.transactions;
    let is_timed = |&transaction: &u32| {
        let transaction = transaction as usize;
        columns.commits.get(transaction).parts().is_some()
            && (isolation == Isolation::Serializable || columns.starts.get(transaction).parts().is_some())
    };
    let all = (0..counted.len() as u32).filter(|&transaction| counted[transaction as usize]);
    all.partition(is_timed)
}

/// A history in memory.
struct Columns<'h> {
    history: &'h History,
    shapes: &'h Shapes,
}

impl Source for Columns<'_> {
    fn operations(&self, transaction: u32) -> impl Iterator<Item = Operation> {
        let columns = &self.history.operations;
        self.history.operations_of(transaction as usize).map(|number| Operation {
            number: number as u32,
            kind: columns.kinds[number],
            key: columns.keys[number],
            value: columns.values[number],
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
        self.shapes.is_judged(key)
    }

    fn is_timed(&self, key: u32) -> bool {
        self.shapes.is_timed(key)
    }

    fn initial(&self, key: u32) -> Value {
        initial(self.history, self.shapes, key)
    }
}

/// The initial value of a key, if no transaction wrote it explicitly.
fn initial(history: &History, shapes: &Shapes, key: u32) -> Value {
    if shapes.is_replaced(key) { Value::NOTHING } else { history.initial.of(key) }
}

/// What is asked once something was found.
pub(crate) struct Context<'h> {
    history: &'h History,
    counted: &'h [bool],
    isolation: Isolation,
    /// The place of each commit in the order of events.
    ranks: Vec<u32>,
    shapes: &'h Shapes,
}

impl Context<'_> {
    fn initial(&self, key: u32) -> Value {
        initial(self.history, self.shapes, key)
    }

    fn times(&self, transaction: usize) -> (Timestamp, Timestamp) {
        let columns = &self.history.transactions;
        (columns.starts.get(transaction), columns.commits.get(transaction))
    }

    /// Whether the second of two neighbours in a session does not see the first.
    fn is_out_of_order(&self, before: usize, after: usize) -> bool {
        let is_earlier = self.ranks[before] < self.ranks[after];
        !sees(self.isolation, self.times(after), self.times(before).1, is_earlier)
    }

    /// The initial values that reads show.
    fn learned(&self, found: &Found) -> Learned {
        let is_open = |key| self.history.initial.of(key) == Value::UNKNOWN;
        let (mut suspects, mut learned) = (Suspects::of(found, is_open), Learned::default());
        if !suspects.is_empty() {
            self.each_write(|_, _, key, value| suspects.clear(key, value));
        }
        suspects.settle(&mut learned);
        learned
    }

    /// Tells those who ask where stale reads come from of every write.
    fn tell(&self, origins: &mut Origins) {
        for (transaction, &rank) in self.ranks.iter().enumerate() {
            origins.commits(transaction as u32, rank);
        }
        let columns = &self.history.operations;
        self.each_write(|transaction, number, key, value| {
            if !origins.asks(key, value) {
                return;
            }
            let (start, commit) = self.times(transaction);
            let writer = transaction as u32;
            let last = last_write(self.history, writer, key) as usize;
            origins.hear(&Write {
                number,
                writer,
                key,
                value,
                is_left: columns.values[last] == value,
                is_counted: self.counted[transaction],
                start,
                commit,
                rank: self.ranks[transaction],
            });
        });
        for (transaction, key) in origins.open_writes() {
            origins.installs(transaction, key, last_write(self.history, transaction, key));
        }
    }

    fn each_write(&self, mut see: impl FnMut(usize, u32, u32, Value)) {
        let columns = &self.history.operations;
        for transaction in 0..self.history.transaction_count() {
            for number in self.history.operations_of(transaction) {
                let kind = columns.kinds[number];
                if kind.installs() && kind != Kind::Delete {
                    see(transaction, number as u32, columns.keys[number], columns.values[number]);
                }
            }
        }
    }
}

impl Judgement {
    fn of_reads(&mut self, context: &Context<'_>, found: &Found, most: usize) {
        let learned = context.learned(found);
        let wrong = || found.stale.iter().filter(|stale| learned.is_wrong(stale));
        self.counts[Name::StaleRead as usize] = wrong().count() as u64;
        self.counts[Name::WriteConflict as usize] = found.conflict_count;
        let mut lists = found.lists.iter().cloned();
        let shown = wrong().take(most).map(|&stale| {
            let lists = (stale.relation != Relation::Register).then(|| lists.next()).flatten();
            let (list, expected) = lists.unwrap_or_default();
            Shown { stale, list, expected }
        });
        let mut origins = Origins::of(context.isolation, shown.collect(), &found.conflicts);
        if !origins.is_empty() {
            context.tell(&mut origins);
        }
        self.findings = origins.findings(&found.conflicts, &learned, |key| context.initial(key));
        for unequal in &found.unequal {
            self.note(most, unequal.finding());
        }
    }

    /// What timestamps show by themselves.
    fn of_times(&mut self, context: &Context<'_>, timed: &[u32], most: usize) {
        let history = context.history;
        let mut is_timed = vec![false; history.transaction_count()];
        for &transaction in timed {
            is_timed[transaction as usize] = true;
            let (start, commit) = context.times(transaction as usize);
            if start > commit {
                self.note(most, Finding::between(Name::TimestampInversion, transaction, NOTHING));
            }
        }
        for session in 0..history.session_ids.len() {
            let transactions = history.transactions_of(session).iter().copied();
            let mut before = None;
            for transaction in transactions.filter(|&transaction| is_timed[transaction as usize]) {
                let is_unseen =
                    |&before: &u32| context.is_out_of_order(before as usize, transaction as usize);
                if let Some(before) = before.filter(is_unseen) {
                    self.note(most, Finding::between(Name::SessionOrder, transaction, before));
                }
                before = Some(transaction);
            }
        }
    }

    fn note(&mut self, most: usize, finding: Finding) {
        let count = &mut self.counts[finding.name as usize];
        *count += 1;
        if *count <= most as u64 {
            self.findings.push(finding);
        }
    }
}

impl Finding {
    fn between(name: Name, transaction: u32, other: u32) -> Self {
        let (key, operation, against) = (crate::history::NO_KEY, NOTHING, NOTHING);
        Self { name, transaction, other, key, operation, against, expected: Vec::new(), class: None }
    }
}

impl Unequal {
    fn finding(&self) -> Finding {
        let name = match (self.wrote, self.replaced_it) {
            (true, true) => Name::NotMyLastWrite,
            (true, false) => Name::NotMyOwnWrite,
            (false, _) => Name::NonRepeatableRead,
        };
        let &Self { transaction, read: operation, key, against, .. } = self;
        let (other, expected) = (NOTHING, Vec::new());
        Finding { name, transaction, other, key, operation, against, expected, class: None }
    }
}

/// The last write of a key in a transaction.
fn last_write(history: &History, transaction: u32, key: u32) -> u32 {
    let columns = &history.operations;
    let is_it = |&number: &usize| columns.keys[number] == key && columns.kinds[number].installs();
    history.operations_of(transaction as usize).rev().find(is_it).map_or(NOTHING, |number| number as u32)
}
