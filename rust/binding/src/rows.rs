//! Transactions, operations, sessions, initial values and orders of versions of a finished history as Python
//! sees them.

use crate::columns::Columns;
use isoscope_kernel::history::{Interval, Kind, NO_KEY, VersionOrder};
use isoscope_kernel::value::Value;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

type Times = Option<(Option<i64>, Option<i64>)>;

/// One transaction of a history, with its operations in program order.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct TransactionRow {
    /// Its id in the input.
    id: Py<PyAny>,
    /// The number of its session.
    session: u32,
    /// The id of its session in the input; None if it has none.
    session_id: Py<PyAny>,
    /// The name of its status.
    status: &'static str,
    /// Its line of the input; 0 if it has none.
    line: u32,
    /// Its explicit place in the session.
    sequence: Option<i64>,
    /// The database's clock at its start: physical, logical.
    start: Option<(i64, i64)>,
    /// The database's clock at its commit: physical, logical.
    commit: Option<(i64, i64)>,
    /// The client's clock before and after it.
    interval: Times,
    /// Its invocation and completion in one total order of events.
    positions: Times,
    /// Its operations: a tuple of `OperationRow`.
    operations: Py<PyTuple>,
}

/// One operation of a history.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct OperationRow {
    /// The name of its kind.
    kind: &'static str,
    /// Its key; None for a range read and for a marker.
    key: Py<PyAny>,
    /// The value that was read or written, or a `RangeRow`.
    value: Py<PyAny>,
    /// The client's clock before and after it.
    interval: Times,
    /// The table, if it is known.
    table: Py<PyAny>,
    /// The columns as a tuple, if they are known.
    columns: Py<PyAny>,
    /// The kind of statement, if it is known.
    statement: Py<PyAny>,
    /// The lock mode, if it is known.
    lock_mode: Py<PyAny>,
    /// The read mode, if it is known.
    read_mode: Py<PyAny>,
    /// The predicate, if there is one.
    predicate: Py<PyAny>,
    /// Whether the row was deleted.
    tombstone: bool,
    /// Its line of the input; 0 if it has none.
    line: u32,
}

/// The bounds and the result of a range read.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct RangeRow {
    /// The lower bound; None if it is open.
    low: Py<PyAny>,
    /// The upper bound; None if it is open.
    high: Py<PyAny>,
    /// The rows: a tuple of (key, value).
    rows: Py<PyTuple>,
    /// The deleted rows: a tuple of (key, value).
    tombstones: Py<PyTuple>,
}

/// A session of a history.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct SessionRow {
    /// Its id in the input; None if it has none.
    id: Py<PyAny>,
    /// The numbers of its transactions in session order.
    transactions: Py<PyTuple>,
}

/// The values of keys before the first write.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct InitialRow {
    /// The value of the keys that have none of their own.
    value: Py<PyAny>,
    /// Whether a write of the initial value takes its place.
    replaceable: bool,
    /// The keys with a value of their own.
    of_key: Py<PyDict>,
}

/// The order of versions that one source gives.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct VersionOrderRow {
    /// The name of the source.
    source: &'static str,
    /// The versions of each key as a tuple, the oldest first.
    versions: Py<PyDict>,
}

impl SessionRow {
    /// The session with this number, which there is.
    pub fn of(py: Python<'_>, columns: &Columns, number: usize) -> PyResult<Self> {
        let history = columns.history();
        Ok(Self {
            id: columns.scalar(py, history.session_ids[number])?.unbind(),
            transactions: PyTuple::new(py, history.transactions_of(number))?.unbind(),
        })
    }
}

impl InitialRow {
    /// The initial values of a history.
    pub fn of(py: Python<'_>, columns: &Columns) -> PyResult<Self> {
        let (history, of_key) = (columns.history(), PyDict::new(py));
        for &(key, value) in &history.initial.of_key {
            of_key.set_item(columns.scalar(py, history.keys[key as usize])?, columns.scalar(py, value)?)?;
        }
        let value = columns.scalar(py, history.initial.default)?.unbind();
        Ok(Self { value, replaceable: history.initial.replaceable, of_key: of_key.unbind() })
    }
}

impl VersionOrderRow {
    /// The order of versions that one source of a history gives.
    pub fn of(py: Python<'_>, columns: &Columns, order: &VersionOrder) -> PyResult<Self> {
        let versions = PyDict::new(py);
        for (number, &key) in columns.history().keys.iter().enumerate() {
            let of_key = order.of(number as u32);
            if !of_key.is_empty() {
                let of_key = of_key.iter().map(|&version| columns.scalar(py, version));
                let of_key = PyTuple::new(py, of_key.collect::<PyResult<Vec<_>>>()?)?;
                versions.set_item(columns.scalar(py, key)?, of_key)?;
            }
        }
        Ok(Self { source: order.source.as_str(), versions: versions.unbind() })
    }
}

impl TransactionRow {
    /// The transaction with this number, which there is.
    pub fn of(py: Python<'_>, columns: &Columns, number: usize) -> PyResult<Self> {
        let history = columns.history();
        let transactions = &history.transactions;
        let session = transactions.sessions[number];
        let operations: PyResult<Vec<OperationRow>> =
            history.operations_of(number).map(|operation| OperationRow::of(py, columns, operation)).collect();
        Ok(Self {
            id: columns.scalar(py, transactions.ids[number])?.unbind(),
            session,
            session_id: columns.scalar(py, history.session_ids[session as usize])?.unbind(),
            status: transactions.statuses[number].as_str(),
            line: transactions.lines[number],
            sequence: transactions.sequences.get(number).number(),
            start: transactions.starts.get(number).parts(),
            commit: transactions.commits.get(number).parts(),
            interval: times(transactions.intervals.get(number)),
            positions: times(transactions.positions.get(number)),
            operations: PyTuple::new(py, operations?)?.unbind(),
        })
    }
}

impl OperationRow {
    fn of(py: Python<'_>, columns: &Columns, number: usize) -> PyResult<Self> {
        let (history, operations) = (columns.history(), &columns.history().operations);
        let (kind, key, value) =
            (operations.kinds[number], operations.keys[number], operations.values[number]);
        let scalar = |value: Value| columns.scalar(py, value).map(Bound::unbind);
        Ok(Self {
            kind: kind.as_str(),
            key: if key == NO_KEY { py.None() } else { scalar(history.keys[key as usize])? },
            value: match kind {
                Kind::RangeRead => Py::new(py, RangeRow::of(py, columns, value)?)?.into_any(),
                _ => scalar(value)?,
            },
            interval: times(operations.intervals.get(number)),
            table: scalar(operations.tables.get(number).0)?,
            columns: scalar(operations.columns.get(number).0)?,
            statement: scalar(operations.statements.get(number).0)?,
            lock_mode: scalar(operations.lock_modes.get(number).0)?,
            read_mode: scalar(operations.read_modes.get(number).0)?,
            predicate: scalar(operations.predicates.get(number).0)?,
            tombstone: operations.tombstones.get(number),
            line: operations.lines[number],
        })
    }
}

impl RangeRow {
    fn of(py: Python<'_>, columns: &Columns, number: Value) -> PyResult<Self> {
        let history = columns.history();
        let range = history.ranges.ranges[number.as_small().unwrap_or_default() as usize];
        let (first, live, dead) = (range.first_row as usize, range.live as usize, range.dead as usize);
        let row = |row: usize| {
            let key = history.keys[history.ranges.row_keys[row] as usize];
            Ok((columns.scalar(py, key)?, columns.scalar(py, history.ranges.row_values[row])?))
        };
        let rows = |from: usize, count: usize| -> PyResult<Py<PyTuple>> {
            let rows: PyResult<Vec<_>> = (from..from + count).map(row).collect();
            Ok(PyTuple::new(py, rows?)?.unbind())
        };
        Ok(Self {
            low: columns.scalar(py, range.low)?.unbind(),
            high: columns.scalar(py, range.high)?.unbind(),
            rows: rows(first, live)?,
            tombstones: rows(first + live, dead)?,
        })
    }
}

fn times(interval: Interval) -> Times {
    (interval != Interval::default()).then(|| (interval.invoke(), interval.complete()))
}
