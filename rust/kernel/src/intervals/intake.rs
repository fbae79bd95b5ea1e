//! Transactions of a history, translated: intervals, statements, and what the profile says of them.

use super::labels::{Labels, OperationConduct, StatementLabel, parse_lock_mode, parse_read_mode};
use super::profile::{Certifier, Granularity, Lock, Profile, Read, Snapshot};
use super::span::Span;
use super::transaction::{Bounds, NO_TABLE, Operation, Part, Transaction};
use crate::history::{History, Interval, Kind, NO_KEY, Status};
use crate::index::DenseIndex;
use crate::value::{AtomKind, Value, Values};
use hashbrown::HashMap;

/// How keys, rows and scalars of batches are called here.
#[derive(Debug, Default)]
pub struct Names {
    pub values: Values,
    pub keys: DenseIndex,
    /// What locks are on.
    pub rows: DenseIndex,
    pub row_of_key: Vec<u32>,
}

/// How those of one batch are.
pub struct Translation {
    atoms: Vec<Value>,
    keys: Vec<u32>,
    labels: LabelCache,
}

impl Translation {
    /// Keys of the batch whose numbers here are not below `before`, with these numbers.
    pub fn new_keys(&self, before: u32) -> impl Iterator<Item = (u32, u32)> {
        let all = self.keys.iter().enumerate().map(|(key, &number)| (key as u32, number));
        all.filter(move |&(_, number)| number >= before)
    }

    pub fn of(&self, value: Value) -> Value {
        value.atom_index().map_or(value, |index| self.atoms[index])
    }
}

impl Names {
    /// Everything of a batch gets a name and a number.
    pub fn translate(&mut self, history: &History) -> Translation {
        let mut atoms = vec![Value::NIL; history.values.atom_count()];
        for (index, atom) in atoms.iter_mut().enumerate().skip(1) {
            let (kind, text) = history.values.atom(index);
            *atom = self.values.intern(kind, text);
        }
        let mut translation = Translation {
            atoms,
            keys: Vec::with_capacity(history.keys.len()),
            labels: LabelCache::default(),
        };
        for &key in &history.keys {
            let number = self.keys.number(translation.of(key));
            translation.keys.push(number);
            if number as usize == self.row_of_key.len() {
                self.row_of_key.push(u32::MAX);
            }
        }
        translation
    }

    /// What a lock on a key is on.
    fn row(&mut self, granularity: Granularity, key: u32, table: Value, part: Part) -> u32 {
        match granularity {
            Granularity::Database => 0,
            Granularity::Table if table != Value::NIL => self.rows.number(table),
            Granularity::Table | Granularity::Row => {
                if self.row_of_key[key as usize] == u32::MAX {
                    let row = self.row_value(key, part);
                    self.row_of_key[key as usize] = self.rows.number(row);
                }
                self.row_of_key[key as usize]
            }
        }
    }

    /// What a key is of a row: only who deletes it names a row as a whole, as `table/row/`.
    fn part(&self, kind: Kind, key: u32, table: Value, column: Value) -> Part {
        let is_row = || {
            let id = self.keys.ids()[key as usize];
            id.atom_index().is_some_and(|index| self.values.atom(index).1.ends_with('/'))
        };
        match column != Value::NIL {
            true => Part::Cell,
            false if kind == Kind::Delete && table != Value::NIL && is_row() => Part::Row,
            false => Part::Key,
        }
    }

    /// A cell `table/row/column` belongs to the row `table/row/`, which is no key: only terms are called so.
    fn row_value(&mut self, key: u32, part: Part) -> Value {
        let id = self.keys.ids()[key as usize];
        let Some(index) = id.atom_index().filter(|_| part != Part::Key) else { return id };
        let (kind, text) = self.values.atom(index);
        let end = text.rfind('/').map_or(text.len(), |slash| slash + 1);
        if kind != AtomKind::Text {
            return id;
        }
        let row = text[..end].to_owned();
        self.values.intern(AtomKind::Term, &row)
    }
}

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
        let mut draft = Draft::default();
        for operation in self.history.operations_of(number) {
            let place = (operation - self.history.operation_offsets[number] as usize) as u32;
            let span = self.span(operation, whole)?;
            self.operation(operation, place, span, names, known, &mut draft);
        }
        let status = columns.statuses[number];
        let times = draft.times(status, self.outer(whole), self.error).ok_or("it has no operations")?;
        let Times { first, end, release, sure } = times;
        let snapshot = draft.snapshot(self.profile.snapshot, first, end);
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
            appears: if self.profile.certifier == Certifier::TimestampOrder { first.to(end) } else { end },
            release,
            sure,
            snapshot,
            is_installed: false,
            is_uncertain: false,
        })
    }

    /// Whether the transaction can be judged.
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
        let mut row_of = |key: u32| names.row(self.profile.granularity, key, table, part);
        let base = Operation {
            kind,
            statement,
            lock: conduct.lock,
            read: conduct.read,
            locks_predicate: conduct.locks_predicate,
            is_absent: false,
            is_partial: skips_locked || (kind == Kind::RangeRead && columns.predicates.get(number).0 != Value::NIL),
            part,
            key: NO_KEY,
            row: 0,
            table: table_number,
            value: Value::NIL,
            span,
            place,
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
        // Of an empty list nobody knows whether there was a row.
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

/// The meaning of each label of a batch: a batch has many operations and few labels.
#[derive(Default)]
struct LabelCache {
    statements: HashMap<Value, Option<StatementLabel>>,
    locks: HashMap<Value, Option<Lock>>,
    reads: HashMap<Value, Option<Read>>,
}

fn cached<T: Copy>(
    cache: &mut HashMap<Value, Option<T>>,
    label: Value,
    parse: impl FnOnce(Value) -> Option<T>,
) -> Option<T> {
    if label == Value::NIL {
        return None;
    }
    *cache.entry(label).or_insert_with(|| parse(label))
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

/// What is known of a transaction while its operations come in.
#[derive(Default)]
struct Draft {
    operations: Vec<Operation>,
    lists: Vec<Box<[Value]>>,
    bounds: Vec<Bounds>,
}

struct Times {
    first: Span,
    end: Span,
    release: Span,
    sure: u32,
}

impl Draft {
    fn list(&mut self, elements: Box<[Value]>) -> Value {
        self.lists.push(elements);
        Value::list_at((self.lists.len() - 1) as u64)
    }

    fn times(&self, status: Status, outer: Option<i64>, error: i64) -> Option<Times> {
        let first = self.operations.first()?.span;
        let last = self.operations.last()?;
        let marker =
            |kind: Kind| self.operations.iter().rev().find(|one| one.kind == kind).map(|one| one.span);
        let (commit, abort) = (marker(Kind::Commit), marker(Kind::Abort));
        // Without a commit of its own it committed inside its last operation, or soon after it.
        let implied = Span { invoke: last.span.invoke, complete: outer.unwrap_or(last.span.complete) };
        let (sure, released) = self.last_sure(error);
        let times = |end: Span, release: Span, sure: u32| Times { first, end, release, sure };
        Some(match status {
            Status::Committed => {
                let end = commit.unwrap_or(implied);
                times(end, end, self.operations.len() as u32)
            }
            Status::Aborted => {
                let end = abort.or(commit).unwrap_or(implied);
                times(end, Span { invoke: released, complete: end.complete }, sure)
            }
            Status::Indeterminate => {
                // A connection that breaks before the commit arrives takes the locks with it.
                let last_answer = self.operations.iter().rev().find(|one| one.is_statement());
                let answered = last_answer.map_or(released, |one| not_before(one.span, error));
                let from = if commit.is_some() { answered } else { released };
                let release = Span { invoke: from, complete: Span::NEVER };
                // Who was not heard of again may have asked to commit when nobody wrote it down.
                let end = Span { invoke: commit.unwrap_or(last.span).invoke, complete: Span::NEVER };
                let all = self.operations.len() as u32;
                times(end, release, if commit.is_some() { all } else { sure })
            }
        })
    }

    /// How many operations certainly got what they asked for if the last statement may have failed, and when the
    /// last of them was over at the earliest.
    fn last_sure(&self, error: i64) -> (u32, i64) {
        let statements = || self.operations.iter().enumerate().filter(|(_, one)| one.is_statement());
        let Some((_, last)) = statements().next_back() else { return (0, i64::MIN) };
        let before = statements().rev().find(|(_, one)| one.span != last.span);
        before.map_or((0, i64::MIN), |(place, one)| (place as u32 + 1, not_before(one.span, error)))
    }

    fn snapshot(&self, taken: Snapshot, first: Span, end: Span) -> Option<Span> {
        let reads = |one: &&Operation| {
            matches!(one.kind, Kind::Read | Kind::RangeRead) && one.read == Read::Consistent
        };
        let span_of = |one: &Operation| one.span;
        match taken {
            Snapshot::Statement => None,
            Snapshot::FirstRead => self.operations.iter().find(reads).map(span_of),
            Snapshot::FirstStatement => self.operations.iter().find(|one| one.is_statement()).map(span_of),
            // Without a begin of its own nobody knows when it was.
            Snapshot::Begin if self.operations[0].kind == Kind::Begin => Some(first),
            Snapshot::Begin | Snapshot::Transaction => Some(first.to(end)),
        }
    }
}

/// When something that was widened was over at the earliest.
fn not_before(span: Span, error: i64) -> i64 {
    span.complete.saturating_sub(error.saturating_mul(2))
}
