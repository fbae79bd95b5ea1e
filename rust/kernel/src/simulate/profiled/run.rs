//! The event loop: requests reach the server in the order of true time.

use super::certifier::Certified;
use super::faults::Faults;
use super::locks::Locks;
use super::plan::{Draw, delay, request};
use super::transaction::{Lost, Stage, Transaction};
use super::truth::{Truth, Witness};
use super::{Delays, Load, Simulation};
use crate::builder::Builder;
use crate::cancel::Cancel;
use crate::error::ParseError;
use crate::generate::random::Random;
use crate::history::{History, Kind};
use crate::intervals::profile::{Granularity, Profile, Snapshot};
use crate::simulate::store::{ABSENT, Row};
use crate::value::Value;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The first instant.
const START: u64 = 1_000_000_000;
/// After so many ends, the oldest instant that an open transaction can see is computed again.
const UNTIL_COLLECTION: u32 = 32;
/// How many times longer than a message a client waits for an answer that does not come.
const PATIENCE: u64 = 10;

/// A run of the database.
pub struct ProfiledRun {
    pub(super) profile: Profile,
    pub(super) load: Load,
    pub(super) delays: Delays,
    /// Delays and faults have their own random numbers, so that they change nothing else.
    pub(super) random: Random,
    pub(super) delaying: Random,
    pub(super) faults: Faults,
    /// The instant of the current event; no two events have the same one.
    pub(super) now: u64,
    events: BinaryHeap<Reverse<(u64, u64, u32)>>,
    scheduled: u64,
    pub(super) transactions: Vec<Transaction>,
    free: Vec<u32>,
    pub(super) waiting: Vec<u32>,
    /// Transactions that wait to commit, and the place of the lock.
    pub(super) announced: Vec<(u32, u32)>,
    /// By how much the clock of each client is off, and the session that it has now.
    pub(super) clocks: Vec<i64>,
    sessions: Vec<u32>,
    next_session: u32,
    pub(super) rows: Vec<Row>,
    pub(super) rows_of_table: u32,
    pub(super) draw: Draw,
    pub(super) locks: Locks,
    pub(super) recent: VecDeque<Certified>,
    /// No snapshot is older.
    pub(super) horizon: u64,
    commits: u32,
    remaining: u32,
    begun: u32,
    pub(super) ended: u64,
    pub(super) builder: Builder,
    /// How many keys the builder knows.
    pub(super) known_keys: u32,
    pub(super) witness: Option<Witness>,
}

impl ProfiledRun {
    /// A run at its start.
    #[must_use]
    pub fn new(simulation: &Simulation) -> Self {
        let (load, profile) = (&simulation.load, &simulation.profile);
        let rows_of_table = load.keys.div_ceil(load.tables.max(1)).max(1);
        let faults = Faults::new(!simulation.seed.rotate_left(16), &simulation.faults);
        let places = match profile.granularity {
            Granularity::Row => load.keys,
            Granularity::Table => load.keys.div_ceil(rows_of_table),
            Granularity::Database => 1,
        };
        let mut run = Self {
            profile: profile.clone(),
            load: load.clone(),
            delays: simulation.delays,
            random: Random(simulation.seed),
            delaying: Random(!simulation.seed),
            faults,
            now: START,
            events: BinaryHeap::new(),
            scheduled: 0,
            transactions: Vec::new(),
            free: Vec::new(),
            waiting: Vec::new(),
            announced: Vec::new(),
            clocks: Vec::new(),
            sessions: (0..load.clients).collect(),
            next_session: load.clients,
            rows: Vec::new(),
            rows_of_table,
            draw: Draw::new(load.keys, load.theta),
            locks: Locks::new(places as usize),
            recent: VecDeque::new(),
            horizon: 0,
            commits: 0,
            remaining: load.transactions,
            begun: 0,
            ended: 0,
            builder: Builder::new(),
            known_keys: 0,
            witness: simulation.truth.then(|| Witness::new(load.keys)),
        };
        run.add_rows();
        run.add_clients();
        run
    }

    fn add_rows(&mut self) {
        for _ in 0..self.load.keys {
            let is_absent = self.load.inserts > 0 && self.random.below(3) == 0;
            self.rows.push(Row::new(if is_absent { ABSENT } else { 0 }));
        }
    }

    fn add_clients(&mut self) {
        let error = self.delays.clock_error;
        for client in 0..self.load.clients {
            let offset = self.delaying.wide_below(2 * error + 1) as i64 - error as i64;
            self.clocks.push(offset);
            let at = START + error + delay(&mut self.delaying, self.delays.thinking);
            self.start(client, at);
        }
    }

    /// The history of the next so many transactions that end, or of as many as there are.
    ///
    /// # Errors
    /// If it has more operations than a history can hold.
    pub fn next(&mut self, transactions: u32, cancel: &Cancel) -> Result<History, ParseError> {
        self.builder = Builder::new();
        self.known_keys = 0;
        self.builder.initial.default = Value::small(0).expect("a small integer");
        let goal = self.ended + u64::from(transactions);
        while self.ended < goal && !cancel.is_asked() && self.step() {}
        std::mem::take(&mut self.builder).finish()
    }

    /// The true times, and the faults that struck.
    #[must_use]
    pub fn into_truth(self) -> Truth {
        let truth = self.witness.map_or_else(Truth::default, Witness::into_truth);
        Truth { faults: self.faults.struck, ..truth }
    }

    /// The next event; false if there is none.
    fn step(&mut self) -> bool {
        let Some(Reverse((time, _, slot))) = self.events.pop() else { return false };
        self.now = time.max(self.now + 1);
        let mut transaction = std::mem::take(&mut self.transactions[slot as usize]);
        match transaction.stage {
            Stage::Begin => self.begin(&mut transaction),
            Stage::Statement => self.statement(&mut transaction),
            Stage::End | Stage::Committing => self.end(&mut transaction),
            Stage::Failed => self.roll_back(&mut transaction),
        }
        self.transactions[slot as usize] = transaction;
        true
    }

    pub(super) fn schedule(&mut self, at: u64, slot: u32) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, slot)));
    }

    /// A client sends the begin of its next transaction, if there is one.
    pub(super) fn start(&mut self, client: u32, at: u64) {
        if self.remaining == 0 {
            return;
        }
        self.remaining -= 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.transactions.push(Transaction::default());
            self.transactions.len() as u32 - 1
        });
        let mut transaction = std::mem::take(&mut self.transactions[slot as usize]);
        transaction.clear();
        self.begun += 1;
        transaction.id = self.begun;
        transaction.slot = slot;
        transaction.client = client;
        transaction.session = self.sessions[client as usize];
        transaction.is_active = true;
        transaction.begun = at;
        transaction.invoke = at;
        self.plan(&mut transaction);
        self.transactions[slot as usize] = transaction;
        let arrival = at + request(&mut self.delaying, self.delays);
        self.schedule(arrival, slot);
    }

    fn begin(&mut self, transaction: &mut Transaction) {
        transaction.begun = self.now;
        let takes_snapshot = match self.profile.snapshot {
            Snapshot::Begin => true,
            Snapshot::Transaction => transaction.moment == 0,
            _ => false,
        };
        transaction.snapshot = takes_snapshot.then_some(self.now);
        transaction.marked(Kind::Begin);
        self.answer(transaction);
    }

    /// The client gets the answer, and then sends the next request.
    pub(super) fn answer(&mut self, transaction: &mut Transaction) {
        let complete = self.complete(transaction);
        let invoke = complete + 1 + delay(&mut self.delaying, self.delays.thinking);
        transaction.invoke = invoke;
        let mut arrival = invoke + request(&mut self.delaying, self.delays);
        if transaction.stage != Stage::Failed {
            let has_more = transaction.next < transaction.plan.len();
            transaction.stage = if has_more { Stage::Statement } else { Stage::End };
            if !has_more && transaction.lost != Lost::Nothing {
                self.give_up(transaction);
                arrival += self.delaying.wide_below(2 * PATIENCE * self.delays.network + 1);
            }
        }
        self.schedule(arrival, transaction.slot);
    }

    /// When the client has the answer to the last request.
    pub(super) fn complete(&mut self, transaction: &mut Transaction) -> u64 {
        let complete = self.now + delay(&mut self.delaying, self.delays.network);
        if let Some(done) = transaction.done.last_mut() {
            done.complete = complete;
        }
        complete
    }

    /// The client gives up waiting for the end of this transaction, and goes on in a new session.
    fn give_up(&mut self, transaction: &mut Transaction) {
        transaction.is_orphan = true;
        let client = transaction.client;
        self.sessions[client as usize] = self.next_session;
        self.next_session += 1;
        let patience = delay(&mut self.delaying, PATIENCE * self.delays.network);
        self.start(client, transaction.invoke + patience + 1);
    }

    /// The transaction has ended; its client goes on at `at`, if it is still there.
    pub(super) fn leave(&mut self, transaction: &mut Transaction, at: u64) {
        self.ended += 1;
        let (client, is_orphan) = (transaction.client, transaction.is_orphan);
        transaction.is_active = false;
        self.commits += 1;
        if self.commits.is_multiple_of(UNTIL_COLLECTION) {
            self.collect();
        }
        if !is_orphan {
            let at = at + 1 + delay(&mut self.delaying, self.delays.thinking);
            self.start(client, at);
        }
        // Not earlier: the transaction still uses its slot.
        self.free.push(transaction.slot);
    }

    /// Drops certified transactions that no open transaction overlaps.
    fn collect(&mut self) {
        let active = self.transactions.iter().filter(|transaction| transaction.is_active);
        self.horizon = active.map(|transaction| transaction.begun).min().unwrap_or(self.now).min(self.now);
        let horizon = self.horizon;
        while self.recent.front().is_some_and(|certified| certified.commit < horizon) {
            self.recent.pop_front();
        }
    }
}
