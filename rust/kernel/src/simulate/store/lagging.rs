//! Reads that lag behind: which versions a level allows where it is no stronger than causal consistency.
//!
//! Transactions run one after the other, and this commit order explains the history. A read may show any version
//! of its row that is not older than one by a transaction that the level makes visible. From read atomic up, a
//! read must also not reveal a transaction that an earlier read of the same transaction missed: such a
//! transaction is *hidden*.

use super::Model;
use super::row::{NO_TRANSACTION, Row, StoredVersion};
use crate::generate::random::Random;
use std::collections::VecDeque;
use std::sync::Arc;

/// A level whose reads may lag behind, and no stronger one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Lagging {
    ReadCommitted,
    ReadAtomic,
    Causal,
}

/// For each session, how many of its transactions happened before.
type Past = Arc<[u32]>;

const NO_PLACE: u32 = u32::MAX;

/// What the open transaction has seen, and what its session knows. Version 0 of a row is the initial one.
#[derive(Debug)]
pub(super) struct View {
    level: Lagging,
    model: Model,
    lag: usize,
    /// The open transaction and its session.
    id: u32,
    session: u32,
    /// By id: the session and, if the transaction commits, its place there, from 1.
    sessions: Vec<u32>,
    places: Vec<u32>,
    /// By id: the last transaction that observed this one, and the last from which this one is hidden.
    observed: Vec<u32>,
    hidden: Vec<u32>,
    /// By session: how many transactions committed.
    committed: Vec<u32>,
    /// Causal: what happened before the open transaction, and by session the first place that is hidden.
    past: Vec<u32>,
    barrier: Vec<u32>,
    /// Causal: by session, what happened before its next transaction.
    pasts: Vec<Vec<u32>>,
    /// Causal: by row, what happened before each of its last versions.
    rows: Vec<VecDeque<Past>>,
}

impl View {
    pub(super) fn new(level: Lagging, model: Model, lag: u32, sessions: u32) -> Self {
        let sessions = sessions as usize;
        let size = if level == Lagging::Causal { sessions } else { 0 };
        Self {
            level,
            model,
            lag: lag as usize,
            id: NO_TRANSACTION,
            session: 0,
            // Ids begin at 1.
            sessions: vec![0],
            places: vec![0],
            observed: vec![NO_TRANSACTION],
            hidden: vec![NO_TRANSACTION],
            committed: vec![0; sessions],
            past: vec![0; size],
            barrier: vec![NO_PLACE; size],
            pasts: vec![Vec::new(); size],
            rows: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, session: u32, id: u32) {
        self.id = id;
        self.session = session;
        self.sessions.push(session);
        self.places.push(self.committed[session as usize] + 1);
        self.observed.push(NO_TRANSACTION);
        self.hidden.push(NO_TRANSACTION);
        if self.level == Lagging::Causal {
            let known = &mut self.pasts[session as usize];
            known.resize(self.past.len(), 0);
            self.past.copy_from_slice(known);
            self.barrier.fill(NO_PLACE);
        }
    }

    /// The open transaction commits; returns what happened before a transaction that observes it.
    pub(super) fn commit(&mut self) -> Option<Past> {
        let session = self.session as usize;
        self.committed[session] += 1;
        if self.level != Lagging::Causal {
            return None;
        }
        self.past[session] = self.committed[session];
        self.pasts[session].copy_from_slice(&self.past);
        Some(Arc::from(self.past.as_slice()))
    }

    /// The open transaction has added a version to a row.
    pub(super) fn install(&mut self, row: u32, past: Option<&Past>) {
        let Some(past) = past else { return };
        if self.rows.len() <= row as usize {
            self.rows.resize(row as usize + 1, VecDeque::new());
        }
        let pasts = &mut self.rows[row as usize];
        let past = match pasts.back() {
            Some(before) if self.model == Model::List => before.iter().zip(&**past).map(larger).collect(),
            _ => Arc::clone(past),
        };
        pasts.push_back(past);
        if pasts.len() > self.lag {
            pasts.pop_front();
        }
    }

    /// Frees what only a reader of the row needs.
    pub(super) fn retire(&mut self, row: u32) {
        if let Some(pasts) = self.rows.get_mut(row as usize) {
            *pasts = VecDeque::new();
        }
    }

    /// What happened before a version; nothing for the initial one and for old ones.
    fn past_of(&self, row: u32, versions: &Row, version: usize) -> Option<&Past> {
        let pasts = self.rows.get(row as usize)?;
        let first = versions.versions.len() + 1 - pasts.len();
        version.checked_sub(first).map(|place| &pasts[place])
    }

    /// A version that the level allows, among the last few if possible.
    ///
    /// There may be none for a list: one that is long enough to show a visible transaction may also reveal a
    /// hidden one. A register always has one: a visible transaction is not hidden.
    pub(super) fn choose(&self, row: u32, versions: &Row, random: &mut Random) -> Option<usize> {
        let newest = versions.versions.len();
        let sees = |version: usize| version > 0 && self.sees(versions.versions[version - 1].writer);
        let window = newest.saturating_sub(self.lag - 1);
        let oldest = (window..=newest).rev().find(|&version| sees(version)).unwrap_or(window);
        // Nothing is drawn if there is no choice: without lag, every read shows the newest version.
        let span = (newest - oldest) as u32;
        let mut version = if span == 0 { newest } else { oldest + random.below(span + 1) as usize };
        while !self.admits(row, versions, version) {
            if sees(version) {
                assert!(self.model == Model::List, "a register's visible writer is never hidden");
                return None;
            }
            version -= 1;
        }
        Some(version)
    }

    /// The open transaction reads a version.
    pub(super) fn observe(&mut self, row: u32, versions: &Row, version: usize) {
        let newer = &versions.versions[version..];
        match self.level {
            Lagging::ReadCommitted => self.mark_observed(versions, version),
            Lagging::ReadAtomic => {
                self.mark_observed(versions, version);
                for &StoredVersion { writer, .. } in newer {
                    self.hidden[writer as usize] = self.id;
                }
            }
            Lagging::Causal => {
                // A version without a past is the initial one, or was visible before.
                if let Some(past) = self.past_of(row, versions, version).cloned() {
                    self.past.iter_mut().zip(&*past).for_each(|(known, new)| *known = (*known).max(*new));
                }
                for &StoredVersion { writer, .. } in newer {
                    let first = &mut self.barrier[self.sessions[writer as usize] as usize];
                    *first = (*first).min(self.places[writer as usize]);
                }
            }
        }
    }

    /// A list shows the writers of all its elements, a register only the last.
    fn mark_observed(&mut self, versions: &Row, version: usize) {
        let first = if self.model == Model::List { 0 } else { version.saturating_sub(1) };
        for &StoredVersion { writer, .. } in &versions.versions[first..version] {
            self.observed[writer as usize] = self.id;
        }
    }

    /// Whether the level says that the open transaction must not miss the writes of `writer`.
    fn sees(&self, writer: u32) -> bool {
        let session = self.sessions[writer as usize];
        let is_observed = self.observed[writer as usize] == self.id;
        match self.level {
            Lagging::ReadCommitted => is_observed,
            Lagging::ReadAtomic => is_observed || session == self.session,
            Lagging::Causal => self.past[session as usize] >= self.places[writer as usize],
        }
    }

    /// Whether a version reveals no hidden transaction.
    fn admits(&self, row: u32, versions: &Row, version: usize) -> bool {
        let is_shown = |older: &StoredVersion| self.hidden[older.writer as usize] != self.id;
        match (self.level, self.model) {
            _ if version == 0 => true,
            (Lagging::ReadCommitted, _) => true,
            (Lagging::ReadAtomic, Model::Register) => is_shown(&versions.versions[version - 1]),
            (Lagging::ReadAtomic, Model::List) => versions.versions[..version].iter().all(is_shown),
            (Lagging::Causal, model) => match self.past_of(row, versions, version) {
                Some(past) => past.iter().zip(&self.barrier).all(|(known, first)| known < first),
                None => model == Model::Register && self.sees(versions.versions[version - 1].writer),
            },
        }
    }
}

fn larger((one, other): (&u32, &u32)) -> u32 {
    *one.max(other)
}
