//! Concurrency control by a profile: the store with locks, waiting, snapshots and certifiers as a profile says.
//!
//! A statement is given to the [`Server`] with [`Server::request`]. If the answer is [`Answer::Ready`], the client
//! reads or changes the rows. A transaction that waits is named by [`Server::next_woken`] when it should try again.
//! Time is true time, in nanoseconds; the caller moves it on. A slot is a session of the store: it has one open
//! transaction. Faults are rare, and each one is recorded.

mod certifier;
mod changes;
mod commit;
mod faults;
mod lock_requests;
mod locks;
mod reads;
mod trace;
mod truth;

pub use faults::StruckFault;
pub(crate) use trace::SeenVersion;
pub use truth::{Dependency, HeldLock, Lifetime, Relation, ShownVersion, Truth};

use super::{Clocks, Fault, Isolation, Model, Settings, Store};
use crate::history::Kind;
use crate::intervals::profile::{Certifier, Conduct, Profile, Read, Snapshot, Statement};
use certifier::Certified;
use faults::Faults;
use locks::Locks;
use std::collections::VecDeque;
use trace::Trace;
use truth::Witness;

/// After so many ends, the oldest instant that an open transaction can see is computed again.
const UNTIL_COLLECTION: u32 = 32;

/// A statement: rows `low` to `high`, equal but for a range read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    pub(crate) statement: Statement,
    pub(crate) low: u32,
    pub(crate) high: u32,
}

impl Request {
    fn reads(self) -> bool {
        matches!(self.kind, Kind::Read | Kind::RangeRead)
    }
}

/// The answer to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The client can read or change the rows.
    Ready,
    /// The statement waits for another transaction.
    Waits,
    /// The transaction must be aborted.
    Refused,
    /// The commit waits in a deadlock: the transaction in this slot must be aborted.
    Deadlock(u32),
}

/// A database that works as a profile says.
pub(crate) struct Server {
    pub(crate) profile: Profile,
    /// Rows, versions and the writes that open transactions keep back.
    pub(crate) store: Store,
    rows_of_table: u32,
    pub(crate) faults: Faults,
    /// By slot.
    pub(crate) traces: Vec<Trace>,
    waiting: Vec<u32>,
    woken: VecDeque<u32>,
    /// Transactions that wait to commit, and the place of the lock.
    announced: Vec<(u32, u32)>,
    locks: Locks,
    recent: VecDeque<Certified>,
    /// No snapshot is older.
    horizon: u64,
    ended: u32,
    witness: Option<Witness>,
}

impl Server {
    /// A database without rows; `truth` says whether true times are recorded.
    pub(crate) fn new(
        profile: &Profile,
        rows_of_table: u32,
        seed: u64,
        faults: &[(Fault, u32)],
        truth: bool,
    ) -> Self {
        let settings = Settings::new(Isolation::Snapshot, Model::Register, Clocks::Central, seed);
        Self {
            profile: profile.clone(),
            store: Store::new(settings, 0),
            rows_of_table,
            faults: Faults::new(!seed.rotate_left(16), faults),
            traces: Vec::new(),
            waiting: Vec::new(),
            woken: VecDeque::new(),
            announced: Vec::new(),
            locks: Locks::default(),
            recent: VecDeque::new(),
            horizon: 0,
            ended: 0,
            witness: truth.then(Witness::default),
        }
    }

    /// Adds a row.
    pub(crate) fn add_row(&mut self, initial: i64) {
        self.store.add_row(initial);
        self.locks.add_row();
        if let Some(witness) = &mut self.witness {
            witness.add_row();
        }
    }

    /// Adds a slot; returns its number.
    pub(crate) fn add_slot(&mut self) -> u32 {
        let slot = self.store.add_session();
        self.traces.push(Trace { slot, ..Trace::default() });
        slot
    }

    /// Begins a transaction; `moment`, below 4, decides when it takes its snapshot, if the profile leaves that open.
    pub(crate) fn begin(&mut self, slot: u32, moment: u32) {
        let now = self.store.now;
        let (id, _) = self.store.begin_at(slot, now);
        let trace = &mut self.traces[slot as usize];
        trace.begin(id, now, moment);
        let takes_snapshot = match self.profile.snapshot {
            Snapshot::Begin => true,
            Snapshot::Start | Snapshot::Transaction => moment == 0,
            _ => false,
        };
        trace.snapshot = takes_snapshot.then_some(now);
    }

    /// Takes the snapshot and the locks of a statement, and decides whether it may go on.
    pub(crate) fn request(&mut self, slot: u32, request: Request) -> Answer {
        self.with(slot, |server, trace| {
            let conduct = server.profile.statements[request.statement as usize];
            server.take_snapshot(trace, request, conduct);
            if let Some(other) = server.lock(trace, request, conduct) {
                return if server.wait(trace, other) { Answer::Waits } else { Answer::Refused };
            }
            let may_go_on = if request.reads() {
                server.may_read(trace, request, conduct)
            } else {
                server.may_change(trace, request)
            };
            if may_go_on { Answer::Ready } else { Answer::Refused }
        })
    }

    /// The statement is done.
    pub(crate) fn done(&mut self, slot: u32) {
        if self.faults.may(Fault::EarlyRelease) {
            self.with(slot, Self::release_early);
        }
        self.traces[slot as usize].place += 1;
    }

    /// A transaction that waited and should try again now.
    pub(crate) fn next_woken(&mut self) -> Option<u32> {
        self.woken.pop_front()
    }

    /// The first and the last row of the table of a row.
    pub(crate) fn table_of(&self, row: u32) -> (u32, u32) {
        let first = row / self.rows_of_table * self.rows_of_table;
        (first, (first + self.rows_of_table - 1).min(self.store.rows.len() as u32 - 1))
    }

    /// The true times, and the faults that struck.
    pub(crate) fn into_truth(self) -> Truth {
        let truth = self.witness.map_or_else(Truth::default, Witness::into_truth);
        Truth { faults: self.faults.struck, ..truth }
    }

    /// Lets a transaction act; meanwhile the others can be looked at.
    fn with<T>(&mut self, slot: u32, act: impl FnOnce(&mut Self, &mut Trace) -> T) -> T {
        let mut trace = std::mem::take(&mut self.traces[slot as usize]);
        let result = act(self, &mut trace);
        self.traces[slot as usize] = trace;
        result
    }

    /// The snapshot of the transaction, if this statement takes it.
    fn take_snapshot(&mut self, trace: &mut Trace, request: Request, conduct: Conduct) {
        if trace.snapshot.is_some() {
            return;
        }
        let is_due = match (self.profile.snapshot, trace.moment) {
            (Snapshot::Statement | Snapshot::Begin, _) => false,
            (Snapshot::FirstStatement | Snapshot::Start, _) | (Snapshot::Transaction, 0 | 1) => true,
            (Snapshot::FirstRead | Snapshot::Transaction, _) => {
                request.reads() && conduct.read == Read::Consistent
            }
        };
        if !is_due {
            return;
        }
        // An own earlier write must not be newer than the snapshot.
        let may_be_old = matches!(self.profile.snapshot, Snapshot::Start | Snapshot::Transaction)
            && trace.moment == 3
            && trace.writes.is_empty()
            && self.profile.certifier != Certifier::TimestampOrder;
        let now = self.store.now;
        let age = if may_be_old { self.store.random.wide_below(now - trace.begun + 1) } else { 0 };
        trace.snapshot = Some(now - age);
    }

    /// The value that an open transaction wrote to a row.
    fn own(&self, slot: u32, row: u32) -> Option<i64> {
        self.store.transactions[slot as usize].own(row).map(|own| own.value)
    }

    fn newest(&self, row: u32) -> super::StoredVersion {
        self.store.rows[row as usize].newest()
    }

    /// Drops certified transactions that no open transaction overlaps.
    fn collect(&mut self) {
        let now = self.store.now;
        self.horizon = self.store.oldest_begin().unwrap_or(now).min(now);
        let horizon = self.horizon;
        while self.recent.front().is_some_and(|certified| certified.commit < horizon) {
            self.recent.pop_front();
        }
    }
}
