//! Histories that do not come from a file.

use crate::columns::Columns;
use crate::{parse_error, scalar};
use isoscope_kernel::builder::{Builder as Kernel, Details};
use isoscope_kernel::history::{Interval, Kind, Label, NO_KEY, Status, Timestamp, VersionSource};
use isoscope_kernel::value::{AtomKind, Value};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyList;

type Times = (Option<i64>, Option<i64>);
type Rows<'py> = Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

/// A `Transaction` of `isoscope.history`, by its attributes.
#[derive(FromPyObject)]
struct Transaction<'py> {
    id: Bound<'py, PyAny>,
    session_id: Option<Bound<'py, PyAny>>,
    status: PyBackedStr,
    operations: Vec<Operation<'py>>,
    sequence: Option<i64>,
    start: Option<(i64, i64)>,
    commit: Option<(i64, i64)>,
    interval: Option<Times>,
    positions: Option<Times>,
    line: Option<u32>,
}

/// An `Operation` of `isoscope.history`, by its attributes.
#[derive(FromPyObject)]
struct Operation<'py> {
    kind: PyBackedStr,
    key: Bound<'py, PyAny>,
    value: Bound<'py, PyAny>,
    interval: Option<Times>,
    table: Option<String>,
    columns: Vec<String>,
    statement: Option<String>,
    lock_mode: Option<String>,
    read_mode: Option<String>,
    predicate: Option<String>,
    tombstone: bool,
    line: Option<u32>,
}

/// One operation of a run: the number of its kind, key, value, and the instants before and after.
///
/// It stays a tuple: a run makes one between any two of its statements, and a `NamedTuple` takes eight times as
/// long to make, a frozen dataclass fifteen times.
#[derive(FromPyObject)]
struct RecordedRow<'py>(u8, Bound<'py, PyAny>, Bound<'py, PyAny>, i64, i64);

/// The bounds and rows of a range read.
#[derive(FromPyObject)]
enum RangeRead<'py> {
    /// A `Range` of `isoscope.history`, by its attributes.
    Named { low: Bound<'py, PyAny>, high: Bound<'py, PyAny>, rows: Rows<'py>, tombstones: Rows<'py> },
    /// The same in the row of a run.
    Row(Bound<'py, PyAny>, Bound<'py, PyAny>, Rows<'py>, Rows<'py>),
}

/// Collects transactions one by one.
#[pyclass(module = "isoscope._native")]
pub struct Builder {
    kernel: Option<Kernel>,
    /// How many initial values of keys slices have held so far.
    initial_sliced: usize,
}

#[pymethods]
impl Builder {
    #[new]
    fn new() -> Self {
        Self { kernel: Some(Kernel::new()), initial_sliced: 0 }
    }

    /// Adds one transaction with its operations; raises KeyError if the id is taken.
    fn add(&mut self, transaction: Transaction<'_>) -> PyResult<()> {
        let kernel = self.kernel()?;
        let status =
            Status::named(&transaction.status).ok_or_else(|| unnamed("status", &transaction.status))?;
        let (session, line) = (transaction.session_id.as_ref(), transaction.line.unwrap_or(0));
        let number = add_transaction(kernel, &transaction.id, session, status, line)?;
        kernel.timestamps(number, timestamp(transaction.start), timestamp(transaction.commit));
        kernel.interval(number, times(transaction.interval));
        kernel.positions(number, times(transaction.positions));
        if let Some(place) = transaction.sequence {
            kernel.sequence(number, place);
        }
        for operation in transaction.operations {
            add_operation(kernel, number, operation)?;
        }
        Ok(())
    }

    /// Adds one transaction of a run with its operations, in little time; raises KeyError if the id is taken.
    ///
    /// Its interval is that of its operations; an indeterminate one has no known end.
    #[pyo3(signature = (id, session, status, operations, timestamps = None))]
    fn recorded(
        &mut self,
        id: &Bound<'_, PyAny>,
        session: &Bound<'_, PyAny>,
        status: u8,
        operations: &Bound<'_, PyList>,
        timestamps: Option<((i64, i64), (i64, i64))>,
    ) -> PyResult<()> {
        let kernel = self.kernel()?;
        let status = status_of(status)?;
        let transaction = add_transaction(kernel, id, Some(session), status, 0)?;
        let (start, commit) = timestamps.unzip();
        kernel.timestamps(transaction, timestamp(start), timestamp(commit));
        let (mut begun, mut ended) = (None, None);
        for row in operations.iter() {
            let RecordedRow(kind, key, value, invoke, complete) = row.extract()?;
            let operation = add_plain(kernel, transaction, kind_of(kind)?, &key, &value, 0)?;
            let interval = Interval::new(Some(invoke), Some(complete));
            kernel.details(operation, Details { interval, ..Details::default() });
            begun = begun.or(Some(invoke));
            ended = Some(complete);
        }
        let ended = if status == Status::Indeterminate { None } else { ended };
        kernel.interval(transaction, Interval::new(begun, ended));
        Ok(())
    }

    /// Sets the initial value of every key.
    #[pyo3(signature = (value, *, replaceable))]
    fn initial(&mut self, value: &Bound<'_, PyAny>, replaceable: bool) -> PyResult<()> {
        let kernel = self.kernel()?;
        kernel.initial.default = scalar::maybe_unknown(&mut kernel.values, value)?;
        kernel.initial.replaceable = replaceable;
        Ok(())
    }

    /// Sets the initial value of one key.
    fn initial_of(&mut self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let kernel = self.kernel()?;
        let key = scalar::from_python(&mut kernel.values, key)?;
        let key = kernel.key(key);
        let value = scalar::maybe_unknown(&mut kernel.values, value)?;
        kernel.initial.of_key.push((key, value));
        Ok(())
    }

    /// The next version of `key`, according to the source of this name.
    fn version(&mut self, source: &str, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let kernel = self.kernel()?;
        let source = VersionSource::named(source).ok_or_else(|| unnamed("source", source))?;
        let key = scalar::from_python(&mut kernel.values, key)?;
        let key = kernel.key(key);
        let value = scalar::from_python(&mut kernel.values, value)?;
        kernel.version(source, key, value);
        Ok(())
    }

    /// The recorded transactions with these ids as a history of their own; raises KeyError if one is missing.
    ///
    /// With `initial`, it also holds the initial values that no slice held before.
    #[pyo3(signature = (ids, *, initial))]
    fn slice(&mut self, py: Python<'_>, ids: Vec<Bound<'_, PyAny>>, initial: bool) -> PyResult<Columns> {
        let first = initial.then_some(self.initial_sliced);
        let kernel = self.kernel()?;
        let numbers: Vec<u32> = ids
            .into_iter()
            .map(|id| {
                let value = scalar::from_python(&mut kernel.values, &id)?;
                kernel.find(value).ok_or_else(|| PyKeyError::new_err(id.unbind()))
            })
            .collect::<PyResult<_>>()?;
        let count = kernel.initial_count();
        let slice = py.detach(|| kernel.slice(&numbers, first));
        if initial {
            self.initial_sliced = count;
        }
        Ok(Columns::new(slice))
    }

    /// The history.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Columns> {
        let kernel = self.kernel.take().ok_or_else(finished)?;
        py.detach(|| kernel.finish()).map(Columns::new).map_err(parse_error)
    }
}

impl Builder {
    fn kernel(&mut self) -> PyResult<&mut Kernel> {
        self.kernel.as_mut().ok_or_else(finished)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the builder is finished")
}

fn unnamed(what: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("no {what} is called `{name}`"))
}

fn status_of(number: u8) -> PyResult<Status> {
    Status::ALL.get(usize::from(number)).copied().ok_or_else(|| PyValueError::new_err("no such status"))
}

fn kind_of(number: u8) -> PyResult<Kind> {
    Kind::ALL.get(usize::from(number)).copied().ok_or_else(|| PyValueError::new_err("no such kind"))
}

/// A transaction without operations; without a session it is one of its own.
fn add_transaction(
    kernel: &mut Kernel,
    id: &Bound<'_, PyAny>,
    session: Option<&Bound<'_, PyAny>>,
    status: Status,
    line: u32,
) -> PyResult<u32> {
    let id_value = scalar::from_python(&mut kernel.values, id)?;
    let session = session.map(|session| scalar::from_python(&mut kernel.values, session)).transpose()?;
    if kernel.find(id_value).is_some() {
        return Err(PyKeyError::new_err(id.clone().unbind()));
    }
    let session = match session {
        Some(session) => kernel.session(session),
        None => kernel.nameless_session(),
    };
    Ok(kernel.transaction(id_value, session, status, line).expect("the id is free"))
}

fn timestamp(parts: Option<(i64, i64)>) -> Timestamp {
    parts.map_or_else(Timestamp::default, |(physical, logical)| Timestamp::new(physical, logical))
}

fn times(times: Option<Times>) -> Interval {
    times.map_or_else(Interval::default, |(invoke, complete)| Interval::new(invoke, complete))
}

fn add_operation(kernel: &mut Kernel, transaction: u32, read: Operation<'_>) -> PyResult<()> {
    let kind = Kind::named(&read.kind).ok_or_else(|| unnamed("kind", &read.kind))?;
    let operation = add_plain(kernel, transaction, kind, &read.key, &read.value, read.line.unwrap_or(0))?;
    let columns: Vec<Value> = read.columns.iter().map(|column| text(kernel, column)).collect();
    let columns = if columns.is_empty() { Label::default() } else { Label(kernel.values.push_list(columns)) };
    let mut label = |name: Option<String>| Label(name.map_or(Value::NIL, |name| text(kernel, &name)));
    let details = Details {
        interval: times(read.interval),
        table: label(read.table),
        columns,
        statement: label(read.statement),
        lock_mode: label(read.lock_mode),
        read_mode: label(read.read_mode),
        predicate: label(read.predicate),
        tombstone: read.tombstone,
    };
    kernel.details(operation, details);
    Ok(())
}

fn text(kernel: &mut Kernel, text: &str) -> Value {
    kernel.values.intern(AtomKind::Text, text)
}

/// An operation without its details.
fn add_plain(
    kernel: &mut Kernel,
    transaction: u32,
    kind: Kind,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    line: u32,
) -> PyResult<usize> {
    Ok(match kind {
        Kind::RangeRead => add_range(kernel, transaction, value, line)?,
        Kind::Begin | Kind::Commit | Kind::Abort => {
            kernel.operation(transaction, kind, NO_KEY, Value::NIL, line)
        }
        Kind::Read => {
            let key = key_number(kernel, key)?;
            let value = match scalar::elements(&mut kernel.values, value)? {
                Some(elements) => kernel.list(key, &elements),
                None => scalar::maybe_unknown(&mut kernel.values, value)?,
            };
            kernel.operation(transaction, kind, key, value, line)
        }
        _ => {
            let key = key_number(kernel, key)?;
            let value = scalar::from_python(&mut kernel.values, value)?;
            kernel.operation(transaction, kind, key, value, line)
        }
    })
}

fn key_number(kernel: &mut Kernel, key: &Bound<'_, PyAny>) -> PyResult<u32> {
    let key = scalar::from_python(&mut kernel.values, key)?;
    Ok(kernel.key(key))
}

fn add_range(kernel: &mut Kernel, transaction: u32, value: &Bound<'_, PyAny>, line: u32) -> PyResult<usize> {
    let (low, high, live, dead) = match value.extract()? {
        RangeRead::Named { low, high, rows, tombstones } | RangeRead::Row(low, high, rows, tombstones) => {
            (low, high, rows, tombstones)
        }
    };
    let low = scalar::from_python(&mut kernel.values, &low)?;
    let high = scalar::from_python(&mut kernel.values, &high)?;
    let live = rows(kernel, &live)?;
    let dead = rows(kernel, &dead)?;
    Ok(kernel.range_read(transaction, (low, high), &live, &dead, line))
}

fn rows(kernel: &mut Kernel, rows: &Rows<'_>) -> PyResult<Vec<(u32, Value)>> {
    rows.iter()
        .map(|(key, value)| Ok((key_number(kernel, key)?, scalar::from_python(&mut kernel.values, value)?)))
        .collect()
}
