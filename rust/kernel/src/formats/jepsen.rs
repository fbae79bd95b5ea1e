//! Histories of Jepsen and Elle: events (`:invoke`, then `:ok`, `:fail` or `:info`) of transactions made of
//! micro-operations `[:r key value]`, `[:w key value]`, `[:append key value]`, `[:insert key value]`,
//! `[:delete key]` and `[:rp predicate {key value}]`. An event `:init` has a map of inserted rows.
//!
//! Events stand one below the other or inside one vector. Text in EDN or JSON becomes a [`Batch`] of events;
//! [`Jepsen`] joins invocations and completions, process by process, and builds the history. Real-time order
//! is the order of events, by `:index` if every event has one and they ascend, else by running number.

mod edn_event;
mod end_of_input;
mod event;
mod event_field;
mod event_order;
mod json_event;
mod syntax;
mod transactions;
mod workload;
mod write;

pub use event::Batch;
pub use write::{JSON_LINES_WRITER, JSON_WRITER, WRITER};

use super::{Records, WriteAheadLog};
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::History;
use crate::value::Value;
use hashbrown::HashSet;
use transactions::{Enclosure, Ended, Invocation, Nameless};

/// An index or time that the event does not have.
const MISSING: i64 = i64::MIN;
/// One that it has and that is no natural number.
const UNUSABLE: i64 = MISSING + 1;

const PREDICATES: &str = "a predicate that is `:true`, `[:= integer]` or `[:mod positive-integer integer]`";

/// The history so far.
#[derive(Debug)]
pub struct Jepsen {
    builder: Builder,
    enclosure: Enclosure,
    /// The open invocation of each session, if it is open.
    invocations: Vec<Invocation>,
    /// Those without a process that are open.
    nameless: Nameless,
    nameless_invocations: u64,
    ended: Vec<Ended>,
    /// How many events of clients there were, and what their indexes were like.
    event_count: i64,
    latest_index: i64,
    unusable_indexes: u64,
    odd_indexes: u64,
    odd_times: u64,
    usable_indexes: u64,
    others: u64,
    changed: u64,
    unknown_predicate_reads: u64,
    /// Rows of a write-ahead log: key as text or integer, value.
    log: Vec<(Value, Value)>,
    keys_with_zero: HashSet<u32>,
    keys_with_vectors: HashSet<u32>,
}

impl Default for Jepsen {
    fn default() -> Self {
        let mut builder = Builder::new();
        builder.initial.default = Value::NIL;
        Self {
            builder,
            enclosure: Enclosure::Unseen,
            invocations: Vec::new(),
            nameless: Nameless::default(),
            nameless_invocations: 0,
            ended: Vec::new(),
            event_count: 0,
            latest_index: MISSING,
            unusable_indexes: 0,
            odd_indexes: 0,
            odd_times: 0,
            usable_indexes: 0,
            others: 0,
            changed: 0,
            unknown_predicate_reads: 0,
            log: Vec::new(),
            keys_with_zero: HashSet::new(),
            keys_with_vectors: HashSet::new(),
        }
    }
}

impl Records for Jepsen {
    type Batch = Batch;

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        self.merge_events(batch)
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        self.close_file(line)
    }

    fn into_history(self) -> Result<History, ParseError> {
        self.end_of_input()
    }

    fn log(&mut self) -> Option<&mut dyn WriteAheadLog> {
        Some(self)
    }
}

#[cfg(test)]
mod json_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod write_tests;
