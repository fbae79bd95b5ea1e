//! Parts of a history, by the numbers of its transactions and operations.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use isoscope_kernel::part as kernel;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

/// The part with these transactions, `without` these operations and what goes with them.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
pub fn part(
    py: Python<'_>,
    columns: &Columns,
    transactions: Vec<u32>,
    without: Vec<u32>,
) -> PyResult<Columns> {
    check(columns, &transactions)?;
    if let Some(operation) = without.iter().find(|&&one| one as usize >= columns.history().operation_count())
    {
        return Err(PyIndexError::new_err(format!("no operation has number {operation}")));
    }
    let made = interruptible(py, |cancel| {
        kernel::part(columns.history(), columns.judged(cancel), &transactions, &without)
    })?;
    Ok(Columns::new(made))
}

/// The same history with every range read as reads of its rows; None if that does not say the same.
#[pyfunction]
pub fn itemised(py: Python<'_>, columns: &Columns) -> Option<Columns> {
    py.detach(|| kernel::itemised(columns.history())).map(Columns::new)
}

/// These transactions and everybody who must stay if all their reads are to.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
pub fn servers(py: Python<'_>, columns: &Columns, transactions: Vec<u32>) -> PyResult<Vec<u32>> {
    check(columns, &transactions)?;
    interruptible(py, |cancel| kernel::servers(columns.history(), columns.judged(cancel), &transactions))
}

/// These transactions and everybody with an operation on one of their keys.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
pub fn neighbours(py: Python<'_>, columns: &Columns, transactions: Vec<u32>) -> PyResult<Vec<u32>> {
    check(columns, &transactions)?;
    Ok(py.detach(|| kernel::neighbours(columns.history(), &transactions)))
}

fn check(columns: &Columns, transactions: &[u32]) -> PyResult<()> {
    let count = columns.history().transaction_count();
    match transactions.iter().find(|&&one| one as usize >= count) {
        Some(unknown) => Err(PyIndexError::new_err(format!("no transaction has number {unknown}"))),
        None => Ok(()),
    }
}
