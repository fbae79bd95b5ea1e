//! Takes a history slice by slice, and writes sorted runs of its events.

use super::record::{Encoder, Extent, aborted_key, event_key, id_key, push, session_key};
use super::runs::Runs;
use super::sessions::Sessions;
use super::sort::Run;
use super::{RunStore, SortedStream, StreamError, StreamFacts, StreamLimits, StreamRefusal};
use crate::builder::MOST_OPERATIONS;
use crate::cancel::Cancel;
use crate::clock::ClockLevel;
use crate::clock::origins::sees;
use crate::clock::replay::is_instant;
use crate::evidence::{self, EvidenceKind};
use crate::history::{History, Initial, Kind, NO_KEY, Status, Timestamp};
use crate::value::Value;

/// An event has one bit more than the number of its transaction.
const MAX_TRANSACTIONS: usize = (1 << 31) - 1;

/// Takes a history slice by slice.
pub struct StreamSorter<S> {
    snapshot: bool,
    serializable: bool,
    max_anomalies: usize,
    facts: StreamFacts,
    sessions: Sessions,
    run: Run,
    runs: Runs<S>,
    scratch: Scratch,
}

/// Memory that is used again.
#[derive(Default)]
struct Scratch {
    key: Vec<u8>,
    session: Vec<u8>,
    payload: Vec<u8>,
}

impl<S: RunStore> StreamSorter<S> {
    /// For these levels; of each anomaly the first `max_anomalies` are kept.
    #[must_use]
    pub fn new(levels: &[ClockLevel], max_anomalies: usize, limits: StreamLimits, store: S) -> Self {
        Self {
            snapshot: levels.contains(&ClockLevel::Snapshot),
            serializable: levels.contains(&ClockLevel::Serializable),
            max_anomalies,
            facts: StreamFacts::default(),
            sessions: Sessions::default(),
            run: Run::default(),
            runs: Runs::new(store, limits),
            scratch: Scratch::default(),
        }
    }

    /// Takes the next transactions.
    ///
    /// # Errors
    /// If the store fails, or if the slice has something that only a history in memory may have.
    pub fn take(&mut self, history: &History) -> Result<(), StreamError<S::Error>> {
        self.refuse(history)?;
        let atoms = self.atoms(history);
        let whole = |value: Value| value.atom_index().map_or(value, |index| atoms[index]);
        self.facts.initial =
            Initial { default: whole(history.initial.default), of_key: Vec::new(), ..history.initial };
        let keys: Vec<u32> = history.keys.iter().map(|&key| self.facts.keys.number(whole(key))).collect();
        let encoder = Encoder { history, keys: &keys, atoms: &atoms };
        for transaction in 0..history.transaction_count() {
            let session = history.session_ids[history.transactions.sessions[transaction] as usize];
            self.transaction(&encoder, transaction, whole(session))?;
        }
        for (all, here) in self.facts.present.iter_mut().zip(evidence::present(history)) {
            *all |= here;
        }
        self.write_run(self.runs.limits().run_bytes)
    }

    /// Everything was taken.
    ///
    /// # Errors
    /// If the store fails.
    pub fn finish(mut self, cancel: &Cancel) -> Result<SortedStream<S>, StreamError<S::Error>> {
        self.write_run(1)?;
        self.runs.reduce(cancel).map_err(StreamError::Store)?;
        let keys = self.facts.keys.ids().len();
        self.facts.present[EvidenceKind::VersionOrder as usize] |= self.facts.uses.finish(keys);
        self.facts.sizes.sessions = u64::from(self.sessions.count());
        self.facts.sizes.keys = keys as u64;
        Ok(SortedStream::new(self.facts, self.runs, self.max_anomalies))
    }

    /// Writes the current run, if it has at least so many bytes.
    fn write_run(&mut self, min_bytes: usize) -> Result<(), StreamError<S::Error>> {
        if self.run.is_empty() || self.run.len() < min_bytes {
            return Ok(());
        }
        self.runs.add(&self.run.take()).map_err(StreamError::Store)
    }

    fn refuse(&self, history: &History) -> Result<(), StreamRefusal> {
        let sizes = &self.facts.sizes;
        let transactions = sizes.transactions as usize + history.transaction_count();
        let operations = sizes.operations as usize + history.operation_count();
        if transactions > MAX_TRANSACTIONS || operations > MOST_OPERATIONS {
            let problem = "more transactions or operations than can be numbered";
            return Err(StreamRefusal::only_in_memory(0, problem));
        }
        if !history.initial.of_key.is_empty() {
            return Err(StreamRefusal::only_in_memory(0, "initial values of single keys"));
        }
        Ok(())
    }

    /// The slice's atoms in the whole; only those of sessions, keys and values, because ids are many.
    fn atoms(&mut self, history: &History) -> Vec<Value> {
        let mut atoms = vec![Value::NIL; history.values.atom_count()];
        if atoms.len() == 1 {
            return atoms;
        }
        let mut keep = |value: Value| {
            let Some(index) = value.atom_index().filter(|&index| atoms[index] == Value::NIL) else { return };
            let (kind, text) = history.values.atom(index);
            atoms[index] = self.facts.values.intern(kind, text);
        };
        keep(history.initial.default);
        history.session_ids.iter().chain(&history.keys).copied().for_each(&mut keep);
        for (&kind, &value) in history.operations.kinds.iter().zip(&history.operations.values) {
            if kind == Kind::RangeRead {
                continue;
            }
            match history.values.as_list(value) {
                Some(list) => list.iter().copied().for_each(&mut keep),
                None => keep(value),
            }
        }
        atoms
    }

    fn transaction(
        &mut self,
        encoder: &Encoder<'_>,
        transaction: usize,
        session: Value,
    ) -> Result<(), StreamRefusal> {
        let Encoder { history, .. } = *encoder;
        let columns = &history.transactions;
        let (id, line, status) =
            (columns.ids[transaction], columns.lines[transaction], columns.statuses[transaction]);
        let times = (columns.starts.get(transaction), columns.commits.get(transaction));
        let sequence = columns.sequences.get(transaction).number();
        let touches_data = history.touches_data(transaction);
        let problem = self.problem(status, touches_data.then_some(times), session, sequence);
        if let Some(problem) = problem {
            return Err(StreamRefusal::only_in_memory(line, problem));
        }
        // One that touched no data takes part in nothing.
        let is_counted = status == Status::Committed && touches_data;
        self.add_uses(encoder, transaction, is_counted);
        let numbers = (self.facts.sizes.transactions as u32, self.facts.sizes.operations as u32);
        if is_counted {
            self.judge_times(session, numbers.0, times);
            let named = history.session_ids[columns.sessions[transaction] as usize];
            session_key(&mut self.scratch.session, &history.values, named, id);
            self.events(encoder, transaction, numbers, times);
        } else {
            encoder.payload(&mut self.scratch.payload, transaction, numbers, false, Extent::Writes);
            aborted_key(&mut self.scratch.key, numbers.0);
            self.run.push(&self.scratch.key, &self.scratch.payload);
        }
        self.id(history, id, numbers.0, line);
        self.facts.sizes.transactions += 1;
        self.facts.sizes.operations += history.operations_of(transaction).len() as u64;
        self.facts.sizes.statuses[status as usize] += 1;
        Ok(())
    }

    /// Why a transaction cannot be judged slice by slice; counts it in its session.
    fn problem(
        &mut self,
        status: Status,
        times: Option<(Timestamp, Timestamp)>,
        session: Value,
        sequence: Option<i64>,
    ) -> Option<&'static str> {
        let is_timed = times.is_none_or(|(start, commit)| {
            commit.parts().is_some() && (!self.snapshot || start.parts().is_some())
        });
        match status {
            Status::Indeterminate => Some("an indeterminate transaction"),
            Status::Committed if !is_timed => Some("a transaction without its timestamps"),
            _ if !self.sessions.follow(session, sequence) => Some("sequence numbers that are not in order"),
            _ => None,
        }
    }

    fn id(&mut self, history: &History, id: Value, number: u32, line: u32) {
        let Scratch { key, payload, .. } = &mut self.scratch;
        id_key(key, &history.values, id, number);
        payload.clear();
        push(payload, u64::from(line));
        self.run.push(key, payload);
    }

    fn add_uses(&mut self, encoder: &Encoder<'_>, transaction: usize, is_counted: bool) {
        let columns = &encoder.history.operations;
        for operation in encoder.history.operations_of(transaction) {
            let (kind, key) = (columns.kinds[operation], columns.keys[operation]);
            let key = encoder.keys.get(key as usize).copied().unwrap_or(NO_KEY);
            let value = columns.values[operation];
            let value = value.atom_index().map_or(value, |index| encoder.atoms[index]);
            self.facts.uses.add(kind, key, value, is_counted, &self.facts.initial);
        }
    }

    /// The start and the commit of a transaction.
    fn events(
        &mut self,
        encoder: &Encoder<'_>,
        transaction: usize,
        numbers: (u32, u32),
        times: (Timestamp, Timestamp),
    ) {
        let Scratch { key, session, payload } = &mut self.scratch;
        // A transaction that starts and commits at one instant reads at its commit.
        let reads_at_start = self.snapshot && !is_instant(times);
        if self.snapshot {
            event_key(key, times, true, session, numbers.0);
            let extent = if reads_at_start { Extent::All } else { Extent::Nothing };
            encoder.payload(payload, transaction, numbers, true, extent);
            self.run.push(key, payload);
        }
        event_key(key, times, false, session, numbers.0);
        let extent = if self.serializable || !reads_at_start { Extent::All } else { Extent::Writes };
        encoder.payload(payload, transaction, numbers, false, extent);
        self.run.push(key, payload);
    }

    /// Finds the anomalies that timestamps alone show.
    fn judge_times(&mut self, session: Value, number: u32, times: (Timestamp, Timestamp)) {
        if !self.snapshot {
            return;
        }
        if times.0 > times.1 {
            let inversions = &mut self.facts.inversions;
            inversions.count += 1;
            if inversions.first.len() < self.max_anomalies {
                inversions.first.push(number);
            }
        }
        let Some((lane, (before, (start, commit)))) = self.sessions.replace_latest(session, number, times)
        else {
            return;
        };
        // In one session, the order of commits is that of (commit, start), and then of the session.
        let is_earlier = (commit, start) <= (times.1, times.0);
        if sees(ClockLevel::Snapshot, times, commit, is_earlier) {
            return;
        }
        let disorder = &mut self.facts.session_disorder;
        disorder.count += 1;
        let found = (lane, number, before);
        disorder.first.insert(disorder.first.partition_point(|&other| other < found), found);
        disorder.first.truncate(self.max_anomalies);
    }
}
