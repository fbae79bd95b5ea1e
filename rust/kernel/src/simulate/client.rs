//! A session and its open transaction.

use super::key::{NOBODY, Shown};
use crate::history::Kind;
use crate::value::Value;

/// An operation that a transaction is going to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    pub(super) key: u32,
    pub(super) is_write: bool,
    /// The table, and the place of the key there if it can be retired.
    pub(super) table: u32,
    pub(super) place: Option<u32>,
}

/// An operation that was done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) kind: Kind,
    pub(super) key: u32,
    pub(super) value: Value,
    pub(super) invoke: i64,
    pub(super) complete: i64,
}

/// A key, and what the open transaction did to it.
#[derive(Debug, Default)]
pub(super) struct Touched {
    pub(super) key: u32,
    pub(super) own: Vec<u32>,
    /// What was found of others' writes.
    pub(super) shown: Option<Shown>,
    /// What was found by the first access, which EXT judges.
    pub(super) first: Option<Shown>,
    /// A transaction that had not committed what was found, and how many writes of it were found.
    pub(super) foreign: Option<(u32, u32)>,
    /// How many of the own writes reads leave out, by a fault.
    pub(super) forgotten: usize,
}

#[derive(Debug, Default)]
pub(super) struct Client {
    pub(super) session: u32,
    /// The id of the open transaction.
    pub(super) id: u32,
    pub(super) plan: Vec<Planned>,
    pub(super) next: usize,
    pub(super) done: Vec<Done>,
    pub(super) touched: Vec<Touched>,
    /// What the clock said at the begin.
    pub(super) tick: u64,
    /// The start timestamp that is recorded, and the snapshot that is read: the same but for a fault.
    pub(super) start: u64,
    pub(super) snapshot: u64,
    pub(super) rolls_back: bool,
    pub(super) is_again: bool,
    /// Whether the fault may strike here.
    pub(super) is_marked: bool,
    /// The last transaction of the session that committed, and when.
    pub(super) before: (u32, u64),
    /// True time of the last event.
    pub(super) instant: u64,
    /// The last transaction and its end, whose completion is not known yet.
    pub(super) ended: Option<Ended>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) transaction: u32,
    pub(super) operation: usize,
    pub(super) begun: i64,
    pub(super) invoke: i64,
}

impl Client {
    pub(super) fn new(session: u32) -> Self {
        Self { session, ..Self::default() }
    }

    pub(super) fn is_open(&self) -> bool {
        self.id != NOBODY
    }

    /// The place of `key` among those that the open transaction touched.
    pub(super) fn touch(&mut self, key: u32) -> usize {
        if let Some(place) = self.touched.iter().position(|touched| touched.key == key) {
            return place;
        }
        self.touched.push(Touched { key, ..Touched::default() });
        self.touched.len() - 1
    }

    /// What the open transaction wrote to `key`.
    pub(super) fn own(&self, key: u32) -> &[u32] {
        self.touched.iter().find(|touched| touched.key == key).map_or(&[], |touched| &touched.own)
    }

    /// What was written, and to which keys.
    pub(super) fn writes(&self) -> impl Iterator<Item = &Touched> {
        self.touched.iter().filter(|touched| !touched.own.is_empty())
    }
}
