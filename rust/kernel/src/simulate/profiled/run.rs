//! The event loop: requests reach the server in the order of true time.

use super::client::{Lost, Stage, Transaction};
use super::plan::{Draw, delay, request};
use super::{Delays, Load, Simulation, Truth};
use crate::builder::Builder;
use crate::cancel::Cancel;
use crate::error::ParseError;
use crate::generate::random::Random;
use crate::history::{History, Kind};
use crate::simulate::store::{ABSENT, Server};
use crate::value::Value;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The first instant.
const START: u64 = 1_000_000_000;
/// How many times longer than a message a client waits for an answer that does not come.
const PATIENCE: u64 = 10;

/// A run of the database.
pub struct ProfiledRun {
    pub(super) load: Load,
    pub(super) delays: Delays,
    /// Its instant is that of the current event; no two events have the same one.
    pub(super) server: Server,
    /// Delays have their own random numbers, so that they change nothing else.
    pub(super) delaying: Random,
    events: BinaryHeap<Reverse<(u64, u64, u32)>>,
    scheduled: u64,
    /// By slot: a session of the server, not of the client.
    pub(super) transactions: Vec<Transaction>,
    free: Vec<u32>,
    /// By how much the clock of each client is off, and the session that it has now.
    pub(super) clocks: Vec<i64>,
    sessions: Vec<u32>,
    next_session: u32,
    pub(super) rows_of_table: u32,
    pub(super) draw: Draw,
    remaining: u32,
    begun: u32,
    pub(super) ended: u64,
    pub(super) builder: Builder,
    /// How many keys the builder knows.
    pub(super) known_keys: u32,
}

impl ProfiledRun {
    /// A run at its start.
    #[must_use]
    pub fn new(simulation: &Simulation) -> Self {
        let Simulation { profile, seed, load, faults, truth, .. } = simulation;
        let rows_of_table = load.keys.div_ceil(load.tables.max(1)).max(1);
        let mut run = Self {
            load: load.clone(),
            delays: simulation.delays,
            server: Server::new(profile, rows_of_table, *seed, faults, *truth),
            delaying: Random(!seed),
            events: BinaryHeap::new(),
            scheduled: 0,
            transactions: Vec::new(),
            free: Vec::new(),
            clocks: Vec::new(),
            sessions: (0..load.clients).collect(),
            next_session: load.clients,
            rows_of_table,
            draw: Draw::new(load.keys, load.theta),
            remaining: load.transactions,
            begun: 0,
            ended: 0,
            builder: Builder::new(),
            known_keys: 0,
        };
        run.server.store.now = START;
        run.add_rows();
        run.add_clients();
        run
    }

    fn add_rows(&mut self) {
        for _ in 0..self.load.keys {
            let is_absent = self.load.inserts > 0 && self.server.store.random.below(3) == 0;
            self.server.add_row(if is_absent { ABSENT } else { 0 });
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
        self.server.into_truth()
    }

    /// The next event; false if there is none.
    fn step(&mut self) -> bool {
        let Some(Reverse((time, _, slot))) = self.events.pop() else { return false };
        self.server.store.now = time.max(self.now() + 1);
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

    pub(super) fn now(&self) -> u64 {
        self.server.store.now
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
            self.server.store.add_session()
        });
        let mut transaction = std::mem::take(&mut self.transactions[slot as usize]);
        transaction.clear();
        self.begun += 1;
        transaction.id = self.begun;
        transaction.slot = slot;
        transaction.client = client;
        transaction.session = self.sessions[client as usize];
        transaction.is_active = true;
        transaction.invoke = at;
        self.plan(&mut transaction);
        self.transactions[slot as usize] = transaction;
        let arrival = at + request(&mut self.delaying, self.delays);
        self.schedule(arrival, slot);
    }

    fn begin(&mut self, transaction: &mut Transaction) {
        self.server.begin(transaction.slot, transaction.moment);
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
        let complete = self.now() + delay(&mut self.delaying, self.delays.network);
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
        if !is_orphan {
            let at = at + 1 + delay(&mut self.delaying, self.delays.thinking);
            self.start(client, at);
        }
        // Not earlier: the transaction still uses its slot.
        self.free.push(transaction.slot);
    }
}
