//! Batches as they arrive: each is refused as a whole, or translated into the numbers of the engine.

use super::Engine;
use super::key::{Key, Shape};
use super::sequences::BatchPlaces;
use super::transactions::{NAMELESS, Operation, Transaction};
use crate::clock::ClockLevel;
use crate::history::{History, Kind, NO_KEY, Status, Timestamp};
use crate::value::Value;

/// Why a batch was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRefusal {
    /// The transaction, by its place in the batch.
    pub transaction: u32,
    /// The problem in words.
    pub problem: String,
}

/// The atoms and keys of a batch in the engine.
pub(super) struct Translation {
    atoms: Vec<Value>,
    keys: Vec<u32>,
}

impl Translation {
    pub(super) fn of(&self, value: Value) -> Value {
        value.atom_index().map_or(value, |index| self.atoms[index])
    }

    fn key(&self, key: u32) -> u32 {
        self.keys.get(key as usize).copied().unwrap_or(NO_KEY)
    }
}

impl Engine {
    /// Checks a batch and keeps nothing of it; which of its transactions the engine has already.
    ///
    /// # Errors
    /// If one of them cannot be judged.
    pub fn admit(&mut self, history: &History) -> Result<Vec<bool>, BatchRefusal> {
        let known = self.known(history);
        let shape = |&key: &u32| if key == NO_KEY { Shape::Open } else { self.keys[key as usize].shape };
        let mut shapes: Vec<Shape> = known.keys.iter().map(shape).collect();
        let mut repeated = Vec::with_capacity(history.transaction_count());
        let mut places = BatchPlaces::default();
        for transaction in 0..history.transaction_count() {
            let admitted = self
                .admit_times(history, transaction)
                .and_then(|()| note_shapes(history, transaction, &mut shapes))
                .and_then(|()| {
                    self.recall_for(history, transaction, &known);
                    self.is_repeated(history, transaction, &known)
                });
            let admitted = admitted.and_then(|is_repeated| {
                let follows = is_repeated.then_some(Ok(()));
                follows
                    .unwrap_or_else(|| places.follow(self, history, transaction, &known))
                    .map(|()| is_repeated)
            });
            let refused = |problem| BatchRefusal { transaction: transaction as u32, problem };
            repeated.push(admitted.map_err(refused)?);
        }
        Ok(repeated)
    }

    /// The translation of a batch that is not taken yet; new atoms are [`Value::NOTHING`], new keys [`NO_KEY`].
    fn known(&self, history: &History) -> Translation {
        let atom = |index: usize| {
            let (kind, text) = history.values.atom(index);
            self.values.find(kind, text).unwrap_or(Value::NOTHING)
        };
        let mut known = Translation { atoms: vec![Value::NIL], keys: Vec::new() };
        known.atoms.extend((1..history.values.atom_count()).map(atom));
        let number = |&key: &Value| self.index.get(known.of(key)).unwrap_or(NO_KEY);
        known.keys = history.keys.iter().map(number).collect();
        known
    }

    /// The translation of a batch that is taken: new atoms and keys get numbers.
    pub(super) fn translate(&mut self, history: &History) -> Translation {
        let mut atoms = vec![Value::NIL; history.values.atom_count()];
        for (index, atom) in atoms.iter_mut().enumerate().skip(1) {
            let (kind, text) = history.values.atom(index);
            *atom = self.values.intern(kind, text);
        }
        let mut translation = Translation { atoms, keys: Vec::new() };
        for &key in &history.keys {
            let number = self.index.number(translation.of(key));
            if number as usize == self.keys.len() {
                self.keys.push(Key::new(self.initial));
            }
            translation.keys.push(number);
        }
        let mut shapes: Vec<Shape> =
            translation.keys.iter().map(|&key| self.keys[key as usize].shape).collect();
        for transaction in 0..history.transaction_count() {
            // They were admitted.
            let _ = note_shapes(history, transaction, &mut shapes);
        }
        for (&key, shape) in translation.keys.iter().zip(shapes) {
            self.keys[key as usize].shape = shape;
        }
        translation
    }

    fn admit_times(&self, history: &History, transaction: usize) -> Result<(), String> {
        let columns = &history.transactions;
        match columns.statuses[transaction] {
            Status::Committed if history.touches_data(transaction) => {}
            Status::Committed | Status::Aborted => return Ok(()),
            Status::Indeterminate => return Err("it is not known whether it committed".to_owned()),
        }
        let is_timed = |time: Timestamp| time.parts().is_some();
        let starts =
            self.terms.level == ClockLevel::Serializable || is_timed(columns.starts.get(transaction));
        if !starts || !is_timed(columns.commits.get(transaction)) {
            return Err("a transaction without its timestamps".to_owned());
        }
        Ok(())
    }

    /// Reads back the keys of a late transaction; also the transaction itself, if it came before.
    fn recall_for(&mut self, history: &History, transaction: usize, translation: &Translation) {
        let columns = &history.transactions;
        let (start, commit) = (columns.starts.get(transaction), columns.commits.get(transaction));
        let moment = self.moment((start, commit));
        if !self.segments.are_kept() || moment >= self.watermark || commit.parts().is_none() {
            return;
        }
        for number in history.operations_of(transaction) {
            let key = translation.key(history.operations.keys[number]);
            if key != NO_KEY {
                self.recall(key, moment);
            }
        }
    }

    /// Whether the engine has the same transaction already; an error if another one has its id.
    fn is_repeated(
        &self,
        history: &History,
        transaction: usize,
        translation: &Translation,
    ) -> Result<bool, String> {
        let columns = &history.transactions;
        let id = translation.of(columns.ids[transaction]);
        let Some(&slot) = self.ids.get(&id) else { return Ok(false) };
        let other = self.transactions.get(slot);
        let operations: Vec<_> = Self::operations(history, transaction, translation).collect();
        let session = translation.of(history.session_ids[columns.sessions[transaction] as usize]);
        let named = self.sessions.ids().get(other.session as usize).copied().unwrap_or(Value::NIL);
        let is_same = session == named
            && other.is_committed == commits_data(history, transaction)
            && other.commit == columns.commits.get(transaction)
            && other.start == columns.starts.get(transaction)
            && operations.len() == other.operations.len()
            && operations.iter().zip(&other.operations).all(|((one, list), other)| {
                let same = one.kind == other.kind && one.key == other.key;
                same && list.as_ref().map_or(one.value == other.value, |list| {
                    self.lists.get(other.value).is_some_and(|other| other == &**list)
                })
            });
        if is_same {
            Ok(true)
        } else {
            Err("a transaction whose id was there, with other content".to_owned())
        }
    }

    /// The operations of a transaction in the numbers of the engine; lists apart.
    pub(super) fn operations<'h>(
        history: &'h History,
        transaction: usize,
        translation: &'h Translation,
    ) -> impl Iterator<Item = (Operation, Option<Box<[Value]>>)> + use<'h> {
        let columns = &history.operations;
        let kept =
            move |&number: &usize| columns.kinds[number] == Kind::Read || columns.kinds[number].installs();
        let operation = move |number: usize| {
            let value = columns.values[number];
            let list = history.values.as_list(value);
            let list = list.map(|list| list.iter().map(|&element| translation.of(element)).collect());
            let value = if list.is_some() { Value::NIL } else { translation.of(value) };
            let key = translation.key(columns.keys[number]);
            (Operation { kind: columns.kinds[number], key, value }, list)
        };
        history.operations_of(transaction).filter(kept).map(operation)
    }

    /// A transaction in the numbers of the engine.
    pub(super) fn translated(
        &mut self,
        history: &History,
        transaction: usize,
        translation: &Translation,
        now: u64,
    ) -> Transaction {
        let columns = &history.transactions;
        let session = translation.of(history.session_ids[columns.sessions[transaction] as usize]);
        let (session, lane) = self.session(session);
        let place = self.places.get(session as usize).copied().unwrap_or(0);
        if let Some(last) = self.sequences.get_mut(session as usize) {
            *last = Some(columns.sequences.get(transaction).number());
        }
        let mut operations = Vec::with_capacity(history.operations_of(transaction).len());
        for (mut operation, list) in Self::operations(history, transaction, translation) {
            if let Some(list) = list {
                operation.value = self.lists.add(list);
            }
            operations.push(operation);
        }
        self.sizes.aborted += u64::from(columns.statuses[transaction] == Status::Aborted);
        Transaction {
            number: self.sizes.transactions,
            id: translation.of(columns.ids[transaction]),
            session,
            place,
            lane,
            start: columns.starts.get(transaction),
            commit: columns.commits.get(transaction),
            arrival: now,
            operations: operations.into(),
            references: 1,
            wrong: 0,
            flips: 0,
            is_final: false,
            is_committed: commits_data(history, transaction),
            is_late: false,
        }
    }

    /// The number of a session, and its place among all; each session without a name is a new one.
    fn session(&mut self, id: Value) -> (u32, u32) {
        if id == Value::NIL {
            self.lanes += 1;
            return (NAMELESS, self.lanes - 1);
        }
        let number = self.sessions.number(id);
        if number as usize == self.latest.len() {
            self.latest.push(None);
            self.places.push(0);
            self.sequences.push(None);
            self.lane_of.push(self.lanes);
            self.lanes += 1;
        }
        (number, self.lane_of[number as usize])
    }
}

/// Whether a transaction has a place in the order: one that touched no data takes part in nothing.
fn commits_data(history: &History, transaction: usize) -> bool {
    history.transactions.statuses[transaction] == Status::Committed && history.touches_data(transaction)
}

/// Notes how a transaction uses the keys of its batch; an error if a key is used in two ways.
fn note_shapes(history: &History, transaction: usize, shapes: &mut [Shape]) -> Result<(), String> {
    let columns = &history.operations;
    for number in history.operations_of(transaction) {
        let (kind, value) = (columns.kinds[number], columns.values[number]);
        let shape = match kind {
            Kind::Delete => return Err("a delete, which cannot be judged online".to_owned()),
            Kind::Append => Shape::List,
            Kind::Read if value.list_index().is_some() => Shape::List,
            Kind::Write | Kind::Insert => Shape::Register,
            Kind::Read if value != Value::NIL && value != Value::UNKNOWN => Shape::Register,
            _ => continue,
        };
        let known = &mut shapes[columns.keys[number] as usize];
        if *known == Shape::Open {
            *known = shape;
        } else if *known != shape {
            return Err("a key that is used as a register and as a list".to_owned());
        }
    }
    Ok(())
}
