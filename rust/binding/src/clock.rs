//! The method of timestamps as Python sees it: one call, columns in, findings out.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use isoscope_kernel::clock::{self, Finding, Isolation, Judgement, NOTHING};
use isoscope_kernel::history::NO_KEY;
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
    let findings: PyResult<Vec<_>> =
        judgement.findings.iter().map(|finding| row(py, columns, finding)).collect();
    let aside = aside(py, columns, &judgement)?;
    Ok((judgement.counts.to_vec(), findings?, judgement.ties, aside).into_pyobject(py)?.into_any())
}

fn row<'py>(py: Python<'py>, columns: &Columns, finding: &Finding) -> PyResult<Bound<'py, PyAny>> {
    let some = |number: u32| (number != NOTHING).then_some(number);
    let class = finding.class.map(|(class, write)| (class as u8, some(write)));
    let row = (
        finding.name as u8,
        finding.transaction,
        some(finding.other),
        key(py, columns, finding.key)?,
        some(finding.operation),
        some(finding.against),
        columns.scalars(py, &finding.expected)?,
        class,
    );
    Ok(row.into_pyobject(py)?.into_any())
}

fn key<'py>(py: Python<'py>, columns: &Columns, key: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
    if key == NO_KEY {
        return Ok(None);
    }
    columns.scalar(py, columns.history().keys[key as usize]).map(Some)
}

fn aside<'py>(py: Python<'py>, columns: &Columns, judgement: &Judgement) -> PyResult<Bound<'py, PyAny>> {
    let keys = |keys: &[u32]| {
        let values: Vec<_> = keys.iter().map(|&key| columns.history().keys[key as usize]).collect();
        columns.scalars(py, &values)
    };
    let aside = (
        judgement.untimed,
        judgement.untimed_keys,
        keys(&judgement.deleted_keys)?,
        keys(&judgement.mixed_keys)?,
        judgement.range_reads,
    );
    Ok(aside.into_pyobject(py)?.into_any())
}
