//! What a store of some isolation level lets a transaction read.
//!
//! Transactions commit in the order in which they are generated, and this is the commit order that
//! explains the history. A read may show any version of its key that is not older than one by a
//! transaction that the level says is visible. From read atomic up, a read moreover must not reveal a
//! transaction that an earlier read of the same transaction missed: such transactions are *hidden*.

use super::random::Random;
use super::{Isolation, Model};
use std::collections::VecDeque;
use std::rc::Rc;

const NOBODY: u32 = u32::MAX;

/// For each session, how many of its transactions happened before.
type Clock = Rc<[u32]>;

/// Who wrote a version, and what it shows: a register's value by number, or the length of a list.
#[derive(Clone, Copy)]
struct Version {
    writer: u32,
    shown: u32,
}

/// The versions of a key, oldest first; number 0 is the initial one. A serial store keeps the newest only.
pub(super) struct Versions {
    all: Vec<Version>,
    /// What observing a version brings with it, for the last ones (causal stores only).
    clocks: VecDeque<Clock>,
}

impl Versions {
    pub(super) fn new() -> Self {
        Self { all: vec![Version { writer: NOBODY, shown: 0 }], clocks: VecDeque::new() }
    }

    pub(super) fn newest(&self) -> usize {
        self.all.len() - 1
    }

    pub(super) fn shown(&self, version: usize) -> u32 {
        self.all[version].shown
    }

    /// Forgets what only a reader needs.
    pub(super) fn retire(&mut self) {
        self.clocks = VecDeque::new();
    }

    fn clock(&self, version: usize) -> Option<&Clock> {
        let first = self.all.len() - self.clocks.len();
        version.checked_sub(first).map(|place| &self.clocks[place])
    }
}

/// What the running transaction has seen, and what its session knows.
pub(super) struct View {
    isolation: Isolation,
    model: Model,
    lag: usize,
    me: u32,
    session: u32,
    /// The first transaction that had not ended when the running one began.
    begin: u32,
    /// By transaction: its session and, if it commits, its place there, from 1.
    sessions: Vec<u32>,
    places: Vec<u32>,
    /// By transaction: the last one that observed it, and the last one from which it is hidden.
    observed: Vec<u32>,
    hidden: Vec<u32>,
    /// By session: how many transactions committed.
    committed: Vec<u32>,
    /// By session: the first transaction after its last.
    free: Vec<u32>,
    /// Causal: what happened before the running transaction, and by session the first that is hidden.
    past: Vec<u32>,
    barrier: Vec<u32>,
    /// Causal: by session, what happened before its next transaction.
    pasts: Vec<Vec<u32>>,
}

impl View {
    pub(super) fn new(isolation: Isolation, model: Model, lag: u32, sessions: u32) -> Self {
        let sessions = sessions as usize;
        let size = if isolation == Isolation::Causal { sessions } else { 0 };
        Self {
            isolation,
            model,
            lag: lag as usize,
            me: NOBODY,
            session: 0,
            begin: 0,
            sessions: Vec::new(),
            places: Vec::new(),
            observed: Vec::new(),
            hidden: Vec::new(),
            committed: vec![0; sessions],
            free: vec![0; sessions],
            past: vec![0; size],
            barrier: vec![NOBODY; size],
            pasts: vec![Vec::new(); size],
        }
    }

    /// The next transaction begins, in `session`.
    pub(super) fn begin(&mut self, session: u32) {
        self.me = self.sessions.len() as u32;
        self.session = session;
        self.begin = self.me;
        self.sessions.push(session);
        self.places.push(self.committed[session as usize] + 1);
        self.observed.push(NOBODY);
        self.hidden.push(NOBODY);
        if self.isolation == Isolation::Causal {
            let known = &mut self.pasts[session as usize];
            known.resize(self.past.len(), 0);
            self.past.copy_from_slice(known);
            self.barrier.fill(NOBODY);
        }
    }

    /// The running transaction began some transactions ago, but after the last one of its session.
    pub(super) fn begin_earlier(&mut self, random: &mut Random) {
        let most = (self.me - self.free[self.session as usize]).min(self.lag as u32 - 1);
        if most > 0 {
            self.begin = self.me - random.between((0, most));
        }
    }

    /// When the running transaction began: the number of the first that had not ended.
    pub(super) fn begun(&self) -> u32 {
        self.begin
    }

    /// The running transaction is over.
    pub(super) fn end(&mut self) {
        self.free[self.session as usize] = self.me + 1;
    }

    /// Whether the running transaction may write a key.
    pub(super) fn may_write(&self, versions: &Versions) -> bool {
        self.isolation != Isolation::Snapshot || self.is_in_snapshot(versions, versions.newest())
    }

    fn is_in_snapshot(&self, versions: &Versions, version: usize) -> bool {
        version == 0 || versions.all[version].writer < self.begin
    }

    /// The running transaction commits; what whoever observes it will know.
    pub(super) fn commit(&mut self) -> Option<Clock> {
        let session = self.session as usize;
        self.committed[session] += 1;
        if self.isolation != Isolation::Causal {
            return None;
        }
        self.past[session] = self.committed[session];
        self.pasts[session].copy_from_slice(&self.past);
        Some(Rc::from(self.past.as_slice()))
    }

    /// The running transaction, which has just committed, wrote a key.
    pub(super) fn install(&self, versions: &mut Versions, shown: u32, clock: Option<&Clock>) {
        let version = Version { writer: self.me, shown };
        if self.isolation == Isolation::Serial {
            versions.all[0] = version;
            return;
        }
        versions.all.push(version);
        let Some(clock) = clock else { return };
        let clock = match versions.clocks.back() {
            Some(before) if self.model == Model::List => before.iter().zip(&**clock).map(larger).collect(),
            _ => Rc::clone(clock),
        };
        versions.clocks.push_back(clock);
        if versions.clocks.len() > self.lag {
            versions.clocks.pop_front();
        }
    }

    /// A version that the level allows, among the last few if possible.
    ///
    /// `None` happens for lists only: one that is long enough to show what must be seen would also
    /// reveal somebody who is hidden. A register always has one: whoever is visible is not hidden.
    pub(super) fn choose(&self, versions: &Versions, random: &mut Random) -> Option<usize> {
        let newest = versions.newest();
        if self.isolation == Isolation::Serial {
            return Some(newest);
        }
        if self.isolation == Isolation::Snapshot {
            return (0..=newest).rev().find(|&version| self.is_in_snapshot(versions, version));
        }
        let window = newest.saturating_sub(self.lag - 1);
        let visible = (window..=newest).rev().find(|&version| self.sees(versions.all[version].writer));
        let oldest = visible.unwrap_or(window);
        // Nothing is drawn if there is no choice: without lag, every store is the serial one.
        let span = (newest - oldest) as u32;
        let mut version = if span == 0 { newest } else { oldest + random.below(span + 1) as usize };
        while !self.admits(versions, version) {
            if self.sees(versions.all[version].writer) {
                assert!(self.model == Model::List, "a register's visible writer is never hidden");
                return None;
            }
            version -= 1;
        }
        Some(version)
    }

    /// The running transaction reads a version.
    pub(super) fn observe(&mut self, versions: &Versions, version: usize) {
        match self.isolation {
            Isolation::Serial | Isolation::Snapshot => {}
            Isolation::ReadCommitted => self.mark_observed(versions, version),
            Isolation::ReadAtomic => {
                self.mark_observed(versions, version);
                for &Version { writer, .. } in &versions.all[version + 1..] {
                    self.hidden[writer as usize] = self.me;
                }
            }
            Isolation::Causal => {
                // Without a clock, the version is the initial one or was visible before.
                if let Some(clock) = versions.clock(version) {
                    self.past.iter_mut().zip(&**clock).for_each(|(known, new)| *known = (*known).max(*new));
                }
                for &Version { writer, .. } in &versions.all[version + 1..] {
                    let first = &mut self.barrier[self.sessions[writer as usize] as usize];
                    *first = (*first).min(self.places[writer as usize]);
                }
            }
        }
    }

    /// A list shows the writers of all its elements, a register only the last.
    fn mark_observed(&mut self, versions: &Versions, version: usize) {
        let first = if self.model == Model::List { 1 } else { version.max(1) };
        for &Version { writer, .. } in &versions.all[first..=version.max(first - 1)] {
            self.observed[writer as usize] = self.me;
        }
    }

    /// Whether the level says that the running transaction must not miss what `writer` wrote.
    fn sees(&self, writer: u32) -> bool {
        if writer == NOBODY {
            return false;
        }
        let session = self.sessions[writer as usize];
        match self.isolation {
            Isolation::Serial => true,
            Isolation::Snapshot => writer < self.begin,
            Isolation::ReadCommitted => self.observed[writer as usize] == self.me,
            Isolation::ReadAtomic => self.observed[writer as usize] == self.me || session == self.session,
            Isolation::Causal => self.past[session as usize] >= self.places[writer as usize],
        }
    }

    /// Whether nobody is revealed who is hidden.
    fn admits(&self, versions: &Versions, version: usize) -> bool {
        let writer = versions.all[version].writer;
        match (self.isolation, self.model) {
            _ if version == 0 => true,
            (Isolation::Serial | Isolation::Snapshot | Isolation::ReadCommitted, _) => true,
            (Isolation::ReadAtomic, Model::Register) => self.hidden[writer as usize] != self.me,
            (Isolation::ReadAtomic, Model::List) => {
                versions.all[1..=version].iter().all(|older| self.hidden[older.writer as usize] != self.me)
            }
            (Isolation::Causal, model) => match versions.clock(version) {
                Some(clock) => clock.iter().zip(&self.barrier).all(|(known, first)| known < first),
                None => model == Model::Register && self.sees(writer),
            },
        }
    }
}

fn larger((one, other): (&u32, &u32)) -> u32 {
    *one.max(other)
}
