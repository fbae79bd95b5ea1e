//! A transaction arrives: its own reads, the transactions that it overlaps, and the reads that it makes stale.

use super::initial_value::InitialValue;
use super::kept_findings::KeptFinding;
use super::key::{KeyVersion, Read, Shape, Turn};
use super::own_operations::{External, Mismatch, OwnOperations};
use super::segments::EARLIEST;
use super::stability::Doubt;
use super::transactions::{KeyWrites, NAMELESS, Operation, Transaction};
use super::{Engine, context};
use crate::clock::{ClockAnomaly, ClockLevel};
use crate::history::Timestamp;
use crate::value::Value;

impl Engine {
    pub(super) fn arrive(&mut self, arrived: Transaction) {
        let now = arrived.arrival;
        let (id, session) = (arrived.id, arrived.session);
        self.sizes.transactions += 1;
        self.sizes.operations += arrived.operations.len() as u64;
        let slot = self.transactions.add(arrived);
        self.ids.insert(id, slot);
        self.count_keys(slot);
        if !self.transactions.get(slot).is_committed {
            self.add_uncommitted(slot);
            self.turn(now);
            return;
        }
        let is_judged = self.enqueue(slot);
        if is_judged {
            self.count_ties(slot);
        }
        self.judge_times(slot, session, is_judged);
        let mut own = std::mem::take(&mut self.own);
        let keys = &self.keys;
        own.look(&self.transactions.get(slot).operations, keys.len(), &self.lists, |key| {
            keys[key as usize].shape == Shape::List
        });
        if is_judged {
            self.judge_own(slot, &own);
        }
        self.install(slot, is_judged);
        if is_judged {
            self.read(slot, &own.external);
        }
        self.own = own;
        self.turn(now);
    }

    /// Counts the keys that no transaction used before.
    fn count_keys(&mut self, slot: u32) {
        for operation in &self.transactions.get(slot).operations {
            let known = &mut self.keys[operation.key as usize];
            self.sizes.keys += u64::from(!known.is_used);
            known.is_used = true;
        }
    }

    /// A transaction that did not commit installs nothing, but another may have read what it wrote.
    fn add_uncommitted(&mut self, slot: u32) {
        if let Some(place) = self.places.get_mut(self.transactions.get(slot).session as usize) {
            *place += 1;
        }
        self.pending.push_back(slot);
        for place in 0..self.transactions.get(slot).operations.len() as u32 {
            let Operation { kind, key, value } = self.transactions.get(slot).operations[place as usize];
            if !kind.installs() {
                continue;
            }
            self.recheck_learned(slot, KeyWrites { key, first: place, last: place });
            let context = context!(self);
            let known = &mut self.keys[key as usize];
            known.write(context, value, &mut self.turns);
            known.uncommitted.push((slot, place));
            self.transactions.hold(slot);
        }
    }

    /// Counts timestamps that belong to several transactions.
    fn count_ties(&mut self, slot: u32) {
        let Transaction { number, start, commit, .. } = *self.transactions.get(slot);
        let times = if self.terms.level == ClockLevel::Snapshot { [commit, start] } else { [commit; 2] };
        for time in times {
            let gone = if time < self.watermark { self.segments.numbers_at(time) } else { Vec::new() };
            let (first, is_counted) =
                self.times.entry(time).or_insert((*gone.first().unwrap_or(&number), gone.len() > 1));
            if *first != number && !*is_counted {
                *is_counted = true;
                self.sizes.ties += 1;
            }
        }
    }

    /// Finds the anomalies that timestamps alone show.
    fn judge_times(&mut self, slot: u32, session: u32, is_judged: bool) {
        let is_snapshot = is_judged && self.terms.level == ClockLevel::Snapshot;
        let (start, commit) = self.transactions.get(slot).times();
        if is_snapshot && start > commit {
            self.add_finding(KeptFinding::between(ClockAnomaly::TimestampInversion, slot, None));
        }
        if session == NAMELESS {
            return;
        }
        self.places[session as usize] += 1;
        self.transactions.hold(slot);
        let Some(before) = self.latest[session as usize].replace(slot) else { return };
        let both = (self.transactions.get(before), self.transactions.get(slot));
        if is_snapshot && context!(self).order.is_out_of_order(both.0, both.1) {
            self.add_finding(KeptFinding::between(ClockAnomaly::SessionOrder, slot, Some(before)));
        }
        self.release(before);
    }

    /// Adds a transaction to the pending ones; false if it came too late to be judged.
    fn enqueue(&mut self, slot: u32) -> bool {
        let transaction = self.transactions.get(slot);
        let (number, moment) = (transaction.number, self.moment(transaction.times()));
        self.pending.push_back(slot);
        if moment < self.watermark {
            return self.hold_keys(slot, moment);
        }
        while self.earliest.back().is_some_and(|&(_, other)| other >= moment) {
            self.earliest.pop_back();
        }
        self.earliest.push_back((number, moment));
        true
    }

    /// Keeps the keys of a late transaction from being cut until it is final. If one was cut before, the transaction
    /// is not judged: it may have come before.
    fn hold_keys(&mut self, slot: u32, moment: Timestamp) -> bool {
        self.transactions.get_mut(slot).is_late = true;
        let keys = self.transactions.get(slot).keys();
        let is_known = |&key: &u32| self.keys[key as usize].floor <= moment;
        let is_judged = keys.iter().all(is_known) && (self.segments.are_kept() || !keys.is_empty());
        self.sizes.unverifiable += u64::from(!is_judged);
        for key in keys {
            self.keys[key as usize].held += 1;
        }
        is_judged
    }

    /// The earliest time whose committed versions a transaction needs.
    pub(super) fn moment(&self, (start, commit): (Timestamp, Timestamp)) -> Timestamp {
        match self.terms.level {
            ClockLevel::Snapshot => start.min(commit),
            ClockLevel::Serializable => commit,
        }
    }

    fn judge_own(&mut self, slot: u32, own: &OwnOperations) {
        for &Mismatch { anomaly, read, key, against } in &own.mismatches {
            let Transaction { number, ref operations, .. } = *self.transactions.get(slot);
            let value = operations[read as usize].value;
            if anomaly == ClockAnomaly::NonRepeatableRead && self.keys[key as usize].shape != Shape::List {
                let context = context!(self);
                self.keys[key as usize].suspect_value(context, value, (number, read), &mut self.turns);
            }
            self.add_finding(KeptFinding {
                key,
                operation: read,
                against: Some((slot, against)),
                ..KeptFinding::between(anomaly, slot, None)
            });
        }
    }

    /// Adds the writes of a transaction as versions of their keys.
    fn install(&mut self, slot: u32, is_judged: bool) {
        let writes = self.transactions.get(slot).writes();
        for writes in writes {
            let KeyWrites { key, last: write, .. } = writes;
            if is_judged {
                self.find_conflicts(slot, key);
            }
            self.recheck_learned(slot, writes);
            let transaction = self.transactions.get(slot);
            let &Transaction { start, commit, .. } = transaction;
            let value = transaction.operations[write as usize].value;
            let context = context!(self);
            let known = &mut self.keys[key as usize];
            for value in transaction.written(writes) {
                known.write(context, value, &mut self.turns);
            }
            if known.is_missed(context, slot) {
                continue;
            }
            let version = KeyVersion { commit, start, value, slot, write, count: 0, end: 0 };
            let appended: Vec<Value> =
                if known.shape == Shape::List { transaction.written(writes).collect() } else { Vec::new() };
            known.install(context, version, &appended, &mut self.turns);
            self.transactions.hold(slot);
            self.sizes.versions += 1;
        }
    }

    /// A write of the value that was learned as the initial one shows that it is a value like any other.
    fn recheck_learned(&mut self, slot: u32, writes: KeyWrites) {
        let known = &self.keys[writes.key as usize];
        let Some(initial) =
            known.initial.value().filter(|_| !matches!(known.initial, InitialValue::Known(_)))
        else {
            return;
        };
        let is_it = self.transactions.get(slot).written(writes).any(|value| value == initial);
        if is_it && !self.recall(writes.key, EARLIEST) {
            self.sizes.unverifiable += 1;
        }
    }

    /// Finds the transactions that wrote the same key while this one ran.
    fn find_conflicts(&mut self, slot: u32, key: u32) {
        if self.terms.level == ClockLevel::Serializable {
            return;
        }
        let context = context!(self);
        let mut pairs = Vec::new();
        self.keys[key as usize].overlapping(context, slot, |version| pairs.push(version.slot));
        for other in pairs {
            let (one, two) = (self.transactions.get(slot), self.transactions.get(other));
            let is_first = context!(self).order.commits(one, two).is_lt();
            let (first, second) = if is_first { (slot, other) } else { (other, slot) };
            self.add_finding(KeptFinding {
                key,
                ..KeptFinding::between(ClockAnomaly::WriteConflict, first, Some(second))
            });
        }
    }

    fn read(&mut self, slot: u32, external: &[External]) {
        for &External { read, key, own } in external {
            let context = context!(self);
            let transaction = self.transactions.get(slot);
            let (time, value) = (context.moment(transaction), transaction.operations[read as usize].value);
            let known = &mut self.keys[key as usize];
            if known.is_lost {
                self.sizes.unverifiable_reads += 1;
                continue;
            }
            known.read(
                context,
                Read { time, value, slot, place: read, own, is_wrong: false },
                &mut self.turns,
            );
            self.transactions.hold(slot);
            self.sizes.reads += 1;
        }
    }

    /// Counts reads that became stale, or are stale no longer.
    fn turn(&mut self, now: u64) {
        if self.turns.is_empty() {
            return;
        }
        let mut turns = std::mem::take(&mut self.turns);
        turns.sort_by_key(|turn| (turn.slot, turn.read));
        // Two changes of the same read cancel.
        let same = turns.chunk_by(|one, other| (one.slot, one.read) == (other.slot, other.read));
        for turn in same.filter(|turns| turns.len() % 2 == 1).map(|turns| turns[0]) {
            let Turn { slot, read, is_wrong, is_new } = turn;
            let transaction = self.transactions.get_mut(slot);
            transaction.wrong =
                if is_wrong { transaction.wrong + 1 } else { transaction.wrong.saturating_sub(1) };
            if transaction.is_final {
                self.overturn(slot, read, is_wrong);
                continue;
            }
            transaction.flips += u32::from(!is_new);
            let provisional = &mut self.sizes.provisional;
            *provisional = if is_wrong { *provisional + 1 } else { *provisional - 1 };
            let doubt = self.doubts.entry((slot, read)).or_insert(Doubt { since: now, flips: 0 });
            doubt.flips += u32::from(!is_new);
            if is_wrong {
                doubt.since = now;
            } else {
                self.stability.rectify(now.saturating_sub(doubt.since));
            }
        }
        turns.clear();
        self.turns = turns;
    }

    /// A final answer was wrong: a transaction came later than the timeout allows.
    fn overturn(&mut self, slot: u32, read: u32, is_wrong: bool) {
        self.sizes.overturned += 1;
        if is_wrong {
            self.add_stale_read(slot, read);
            return;
        }
        self.counts[ClockAnomaly::StaleRead as usize] -= 1;
        let gone = self.found.retract(slot, read);
        let transaction = self.transactions.get(slot);
        let key = transaction.operations[read as usize].key;
        self.found.tell(
            ClockAnomaly::StaleRead,
            transaction.id,
            None,
            Some(self.index.ids()[key as usize]),
            true,
        );
        for slot in gone {
            self.release(slot);
        }
    }
}
