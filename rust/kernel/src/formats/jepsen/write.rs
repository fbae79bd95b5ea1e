//! A history as Jepsen events, in EDN (a map per line) or JSON (an array, an object per line).
//!
//! [`super::event_order`] says in which order the events come.

use super::event_order::{Order, Step, unwritable, unwritable_json};
use super::syntax::Syntax;
use crate::formats::{Writer, json};
use crate::history::{History, Kind, Status};
use crate::predicates::{INIT, Predicate, is_init};
use crate::value::{AtomKind, Value, Values};
use hashbrown::HashSet;
use std::io::{self, Write};

/// The writer of the format in EDN.
pub const WRITER: Writer = Writer { name: "jepsen", write, unwritable, leaves_operations };
/// The writer of the format as one JSON array.
pub const JSON_WRITER: Writer =
    Writer { name: "jepsen-json", write: write_json, unwritable: unwritable_json, leaves_operations };
/// The writer of the format as JSON lines.
pub const JSON_LINES_WRITER: Writer = Writer {
    name: "jepsen-json-lines",
    write: write_json_lines,
    unwritable: unwritable_json,
    leaves_operations,
};

fn leaves_operations(history: &History) -> bool {
    (0..history.operation_count()).any(|operation| name_of(history, operation).is_some())
}

/// Writes `history` as EDN, one event per line; the reader gives the same history back.
///
/// # Errors
/// If `out` fails.
pub fn write(history: &History, out: &mut dyn Write) -> io::Result<()> {
    write_each(history, Syntax::Edn, out)
}

/// Writes `history` as JSON lines, one event per line. Keywords and other terms become strings.
///
/// # Errors
/// If `out` fails.
pub fn write_json_lines(history: &History, out: &mut dyn Write) -> io::Result<()> {
    write_each(history, Syntax::Json, out)
}

fn write_each(history: &History, syntax: Syntax, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    let script = Script::new(history, syntax);
    for (number, step) in script.steps.iter().enumerate() {
        line.clear();
        script.event(number, step, &mut line);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// Writes `history` as a JSON array of events, one per line. Keywords and other terms become strings.
///
/// # Errors
/// If `out` fails.
pub fn write_json(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    let script = Script::new(history, Syntax::Json);
    for (number, step) in script.steps.iter().enumerate() {
        line.clear();
        line.extend_from_slice(if number == 0 { b"[" } else { b",\n" });
        script.event(number, step, &mut line);
        out.write_all(&line)?;
    }
    out.write_all(if script.steps.is_empty() { b"[]\n" } else { b"]\n" })
}

/// All events of a history in the order in which they are written.
struct Script<'history> {
    history: &'history History,
    syntax: Syntax,
    spelling: json::Spelling<'history>,
    steps: Vec<Step>,
    has_positions: bool,
    /// The process of each session; `None` for a session without a name.
    processes: Vec<Option<Value>>,
    /// Written values of keys, if an initial value other than nil must be told from them.
    written: Option<HashSet<(u32, Value)>>,
}

impl<'history> Script<'history> {
    fn new(history: &'history History, syntax: Syntax) -> Self {
        let (order, steps) = Order::of(history);
        let has_positions = order == Order::Positions;
        let processes = processes(history, &steps);
        let written = written(history);
        let spelling = json::Spelling::of(&history.values);
        Self { history, syntax, spelling, steps, has_positions, processes, written }
    }

    fn event(&self, number: usize, step: &Step, out: &mut Vec<u8>) {
        let transactions = &self.history.transactions;
        let (transaction, syntax) = (step.transaction, self.syntax);
        out.push(b'{');
        syntax.field("type", out);
        syntax.word(self.type_of(step), out);
        out.extend_from_slice(syntax.comma());
        syntax.field("f", out);
        let is_init = is_init(self.history, transaction);
        syntax.word(if is_init { INIT } else { "txn" }, out);
        out.extend_from_slice(syntax.comma());
        syntax.field("value", out);
        if is_init {
            self.inserted(transaction, out);
        } else {
            self.operations(step, out);
        }
        let interval = transactions.intervals.get(transaction);
        let time = if step.is_completion { interval.complete() } else { interval.invoke() };
        let process = self.processes[transactions.sessions[transaction] as usize];
        self.field("time", time.and_then(Value::small), out);
        self.field("process", process, out);
        self.field("index", Value::small(step.position).filter(|_| self.has_positions), out);
        self.field("transaction", self.explicit_id(number, step), out);
        out.push(b'}');
    }

    fn field(&self, name: &str, value: Option<Value>, out: &mut Vec<u8>) {
        if let Some(value) = value {
            out.extend_from_slice(self.syntax.comma());
            self.syntax.field(name, out);
            self.syntax.value(&self.spelling, value, out);
        }
    }

    fn type_of(&self, step: &Step) -> &'static str {
        match self.history.transactions.statuses[step.transaction] {
            _ if !step.is_completion => "invoke",
            Status::Committed => "ok",
            Status::Aborted => "fail",
            Status::Indeterminate => "info",
        }
    }

    /// The id of the transaction that ends here, if the reader would call it something else.
    fn explicit_id(&self, number: usize, step: &Step) -> Option<Value> {
        let ends = step.is_completion || self.never_completes(step.transaction);
        let derived = if self.has_positions { Some(step.position) } else { i64::try_from(number).ok() };
        let id = self.history.transactions.ids[step.transaction];
        (ends && derived.and_then(Value::small) != Some(id)).then_some(id)
    }

    fn never_completes(&self, transaction: usize) -> bool {
        self.has_positions && self.history.transactions.positions.get(transaction).complete().is_none()
    }

    fn operations(&self, step: &Step, out: &mut Vec<u8>) {
        out.push(b'[');
        let mut is_first = true;
        for place in self.history.operations_of(step.transaction) {
            let Some(name) = name_of(self.history, place) else {
                continue;
            };
            if !is_first {
                out.extend_from_slice(self.syntax.separator());
            }
            is_first = false;
            match Predicate::of_elle(self.history, place) {
                Some(predicate) => self.predicate_read(&predicate, place, step.is_completion, out),
                None => self.operation(name, place, step.is_completion, out),
            }
        }
        out.push(b']');
    }

    /// The rows that a first transaction inserted.
    fn inserted(&self, transaction: usize, out: &mut Vec<u8>) {
        let operations = &self.history.operations;
        let places = self.history.operations_of(transaction);
        self.rows(places.map(|place| (operations.keys[place], operations.values[place])), out);
    }

    fn rows(&self, rows: impl Iterator<Item = (u32, Value)>, out: &mut Vec<u8>) {
        let spelt = rows.map(|(key, value)| [self.history.keys[key as usize], value]);
        self.syntax.rows(&self.spelling, spelt, out);
    }

    fn predicate_read(&self, predicate: &Predicate, place: usize, is_completion: bool, out: &mut Vec<u8>) {
        out.push(b'[');
        self.syntax.word("rp", out);
        out.extend_from_slice(self.syntax.separator());
        self.syntax.predicate(predicate, out);
        out.extend_from_slice(self.syntax.separator());
        if is_completion {
            self.rows(self.history.rows_of(place), out);
        } else {
            self.syntax.value(&self.spelling, Value::NIL, out);
        }
        out.push(b']');
    }

    fn operation(&self, name: &str, place: usize, is_completion: bool, out: &mut Vec<u8>) {
        let operations = &self.history.operations;
        let (key, mut value) = (operations.keys[place], operations.values[place]);
        if operations.kinds[place] == Kind::Read && (!is_completion || self.is_initial(key, value)) {
            value = Value::NIL;
        }
        out.push(b'[');
        self.syntax.word(name, out);
        let is_delete = operations.kinds[place] == Kind::Delete;
        let operands = [self.history.keys[key as usize], value];
        for &operand in &operands[..if is_delete { 1 } else { 2 }] {
            out.extend_from_slice(self.syntax.separator());
            self.syntax.value(&self.spelling, operand, out);
        }
        out.push(b']');
    }

    /// Whether a read saw the initial value, which this format calls nil.
    fn is_initial(&self, key: u32, value: Value) -> bool {
        let Some(written) = &self.written else {
            return false;
        };
        value == self.history.initial.of(key) && !written.contains(&(key, value))
    }
}

/// The name of an operation in this format, which has no markers, and range reads only by predicates of its own.
fn name_of(history: &History, place: usize) -> Option<&'static str> {
    match history.operations.kinds[place] {
        Kind::Read => Some("r"),
        Kind::Write => Some("w"),
        Kind::Append => Some("append"),
        Kind::Insert => Some("insert"),
        Kind::Delete => Some("delete"),
        Kind::RangeRead => Predicate::of_elle(history, place).map(|_| "rp"),
        Kind::Begin | Kind::Commit | Kind::Abort => None,
    }
}

/// Integers for all sessions but those of one transaction that the input does not name.
fn processes(history: &History, steps: &[Step]) -> Vec<Option<Value>> {
    let mut is_invoked = vec![false; history.session_ids.len()];
    for step in steps.iter().filter(|step| !step.is_completion) {
        is_invoked[history.transactions.sessions[step.transaction] as usize] = true;
    }
    let named = history.session_ids.iter().filter_map(|id| id.as_small());
    let mut fresh = named.max().map_or(0, |most| most.max(-1) + 1);
    let mut processes = Vec::with_capacity(history.session_ids.len());
    for (session, &id) in history.session_ids.iter().enumerate() {
        if is_integer(&history.values, id) {
            processes.push(Some(id));
            continue;
        }
        if id == Value::NIL && !is_invoked[session] {
            processes.push(None);
            continue;
        }
        processes.push(Value::small(fresh));
        fresh += 1;
    }
    processes
}

fn is_integer(values: &Values, value: Value) -> bool {
    match value.atom_index() {
        Some(index) => values.atom(index).0 == AtomKind::Integer,
        None => value.as_small().is_some(),
    }
}

fn written(history: &History) -> Option<HashSet<(u32, Value)>> {
    let initial = &history.initial;
    if initial.of_key.is_empty() && [Value::NIL, Value::UNKNOWN].contains(&initial.default) {
        return None;
    }
    let operations = &history.operations;
    let writes = (0..history.operation_count()).filter(|&place| operations.kinds[place].installs());
    Some(writes.map(|place| (operations.keys[place], operations.values[place])).collect())
}
