//! The same judgement for a history that does not fit into memory: slices in, sorted runs of events out, and
//! once all are there, the replay and what it asks afterwards, run by run and block by block.
//!
//! What is kept are the keys, the sessions and the texts among keys and values, each once; the rest lies
//! with whoever keeps the runs.

mod record;
mod sessions;
mod sort;
mod spilled;
mod trial;

pub use sort::Merge;
pub use spilled::SIZE as SPILLED;
pub use trial::Trial;

use super::aside::Shapes;
use super::classes::sees;
use super::replay::is_instant;
use super::{Isolation, Name};
use crate::evidence;
use crate::history::{History, Initial, Status, Timestamp};
use crate::index::DenseIndex;
use crate::value::{Value, Values};
use record::{Encoder, Extent, aborted_key, event_key, id_key, push, session_key};
use sessions::Sessions;
use sort::Run;
use std::sync::Arc;

/// The most transactions: an event has one bit more than the number of its transaction.
const MOST: usize = (1 << 31) - 1;

/// Something of a history that cannot be judged slice by slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Where, or 0.
    pub line: u32,
    /// What.
    pub found: &'static str,
}

/// What is known of a history when all of it was seen.
#[derive(Debug, Default)]
pub struct Facts {
    pub(super) values: Values,
    pub(super) keys: DenseIndex,
    pub(super) shapes: Shapes,
    /// The initial value of all keys.
    pub(super) initial: Initial,
    /// How many sessions, transactions, operations, keys, and transactions of each status.
    pub sizes: [u64; 7],
    /// Kinds of evidence, as [`evidence::present`] has them.
    pub present: [bool; 4],
    /// Transactions that start after they committed, and out of order (session, transaction, the one before);
    /// all are counted, the first kept.
    inverted: (u64, Vec<u32>),
    disordered: (u64, Vec<(u32, u32, u32)>),
}

impl Facts {
    /// The scalars.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The value that a key is called by.
    #[must_use]
    pub fn key(&self, key: u32) -> Value {
        self.keys.ids()[key as usize]
    }

    /// The initial value of a key, if no transaction wrote it explicitly.
    fn initial(&self, key: u32) -> Value {
        if self.shapes.is_replaced(key) { Value::NOTHING } else { self.initial.default }
    }

    /// Whether a nil read of a key is one of the empty list.
    #[must_use]
    pub fn holds_list(&self, key: Value) -> bool {
        self.keys.get(key).is_some_and(|key| self.shapes.is_listed(key))
    }
}

/// Takes a history slice by slice.
pub struct Intake {
    snapshot: bool,
    serializable: bool,
    most: usize,
    facts: Facts,
    sessions: Sessions,
    run: Run,
    scratch: Scratch,
}

/// Memory that is used again.
#[derive(Default)]
struct Scratch {
    key: Vec<u8>,
    session: Vec<u8>,
    payload: Vec<u8>,
}

impl Intake {
    /// For these levels; of each name the first `most` are kept.
    #[must_use]
    pub fn new(snapshot: bool, serializable: bool, most: usize) -> Self {
        let (facts, sessions, run) = (Facts::default(), Sessions::default(), Run::default());
        Self { snapshot, serializable, most, facts, sessions, run, scratch: Scratch::default() }
    }

    /// Takes the next transactions.
    ///
    /// # Errors
    /// If there is something that only the whole history could tell.
    pub fn take(&mut self, history: &History) -> Result<(), Refusal> {
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
        Ok(())
    }

    /// The run in order, if it has at least so many bytes and is not empty.
    pub fn run(&mut self, least: usize) -> Option<Vec<u8>> {
        (self.run.len() >= least && !self.run.is_empty()).then(|| self.run.take())
    }

    /// Everything was taken.
    #[must_use]
    pub fn finish(mut self) -> Arc<Facts> {
        let keys = self.facts.keys.ids().len();
        self.facts.present[1] |= self.facts.shapes.settle(keys);
        self.facts.sizes[0] = u64::from(self.sessions.count());
        self.facts.sizes[3] = keys as u64;
        Arc::new(self.facts)
    }

    fn refuse(&self, history: &History) -> Result<(), Refusal> {
        let sizes = &self.facts.sizes;
        let transactions = sizes[1] as usize + history.transaction_count();
        let operations = sizes[2] as usize + history.operation_count();
        if transactions > MOST || operations > crate::builder::MOST_OPERATIONS {
            return Err(Refusal { line: 0, found: "more transactions or operations than can be numbered" });
        }
        if !history.initial.of_key.is_empty() {
            return Err(Refusal { line: 0, found: "initial values of single keys" });
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
            if kind == crate::history::Kind::RangeRead {
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
    ) -> Result<(), Refusal> {
        let Encoder { history, .. } = *encoder;
        let columns = &history.transactions;
        let (id, line, status) =
            (columns.ids[transaction], columns.lines[transaction], columns.statuses[transaction]);
        let times = (columns.starts.get(transaction), columns.commits.get(transaction));
        let is_timed = times.1.parts().is_some() && (!self.snapshot || times.0.parts().is_some());
        match status {
            Status::Indeterminate => return Err(Refusal { line, found: "an indeterminate transaction" }),
            Status::Committed if !is_timed => {
                return Err(Refusal { line, found: "a transaction without its timestamps" });
            }
            _ => {}
        }
        let sequence = columns.sequences.get(transaction).number();
        if !self.sessions.follow(session, sequence) {
            return Err(Refusal { line, found: "sequence numbers that are not in order" });
        }
        let is_counted = status == Status::Committed;
        self.hear(encoder, transaction, is_counted);
        let numbers = (self.facts.sizes[1] as u32, self.facts.sizes[2] as u32);
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
        self.facts.sizes[1] += 1;
        self.facts.sizes[2] += history.operations_of(transaction).len() as u64;
        self.facts.sizes[4 + status as usize] += 1;
        Ok(())
    }

    fn id(&mut self, history: &History, id: Value, number: u32, line: u32) {
        let Scratch { key, payload, .. } = &mut self.scratch;
        id_key(key, &history.values, id, number);
        payload.clear();
        push(payload, u64::from(line));
        self.run.push(key, payload);
    }

    fn hear(&mut self, encoder: &Encoder<'_>, transaction: usize, is_counted: bool) {
        let columns = &encoder.history.operations;
        for operation in encoder.history.operations_of(transaction) {
            let (kind, key) = (columns.kinds[operation], columns.keys[operation]);
            let key = encoder.keys.get(key as usize).copied().unwrap_or(crate::history::NO_KEY);
            let value = columns.values[operation];
            let value = value.atom_index().map_or(value, |index| encoder.atoms[index]);
            self.facts.shapes.hear(kind, key, value, is_counted, &self.facts.initial);
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
        // Who starts and commits at one instant reads at its commit.
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

    /// What timestamps show by themselves.
    fn judge_times(&mut self, session: Value, number: u32, times: (Timestamp, Timestamp)) {
        if !self.snapshot {
            return;
        }
        if times.0 > times.1 {
            self.facts.inverted.0 += 1;
            if self.facts.inverted.1.len() < self.most {
                self.facts.inverted.1.push(number);
            }
        }
        let Some((lane, (before, (start, commit)))) = self.sessions.judged(session, number, times) else {
            return;
        };
        // Of one session, the order of commits is that of (commit, start), and then of the session.
        let is_earlier = (commit, start) <= (times.1, times.0);
        if sees(Isolation::Snapshot, times, commit, is_earlier) {
            return;
        }
        let (count, kept) = &mut self.facts.disordered;
        *count += 1;
        let found = (lane, number, before);
        kept.insert(kept.partition_point(|&other| other < found), found);
        kept.truncate(self.most);
    }
}

/// The names of what timestamps show by themselves.
const OF_TIMES: [Name; 2] = [Name::TimestampInversion, Name::SessionOrder];

#[cfg(test)]
mod tests;
