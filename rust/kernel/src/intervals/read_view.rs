//! What a read can see: its snapshot, the instant of its answer, and what locks and first updater wins tell of others.

use super::key::Version;
use super::span::Span;

/// Transactions that certainly ended before or began to lock after the one that is being judged, by what both locked or
/// changed.
#[derive(Debug, Default)]
pub struct TransactionOrders {
    /// Each ended before the transaction got the lock of the operation at this place.
    ended: Vec<(u64, u32)>,
    /// Each committed before the transaction took its snapshot.
    seen: Vec<u64>,
    /// No read of the transaction sees them.
    unseen: Vec<u64>,
}

impl TransactionOrders {
    pub fn clear(&mut self) {
        self.ended.clear();
        self.seen.clear();
        self.unseen.clear();
    }

    pub fn add_ended(&mut self, number: u64, place: u32) {
        self.ended.push((number, place));
    }

    pub fn add_seen(&mut self, number: u64) {
        self.seen.push(number);
    }

    pub fn add_unseen(&mut self, number: u64) {
        self.unseen.push(number);
    }

    /// Whether a transaction ended before this one got a lock at an earlier place than `until`.
    pub fn has_ended(&self, number: u64, until: u32) -> bool {
        self.ended.iter().any(|&(ended, place)| ended == number && place < until)
    }
}

/// The bounds of what a read shows.
#[derive(Debug, Clone, Copy)]
pub struct ReadView<'o> {
    /// When its snapshot was taken.
    pub snapshot: Span,
    /// When the client had the answer: it cannot show a version whose commit was sent later.
    pub answered: i64,
    /// Locks of operations before this place were held when the snapshot was taken.
    pub locked_until: u32,
    /// Whether the snapshot is that of the transaction.
    pub is_of_transaction: bool,
    pub orders: &'o TransactionOrders,
}

impl ReadView<'_> {
    /// Whether some choice of instants lets the read see the version.
    #[must_use]
    pub fn may_show(&self, version: &Version) -> bool {
        version.commit.may_precede(self.snapshot) && self.may_know(version)
    }

    /// The part of this that the interval of the snapshot does not say.
    pub(super) fn may_know(&self, version: &Version) -> bool {
        version.asked <= self.answered && !self.orders.unseen.contains(&version.write.number)
    }

    /// Whether the version was there, however the instants are chosen.
    #[must_use]
    pub fn surely_has(&self, version: &Version) -> bool {
        version.is_certain
            && (version.commit.precedes(self.snapshot) || self.is_ordered_before(version.write.number))
    }

    fn is_ordered_before(&self, number: u64) -> bool {
        self.orders.has_ended(number, self.locked_until)
            || self.is_of_transaction && self.orders.seen.contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::key::{Readers, Reference};
    use crate::intervals::profile::Lock;
    use crate::value::Value;

    const WRITER: u64 = 7;

    fn version(commit: Span, asked: i64) -> Version {
        Version {
            value: Value::NIL,
            write: Reference { slot: 0, number: WRITER, place: 0 },
            writer: Value::NIL,
            session: 0,
            commit,
            asked,
            take: commit,
            lock: Lock::Exclusive,
            seen: commit,
            is_insert: false,
            is_absent: false,
            is_certain: true,
            may_be_idle: false,
            is_settled: true,
            readers: Readers::default(),
            waiting: 0,
        }
    }

    fn view(orders: &TransactionOrders) -> ReadView<'_> {
        let snapshot = Span { invoke: 0, complete: 100 };
        ReadView { snapshot, answered: 20, locked_until: 3, is_of_transaction: true, orders }
    }

    #[test]
    fn a_commit_that_is_sent_after_the_answer_is_not_shown() {
        let orders = TransactionOrders::default();
        let shown = |asked| view(&orders).may_show(&version(Span { invoke: 5, complete: 60 }, asked));
        assert_eq!([19, 20, 21].map(shown), [true, true, false]);
    }

    #[test]
    fn a_transaction_that_ended_before_an_earlier_lock_is_there() {
        let overlapping = version(Span { invoke: 5, complete: 60 }, 5);
        let mut orders = TransactionOrders::default();
        assert!(!view(&orders).surely_has(&overlapping));
        orders.add_ended(WRITER, 3);
        assert!(!view(&orders).surely_has(&overlapping));
        orders.add_ended(WRITER, 2);
        assert!(view(&orders).surely_has(&overlapping));
        assert!(!view(&orders).surely_has(&Version { is_certain: false, ..overlapping }));
    }

    #[test]
    fn the_order_of_updaters_counts_for_the_snapshot_of_the_transaction() {
        let overlapping = version(Span { invoke: 5, complete: 60 }, 5);
        let mut orders = TransactionOrders::default();
        orders.add_seen(WRITER);
        assert!(view(&orders).surely_has(&overlapping));
        assert!(!ReadView { is_of_transaction: false, ..view(&orders) }.surely_has(&overlapping));
        orders.clear();
        orders.add_unseen(WRITER);
        assert!(!view(&orders).may_show(&overlapping));
    }
}
