//! Dependencies rw: a transaction read the version before that of another one.

use super::certifier::{AntiDependency, Party, Uncertified};
use super::consistent_read::CertainRead;
use super::finding::{Case, Finding};
use super::key::Reference;
use super::verifier::Verifier;
use super::version_order::Predecessor;

impl Verifier {
    /// Counts the rw dependency of a settled read, and keeps the reader for later writers of the key.
    pub(super) fn add_reader(&mut self, certain: &CertainRead) {
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
            // The reader itself wrote the next version.
            Some(next) if next.write.number == number => {}
            Some(next) => {
                let is_overlapping = !snapshot.precedes(next.commit);
                // A version that appears after the snapshot comes after the one that was read.
                let is_open = is_overlapping
                    && place.is_some_and(|place| {
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

    /// Certain rw dependencies: from the transaction to those that overwrote what it read, and to it from those that
    /// read what it overwrote.
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
        let found = self.certificates.add(AntiDependency { from, to, read, write, key });
        if let Some(found) = found {
            let Uncertified { case, operations, key } = found;
            self.add_finding(Finding { case: Case::Certifier(case), operations, key, unexplained: None });
        }
    }

    fn party(&self, reference: Reference) -> Option<Party> {
        let transaction = self.transactions.find(reference.slot, reference.number)?;
        Some(Party {
            number: transaction.number,
            first: transaction.first,
            commit: transaction.end,
            snapshot: transaction.snapshot,
            is_read_only: transaction.is_read_only(),
        })
    }
}
