//! The method of timestamps as Python sees it: one call, columns in, findings out.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use crate::scalar;
use isoscope_kernel::clock::{self, Finding, Isolation, Judgement, NOTHING};
use isoscope_kernel::history::NO_KEY;
use isoscope_kernel::value::{Value, Values};
use pyo3::prelude::*;

/// Holds a history against the database's own clock: snapshot isolation, or serializability.
///
/// Counts by name; findings: name, transaction, other transaction, key, operation, what it is held against,
/// elements of the list that was expected, class and write of what was found; ties; what was set aside:
/// transactions without timestamps, keys that they wrote, keys that are deleted, keys that are mixed, range
/// reads.
#[pyfunction]
pub fn judge_clock<'py>(
    py: Python<'py>,
    columns: &Columns,
    serializable: bool,
    most: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let isolation = if serializable { Isolation::Serializable } else { Isolation::Snapshot };
    let judgement = interruptible(py, |cancel| clock::judge(columns.history(), isolation, most, cancel))?;
    if isolation == Isolation::Snapshot {
        columns.tied().get_or_init(|| judgement.ties);
    }
    let history = columns.history();
    rows(py, &judgement, &history.values, |key| history.keys[key as usize])
}

/// Only puts the events in order: how many timestamps belong to several transactions.
#[pyfunction]
pub fn clock_ties(py: Python<'_>, columns: &Columns, serializable: bool) -> u64 {
    let isolation = if serializable { Isolation::Serializable } else { Isolation::Snapshot };
    py.detach(|| clock::ties(columns.history(), isolation))
}

/// What was found and what was not judged, as Python sees it.
pub fn rows<'py>(
    py: Python<'py>,
    judgement: &Judgement,
    values: &Values,
    key: impl Fn(u32) -> Value,
) -> PyResult<Bound<'py, PyAny>> {
    let scalar = |value: Value| scalar::to_python(py, values, value);
    let keys =
        |keys: &[u32]| -> PyResult<Vec<_>> { keys.iter().map(|&number| scalar(key(number))).collect() };
    let mut findings = Vec::new();
    for finding in &judgement.findings {
        let key = (finding.key != NO_KEY).then(|| scalar(key(finding.key))).transpose()?;
        let expected: PyResult<Vec<_>> = finding.expected.iter().map(|&value| scalar(value)).collect();
        findings.push(row(py, finding, key, expected?)?);
    }
    let aside = (
        judgement.untimed,
        judgement.untimed_keys,
        keys(&judgement.deleted_keys)?,
        keys(&judgement.mixed_keys)?,
        judgement.range_reads,
    );
    Ok((judgement.counts.to_vec(), findings, judgement.ties, aside).into_pyobject(py)?.into_any())
}

fn row<'py>(
    py: Python<'py>,
    finding: &Finding,
    key: Option<Bound<'py, PyAny>>,
    expected: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let some = |number: u32| (number != NOTHING).then_some(number);
    let class = finding.class.map(|(class, write)| (class as u8, some(write)));
    let row = (
        finding.name as u8,
        finding.transaction,
        some(finding.other),
        key,
        some(finding.operation),
        some(finding.against),
        expected,
        class,
    );
    Ok(row.into_pyobject(py)?.into_any())
}
