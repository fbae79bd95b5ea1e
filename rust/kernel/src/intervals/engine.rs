//! Transactions as they arrive, from any client, through the pipeline into the verifier.

use super::finding::Finding;
use super::finding_log::FindingLog;
use super::intake::Intake;
use super::key::First;
use super::names::{Names, Translation};
use super::pipeline::{Options, Pipeline};
use super::profile::Profile;
use super::span::Span;
use super::tally::Tally;
use super::transaction::Transaction;
use super::verifier::Verifier;
use crate::history::{History, Status};
use crate::index::DenseIndex;
use crate::value::Value;
use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

/// The settings of an engine: its verdicts depend on them and on the transactions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Terms {
    /// The mechanisms.
    pub profile: Profile,
    /// By how many nanoseconds clocks may be wrong.
    pub clock_error: i64,
    /// How many findings of each mechanism are kept.
    pub max_anomalies: u64,
    /// A session without news for so many nanoseconds is not waited for.
    pub timeout: u64,
}

/// The transaction because of which a batch was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedTransaction {
    /// Its place in the batch.
    pub transaction: u32,
    /// What is wrong with it.
    pub problem: String,
}

/// A trace in the pipeline: its transaction, and whether it is the last one of that.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Trace {
    pub slot: u32,
    pub is_end: bool,
}

/// What is known of a client.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Session {
    /// When it was last heard of.
    heard: u64,
    transactions: u32,
    /// Whether it was silent for too long and is not waited for.
    is_left: bool,
}

/// How many transactions and operations an engine took.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Sizes {
    pub transactions: u64,
    pub aborted: u64,
    pub indeterminate: u64,
    pub operations: u64,
    pub late: u64,
    pub repeated: u64,
}

/// Verifies the mechanisms of one profile while transactions arrive. It reads no clock: each call passes the time.
pub struct Engine {
    pub(super) terms: Terms,
    pub(super) names: Names,
    pub(super) verifier: Verifier,
    pub(super) pipeline: Pipeline<Trace>,
    pub(super) sessions: DenseIndex,
    pub(super) progress: Vec<Session>,
    pub(super) ids: HashSet<Value>,
    pub(super) initial: Value,
    pub(super) sizes: Sizes,
    /// When the last end that was dispatched is over.
    pub(super) latest: i64,
    pub(super) log: FindingLog,
    /// A buffer that is reused.
    pub(super) ends: Vec<u32>,
    /// Bytes of texts after the last cleaning.
    pub(super) texts: usize,
}

impl Engine {
    /// An engine without transactions; initial values are not known.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        let verifier = Verifier::new(terms.profile.clone(), terms.max_anomalies);
        Self {
            terms,
            names: Names::default(),
            verifier,
            pipeline: Pipeline::new(Options::default()),
            sessions: DenseIndex::default(),
            progress: Vec::new(),
            ids: HashSet::new(),
            initial: Value::UNKNOWN,
            sizes: Sizes::default(),
            latest: i64::MIN,
            log: FindingLog::default(),
            ends: Vec::new(),
            texts: 0,
        }
    }

    /// Sets the initial value of every key.
    pub fn set_initial(&mut self, initial: Value) {
        self.initial = initial;
    }

    /// Values of keys and ids here.
    pub fn values_mut(&mut self) -> &mut crate::value::Values {
        &mut self.names.values
    }

    /// Checks whether a batch would be taken.
    ///
    /// # Errors
    /// If one of its transactions cannot be judged.
    pub fn admit(&self, history: &History) -> Result<(), RejectedTransaction> {
        let intake = self.intake(history);
        (0..history.transaction_count()).try_for_each(|number| {
            intake
                .admit(number)
                .map_err(|problem| RejectedTransaction { transaction: number as u32, problem })
        })
    }

    fn intake<'i>(&'i self, history: &'i History) -> Intake<'i> {
        Intake { history, profile: &self.terms.profile, error: self.terms.clock_error }
    }

    /// Takes all transactions of a batch, which arrives at `now`, or none; how many are new.
    ///
    /// # Errors
    /// If one of them cannot be judged.
    pub fn take(&mut self, history: &History, now: u64) -> Result<u64, RejectedTransaction> {
        self.admit(history)?;
        self.take_admitted(history, now)
    }

    /// Takes a batch that [`Engine::admit`] has admitted; how many of its transactions are new.
    ///
    /// # Errors
    /// As `admit`.
    pub fn take_admitted(&mut self, history: &History, now: u64) -> Result<u64, RejectedTransaction> {
        let mut known = self.translate(history);
        let mut sessions: Vec<Option<u32>> = vec![None; history.session_ids.len()];
        let before = self.sizes.transactions;
        for number in history.written_order() {
            let id = known.of(history.transactions.ids[number]);
            if !self.ids.insert(id) {
                self.sizes.repeated += 1;
                continue;
            }
            // A transaction without operations shows nothing.
            if history.operations_of(number).is_empty() {
                self.sizes.transactions += 1;
                continue;
            }
            let transaction = self.transaction(history, number, &mut known)?;
            let session = history.transactions.sessions[number] as usize;
            let client = *sessions[session].get_or_insert_with(|| {
                let id = history.session_ids[session];
                let id = if id == Value::NIL { transaction.id } else { known.of(id) };
                self.sessions.number(id)
            });
            self.count(&transaction);
            self.push(transaction, client, now);
        }
        self.pump();
        Ok(self.sizes.transactions - before)
    }

    pub(super) fn translate(&mut self, history: &History) -> Translation {
        let known = self.names.translate(history);
        let before = self.verifier.keys.len() as u32;
        let (initial, ids) = (self.initial, self.names.keys.ids());
        let first = |value: Value| if value == Value::UNKNOWN { First::Open } else { First::Known(value) };
        self.verifier.know_keys(ids, |_| first(initial));
        // The first batch with a key may say its initial value; later batches do not change it.
        for (key, number) in known.new_keys(before) {
            let told = history.initial.of(key);
            if told != Value::UNKNOWN {
                self.verifier.keys[number as usize].first = first(known.of(told));
            }
        }
        known
    }

    pub(super) fn transaction(
        &mut self,
        history: &History,
        number: usize,
        known: &mut Translation,
    ) -> Result<Transaction, RejectedTransaction> {
        let intake = Intake { history, profile: &self.terms.profile, error: self.terms.clock_error };
        let mut transaction = intake
            .transaction(number, &mut self.names, known)
            .map_err(|problem| RejectedTransaction { transaction: number as u32, problem })?;
        transaction.number = self.sizes.transactions;
        Ok(transaction)
    }

    pub(super) fn count(&mut self, transaction: &Transaction) {
        self.sizes.transactions += 1;
        self.sizes.aborted += u64::from(transaction.status == Status::Aborted);
        self.sizes.indeterminate += u64::from(transaction.status == Status::Indeterminate);
        self.sizes.operations += transaction.operations.len() as u64;
    }

    fn push(&mut self, mut transaction: Transaction, client: u32, now: u64) {
        let session = self.heard(client, now);
        transaction.session = client;
        transaction.place_in_session = session.transactions;
        session.transactions += 1;
        if !self.push_traces(transaction, client) {
            self.sizes.late += 1;
        }
        self.note_late();
    }

    /// Puts the traces of a transaction into the pipeline; false if it comes too late.
    pub(super) fn push_traces(&mut self, transaction: Transaction, client: u32) -> bool {
        let (end, known_at) = (transaction.end, transaction.known_at());
        let mut begins: Vec<i64> =
            transaction.operations.iter().map(|one| one.span.invoke.min(end.invoke)).collect();
        begins.sort_unstable();
        begins.dedup();
        begins.retain(|&begin| begin < end.invoke);
        if transaction.first < self.verifier.swept {
            return false;
        }
        let first = begins.first().copied().unwrap_or(end.invoke);
        let slot = self.verifier.add(transaction);
        for (place, &begin) in begins.iter().chain([&end.invoke]).enumerate() {
            let is_end = place == begins.len();
            if self.pipeline.push(client, begin, Trace { slot, is_end }).is_err() {
                debug_assert_eq!(begin, first, "a session goes forward");
                self.verifier.discard(slot);
                return false;
            }
        }
        // The next operation of the client begins after this one, by the same clock.
        self.pipeline.heartbeat(client, known_at.saturating_sub(self.terms.clock_error.saturating_mul(2)));
        true
    }

    fn heard(&mut self, client: u32, now: u64) -> &mut Session {
        let fresh = Session { heard: now, transactions: 0, is_left: false };
        if client as usize >= self.progress.len() {
            self.progress.resize(client as usize + 1, fresh);
        }
        let session = &mut self.progress[client as usize];
        session.heard = session.heard.max(now);
        session.is_left = false;
        session
    }

    /// Writes may be missing if a transaction came too late, or may come too late.
    fn note_late(&mut self) {
        self.verifier.has_late = self.sizes.late > 0 || self.progress.iter().any(|one| one.is_left);
    }

    /// All later operations of a session begin at `time` or later.
    pub fn heartbeat(&mut self, session: Value, time: i64, now: u64) {
        let client = self.sessions.number(session);
        self.heard(client, now);
        self.pipeline.heartbeat(client, time.saturating_sub(self.terms.clock_error));
        self.note_late();
        self.pump();
    }

    /// It is `now`: sessions that were silent for too long are not waited for.
    pub fn advance(&mut self, now: u64) {
        let timeout = self.terms.timeout;
        for (client, session) in self.progress.iter_mut().enumerate() {
            if !session.is_left && now.saturating_sub(session.heard) > timeout {
                session.is_left = true;
                self.pipeline.finish(client as u32);
            }
        }
        self.note_late();
        self.pump();
    }

    /// Nothing more will come.
    pub fn flush(&mut self) {
        for client in 0..self.progress.len() {
            self.pipeline.finish(client as u32);
        }
        self.dispatch();
        self.settle(Span::NEVER);
        self.sweep(Span::NEVER);
    }

    pub(super) fn pump(&mut self) {
        self.dispatch();
        self.settle(self.watermark());
    }

    /// All operations that began before it are known; if no session is waited for, all that were taken.
    #[must_use]
    pub fn watermark(&self) -> i64 {
        self.pipeline.watermark().unwrap_or(self.latest)
    }

    fn settle(&mut self, watermark: i64) {
        while self.verifier.settle_next(watermark) {
            self.log_findings();
            if self.verifier.is_due_for_sweep() {
                self.sweep(watermark);
            }
        }
    }

    fn sweep(&mut self, watermark: i64) {
        self.verifier.sweep(watermark);
        for id in self.verifier.freed.drain(..) {
            self.ids.remove(&id);
        }
        self.forget_texts();
    }

    fn dispatch(&mut self) {
        let ends = &mut self.ends;
        self.pipeline.dispatch(|_, traces| {
            ends.extend(traces.iter().filter(|(_, trace)| trace.is_end).map(|(_, trace)| trace.slot));
        });
        for slot in self.ends.drain(..) {
            let known_at = self.verifier.transactions.get(slot).known_at();
            self.latest = self.latest.max(known_at.saturating_add(1));
            self.verifier.install(slot);
        }
    }

    pub(super) fn pipeline_mut(&mut self) -> &mut Pipeline<Trace> {
        &mut self.pipeline
    }

    /// How many transactions and operations were taken.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Transactions in memory, and those of them that are not judged yet.
    #[must_use]
    pub fn live(&self) -> (u64, u64) {
        self.verifier.live()
    }

    /// How many keys and sessions there are.
    #[must_use]
    pub fn known(&self) -> (usize, usize) {
        (self.names.keys.ids().len(), self.sessions.ids().len())
    }

    /// The session that holds the watermark back, if one does.
    #[must_use]
    pub fn holding_back(&self) -> Option<Value> {
        self.pipeline.client_to_fetch_from().map(|client| self.sessions.ids()[client as usize])
    }

    /// Scalars of keys, sessions and transactions.
    #[must_use]
    pub fn values(&self) -> &crate::value::Values {
        &self.names.values
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let index = self.names.keys.ids().len() * 24 + self.ids.len() * 16;
        self.verifier.memory() + (self.names.values.bytes() + index) as u64
    }

    /// All counts.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.verifier.tally
    }

    /// The findings that are kept.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.verifier.findings
    }
}
