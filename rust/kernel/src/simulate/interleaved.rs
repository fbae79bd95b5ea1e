//! A seeded scheduler: every step, one session begins a transaction, does one operation of it, or ends it.

use super::output::{Output, small};
use super::store::{Found, Settings, Store, TICK, Violation};
use super::{Conflicts, InjectedFault, Model, Simulated, Simulation};
use crate::builder::Details;
use crate::error::ParseError;
use crate::generate::mix::{Drawn, Step, Tables};
use crate::generate::random::Random;
use crate::generate::{Action, Workload};
use crate::history::{Interval, Kind, NO_KEY, Status};
use crate::value::Value;

/// An operation that a transaction is going to do.
#[derive(Debug, Clone, Copy)]
struct Planned {
    row: Drawn,
    is_write: bool,
    table: u32,
}

/// An operation that was done.
#[derive(Debug, Clone, Copy)]
struct Done {
    kind: Kind,
    row: u32,
    value: Value,
    invoke: i64,
    complete: i64,
}

/// A transaction in the history whose client has not received the answer to its end yet.
#[derive(Debug, Clone, Copy)]
struct Unanswered {
    transaction: u32,
    operation: usize,
    begun: i64,
    invoke: i64,
}

/// The client of a session.
#[derive(Debug, Default)]
struct Client {
    /// Id and start timestamp of the open transaction.
    transaction: (u32, u64),
    plan: Vec<Planned>,
    next: usize,
    done: Vec<Done>,
    rolls_back: bool,
    /// Whether the same transaction is done again.
    is_again: bool,
    /// True time of its last event.
    instant: u64,
    unanswered: Option<Unanswered>,
}

pub(super) struct Interleaved<'s> {
    workload: &'s Workload,
    simulation: &'s Simulation,
    pub(super) store: Store,
    output: Output,
    /// Delays have their own random numbers, so that they change nothing else.
    delays: Random,
    tables: Tables,
    clients: Vec<Client>,
    /// Sessions with an open transaction, without one, and with one that must be done again.
    running: Vec<u32>,
    idle: Vec<u32>,
    again: Vec<u32>,
    /// How many transactions are still to begin.
    remaining: u32,
}

impl<'s> Interleaved<'s> {
    pub(super) fn new(workload: &'s Workload, simulation: &'s Simulation) -> Self {
        let Simulation { isolation, clocks, bug, bug_rate, .. } = *simulation;
        let settings = Settings {
            refuses_early: simulation.conflicts == Conflicts::Read,
            bug,
            bug_rate,
            hidden_for: TICK * 32 * u64::from(simulation.concurrency),
            ..Settings::new(isolation, workload.model, clocks, workload.seed)
        };
        let mut store = Store::new(settings, workload.sessions);
        Self {
            workload,
            simulation,
            output: Output::new(workload.initial, workload.initial_replaceable),
            delays: Random(!workload.seed.rotate_left(32)),
            tables: Tables::new(&workload.mix, &mut store),
            store,
            clients: (0..workload.sessions).map(|_| Client::default()).collect(),
            running: Vec::new(),
            idle: (0..workload.sessions).collect(),
            again: Vec::new(),
            remaining: workload.transactions,
        }
    }

    /// The next event; false if there is none.
    pub(super) fn step(&mut self) -> bool {
        self.store.now += TICK;
        let has_room = (self.running.len() as u32) < self.simulation.concurrency;
        if let Some(session) = has_room.then(|| self.next_session()).flatten() {
            self.running.push(session);
            self.begin(session);
            return true;
        }
        if self.running.is_empty() {
            return false;
        }
        let place = self.store.random.below(self.running.len() as u32) as usize;
        let session = self.running[place];
        self.proceed(session);
        if !self.store.is_open(session) {
            self.running.swap_remove(place);
            let is_again = self.clients[session as usize].is_again;
            if is_again { self.again.push(session) } else { self.idle.push(session) }
        }
        true
    }

    fn next_session(&mut self) -> Option<u32> {
        let waiting = match self.again.is_empty() {
            false => &mut self.again,
            true if self.remaining > 0 && !self.idle.is_empty() => &mut self.idle,
            true => return None,
        };
        let place = self.store.random.below(waiting.len() as u32) as usize;
        Some(waiting.swap_remove(place))
    }

    fn begin(&mut self, session: u32) {
        if !std::mem::take(&mut self.clients[session as usize].is_again) {
            self.remaining -= 1;
            self.plan(session);
            let rolls_back = self.store.random.below(1000) < self.workload.aborted;
            self.clients[session as usize].rolls_back = rolls_back;
        }
        self.clients[session as usize].next = 0;
        self.clients[session as usize].transaction = self.store.begin(session);
        self.record_end(session, Kind::Begin);
    }

    /// Draws the operations of the next transaction.
    fn plan(&mut self, session: u32) {
        let mut plan = std::mem::take(&mut self.clients[session as usize].plan);
        plan.clear();
        let workload = self.workload;
        for step in &workload.mix.draw(&mut self.store.random).steps {
            for _ in 0..self.store.random.between(step.times) {
                self.plan_step(step, &mut plan);
            }
        }
        self.clients[session as usize].plan = plan;
    }

    fn plan_step(&mut self, step: &Step, plan: &mut Vec<Planned>) {
        let Some(row) = self.tables.pick(step, &mut self.store) else { return };
        let planned = |is_write| Planned { row, is_write, table: step.table };
        match step.action {
            Action::Read => plan.push(planned(false)),
            Action::Write => plan.push(planned(true)),
            Action::Update => plan.extend([planned(false), planned(true)]),
            Action::Either(reads) => plan.push(planned(self.store.random.below(1000) >= reads)),
        }
    }

    fn proceed(&mut self, session: u32) {
        let client = &mut self.clients[session as usize];
        let Some(&planned) = client.plan.get(client.next) else { return self.end(session) };
        client.next += 1;
        let row = planned.row.row;
        if !planned.is_write {
            return self.read(session, row);
        }
        match (self.store.may_write(session, row), self.simulation.conflicts) {
            (true, _) => self.write(session, planned),
            (false, Conflicts::Read) => self.read(session, row),
            (false, _) => self.abort(session, true),
        }
    }

    fn read(&mut self, session: u32, row: u32) {
        let is_list = self.workload.model == Model::List;
        let key = if is_list { self.output.key(&mut self.store.rows, row) } else { NO_KEY };
        let found = self.store.read(session, row).unwrap_or(Found::Absent);
        let value = self.output.value(key, found);
        self.record(session, Kind::Read, row, value);
    }

    fn write(&mut self, session: u32, planned: Planned) {
        let row = planned.row.row;
        let value = self.store.new_value(row, self.simulation.repeated_values);
        let (kind, change) = self.workload.model.change(value);
        self.store.change(session, row, change);
        self.record(session, kind, row, small(value));
        let most = self.workload.max_writes_per_key;
        self.tables.retire(planned.table, planned.row, most, &mut self.store);
    }

    fn end(&mut self, session: u32) {
        if self.clients[session as usize].rolls_back {
            return self.abort(session, false);
        }
        let Ok((start, commit)) = self.store.commit(session) else { return self.abort(session, true) };
        self.record_end(session, Kind::Commit);
        self.flush(session, Status::Committed, start, Some(commit));
    }

    fn abort(&mut self, session: u32, is_conflict: bool) {
        self.store.abort(session);
        self.record_end(session, Kind::Abort);
        let client = &mut self.clients[session as usize];
        client.is_again = is_conflict && self.simulation.conflicts == Conflicts::Retry;
        let (_, start) = client.transaction;
        self.flush(session, Status::Aborted, start, None);
    }

    /// Begins and ends are operations where the client's clock is recorded.
    fn record_end(&mut self, session: u32, kind: Kind) {
        if self.workload.intervals {
            self.record(session, kind, NO_KEY, Value::NIL);
        }
    }

    fn record(&mut self, session: u32, kind: Kind, row: u32, value: Value) {
        let invoke = if self.workload.intervals { self.invoke(session) } else { 0 };
        self.clients[session as usize].done.push(Done { kind, row, value, invoke, complete: 0 });
    }

    /// When the client sent the request that is done now: after the answer to its last request.
    fn invoke(&mut self, session: u32) -> i64 {
        let now = self.store.now;
        let patience = u64::from(self.simulation.concurrency) * TICK;
        let last = self.clients[session as usize].instant;
        let complete = last + 1 + self.delays.wide_below(((now - last) / 2).min(patience));
        let invoke = now - self.delays.wide_below((now - complete).min(patience));
        self.answer(session, complete);
        self.clients[session as usize].instant = now;
        invoke as i64
    }

    /// The client receives the answer to its last request.
    fn answer(&mut self, session: u32, complete: u64) {
        let complete = complete as i64;
        let client = &mut self.clients[session as usize];
        if let Some(last) = client.done.last_mut() {
            last.complete = complete;
        } else if let Some(ended) = client.unanswered.take() {
            let interval = |invoke: i64| Interval::new(Some(invoke), Some(complete));
            let details = Details { interval: interval(ended.invoke), ..Details::default() };
            self.output.builder.details(ended.operation, details);
            self.output.builder.interval(ended.transaction, interval(ended.begun));
        }
    }

    /// Adds a transaction to the history.
    fn flush(&mut self, session: u32, status: Status, start: u64, commit: Option<u64>) {
        let client = &mut self.clients[session as usize];
        let builder = &mut self.output.builder;
        let number = builder.session(small(session));
        let line = builder.operation_count() as u32 + 1;
        let id = small(client.transaction.0);
        let transaction = builder.transaction(id, number, status, line).expect("ids are counted");
        if self.workload.timestamps {
            let commit = commit.map(|commit| self.store.timestamp(commit)).unwrap_or_default();
            builder.timestamps(transaction, self.store.timestamp(start), commit);
        }
        let begun = client.done.first().map_or(0, |done| done.invoke);
        for (line, done) in (line..).zip(client.done.drain(..)) {
            let key = self.output.key(&mut self.store.rows, done.row);
            let operation = self.output.builder.operation(transaction, done.kind, key, done.value, line);
            if !self.workload.intervals {
                continue;
            }
            if matches!(done.kind, Kind::Commit | Kind::Abort) {
                client.unanswered = Some(Unanswered { transaction, operation, begun, invoke: done.invoke });
            } else {
                let interval = Interval::new(Some(done.invoke), Some(done.complete));
                self.output.builder.details(operation, Details { interval, ..Details::default() });
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<Simulated, ParseError> {
        for session in 0..self.workload.sessions {
            self.store.now += TICK;
            self.answer(session, self.store.now);
        }
        let violations = self.store.violations();
        let injected = violations.into_iter().map(|violation| self.injected(violation)).collect();
        Ok(Simulated { history: self.output.builder.finish()?, injected })
    }

    fn injected(&mut self, violation: Violation) -> InjectedFault {
        let Violation { axiom, transaction, row, other, shown } = violation;
        let (expected, found) = match shown {
            None => (Value::NIL, Value::NIL),
            Some(shown) => {
                let key = self.output.key(&mut self.store.rows, row);
                let (rows, model) = (&self.store.rows[row as usize], self.workload.model);
                let mut value = |shown| self.output.value(key, rows.found(shown, model));
                (value(&shown.0), value(&shown.1))
            }
        };
        let key = if row == NO_KEY { Value::NIL } else { small(row) };
        InjectedFault { axiom, transaction, key, other, expected, found }
    }
}
