//! How transactions take locks, wait for them and release them.

use super::{Answer, HeldLock, Request, Server};
use crate::intervals::profile::{Granularity, Lock, Read};
use crate::simulate::store::transaction::Transaction;
use crate::simulate::store::{ABSENT, Fault};

impl Server {
    /// Takes the locks of a statement; or returns the transaction that holds a conflicting one.
    pub(super) fn lock(&mut self, transaction: &mut Transaction, request: Request) -> Option<u32> {
        let conduct = self.conduct(request);
        if conduct.lock == Lock::None {
            return None;
        }
        let reads = request.reads();
        if !reads || self.profile.granularity != Granularity::Row {
            return self.acquire(transaction, request.low, conduct.lock, !reads);
        }
        if conduct.locks_predicate
            && let Some(other) =
                self.acquire_predicate(transaction, (request.low, request.high), conduct.lock)
        {
            return Some(other);
        }
        (request.low..=request.high).find_map(|row| {
            let is_there = self.is_there(transaction, row, conduct.read);
            is_there.then(|| self.acquire(transaction, row, conduct.lock, false)).flatten()
        })
    }

    /// Whether a statement that reads finds a row.
    fn is_there(&self, transaction: &Transaction, row: u32, read: Read) -> bool {
        let own = transaction.own(row).map(|own| own.value);
        own.unwrap_or_else(|| self.right(transaction, row, read).value) != ABSENT
    }

    /// Takes the lock on a row, or on its table or database.
    pub(super) fn acquire(
        &mut self,
        transaction: &mut Transaction,
        row: u32,
        mode: Lock,
        writes: bool,
    ) -> Option<u32> {
        let (low, high) = self.place_of(row);
        let session = transaction.session;
        let mut other = self.locks.in_the_way(session, low, mode);
        if writes && self.profile.granularity == Granularity::Row {
            other = other.or_else(|| self.locks.predicate_in_the_way(session, row, mode));
        }
        let fault = if writes { Fault::MissingLock } else { Fault::MissingShareLock };
        if other.is_some() && !self.strikes(transaction, fault) {
            return other;
        }
        if other.is_none()
            && let Some(announcer) = self.announcer(transaction, low, mode)
        {
            return Some(announcer);
        }
        if self.locks.take(session, low, mode, writes) {
            self.hold(transaction, (low, high), mode, false);
            self.show_early_releases(low, mode);
        }
        None
    }

    /// Another transaction that waits to commit there. Newcomers let it pass: it would wait for ever otherwise.
    fn announcer(&self, transaction: &Transaction, place: u32, mode: Lock) -> Option<u32> {
        if self.announced.is_empty() || !mode.conflicts(self.profile.commit_lock) {
            return None;
        }
        let is_newcomer = !transaction.held.iter().any(|held| held.low == place && !held.is_predicate);
        let is_other =
            |&&(session, announced): &&(u32, u32)| session != transaction.session && announced == place;
        self.announced.iter().find(is_other).filter(|_| is_newcomer).map(|&(session, _)| session)
    }

    /// Waits to commit. A deadlock is broken if another transaction of the cycle waits in a statement.
    pub(super) fn wait_to_commit(&mut self, transaction: &mut Transaction, row: u32, other: u32) -> Answer {
        let announced = (transaction.session, self.place_of(row).0);
        if !self.announced.contains(&announced) {
            self.announced.push(announced);
        }
        let Some(last) = self.wait(transaction, other) else { return Answer::Waits };
        if self.announced.iter().any(|&(session, _)| session == last) {
            return Answer::Refused;
        }
        self.waiting.retain(|&waiter| waiter != last);
        self.store.transactions[last as usize].blocker = None;
        Answer::Deadlock(last)
    }

    fn acquire_predicate(
        &mut self,
        transaction: &mut Transaction,
        (low, high): (u32, u32),
        mode: Lock,
    ) -> Option<u32> {
        let session = transaction.session;
        if self.locks.holds_predicate(session, (low, high), mode) {
            return None;
        }
        let other = self.locks.writer_in_the_way(session, (low, high), mode);
        if other.is_some() && !self.strikes(transaction, Fault::MissingShareLock) {
            return other;
        }
        self.locks.take_predicate(session, (low, high), mode);
        self.hold(transaction, (low, high), mode, true);
        None
    }

    /// Records that the transaction has a lock now.
    fn hold(&self, transaction: &mut Transaction, (low, high): (u32, u32), mode: Lock, is_predicate: bool) {
        let (id, taken, released) = (transaction.id, self.store.now, 0);
        transaction.held.push(HeldLock { transaction: id, low, high, mode, is_predicate, taken, released });
    }

    /// The rows that are locked with a row, from the first to the last; the first names the place of the lock.
    fn place_of(&self, row: u32) -> (u32, u32) {
        match self.profile.granularity {
            Granularity::Row => (row, row),
            Granularity::Table => self.table_of(row),
            Granularity::Database => (0, self.store.rows.len() as u32 - 1),
        }
    }

    /// Waits for another transaction; or returns the one that closes a cycle: it waits for this transaction.
    pub(super) fn wait(&mut self, transaction: &mut Transaction, other: u32) -> Option<u32> {
        let mut last = other;
        while let Some(next) = self.store.transactions[last as usize].blocker {
            if next == transaction.session {
                return Some(last);
            }
            last = next;
        }
        transaction.blocker = Some(other);
        self.waiting.push(transaction.session);
        None
    }

    /// Releases all locks.
    pub(super) fn release(&mut self, transaction: &mut Transaction) {
        let (session, now) = (transaction.session, self.store.now);
        let mut has_predicates = false;
        for held in transaction.held.iter_mut().filter(|held| held.released == 0) {
            held.released = now;
            has_predicates |= held.is_predicate;
            if !held.is_predicate {
                self.locks.release(session, held.low);
            }
        }
        if has_predicates {
            self.locks.release_predicates(session);
        }
        self.announced.retain(|&(announcer, _)| announcer != session);
        self.wake(session);
    }

    /// Transactions that waited for this one try again.
    fn wake(&mut self, session: u32) {
        let mut place = 0;
        while place < self.waiting.len() {
            let waiter = self.waiting[place];
            if self.store.transactions[waiter as usize].blocker == Some(session) {
                self.store.transactions[waiter as usize].blocker = None;
                self.waiting.swap_remove(place);
                self.woken.push_back(waiter);
            } else {
                place += 1;
            }
        }
    }

    /// Releases one lock too early, if that fault strikes.
    pub(super) fn release_early(&mut self, transaction: &mut Transaction) {
        let is_held = |held: &&HeldLock| held.released == 0 && !held.is_predicate;
        let held = transaction.held.iter().filter(is_held).count();
        if held == 0 || !self.store.faults.strikes(Fault::EarlyRelease) {
            return;
        }
        let chosen = transaction.held.iter().filter(is_held).nth(self.store.faults.one_of(held));
        let Some(&HeldLock { low: place, .. }) = chosen else { return };
        for held in transaction.held.iter_mut().filter(|held| held.low == place && !held.is_predicate) {
            if held.released == 0 {
                held.released = self.store.now;
            }
        }
        self.locks.release(transaction.session, place);
        self.wake(transaction.session);
        transaction.strike(Fault::EarlyRelease, false);
    }

    /// Marks early releases as visible when a transaction takes a lock that another should still hold.
    fn show_early_releases(&mut self, place: u32, mode: Lock) {
        if !self.store.faults.may(Fault::EarlyRelease) {
            return;
        }
        for other in self.store.transactions.iter_mut().filter(|other| other.is_open) {
            let is_missed = |held: &HeldLock| {
                held.low == place && held.released > 0 && !held.is_predicate && held.mode.conflicts(mode)
            };
            if other.held.iter().any(is_missed) {
                let early = other.struck.iter_mut().filter(|(fault, ..)| *fault == Fault::EarlyRelease);
                early.for_each(|(_, _, is_visible)| *is_visible = true);
            }
        }
    }
}
