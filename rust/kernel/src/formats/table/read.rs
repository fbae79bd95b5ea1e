//! Tables to a history.

use super::plain_rows::{Entry, PlainRows};
use super::{Integers, NULL, Table, Texts, VERSION};
use crate::builder::{Builder, Details};
use crate::error::ParseError;
use crate::formats::edn;
use crate::history::{History, Interval, Kind, Label, NO_KEY, Status, Timestamp, VersionSource};
use crate::value::{AtomKind, Value};
use std::ops::Range;

/// Collects tables into a history.
#[derive(Default)]
pub struct TableReader {
    /// Public so that initial values can be set.
    pub builder: Builder,
    row: u64,
    latest: Option<(Value, u32)>,
    /// The longest list in a column of each key: others are its prefixes.
    longest: Vec<Option<usize>>,
    /// Reads that returned a prefix: operation, key, length and row.
    prefixes: Vec<(usize, u32, i64, u64)>,
    /// The transactions of some rows; memory that is used again.
    owners: Vec<u32>,
}

/// The scalars of one table's EDN columns, parsed once for each distinct text.
struct Parsed([Vec<Value>; Texts::COUNT]);

impl TableReader {
    /// Adds the rows of `table`.
    ///
    /// # Errors
    /// If a row makes no sense; its number is the error's line.
    pub fn add(&mut self, table: &Table) -> Result<(), ParseError> {
        table.check()?;
        let parsed = self.parse(table)?;
        let entries = self.entries(table)?;
        let details = table.has_details();
        let plain = PlainRows::of(table, &entries).filter(|_| !details);
        let mut row = 0;
        while row < table.rows {
            let end = plain.as_ref().map_or(row, |plain| plain.end(row));
            if let Some(plain) = plain.as_ref().filter(|_| end > row) {
                self.segment(plain, table, &parsed, row..end)?;
                row = end;
                continue;
            }
            self.row += 1;
            match table.index(Texts::Kind, row).map(|index| entries[index]) {
                Some(Entry::Operation(kind)) => {
                    let operation = self.operation(table, &parsed, row, kind)?;
                    if details {
                        self.details(table, &parsed, row, operation);
                    }
                }
                Some(Entry::Version) => self.version(table, &parsed, row)?,
                None => {
                    self.transaction(table, &parsed, row)?;
                }
            }
            row += 1;
        }
        Ok(())
    }

    /// Adds plain rows, column by column.
    fn segment(
        &mut self,
        plain: &PlainRows<'_>,
        table: &Table,
        parsed: &Parsed,
        rows: Range<usize>,
    ) -> Result<(), ParseError> {
        let (first, line) = (self.builder.operation_count(), self.row + 1);
        let mut owners = std::mem::take(&mut self.owners);
        owners.clear();
        for row in rows.clone() {
            self.row += 1;
            owners.push(match self.latest {
                Some((id, number))
                    if id.as_small() == Some(plain.transactions[row]) && plain.goes_on(row) =>
                {
                    number
                }
                _ => self.transaction(table, parsed, row)?,
            });
        }
        let value = |&number: &i64| Value::small(number).unwrap_or(Value::UNKNOWN);
        self.builder.operations(
            &owners,
            rows.clone().map(|row| plain.kind(row).unwrap_or(Kind::Read)),
            plain.keys[rows.clone()].iter().map(value),
            plain.values[rows.clone()].iter().map(value),
            line as u32,
        );
        self.owners = owners;
        let lengths = plain.lengths.map_or(&[][..], |lengths| &lengths[rows]);
        for (place, &length) in lengths.iter().enumerate().filter(|&(_, &length)| length != NULL) {
            let key = self.builder.key_of(first + place);
            self.prefixes.push((first + place, key, length, line + place as u64));
        }
        Ok(())
    }

    /// The meanings of the texts of the column `kind`.
    fn entries(&self, table: &Table) -> Result<Vec<Entry>, ParseError> {
        let Some(column) = &table.texts[Texts::Kind as usize] else {
            return Ok(Vec::new());
        };
        let entries = column.dictionary.iter().map(|name| match Kind::named(name) {
            Some(kind) => Ok(Entry::Operation(kind)),
            None if name == VERSION => Ok(Entry::Version),
            None => Err(self.fail("a kind of operation such as `read`", name)),
        });
        entries.collect()
    }

    /// The rows so far as a history of their own. Later rows must be of other transactions, and need their
    /// initial values again.
    ///
    /// # Errors
    /// If they do not make one.
    pub fn drain(&mut self) -> Result<History, ParseError> {
        let drained = std::mem::take(self);
        self.row = drained.row;
        drained.into_history()
    }

    /// The history of all tables.
    ///
    /// # Errors
    /// If the rows do not make one.
    pub fn into_history(mut self) -> Result<History, ParseError> {
        for (operation, key, length, row) in std::mem::take(&mut self.prefixes) {
            let longest = self.longest.get(key as usize).copied().flatten();
            let fits = |list: &usize| (0..=self.builder.values.list(*list).len() as i64).contains(&length);
            let Some(list) = longest.filter(fits) else {
                let expected = "a `value_list` of the key with at least `value_length` elements";
                return Err(ParseError::on_line(row, expected, &format!("a length of {length}")));
            };
            let value = self.builder.values.prefix(list, length as u32);
            self.builder.set_value(operation, value);
        }
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
                let value = if Texts::ALL[column].as_str().ends_with("_edn") {
                    edn::parse_value(entry, &mut self.builder.values).map_err(|error| {
                        let expected = format!("EDN in the column {}", Texts::ALL[column].as_str());
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

    #[inline]
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
        let number = match self.builder.find(id) {
            Some(number) => self.known_transaction(table, parsed, row, number)?,
            None => self.new_transaction(table, parsed, row, id)?,
        };
        self.latest = Some((id, number));
        Ok(number)
    }

    /// Rows of one transaction must agree on its session and status.
    fn known_transaction(
        &mut self,
        table: &Table,
        parsed: &Parsed,
        row: usize,
        number: u32,
    ) -> Result<u32, ParseError> {
        let session = self.scalar(table, parsed, row, Integers::Session, Texts::SessionEdn);
        let known = self.builder.session_id(self.builder.session_of(number));
        let status = self.builder.status_of(number).as_str();
        if session.unwrap_or(Value::NIL) == known && status_name(table, row) == status {
            return Ok(number);
        }
        let expected = format!("the session and status that row {} gave", self.builder.line_of(number));
        Err(self.fail(&expected, "others"))
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
        let Some(status) = Status::named(status_name(table, row)) else {
            return Err(self.fail("committed, aborted or indeterminate", status_name(table, row)));
        };
        let line = self.row as u32;
        let number = self.builder.transaction(id, session, status, line).expect("the id is new");
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
    ) -> Result<usize, ParseError> {
        let transaction = self.transaction(table, parsed, row)?;
        let line = self.row as u32;
        Ok(match kind {
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
                let operation = self.builder.operation(transaction, kind, key, value, line);
                self.note_list(table, row, key, operation, value);
                operation
            }
        })
    }

    fn details(&mut self, table: &Table, parsed: &Parsed, row: usize, operation: usize) {
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
                lock_mode: label(Texts::LockMode),
                read_mode: label(Texts::ReadMode),
                predicate: label(Texts::Predicate),
                tombstone: table.tombstone.as_ref().is_some_and(|column| column[row] != 0),
            },
        );
    }

    fn value(&mut self, table: &Table, parsed: &Parsed, row: usize, kind: Kind) -> Result<Value, ParseError> {
        if let Some(value) = self.scalar(table, parsed, row, Integers::Value, Texts::ValueEdn) {
            return Ok(value);
        }
        if let Some(lists) = table.lists.as_ref().filter(|lists| lists.present[row] != 0) {
            let (from, to) = (lists.offsets[row] as usize, lists.offsets[row + 1] as usize);
            return Ok(self.builder.values.push_integers(&lists.elements[from..to]));
        }
        match kind {
            Kind::Read => Ok(Value::UNKNOWN),
            Kind::Delete => Ok(Value::NIL),
            _ => Err(self.fail("a value", "null")),
        }
    }

    /// Remembers a list whose prefixes other rows may have read, or that this row read such a prefix.
    fn note_list(&mut self, table: &Table, row: usize, key: u32, operation: usize, value: Value) {
        if let Some(length) = table.integer(Integers::ValueLength, row) {
            self.prefixes.push((operation, key, length, self.row));
        }
        let Some(list) = value.list_index() else { return };
        if self.longest.len() <= key as usize {
            self.longest.resize(key as usize + 1, None);
        }
        let values = &self.builder.values;
        let known = &mut self.longest[key as usize];
        if known.is_none_or(|known| values.list(known).len() < values.list(list).len()) {
            *known = Some(list);
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
        let name = table.text(Texts::Statement, row).unwrap_or("null");
        let Some(source) = VersionSource::named(name) else {
            return Err(self.fail("`log` or `declared` as the statement of a version", name));
        };
        let key = self.scalar(table, parsed, row, Integers::Key, Texts::KeyEdn);
        let value = self.scalar(table, parsed, row, Integers::Value, Texts::ValueEdn);
        let (Some(key), Some(value)) = (key, value) else {
            return Err(self.fail("a key and a value of a version", "null"));
        };
        let key = self.builder.key(key);
        self.builder.version(source, key, value);
        Ok(())
    }
}

fn status_name(table: &Table, row: usize) -> &str {
    table.text(Texts::Status, row).unwrap_or(Status::Committed.as_str())
}
