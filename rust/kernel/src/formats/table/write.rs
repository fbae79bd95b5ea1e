//! A history to tables.

use super::{Integers, Lists, NO_TEXT, NULL, Table, Texts, VERSION};
use crate::formats::edn;
use crate::history::{History, Interval, Kind, Label, NO_KEY, Optional, Status, Timestamp};
use crate::value::{Value, Values};
use hashbrown::HashMap;

/// The first of the longest lists that reads of each key returned: it is written once, its prefixes are
/// written as lengths.
pub struct Longest(Vec<Option<usize>>);

impl Longest {
    /// The longest lists of `history`, by key the operation that read it.
    #[must_use]
    pub fn of(history: &History) -> Self {
        let operations = &history.operations;
        let mut longest: Vec<Option<usize>> = vec![None; history.keys.len()];
        let length =
            |operation: usize| history.values.as_list(operations.values[operation]).map(<[Value]>::len);
        for (operation, &kind) in operations.kinds.iter().enumerate() {
            let Some(here) = length(operation).filter(|_| kind == Kind::Read) else { continue };
            let known = &mut longest[operations.keys[operation] as usize];
            if known.is_none_or(|known| length(known).unwrap_or(0) < here) {
                *known = Some(operation);
            }
        }
        Self(longest)
    }

    /// The length of the list that `operation` read, if it is a prefix of the longest one of another row.
    fn prefix(&self, history: &History, operation: usize, list: &[Value]) -> Option<i64> {
        let longest = self.0[history.operations.keys[operation] as usize]?;
        let whole = history.values.as_list(history.operations.values[longest])?;
        (operation != longest && whole.starts_with(list)).then_some(list.len() as i64)
    }
}

/// The operations of `transactions` as rows.
#[must_use]
pub fn export(history: &History, longest: &Longest, transactions: std::ops::Range<usize>) -> Table {
    let mut rows = Rows::new(history);
    for transaction in transactions {
        let operations = history.operations_of(transaction);
        if operations.is_empty() {
            rows.transaction(transaction);
            rows.end();
        }
        for operation in operations {
            rows.transaction(transaction);
            rows.operation(operation, longest);
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
                rows.word(Texts::Statement, order.source.as_str());
                rows.scalar(Integers::Key, Texts::KeyEdn, key);
                rows.scalar(Integers::Value, Texts::ValueEdn, value);
                rows.end();
            }
        }
    }
    rows.table
}

/// The columns that are not null everywhere in the rows of `history`, and whether each is null somewhere.
#[must_use]
pub fn used_columns(history: &History) -> Vec<(&'static str, bool)> {
    let mut cells = [0; Integers::COUNT + Texts::COUNT + 2];
    let mut rows = 0;
    let mut note = |table: &Table| {
        rows += table.rows;
        let integers = table.integers.iter().map(|column| present(column.as_deref(), |&cell| cell != NULL));
        let texts = table.texts.iter().map(|column| {
            present(column.as_ref().map(|text| text.indices.as_slice()), |&index| index != NO_TEXT)
        });
        let lists = present(table.lists.as_ref().map(|lists| lists.present.as_slice()), |&cell| cell != 0);
        let tombstones = if table.tombstone.is_some() { table.rows } else { 0 };
        let counts = integers.chain(texts).chain([lists, tombstones]);
        for (sum, count) in cells.iter_mut().zip(counts) {
            *sum += count;
        }
    };
    let longest = Longest::of(history);
    for first in (0..history.transaction_count()).step_by(STRIDE) {
        note(&export(history, &longest, first..history.transaction_count().min(first + STRIDE)));
    }
    note(&export_versions(history));
    let integers = Integers::ALL.into_iter().map(Integers::as_str);
    let texts = Texts::ALL.into_iter().map(Texts::as_str);
    let names = integers.chain(texts).chain(["value_list", "tombstone"]);
    names.zip(cells).filter(|&(_, count)| count > 0).map(|(name, count)| (name, count < rows)).collect()
}

fn present<T>(column: Option<&[T]>, is_present: impl Fn(&T) -> bool) -> usize {
    column.map_or(0, |cells| cells.iter().filter(|cell| is_present(cell)).count())
}

/// Transactions looked at in one go.
const STRIDE: usize = 1 << 14;

/// A table under construction: a cell that a row does not set is null.
struct Rows<'h> {
    history: &'h History,
    table: Table,
    atoms: [HashMap<Value, i32>; Texts::COUNT],
    words: [HashMap<&'static str, i32>; Texts::COUNT],
    cells: [HashMap<String, i32>; Texts::COUNT],
}

impl<'h> Rows<'h> {
    fn new(history: &'h History) -> Self {
        Self {
            history,
            table: Table::default(),
            atoms: Default::default(),
            words: Default::default(),
            cells: Default::default(),
        }
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
        match self.history.values.as_list(value) {
            // Equal lists are different words.
            Some(_) => self.owned(column, edn_text(&self.history.values, value)),
            None => self.text(column, value, edn_text),
        }
    }

    /// A text that may have come before; pyarrow writes a dictionary with repeated entries as other bytes
    /// every time.
    fn owned(&mut self, column: Texts, cell: String) {
        let text = self.table.texts[column as usize].get_or_insert_default();
        let index = *self.cells[column as usize].entry(cell).or_insert_with_key(|cell| {
            text.dictionary.push(cell.clone());
            text.dictionary.len() as i32 - 1
        });
        self.cell(column, index);
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
        if columns.statuses[number] != Status::Committed {
            self.word(Texts::Status, columns.statuses[number].as_str());
        }
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

    fn operation(&mut self, number: usize, longest: &Longest) {
        let columns = &self.history.operations;
        let (kind, key, value) = (columns.kinds[number], columns.keys[number], columns.values[number]);
        self.word(Texts::Kind, kind.as_str());
        if key != NO_KEY {
            self.scalar(Integers::Key, Texts::KeyEdn, self.history.keys[key as usize]);
        }
        match kind {
            Kind::Begin | Kind::Commit | Kind::Abort => {}
            Kind::RangeRead => self.range(value),
            _ => self.value(number, value, longest),
        }
        self.interval(Integers::OperationInvoke, Integers::OperationComplete, columns.intervals.get(number));
        if columns.tombstones.get(number) {
            let rows = self.table.rows;
            let cells = self.table.tombstone.get_or_insert_default();
            cells.resize(rows, 0);
            cells.push(1);
        }
        for (column, labels) in [
            (Texts::Table, &columns.tables),
            (Texts::Statement, &columns.statements),
            (Texts::LockMode, &columns.lock_modes),
            (Texts::ReadMode, &columns.read_modes),
            (Texts::Predicate, &columns.predicates),
        ] {
            let Label(label) = labels.get(number);
            if let Some(atom) = label.atom_index().filter(|_| label != Value::NIL) {
                self.text(column, label, |values, _| values.atom(atom).1.to_owned());
            }
        }
        if columns.columns.get(number) != Label::default() {
            self.edn(Texts::ColumnsEdn, columns.columns.get(number).0);
        }
    }

    fn value(&mut self, operation: usize, value: Value, longest: &Longest) {
        let Some(list) = self.history.values.as_list(value) else {
            if value != Value::UNKNOWN {
                self.scalar(Integers::Value, Texts::ValueEdn, value);
            }
            return;
        };
        if let Some(length) = longest.prefix(self.history, operation, list) {
            return self.integer(Integers::ValueLength, length);
        }
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
            let mut cell = Vec::new();
            for value in flat {
                cell.push(if cell.is_empty() { b'[' } else { b' ' });
                edn::write_scalar(&self.history.values, value, &mut cell);
            }
            cell.push(b']');
            self.owned(column, String::from_utf8_lossy(&cell).into_owned());
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
