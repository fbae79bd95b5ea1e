//! True instants and true dependencies.

use super::faults::StruckFault;
use super::trace::{SeenVersion, Trace};
use crate::intervals::profile::Lock;
use crate::named_enum::named_enum;
use crate::simulate::store::{NO_TRANSACTION, StoredVersion};
use hashbrown::HashMap;

/// The number of a transaction that has not ended.
const NO_NUMBER: u32 = u32::MAX;

/// True instants of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Lifetime {
    pub begun: u64,
    /// The snapshot of the whole transaction, if it has one; under timestamp ordering its timestamp.
    pub snapshot: Option<u64>,
    /// When its versions appeared, if they did.
    pub committed: Option<u64>,
    pub ended: u64,
}

/// A lock on rows from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct HeldLock {
    pub transaction: u32,
    pub low: u32,
    pub high: u32,
    pub mode: Lock,
    /// Whether it also covers rows that do not exist.
    pub is_predicate: bool,
    pub taken: u64,
    pub released: u64,
}

/// A version of a row that a read looked at; a deleted row has a version too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ShownVersion {
    pub operation: u32,
    pub key: u32,
    /// The instant that the read looked at.
    pub at: u64,
    /// `None` is the initial version.
    pub writer: Option<u32>,
    /// When it appeared; for a write that was not committed, when it was written.
    pub from: u64,
}

named_enum! {
    /// Why one transaction comes before another.
    #[allow(missing_docs)]
    pub enum Relation {
        Wr => "wr",
        Ww => "ww",
        Rw => "rw",
    }
}

/// One transaction comes before another, because of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Dependency {
    pub relation: Relation,
    pub before: u32,
    pub after: u32,
    pub key: u32,
}

/// The true times of a run; transactions and operations by their numbers in the history.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Truth {
    /// By transaction.
    pub lifetimes: Vec<Lifetime>,
    pub locks: Vec<HeldLock>,
    pub shown: Vec<ShownVersion>,
    /// Row, transaction and when its version appeared: the versions of each row in their order.
    pub versions: Vec<(u32, u32, u64)>,
    /// Of committed transactions: of neighbouring versions only.
    pub dependencies: Vec<Dependency>,
    pub faults: Vec<StruckFault>,
}

/// Collects the truth during a run.
#[derive(Debug, Default)]
pub(super) struct Witness {
    truth: Truth,
    /// Versions of each row, with the ids of their writers.
    chains: Vec<Vec<StoredVersion>>,
    /// By id.
    numbers: Vec<u32>,
    /// The number of the reader, its first operation, and what it saw.
    shown: Vec<(u32, u32, SeenVersion)>,
}

impl Witness {
    pub(super) fn add_row(&mut self) {
        self.chains.push(Vec::new());
    }

    pub(super) fn installed(&mut self, key: u32, version: StoredVersion) {
        self.chains[key as usize].push(version);
    }

    pub(super) fn ended(
        &mut self,
        trace: &Trace,
        (number, first): (u32, u32),
        committed: Option<u64>,
        ended: u64,
    ) {
        let id = trace.id as usize;
        if self.numbers.len() <= id {
            self.numbers.resize(id + 1, NO_NUMBER);
        }
        self.numbers[id] = number;
        let Trace { begun, snapshot, .. } = *trace;
        self.truth.lifetimes.push(Lifetime { begun, snapshot, committed, ended });
        let locks = trace.held.iter().map(|&held| HeldLock { transaction: number, ..held });
        self.truth.locks.extend(locks);
        self.shown.extend(trace.seen.iter().map(|&seen| (number, first, seen)));
    }

    /// The truth, with transactions by their numbers.
    pub(super) fn into_truth(mut self) -> Truth {
        let numbers = &self.numbers;
        let number = |id: u32| numbers.get(id as usize).copied().filter(|&number| number != NO_NUMBER);
        let shown = self.shown.iter().map(|&(_, first, SeenVersion { key, at, writer, from, place, .. })| {
            (writer, ShownVersion { operation: first + place, key, at, writer: number(writer), from })
        });
        // A run that was stopped has writers that did not end.
        let shown = shown.filter(|(id, shown)| *id == NO_TRANSACTION || shown.writer.is_some());
        self.truth.shown = shown.map(|(_, shown)| shown).collect();
        for (key, chain) in (0..).zip(&self.chains) {
            let versions = chain.iter().filter_map(|one| Some((key, number(one.writer)?, one.commit)));
            self.truth.versions.extend(versions);
        }
        self.truth.dependencies = self.dependencies();
        self.truth
    }

    fn dependencies(&self) -> Vec<Dependency> {
        let mut found = Vec::new();
        let mut places = HashMap::new();
        for (key, chain) in (0..).zip(&self.chains) {
            let number = |place: usize| self.numbers[chain[place].writer as usize];
            for place in 1..chain.len() {
                found.push(Dependency {
                    relation: Relation::Ww,
                    before: number(place - 1),
                    after: number(place),
                    key,
                });
            }
            let of_key = chain.iter().enumerate();
            places.extend(of_key.map(|(place, version)| ((key, version.writer), place)));
        }
        let is_committed = |reader: u32| self.truth.lifetimes[reader as usize].committed.is_some();
        for &(reader, _, seen) in self.shown.iter().filter(|&&(reader, ..)| is_committed(reader)) {
            let chain = &self.chains[seen.key as usize];
            let place = places.get(&(seen.key, seen.writer)).copied();
            // A write that was rolled back, or overwritten by its own transaction, is no version.
            if seen.writer != NO_TRANSACTION && place.is_none_or(|place| chain[place].value != seen.value) {
                continue;
            }
            let number = |version: &StoredVersion| self.numbers[version.writer as usize];
            let mut add = |relation, before, after| {
                if before != after {
                    found.push(Dependency { relation, before, after, key: seen.key });
                }
            };
            if let Some(place) = place {
                add(Relation::Wr, number(&chain[place]), reader);
            }
            if let Some(next) = chain.get(place.map_or(0, |place| place + 1)) {
                add(Relation::Rw, reader, number(next));
            }
        }
        found
    }
}
