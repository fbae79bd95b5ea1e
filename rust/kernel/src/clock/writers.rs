//! Who writes a key at present: two that do so at the same time contradict snapshot isolation.

use super::found::Found;
use crate::history::Timestamp;
use hashbrown::HashMap;

/// The writers of one key.
#[derive(Default)]
struct OfKey {
    /// Those under way, by their start; some may have ended.
    ongoing: Vec<u32>,
    live: u32,
    /// Those who committed at the time `at`.
    same: Vec<u32>,
    at: Timestamp,
}

/// The writers of all keys.
pub struct Writers {
    of_key: Vec<OfKey>,
    /// Those under way, with their commits.
    ongoing: HashMap<u32, Timestamp>,
}

impl Writers {
    pub fn new(keys: usize) -> Self {
        Self { of_key: (0..keys).map(|_| OfKey::default()).collect(), ongoing: HashMap::new() }
    }

    /// The transaction is under way from now on, until its commit.
    pub fn begin(&mut self, transaction: u32, commit: Timestamp) {
        self.ongoing.insert(transaction, commit);
    }

    /// It will write this key.
    pub fn add(&mut self, key: u32, transaction: u32) {
        let writers = &mut self.of_key[key as usize];
        writers.ongoing.push(transaction);
        writers.live += 1;
    }

    /// It is no longer under way.
    pub fn end(&mut self, transaction: u32, (start, commit): (Timestamp, Timestamp)) {
        if start < commit {
            self.ongoing.remove(&transaction);
        }
    }

    /// Everyone who writes the same key and has not committed yet, or does so at this very time.
    ///
    /// Who starts when it commits, or later, was never under way: then those that committed at the same time
    /// have not met it yet, and others may have committed before it started.
    pub fn meet(
        &mut self,
        key: u32,
        transaction: u32,
        (start, commit): (Timestamp, Timestamp),
        most: usize,
        found: &mut Found,
    ) {
        let writers = &mut self.of_key[key as usize];
        writers.move_to(commit, start < commit, &self.ongoing);
        let others = writers.ongoing.iter().copied().filter(|other| self.ongoing.contains_key(other));
        if start < commit {
            if writers.live > 0 {
                found.meet(most, key, writers.live as usize, others.map(|other| (transaction, other)));
            }
        } else {
            let overlaps = |other: &u32| self.ongoing[other] > start || self.ongoing[other] == commit;
            let later: Vec<u32> = others.filter(overlaps).collect();
            found.meet(most, key, later.len(), later.iter().map(|&other| (transaction, other)));
            let same = &writers.same;
            found.meet(most, key, same.len(), same.iter().map(|&other| (other, transaction)));
        }
        writers.same.push(transaction);
    }
}

impl OfKey {
    /// Somebody commits `now`, who was under way or not; those who ended are forgotten when they are many.
    fn move_to(&mut self, now: Timestamp, was_ongoing: bool, ongoing: &HashMap<u32, Timestamp>) {
        self.live -= u32::from(was_ongoing);
        if self.ongoing.len() > 2 * self.live as usize + 8 {
            self.ongoing.retain(|other| ongoing.contains_key(other));
        }
        if self.at != now {
            self.same.clear();
            self.at = now;
        }
    }
}
