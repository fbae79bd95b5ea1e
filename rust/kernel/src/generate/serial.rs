//! The serial scheduler: transactions run one after the other, and reads lag behind as the isolation allows.

use super::mix::{Action, Drawn, Step, Tables};
use super::random::Random;
use super::{Scene, Scripted, Serial, Workload};
use crate::error::ParseError;
use crate::history::{History, Interval, Kind, Status, Timestamp};
use crate::simulate::output::{Output, small};
use crate::simulate::store::{Clocks, Found, Isolation, Model, Settings, Store};

pub(super) struct Scheduler<'w> {
    workload: &'w Workload,
    serial: &'w Serial,
    store: Store,
    output: Output,
    tables: Tables,
    /// By session: the number of the first transaction after its last one.
    free: Vec<u32>,
}

impl<'w> Scheduler<'w> {
    pub(super) fn new(workload: &'w Workload, serial: &'w Serial) -> Self {
        let clocks = Clocks::Serial { reach: serial.lag - 1 };
        let settings = Settings {
            refuses_early: serial.isolation == Isolation::Snapshot,
            lag: serial.lag,
            ..Settings::new(serial.isolation, workload.model, clocks, workload.seed)
        };
        let mut store = Store::new(settings, workload.sessions);
        Self {
            workload,
            serial,
            output: Output::new(workload.initial, workload.initial_replaceable),
            tables: Tables::new(&workload.mix, &mut store),
            store,
            free: vec![0; workload.sessions as usize],
        }
    }

    pub(super) fn finish(self) -> Result<History, ParseError> {
        self.output.builder.finish()
    }

    /// The next transaction of the mix.
    pub(super) fn transaction(&mut self) {
        let session = self.store.random.below(self.workload.sessions);
        let is_aborted = self.store.random.below(1000) < self.workload.aborted;
        let transaction = self.record_transaction(session, is_aborted);
        let begin = self.draw_begin(session, transaction);
        if self.serial.isolation == Isolation::Snapshot {
            self.store.begin_at(session, start(begin));
        } else {
            self.store.begin(session);
        }
        let workload = self.workload;
        for step in &workload.mix.draw(&mut self.store.random).steps {
            for _ in 0..self.store.random.between(step.times) {
                self.step(session, transaction, step);
            }
        }
        self.end(session, transaction, begin, is_aborted);
    }

    /// As if before how many transactions this one began: at most `lag` - 1, and after the last of its session.
    fn draw_begin(&mut self, session: u32, transaction: u32) -> u32 {
        if !self.workload.intervals && self.serial.isolation != Isolation::Snapshot {
            return transaction;
        }
        let most = (transaction - self.free[session as usize]).min(self.serial.lag - 1);
        if most > 0 { transaction - self.store.random.between((0, most)) } else { transaction }
    }

    fn record_transaction(&mut self, session: u32, is_aborted: bool) -> u32 {
        let id = small(self.output.builder.transaction_count() as u32 + 1);
        let session = self.output.builder.session(small(session));
        let status = if is_aborted { Status::Aborted } else { Status::Committed };
        self.output.builder.transaction(id, session, status, 0).expect("ids are counted")
    }

    fn end(&mut self, session: u32, transaction: u32, begin: u32, is_aborted: bool) {
        if is_aborted {
            self.store.abort(session);
        } else {
            self.store.commit(session).expect("a serial transaction meets no conflict");
        }
        self.free[session as usize] = transaction + 1;
        self.record_times(transaction, begin);
    }

    fn record_times(&mut self, transaction: u32, begin: u32) {
        let commit = start(transaction) + 1;
        if self.workload.timestamps {
            let is_snapshot = self.serial.isolation == Isolation::Snapshot;
            // Without a snapshot, the database reads when it commits.
            let start = if is_snapshot { start(begin) } else { commit - 1 };
            let times = [start, commit].map(|time| Timestamp::new(time as i64, 0));
            self.output.builder.timestamps(transaction, times[0], times[1]);
        }
        if self.workload.intervals {
            let interval = Interval::new(Some(start(begin) as i64), Some(commit as i64));
            self.output.builder.interval(transaction, interval);
        }
    }

    fn step(&mut self, session: u32, transaction: u32, step: &Step) {
        let Some(drawn) = self.tables.pick(step, &mut self.store) else { return };
        let action = match step.action {
            Action::Either(reads) if self.store.random.below(1000) < reads => Action::Read,
            Action::Either(_) => Action::Write,
            other => other,
        };
        let may_write = self.store.may_write(session, drawn.row);
        // A refused write becomes a read, and a list that must not be read is appended to: the transaction
        // keeps its length.
        let has_read = (action != Action::Write || !may_write) && self.read(session, transaction, drawn.row);
        if (action != Action::Read && may_write) || !has_read {
            self.write(session, transaction, drawn.row);
            self.retire(step, drawn);
        }
    }

    fn retire(&mut self, step: &Step, drawn: Drawn) {
        self.tables.retire(step.table, drawn, self.workload.max_writes_per_key, &mut self.store);
    }

    /// Reads a version that the isolation allows; false if there is none.
    fn read(&mut self, session: u32, transaction: u32, row: u32) -> bool {
        let key = self.output.key(&mut self.store.rows, row);
        let Some(found) = self.store.read(session, row) else { return false };
        let value = self.output.value(key, found);
        self.record(transaction, Kind::Read, key, value);
        true
    }

    fn write(&mut self, session: u32, transaction: u32, row: u32) {
        let key = self.output.key(&mut self.store.rows, row);
        let value = self.store.new_value(row, 0);
        let (kind, change) = self.workload.model.change(value);
        self.store.change(session, row, change);
        self.record(transaction, kind, key, small(value));
    }

    fn record(&mut self, transaction: u32, kind: Kind, key: u32, value: crate::value::Value) {
        let line = self.output.builder.operation_count() as u32 + 1;
        self.output.builder.operation(transaction, kind, key, value, line);
    }

    /// Runs the transactions of a script, in sessions that are drawn.
    pub(super) fn play(&mut self, random: &mut Random) {
        let serial = self.serial;
        let sessions = self.draw_sessions(random);
        let first = self.store.rows.len() as u32;
        for scene in &serial.script {
            let session = sessions[scene.session as usize % sessions.len()];
            let transaction = self.record_transaction(session, scene.aborted);
            self.store.begin(session);
            for &operation in &scene.operations {
                self.scripted(session, transaction, operation, first);
            }
            self.end(session, transaction, transaction, scene.aborted);
        }
    }

    /// Different sessions for those of a script, as far as there are enough.
    fn draw_sessions(&self, random: &mut Random) -> Vec<u32> {
        let all = self.workload.sessions;
        let needed = self.serial.script.iter().map(|scene: &Scene| scene.session + 1).max().unwrap_or(1);
        let mut sessions = Vec::new();
        while sessions.len() < needed.min(all) as usize {
            let session = random.below(all);
            if !sessions.contains(&session) {
                sessions.push(session);
            }
        }
        sessions
    }

    fn scripted(&mut self, session: u32, transaction: u32, operation: Scripted, first: u32) {
        let (Scripted::Read(row, _) | Scripted::Write(row)) = operation;
        let row = first + row;
        while self.store.rows.len() as u32 <= row {
            self.store.add_row(0);
        }
        let Scripted::Read(_, writes) = operation else { return self.write(session, transaction, row) };
        if writes as usize <= self.store.rows[row as usize].versions.len() {
            self.store.note_read(row, writes as usize);
        }
        let key = self.output.key(&mut self.store.rows, row);
        let elements: Vec<i64> = (1..=i64::from(writes)).collect();
        let value = match self.workload.model {
            Model::Register => self.output.register(i64::from(writes)),
            Model::List => self.output.value(key, Found::List(&elements, &[])),
        };
        self.record(transaction, Kind::Read, key, value);
    }
}

/// The start timestamp of the transaction with this number; its commit timestamp is the next one.
fn start(transaction: u32) -> u64 {
    u64::from(transaction) * 2 + 1
}
