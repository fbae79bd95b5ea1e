//! Transactions in JSON: objects, one a transaction.

use super::batch::{Batch, Part, Transaction};
use crate::formats::json::{self, Cursor, Fault, JsonObjects, Marks};
use crate::history::Interval;
use crate::value::Value;

pub(super) const EXAMPLE: &str = "a transaction such as `{\"value\":[[\"w\",1,5,true],[\"r\",1,5,false]]}`";
const OPERATIONS: &str = "an array of micro-operations such as `[[\"w\",1,5,true]]`";
const TIME: &str = "a time: an integer of at most 64 bits";

impl JsonObjects for Batch {
    const EXAMPLE: &'static str = EXAMPLE;

    fn marks(&mut self) -> &mut Marks {
        &mut self.marks
    }

    fn object(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        let (at, line) = (cursor.at(), cursor.line() as u32);
        let mut read = Transaction { line, ..Transaction::default() };
        let (mut begin, mut commit, mut has_value) = (None, None, false);
        let mut fields = cursor.begin_object()?;
        while let Some(name) = cursor.next_field(&mut fields)? {
            match &*name {
                b"value" if has_value => return Err(Fault::at(cursor.start(), "each field only once")),
                b"value" => {
                    has_value = true;
                    operations(cursor, self)?;
                }
                b"isInitial" => read.is_initial = cursor.boolean()?,
                b"preBeginTS" => begin = time(cursor)?,
                b"postCommitTS" => commit = time(cursor)?,
                _ => cursor.skip_value()?,
            }
        }
        if !has_value {
            return Err(Fault::at(at, "a transaction with its `value`"));
        }
        read.interval = Interval::new(begin, commit);
        read.end = self.operations.len();
        self.transactions.push(read);
        Ok(())
    }
}

/// A time; negative ones mean that there is none.
fn time(cursor: &mut Cursor) -> Result<Option<i64>, Fault> {
    if cursor.null()? {
        return Ok(None);
    }
    Ok(Some(cursor.integer(TIME)?).filter(|&time| time >= 0))
}

fn operations(cursor: &mut Cursor, batch: &mut Batch) -> Result<(), Fault> {
    if cursor.peek_for(OPERATIONS)? != b'[' {
        return Err(Fault::at(cursor.at(), OPERATIONS));
    }
    let mut elements = cursor.begin_array()?;
    while cursor.next_element(&mut elements)? {
        operation(cursor, batch)?;
    }
    Ok(())
}

fn operation(cursor: &mut Cursor, batch: &mut Batch) -> Result<(), Fault> {
    let (at, line) = (cursor.start(), cursor.line() as u32);
    batch.parts.clear();
    let interval = match cursor.peek_for(OPERATIONS)? {
        b'[' => parts(cursor, batch)?,
        b'{' => fields(cursor, batch)?,
        _ => return Err(Fault::at(at, "a micro-operation such as `[\"w\",1,5,true]`")),
    };
    batch.micro_operation(line, interval).map_err(|expected| Fault::at(at, expected))
}

fn parts(cursor: &mut Cursor, batch: &mut Batch) -> Result<Interval, Fault> {
    let mut elements = cursor.begin_array()?;
    while cursor.next_element(&mut elements)? {
        let part = part(cursor, batch)?;
        batch.parts.push(part);
    }
    Ok(Interval::default())
}

/// The other spelling of a micro-operation: an object with a field for each part.
fn fields(cursor: &mut Cursor, batch: &mut Batch) -> Result<Interval, Fault> {
    let mut named = [Part::Absent; 10];
    let (mut request, mut response) = (None, None);
    let mut fields = cursor.begin_object()?;
    while let Some(name) = cursor.next_field(&mut fields)? {
        match (&*name, FIELDS.iter().position(|known| known.as_bytes() == &*name)) {
            (_, Some(place)) if named[place] != Part::Absent => {
                return Err(Fault::at(cursor.start(), "each field only once"));
            }
            (_, Some(place)) => named[place] = part(cursor, batch)?,
            (b"reqTS", _) => request = time(cursor)?,
            (b"resTS", _) => response = time(cursor)?,
            _ => cursor.skip_value()?,
        }
    }
    let [kind, key, value, read, dead, succeeded, low, high, live, tombstones] = named;
    batch.parts.push(kind);
    let others: &[Part] = match batch.name() {
        Ok("range") => &[low, high, live, tombstones],
        Ok("i" | "d") => &[key, value, read, dead, succeeded],
        Ok("w") => &[key, value, succeeded],
        _ => &[key, value, dead],
    };
    batch.parts.extend_from_slice(others);
    Ok(Interval::new(request, response))
}

const FIELDS: [&str; 10] =
    ["opType", "key", "value", "readValue", "isDead", "succ", "key1", "key2", "liveKVs", "deadKVs"];

fn part(cursor: &mut Cursor, batch: &mut Batch) -> Result<Part, Fault> {
    if cursor.peek_for("a part of a micro-operation")? != b'[' {
        return json::scalar(cursor, &mut batch.values).map(Part::Value);
    }
    let rows = batch.rows.len();
    batch.elements.clear();
    let mut array = cursor.begin_array()?;
    while cursor.next_element(&mut array)? {
        let at = cursor.start();
        let is_row = cursor.peek_for("an element")? == b'{';
        let is_mixed = if is_row { !batch.elements.is_empty() } else { batch.rows.len() > rows };
        if is_mixed {
            return Err(Fault::at(at, "rows only, or values only"));
        }
        if is_row {
            let row = row(cursor, batch)?;
            batch.rows.push(row);
        } else {
            let element = json::scalar(cursor, &mut batch.values)?;
            batch.elements.push(element);
        }
    }
    Ok(batch.array(rows))
}

/// `{"id": key, "val": value}`; other fields repeat the key.
fn row(cursor: &mut Cursor, batch: &mut Batch) -> Result<(Value, Value), Fault> {
    let at = cursor.at();
    let (mut key, mut value) = (None, None);
    let mut fields = cursor.begin_object()?;
    while let Some(name) = cursor.next_field(&mut fields)? {
        match &*name {
            b"id" => key = Some(json::scalar(cursor, &mut batch.values)?),
            b"val" => value = Some(json::scalar(cursor, &mut batch.values)?),
            _ => cursor.skip_value()?,
        }
    }
    key.zip(value).ok_or_else(|| Fault::at(at, "a row with `id` and `val`"))
}
