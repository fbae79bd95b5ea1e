//! The running writers of each key: two that overlap contradict snapshot isolation.

use super::replay_findings::ReplayFindings;
use crate::history::Timestamp;
use hashbrown::HashMap;

/// The writers of one key.
#[derive(Default)]
struct OfKey {
    /// Running transactions, by their start; some may have ended.
    ongoing: Vec<u32>,
    live: u32,
    /// Transactions that committed at the time `at`.
    same: Vec<u32>,
    at: Timestamp,
}

/// The writers of all keys.
pub struct Writers {
    of_key: Vec<OfKey>,
    /// Running transactions, with their commits.
    ongoing: HashMap<u32, Timestamp>,
}

impl Writers {
    pub fn new(keys: usize) -> Self {
        Self { of_key: (0..keys).map(|_| OfKey::default()).collect(), ongoing: HashMap::new() }
    }

    /// The transaction runs from now on, until its commit.
    pub fn begin(&mut self, transaction: u32, commit: Timestamp) {
        self.ongoing.insert(transaction, commit);
    }

    /// A running transaction writes this key.
    pub fn add(&mut self, key: u32, transaction: u32) {
        let writers = &mut self.of_key[key as usize];
        writers.ongoing.push(transaction);
        writers.live += 1;
    }

    /// The transaction no longer runs.
    pub fn end(&mut self, transaction: u32, (start, commit): (Timestamp, Timestamp)) {
        if start < commit {
            self.ongoing.remove(&transaction);
        }
    }

    /// A transaction that writes the key commits: adds the conflicts with writers that have not committed yet, or
    /// commit at the same time.
    ///
    /// A transaction that starts at its commit, or later, never ran: its conflicts with commits at the same time
    /// were not found yet, and of the running writers some commit before it starts.
    pub fn commit(
        &mut self,
        key: u32,
        transaction: u32,
        (start, commit): (Timestamp, Timestamp),
        max_anomalies: usize,
        findings: &mut ReplayFindings,
    ) {
        let writers = &mut self.of_key[key as usize];
        writers.move_to(commit, start < commit, &self.ongoing);
        let others = writers.ongoing.iter().copied().filter(|other| self.ongoing.contains_key(other));
        if start < commit {
            if writers.live > 0 {
                findings.add_conflicts(
                    max_anomalies,
                    key,
                    writers.live as usize,
                    others.map(|other| (transaction, other)),
                );
            }
        } else {
            let overlaps = |other: &u32| self.ongoing[other] > start || self.ongoing[other] == commit;
            let later: Vec<u32> = others.filter(overlaps).collect();
            findings.add_conflicts(
                max_anomalies,
                key,
                later.len(),
                later.iter().map(|&other| (transaction, other)),
            );
            let same = &writers.same;
            findings.add_conflicts(
                max_anomalies,
                key,
                same.len(),
                same.iter().map(|&other| (other, transaction)),
            );
        }
        writers.same.push(transaction);
    }
}

impl OfKey {
    /// A transaction commits `now`; those that ended are dropped when they are many.
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
