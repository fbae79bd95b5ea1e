//! Faults, one at a time, and the log of what came of them.
//!
//! The log is exact: it holds every violation of a level of the database's clock that an omniscient observer of
//! the store finds, by the definitions of Li et al. 2025 and from the timestamps that are recorded.

use super::Isolation;
use super::client::Client;
use super::clock::{TICK, after};
use super::engine::{Engine, small};
use super::key::{Seen, Shown};
use crate::history::NO_KEY;
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What goes wrong in a transaction where the fault may strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// It reads the snapshot of the oldest open transaction.
    StaleSnapshot,
    /// It reads the newest versions, not those of its snapshot.
    MovingSnapshot,
    /// It commits although somebody else has written its keys.
    LostUpdate,
    /// It commits although somebody else has written what it read.
    WriteSkew,
    /// Half of its writes become visible later.
    FracturedCommit,
    /// It reads what is not committed.
    DirtyRead,
    /// It reads what was rolled back.
    AbortedRead,
    /// A second read of a key shows the newest version.
    NonRepeatableRead,
    /// A read does not show what the transaction wrote itself.
    ForgottenWrite,
    /// It starts, by its timestamp and its snapshot, before the last one of its session committed.
    ReorderedSession,
    /// One of its writes gets lost.
    DroppedWrite,
    /// Its start and commit timestamps change places.
    TimestampSwap,
    /// Its commit timestamp comes from a clock that is behind.
    ClockSkew,
}

/// What an entry of the log shows to be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axiom {
    /// A first access does not show the last version of the snapshot.
    Ext,
    /// A first access does not show the last version in the order of commits.
    Replay,
    /// A later read differs from the one before.
    Int,
    /// A later read differs from what the transaction wrote.
    OwnInt,
    /// Two transactions that overlap wrote the same key.
    NoConflict,
    /// A start before the last commit of the session.
    Session,
    /// A start after the commit.
    Inversion,
    /// A read of something that was rolled back.
    AbortedRead,
    /// A read of something that its writer overwrote.
    IntermediateRead,
    /// A read that did not show the newest committed version.
    Missed,
}

/// One thing that came of the bug.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Entry {
    pub axiom: Axiom,
    pub transaction: u32,
    /// Nil if it is about no key.
    pub key: Value,
    /// The other transaction, if there is one.
    pub other: Option<u32>,
    pub expected: Value,
    pub found: Value,
}

/// Transaction, axiom, key, and the place of the read or the other transaction.
type Place = (u32, Axiom, u32, u32);

#[derive(Default)]
pub(super) struct Log {
    entries: BTreeMap<Place, (Shown, Shown)>,
    /// Ids of transactions that committed, from 1.
    committed: Vec<bool>,
    suspects: Vec<Suspect>,
    /// Transactions that others have read too early.
    watched: BTreeSet<u32>,
    /// How often such a one wrote a key in the end, if it committed.
    fates: BTreeMap<(u32, u32), u32>,
}

/// A read of what was not committed.
struct Suspect {
    reader: u32,
    key: u32,
    read: u32,
    writer: u32,
    /// How many writes of his it showed.
    count: u32,
    shown: (Shown, Shown),
}

impl Log {
    pub(super) fn add(&mut self, place: Place, expected: Shown, found: Shown) {
        self.entries.insert(place, (expected, found));
    }

    /// Adds an entry if something is wrong, and takes it back if not.
    fn set(&mut self, place: Place, expected: Shown, found: &Shown) {
        if expected == *found {
            self.entries.remove(&place);
        } else {
            self.add(place, expected, found.clone());
        }
    }
}

impl Engine<'_> {
    pub(super) fn strikes(&self, client: &Client, bug: Bug) -> bool {
        client.is_marked && self.simulation.bug == Some(bug)
    }

    pub(super) fn ignores_conflicts(&self, client: &Client) -> bool {
        self.strikes(client, Bug::LostUpdate)
    }

    /// Decides at the begin whether the fault may strike.
    pub(super) fn mark(&mut self, client: &mut Client) {
        let Some(bug) = self.simulation.bug else { return };
        client.is_marked = self.faults.below(1_000_000) < self.simulation.bug_rate;
        let Some(oldest) = client.is_marked.then(|| self.oldest_begin()).flatten() else { return };
        if bug == Bug::StaleSnapshot {
            client.snapshot = client.start.min(oldest);
        }
        if bug == Bug::ReorderedSession && after(oldest) < client.before.1 {
            client.start = after(oldest);
            client.snapshot = client.start;
        }
    }

    /// The start and commit timestamps that are recorded of who commits now.
    pub(super) fn recorded(&mut self, client: &Client, now: u64) -> (u64, u64) {
        if self.strikes(client, Bug::ClockSkew) {
            let commit = self.clock.behind(client.start, now, &mut self.faults).unwrap_or(now);
            return (client.start, commit);
        }
        let is_free = |key: u32| self.keys[key as usize].newest().commit < client.start;
        if self.strikes(client, Bug::TimestampSwap) && client.writes().all(|touched| is_free(touched.key)) {
            return (now, client.start);
        }
        (client.start, now)
    }

    /// From when on each write is visible.
    pub(super) fn instants(&mut self, client: &Client) -> Vec<u64> {
        let writes = client.writes().count();
        let mut visible = vec![0; writes];
        if self.strikes(client, Bug::FracturedCommit) && writes > 1 {
            let later = self.now + TICK * 32 * u64::from(self.simulation.concurrency);
            visible[writes / 2..].fill(later);
        }
        if self.strikes(client, Bug::DroppedWrite) && writes > 0 {
            visible[self.faults.below(writes as u32) as usize] = u64::MAX;
        }
        visible
    }

    /// What is wrong with a transaction that commits, as its timestamps have it.
    pub(super) fn judge(&mut self, client: &Client, start: u64, commit: u64) {
        if self.simulation.bug.is_none() || !self.simulation.isolation.has_snapshots() {
            return;
        }
        let is_serializable = self.simulation.isolation == Isolation::Serializable;
        let (id, keys, log) = (client.id, &self.keys, &mut self.log);
        for touched in &client.touched {
            let (key, state) = (touched.key, &keys[touched.key as usize]);
            if let Some(first) = &touched.first {
                log.set((id, Axiom::Ext, key, 0), Shown::plain(state.at(start).value), first);
                if is_serializable {
                    log.set((id, Axiom::Replay, key, 0), Shown::plain(state.newest().value), first);
                }
            }
            let overlaps = state.versions.iter().rev().take_while(|version| version.commit > client.start);
            for other in overlaps.filter(|_| !touched.own.is_empty()) {
                let place = (id, Axiom::NoConflict, key, other.writer);
                log.add(place, Shown::plain(other.value), Shown::default());
            }
        }
        if start < client.before.1 {
            log.add((id, Axiom::Session, NO_KEY, client.before.0), Shown::default(), Shown::default());
        }
        if commit < start {
            log.add((id, Axiom::Inversion, NO_KEY, 0), Shown::default(), Shown::default());
        }
    }

    /// Who has already committed should have seen a transaction whose commit timestamp is in the past.
    pub(super) fn judge_late(&mut self, client: &Client, commit: u64) {
        let is_serializable = self.simulation.isolation == Isolation::Serializable;
        for touched in client.writes() {
            let state = &self.keys[touched.key as usize];
            for seen in state.rare.iter().flat_map(|rare| &rare.seen) {
                let place = |axiom| (seen.reader, axiom, touched.key, 0);
                if seen.start >= commit {
                    self.log.set(place(Axiom::Ext), state.newest_for(seen), &seen.shown);
                }
                if is_serializable && seen.commit > commit {
                    self.log.set(place(Axiom::Replay), state.newest_for(seen), &seen.shown);
                }
            }
        }
    }

    /// Keeps what the log may need of a transaction that has committed.
    pub(super) fn remember(&mut self, client: &Client, start: u64, commit: u64) {
        let Some(bug) = self.simulation.bug else { return };
        let ids = &mut self.log.committed;
        ids.resize(ids.len().max(client.id as usize + 1), false);
        ids[client.id as usize] = true;
        if self.log.watched.contains(&client.id) {
            let fates = client.writes().map(|touched| ((client.id, touched.key), touched.own.len() as u32));
            self.log.fates.extend(fates);
        }
        if !matches!(bug, Bug::ClockSkew | Bug::TimestampSwap) {
            return;
        }
        let horizon = self.horizon(client);
        for touched in &client.touched {
            let Some(shown) = touched.first.clone() else { continue };
            let state = &mut self.keys[touched.key as usize];
            let last = state.newest().value;
            let own = last.saturating_sub(touched.own.len() as u32)..last;
            let seen = &mut state.rare().seen;
            if seen.len().is_power_of_two() {
                seen.retain(|seen| seen.commit.max(seen.start) >= horizon);
            }
            seen.push(Seen { reader: client.id, start, commit, shown, own });
        }
    }

    /// A read showed what `writer` had not committed, or missed something; what it should have shown is known.
    pub(super) fn suspect(&mut self, client: &Client, place: usize) {
        let touched = &client.touched[place];
        let (key, read) = (touched.key, client.done.len() as u32);
        let Some(found) = touched.shown.clone() else { return };
        let state = &self.keys[key as usize];
        match (self.simulation.bug, touched.foreign) {
            (Some(Bug::DirtyRead | Bug::AbortedRead), Some((writer, count))) => {
                let shown = (state.shown(client.snapshot, self.now, self.simulation.model), found);
                self.log.watched.insert(writer);
                self.log.suspects.push(Suspect { reader: client.id, key, read, writer, count, shown });
            }
            (Some(Bug::FracturedCommit | Bug::DroppedWrite), None)
                if !self.simulation.isolation.has_snapshots() =>
            {
                let newest = Shown::plain(state.newest().value);
                self.log.set((client.id, Axiom::Missed, key, read), newest, &found);
            }
            _ => {}
        }
    }

    /// The log as it is in the end: only transactions that committed are judged.
    pub(super) fn entries(&mut self) -> Vec<super::Entry> {
        let mut log = std::mem::take(&mut self.log);
        for suspect in log.suspects {
            let axiom = match log.fates.get(&(suspect.writer, suspect.key)) {
                None => Axiom::AbortedRead,
                Some(&last) if last > suspect.count => Axiom::IntermediateRead,
                Some(_) => continue,
            };
            log.entries.insert((suspect.reader, axiom, suspect.key, suspect.read), suspect.shown);
        }
        let committed = |id: u32| log.committed.get(id as usize) == Some(&true);
        log.entries.retain(|&(id, ..), _| committed(id));
        log.entries.into_iter().map(|(place, shown)| self.entry(place, &shown)).collect()
    }

    fn entry(&mut self, place: Place, (expected, found): &(Shown, Shown)) -> Entry {
        let (transaction, axiom, key, other) = place;
        let is_pair = matches!(axiom, Axiom::NoConflict | Axiom::Session);
        let has_values = !is_pair && key != NO_KEY;
        let mut value = |shown| if has_values { self.value(key, shown, &[]) } else { Value::NIL };
        let (expected, found) = (value(expected), value(found));
        let key = if key == NO_KEY { Value::NIL } else { small(key) };
        Entry { axiom, transaction, key, other: is_pair.then_some(other), expected, found }
    }
}
