//! How transactions take locks, wait for them and release them.

use super::faults::Fault;
use super::run::ProfiledRun;
use super::transaction::{Held, Stage, Step, Transaction};
use crate::history::Kind;
use crate::intervals::profile::{Conduct, Granularity, Lock, Read};
use crate::simulate::store::ABSENT;

impl ProfiledRun {
    /// Takes the locks of a statement; or returns the transaction that holds a conflicting one.
    pub(super) fn lock(
        &mut self,
        transaction: &mut Transaction,
        step: Step,
        conduct: Conduct,
    ) -> Option<u32> {
        if conduct.lock == Lock::None {
            return None;
        }
        let reads = matches!(step.kind, Kind::Read | Kind::RangeRead);
        if !reads || self.profile.granularity != Granularity::Row {
            return self.acquire(transaction, step.low, conduct.lock, !reads);
        }
        if conduct.locks_predicate
            && let Some(other) = self.acquire_predicate(transaction, (step.low, step.high), conduct.lock)
        {
            return Some(other);
        }
        (step.low..=step.high).find_map(|row| {
            let is_there = self.is_there(transaction, row, conduct.read);
            is_there.then(|| self.acquire(transaction, row, conduct.lock, false)).flatten()
        })
    }

    /// Whether a statement that reads finds a row.
    fn is_there(&self, transaction: &Transaction, row: u32, read: Read) -> bool {
        if let Some(own) = transaction.own(row) {
            return own.value != ABSENT;
        }
        let versions = &self.rows[row as usize];
        let found = match (read, transaction.snapshot) {
            (Read::Consistent, Some(snapshot)) => versions.at(snapshot),
            _ => versions.newest(),
        };
        found.value != ABSENT
    }

    /// Takes the lock on a row, or on its table or database.
    pub(super) fn acquire(
        &mut self,
        transaction: &mut Transaction,
        row: u32,
        mode: Lock,
        writes: bool,
    ) -> Option<u32> {
        let (place, low, high) = self.place_of(row);
        let slot = transaction.slot;
        let mut other = self.locks.in_the_way(slot, place, mode);
        if writes && self.profile.granularity == Granularity::Row {
            other = other.or_else(|| self.locks.predicate_in_the_way(slot, row, mode));
        }
        let fault = if writes { Fault::MissingLock } else { Fault::MissingShareLock };
        if other.is_some() && !self.ignores(transaction, fault) {
            return other;
        }
        if other.is_none()
            && let Some(announcer) = self.announcer(transaction, place, mode)
        {
            return Some(announcer);
        }
        if self.locks.take(slot, place, mode, writes) {
            let taken = self.now;
            transaction.held.push(Held { place, low, high, mode, taken, is_predicate: false, released: 0 });
            self.show_early_releases(place, mode);
        }
        None
    }

    /// Another transaction that waits to commit there. Newcomers let it pass: it would wait for ever otherwise.
    fn announcer(&self, transaction: &Transaction, place: u32, mode: Lock) -> Option<u32> {
        if self.announced.is_empty() || !mode.conflicts(self.profile.commit_lock) {
            return None;
        }
        let is_newcomer = !transaction.held.iter().any(|held| held.place == place && !held.is_predicate);
        let is_other = |&&(slot, announced): &&(u32, u32)| slot != transaction.slot && announced == place;
        self.announced.iter().find(is_other).filter(|_| is_newcomer).map(|&(slot, _)| slot)
    }

    /// Waits to commit; false if that is a deadlock.
    pub(super) fn wait_to_commit(&mut self, transaction: &mut Transaction, row: u32, other: u32) -> bool {
        let announced = (transaction.slot, self.place_of(row).0);
        if !self.announced.contains(&announced) {
            self.announced.push(announced);
        }
        self.wait(transaction, other) || self.break_deadlock(transaction, other)
    }

    /// Breaks a deadlock with a transaction that commits: the statement of another one in the cycle fails.
    fn break_deadlock(&mut self, transaction: &Transaction, other: u32) -> bool {
        let mut last = other as usize;
        while let Some(next) = self.transactions[last].blocker.filter(|&next| next != transaction.slot) {
            last = next as usize;
        }
        if self.transactions[last].stage != Stage::Statement {
            return false;
        }
        let mut victim = std::mem::take(&mut self.transactions[last]);
        self.waiting.retain(|&waiter| waiter as usize != last);
        victim.blocker = None;
        let step = victim.plan[victim.next];
        self.fail(&mut victim, step);
        self.transactions[last] = victim;
        self.schedule(self.now + 1, transaction.slot);
        true
    }

    fn acquire_predicate(
        &mut self,
        transaction: &mut Transaction,
        (low, high): (u32, u32),
        mode: Lock,
    ) -> Option<u32> {
        let slot = transaction.slot;
        if self.locks.holds_predicate(slot, (low, high), mode) {
            return None;
        }
        let other = self.locks.writer_in_the_way(slot, (low, high), mode);
        if other.is_some() && !self.ignores(transaction, Fault::MissingShareLock) {
            return other;
        }
        self.locks.take_predicate(slot, (low, high), mode);
        let taken = self.now;
        transaction.held.push(Held { place: low, low, high, mode, taken, is_predicate: true, released: 0 });
        None
    }

    fn ignores(&mut self, transaction: &mut Transaction, fault: Fault) -> bool {
        let strikes = self.faults.strikes(fault);
        if strikes {
            transaction.strike(fault, true);
        }
        strikes
    }

    /// The place that is locked with a row: its number, its first and its last row.
    fn place_of(&self, row: u32) -> (u32, u32, u32) {
        match self.profile.granularity {
            Granularity::Row => (row, row, row),
            Granularity::Table => {
                let (first, last) = self.table_of(row);
                (row / self.rows_of_table, first, last)
            }
            Granularity::Database => (0, 0, self.load.keys - 1),
        }
    }

    /// Waits for another transaction; false if that one already waits for this one, directly or not.
    pub(super) fn wait(&mut self, transaction: &mut Transaction, other: u32) -> bool {
        let mut last = other;
        while let Some(next) = self.transactions[last as usize].blocker {
            last = next;
        }
        if last == transaction.slot {
            return false;
        }
        transaction.blocker = Some(other);
        self.waiting.push(transaction.slot);
        true
    }

    /// Releases all locks.
    pub(super) fn release(&mut self, transaction: &mut Transaction) {
        let (slot, now) = (transaction.slot, self.now);
        let mut has_predicates = false;
        for held in transaction.held.iter_mut().filter(|held| held.released == 0) {
            held.released = now;
            has_predicates |= held.is_predicate;
            if !held.is_predicate {
                self.locks.release(slot, held.place);
            }
        }
        if has_predicates {
            self.locks.release_predicates(slot);
        }
        self.announced.retain(|&(announcer, _)| announcer != slot);
        self.wake(slot);
    }

    /// Transactions that waited for this one try again.
    fn wake(&mut self, slot: u32) {
        let mut place = 0;
        while place < self.waiting.len() {
            let waiter = self.waiting[place];
            if self.transactions[waiter as usize].blocker == Some(slot) {
                self.transactions[waiter as usize].blocker = None;
                self.waiting.swap_remove(place);
                let at = self.now + 1 + self.delaying.wide_below(self.delays.service / 4 + 1);
                self.schedule(at, waiter);
            } else {
                place += 1;
            }
        }
    }

    /// Releases one lock too early, if that fault strikes.
    pub(super) fn release_early(&mut self, transaction: &mut Transaction) {
        let is_held = |held: &&Held| held.released == 0 && !held.is_predicate;
        let held = transaction.held.iter().filter(is_held).count();
        if held == 0 || !self.faults.strikes(Fault::EarlyRelease) {
            return;
        }
        let chosen = transaction.held.iter().filter(is_held).nth(self.faults.one_of(held));
        let Some(&Held { place, .. }) = chosen else { return };
        for held in transaction.held.iter_mut().filter(|held| held.place == place && !held.is_predicate) {
            if held.released == 0 {
                held.released = self.now;
            }
        }
        self.locks.release(transaction.slot, place);
        self.wake(transaction.slot);
        let place = transaction.place() - 1;
        transaction.struck.push((Fault::EarlyRelease, place, false));
    }

    /// Marks early releases as visible when a transaction takes a lock that another should still hold.
    fn show_early_releases(&mut self, place: u32, mode: Lock) {
        if !self.faults.may(Fault::EarlyRelease) {
            return;
        }
        for other in self.transactions.iter_mut().filter(|other| other.is_active) {
            let is_missed = |held: &Held| {
                held.place == place && held.released > 0 && !held.is_predicate && held.mode.conflicts(mode)
            };
            if other.held.iter().any(is_missed) {
                let early = other.struck.iter_mut().filter(|(fault, ..)| *fault == Fault::EarlyRelease);
                early.for_each(|(_, _, is_visible)| *is_visible = true);
            }
        }
    }
}
