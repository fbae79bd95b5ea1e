//! Sub-histories, by the numbers of its transactions and operations.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use isoscope_kernel::sub_history as kernel;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

/// The sub-history with these transactions, `without` these operations and what goes with them.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
pub fn sub_history(
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
        kernel::sub_history(columns.history(), columns.judged(cancel), &transactions, &without)
    })?;
    Ok(Columns::new(made))
}

/// The same history with every range read as reads of its rows; None if that does not say the same.
#[pyfunction]
pub fn itemised(py: Python<'_>, columns: &Columns) -> Option<Columns> {
    py.detach(|| kernel::itemised(columns.history())).map(Columns::new)
}

/// These transactions and those that must stay if all their reads are to stay.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
pub fn with_transactions_read_from(
    py: Python<'_>,
    columns: &Columns,
    transactions: Vec<u32>,
) -> PyResult<Vec<u32>> {
    check(columns, &transactions)?;
    interruptible(py, |cancel| {
        kernel::with_transactions_read_from(columns.history(), columns.judged(cancel), &transactions)
    })
}

/// These transactions and all others with an operation on one of their keys.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
pub fn with_transactions_on_same_keys(
    py: Python<'_>,
    columns: &Columns,
    transactions: Vec<u32>,
) -> PyResult<Vec<u32>> {
    check(columns, &transactions)?;
    Ok(py.detach(|| kernel::with_transactions_on_same_keys(columns.history(), &transactions)))
}

fn check(columns: &Columns, transactions: &[u32]) -> PyResult<()> {
    let count = columns.history().transaction_count();
    match transactions.iter().find(|&&one| one as usize >= count) {
        Some(unknown) => Err(PyIndexError::new_err(format!("no transaction has number {unknown}"))),
        None => Ok(()),
    }
}
