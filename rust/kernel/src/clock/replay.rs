//! The database replayed event by event: what each transaction should have read, and which ran at once.
//!
//! Li et al. 2025, Algorithm 2 (CHRONOS), with every transaction as a whole at its start and at its commit.
//! Memory grows with the keys and the running transactions; each operation is looked at twice.

use super::committed_lists::{Lists, Relation};
use super::concurrent_writers::Writers;
use super::replay_findings::{InternalMismatch, ReplayFindings, StaleRead};
use super::{ClockLevel, Event, NOTHING};
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
    fn operations(&self, transaction: u32) -> impl Iterator<Item = Operation>;
    /// The elements of a value that is a list.
    fn list(&self, value: Value) -> Option<&[Value]>;
    /// Start and commit.
    fn times(&self, transaction: u32) -> (Timestamp, Timestamp);
    /// Whether the content of a key is known.
    fn is_judged(&self, key: u32) -> bool;
    /// Whether the time of each version of a key is known.
    fn is_timed(&self, key: u32) -> bool;
    /// The value of a key before the first write; [`Value::UNKNOWN`] if the input does not state it.
    fn initial(&self, key: u32) -> Value;
    /// Whether a read that shows `found` of other transactions, and should show `demanded`, is right if a
    /// transaction took effect of which the client never learned the end.
    fn is_set_aside(&self, _stale: &StaleRead, _found: &[Value], _demanded: &[Value]) -> bool {
        false
    }
}

/// The newest version of a key, and the one before: a transaction does not see itself.
#[derive(Clone, Copy)]
struct Frontier {
    latest: CommittedVersion,
    before: CommittedVersion,
}

#[derive(Clone, Copy)]
struct CommittedVersion {
    value: Value,
    transaction: u32,
    write: u32,
}

const INITIAL: CommittedVersion =
    CommittedVersion { value: Value::NOTHING, transaction: NOTHING, write: NOTHING };

/// The last access of the current transaction to a key.
#[derive(Clone, Copy)]
struct Touch {
    value: Value,
    /// The number of the transaction plus one; zero stands for none.
    stamp: u32,
    operation: u32,
    wrote: bool,
    /// Whether the content of the key is known: not after appends to a list that was never read.
    is_seen: bool,
}

const UNTOUCHED: Touch =
    Touch { value: Value::NOTHING, stamp: 0, operation: 0, wrote: false, is_seen: false };

/// A transaction that reads, and whether it has a place in the order.
#[derive(Clone, Copy)]
struct Reader {
    transaction: u32,
    is_timed: bool,
}

/// The state of the database.
pub struct Replay {
    level: ClockLevel,
    max_anomalies: usize,
    frontier: Vec<Frontier>,
    touches: Vec<Touch>,
    writers: Writers,
    lists: Lists,
    findings: ReplayFindings,
}

impl Replay {
    /// The state before the first event; of lists that were expected, and of conflicts, `max_anomalies` are kept.
    #[must_use]
    pub fn new(level: ClockLevel, keys: usize, max_anomalies: usize) -> Self {
        let contested = if level == ClockLevel::Snapshot { keys } else { 0 };
        Self {
            level,
            max_anomalies,
            frontier: vec![Frontier { latest: INITIAL, before: INITIAL }; keys],
            touches: vec![UNTOUCHED; keys],
            writers: Writers::new(contested),
            lists: Lists::new(keys),
            findings: ReplayFindings::default(),
        }
    }

    /// Applies an event.
    ///
    /// A transaction that starts and commits at one instant sees the transactions before it in the order of
    /// commits: if each of two such transactions saw the other, neither could have come first.
    pub fn apply<S: Source>(&mut self, source: &S, event: Event) {
        let transaction = event.transaction();
        let reads_now = match self.level {
            ClockLevel::Snapshot => event.is_start() != is_instant(source.times(transaction)),
            ClockLevel::Serializable => true,
        };
        if reads_now {
            self.read(source, Reader { transaction, is_timed: true });
        }
        if !event.is_start() {
            self.install(source, transaction);
        }
    }

    /// Applies an event, and forgets what it finds.
    pub fn apply_silently<S: Source>(&mut self, source: &S, event: Event) {
        let kept = std::mem::take(&mut self.findings);
        self.apply(source, event);
        self.findings = kept;
    }

    /// Applies a transaction without a place in the order: its reads are compared with its own operations.
    pub fn apply_unordered<S: Source>(&mut self, source: &S, transaction: u32) {
        self.read(source, Reader { transaction, is_timed: false });
    }

    /// Everything found since the last call.
    pub fn take_findings(&mut self) -> ReplayFindings {
        let listed = self.findings.listed;
        std::mem::replace(&mut self.findings, ReplayFindings { listed, ..ReplayFindings::default() })
    }

    /// Compares every read with the own operations before it, or else with the newest version.
    fn read<S: Source>(&mut self, source: &S, reader: Reader) {
        let stamp = reader.transaction + 1;
        let (start, commit) = source.times(reader.transaction);
        let begins = reader.is_timed && self.level == ClockLevel::Snapshot && start < commit;
        if begins {
            self.writers.begin(reader.transaction, commit);
        }
        for operation in source.operations(reader.transaction) {
            let Operation { kind, key, value, number } = operation;
            let writes = kind.installs();
            if !(kind == Kind::Read || writes) || value == Value::UNKNOWN || !source.is_judged(key) {
                continue;
            }
            let before = self.touches[key as usize];
            let touch = if before.stamp == stamp { before } else { Touch { stamp, ..UNTOUCHED } };
            let is_first = before.stamp != stamp;
            if begins && writes && !touch.wrote {
                self.writers.add(key, reader.transaction);
            }
            let is_seen = match (kind, source.list(value)) {
                (Kind::Append, _) => {
                    self.lists.append_own(key, value, is_first);
                    touch.is_seen
                }
                (Kind::Read, Some(list)) => {
                    self.list_read(source, reader, &operation, touch, list);
                    true
                }
                (Kind::Read, None) => {
                    self.register_read(source, reader, &operation, touch);
                    true
                }
                _ => true,
            };
            let wrote = touch.wrote || writes;
            self.touches[key as usize] = Touch { value, stamp, operation: number, wrote, is_seen };
        }
    }

    fn register_read<S: Source>(&mut self, source: &S, reader: Reader, operation: &Operation, touch: Touch) {
        let &Operation { key, value, number: read, .. } = operation;
        if touch.is_seen {
            if touch.value != value {
                self.mismatch(source, reader.transaction, operation, touch);
            }
            return;
        }
        let initial = source.initial(key);
        if !reader.is_timed || !source.is_timed(key) {
            if initial == Value::UNKNOWN {
                self.findings.unordered.push((read, key, value));
            }
            return;
        }
        let version = self.frontier[key as usize].seen_by(reader.transaction);
        let demanded = if version.write == NOTHING { initial } else { version.value };
        if demanded != value {
            let (transaction, expected) = (reader.transaction, version.write);
            let (start, commit) = source.times(transaction);
            let mut stale = StaleRead {
                transaction,
                start,
                commit,
                read,
                key,
                found: value,
                expected,
                ..StaleRead::REGISTER
            };
            stale.is_set_aside = source.is_set_aside(&stale, &[value], &[]);
            self.findings.stale.push(stale);
        }
    }

    /// A list must be the list that was read before, or else the newest version, then the own appends.
    fn list_read<S: Source>(
        &mut self,
        source: &S,
        reader: Reader,
        operation: &Operation,
        touch: Touch,
        list: &[Value],
    ) {
        let &Operation { key, value, .. } = operation;
        let own = if touch.wrote || touch.is_seen { self.lists.own(key) } else { &[] };
        if touch.is_seen {
            let seen = source.list(self.lists.seen(key)).unwrap_or_default();
            let is_it = list.len() == seen.len() + own.len() && list.starts_with(seen) && list.ends_with(own);
            if !is_it {
                self.mismatch(source, reader.transaction, operation, touch);
            }
        } else if !list.ends_with(own) {
            self.mismatch(source, reader.transaction, operation, touch);
        } else if reader.is_timed && source.is_timed(key) {
            self.external_list(source, reader.transaction, operation, &list[..list.len() - own.len()]);
        }
        self.lists.see(key, value);
    }

    /// Compares the elements of other transactions that a read shows with the newest version.
    fn external_list<S: Source>(
        &mut self,
        source: &S,
        transaction: u32,
        operation: &Operation,
        list: &[Value],
    ) {
        let &Operation { key, value: found, number: read, .. } = operation;
        let (start, commit) = source.times(transaction);
        let itself = if start > commit { transaction } else { NOTHING };
        let demanded = self.lists.without(key, itself);
        let (relation, writer) = demanded.relation(list);
        if relation == Relation::Equal {
            return;
        }
        let expected_length = demanded.elements.len() as u32;
        let expected = self.frontier[key as usize].seen_by(transaction).write;
        let mut stale = StaleRead {
            transaction,
            start,
            commit,
            read,
            key,
            found,
            expected_length,
            expected,
            writer,
            relation,
            is_set_aside: false,
        };
        stale.is_set_aside = source.is_set_aside(&stale, list, &demanded.elements);
        if !stale.is_set_aside && self.findings.listed < self.max_anomalies {
            self.findings.listed += 1;
            self.findings.lists.push((list.to_vec(), demanded.elements.to_vec()));
        }
        self.findings.stale.push(stale);
    }

    fn mismatch<S: Source>(&mut self, source: &S, transaction: u32, operation: &Operation, touch: Touch) {
        let &Operation { key, value: found, number: read, .. } = operation;
        let before = source.operations(transaction).take_while(|other| other.number < read);
        let own = before.filter(|other| other.key == key && other.kind.installs());
        let (mut last, mut is_there) = (None, false);
        for write in own {
            is_there |= write.value == found;
            last = Some(write.value);
        }
        let against = touch.operation;
        let (wrote, wrote_it_before) = (last.is_some_and(|last| last != found), is_there);
        self.findings.mismatches.push(InternalMismatch {
            transaction,
            read,
            key,
            found,
            against,
            wrote,
            wrote_it_before,
        });
    }

    /// Makes the writes of a transaction the newest versions of their keys.
    fn install<S: Source>(&mut self, source: &S, transaction: u32) {
        let times = source.times(transaction);
        let is_contested = self.level == ClockLevel::Snapshot;
        if is_contested {
            self.writers.end(transaction, times);
        }
        for Operation { number, kind, key, value } in source.operations(transaction) {
            if !kind.installs() || !source.is_judged(key) {
                continue;
            }
            let frontier = &mut self.frontier[key as usize];
            let is_first = frontier.latest.transaction != transaction;
            if is_first {
                frontier.before = frontier.latest;
            }
            frontier.latest = CommittedVersion { value, transaction, write: number };
            if kind == Kind::Append {
                self.lists.append(key, value, transaction);
            }
            if is_first && is_contested {
                self.writers.commit(key, transaction, times, self.max_anomalies, &mut self.findings);
            }
        }
    }
}

/// Whether a transaction starts and commits at the same time.
pub fn is_instant((start, commit): (Timestamp, Timestamp)) -> bool {
    start == commit
}

impl Frontier {
    fn seen_by(&self, transaction: u32) -> CommittedVersion {
        if self.latest.transaction == transaction { self.before } else { self.latest }
    }
}
