//! Versions: how they are installed, who must have seen whom, and who missed what.

use super::certifier::{Missed, Party};
use super::found::{CertifierCase, Finding, Name, Tally};
use super::key::{Key, Passing, Predecessor, Reference, Version, sees};
use super::profile::Certifier;
use super::reading::Certain;
use super::span::Span;
use super::transaction::{Operation, Part, Transaction};
use super::verifier::Verifier;
use crate::history::{Kind, Status};

impl Verifier {
    pub(super) fn install_writes(&mut self, transaction: &Transaction, slot: u32) {
        for (place, operation) in transaction.operations.iter().enumerate() {
            if !operation.kind.installs() {
                continue;
            }
            let last = transaction.writes.binary_search_by_key(&operation.key, |&(key, _)| key);
            let is_last = last.is_ok_and(|last| transaction.writes[last].1 as usize == place);
            let write = Reference { slot, number: transaction.number, place: operation.place };
            if operation.part == Part::Row {
                self.deleted.insert(operation.row);
            }
            let key = &mut self.keys[operation.key as usize];
            key.shapes.0 |= operation.kind == Kind::Write;
            key.shapes.1 |= operation.kind == Kind::Append;
            key.table = operation.table;
            if !is_last || !transaction.may_have_committed() {
                let is_aborted = !transaction.may_have_committed();
                let (value, seen, gone) = (operation.value, operation.span, transaction.end);
                key.pass(Passing { value, write, seen, gone, is_aborted }, self.swept);
                continue;
            }
            let take = first_lock(transaction, operation);
            let version = Version {
                value: operation.value,
                write,
                writer: transaction.id,
                session: transaction.session,
                commit: transaction.appears,
                take,
                lock: operation.lock,
                seen: seen_by(transaction, operation.span, self.profile.first_updater_wins),
                is_insert: self.profile.first_updater_wins
                    && transaction.inserts.binary_search(&operation.key).is_ok(),
                is_absent: operation.is_absent,
                is_certain: transaction.status == Status::Committed,
                is_settled: false,
                readers: super::key::Readers::default(),
                waiting: 0,
            };
            Self::answer_waiting(key, &mut self.tally, version.commit);
            key.add(version);
        }
    }

    /// Readers of the newest version have missed the one that comes now; they were over before it could appear.
    fn answer_waiting(key: &mut Key, tally: &mut Tally, commit: Span) {
        let newest = key.versions.iter_mut().rev().find(|version| version.commit.invoke <= commit.invoke);
        let waiting = match newest {
            Some(version) => std::mem::take(&mut version.waiting),
            None => std::mem::take(&mut key.first_waiting),
        };
        tally.rw.total += waiting;
    }

    /// Of two writers of a key, one must have committed before the other's snapshot.
    pub(super) fn judge_updates(&mut self, slot: u32) {
        if !self.rules.snapshots {
            return;
        }
        let transaction = self.transactions.lend(slot);
        let certified = self.profile.certifier == Certifier::OptimisticWrites;
        for (number, write) in transaction.left(slot) {
            let key = &self.keys[number as usize];
            let Some(place) = key.place_of(write, transaction.appears) else { continue };
            let own = &key.versions[place];
            let mut is_undecided = false;
            let mut broken: Vec<Reference> = Vec::new();
            // All earlier ones had certainly committed when it looked.
            let concurrent = key.versions.iter().skip(key.from(own.seen));
            for other in concurrent.filter(|one| one.is_settled && one.is_certain) {
                if !sees(own, other) && !sees(other, own) {
                    broken.push(other.write);
                } else if !other.commit.precedes(own.seen) && !own.commit.precedes(other.seen) {
                    is_undecided |= !own.is_insert && !other.is_insert;
                }
            }
            self.tally.updates.count(is_undecided);
            for other in broken {
                let (name, case) = if certified {
                    (Name::CertifierViolation, CertifierCase::OptimisticWrites as u8)
                } else {
                    (Name::FirstUpdaterViolation, 0)
                };
                self.found(Finding { name, case, operations: vec![other, write], key: number, shown: None });
            }
        }
        self.transactions.give_back(slot, transaction);
    }

    /// Its versions are settled, and the order of each and the one before it is counted.
    pub(super) fn settle_versions(&mut self, slot: u32) {
        let transaction = self.transactions.lend(slot);
        let mut is_uncertain = false;
        for (number, write) in transaction.left(slot) {
            let key = &mut self.keys[number as usize];
            let Some(place) = key.place_of(write, transaction.appears) else { continue };
            key.versions[place].is_settled = true;
            let Some(before) = place.checked_sub(1) else { continue };
            let (one, other) = (&key.versions[before], &key.versions[place]);
            if !one.is_certain || !other.is_certain {
                continue;
            }
            let is_overlapping = !one.commit.precedes(other.commit);
            let is_open = is_overlapping && key.order(one, other, self.rules).is_none();
            is_uncertain |= is_open;
            self.tally.ww.count(is_overlapping, is_open);
        }
        self.transactions.give_back(slot, transaction);
        if is_uncertain {
            self.mark_uncertain.push(slot);
        }
    }

    /// The reader is settled: counts what it missed, and remembers it for whoever overwrites what it read.
    pub(super) fn follow_missed(&mut self, certain: &Certain) {
        let (slot, number) = (certain.read.slot, certain.read.number);
        let (snapshot, rules) = (certain.snapshot, self.rules);
        let key = &mut self.keys[certain.key as usize];
        let place = match certain.write {
            None => None,
            Some((write, commit)) => match key.place_of(write, commit) {
                None => return,
                place => place,
            },
        };
        match key.versions.get(place.map_or(0, |place| place + 1)) {
            None => match place {
                None => key.first_waiting += 1,
                Some(place) => key.versions[place].waiting += 1,
            },
            // Who reads and then writes missed nobody.
            Some(next) if next.write.number == number => {}
            Some(next) => {
                let is_overlapping = !snapshot.precedes(next.commit);
                let is_open = place.is_some_and(|place| {
                    key.order(&key.versions[place], next, rules).is_none_or(|known| !known.0)
                });
                self.tally.rw.count(is_overlapping, is_open);
                if is_open {
                    self.mark_uncertain.push(slot);
                }
            }
        }
        let ended = self.transactions.get(slot).known_at();
        let readers = match place {
            None => &mut key.first_readers,
            Some(place) => &mut key.versions[place].readers,
        };
        readers.add(certain.read, ended, self.swept);
    }

    /// Certain rw: from the transaction to those who overwrote what it read, and to it from those who read what it
    /// overwrote.
    pub(super) fn judge_missed(&mut self, slot: u32) {
        if !self.certificates.is_on() || self.has_late {
            return;
        }
        let mut missed: Vec<(Reference, Reference, u32)> = Vec::new();
        for certain in std::mem::take(&mut self.certain) {
            let key = &self.keys[certain.key as usize];
            let next = match certain.write {
                Some((write, commit)) => {
                    key.place_of(write, commit).and_then(|place| key.successor(place, self.rules))
                }
                None => key.next_after_first(self.rules),
            };
            if let Some(next) = next.map(|next| &key.versions[next]).filter(|next| next.is_settled) {
                missed.push((certain.read, next.write, certain.key));
            }
        }
        let transaction = self.transactions.get(slot);
        for (number, write) in transaction.left(slot) {
            let key = &self.keys[number as usize];
            let Some(place) = key.place_of(write, transaction.appears) else { continue };
            let readers = match key.predecessor(place, self.rules) {
                Predecessor::Unknown => continue,
                Predecessor::First => &key.first_readers,
                Predecessor::Version(before) => &key.versions[before].readers,
            };
            missed.extend(readers.iter().map(|read| (read, write, number)));
        }
        for (read, write, key) in missed {
            self.add_missed(read, write, key);
        }
    }

    fn add_missed(&mut self, read: Reference, write: Reference, key: u32) {
        if read.number == write.number {
            return;
        }
        let (Some(from), Some(to)) = (self.party(read), self.party(write)) else { return };
        let found = self.certificates.add(Missed { from, to, read, write, key });
        if let Some(found) = found {
            let (name, case) = (Name::CertifierViolation, found.case as u8);
            self.found(Finding { name, case, operations: found.operations, key: found.key, shown: None });
        }
    }

    fn party(&self, reference: Reference) -> Option<Party> {
        let transaction = self.transactions.find(reference.slot, reference.number)?;
        let first = transaction.operations.iter().find(|one| one.is_statement())?;
        Some(Party {
            number: transaction.number,
            first: transaction.first,
            commit: transaction.end,
            snapshot: transaction.snapshot.unwrap_or(first.span),
            is_read_only: transaction.is_read_only(),
        })
    }
}

/// The moment at which a writer must have seen all earlier versions: its snapshot, but not after it wrote.
fn seen_by(transaction: &Transaction, write: Span, by_update: bool) -> Span {
    match transaction.snapshot {
        Some(snapshot) if !by_update || snapshot.invoke <= write.invoke => snapshot,
        _ => write,
    }
}

/// When a transaction first got a lock on the row that keeps other writers out.
fn first_lock(transaction: &Transaction, write: &Operation) -> Span {
    let from = transaction.locks.partition_point(|&(row, _)| row < write.row);
    let own = transaction.locks[from..].iter().take_while(|&&(row, _)| row == write.row);
    let excluding = own.filter(|(_, held)| !held.is_of_commit && held.mode.conflicts(write.lock));
    excluding.map(|(_, held)| held.take).min_by_key(|take| take.invoke).unwrap_or(write.span)
}
