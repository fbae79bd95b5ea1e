//! One trace at a time, from JSON into plain columns.

use super::statement::{Verb, implied};
use super::{EXAMPLE, MISSING, key};
use crate::formats::Rewind;
use crate::formats::json::{self, Cursor, Fault, JsonObjects, Marks, Number, set_once};
use crate::history::{Interval, Kind};
use crate::value::{AtomKind, Value, Values};

const TIME: &str = "a time: an integer of at most 64 bits, or such an integer in a string";
const ROW: &str = "a row such as `{\"table\":\"0\",\"primaryKey\":\"0\",\"valueMap\":{\"v\":1}}`";
/// The one column of a key that is no row of a table.
pub(super) const PLAIN_COLUMN: &str = "value";

/// A trace whose values are those of its batch; labels are nil if absent.
pub(super) struct Trace {
    pub(super) session: Option<Value>,
    pub(super) id: Value,
    /// Place in the transaction, or [`MISSING`].
    pub(super) place: i64,
    pub(super) verb: Verb,
    pub(super) interval: Interval,
    pub(super) labels: Labels,
    pub(super) line: u32,
    /// Its cells end here; they start where those of the one before end.
    pub(super) end: usize,
    /// Whether it is a predicate that no row matched.
    pub(super) is_empty_range: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Labels {
    pub(super) statement: Value,
    pub(super) lock_mode: Value,
    pub(super) read_mode: Value,
    pub(super) predicate: Value,
}

/// One column of one row, or ([`Value::NOTHING`]) the row as a whole.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) kind: Kind,
    pub(super) key: Value,
    pub(super) table: Value,
    pub(super) column: Value,
    pub(super) value: Value,
}

/// Counts of records and values that are left out on purpose.
#[derive(Clone, Copy, Default)]
pub(super) struct LeftOut {
    pub(super) asides: u64,
    pub(super) rowless: u64,
    pub(super) columnless: u64,
    pub(super) deleted_values: u64,
}

impl LeftOut {
    pub(super) fn add(&mut self, other: Self) {
        self.asides += other.asides;
        self.rowless += other.rowless;
        self.columnless += other.columnless;
        self.deleted_values += other.deleted_values;
    }
}

/// Traces of a part of a block.
#[derive(Default)]
pub struct Batch {
    pub(super) marks: Marks,
    pub(super) traces: Vec<Trace>,
    pub(super) cells: Vec<Cell>,
    pub(super) left_out: LeftOut,
    pub(super) values: Values,
    /// Rows of the trace at hand, and columns of the row at hand: memory that is used again.
    reads: Vec<Cell>,
    writes: Vec<Cell>,
    columns: Vec<(Value, Value)>,
    spelling: String,
}

/// The fields of a trace so far.
#[derive(Default)]
struct Draft {
    session: Option<Value>,
    id: Option<Value>,
    place: Option<i64>,
    verb: Option<(Verb, Option<Value>)>,
    /// Our own field, which overrules the statement that the verb implies.
    statement: Option<Value>,
    start: Option<i64>,
    finish: Option<i64>,
    lock_mode: Option<Value>,
    read_mode: Option<Value>,
    predicate: Option<Value>,
    /// Where lists of rows stand that were read and written.
    read: Option<usize>,
    written: Option<usize>,
    columnless: u64,
}

impl Rewind for Batch {
    type Mark = usize;

    fn mark(&self) -> usize {
        self.cells.len()
    }

    fn rewind(&mut self, mark: usize) {
        self.cells.truncate(mark);
    }
}

impl JsonObjects for Batch {
    const EXAMPLE: &'static str = EXAMPLE;

    fn marks(&mut self) -> &mut Marks {
        &mut self.marks
    }

    fn object(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        let (at, line) = (cursor.at(), cursor.line() as u32);
        let mut draft = Draft::default();
        self.reads.clear();
        self.writes.clear();
        let mut fields = cursor.begin_object()?;
        while let Some(name) = cursor.next_field(&mut fields)? {
            self.field(&name, &mut draft, cursor)?;
        }
        self.close(&draft, at, line)
    }
}

impl Batch {
    fn field(&mut self, name: &[u8], draft: &mut Draft, cursor: &mut Cursor) -> Result<(), Fault> {
        let at = cursor.start();
        match name {
            b"statement" => set_once(&mut draft.statement, Some(self.label(cursor)?), at),
            _ if cursor.null()? => Ok(()),
            b"threadID" => set_once(&mut draft.session, Some(json::id(cursor, &mut self.values)?), at),
            b"transactionID" => set_once(&mut draft.id, Some(json::id(cursor, &mut self.values)?), at),
            b"operationID" => set_once(&mut draft.place, Some(place(cursor)?), at),
            b"operationTraceType" => set_once(&mut draft.verb, Some(self.verb(cursor, at)?), at),
            b"startTimestamp" => set_once(&mut draft.start, Some(time(cursor, at)?), at),
            b"finishTimestamp" => set_once(&mut draft.finish, Some(time(cursor, at)?), at),
            b"traceLockMode" => set_once(&mut draft.lock_mode, Some(self.label(cursor)?), at),
            b"readMode" => set_once(&mut draft.read_mode, Some(self.label(cursor)?), at),
            b"predicateLock" => set_once(&mut draft.predicate, Some(self.predicate(cursor)?), at),
            b"readTupleList" => {
                set_once(&mut draft.read, Some(at), at)?;
                self.rows(cursor, draft, Kind::Read)
            }
            b"writeTupleList" => {
                set_once(&mut draft.written, Some(at), at)?;
                self.rows(cursor, draft, Kind::Write)
            }
            _ => cursor.skip_value(),
        }
    }

    fn verb(&mut self, cursor: &mut Cursor, at: usize) -> Result<(Verb, Option<Value>), Fault> {
        const VERB: &str = "SELECT, INSERT, UPDATE, DELETE, START, COMMIT or ROLLBACK";
        if cursor.peek_for(VERB)? != b'"' {
            return Err(Fault::at(at, VERB));
        }
        let mut name = cursor.string()?.into_owned();
        name.make_ascii_lowercase();
        let verb = Verb::named(&name).ok_or_else(|| Fault::at(at, VERB))?;
        Ok((verb, implied(verb, &name).map(|name| self.values.intern(AtomKind::Text, name))))
    }

    /// A string or null.
    fn label(&mut self, cursor: &mut Cursor) -> Result<Value, Fault> {
        if cursor.null()? {
            return Ok(Value::NIL);
        }
        Ok(self.values.intern(AtomKind::Text, &cursor.string()?))
    }

    /// A string; any other value is kept as its text.
    fn predicate(&mut self, cursor: &mut Cursor) -> Result<Value, Fault> {
        if cursor.peek() == Some(b'"') {
            return self.label(cursor);
        }
        let text = String::from_utf8_lossy(cursor.raw_value()?);
        Ok(self.values.intern(AtomKind::Text, &text))
    }

    fn rows(&mut self, cursor: &mut Cursor, draft: &mut Draft, kind: Kind) -> Result<(), Fault> {
        let mut rows = cursor.begin_array()?;
        while cursor.next_element(&mut rows)? {
            self.row(cursor, draft, kind)?;
        }
        Ok(())
    }

    fn row(&mut self, cursor: &mut Cursor, draft: &mut Draft, kind: Kind) -> Result<(), Fault> {
        let at = cursor.start();
        if cursor.peek_for(ROW)? != b'{' {
            return Err(Fault::at(at, ROW));
        }
        let (mut table, mut row, mut has_columns) = (None, None, None);
        self.columns.clear();
        let mut fields = cursor.begin_object()?;
        while let Some(name) = cursor.next_field(&mut fields)? {
            let field_at = cursor.start();
            match &*name {
                b"table" => set_once(&mut table, Some(self.name_of_table(cursor)?), field_at)?,
                b"primaryKey" => {
                    set_once(&mut row, Some((json::scalar(cursor, &mut self.values)?, field_at)), field_at)?;
                }
                b"valueMap" => {
                    set_once(&mut has_columns, Some(()), field_at)?;
                    self.columns(cursor)?;
                }
                _ => cursor.skip_value()?,
            }
        }
        let (row, row_at) = row.ok_or_else(|| Fault::at(at, "a row with its `primaryKey`"))?;
        let row = Row { table: table.unwrap_or(Value::NIL), key: row, at: row_at };
        self.cells(row, draft, kind)
    }

    /// Tables have strings or numbers as names; an empty one is none.
    fn name_of_table(&mut self, cursor: &mut Cursor) -> Result<Value, Fault> {
        let at = cursor.start();
        let name = json::scalar(cursor, &mut self.values)?;
        if name == Value::NIL {
            return Ok(name);
        }
        let text = plain_text(&self.values, name).ok_or_else(|| Fault::at(at, "the name of a table"))?;
        Ok(if text.is_empty() { Value::NIL } else { self.values.intern(AtomKind::Text, &text) })
    }

    fn columns(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        if cursor.null()? {
            return Ok(());
        }
        let mut fields = cursor.begin_object()?;
        while let Some(name) = cursor.next_field(&mut fields)? {
            let at = cursor.start();
            if name.is_empty() {
                return Err(Fault::at(at, "a column with a name"));
            }
            // Names are UTF-8 already.
            let column = self.values.intern(AtomKind::Text, &String::from_utf8_lossy(&name));
            if self.columns.iter().any(|&(other, _)| other == column) {
                return Err(Fault::at(at, "each column of a row only once"));
            }
            let value = json::scalar(cursor, &mut self.values)?;
            self.columns.push((column, value));
        }
        Ok(())
    }

    /// Turns the columns of a row into cells; that a row is deleted is known only at the end of the trace.
    fn cells(&mut self, row: Row, draft: &mut Draft, kind: Kind) -> Result<(), Fault> {
        let columns = std::mem::take(&mut self.columns);
        if columns.is_empty() && kind == Kind::Read {
            draft.columnless += 1;
        } else if columns.is_empty() {
            let whole = self.cell(row, Value::NIL, Value::NOTHING, kind)?;
            self.writes.push(whole);
        }
        for &(column, value) in &columns {
            let cell = self.cell(row, column, value, kind)?;
            (if kind == Kind::Read { &mut self.reads } else { &mut self.writes }).push(cell);
        }
        self.columns = columns;
        Ok(())
    }

    fn cell(&mut self, row: Row, column: Value, value: Value, kind: Kind) -> Result<Cell, Fault> {
        let Row { table, key: row, at } = row;
        let name = |label: Value| label.atom_index().map(|index| self.values.atom(index).1);
        let is_plain = table == Value::NIL && (column == Value::NIL || name(column) == Some(PLAIN_COLUMN));
        if is_plain {
            return Ok(Cell { kind, key: row, table, column: Value::NIL, value });
        }
        let text = plain_text(&self.values, row)
            .ok_or_else(|| Fault::at(at, "a string or a number as the primary key"))?;
        let given = |label: Value| if label == Value::NIL { None } else { name(label) };
        let mut spelling = std::mem::take(&mut self.spelling);
        spelling.clear();
        key::spell(given(table), &text, given(column), &mut spelling);
        let key = self.values.intern(AtomKind::Text, &spelling);
        self.spelling = spelling;
        Ok(Cell { kind, key, table, column, value })
    }

    fn close(&mut self, draft: &Draft, at: usize, line: u32) -> Result<(), Fault> {
        let id = draft.id.ok_or_else(|| Fault::at(at, "a trace with its `transactionID`"))?;
        let (verb, implied) =
            draft.verb.ok_or_else(|| Fault::at(at, "a trace with its `operationTraceType`"))?;
        if verb == Verb::Aside {
            self.left_out.asides += 1;
            return Ok(());
        }
        let is_rowless = self.reads.is_empty() && self.writes.is_empty() && draft.columnless == 0;
        let is_timed = draft.start.is_some() || draft.finish.is_some();
        // A statement that touched no row may have taken the snapshot; what it asked for is not told.
        let is_empty_range = is_rowless && !verb.is_marker() && (is_timed || draft.predicate.is_some());
        self.left_out.rowless += u64::from(is_rowless && !verb.is_marker() && !is_empty_range);
        let untold = if is_empty_range { self.values.intern(AtomKind::Text, "") } else { Value::NIL };
        let predicate = draft.predicate.unwrap_or(untold);
        self.left_out.columnless += draft.columnless;
        self.take_cells(verb, draft)?;
        self.traces.push(Trace {
            session: draft.session,
            id,
            place: draft.place.unwrap_or(MISSING),
            verb,
            interval: Interval::new(draft.start, draft.finish),
            labels: Labels {
                statement: draft.statement.or(implied).unwrap_or(Value::NIL),
                lock_mode: draft.lock_mode.unwrap_or(Value::NIL),
                read_mode: draft.read_mode.unwrap_or(Value::NIL),
                predicate,
            },
            line,
            end: self.cells.len(),
            is_empty_range,
        });
        Ok(())
    }

    /// A statement reads before it writes.
    fn take_cells(&mut self, verb: Verb, draft: &Draft) -> Result<(), Fault> {
        let is_misplaced = |rows: &[Cell], fits: bool| !rows.is_empty() && !fits;
        if is_misplaced(&self.reads, !verb.is_marker()) {
            return Err(Fault::at(draft.read.unwrap_or_default(), "no rows: a marker reads nothing"));
        }
        if is_misplaced(&self.writes, !verb.is_marker() && verb != Verb::Select) {
            let at = draft.written.unwrap_or_default();
            return Err(Fault::at(at, "no rows: this kind of operation writes nothing"));
        }
        self.cells.append(&mut self.reads);
        let kind = verb.kind().unwrap_or(Kind::Write);
        for mut cell in self.writes.drain(..) {
            cell.kind = kind;
            let is_whole_row = cell.value == Value::NOTHING;
            if kind == Kind::Delete {
                self.left_out.deleted_values += u64::from(cell.value != Value::NIL && !is_whole_row);
                cell.value = Value::NIL;
            } else if is_whole_row {
                self.left_out.columnless += 1;
                continue;
            }
            self.cells.push(cell);
        }
        Ok(())
    }
}

/// A row of a table (nil if it has none), whose key stands at `at`.
#[derive(Clone, Copy)]
struct Row {
    table: Value,
    key: Value,
    at: usize,
}

/// The text of a string or number.
fn plain_text(values: &Values, value: Value) -> Option<String> {
    if let Some(number) = value.as_small() {
        return Some(number.to_string());
    }
    match values.atom(value.atom_index()?) {
        (AtomKind::Text | AtomKind::Integer | AtomKind::Float, text) => Some(text.to_owned()),
        _ => None,
    }
}

/// The number of an operation: an integer, or the last part of an id such as `0-0-0,0,1`.
fn place(cursor: &mut Cursor) -> Result<i64, Fault> {
    let place = match cursor.peek_for("an id")? {
        b'"' => cursor.string()?.rsplit(',').next().and_then(|last| last.trim().parse().ok()),
        b'-' | b'0'..=b'9' => match cursor.number()? {
            Number::Integer(number) => Some(number),
            _ => None,
        },
        _ => return Err(Fault::at(cursor.at(), "an integer or a string as the id")),
    };
    Ok(place.unwrap_or(MISSING))
}

fn time(cursor: &mut Cursor, at: usize) -> Result<i64, Fault> {
    let is_string = cursor.peek_for(TIME)? == b'"';
    let number = if is_string { cursor.string()?.parse().ok() } else { Some(cursor.integer(TIME)?) };
    // The least integer stands for a missing time in the columns.
    number.filter(|&number| number != i64::MIN).ok_or_else(|| Fault::at(at, TIME))
}
