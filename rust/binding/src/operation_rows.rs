//! Operations as rows of Python objects.

use crate::columns::Columns;
use isoscope_kernel::history::{Interval, Kind, NO_KEY, Timestamp};
use isoscope_kernel::value::Value;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// When an operation or a transaction was invoked and when it completed, as far as that is known.
type Times = Option<(Option<i64>, Option<i64>)>;

/// Key and value of a row that a range read shows.
fn row<'py>(
    py: Python<'py>,
    columns: &Columns,
    row: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let key = columns.history().keys[columns.history().ranges.row_keys[row] as usize];
    Ok((columns.scalar(py, key)?, columns.scalar(py, columns.history().ranges.row_values[row])?))
}

/// Bounds, live rows and dead rows of a range read.
fn range<'py>(py: Python<'py>, columns: &Columns, number: Value) -> PyResult<Bound<'py, PyAny>> {
    let range = columns.history().ranges.ranges[number.as_small().unwrap_or_default() as usize];
    let (first, live, dead) = (range.first_row as usize, range.live as usize, range.dead as usize);
    let rows = |from: usize, count: usize| {
        let rows: PyResult<Vec<_>> = (from..from + count).map(|number| row(py, columns, number)).collect();
        PyTuple::new(py, rows?)
    };
    let (low, high) = (columns.scalar(py, range.low)?, columns.scalar(py, range.high)?);
    Ok((low, high, rows(first, live)?, rows(first + live, dead)?).into_pyobject(py)?.into_any())
}

/// Kind, key, value, interval, labels, tombstone and line of an operation.
pub fn operation_row<'py>(py: Python<'py>, of: &Columns, operation: usize) -> PyResult<Bound<'py, PyAny>> {
    let columns = &of.history().operations;
    let (kind, key, value) = (columns.kinds[operation], columns.keys[operation], columns.values[operation]);
    let key = if key == NO_KEY {
        py.None().into_bound(py)
    } else {
        of.scalar(py, of.history().keys[key as usize])?
    };
    let value = if kind == Kind::RangeRead { range(py, of, value)? } else { of.scalar(py, value)? };
    let row = (
        kind as u8,
        key,
        value,
        times(columns.intervals.get(operation)),
        of.scalar(py, columns.tables.get(operation).0)?,
        of.scalar(py, columns.columns.get(operation).0)?,
        of.scalar(py, columns.statements.get(operation).0)?,
        of.scalar(py, columns.lock_modes.get(operation).0)?,
        of.scalar(py, columns.read_modes.get(operation).0)?,
        of.scalar(py, columns.predicates.get(operation).0)?,
        columns.tombstones.get(operation),
        columns.lines[operation],
    );
    Ok(row.into_pyobject(py)?.into_any())
}

/// Both ends of an interval, if any is known.
pub fn times(interval: Interval) -> Times {
    (interval != Interval::default()).then(|| (interval.invoke(), interval.complete()))
}

/// The parts of a timestamp.
pub fn parts(timestamp: Timestamp) -> Option<(i64, i64)> {
    timestamp.parts()
}
