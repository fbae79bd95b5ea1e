//! Histories of Jepsen and Elle: events (`:invoke`, then `:ok`, `:fail` or `:info`) of transactions made of
//! micro-operations `[:r key value]`, `[:w key value]`, `[:append key value]`, `[:insert key value]`,
//! `[:delete key]` and `[:rp predicate {key value}]`. An event `:init` has a map of what it inserted.
//!
//! Events stand one below the other or inside one vector. A front end (EDN or JSON) turns text into
//! a [`Batch`] of events; [`Jepsen`] pairs them, process by process, and builds the history. Real-time order
//! is the order of events, by `:index` if every event has one and they ascend, else by running number.

mod field;
mod finish;
mod front;
mod json_front;
mod notation;
mod order;
mod pairing;
mod write;

pub use json_front::JepsenJson;
pub use order::{unwritable, unwritable_json};
pub(super) use write::name_of;
pub use write::{write, write_json, write_json_lines};

use super::Records;
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::{History, Kind};
use crate::value::{Value, Values};
use hashbrown::HashSet;
use pairing::{Enclosure, Ended, Invocation};

/// An index or time that the event does not have.
pub(super) const MISSING: i64 = i64::MIN;
/// One that it has and that is no natural number.
pub(super) const UNUSABLE: i64 = MISSING + 1;

const WORKLOADS: &str = "only list-append, rw-register and closed-predicate transactions are understood: is \
                         this another workload (bank, set, counter, ...)?";

const PREDICATES: &str = "a predicate that is `:true`, `[:= integer]` or `[:mod positive-integer integer]`";

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventType {
    Invoke,
    Ok,
    Fail,
    Info,
    /// The opening bracket of a vector around all events.
    Open(u8),
    /// Its closing bracket.
    Close(u8),
    /// An operation of the test itself (nemesis, setup, ...), not of a client.
    Other,
}

impl EventType {
    /// The type of a client's event by its name.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"invoke" => Some(Self::Invoke),
            b"ok" => Some(Self::Ok),
            b"fail" => Some(Self::Fail),
            b"info" => Some(Self::Info),
            _ => None,
        }
    }
}

/// The kind of a micro-operation by its name.
pub(super) fn kind_named(name: &[u8]) -> Option<Kind> {
    match name {
        b"r" => Some(Kind::Read),
        b"w" => Some(Kind::Write),
        b"append" => Some(Kind::Append),
        b"insert" => Some(Kind::Insert),
        b"delete" => Some(Kind::Delete),
        b"rp" => Some(Kind::RangeRead),
        _ => None,
    }
}

/// What `:f` says that an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Transaction,
    /// The first transaction, which inserts the rows that the others find.
    Init,
    Other,
}

impl Function {
    pub(super) fn named(name: &[u8]) -> Self {
        match name {
            b"txn" | b"nil" => Self::Transaction,
            b"init" => Self::Init,
            _ => Self::Other,
        }
    }
}

/// Who ran an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Process {
    Unnamed,
    Client(Value),
    Other,
}

/// An event as a front end collects it, field by field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draft {
    pub(super) event_type: Option<EventType>,
    pub(super) process: Process,
    pub(super) function: Function,
    pub(super) index: i64,
    pub(super) time: i64,
    /// Our own writer's extension; nil if absent.
    pub(super) transaction: Value,
    /// Whether there are micro-operations: absent and nil are the same.
    pub(super) has_value: bool,
    pub(super) line: u32,
}

impl Draft {
    pub(super) fn new(line: u64) -> Self {
        Self {
            event_type: None,
            process: Process::Unnamed,
            function: Function::Transaction,
            index: MISSING,
            time: MISSING,
            transaction: Value::NIL,
            has_value: false,
            line: u32::try_from(line).unwrap_or(u32::MAX),
        }
    }

    /// Whether a client ran it, so that its micro-operations matter.
    pub(super) fn is_a_clients(&self) -> bool {
        match self.process {
            Process::Client(_) => true,
            Process::Unnamed => self.function != Function::Other,
            Process::Other => false,
        }
    }
}

/// Why a draft is no event: what was expected, and advice.
pub(super) type Misfit = (&'static str, &'static str);

/// One event of a batch; its micro-operations are `operations[first..last]` of the batch.
#[derive(Debug, Clone, Copy)]
struct Event {
    what: EventType,
    /// Nil if the event names no process.
    process: Value,
    index: i64,
    time: i64,
    transaction: Value,
    line: u32,
    has_value: bool,
    first: usize,
    last: usize,
}

/// One micro-operation. A read without a result has the value nil; the key of a predicate read is the text of
/// its predicate, its value a list of keys and values by turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MicroOperation {
    pub(super) kind: Kind,
    /// Whether an event `:init` has it.
    pub(super) is_initial: bool,
    pub(super) key: Value,
    pub(super) value: Value,
}

impl MicroOperation {
    pub(super) fn new(kind: Kind, key: Value, value: Value) -> Self {
        Self { kind, is_initial: false, key, value }
    }

    /// The insertion of a row by an event `:init`.
    pub(super) fn initial(key: Value, value: Value) -> Self {
        Self { kind: Kind::Insert, is_initial: true, key, value }
    }
}

/// Events of a part of a block.
#[derive(Debug, Default)]
pub struct Batch {
    events: Vec<Event>,
    pub(super) operations: Vec<MicroOperation>,
    pub(super) values: Values,
}

/// How full a batch was before a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    operations: usize,
    lists: usize,
}

impl Batch {
    pub(super) fn mark(&self) -> Mark {
        Mark { operations: self.operations.len(), lists: self.values.list_count() }
    }

    /// Forgets the micro-operations since `mark`.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.operations.truncate(mark.operations);
        self.values.truncate_lists(mark.lists);
    }

    /// Adds the opening or closing bracket around all events.
    pub(super) fn bracket(&mut self, event_type: EventType, line: u64) {
        let first = self.operations.len();
        self.push(event_type, Value::NIL, &Draft::new(line), first);
    }

    /// Adds the event that `draft` describes, whose micro-operations came since `mark`.
    pub(super) fn close(&mut self, draft: &Draft, mark: Mark) -> Result<(), Misfit> {
        if !draft.is_a_clients() {
            self.rewind(mark);
            self.push(EventType::Other, Value::NIL, draft, mark.operations);
            return Ok(());
        }
        let event_type = draft.event_type.ok_or(("a type: invoke, ok, fail or info", ""))?;
        if !draft.has_value && matches!(event_type, EventType::Invoke | EventType::Ok) {
            return Err(("a value that is a vector of micro-operations such as [:append 1 2]", WORKLOADS));
        }
        let process = match draft.process {
            Process::Client(process) => process,
            _ if event_type == EventType::Invoke => {
                let hint = "without a process nothing tells which completion belongs to it: add processes, or \
                            keep only the completions";
                return Err(("a process for this invocation", hint));
            }
            _ => Value::NIL,
        };
        self.push(event_type, process, draft, mark.operations);
        Ok(())
    }

    fn push(&mut self, what: EventType, process: Value, draft: &Draft, first: usize) {
        self.events.push(Event {
            what,
            process,
            index: draft.index,
            time: draft.time,
            transaction: draft.transaction,
            line: draft.line,
            has_value: draft.has_value,
            first,
            last: self.operations.len(),
        });
    }
}

/// The history so far.
#[derive(Debug)]
pub struct Jepsen {
    builder: Builder,
    enclosure: Enclosure,
    /// The open invocation of each session, if it is open.
    invocations: Vec<Invocation>,
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

    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut Batch) -> Result<usize, ParseError> {
        front::parse(text, first_line, last, batch)
    }

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        self.merge_events(batch)
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        self.close_file(line)
    }

    fn finish(self) -> Result<History, ParseError> {
        self.into_history()
    }
}

#[cfg(test)]
mod tests;
