//! The store for clients that decide themselves what to do next, with integer keys of their choice.

use super::store::{ABSENT, Change, Clocks, Fault, Found, Isolation, Model, Refusal, Settings, Store, TICK};
use std::collections::BTreeMap;

/// For so many begins and commits, the second half of a fractured commit stays hidden.
const HIDDEN_FOR: u64 = 16;

/// What a read returns to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Read {
    Absent,
    Integer(i64),
    List(Vec<i64>),
}

/// The simulated database, used step by step; sessions are numbered from 0.
#[derive(Debug)]
pub struct Interactive {
    store: Store,
    model: Model,
    rows: BTreeMap<i64, u32>,
    /// By session: the ranges that its open transaction has read.
    ranges: Vec<Vec<(i64, i64)>>,
    /// By row.
    keys: Vec<i64>,
    /// Committed writes of registers, in the order of commits.
    log: Vec<(i64, i64)>,
}

impl Interactive {
    /// An empty database with one clock; `bug_rate` is in millionths of transactions.
    #[must_use]
    pub fn new(isolation: Isolation, model: Model, bug: Option<Fault>, bug_rate: u32, seed: u64) -> Self {
        let correct = Settings::new(isolation, model, Clocks::Central, seed);
        let settings = Settings { bug, bug_rate, hidden_for: HIDDEN_FOR * TICK, ..correct };
        Self {
            store: Store::new(settings, 0),
            model,
            rows: BTreeMap::new(),
            ranges: Vec::new(),
            keys: Vec::new(),
            log: Vec::new(),
        }
    }

    /// Adds a row that every snapshot shows; a list starts empty.
    pub fn add_row(&mut self, key: i64, value: i64) {
        let initial = if self.model == Model::List { 0 } else { value };
        let row = self.row(key);
        self.store.rows[row as usize].initial = initial;
    }

    /// Adds a session.
    pub fn add_session(&mut self) -> u32 {
        self.ranges.push(Vec::new());
        self.store.add_session()
    }

    /// Begins a transaction.
    pub fn begin(&mut self, session: u32) {
        self.store.now += TICK;
        self.ranges[session as usize].clear();
        self.store.begin(session);
    }

    /// Reads a row.
    pub fn read(&mut self, session: u32, key: i64) -> Read {
        let row = self.row(key);
        match self.store.read(session, row) {
            None | Some(Found::Absent) => Read::Absent,
            Some(Found::Integer(value)) => Read::Integer(value),
            Some(Found::List(shown, own)) => Read::List([shown, own].concat()),
        }
    }

    /// Reads the registers from `low` to `high`, both included.
    pub fn range_read(&mut self, session: u32, low: i64, high: i64) -> Vec<(i64, i64)> {
        self.ranges[session as usize].push((low, high));
        let rows: Vec<u32> = self.rows(low, high).collect();
        let registers = rows.into_iter().filter_map(|row| match self.store.read(session, row) {
            Some(Found::Integer(value)) => Some((self.keys[row as usize], value)),
            _ => None,
        });
        registers.collect()
    }

    /// Writes, appends, inserts or deletes.
    ///
    /// # Errors
    /// If the row to insert is there, if another row is not there, or if an open transaction holds it where
    /// uncommitted writes are read.
    pub fn change(&mut self, session: u32, key: i64, change: Change) -> Result<(), Refusal> {
        let row = self.row(key);
        if !self.store.may_write(session, row) {
            return Err(Refusal::HeldByAnother);
        }
        match (change, self.store.is_there(session, row)) {
            (Change::Insert(_), true) => return Err(Refusal::AlreadyThere),
            (Change::Write(_) | Change::Append(_) | Change::Delete, false) => return Err(Refusal::NotThere),
            _ => self.store.change(session, row, change),
        }
        Ok(())
    }

    /// Commits; the start and commit timestamps.
    ///
    /// # Errors
    /// If the transaction must not commit; it stays open.
    pub fn commit(&mut self, session: u32) -> Result<(u64, u64), Refusal> {
        let has_old_row =
            |&(low, high): &(i64, i64)| self.rows(low, high).any(|row| self.store.is_old(session, row));
        if self.ranges[session as usize].iter().any(has_old_row) {
            return Err(Refusal::ReadIsOld);
        }
        self.store.now += TICK;
        let timestamps = self.store.commit(session)?;
        let written = self.store.written(session).filter(|&(_, value)| value != ABSENT);
        self.log.extend(written.map(|(row, value)| (self.keys[row as usize], value)));
        Ok(timestamps)
    }

    /// Rolls back, if a transaction is open.
    pub fn abort(&mut self, session: u32) {
        if self.is_open(session) {
            self.store.abort(session);
        }
    }

    /// Whether the session has an open transaction.
    #[must_use]
    pub fn is_open(&self, session: u32) -> bool {
        self.store.is_open(session)
    }

    /// Committed writes of registers, in the order of commits.
    #[must_use]
    pub fn log(&self) -> &[(i64, i64)] {
        &self.log
    }

    /// How many versions of a row are kept.
    #[must_use]
    pub fn version_count(&self, key: i64) -> usize {
        self.rows.get(&key).map_or(0, |&row| self.store.rows[row as usize].versions.len())
    }

    fn rows(&self, low: i64, high: i64) -> impl Iterator<Item = u32> {
        (low <= high).then(|| self.rows.range(low..=high)).into_iter().flatten().map(|(_, &row)| row)
    }

    fn row(&mut self, key: i64) -> u32 {
        let (store, keys) = (&mut self.store, &mut self.keys);
        *self.rows.entry(key).or_insert_with(|| {
            keys.push(key);
            store.add_row(ABSENT)
        })
    }
}
