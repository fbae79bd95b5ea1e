//! Concurrency control by a profile: the store with locks, waiting, snapshots and certifiers as a profile says.
//!
//! A statement is given to the [`Server`] with [`Server::request`]. If the answer is [`Answer::Ready`], the client
//! reads or changes the rows. A transaction that waits is named by [`Server::next_woken`] when it should try again.
//! Time is true time, in nanoseconds; the caller moves it on. Faults are rare, and each one is recorded.

mod certifier;
mod changes;
mod commit;
mod lock_requests;
mod locks;
mod reads;
mod truth;

pub use truth::{Dependency, HeldLock, Lifetime, Relation, ShownVersion, Truth};

use super::fault::Faults;
use super::transaction::Transaction;
use super::{Clocks, Fault, Isolation, Model, Settings, Store};
use crate::history::Kind;
use crate::intervals::profile::{Certifier, Conduct, Profile, Read, Snapshot, Statement};
use certifier::Certified;
use locks::Locks;
use std::collections::VecDeque;
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
    /// The commit waits in a deadlock: the transaction of this session must be aborted.
    Deadlock(u32),
}

/// A database that works as a profile says.
pub(crate) struct Server {
    pub(crate) profile: Profile,
    /// Rows, versions and the writes that open transactions keep back.
    pub(crate) store: Store,
    rows_of_table: u32,
    waiting: Vec<u32>,
    woken: VecDeque<u32>,
    /// Transactions that wait to commit, and the place of the lock.
    announced: Vec<(u32, u32)>,
    locks: Locks,
    recent: VecDeque<Certified>,
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
        // The profile decides in place of the isolation.
        let settings = Settings::new(Isolation::Snapshot, Model::Register, Clocks::True, seed);
        let mut store = Store::new(settings, 0);
        store.faults = Faults::new(!seed.rotate_left(16), faults.iter().copied());
        Self {
            profile: profile.clone(),
            store,
            rows_of_table,
            waiting: Vec::new(),
            woken: VecDeque::new(),
            announced: Vec::new(),
            locks: Locks::default(),
            recent: VecDeque::new(),
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

    /// Begins a transaction; `moment`, below 4, decides when it takes its snapshot, if the profile leaves that open.
    pub(crate) fn begin(&mut self, session: u32, moment: u32) {
        let (_, now) = self.store.begin(session);
        let transaction = &mut self.store.transactions[session as usize];
        transaction.moment = moment;
        let takes_snapshot = match self.profile.snapshot {
            Snapshot::Begin => true,
            Snapshot::Start | Snapshot::Transaction => moment == 0,
            _ => false,
        };
        transaction.snapshot = takes_snapshot.then_some(now);
    }

    /// Takes the snapshot and the locks of a statement, and decides whether it may go on.
    pub(crate) fn request(&mut self, session: u32, request: Request) -> Answer {
        self.with(session, |server, transaction| {
            server.take_snapshot(transaction, request);
            if let Some(other) = server.lock(transaction, request) {
                let is_deadlock = server.wait(transaction, other).is_some();
                return if is_deadlock { Answer::Refused } else { Answer::Waits };
            }
            let may_go_on = if request.reads() {
                server.may_read(transaction, request)
            } else {
                server.may_change(transaction, request)
            };
            if may_go_on { Answer::Ready } else { Answer::Refused }
        })
    }

    /// The statement is done.
    pub(crate) fn done(&mut self, session: u32) {
        if self.store.faults.may(Fault::EarlyRelease) {
            self.with(session, Self::release_early);
        }
        self.store.transactions[session as usize].place += 1;
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
        Truth { faults: self.store.faults.struck, ..truth }
    }

    /// Lets a transaction act; meanwhile the others can be looked at.
    fn with<T>(&mut self, session: u32, act: impl FnOnce(&mut Self, &mut Transaction) -> T) -> T {
        let mut transaction = std::mem::take(&mut self.store.transactions[session as usize]);
        let result = act(self, &mut transaction);
        self.store.transactions[session as usize] = transaction;
        result
    }

    /// The snapshot of the transaction, if this statement takes it.
    fn take_snapshot(&mut self, transaction: &mut Transaction, request: Request) {
        if transaction.snapshot.is_some() {
            return;
        }
        let is_due = match (self.profile.snapshot, transaction.moment) {
            (Snapshot::Statement | Snapshot::Begin, _) => false,
            (Snapshot::FirstStatement | Snapshot::Start, _) | (Snapshot::Transaction, 0 | 1) => true,
            (Snapshot::FirstRead | Snapshot::Transaction, _) => {
                request.reads() && self.conduct(request).read == Read::Consistent
            }
        };
        if !is_due {
            return;
        }
        // An own earlier write must not be newer than the snapshot.
        let may_be_old = matches!(self.profile.snapshot, Snapshot::Start | Snapshot::Transaction)
            && transaction.moment == 3
            && transaction.writes().next().is_none()
            && self.profile.certifier != Certifier::TimestampOrder;
        let now = self.store.now;
        let age = if may_be_old { self.store.random.wide_below(now - transaction.tick + 1) } else { 0 };
        transaction.snapshot = Some(now - age);
    }

    fn conduct(&self, request: Request) -> Conduct {
        self.profile.statements[request.statement as usize]
    }

    fn newest(&self, row: u32) -> super::StoredVersion {
        self.store.rows[row as usize].newest()
    }

    /// Drops certified transactions that no open transaction overlaps.
    fn collect(&mut self) {
        let horizon = self.store.oldest_begin().unwrap_or(self.store.now);
        self.store.clock.raise_floor(horizon);
        while self.recent.front().is_some_and(|certified| certified.commit < horizon) {
            self.recent.pop_front();
        }
    }
}
