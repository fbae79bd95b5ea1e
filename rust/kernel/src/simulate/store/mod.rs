//! The simulated database: a multi-version store that is used step by step.
//!
//! Each session has at most one open transaction. It keeps its writes back until its commit, which installs them
//! at once as new versions. The [`Clocks`] give the timestamps. The isolation decides which version a read shows and
//! which transaction may commit, and one named [`Fault`] can be switched on; or a [`Server`] decides on the same rows
//! and transactions as a profile says. Schedulers decide which session acts next: one after the other (`generate`),
//! interleaved (`simulate`), by threads (`interactive`), or in true time (`profiled`).

mod clock;
mod commit;
mod fault;
mod lagging;
mod profile;
mod read;
mod row;
mod transaction;
mod violations;

pub use clock::Clocks;
pub(crate) use clock::TICK;
pub use fault::Fault;
pub use lagging::Lagging;
pub(crate) use profile::{Answer, Request, SeenVersion, Server};
pub use profile::{Dependency, HeldLock, Lifetime, Relation, ShownVersion, StruckFault, Truth};
pub(crate) use row::{ABSENT, NO_TRANSACTION, Row, Shown, StoredVersion};
pub use transaction::Change;
pub use violations::Axiom;
pub(crate) use violations::Violation;

use crate::generate::random::Random;
use crate::history::Kind;
use crate::named_enum::named_enum;
use clock::Clock;
use lagging::View;
use transaction::Transaction;
use violations::Log;

/// What a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Model {
    Register,
    List,
}

impl Model {
    /// The operation that gives a row a new value or element.
    pub(crate) fn change(self, value: u32) -> (Kind, Change) {
        match self {
            Self::Register => (Kind::Write, Change::Write(i64::from(value))),
            Self::List => (Kind::Append, Change::Append(i64::from(value))),
        }
    }
}

/// What the database promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Snapshots, first committer wins, and everything that was read is still the newest at the commit.
    Serializable,
    /// Snapshots, and first committer wins.
    Snapshot,
    /// Every read shows the newest committed version; the last commit wins.
    ReadCommitted,
    /// Every read shows the newest write, committed or not; a written row is held until the end.
    ReadUncommitted,
    /// Every read shows one of the last versions, any that this level allows. Transactions run one by one.
    Lagging(Lagging),
}

impl Isolation {
    /// Whether timestamps decide what a read must show.
    #[must_use]
    pub fn has_snapshots(self) -> bool {
        matches!(self, Self::Serializable | Self::Snapshot)
    }

    /// Whether a second read of a row shows the same version.
    fn is_repeatable(self) -> bool {
        match self {
            Self::Serializable | Self::Snapshot => true,
            Self::ReadCommitted | Self::ReadUncommitted => false,
            Self::Lagging(level) => level != Lagging::ReadCommitted,
        }
    }
}

named_enum! {
    /// Why a step is refused; the transaction should be aborted.
    #[allow(missing_docs)]
    pub enum Refusal {
        HeldByAnother => "another open transaction has written the row",
        WrittenByAnother => "another transaction has written the row first",
        ReadIsOld => "another transaction has written what was read",
        AlreadyThere => "the row is already there",
        NotThere => "the row is not there",
    }
}

/// What a read returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found<'s> {
    Absent,
    Integer(i64),
    /// Elements of others, and then those that the transaction itself appended.
    List(&'s [i64], &'s [i64]),
}

/// Parameters of the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) isolation: Isolation,
    pub(crate) model: Model,
    pub(crate) clocks: Clocks,
    pub(crate) seed: u64,
    /// Whether a write that cannot be committed is refused at once.
    pub(crate) refuses_early: bool,
    /// From how many of the last versions a lagging read chooses.
    pub(crate) lag: u32,
    pub(crate) bug: Option<Fault>,
    /// In how many of a million transactions the bug may strike.
    pub(crate) bug_rate: u32,
    /// How long the second half of a fractured commit stays hidden, in true time.
    pub(crate) hidden_for: u64,
}

impl Settings {
    /// A store without faults, whose reads do not lag behind.
    pub(crate) fn new(isolation: Isolation, model: Model, clocks: Clocks, seed: u64) -> Self {
        let (refuses_early, lag, bug, bug_rate, hidden_for) = (false, 1, None, 0, 0);
        Self { isolation, model, clocks, seed, refuses_early, lag, bug, bug_rate, hidden_for }
    }
}

#[derive(Debug)]
pub(crate) struct Store {
    settings: Settings,
    /// What the scheduler draws, and lagging reads.
    pub(crate) random: Random,
    /// Faults have their own random numbers, so that they change nothing else.
    faults: Random,
    clock: Clock,
    /// True time; the scheduler moves it on.
    pub(crate) now: u64,
    pub(crate) rows: Vec<Row>,
    /// By session.
    transactions: Vec<Transaction>,
    /// Sessions with an open transaction.
    running: Vec<u32>,
    begun: u32,
    view: Option<View>,
    log: Log,
}

impl Store {
    pub(crate) fn new(settings: Settings, sessions: u32) -> Self {
        let mut random = Random(settings.seed);
        let view = match settings.isolation {
            Isolation::Lagging(level) => Some(View::new(level, settings.model, settings.lag, sessions)),
            _ => None,
        };
        Self {
            settings,
            clock: Clock::new(settings.clocks, &mut random),
            random,
            faults: Random(!settings.seed),
            now: TICK,
            rows: Vec::new(),
            transactions: (0..sessions).map(Transaction::new).collect(),
            running: Vec::new(),
            begun: 0,
            view,
            log: Log::default(),
        }
    }

    /// Adds a session; returns its number.
    pub(crate) fn add_session(&mut self) -> u32 {
        let session = self.transactions.len() as u32;
        self.transactions.push(Transaction::new(session));
        session
    }

    /// A value for a row: its next number, or one of so many.
    #[inline]
    pub(crate) fn new_value(&mut self, row: u32, repeated_values: u32) -> u32 {
        let row = &mut self.rows[row as usize];
        row.written += 1;
        if repeated_values > 0 { 1 + self.random.below(repeated_values) } else { row.written }
    }

    /// Adds a row; returns its number.
    pub(crate) fn add_row(&mut self, initial: i64) -> u32 {
        self.rows.push(Row::new(initial));
        self.rows.len() as u32 - 1
    }

    /// A row will not be used again by new transactions.
    pub(crate) fn retire(&mut self, row: u32) {
        if let Some(view) = &mut self.view {
            view.retire(row);
        }
    }

    pub(crate) fn is_open(&self, session: u32) -> bool {
        self.transactions[session as usize].is_open()
    }

    /// The timestamp as a history records it.
    pub(crate) fn timestamp(&self, timestamp: u64) -> crate::history::Timestamp {
        self.clock.timestamp(timestamp)
    }

    /// Begins a transaction; returns its id, which counts from 1, and its start timestamp.
    pub(crate) fn begin(&mut self, session: u32) -> (u32, u64) {
        let tick = self.clock.start(session, self.now);
        self.begin_at(session, tick)
    }

    /// Begins a transaction that reads the snapshot of the timestamp `tick`.
    #[inline]
    pub(crate) fn begin_at(&mut self, session: u32, tick: u64) -> (u32, u64) {
        self.begun += 1;
        let id = self.begun;
        self.transactions[session as usize].begin(id, tick);
        if let Some(bug) = self.settings.bug {
            self.with(session, |store, transaction| store.mark(transaction, bug));
        }
        self.running.push(session);
        if let Some(view) = &mut self.view {
            view.begin(session, id);
        }
        (id, self.transactions[session as usize].start)
    }

    /// Whether the database accepts a write of the row now. A late write is refused at the commit otherwise.
    #[inline]
    pub(crate) fn may_write(&self, session: u32, row: u32) -> bool {
        let transaction = &self.transactions[session as usize];
        let isolation = self.settings.isolation;
        let is_early = self.settings.refuses_early && isolation.has_snapshots();
        if !is_early && isolation != Isolation::ReadUncommitted {
            return true;
        }
        let is_late = is_early && self.rows[row as usize].is_newer_than(self.limit(transaction));
        self.holder(row, session).is_none() && !is_late
            || transaction.is_marked && self.settings.bug == Some(Fault::LostUpdate)
    }

    /// Another open transaction that wrote the row, if it was the last to do so.
    fn holder(&self, row: u32, session: u32) -> Option<&Transaction> {
        let (holding, id) = self.rows[row as usize].holder;
        let holder = &self.transactions[holding as usize];
        (holding != session && holder.is_open() && holder.id == id).then_some(holder)
    }

    /// Keeps a change for the commit.
    #[inline]
    pub(crate) fn change(&mut self, session: u32, row: u32, change: Change) {
        let transaction = &mut self.transactions[session as usize];
        let state = &mut self.rows[row as usize];
        let place = transaction.access(row, &mut state.accessed);
        transaction.accesses[place].apply(change);
        transaction.operations += 1;
        state.holder = (session, transaction.id);
    }

    /// Lets the transaction of a session act; meanwhile the others can be looked at.
    fn with<T>(&mut self, session: u32, act: impl FnOnce(&mut Self, &mut Transaction) -> T) -> T {
        let mut transaction = std::mem::take(&mut self.transactions[session as usize]);
        let result = act(self, &mut transaction);
        self.transactions[session as usize] = transaction;
        result
    }

    /// Open transactions, but for one that acts.
    fn others(&self) -> impl Iterator<Item = &Transaction> {
        let running = self.running.iter().map(|&session| &self.transactions[session as usize]);
        running.filter(|transaction| transaction.is_open())
    }

    /// No open transaction has an older snapshot, and no later one will.
    fn horizon(&self) -> u64 {
        let floor = self.clock.floor(self.now);
        self.others().map(|other| other.snapshot).fold(floor, u64::min)
    }

    /// When the oldest other open transaction began. Not its start timestamp: if a fault passed that on from
    /// one transaction to the next, no transaction would ever start late enough to commit.
    fn oldest_begin(&self) -> Option<u64> {
        self.others().map(|transaction| transaction.tick).min()
    }

    /// Decides at the begin whether the fault may strike.
    fn mark(&mut self, transaction: &mut Transaction, bug: Fault) {
        transaction.is_marked = self.faults.below(1_000_000) < self.settings.bug_rate;
        let Some(oldest) = transaction.is_marked.then(|| self.oldest_begin()).flatten() else { return };
        if bug == Fault::StaleSnapshot {
            transaction.snapshot = transaction.start.min(oldest);
        }
        if bug == Fault::ReorderedSession && clock::after(oldest) < transaction.before.1 {
            transaction.start = clock::after(oldest);
            transaction.snapshot = transaction.start;
        }
    }

    fn strikes(&self, transaction: &Transaction, bug: Fault) -> bool {
        transaction.is_marked && self.settings.bug == Some(bug)
    }
}
