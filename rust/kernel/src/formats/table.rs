//! Histories as tables: one row an operation, columns of integers and of texts from a dictionary.
//!
//! `docs/reference/formats/parquet.md` documents the columns; `isoscope.formats.parquet` stores them. A
//! scalar is an integer in its plain column, or EDN text in the column with the suffix `_edn`. A row
//! without a kind is a transaction without operations; a row of kind `version` is the next version of
//! its key according to the source named in `statement`.

use super::edn;
use crate::builder::{Builder, Details};
use crate::error::ParseError;
use crate::history::{History, Interval, Kind, Label, NO_KEY, Optional, Status, Timestamp, VersionSource};
use crate::value::{AtomKind, Value, Values};
use hashbrown::HashMap;

/// Stands for null in columns of integers; 62 bits are kept there, larger ones are EDN.
pub const NULL: i64 = i64::MIN;
/// Stands for null in the indices of columns of texts.
pub const NO_TEXT: i32 = -1;

/// Columns of integers.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub enum Integers {
    Transaction,
    Session,
    Key,
    Value,
    Sequence,
    StartPhysical,
    StartLogical,
    CommitPhysical,
    CommitLogical,
    Invoke,
    Complete,
    InvokePosition,
    CompletePosition,
    OperationInvoke,
    OperationComplete,
}

/// Names of the columns of integers, in the order of [`Integers`].
pub const INTEGERS: [&str; 15] = [
    "transaction",
    "session",
    "key",
    "value",
    "sequence",
    "start_physical",
    "start_logical",
    "commit_physical",
    "commit_logical",
    "invoke",
    "complete",
    "invoke_position",
    "complete_position",
    "operation_invoke",
    "operation_complete",
];

/// Columns of texts.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub enum Texts {
    TransactionEdn,
    SessionEdn,
    Status,
    Kind,
    KeyEdn,
    ValueEdn,
    Table,
    ColumnsEdn,
    Statement,
    LowEdn,
    HighEdn,
    RowsEdn,
    TombstonesEdn,
}

/// Names of the columns of texts, in the order of [`Texts`].
pub const TEXTS: [&str; 13] = [
    "transaction_edn",
    "session_edn",
    "status",
    "kind",
    "key_edn",
    "value_edn",
    "table",
    "columns_edn",
    "statement",
    "low_edn",
    "high_edn",
    "rows_edn",
    "tombstones_edn",
];

const KINDS: [&str; 9] =
    ["read", "write", "append", "insert", "delete", "range-read", "begin", "commit", "abort"];
const STATUSES: [&str; 3] = ["committed", "aborted", "indeterminate"];
const SOURCES: [&str; 2] = ["log", "declared"];
const VERSION: &str = "version";

/// A column of texts: each row the index of its text, or [`NO_TEXT`].
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Text {
    pub indices: Vec<i32>,
    pub dictionary: Vec<String>,
}

/// A column of lists of integers: row `r` is `elements[offsets[r]..offsets[r + 1]]` if `present[r]`.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Lists {
    pub offsets: Vec<i64>,
    pub elements: Vec<i64>,
    pub present: Vec<u8>,
}

/// Some rows; a column that is `None` is null in all of them.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Table {
    pub rows: usize,
    pub integers: [Option<Vec<i64>>; INTEGERS.len()],
    pub texts: [Option<Text>; TEXTS.len()],
    pub lists: Option<Lists>,
    pub tombstone: Option<Vec<u8>>,
}

impl Table {
    fn integer(&self, column: Integers, row: usize) -> Option<i64> {
        self.integers[column as usize].as_ref().map(|column| column[row]).filter(|&value| value != NULL)
    }

    fn index(&self, column: Texts, row: usize) -> Option<usize> {
        let index = self.texts[column as usize].as_ref()?.indices[row];
        usize::try_from(index).ok()
    }

    fn text(&self, column: Texts, row: usize) -> Option<&str> {
        let index = self.index(column, row)?;
        self.texts[column as usize].as_ref().map(|column| column.dictionary[index].as_str())
    }

    /// Whether every column has as many rows as the table says and indices stay inside dictionaries.
    fn check(&self) -> Result<(), ParseError> {
        let texts = self.texts.iter().flatten();
        let whole = self.integers.iter().flatten().all(|column| column.len() == self.rows)
            && texts.clone().all(|column| column.indices.len() == self.rows)
            && self.tombstone.as_ref().is_none_or(|column| column.len() == self.rows)
            && self.lists.as_ref().is_none_or(|lists| {
                lists.present.len() == self.rows
                    && lists.offsets.len() == self.rows + 1
                    && lists.offsets.is_sorted()
                    && lists.offsets[0] >= 0
                    && lists.offsets[self.rows] as usize <= lists.elements.len()
            });
        let inside = texts
            .clone()
            .all(|column| column.indices.iter().all(|&index| index < column.dictionary.len() as i32));
        if whole && inside {
            return Ok(());
        }
        Err(ParseError::on_line(0, "columns of equal length", "a table that contradicts itself"))
    }
}

/// Collects tables into a history.
#[derive(Default)]
pub struct TableReader {
    /// Public so that initial values can be set.
    pub builder: Builder,
    row: u64,
    latest: Option<(Value, u32)>,
}

/// The scalars of one table's EDN columns, parsed once for each distinct text.
struct Parsed([Vec<Value>; TEXTS.len()]);

impl TableReader {
    /// Adds the rows of `table`.
    ///
    /// # Errors
    /// If a row makes no sense; its number is the error's line.
    pub fn add(&mut self, table: &Table) -> Result<(), ParseError> {
        table.check()?;
        let parsed = self.parse(table)?;
        for row in 0..table.rows {
            self.row += 1;
            match table.text(Texts::Kind, row) {
                Some(VERSION) => self.version(table, &parsed, row)?,
                None => {
                    self.transaction(table, &parsed, row)?;
                }
                Some(kind) => {
                    let Some(kind) = KINDS.iter().position(|&name| name == kind) else {
                        return Err(self.fail("a kind of operation such as `read`", kind));
                    };
                    self.operation(table, &parsed, row, Kind::ALL[kind])?;
                }
            }
        }
        Ok(())
    }

    /// The history of all tables.
    ///
    /// # Errors
    /// If the rows do not make one.
    pub fn finish(self) -> Result<History, ParseError> {
        self.builder.finish()
    }

    fn fail(&self, expected: &str, found: &str) -> ParseError {
        ParseError::on_line(self.row, expected, &format!("`{found}`"))
    }

    fn parse(&mut self, table: &Table) -> Result<Parsed, ParseError> {
        let mut parsed = Parsed(Default::default());
        for (column, values) in parsed.0.iter_mut().enumerate() {
            let Some(text) = &table.texts[column] else { continue };
            for entry in &text.dictionary {
                let value = if TEXTS[column].ends_with("_edn") {
                    edn::parse_value(entry, &mut self.builder.values).map_err(|error| {
                        let expected = format!("EDN in the column {}", TEXTS[column]);
                        ParseError::on_line(
                            self.row + 1,
                            &expected,
                            &format!("`{entry}` ({})", error.expected),
                        )
                    })?
                } else {
                    self.builder.values.intern(AtomKind::Text, entry)
                };
                values.push(value);
            }
        }
        Ok(parsed)
    }

    fn scalar(
        &mut self,
        table: &Table,
        parsed: &Parsed,
        row: usize,
        plain: Integers,
        edn: Texts,
    ) -> Option<Value> {
        if let Some(number) = table.integer(plain, row) {
            return Some(self.builder.values.integer(number));
        }
        table.index(edn, row).map(|index| parsed.0[edn as usize][index])
    }

    fn transaction(&mut self, table: &Table, parsed: &Parsed, row: usize) -> Result<u32, ParseError> {
        let id = self.scalar(table, parsed, row, Integers::Transaction, Texts::TransactionEdn);
        let Some(id) = id else { return Err(self.fail("a transaction", "null")) };
        if let Some((latest, number)) = self.latest
            && latest == id
        {
            return Ok(number);
        }
        let number = match self.builder.find(id) {
            Some(number) => number,
            None => self.new_transaction(table, parsed, row, id)?,
        };
        self.latest = Some((id, number));
        Ok(number)
    }

    fn new_transaction(
        &mut self,
        table: &Table,
        parsed: &Parsed,
        row: usize,
        id: Value,
    ) -> Result<u32, ParseError> {
        let session = match self.scalar(table, parsed, row, Integers::Session, Texts::SessionEdn) {
            Some(session) => self.builder.session(session),
            None => self.builder.nameless_session(),
        };
        let status = table.text(Texts::Status, row).unwrap_or(STATUSES[0]);
        let Some(status) = STATUSES.iter().position(|&name| name == status) else {
            return Err(self.fail("committed, aborted or indeterminate", status));
        };
        let line = self.row as u32;
        let number = self.builder.transaction(id, session, Status::ALL[status], line).expect("the id is new");
        let clock = |physical, logical| match table.integer(physical, row) {
            Some(time) => Timestamp::new(time, table.integer(logical, row).unwrap_or(0)),
            None => Timestamp::default(),
        };
        let start = clock(Integers::StartPhysical, Integers::StartLogical);
        let commit = clock(Integers::CommitPhysical, Integers::CommitLogical);
        self.builder.timestamps(number, start, commit);
        let between = |from, to| Interval::new(table.integer(from, row), table.integer(to, row));
        self.builder.interval(number, between(Integers::Invoke, Integers::Complete));
        self.builder.positions(number, between(Integers::InvokePosition, Integers::CompletePosition));
        if let Some(place) = table.integer(Integers::Sequence, row) {
            self.builder.sequence(number, place);
        }
        Ok(number)
    }

    fn operation(
        &mut self,
        table: &Table,
        parsed: &Parsed,
        row: usize,
        kind: Kind,
    ) -> Result<(), ParseError> {
        let transaction = self.transaction(table, parsed, row)?;
        let line = self.row as u32;
        let operation = match kind {
            Kind::RangeRead => self.range(table, parsed, row, transaction)?,
            Kind::Begin | Kind::Commit | Kind::Abort => {
                self.builder.operation(transaction, kind, NO_KEY, Value::NIL, line)
            }
            _ => {
                let Some(key) = self.scalar(table, parsed, row, Integers::Key, Texts::KeyEdn) else {
                    return Err(self.fail("a key", "null"));
                };
                let value = self.value(table, parsed, row, kind)?;
                let key = self.builder.key(key);
                self.builder.operation(transaction, kind, key, value, line)
            }
        };
        let label = |column: Texts| {
            Label(table.index(column, row).map_or(Value::NIL, |index| parsed.0[column as usize][index]))
        };
        let from = table.integer(Integers::OperationInvoke, row);
        let to = table.integer(Integers::OperationComplete, row);
        self.builder.details(
            operation,
            Details {
                interval: Interval::new(from, to),
                table: label(Texts::Table),
                columns: label(Texts::ColumnsEdn),
                statement: label(Texts::Statement),
                tombstone: table.tombstone.as_ref().is_some_and(|column| column[row] != 0),
            },
        );
        Ok(())
    }

    fn value(&mut self, table: &Table, parsed: &Parsed, row: usize, kind: Kind) -> Result<Value, ParseError> {
        if let Some(value) = self.scalar(table, parsed, row, Integers::Value, Texts::ValueEdn) {
            return Ok(value);
        }
        if let Some(lists) = table.lists.as_ref().filter(|lists| lists.present[row] != 0) {
            let (from, to) = (lists.offsets[row] as usize, lists.offsets[row + 1] as usize);
            for &element in &lists.elements[from..to] {
                let element = self.builder.values.integer(element);
                self.builder.values.push_element(element);
            }
            return Ok(self.builder.values.close_list());
        }
        match kind {
            Kind::Read => Ok(Value::UNKNOWN),
            Kind::Delete => Ok(Value::NIL),
            _ => Err(self.fail("a value", "null")),
        }
    }

    fn range(
        &mut self,
        table: &Table,
        parsed: &Parsed,
        row: usize,
        transaction: u32,
    ) -> Result<usize, ParseError> {
        let of = |column: Texts| table.index(column, row).map(|index| parsed.0[column as usize][index]);
        let bounds = (of(Texts::LowEdn).unwrap_or(Value::NIL), of(Texts::HighEdn).unwrap_or(Value::NIL));
        let live = self.pairs(of(Texts::RowsEdn))?;
        let dead = self.pairs(of(Texts::TombstonesEdn))?;
        Ok(self.builder.range_read(transaction, bounds, &live, &dead, self.row as u32))
    }

    /// Keys and values in turn, as one list.
    fn pairs(&mut self, list: Option<Value>) -> Result<Vec<(u32, Value)>, ParseError> {
        let Some(list) = list else { return Ok(Vec::new()) };
        let flat = self.builder.values.as_list(list).map(<[Value]>::to_vec);
        match flat {
            Some(flat) if flat.len() % 2 == 0 => {
                Ok(flat.chunks(2).map(|pair| (self.builder.key(pair[0]), pair[1])).collect())
            }
            _ => Err(self.fail("keys and values in turn as the rows of a range read", "something else")),
        }
    }

    fn version(&mut self, table: &Table, parsed: &Parsed, row: usize) -> Result<(), ParseError> {
        let source = table.text(Texts::Statement, row).unwrap_or("null");
        let Some(source) = SOURCES.iter().position(|&name| name == source) else {
            return Err(self.fail("`log` or `declared` as the statement of a version", source));
        };
        let key = self.scalar(table, parsed, row, Integers::Key, Texts::KeyEdn);
        let value = self.scalar(table, parsed, row, Integers::Value, Texts::ValueEdn);
        let (Some(key), Some(value)) = (key, value) else {
            return Err(self.fail("a key and a value of a version", "null"));
        };
        let key = self.builder.key(key);
        self.builder.version(VersionSource::ALL[source], key, value);
        Ok(())
    }
}

/// The operations of `transactions` as rows.
#[must_use]
pub fn export(history: &History, transactions: std::ops::Range<usize>) -> Table {
    let mut rows = Rows::new(history);
    for transaction in transactions {
        let operations = history.operations_of(transaction);
        if operations.is_empty() {
            rows.transaction(transaction);
            rows.end();
        }
        for operation in operations {
            rows.transaction(transaction);
            rows.operation(operation);
            rows.end();
        }
    }
    rows.table
}

/// The recorded version orders as rows of kind `version`.
#[must_use]
pub fn export_versions(history: &History) -> Table {
    let mut rows = Rows::new(history);
    for order in &history.versions {
        for (number, &key) in history.keys.iter().enumerate() {
            for &value in order.of(number as u32) {
                rows.word(Texts::Kind, VERSION);
                rows.word(Texts::Statement, SOURCES[order.source as usize]);
                rows.scalar(Integers::Key, Texts::KeyEdn, key);
                rows.scalar(Integers::Value, Texts::ValueEdn, value);
                rows.end();
            }
        }
    }
    rows.table
}

/// Names of the columns that are not null everywhere in the rows of `history`.
#[must_use]
pub fn used_columns(history: &History) -> Vec<&'static str> {
    let mut integers = [false; INTEGERS.len()];
    let mut texts = [false; TEXTS.len()];
    let (mut lists, mut tombstone) = (false, false);
    let mut note = |table: &Table| {
        for (used, column) in integers.iter_mut().zip(&table.integers) {
            *used |= column.is_some();
        }
        for (used, column) in texts.iter_mut().zip(&table.texts) {
            *used |= column.is_some();
        }
        lists |= table.lists.is_some();
        tombstone |= table.tombstone.is_some();
    };
    for first in (0..history.transaction_count()).step_by(STRIDE) {
        note(&export(history, first..history.transaction_count().min(first + STRIDE)));
    }
    note(&export_versions(history));
    let integers = INTEGERS.into_iter().zip(integers);
    let texts = TEXTS.into_iter().zip(texts);
    let others = [("value_list", lists), ("tombstone", tombstone)];
    integers.chain(texts).chain(others).filter(|&(_, used)| used).map(|(name, _)| name).collect()
}

/// Transactions looked at in one go.
const STRIDE: usize = 1 << 14;

/// A table under construction: a cell that a row does not set is null.
struct Rows<'h> {
    history: &'h History,
    table: Table,
    atoms: [HashMap<Value, i32>; TEXTS.len()],
    words: [HashMap<&'static str, i32>; TEXTS.len()],
}

impl<'h> Rows<'h> {
    fn new(history: &'h History) -> Self {
        Self { history, table: Table::default(), atoms: Default::default(), words: Default::default() }
    }

    fn integer(&mut self, column: Integers, value: i64) {
        let rows = self.table.rows;
        let cells = self.table.integers[column as usize].get_or_insert_default();
        cells.resize(rows, NULL);
        cells.push(value);
    }

    fn cell(&mut self, column: Texts, index: i32) {
        let rows = self.table.rows;
        let text = self.table.texts[column as usize].get_or_insert_default();
        text.indices.resize(rows, NO_TEXT);
        text.indices.push(index);
    }

    fn word(&mut self, column: Texts, word: &'static str) {
        let text = self.table.texts[column as usize].get_or_insert_default();
        let index = *self.words[column as usize].entry(word).or_insert_with(|| {
            text.dictionary.push(word.to_owned());
            text.dictionary.len() as i32 - 1
        });
        self.cell(column, index);
    }

    fn text(&mut self, column: Texts, value: Value, write: impl FnOnce(&Values, Value) -> String) {
        let text = self.table.texts[column as usize].get_or_insert_default();
        let index = *self.atoms[column as usize].entry(value).or_insert_with(|| {
            text.dictionary.push(write(&self.history.values, value));
            text.dictionary.len() as i32 - 1
        });
        self.cell(column, index);
    }

    fn edn(&mut self, column: Texts, value: Value) {
        self.text(column, value, edn_text);
    }

    fn scalar(&mut self, plain: Integers, edn: Texts, value: Value) {
        match value.as_small() {
            Some(number) => self.integer(plain, number),
            None => self.edn(edn, value),
        }
    }

    fn interval(&mut self, from: Integers, to: Integers, interval: Interval) {
        for (column, time) in [(from, interval.invoke()), (to, interval.complete())] {
            if let Some(time) = time {
                self.integer(column, time);
            }
        }
    }

    fn transaction(&mut self, number: usize) {
        let columns = &self.history.transactions;
        let session = self.history.session_ids[columns.sessions[number] as usize];
        self.scalar(Integers::Transaction, Texts::TransactionEdn, columns.ids[number]);
        if session != Value::NIL {
            self.scalar(Integers::Session, Texts::SessionEdn, session);
        }
        self.word(Texts::Status, STATUSES[columns.statuses[number] as usize]);
        if let Some(place) = columns.sequences.get(number).number() {
            self.integer(Integers::Sequence, place);
        }
        self.clock(Integers::StartPhysical, Integers::StartLogical, &columns.starts, number);
        self.clock(Integers::CommitPhysical, Integers::CommitLogical, &columns.commits, number);
        self.interval(Integers::Invoke, Integers::Complete, columns.intervals.get(number));
        let positions = columns.positions.get(number);
        self.interval(Integers::InvokePosition, Integers::CompletePosition, positions);
    }

    fn clock(&mut self, physical: Integers, logical: Integers, column: &Optional<Timestamp>, number: usize) {
        if let Some((time, count)) = column.get(number).parts() {
            self.integer(physical, time);
            self.integer(logical, count);
        }
    }

    fn operation(&mut self, number: usize) {
        let columns = &self.history.operations;
        let (kind, key, value) = (columns.kinds[number], columns.keys[number], columns.values[number]);
        self.word(Texts::Kind, KINDS[kind as usize]);
        if key != NO_KEY {
            self.scalar(Integers::Key, Texts::KeyEdn, self.history.keys[key as usize]);
        }
        match kind {
            Kind::Begin | Kind::Commit | Kind::Abort => {}
            Kind::RangeRead => self.range(value),
            _ => self.value(value),
        }
        self.interval(Integers::OperationInvoke, Integers::OperationComplete, columns.intervals.get(number));
        if columns.tombstones.get(number) {
            let rows = self.table.rows;
            let cells = self.table.tombstone.get_or_insert_default();
            cells.resize(rows, 0);
            cells.push(1);
        }
        for (column, Label(label)) in
            [(Texts::Table, columns.tables.get(number)), (Texts::Statement, columns.statements.get(number))]
        {
            if let Some(atom) = label.atom_index().filter(|_| label != Value::NIL) {
                self.text(column, label, |values, _| values.atom(atom).1.to_owned());
            }
        }
        if columns.columns.get(number) != Label::default() {
            self.edn(Texts::ColumnsEdn, columns.columns.get(number).0);
        }
    }

    fn value(&mut self, value: Value) {
        let Some(list) = self.history.values.as_list(value) else {
            if value != Value::UNKNOWN {
                self.scalar(Integers::Value, Texts::ValueEdn, value);
            }
            return;
        };
        if !list.iter().all(|element| element.as_small().is_some()) {
            return self.edn(Texts::ValueEdn, value);
        }
        let rows = self.table.rows;
        let lists = self.table.lists.get_or_insert_default();
        lists.pad(rows);
        lists.elements.extend(list.iter().filter_map(|element| element.as_small()));
        lists.present.push(1);
        lists.offsets.push(lists.elements.len() as i64);
    }

    fn range(&mut self, number: Value) {
        let ranges = &self.history.ranges;
        let range = ranges.ranges[number.as_small().unwrap_or_default() as usize];
        for (column, bound) in [(Texts::LowEdn, range.low), (Texts::HighEdn, range.high)] {
            if bound != Value::NIL {
                self.edn(column, bound);
            }
        }
        let first = range.first_row as usize;
        let middle = first + range.live as usize;
        for (column, rows) in
            [(Texts::RowsEdn, first..middle), (Texts::TombstonesEdn, middle..middle + range.dead as usize)]
        {
            if rows.is_empty() {
                continue;
            }
            let flat = rows
                .flat_map(|row| [self.history.keys[ranges.row_keys[row] as usize], ranges.row_values[row]]);
            let parts: Vec<String> = flat.map(|value| edn_text(&self.history.values, value)).collect();
            let text = self.table.texts[column as usize].get_or_insert_default();
            text.dictionary.push(format!("[{}]", parts.join(" ")));
            let index = text.dictionary.len() as i32 - 1;
            self.cell(column, index);
        }
    }

    fn end(&mut self) {
        self.table.rows += 1;
        let rows = self.table.rows;
        for cells in self.table.integers.iter_mut().flatten() {
            cells.resize(rows, NULL);
        }
        for text in self.table.texts.iter_mut().flatten() {
            text.indices.resize(rows, NO_TEXT);
        }
        if let Some(cells) = &mut self.table.tombstone {
            cells.resize(rows, 0);
        }
        if let Some(lists) = &mut self.table.lists {
            lists.pad(rows);
        }
    }
}

impl Lists {
    fn pad(&mut self, rows: usize) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.present.resize(rows, 0);
        self.offsets.resize(rows + 1, self.elements.len() as i64);
    }
}

/// `value` as EDN.
#[must_use]
pub fn edn_text(values: &Values, value: Value) -> String {
    let mut text = Vec::new();
    edn::write_value(values, value, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
