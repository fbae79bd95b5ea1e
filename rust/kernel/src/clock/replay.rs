//! The database once more, event by event: what each transaction should have read, and who ran at once.
//!
//! Li et al. 2025, Algorithm 2 (CHRONOS), with every transaction as a whole at its start and at its commit.
//! Memory follows the keys and the transactions that are under way; each operation is looked at twice.

use super::list::{Lists, Relation};
use super::{Event, Isolation, NOTHING};
use crate::history::{Kind, Timestamp};
use crate::value::Value;

/// One operation, as the replay sees it.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Operation {
    pub number: u32,
    pub kind: Kind,
    pub key: u32,
    pub value: Value,
}

/// What the replay asks about a history.
pub trait Source {
    /// The operations of a transaction, in program order.
    fn operations(&self, transaction: u32) -> impl DoubleEndedIterator<Item = Operation>;
    /// The elements of a value that is a list.
    fn list(&self, value: Value) -> Option<&[Value]>;
    /// Start and commit.
    fn times(&self, transaction: u32) -> (Timestamp, Timestamp);
    /// Whether the operations on a key are judged.
    fn is_judged(&self, key: u32) -> bool;
    /// The value of a key before the first write; [`Value::UNKNOWN`] if nobody knows.
    fn initial(&self, key: u32) -> Value;
}

/// A read that shows something else than the clock demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Stale {
    pub transaction: u32,
    pub read: u32,
    pub key: u32,
    /// What the read shows; of a list how much of it is not the reader's own, and how long it should be.
    pub found: Value,
    pub length: u32,
    pub expected_length: u32,
    /// The last write of the version that it should show; [`NOTHING`] for the initial one.
    pub expected: u32,
    /// How the list that was found and the one that was expected relate.
    pub relation: Relation,
}

/// A read that differs from what its transaction did before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Unequal {
    pub transaction: u32,
    pub read: u32,
    pub key: u32,
    pub found: Value,
    /// The last access before it.
    pub against: u32,
    /// Whether the transaction had written the key before, and if so whether this value.
    pub wrote: bool,
    pub wrote_it: bool,
}

/// Two that wrote a key at the same time, the one that committed first before the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Conflict {
    pub first: u32,
    pub second: u32,
    pub key: u32,
}

/// Everything found, in the order of events; of conflicts the first `most`, but all are counted.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Found {
    pub stale: Vec<Stale>,
    /// The lists that the first stale reads should have shown.
    pub expected: Vec<Vec<Value>>,
    pub unequal: Vec<Unequal>,
    pub conflicts: Vec<Conflict>,
    pub conflict_count: u64,
}

/// The newest version of a key, and the one before: a transaction does not see itself.
#[derive(Clone, Copy)]
struct Frontier {
    latest: Version,
    before: Version,
}

#[derive(Clone, Copy)]
struct Version {
    value: Value,
    transaction: u32,
    write: u32,
}

const INITIAL: Version = Version { value: Value::NOTHING, transaction: NOTHING, write: NOTHING };

/// What the current transaction did with a key.
#[derive(Clone, Copy)]
struct Touch {
    value: Value,
    /// The transaction and one, so that zero is nobody.
    stamp: u32,
    operation: u32,
    wrote: bool,
    /// Whether `value` is known: not after a write to a list that was never read.
    is_read: bool,
}

const UNTOUCHED: Touch =
    Touch { value: Value::NOTHING, stamp: 0, operation: 0, wrote: false, is_read: false };

/// Who writes a key at present.
#[derive(Default)]
struct Writers {
    /// Those under way, by their start, some of whom may have ended.
    ongoing: Vec<u32>,
    live: u32,
    /// Those who committed at the time `at`.
    same: Vec<u32>,
    at: Timestamp,
}

/// The state of the database.
pub struct Replay<'s, S> {
    source: &'s S,
    isolation: Isolation,
    most: usize,
    frontier: Vec<Frontier>,
    touches: Vec<Touch>,
    writers: Vec<Writers>,
    lists: Lists,
    /// Whether a transaction is under way.
    is_ongoing: Vec<bool>,
    /// What was found so far.
    pub found: Found,
}

impl<'s, S: Source> Replay<'s, S> {
    /// The state before the first event.
    #[must_use]
    pub fn new(source: &'s S, isolation: Isolation, keys: usize, transactions: usize, most: usize) -> Self {
        let is_snapshot = isolation == Isolation::Snapshot;
        Self {
            source,
            isolation,
            most,
            frontier: vec![Frontier { latest: INITIAL, before: INITIAL }; keys],
            touches: vec![UNTOUCHED; keys],
            writers: (0..if is_snapshot { keys } else { 0 }).map(|_| Writers::default()).collect(),
            lists: Lists::new(keys),
            is_ongoing: vec![false; if is_snapshot { transactions } else { 0 }],
            found: Found::default(),
        }
    }

    /// Whatever happens at an event.
    pub fn happen(&mut self, event: Event) {
        let transaction = event.transaction();
        match (self.isolation, event.is_start()) {
            (Isolation::Snapshot, true) => self.read(transaction),
            (Isolation::Snapshot, false) => self.install(transaction),
            (Isolation::Serializable, _) => {
                self.read(transaction);
                self.install(transaction);
            }
        }
    }

    /// Holds every read against what the transaction did before, or else against the newest version.
    fn read(&mut self, transaction: u32) {
        let source = self.source;
        let is_ongoing = self.begin(transaction);
        for operation in source.operations(transaction) {
            let Operation { kind, key, value, number } = operation;
            if !(kind == Kind::Read || kind.installs()) || value == Value::UNKNOWN {
                continue;
            }
            let before = self.touches[key as usize];
            let touched = (before.stamp == transaction + 1).then_some(before);
            if is_ongoing && kind.installs() && !touched.is_some_and(|touch| touch.wrote) {
                self.writers[key as usize].begin(transaction);
            }
            if !source.is_judged(key) {
                let before = before.by(transaction);
                self.touches[key as usize] = Touch { wrote: before.wrote || kind.installs(), ..before };
                continue;
            }
            let is_read = match (kind, source.list(value)) {
                (Kind::Read, Some(list)) => {
                    self.list_read(transaction, &operation, touched, list);
                    true
                }
                (Kind::Read, None) => {
                    self.register_read(transaction, &operation, touched);
                    true
                }
                (Kind::Append, _) => {
                    self.lists.append_own(key, value, touched.is_none());
                    touched.is_some_and(|touch| touch.is_read)
                }
                _ => true,
            };
            let wrote = kind != Kind::Read || touched.is_some_and(|touch| touch.wrote);
            let stamp = transaction + 1;
            self.touches[key as usize] = Touch { value, stamp, operation: number, wrote, is_read };
        }
    }

    /// Whether the transaction is under way from now on: who commits when it starts, or before, has done so.
    fn begin(&mut self, transaction: u32) -> bool {
        let (start, commit) = self.source.times(transaction);
        let is_ongoing = self.isolation == Isolation::Snapshot && start < commit;
        if is_ongoing {
            self.is_ongoing[transaction as usize] = true;
        }
        is_ongoing
    }

    fn register_read(&mut self, transaction: u32, operation: &Operation, touched: Option<Touch>) {
        let &Operation { key, value, number, .. } = operation;
        if let Some(touch) = touched {
            if touch.value != value {
                self.unequal(transaction, operation, touch);
            }
            return;
        }
        let version = self.frontier[key as usize].seen_by(transaction);
        let demanded = if version.write == NOTHING { self.source.initial(key) } else { version.value };
        if demanded != value {
            self.found.stale.push(Stale {
                transaction,
                read: number,
                key,
                found: value,
                length: 0,
                expected_length: 0,
                expected: version.write,
                relation: Relation::Register,
            });
        }
    }

    /// A list must be what was seen before, or else the newest version, followed by the own appends.
    fn list_read(&mut self, transaction: u32, operation: &Operation, touched: Option<Touch>, list: &[Value]) {
        let &Operation { key, value, number, .. } = operation;
        let own = if touched.is_some() { self.lists.own(key) } else { &[] };
        if let Some(touch) = touched.filter(|touch| touch.is_read) {
            let seen = self.source.list(self.lists.seen(key)).unwrap_or_default();
            if !is_concatenation(list, seen, own) {
                self.unequal(transaction, operation, touch);
            }
        } else if !list.ends_with(own) {
            let touch = touched.unwrap_or(UNTOUCHED);
            self.unequal(transaction, operation, touch);
        } else {
            let length = list.len() - own.len();
            let is_own = self.frontier[key as usize].latest.transaction == transaction;
            let version = self.frontier[key as usize].seen_by(transaction);
            let relation = self.lists.relation(key, is_own, &list[..length]);
            if relation != Relation::Equal {
                let expected = self.lists.of(key, is_own);
                if self.found.expected.len() < self.most {
                    self.found.expected.push(expected.to_vec());
                }
                self.found.stale.push(Stale {
                    transaction,
                    read: number,
                    key,
                    found: value,
                    length: length as u32,
                    expected_length: expected.len() as u32,
                    expected: version.write,
                    relation,
                });
            }
        }
        self.lists.see(key, value);
    }

    fn unequal(&mut self, transaction: u32, operation: &Operation, touch: Touch) {
        let &Operation { key, value, number, .. } = operation;
        let is_it = |other: &Operation| other.key == key && other.kind.installs() && other.value == value;
        let before = || self.source.operations(transaction).take_while(|other| other.number < number);
        let wrote_it = touch.wrote && before().any(|other| is_it(&other));
        let (against, wrote) = (touch.operation, touch.wrote);
        let unequal = Unequal { transaction, read: number, key, found: value, against, wrote, wrote_it };
        self.found.unequal.push(unequal);
    }

    /// Makes what a transaction wrote the newest version of each key.
    fn install(&mut self, transaction: u32) {
        let source = self.source;
        let (start, commit) = source.times(transaction);
        if self.isolation == Isolation::Snapshot && start < commit {
            self.is_ongoing[transaction as usize] = false;
        }
        for Operation { number, kind, key, value } in source.operations(transaction) {
            if !kind.installs() {
                continue;
            }
            let frontier = &mut self.frontier[key as usize];
            let is_first = frontier.latest.transaction != transaction;
            if is_first {
                frontier.before = frontier.latest;
            }
            frontier.latest = Version { value, transaction, write: number };
            if kind == Kind::Append {
                self.lists.append(key, value, is_first);
            }
            if is_first && self.isolation == Isolation::Snapshot {
                self.conflicts(transaction, (start, commit), key);
            }
        }
    }

    /// Everyone who writes the same key and has not committed yet, or does so at this very time.
    fn conflicts(&mut self, transaction: u32, (start, commit): (Timestamp, Timestamp), key: u32) {
        let Self { source, writers, is_ongoing, found, most, .. } = self;
        let writers = &mut writers[key as usize];
        writers.end(start < commit, commit, is_ongoing);
        if writers.live > 0 {
            let others = writers.ongoing.iter().copied().filter(|&other| is_ongoing[other as usize]);
            if commit <= start {
                // It may have started after others that were under way had committed.
                let is_later =
                    |&other: &u32| source.times(other).1 > start || source.times(other).1 == commit;
                let later: Vec<u32> = others.filter(is_later).collect();
                found.meet(*most, key, later.len(), later.iter().map(|&other| (transaction, other)));
            } else {
                found.meet(*most, key, writers.live as usize, others.map(|other| (transaction, other)));
            }
        }
        if commit <= start {
            let same = &writers.same;
            found.meet(*most, key, same.len(), same.iter().map(|&other| (other, transaction)));
        }
        writers.same.push(transaction);
    }
}

impl Frontier {
    fn seen_by(&self, transaction: u32) -> Version {
        if self.latest.transaction == transaction { self.before } else { self.latest }
    }
}

impl Touch {
    /// As the first touch of a transaction, or as it is if that touched the key before.
    fn by(self, transaction: u32) -> Self {
        if self.stamp == transaction + 1 { self } else { Self { stamp: transaction + 1, ..UNTOUCHED } }
    }
}

impl Writers {
    fn begin(&mut self, transaction: u32) {
        self.ongoing.push(transaction);
        self.live += 1;
    }

    /// Somebody commits `now`, who was under way or not; those who ended are forgotten when they are many.
    fn end(&mut self, was_ongoing: bool, now: Timestamp, is_ongoing: &[bool]) {
        self.live -= u32::from(was_ongoing);
        if self.ongoing.len() > 2 * self.live as usize + 8 {
            self.ongoing.retain(|&other| is_ongoing[other as usize]);
        }
        if self.at != now {
            self.same.clear();
            self.at = now;
        }
    }
}

impl Found {
    /// So many conflicts on a key, of which these are the first.
    fn meet(&mut self, most: usize, key: u32, count: usize, pairs: impl Iterator<Item = (u32, u32)>) {
        self.conflict_count += count as u64;
        let room = most.saturating_sub(self.conflicts.len());
        self.conflicts.extend(pairs.take(room).map(|(first, second)| Conflict { first, second, key }));
    }
}

fn is_concatenation(list: &[Value], seen: &[Value], own: &[Value]) -> bool {
    list.len() == seen.len() + own.len() && list.starts_with(seen) && list.ends_with(own)
}
