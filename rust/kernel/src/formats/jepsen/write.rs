//! A history as Jepsen events, in EDN (a map per line) or JSON (an array, an object per line).
//!
//! Events are ordered by their positions, else by the clients' clock. A history with neither is written as
//! completions only: invocations would claim a real-time order that nobody saw.

use super::MISSING;
use super::notation::Notation;
use crate::history::{History, Kind, Status};
use crate::value::{AtomKind, Value, Values};
use hashbrown::HashSet;
use std::io::{self, Write};

/// Writes `history` as EDN, one event per line; the reader gives the same history back.
///
/// # Errors
/// If `out` fails, or if the history has operations other than reads, writes and appends of keys.
pub fn write(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    let script = Script::new(history, Notation::Edn)?;
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
/// If `out` fails, or if the history has operations other than reads, writes and appends of keys.
pub fn write_json(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    let script = Script::new(history, Notation::Json)?;
    for (number, step) in script.steps.iter().enumerate() {
        line.clear();
        line.extend_from_slice(if number == 0 { b"[" } else { b",\n" });
        script.event(number, step, &mut line);
        out.write_all(&line)?;
    }
    out.write_all(if script.steps.is_empty() { b"[]\n" } else { b"]\n" })
}

/// One event to be written.
struct Step {
    position: i64,
    transaction: usize,
    is_completion: bool,
}

/// All events of a history in the order in which they are written.
struct Script<'history> {
    history: &'history History,
    notation: Notation,
    steps: Vec<Step>,
    has_positions: bool,
    /// The process of each session; `None` for a session without a name.
    processes: Vec<Option<Value>>,
    /// Written values of keys, if an initial value other than nil must be told from them.
    written: Option<HashSet<(u32, Value)>>,
}

impl<'history> Script<'history> {
    fn new(history: &'history History, notation: Notation) -> io::Result<Self> {
        if let Some(kind) = history.operations.kinds.iter().find(|&&kind| !is_known(kind)) {
            let problem = format!("the Jepsen format has no operation such as {kind:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let has_positions = has_positions(history);
        let processes = processes(history);
        let steps = if has_positions {
            by_position(history)
        } else if has_intervals(history) {
            by_time(history)
        } else {
            completions(history)
        };
        let written = written(history);
        Ok(Self { history, notation, steps, has_positions, processes, written })
    }

    fn event(&self, number: usize, step: &Step, out: &mut Vec<u8>) {
        let transactions = &self.history.transactions;
        let (transaction, notation) = (step.transaction, self.notation);
        out.push(b'{');
        notation.field("type", out);
        notation.word(self.type_of(step), out);
        out.extend_from_slice(notation.comma());
        notation.field("f", out);
        notation.word("txn", out);
        out.extend_from_slice(notation.comma());
        notation.field("value", out);
        self.operations(step, out);
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
            out.extend_from_slice(self.notation.comma());
            self.notation.field(name, out);
            self.notation.value(&self.history.values, value, out);
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
        let operations = &self.history.operations;
        out.push(b'[');
        let mut is_first = true;
        for place in self.history.operations_of(step.transaction) {
            let Some(name) = name_of(operations.kinds[place]) else {
                continue;
            };
            if !is_first {
                out.extend_from_slice(self.notation.separator());
            }
            is_first = false;
            self.operation(name, place, step.is_completion, out);
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
        self.notation.word(name, out);
        for operand in [self.history.keys[key as usize], value] {
            out.extend_from_slice(self.notation.separator());
            self.notation.value(&self.history.values, operand, out);
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

fn is_known(kind: Kind) -> bool {
    name_of(kind).is_some() || matches!(kind, Kind::Begin | Kind::Commit | Kind::Abort)
}

fn name_of(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Read => Some("r"),
        Kind::Write => Some("w"),
        Kind::Append => Some("append"),
        _ => None,
    }
}

/// Whether positions order every event that the reader needs.
fn has_positions(history: &History) -> bool {
    let transactions = &history.transactions;
    let mut positions: Vec<i64> = Vec::new();
    for (transaction, &status) in transactions.statuses.iter().enumerate() {
        let interval = transactions.positions.get(transaction);
        let needed = if status == Status::Indeterminate { interval.invoke() } else { None };
        if interval.complete().or(needed).is_none() {
            return false;
        }
        positions.extend(interval.invoke());
        positions.extend(interval.complete());
    }
    positions.sort_unstable();
    positions.windows(2).all(|pair| pair[0] < pair[1]) && positions.first().is_none_or(|&first| first >= 0)
}

fn by_position(history: &History) -> Vec<Step> {
    let mut steps = Vec::new();
    for transaction in 0..history.transaction_count() {
        let interval = history.transactions.positions.get(transaction);
        for (position, is_completion) in [(interval.invoke(), false), (interval.complete(), true)] {
            steps.extend(position.map(|position| Step { position, transaction, is_completion }));
        }
    }
    steps.sort_unstable_by_key(|step| step.position);
    steps
}

/// Whether the clients' clock shows both ends of every transaction.
fn has_intervals(history: &History) -> bool {
    let closed = |transaction| history.transactions.intervals.get(transaction).is_closed();
    history.transaction_count() > 0 && (0..history.transaction_count()).all(closed)
}

/// By the clients' clock; intervals are closed, so at one instant invocations come first.
fn by_time(history: &History) -> Vec<Step> {
    let mut steps = Vec::new();
    for transaction in 0..history.transaction_count() {
        let interval = history.transactions.intervals.get(transaction);
        for (time, is_completion) in [(interval.invoke(), false), (interval.complete(), true)] {
            let time = time.unwrap_or_default();
            steps.push((time, is_completion, Step { position: MISSING, transaction, is_completion }));
        }
    }
    steps.sort_by_key(|&(time, is_completion, _)| (time, is_completion));
    steps.into_iter().map(|(.., step)| step).collect()
}

/// Completions only, as the input showed the transactions unless that breaks the order of a session.
fn completions(history: &History) -> Vec<Step> {
    let order = history.written_order();
    order.map(|transaction| Step { position: MISSING, transaction, is_completion: true }).collect()
}

/// Integers for all sessions but those of one transaction that the input does not name.
fn processes(history: &History) -> Vec<Option<Value>> {
    let named = history.session_ids.iter().filter_map(|id| id.as_small());
    let mut fresh = named.max().map_or(0, |most| most.max(-1) + 1);
    let mut processes = Vec::with_capacity(history.session_ids.len());
    for (session, &id) in history.session_ids.iter().enumerate() {
        if is_integer(&history.values, id) {
            processes.push(Some(id));
            continue;
        }
        let is_invoked =
            |&transaction: &u32| history.transactions.positions.get(transaction as usize).invoke().is_some();
        let transactions = history.transactions_of(session);
        if id == Value::NIL && transactions.len() <= 1 && !transactions.iter().any(is_invoked) {
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
