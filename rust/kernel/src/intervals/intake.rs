//! Translates the transactions of a history: intervals, and what the profile and labels say of statements.

use super::labels::{Labels, OperationConduct, StatementLabel, parse_lock_mode, parse_read_mode};
use super::names::{LabelCache, Names, Translation, cached};
use super::profile::{Granularity, Profile};
use super::span::Span;
use super::transaction::{Bounds, NO_TABLE, Operation, Part, Transaction};
use super::transaction_times::{Draft, Times};
use crate::history::{History, Interval, Kind, NO_KEY, NO_LINE};
use crate::value::Value;

/// Translates the transactions of one batch.
pub struct Intake<'i> {
    pub history: &'i History,
    pub profile: &'i Profile,
    pub error: i64,
}

impl Intake<'_> {
    /// The transaction `number` of the batch.
    ///
    /// # Errors
    /// If it has no intervals.
    pub fn transaction(
        &self,
        number: usize,
        names: &mut Names,
        known: &mut Translation,
    ) -> Result<Transaction, String> {
        let columns = &self.history.transactions;
        let whole = columns.intervals.get(number);
        let mut draft = Draft { end_line: self.end_line(number), ..Draft::default() };
        for operation in self.history.operations_of(number) {
            let place = (operation - self.history.operation_offsets[number] as usize) as u32;
            let span = self.span(operation, whole)?;
            self.operation(operation, place, span, names, known, &mut draft);
        }
        let status = columns.statuses[number];
        let times = draft.times(status, self.outer(whole), self.error).ok_or("it has no operations")?;
        let Times { first, end, release, sure } = times;
        let (snapshot, snapshot_taken_by) = draft.snapshot(self.profile, first, end);
        Ok(Transaction {
            id: known.of(columns.ids[number]),
            session: columns.sessions[number],
            place_in_session: 0,
            number: 0,
            status,
            writes: last_writes(&draft.operations),
            inserts: inserted(&draft.operations),
            locks: Box::default(),
            operations: draft.operations.into_boxed_slice(),
            lists: draft.lists.into_boxed_slice(),
            bounds: draft.bounds.into_boxed_slice(),
            first: first.invoke,
            end,
            appears: if self.profile.orders_by_timestamp() { first.to(end) } else { end },
            release,
            sure,
            snapshot,
            snapshot_taken_by,
            is_installed: false,
            is_uncertain: false,
        })
    }

    /// The line of the commit or rollback of a transaction, [`NO_LINE`] if it has none.
    fn end_line(&self, number: usize) -> u32 {
        let columns = &self.history.operations;
        let last = self.history.operations_of(number).next_back();
        let end = last.filter(|&last| matches!(columns.kinds[last], Kind::Commit | Kind::Abort));
        end.map_or(NO_LINE, |end| columns.lines[end])
    }

    /// Checks whether the transaction can be judged.
    ///
    /// # Errors
    /// If it has no intervals.
    pub fn admit(&self, number: usize) -> Result<(), String> {
        let whole = self.history.transactions.intervals.get(number);
        let operations = self.history.operations_of(number);
        operations.map(|operation| self.span(operation, whole)).try_for_each(|span| span.map(|_| ()))
    }

    fn span(&self, operation: usize, whole: Interval) -> Result<Span, String> {
        let own = self.history.operations.intervals.get(operation);
        let from = if own == Interval::default() { whole } else { own };
        let invoke = from.invoke().ok_or("an operation without its interval")?;
        let complete = from.complete().unwrap_or(Span::NEVER);
        if complete < invoke {
            return Err("an interval that ends before it begins".to_owned());
        }
        Ok(Span { invoke, complete }.widened(self.error))
    }

    fn outer(&self, whole: Interval) -> Option<i64> {
        whole.complete().map(|complete| complete.saturating_add(self.error))
    }

    fn operation(
        &self,
        number: usize,
        place: u32,
        span: Span,
        names: &mut Names,
        known: &mut Translation,
        draft: &mut Draft,
    ) {
        let columns = &self.history.operations;
        let kind = columns.kinds[number];
        let OperationConduct { statement, conduct, skips_locked } = self.conduct(number, kind, names, known);
        let table = known.of(columns.tables.get(number).0);
        let column = known.of(columns.columns.get(number).0);
        let key = columns.keys[number];
        let key = if key == NO_KEY { NO_KEY } else { known.keys[key as usize] };
        let of_row = if column == Value::NIL { Part::Key } else { Part::Cell };
        let part = if key == NO_KEY { of_row } else { names.part(kind, key, table, column) };
        let table_number = if table == Value::NIL { NO_TABLE } else { names.rows.number(table) };
        let of_statement = self.first_of_statement(number, place, draft);
        let mut row_of = |key: u32| names.row(self.profile.granularity, key, table, part);
        let base = Operation {
            kind,
            statement,
            lock: conduct.lock,
            read: conduct.read,
            locks_predicate: conduct.locks_predicate,
            is_absent: false,
            is_partial: skips_locked
                || (kind == Kind::RangeRead && columns.predicates.get(number).0 != Value::NIL),
            part,
            key: NO_KEY,
            row: 0,
            table: table_number,
            value: Value::NIL,
            span,
            place,
            of_statement,
        };
        if kind == Kind::RangeRead {
            let range = self.history.range_of(number);
            let bounds = Value::small(draft.bounds.len() as i64).unwrap_or(Value::NIL);
            draft.bounds.push(Bounds { low: known.of(range.low), high: known.of(range.high) });
            let row = if self.profile.granularity == Granularity::Row { 0 } else { row_of(0) };
            draft.operations.push(Operation { value: bounds, row, ..base });
            for (key, value) in self.history.rows_of(number) {
                let key = known.keys[key as usize];
                let (value, row) = (known.of(value), row_of(key));
                draft.operations.push(Operation { kind: Kind::Read, key, row, value, ..base });
            }
            return;
        }
        if key == NO_KEY {
            draft.operations.push(base);
            return;
        }
        let (value, row) = (columns.values[number], row_of(key));
        let elements = self.history.values.as_list(value);
        let is_nothing = elements.is_none() && value == Value::NIL;
        // An empty list may be a row without elements, or no row.
        let is_empty = elements.is_some_and(<[Value]>::is_empty);
        let is_absent = kind == Kind::Delete
            || columns.tombstones.get(number)
            || kind == Kind::Read && (is_nothing || is_empty);
        let value = match elements {
            Some(elements) => draft.list(elements.iter().map(|&element| known.of(element)).collect()),
            None if is_absent => Value::NIL,
            None => known.of(value),
        };
        draft.operations.push(Operation { is_absent, key, row, value, ..base });
    }

    /// The place of the first operation of the statement. Rows of one statement are on one line of a trace; a line that
    /// also ends the transaction tells no statements apart.
    fn first_of_statement(&self, number: usize, place: u32, draft: &Draft) -> u32 {
        let columns = &self.history.operations;
        let is_row = |one: usize| columns.kinds[one] == Kind::Read && columns.lines[one] != NO_LINE;
        let interval = columns.intervals.get(number);
        let same = |one: usize| {
            columns.lines[one] == columns.lines[number] && columns.intervals.get(one) == interval
        };
        if place == 0
            || !is_row(number)
            || !is_row(number - 1)
            || !same(number - 1)
            || interval == Interval::default()
        {
            return place;
        }
        let is_told = draft.end_line != NO_LINE && draft.end_line != columns.lines[number];
        let before = draft.operations.last().filter(|_| is_told);
        before.map_or(place, |before| before.of_statement)
    }

    /// What an operation locks and reads, by its kind, its labels and the profile.
    fn conduct(&self, number: usize, kind: Kind, names: &Names, known: &mut Translation) -> OperationConduct {
        let columns = &self.history.operations;
        let text = |label: Value| label.atom_index().map_or("", |index| names.values.atom(index).1);
        let statement = known.of(columns.statements.get(number).0);
        let lock = known.of(columns.lock_modes.get(number).0);
        let read = known.of(columns.read_modes.get(number).0);
        let LabelCache { statements, locks, reads } = &mut known.labels;
        let labels = Labels {
            statement: cached(statements, statement, |label| StatementLabel::parse(text(label))),
            lock: cached(locks, lock, |label| parse_lock_mode(text(label))),
            read: cached(reads, read, |label| parse_read_mode(text(label))),
        };
        self.profile.conduct_of(kind, labels)
    }
}

fn last_writes(operations: &[Operation]) -> Box<[(u32, u32)]> {
    let writes = operations.iter().enumerate().filter(|(_, one)| one.kind.installs());
    let mut all: Vec<(u32, u32)> = writes.map(|(place, one)| (one.key, place as u32)).collect();
    all.sort_unstable_by_key(|&(key, place)| (key, std::cmp::Reverse(place)));
    all.dedup_by_key(|&mut (key, _)| key);
    all.into_boxed_slice()
}

fn inserted(operations: &[Operation]) -> Box<[u32]> {
    let inserts = operations.iter().filter(|one| one.kind == Kind::Insert);
    let mut keys: Vec<u32> = inserts.map(|one| one.key).collect();
    keys.sort_unstable();
    keys.into_boxed_slice()
}
