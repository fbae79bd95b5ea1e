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

/// A history with reads in the place of range reads.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct Itemised {
    /// The history; None if there would be too many reads.
    columns: Option<Py<Columns>>,
    /// The recorded operation of each operation.
    origins: Vec<u32>,
    /// How many reads there would be, if they are too many.
    excess: Option<u64>,
}

/// The same history with reads in the place of range reads, if these are no more than `most`.
#[pyfunction]
#[pyo3(signature = (columns, *, most = kernel::MOST_READS))]
pub fn itemised(py: Python<'_>, columns: &Columns, most: u64) -> PyResult<Itemised> {
    Ok(match py.detach(|| kernel::itemised(columns.history(), most)) {
        Ok(kernel::Itemised { history, origins }) => {
            Itemised { columns: Some(Py::new(py, Columns::new(history))?), origins, excess: None }
        }
        Err(kernel::TooManyReads(reads)) => {
            Itemised { columns: None, origins: Vec::new(), excess: Some(reads) }
        }
    })
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
