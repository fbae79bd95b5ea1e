//! Events as both notations give them.

use super::MISSING;
use super::workload::Workload;
use crate::formats::Rewind;
use crate::history::Kind;
use crate::value::{Value, Values};

/// The type of an event.
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

/// The meaning of `:f`.
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
            // Long fork calls its transactions of registers reads and writes.
            b"txn" | b"nil" | b"read" | b"write" => Self::Transaction,
            b"init" => Self::Init,
            _ => Self::Other,
        }
    }
}

/// The process that ran an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Process {
    Unnamed,
    Client(Value),
    Other,
}

/// The fields of an event so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draft {
    pub(super) event_type: Option<EventType>,
    pub(super) process: Process,
    pub(super) function: Function,
    pub(super) workload: Workload,
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
            workload: Workload::default(),
            index: MISSING,
            time: MISSING,
            transaction: Value::NIL,
            has_value: false,
            line: u32::try_from(line).unwrap_or(u32::MAX),
        }
    }

    pub(super) fn set_function(&mut self, name: &[u8]) {
        self.function = Function::named(name);
        self.workload = Workload::named(name);
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
pub(super) struct Event {
    pub(super) what: EventType,
    /// Nil if the event names no process.
    pub(super) process: Value,
    pub(super) index: i64,
    pub(super) time: i64,
    pub(super) transaction: Value,
    pub(super) line: u32,
    pub(super) has_value: bool,
    pub(super) first: usize,
    pub(super) last: usize,
}

/// One micro-operation. A read without a result has the value nil; the key of a predicate read is the text of
/// its predicate, its value a list of keys and values by turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    pub(super) events: Vec<Event>,
    pub(super) operations: Vec<MicroOperation>,
    pub(super) values: Values,
}

/// How full a batch was before a record.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    operations: usize,
    lists: usize,
}

impl Rewind for Batch {
    type Mark = Mark;

    fn mark(&self) -> Mark {
        Mark { operations: self.operations.len(), lists: self.values.list_count() }
    }

    fn rewind(&mut self, mark: Mark) {
        self.operations.truncate(mark.operations);
        self.values.truncate_lists(mark.lists);
    }
}

impl Batch {
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
            let expected = "a value that is a vector of micro-operations such as [:append 1 2]";
            return Err((expected, draft.workload.hint()));
        }
        let process = match draft.process {
            Process::Client(process) => process,
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
