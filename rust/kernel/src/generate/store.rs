//! The store: runs transactions one by one and writes down what they did.

use super::mix::{Action, Pick, Row, Rows, Step};
use super::random::Random;
use super::view::{Versions, View};
use super::{Isolation, Model, Scene, Scripted, Workload};
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::{History, Interval, Kind, Status, Timestamp};
use crate::value::Value;

/// A key, and what the running transaction did to it.
struct Key {
    number: Option<u32>,
    versions: Versions,
    /// How often it was written, by whomever: the last value.
    written: u32,
    /// What the list holds.
    elements: Vec<Value>,
    /// What the running transaction wrote.
    own: Vec<Value>,
    /// The last transaction that read it, and which version.
    read: Option<(u32, u32)>,
}

pub(super) struct Store<'w> {
    workload: &'w Workload,
    builder: Builder,
    random: Random,
    view: View,
    tables: Vec<Rows>,
    keys: Vec<Key>,
    /// The keys that the running transaction wrote.
    touched: Vec<u32>,
}

impl<'w> Store<'w> {
    pub(super) fn new(workload: &'w Workload) -> Self {
        let mut store = Self {
            workload,
            builder: Builder::new(),
            random: Random(workload.seed),
            view: View::new(workload.isolation, workload.model, workload.lag, workload.sessions),
            tables: Vec::new(),
            keys: Vec::new(),
            touched: Vec::new(),
        };
        store.builder.initial.default = workload.initial;
        store.builder.initial.replaceable = workload.initial_replaceable;
        for &table in &workload.mix.tables {
            let keys = (0..table.keys).map(|_| store.new_key()).collect();
            store.tables.push(Rows::new(table, keys));
        }
        store
    }

    pub(super) fn finish(self) -> Result<History, ParseError> {
        self.builder.finish()
    }

    /// The next transaction of the mix.
    pub(super) fn transaction(&mut self) {
        let session = self.random.below(self.workload.sessions);
        let aborted = self.random.below(1000) < self.workload.aborted;
        let transaction = self.begin(session, aborted);
        if self.workload.intervals || self.workload.isolation == Isolation::Snapshot {
            self.view.begin_earlier(&mut self.random);
        }
        let template = self.workload.mix.draw(&mut self.random);
        for step in &template.steps {
            for _ in 0..self.random.between(step.times) {
                self.step(transaction, step);
            }
        }
        self.end(transaction, aborted);
    }

    /// The transactions of a script, in sessions that are drawn.
    pub(super) fn play(&mut self, script: &[Scene], random: &mut Random) {
        let sessions = self.cast(script, random);
        let first = self.keys.len() as u32;
        for scene in script {
            let session = sessions[scene.session as usize % sessions.len()];
            let transaction = self.begin(session, scene.aborted);
            for &operation in &scene.operations {
                self.scripted(transaction, operation, first);
            }
            self.end(transaction, scene.aborted);
        }
    }

    /// Different sessions for the roles of a script, as far as there are enough.
    fn cast(&self, script: &[Scene], random: &mut Random) -> Vec<u32> {
        let roles = script.iter().map(|scene| scene.session + 1).max().unwrap_or(1);
        let mut sessions = Vec::new();
        while sessions.len() < roles.min(self.workload.sessions) as usize {
            let session = random.below(self.workload.sessions);
            if !sessions.contains(&session) {
                sessions.push(session);
            }
        }
        sessions
    }

    fn begin(&mut self, session: u32, aborted: bool) -> u32 {
        self.view.begin(session);
        let id = small(self.builder.transaction_count() as i64 + 1);
        let session = self.builder.session(small(i64::from(session)));
        let status = if aborted { Status::Aborted } else { Status::Committed };
        self.builder.transaction(id, session, status, 0).expect("ids are counted")
    }

    fn end(&mut self, transaction: u32, aborted: bool) {
        if aborted {
            for key in self.touched.drain(..) {
                self.keys[key as usize].own.clear();
            }
        } else {
            self.commit();
        }
        self.view.end();
        self.record_times(transaction);
    }

    fn record_times(&mut self, transaction: u32) {
        let start = |place: u32| i64::from(place) * 2 + 1;
        let (invoked, commit) = (start(self.view.begun()), start(transaction) + 1);
        if self.workload.timestamps {
            // Without a snapshot, the database reads when it commits.
            let is_snapshot = self.workload.isolation == Isolation::Snapshot;
            let start = if is_snapshot { invoked } else { commit - 1 };
            self.builder.timestamps(transaction, Timestamp::new(start, 0), Timestamp::new(commit, 0));
        }
        if self.workload.intervals {
            self.builder.interval(transaction, Interval::new(Some(invoked), Some(commit)));
        }
    }

    fn commit(&mut self) {
        let clock = self.view.commit();
        for key in self.touched.drain(..) {
            let Key { versions, elements, own, .. } = &mut self.keys[key as usize];
            let shown = match self.workload.model {
                Model::Register => own[own.len() - 1].as_small().expect("a counter") as u32,
                Model::List => {
                    elements.append(own);
                    elements.len() as u32
                }
            };
            own.clear();
            self.view.install(versions, shown, clock.as_ref());
        }
    }

    fn step(&mut self, transaction: u32, step: &Step) {
        let Some(row) = self.pick(step) else { return };
        let action = match step.action {
            Action::Either(reads) if self.random.below(1000) < reads => Action::Read,
            Action::Either(_) => Action::Write,
            other => other,
        };
        let may_write = self.view.may_write(&self.keys[row.key as usize].versions);
        // Whoever must not write reads instead, and a list that must not be read is appended to, so that
        // the transaction keeps its length.
        let has_read = (action != Action::Write || !may_write) && self.read(transaction, row.key);
        if (action != Action::Read && may_write) || !has_read {
            self.write(transaction, row.key);
            self.retire(step.table, row);
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

    fn retire(&mut self, table: u32, row: Row) {
        let Some(place) = row.place else { return };
        if self.keys[row.key as usize].written == self.workload.most_writes_per_key {
            self.keys[row.key as usize].versions.retire();
            let key = self.new_key();
            self.tables[table as usize].replace(place, key);
        }
    }

    /// Reads a version that the level allows; false if there is none.
    fn read(&mut self, transaction: u32, key: u32) -> bool {
        let state = &self.keys[key as usize];
        let is_own = self.workload.model == Model::Register && !state.own.is_empty();
        if !is_own {
            let Some(version) = self.version(transaction, key) else { return false };
            self.observe(transaction, key, version);
        }
        let value = self.value(key, is_own);
        self.record(transaction, Kind::Read, key, value);
        true
    }

    fn version(&mut self, transaction: u32, key: u32) -> Option<usize> {
        let state = &self.keys[key as usize];
        let is_repeatable = self.workload.isolation != Isolation::ReadCommitted;
        match state.read {
            Some((reader, version)) if reader == transaction && is_repeatable => Some(version as usize),
            _ => self.view.choose(&state.versions, &mut self.random),
        }
    }

    fn observe(&mut self, transaction: u32, key: u32, version: usize) {
        let state = &mut self.keys[key as usize];
        self.view.observe(&state.versions, version);
        state.read = Some((transaction, version as u32));
    }

    /// What a read shows after the running transaction has observed a version or, if `is_own`, itself.
    fn value(&mut self, key: u32, is_own: bool) -> Value {
        let state = &self.keys[key as usize];
        if is_own {
            return state.own[state.own.len() - 1];
        }
        let shown = state.read.map_or(0, |(_, version)| state.versions.shown(version as usize));
        match self.workload.model {
            Model::Register => self.initial_or(shown),
            Model::List => {
                let elements = state.elements[..shown as usize].iter().chain(&state.own);
                self.builder.values.push_list(elements.copied())
            }
        }
    }

    fn initial_or(&self, written: u32) -> Value {
        if written > 0 {
            return small(i64::from(written));
        }
        if self.workload.initial == Value::UNKNOWN { small(0) } else { self.workload.initial }
    }

    fn write(&mut self, transaction: u32, key: u32) {
        let state = &mut self.keys[key as usize];
        state.written += 1;
        let value = small(i64::from(state.written));
        if state.own.is_empty() {
            self.touched.push(key);
        }
        state.own.push(value);
        let kind = match self.workload.model {
            Model::Register => Kind::Write,
            Model::List => Kind::Append,
        };
        self.record(transaction, kind, key, value);
    }

    fn scripted(&mut self, transaction: u32, operation: Scripted, first: u32) {
        let (Scripted::Read(key, _) | Scripted::Write(key)) = operation;
        while self.keys.len() as u32 <= first + key {
            self.new_key();
        }
        let key = first + key;
        let Scripted::Read(_, writes) = operation else { return self.write(transaction, key) };
        if writes as usize <= self.keys[key as usize].versions.newest() {
            self.observe(transaction, key, writes as usize);
        }
        let value = match self.workload.model {
            Model::Register => self.initial_or(writes),
            Model::List => self.builder.values.push_list((1..=i64::from(writes)).map(small)),
        };
        self.record(transaction, Kind::Read, key, value);
    }

    fn record(&mut self, transaction: u32, kind: Kind, key: u32, value: Value) {
        let number =
            *self.keys[key as usize].number.get_or_insert_with(|| self.builder.key(small(i64::from(key))));
        let line = self.builder.operation_count() as u32 + 1;
        self.builder.operation(transaction, kind, number, value, line);
    }

    fn new_key(&mut self) -> u32 {
        self.keys.push(Key {
            number: None,
            versions: Versions::new(),
            written: 0,
            elements: Vec::new(),
            own: Vec::new(),
            read: None,
        });
        self.keys.len() as u32 - 1
    }
}

fn small(number: i64) -> Value {
    Value::small(number).expect("counters are far below 62 bits")
}
