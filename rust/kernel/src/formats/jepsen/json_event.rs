//! Events in JSON: objects, as elle-cli reads them.

use super::event::{Batch, Draft, EventType, Function, MicroOperation, Process, kind_named};
use super::event_field::{Field, Seen};
use super::workload::Workload;
use super::{MISSING, PREDICATES, UNUSABLE};
use crate::formats::Rewind;
use crate::formats::json::{self, Cursor, Fault, JsonBatch, Number};
use crate::history::Kind;
use crate::predicates::Predicate;
use crate::value::{AtomKind, Value, Values};

const EXAMPLE: &str = "an operation such as `{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",\"x\",1]]}`";
const ROWS: &str = "an array of keys and values such as `[[\"x\",0]]`";
const OPERATIONS: &str = "an array of micro-operations such as `[[\"r\",1,null],[\"append\",1,2]]`";

impl JsonBatch for Batch {
    fn next_json(&mut self, cursor: &mut Cursor, _last: bool) -> Result<bool, Fault> {
        let Some(byte) = cursor.peek() else {
            return Ok(false);
        };
        let line = cursor.line();
        match byte {
            b'{' => event(cursor, self)?,
            b',' => cursor.expect(b',', "`,`")?,
            b'[' => {
                cursor.begin_array()?;
                self.bracket(EventType::Open(b'['), line);
            }
            b']' => {
                cursor.expect(b']', "`]`")?;
                self.bracket(EventType::Close(b']'), line);
            }
            _ => {
                return Err(
                    Fault::at(cursor.at(), EXAMPLE).hint("is this another format? Name it with --format")
                );
            }
        }
        Ok(true)
    }
}

fn event(cursor: &mut Cursor, batch: &mut Batch) -> Result<(), Fault> {
    let (start, mark) = (cursor.at(), batch.mark());
    let mut draft = Draft::new(cursor.line());
    let mut misfit = None;
    let mut value_from = None;
    let mut fields = cursor.begin_object()?;
    let mut seen = Seen::default();
    while let Some(name) = cursor.next_field(&mut fields)? {
        let Some(field) = Field::named(&name) else {
            cursor.skip_value()?;
            continue;
        };
        let at = cursor.start();
        if !seen.add(field) {
            return Err(Fault::at(at, "each field only once"));
        }
        match field {
            Field::Type => draft.event_type = text(cursor)?.as_deref().and_then(EventType::named),
            Field::Function => draft.set_function(text(cursor)?.as_deref().unwrap_or(b"nil")),
            Field::Process => draft.process = process(cursor, &mut batch.values)?,
            Field::Index => draft.index = integer(cursor)?,
            Field::Time => draft.time = integer(cursor)?,
            Field::Transaction => draft.transaction = json::scalar(cursor, &mut batch.values)?,
            Field::Value => {
                value_from = Some(*cursor);
                match value(cursor, batch)? {
                    Ok(has_value) => draft.has_value = has_value,
                    Err(fault) => misfit = Some(fault),
                }
            }
        }
    }
    if let Some(mut from) = value_from.filter(|_| draft.function == Function::Init) {
        batch.rewind(mark);
        let inserted = inserted(&mut from, batch);
        draft.has_value = matches!(inserted, Ok(true));
        misfit = inserted.err();
    }
    if let Some(fault) = misfit.filter(|_| draft.is_a_clients()) {
        return Err(advised(fault, draft.workload));
    }
    batch.close(&draft, mark).map_err(|(expected, hint)| Fault::at(start, expected).hint(hint))
}

/// The fault with the advice for the workload, if it has the advice for all of them.
fn advised(fault: Fault, workload: Workload) -> Fault {
    match &fault {
        Fault::Malformed(malformed) if malformed.hint == Workload::default().hint() => {
            fault.hint(workload.hint())
        }
        _ => fault,
    }
}

/// Whether there are micro-operations, or why there are none: only a client's value must be micro-operations,
/// and that this is a client's may stand further on.
fn value(cursor: &mut Cursor, batch: &mut Batch) -> Result<Result<bool, Fault>, Fault> {
    let (before, here) = (batch.mark(), *cursor);
    match operations(cursor, batch) {
        Err(fault @ Fault::CutOff(_)) => Err(fault),
        Ok(has_value) => Ok(Ok(has_value)),
        Err(misfit) => {
            batch.rewind(before);
            *cursor = here;
            cursor.skip_value()?;
            Ok(Err(misfit))
        }
    }
}

/// Reads what an event `:init` inserted; false if there is null instead.
fn inserted(cursor: &mut Cursor, batch: &mut Batch) -> Result<bool, Fault> {
    let rows = rows(cursor, &mut batch.values)?;
    let has_value = rows.is_some();
    for row in rows.unwrap_or_default().chunks_exact(2) {
        batch.operations.push(MicroOperation::initial(row[0], row[1]));
    }
    Ok(has_value)
}

/// An array of pairs, as keys and values in turn; nothing if there is null instead.
fn rows(cursor: &mut Cursor, values: &mut Values) -> Result<Option<Vec<Value>>, Fault> {
    if cursor.null()? {
        return Ok(None);
    }
    let mut rows = Vec::new();
    let mut elements = array(cursor)?;
    while cursor.next_element(&mut elements)? {
        let at = cursor.start();
        let mut row = array(cursor)?;
        for _ in 0..2 {
            if !cursor.next_element(&mut row)? {
                return Err(Fault::at(at, ROWS));
            }
            rows.push(json::scalar(cursor, values)?);
        }
        if cursor.next_element(&mut row)? {
            return Err(Fault::at(at, ROWS));
        }
    }
    Ok(Some(rows))
}

fn array(cursor: &mut Cursor) -> Result<json::Members, Fault> {
    if cursor.peek_for(ROWS)? != b'[' {
        return Err(Fault::at(cursor.at(), ROWS));
    }
    cursor.begin_array()
}

/// A predicate, as its text.
fn predicate(cursor: &mut Cursor, values: &mut Values) -> Result<Value, Fault> {
    let at = cursor.start();
    let mut operands = Vec::new();
    let name = if cursor.peek_for(PREDICATES)? == b'[' {
        let mut parts = cursor.begin_array()?;
        let name = if cursor.next_element(&mut parts)? { text(cursor)? } else { None };
        while cursor.next_element(&mut parts)? {
            operands.push(json::scalar(cursor, values)?);
        }
        name
    } else {
        text(cursor)?
    };
    let predicate = name.and_then(|name| Predicate::new(&name, &operands));
    let predicate = predicate.ok_or_else(|| Fault::at(at, PREDICATES))?;
    Ok(values.intern(AtomKind::Text, &predicate.to_string()))
}

/// A string, with a keyword's colon taken off; nothing if the value is something else.
fn text(cursor: &mut Cursor) -> Result<Option<Vec<u8>>, Fault> {
    if cursor.peek_for("a value")? != b'"' {
        cursor.skip_value()?;
        return Ok(None);
    }
    let text = cursor.string_bytes()?;
    Ok(Some(text.strip_prefix(b":").unwrap_or(&text).to_vec()))
}

/// An integer that is not negative; [`MISSING`] for null, [`UNUSABLE`] for anything else.
fn integer(cursor: &mut Cursor) -> Result<i64, Fault> {
    if cursor.null()? {
        return Ok(MISSING);
    }
    if !matches!(cursor.peek_for("a value")?, b'-' | b'0'..=b'9') {
        cursor.skip_value()?;
        return Ok(UNUSABLE);
    }
    Ok(match cursor.number()? {
        Number::Integer(number) if number >= 0 => number,
        _ => UNUSABLE,
    })
}

fn process(cursor: &mut Cursor, values: &mut Values) -> Result<Process, Fault> {
    if cursor.null()? {
        return Ok(Process::Unnamed);
    }
    if !matches!(cursor.peek_for("a process")?, b'-' | b'0'..=b'9') {
        cursor.skip_value()?;
        return Ok(Process::Other);
    }
    Ok(match cursor.number()? {
        Number::Integer(number) => Process::Client(values.integer(number)),
        Number::Long(digits) => Process::Client(values.decimal(digits)),
        Number::Float(_) => Process::Other,
    })
}

/// Reads an array of micro-operations; false if there is null instead.
fn operations(cursor: &mut Cursor, batch: &mut Batch) -> Result<bool, Fault> {
    if cursor.null()? {
        return Ok(false);
    }
    if cursor.peek_for(OPERATIONS)? != b'[' {
        return Err(Fault::at(cursor.at(), OPERATIONS).hint(Workload::default().hint()));
    }
    let mut elements = cursor.begin_array()?;
    while cursor.next_element(&mut elements)? {
        let operation = operation(cursor, &mut batch.values)?;
        batch.operations.push(operation);
    }
    Ok(true)
}

fn operation(cursor: &mut Cursor, values: &mut Values) -> Result<MicroOperation, Fault> {
    let at = cursor.start();
    if cursor.peek_for(OPERATIONS)? != b'[' {
        return Err(
            Fault::at(at, "a micro-operation such as `[\"r\",1,null]`").hint(Workload::default().hint())
        );
    }
    let mut parts = cursor.begin_array()?;
    let kind_at = cursor.start();
    let kind = if cursor.next_element(&mut parts)? { text(cursor)? } else { None };
    let kind = kind.as_deref().and_then(kind_named).ok_or_else(|| {
        let names = "a micro-operation that is `r`, `w`, `append`, `insert`, `delete` or `rp`";
        Fault::at(kind_at, names).hint(Workload::default().hint())
    })?;
    if !cursor.next_element(&mut parts)? {
        return Err(Fault::at(at, "a key behind the kind"));
    }
    let key =
        if kind == Kind::RangeRead { predicate(cursor, values)? } else { json::scalar(cursor, values)? };
    let value = match cursor.next_element(&mut parts)? {
        true => operand(cursor, values, kind)?,
        false if matches!(kind, Kind::Read | Kind::RangeRead | Kind::Delete) => {
            return Ok(MicroOperation::new(kind, key, Value::NIL));
        }
        false => return Err(Fault::at(at, "a value behind the key")),
    };
    if cursor.next_element(&mut parts)? {
        return Err(Fault::at(cursor.at(), "`]` behind kind, key and value"));
    }
    Ok(MicroOperation::new(kind, key, value))
}

fn operand(cursor: &mut Cursor, values: &mut Values, kind: Kind) -> Result<Value, Fault> {
    if kind == Kind::RangeRead {
        return Ok(rows(cursor, values)?.map_or(Value::NIL, |rows| values.push_list(rows)));
    }
    if kind == Kind::Delete {
        let at = cursor.start();
        let expected = "nothing behind the key of what was deleted";
        return if cursor.null()? { Ok(Value::NIL) } else { Err(Fault::at(at, expected)) };
    }
    if kind != Kind::Read || cursor.peek_for("a value")? != b'[' {
        return json::scalar(cursor, values);
    }
    let mut members = cursor.begin_array()?;
    let mut elements = Vec::new();
    while cursor.next_element(&mut members)? {
        elements.push(json::scalar(cursor, values)?);
    }
    Ok(values.push_list(elements))
}
