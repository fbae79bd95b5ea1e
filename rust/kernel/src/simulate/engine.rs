//! The engine: who does what next, and how it is written down.

use super::client::{Client, Done, Ended, Planned};
use super::clock::{Clock, TICK};
use super::faults::Log;
use super::key::{Key, Shown};
use super::{Conflicts, Isolation, Simulated, Simulation};
use crate::builder::{Builder, Details};
use crate::error::ParseError;
use crate::generate::mix::{Row, Rows, Step};
use crate::generate::random::Random;
use crate::generate::{Action, Model, Pick};
use crate::history::{Interval, Kind, NO_KEY, Status};
use crate::value::Value;

pub(super) struct Engine<'s> {
    pub(super) simulation: &'s Simulation,
    pub(super) builder: Builder,
    random: Random,
    /// Faults and intervals are drawn apart, so that they change nothing else.
    pub(super) faults: Random,
    delays: Random,
    pub(super) clock: Clock,
    /// True time.
    pub(super) now: u64,
    tables: Vec<Rows>,
    pub(super) keys: Vec<Key>,
    pub(super) clients: Vec<Client>,
    /// Sessions: with an open transaction, without, and with one that must be done again.
    running: Vec<u32>,
    idle: Vec<u32>,
    again: Vec<u32>,
    /// How many transactions are still to begin.
    remaining: u32,
    begun: u32,
    pub(super) log: Log,
}

impl<'s> Engine<'s> {
    pub(super) fn new(simulation: &'s Simulation) -> Self {
        let mut random = Random(simulation.seed);
        let mut engine = Self {
            simulation,
            builder: Builder::new(),
            faults: Random(!simulation.seed),
            delays: Random(!simulation.seed.rotate_left(32)),
            clock: Clock::new(simulation.clocks, &mut random),
            random,
            now: TICK,
            tables: Vec::new(),
            keys: Vec::new(),
            clients: (0..simulation.sessions).map(Client::new).collect(),
            running: Vec::new(),
            idle: (0..simulation.sessions).collect(),
            again: Vec::new(),
            remaining: simulation.transactions,
            begun: 0,
            log: Log::default(),
        };
        engine.builder.initial.default = simulation.initial;
        engine.builder.initial.replaceable = simulation.initial_replaceable;
        for &table in &simulation.mix.tables {
            let keys = (0..table.keys).map(|_| engine.new_key()).collect();
            engine.tables.push(Rows::new(table, keys));
        }
        engine
    }

    /// The next event; false if there is none.
    pub(super) fn step(&mut self) -> bool {
        self.now += TICK;
        let has_room = (self.running.len() as u32) < self.simulation.concurrency;
        if let Some(session) = has_room.then(|| self.next_session()).flatten() {
            self.running.push(session);
            self.as_client(session, Self::begin);
            return true;
        }
        if self.running.is_empty() {
            return false;
        }
        let place = self.random.below(self.running.len() as u32) as usize;
        let session = self.running[place];
        self.as_client(session, Self::proceed);
        let client = &self.clients[session as usize];
        if !client.is_open() {
            self.running.swap_remove(place);
            if client.is_again { self.again.push(session) } else { self.idle.push(session) }
        }
        true
    }

    fn next_session(&mut self) -> Option<u32> {
        let waiting = match self.again.is_empty() {
            false => &mut self.again,
            true if self.remaining > 0 && !self.idle.is_empty() => &mut self.idle,
            true => return None,
        };
        let place = self.random.below(waiting.len() as u32) as usize;
        Some(waiting.swap_remove(place))
    }

    /// Lets a session act; meanwhile the others can be looked at.
    fn as_client(&mut self, session: u32, act: impl FnOnce(&mut Self, &mut Client)) {
        let mut client = std::mem::take(&mut self.clients[session as usize]);
        act(self, &mut client);
        self.clients[session as usize] = client;
    }

    fn begin(&mut self, client: &mut Client) {
        if !std::mem::take(&mut client.is_again) {
            self.remaining -= 1;
            self.plan(&mut client.plan);
            client.rolls_back = self.random.below(1000) < self.simulation.aborted;
        }
        self.begun += 1;
        client.id = self.begun;
        client.next = 0;
        client.touched.clear();
        client.tick = self.clock.tick(client.session, self.now);
        client.start = client.tick;
        client.snapshot = client.tick;
        self.mark(client);
        if self.simulation.intervals {
            self.record(client, Kind::Begin, NO_KEY, Value::NIL);
        }
    }

    /// What the next transaction is going to do.
    fn plan(&mut self, plan: &mut Vec<Planned>) {
        plan.clear();
        let template = self.simulation.mix.draw(&mut self.random);
        for step in &template.steps {
            for _ in 0..self.random.between(step.times) {
                self.plan_step(step, plan);
            }
        }
    }

    fn plan_step(&mut self, step: &Step, plan: &mut Vec<Planned>) {
        let Some(row) = self.pick(step) else { return };
        let place = row.place.map(|place| place as u32);
        let planned = |is_write| Planned { key: row.key, is_write, table: step.table, place };
        match step.action {
            Action::Read => plan.push(planned(false)),
            Action::Write => plan.push(planned(true)),
            Action::Update => plan.extend([planned(false), planned(true)]),
            Action::Either(reads) => plan.push(planned(self.random.below(1000) >= reads)),
        }
    }

    fn pick(&mut self, step: &Step) -> Option<Row> {
        let table = step.table as usize;
        match step.pick {
            Pick::Drawn => Some(self.tables[table].drawn(&mut self.random)),
            Pick::Recent => self.tables[table].recent(&mut self.random),
            Pick::New => {
                let key = self.new_key();
                Some(self.tables[table].insert(key))
            }
        }
    }

    fn proceed(&mut self, client: &mut Client) {
        let Some(&planned) = client.plan.get(client.next) else { return self.end(client) };
        client.next += 1;
        if !planned.is_write {
            return self.read(client, planned.key);
        }
        match (self.may_write(client, planned.key), self.simulation.conflicts) {
            (true, _) => self.write(client, planned),
            (false, Conflicts::Read) => self.read(client, planned.key),
            (false, _) => self.abort(client, true),
        }
    }

    /// Whether a write is accepted; who comes too late is found out at the commit, unless he wants to know now.
    fn may_write(&self, client: &Client, key: u32) -> bool {
        let isolation = self.simulation.isolation;
        let asks = self.simulation.conflicts == Conflicts::Read && isolation.has_snapshots();
        if !asks && isolation != Isolation::ReadUncommitted {
            return true;
        }
        let state = &self.keys[key as usize];
        self.holder(key, client).is_none() && (!asks || state.newest().commit <= self.limit(client))
            || self.ignores_conflicts(client)
    }

    /// Another open transaction that wrote `key`.
    pub(super) fn holder(&self, key: u32, client: &Client) -> Option<&Client> {
        let (session, id) = self.keys[key as usize].holder;
        let holder = &self.clients[session as usize];
        (session != client.session && holder.is_open() && holder.id == id).then_some(holder)
    }

    fn write(&mut self, client: &mut Client, planned: Planned) {
        let state = &mut self.keys[planned.key as usize];
        state.written += 1;
        state.holder = (client.session, client.id);
        let value = match self.simulation.repeated_values {
            0 => state.written,
            values => 1 + self.random.below(values),
        };
        let place = client.touch(planned.key);
        let touched = &mut client.touched[place];
        touched.own.push(value);
        let kind = match self.simulation.model {
            Model::Register => {
                touched.forgotten = 0;
                Kind::Write
            }
            Model::List => Kind::Append,
        };
        self.record(client, kind, planned.key, small(value));
        self.retire(planned);
    }

    fn retire(&mut self, planned: Planned) {
        let Some(place) = planned.place else { return };
        if self.keys[planned.key as usize].written == self.simulation.most_writes_per_key {
            let key = self.new_key();
            self.tables[planned.table as usize].replace(place as usize, key);
        }
    }

    /// Writes an operation down.
    pub(super) fn record(&mut self, client: &mut Client, kind: Kind, key: u32, value: Value) {
        let invoke = if self.simulation.intervals { self.invoke(client) } else { 0 };
        client.done.push(Done { kind, key, value, invoke, complete: 0 });
    }

    /// When the client asked for what happens now: after he had the answer to the last.
    fn invoke(&mut self, client: &mut Client) -> i64 {
        let patience = u64::from(self.simulation.concurrency) * TICK;
        let passed = self.now - client.instant;
        let complete = client.instant + 1 + self.delays.wide_below((passed / 2).min(patience));
        let invoke = self.now - self.delays.wide_below((self.now - complete).min(patience));
        self.answer(client, complete);
        client.instant = self.now;
        invoke as i64
    }

    /// The client has the answer to his last request.
    fn answer(&mut self, client: &mut Client, complete: u64) {
        let complete = complete as i64;
        if let Some(last) = client.done.last_mut() {
            last.complete = complete;
        } else if let Some(ended) = client.ended.take() {
            let interval = |invoke: i64| Interval::new(Some(invoke), Some(complete));
            let details = Details { interval: interval(ended.invoke), ..Details::default() };
            self.builder.details(ended.operation, details);
            self.builder.interval(ended.transaction, interval(ended.begun));
        }
    }

    /// Hands a transaction over to the history.
    pub(super) fn flush(&mut self, client: &mut Client, status: Status, start: u64, commit: Option<u64>) {
        let session = self.builder.session(small(client.session));
        let line = self.builder.operation_count() as u32 + 1;
        let id = small(client.id);
        let transaction = self.builder.transaction(id, session, status, line).expect("ids are counted");
        if self.simulation.timestamps {
            let commit = commit.map(|commit| self.clock.timestamp(commit)).unwrap_or_default();
            self.builder.timestamps(transaction, self.clock.timestamp(start), commit);
        }
        let begun = client.done.first().map_or(0, |done| done.invoke);
        for (line, done) in (line..).zip(client.done.drain(..)) {
            let number = self.number(done.key);
            let operation = self.builder.operation(transaction, done.kind, number, done.value, line);
            if !self.simulation.intervals {
                continue;
            }
            if matches!(done.kind, Kind::Commit | Kind::Abort) {
                client.ended = Some(Ended { transaction, operation, begun, invoke: done.invoke });
            } else {
                let interval = Interval::new(Some(done.invoke), Some(done.complete));
                self.builder.details(operation, Details { interval, ..Details::default() });
            }
        }
        client.id = super::key::NOBODY;
    }

    /// The builder's number of a key.
    pub(super) fn number(&mut self, key: u32) -> u32 {
        let Some(state) = self.keys.get_mut(key as usize) else { return NO_KEY };
        if state.number == NO_KEY {
            state.number = self.builder.key(small(key));
        }
        state.number
    }

    /// The value of what was found, followed by own writes of a list.
    pub(super) fn value(&mut self, key: u32, shown: &Shown, own: &[u32]) -> Value {
        if self.simulation.model == Model::Register {
            return self.initial_or(shown.value);
        }
        let number = self.number(key);
        let elements = self.keys[key as usize].elements(shown);
        let elements: Vec<Value> = elements.iter().chain(own).copied().map(small).collect();
        self.builder.list(number, &elements)
    }

    pub(super) fn initial_or(&self, written: u32) -> Value {
        let initial = self.simulation.initial;
        match written {
            0 if initial == Value::UNKNOWN => small(0),
            0 => initial,
            _ => small(written),
        }
    }

    /// No snapshot is older, neither of `client`, who is about to end, nor of others, now or later.
    pub(super) fn horizon(&self, client: &Client) -> u64 {
        let open = self.running.iter().map(|&session| &self.clients[session as usize]);
        let snapshots = open.filter(|other| other.is_open()).map(|other| other.snapshot);
        snapshots.chain([client.snapshot, self.clock.floor(self.now)]).min().unwrap_or_default()
    }

    /// When the oldest of the other open transactions began: not its start timestamp, for if a fault handed
    /// that on from one to the next, nobody would ever start late enough to commit.
    pub(super) fn oldest_begin(&self) -> Option<u64> {
        let open = self.running.iter().map(|&session| &self.clients[session as usize]);
        open.filter(|client| client.is_open()).map(|client| client.tick).min()
    }

    fn new_key(&mut self) -> u32 {
        self.keys.push(Key::new());
        self.keys.len() as u32 - 1
    }

    pub(super) fn finish(mut self) -> Result<Simulated, ParseError> {
        for session in 0..self.simulation.sessions {
            self.now += TICK;
            let complete = self.now;
            self.as_client(session, |engine, client| engine.answer(client, complete));
        }
        let log = self.entries();
        Ok(Simulated { history: self.builder.finish()?, log })
    }
}

pub(super) fn small(number: u32) -> Value {
    Value::small(i64::from(number)).expect("far below 62 bits")
}
