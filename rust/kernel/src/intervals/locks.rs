//! Mutual exclusion: locks on rows and on predicates, and whether two of them were held at the same time.

use super::finding::LockCase;
use super::key::Reference;
use super::profile::Lock;
use super::read_view::TransactionOrders;
use super::span::Span;
use super::transaction::{Bounds, Transaction};
use crate::history::Kind;
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// A lock that a transaction held.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Held {
    pub by: Reference,
    pub key: u32,
    pub mode: Lock,
    pub take: Span,
    pub release: Span,
    /// Where the end of its holder began: locks on a row are in this order.
    pub ended: i64,
    pub is_of_commit: bool,
    /// Whether a delete took it, which may have found no row and so locked nothing.
    pub is_of_delete: bool,
    pub is_settled: bool,
}

impl Held {
    /// Whether some choice of instants puts the release of this before the other was taken.
    fn may_be_first(&self, other: &Self) -> bool {
        self.release.may_precede(other.take)
    }

    fn is_surely_apart(&self, other: &Self) -> bool {
        self.release.precedes(other.take) || other.release.precedes(self.take)
    }
}

/// Another transaction with locks on the same row, and in which orders all of these locks can have been held.
struct Neighbour {
    number: u64,
    may_be_first: bool,
    may_be_last: bool,
    /// The first operation that may have waited for its locks.
    place: u32,
}

/// Adds a pair of conflicting locks to those of their two transactions, if intervals overlap.
fn meet(neighbours: &mut Vec<Neighbour>, lock: &Held, other: &Held) {
    if lock.is_of_commit && other.is_of_commit || lock.is_surely_apart(other) {
        return;
    }
    let (may_be_first, may_be_last) = (other.may_be_first(lock), lock.may_be_first(other));
    // A commit waits behind all operations.
    let place = if lock.is_of_commit { u32::MAX } else { lock.by.place };
    match neighbours.iter_mut().find(|known| known.number == other.by.number) {
        Some(known) => {
            known.may_be_first &= may_be_first;
            known.may_be_last &= may_be_last;
            known.place = known.place.min(place);
        }
        None => neighbours.push(Neighbour { number: other.by.number, may_be_first, may_be_last, place }),
    }
}

/// Orders of two transactions, of which all locks on a row allow for one alone.
fn order(neighbours: &mut Vec<Neighbour>, orders: &mut TransactionOrders) {
    for one in neighbours.drain(..) {
        match (one.may_be_first, one.may_be_last) {
            (true, false) => orders.add_ended(one.number, one.place),
            (false, true) => orders.add_unseen(one.number),
            _ => {}
        }
    }
}

/// A lock on all that a predicate speaks of.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Predicate {
    pub held: Held,
    pub bounds: Bounds,
    pub table: u32,
}

/// Two locks that were held at the same time, the earlier commit first.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Collision {
    pub case: LockCase,
    pub one: Reference,
    pub other: Reference,
    pub key: u32,
}

/// What two locks are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Meeting {
    Apart,
    Undecided,
    Collided,
}

fn meeting(one: &Held, other: &Held) -> Meeting {
    if one.is_surely_apart(other) {
        return Meeting::Apart;
    }
    if !one.may_be_first(other) && !other.may_be_first(one) {
        return Meeting::Collided;
    }
    // A lock whose release was not seen decides nothing, and does not count as undecided.
    let is_open = one.release.complete == Span::NEVER || other.release.complete == Span::NEVER;
    if is_open { Meeting::Apart } else { Meeting::Undecided }
}

/// Locks on one row.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Row {
    held: Vec<Held>,
    /// The longest time from where an end began to where it was over.
    longest: i64,
    /// How many locks have a release whose end is not known.
    open_ends: u32,
    /// How many locks no later transaction can meet.
    forgotten: usize,
}

impl Row {
    fn add(&mut self, held: Held) {
        if held.release.complete == Span::NEVER {
            self.open_ends += 1;
        } else {
            self.longest = self.longest.max(held.release.complete.saturating_sub(held.ended));
        }
        let place = self.held.partition_point(|other| other.ended <= held.ended);
        self.held.insert(place, held);
    }

    /// Locks from here on may have been held when one was taken.
    fn from(&self, take: Span) -> usize {
        if self.open_ends > 0 {
            return 0;
        }
        let earliest = take.invoke.saturating_sub(self.longest);
        self.held.partition_point(|held| held.ended < earliest)
    }

    /// One more lock can be dropped; they are removed when they are half of all.
    fn forget(&mut self, horizon: i64) {
        self.forgotten += 1;
        if 2 * self.forgotten < self.held.len() {
            return;
        }
        self.held.retain(|held| {
            let is_open = held.release.complete == Span::NEVER;
            held.ended >= horizon || !is_open && held.release.complete >= horizon
        });
        self.open_ends = self.held.iter().filter(|held| held.release.complete == Span::NEVER).count() as u32;
        self.forgotten = 0;
    }
}

/// The lock table.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Table {
    rows: Vec<Row>,
    predicates: Vec<Predicate>,
    /// Inserted rows, if predicates are locked.
    inserts: Vec<Held>,
}

impl Table {
    /// The locks of a transaction: the first of each mode on each row, as far as they were certainly taken.
    pub fn held_by(transaction: &Transaction, slot: u32, commit_lock: Lock) -> Vec<(u32, Held)> {
        let mut all: Vec<(u32, Held)> = Vec::new();
        let by = |place: u32| Reference { slot, number: transaction.number, place };
        for operation in &transaction.operations[..transaction.sure as usize] {
            if operation.lock == Lock::None || operation.key == crate::history::NO_KEY {
                continue;
            }
            // A statement that finds no row has nothing to lock; one whose result is not known may have found none.
            let is_row = !operation.is_absent && operation.value != Value::UNKNOWN;
            if operation.is_read() && !is_row {
                continue;
            }
            let held = Held {
                by: by(operation.place),
                key: operation.key,
                mode: operation.lock,
                take: operation.span,
                release: transaction.release,
                ended: transaction.end.invoke,
                is_of_commit: false,
                is_of_delete: operation.kind == Kind::Delete && !transaction.has_row(operation),
                is_settled: false,
            };
            all.push((operation.row, held));
        }
        if commit_lock != Lock::None && transaction.status == crate::history::Status::Committed {
            for operation in transaction.operations.iter().filter(|one| one.kind.installs()) {
                let (by, key) = (by(operation.place), operation.key);
                let (take, release) = (transaction.end, transaction.end);
                let held = Held {
                    by,
                    key,
                    mode: commit_lock,
                    take,
                    release,
                    ended: release.invoke,
                    is_of_commit: true,
                    is_of_delete: operation.kind == Kind::Delete && !transaction.has_row(operation),
                    is_settled: false,
                };
                all.push((operation.row, held));
            }
        }
        // Stable: of several on one row the first stays.
        all.sort_by_key(|(row, held)| (*row, held.mode as u8, held.is_of_commit, held.is_of_delete));
        all.dedup_by_key(|(row, held)| (*row, held.mode, held.is_of_commit, held.is_of_delete));
        all
    }

    /// Predicates that a transaction locked, and rows that it inserted.
    ///
    /// `id_of` gives the id of a key: a lock on a row that does not exist keeps other transactions from inserting it.
    pub fn predicates_of(
        transaction: &Transaction,
        slot: u32,
        id_of: impl Fn(u32) -> Value,
    ) -> (Vec<Predicate>, Vec<Held>) {
        let (mut predicates, mut inserts) = (Vec::new(), Vec::new());
        for operation in &transaction.operations[..transaction.sure as usize] {
            if operation.lock == Lock::None {
                continue;
            }
            let held = Held {
                by: Reference { slot, number: transaction.number, place: operation.place },
                key: operation.key,
                mode: operation.lock,
                take: operation.span,
                release: transaction.release,
                ended: transaction.end.invoke,
                is_of_commit: false,
                is_of_delete: false,
                is_settled: false,
            };
            let table = operation.table;
            match operation.kind {
                Kind::RangeRead if operation.locks_predicate && !operation.is_partial => {
                    let bounds = operation.value.as_small().map(|place| transaction.bounds[place as usize]);
                    predicates.extend(bounds.map(|bounds| Predicate { held, bounds, table }));
                }
                Kind::Read if operation.locks_predicate && operation.is_absent => {
                    let id = id_of(operation.key);
                    predicates.push(Predicate { held, bounds: Bounds { low: id, high: id }, table });
                }
                Kind::Insert => inserts.push(held),
                _ => {}
            }
        }
        (predicates, inserts)
    }

    pub fn add(&mut self, locks: &[(u32, Held)], predicates: Vec<Predicate>, inserts: Vec<Held>) {
        for &(row, held) in locks {
            if row as usize >= self.rows.len() {
                self.rows.resize_with(row as usize + 1, Row::default);
            }
            self.rows[row as usize].add(held);
        }
        self.predicates.extend(predicates);
        self.inserts.extend(inserts);
    }

    /// Holds the locks of a transaction against those of transactions that are settled; calls `see` for each lock
    /// with whether something could not be decided. Locks that were perhaps not taken (`is_sure`) are left out.
    pub fn settle(
        &mut self,
        locks: &[(u32, Held)],
        collisions: &mut Vec<Collision>,
        is_sure: impl Fn(&Held) -> bool,
        orders: &mut TransactionOrders,
        mut see: impl FnMut(bool),
    ) {
        let (mut neighbours, mut last) = (Vec::new(), None);
        for (row, lock) in locks {
            if lock.is_of_delete && !is_sure(lock) {
                continue;
            }
            if last.replace(*row) != Some(*row) {
                order(&mut neighbours, orders);
            }
            let mut is_undecided = false;
            let row = &mut self.rows[*row as usize];
            let from = row.from(lock.take);
            for other in &mut row.held[from..] {
                if other.by.number == lock.by.number {
                    other.is_settled |= other.by.place == lock.by.place;
                } else if other.mode.conflicts(lock.mode) && (other.is_settled || !other.is_of_delete) {
                    meet(&mut neighbours, lock, other);
                    if !other.is_settled {
                        continue;
                    }
                    match meeting(lock, other) {
                        Meeting::Apart => {}
                        Meeting::Undecided => is_undecided = true,
                        Meeting::Collided => collisions.push(collision(lock, other)),
                    }
                }
            }
            see(is_undecided);
        }
        order(&mut neighbours, orders);
    }

    /// The same for predicates; `key_of` gives the id of a key and its table.
    pub fn settle_predicates(
        &mut self,
        number: u64,
        key_of: impl Fn(u32) -> (Value, u32),
        collisions: &mut Vec<Collision>,
        orders: &mut TransactionOrders,
    ) {
        let mut neighbours = Vec::new();
        let is_own = |held: &Held| held.by.number == number;
        self.predicates.iter_mut().filter(|one| is_own(&one.held)).for_each(|one| one.held.is_settled = true);
        self.inserts.iter_mut().filter(|one| is_own(one)).for_each(|one| one.is_settled = true);
        for predicate in &self.predicates {
            for insert in &self.inserts {
                let held = &predicate.held;
                let is_inside = || {
                    let (key, table) = key_of(insert.key);
                    let is_asked = table == predicate.table && within(key, predicate.bounds);
                    is_asked && held.mode.conflicts(insert.mode)
                };
                if is_own(held) == is_own(insert) || !is_inside() {
                    continue;
                }
                let (own, other) = if is_own(held) { (held, insert) } else { (insert, held) };
                meet(&mut neighbours, own, other);
                let is_settled = held.is_settled && insert.is_settled;
                if is_settled && meeting(held, insert) == Meeting::Collided {
                    collisions.push(Collision {
                        case: LockCase::Predicate,
                        one: held.by,
                        other: insert.by,
                        key: insert.key,
                    });
                }
            }
        }
        order(&mut neighbours, orders);
    }

    /// About how many bytes it takes.
    pub fn memory(&self) -> usize {
        let rows: usize = self.rows.iter().map(|row| row.held.capacity()).sum();
        self.rows.capacity() * size_of::<Row>()
            + (rows + self.inserts.capacity()) * size_of::<Held>()
            + self.predicates.capacity() * size_of::<Predicate>()
    }

    pub fn each_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        for predicate in &mut self.predicates {
            see(&mut predicate.bounds.low);
            see(&mut predicate.bounds.high);
        }
    }

    /// Drops the locks of a transaction.
    pub fn forget(&mut self, locks: &[(u32, Held)], number: u64, horizon: i64) {
        for (row, _) in locks {
            self.rows[*row as usize].forget(horizon);
        }
        self.predicates.retain(|one| one.held.by.number != number);
        self.inserts.retain(|one| one.by.number != number);
    }
}

fn collision(lock: &Held, other: &Held) -> Collision {
    let is_of_commit = lock.is_of_commit || other.is_of_commit;
    let (one, two) = match (lock.is_of_commit, other.is_of_commit) {
        (true, false) => (other, lock),
        (false, true) => (lock, other),
        _ if (lock.release.invoke, lock.by.number) < (other.release.invoke, other.by.number) => (lock, other),
        _ => (other, lock),
    };
    let case = if is_of_commit { LockCase::Commit } else { LockCase::Row };
    Collision { case, one: one.by, other: two.by, key: lock.key }
}

/// Whether a key is inside bounds; keys that are no integers are inside none.
pub fn within(key: Value, bounds: Bounds) -> bool {
    let Some(key) = key.as_small() else { return false };
    let is_above = |low: Value| low == Value::NIL || low.as_small().is_some_and(|low| low <= key);
    let is_below = |high: Value| high == Value::NIL || high.as_small().is_some_and(|high| key <= high);
    is_above(bounds.low) && is_below(bounds.high)
}
