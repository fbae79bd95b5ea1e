//! The method of intervals as Python sees it.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use crate::profile::Profile;
use isoscope_kernel::intervals::{self, Refusal, Shown, Tally};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn refused(refusal: Refusal) -> PyErr {
    PyValueError::new_err((refusal.transaction, refusal.found))
}

/// Counts by name; findings: name, case, operations; checked and undecided reads, locks, updates and certified
/// transactions; total, overlapping and uncertain dependencies wr, ww and rw.
pub fn judged<'py>(py: Python<'py>, tally: &Tally, findings: &[Shown]) -> PyResult<Bound<'py, PyAny>> {
    let findings: Vec<_> =
        findings.iter().map(|one| (one.name as u8, one.case, one.operations.clone())).collect();
    let checked =
        [tally.reads, tally.locks, tally.updates, tally.certified].map(|one| (one.checked, one.undecided));
    let dependencies = [tally.wr, tally.ww, tally.rw].map(|one| (one.total, one.overlapping, one.uncertain));
    let all = (tally.counts.to_vec(), findings, checked.to_vec(), dependencies.to_vec());
    Ok(all.into_pyobject(py)?.into_any())
}

/// Holds a history against the mechanisms of a profile.
///
/// Raises ValueError with the number of a transaction and what is wrong with it if one has no intervals.
#[pyfunction]
#[pyo3(signature = (columns, profile, *, clock_error, most))]
pub fn judge_intervals<'py>(
    py: Python<'py>,
    columns: &Columns,
    profile: &Profile,
    clock_error: i64,
    most: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let history = columns.history();
    let judgement =
        interruptible(py, |cancel| intervals::judge(history, profile.kernel(), clock_error, most, cancel))?;
    let judgement = judgement.map_err(refused)?;
    judged(py, &judgement.tally, &judgement.findings)
}

/// The history with the order of versions that is certain by its mechanisms as one that it declares.
///
/// Raises ValueError as `judge_intervals` does.
#[pyfunction]
#[pyo3(signature = (columns, profile, *, clock_error))]
pub fn deduced_versions(
    py: Python<'_>,
    columns: &Columns,
    profile: &Profile,
    clock_error: i64,
) -> PyResult<Columns> {
    let history = columns.history();
    let deduced =
        interruptible(py, |cancel| intervals::deduced_versions(history, profile.kernel(), clock_error, cancel))?;
    Ok(Columns::new(deduced.map_err(refused)?))
}
