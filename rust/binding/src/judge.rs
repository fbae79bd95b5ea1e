//! The method of values as Python sees it: one call, columns in, findings out.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use isoscope_kernel::history::NO_KEY;
use isoscope_kernel::observations::INITIAL;
use isoscope_kernel::reads::{self, NOTHING};
use isoscope_kernel::value::Value;
use isoscope_kernel::weak::alternatives::{Effort, Method};
use isoscope_kernel::weak::reader::Class;
use isoscope_kernel::weak::witness::{Finding, Step};
use isoscope_kernel::weak::{self, Limits, Question};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Judges all reads, and the weak levels up to `strongest` (0 read committed, 1 read atomic, 2 causal).
///
/// Of each name the first `most` findings are returned; all are counted. Happens-before is computed by
/// `method`: 0 lazily, 1 with vector clocks, 2 with tree clocks, 3 by traversal. `limits` are those on the
/// steps and on the bytes of clocks.
#[pyfunction]
#[pyo3(signature = (columns, strongest, most, method = 0, limits = None))]
pub fn judge_values<'py>(
    py: Python<'py>,
    columns: &Columns,
    strongest: Option<u8>,
    most: usize,
    method: u8,
    limits: Option<(usize, usize)>,
) -> PyResult<Bound<'py, PyAny>> {
    let strongest = strongest.map(class).transpose()?;
    let method = happens_before(method)?;
    let limits = limits.map_or_else(Limits::default, |(steps, bytes)| Limits { steps, bytes });
    let history = columns.history();
    let (judgement, weak) = interruptible(py, |cancel| {
        let (judgement, observations) = columns.judged(cancel);
        let weak = strongest.map(|strongest| {
            weak::judge(history, observations, Question { strongest, most, method, limits }, cancel)
        });
        (judgement, weak)
    })?;
    let reads = of_reads(py, columns, judgement, most)?;
    let weak = weak.map(|found| of_weak(py, columns, found)).transpose()?;
    Ok((reads, weak).into_pyobject(py)?.into_any())
}

fn class(number: u8) -> PyResult<Class> {
    match number {
        0 => Ok(Class::ReadCommitted),
        1 => Ok(Class::ReadAtomic),
        2 => Ok(Class::Causal),
        _ => Err(PyValueError::new_err("the weak levels have the numbers 0, 1 and 2")),
    }
}

fn happens_before(number: u8) -> PyResult<Method> {
    match number {
        0 => Ok(Method::Lazy),
        1 => Ok(Method::VectorClocks),
        2 => Ok(Method::TreeClocks),
        3 => Ok(Method::Traversal),
        _ => Err(PyValueError::new_err("the ways to compute happens-before have the numbers 0 to 3")),
    }
}

/// Counts by name number, findings as (name, read, other operation or None, value), what was set aside.
fn of_reads<'py>(
    py: Python<'py>,
    columns: &Columns,
    judgement: &reads::Judgement,
    most: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let mut counts = [0u64; reads::NAMES];
    let mut shown = Vec::new();
    for &reads::Finding { name, read, other, value } in &judgement.findings {
        let count = &mut counts[name as usize];
        *count += 1;
        if *count <= most as u64 {
            let other = (other != NOTHING).then_some(other);
            shown.push((name as u8, read, other, columns.scalar(py, value)?));
        }
    }
    let keys = |numbers: &[u32]| {
        let keys: Vec<Value> = numbers.iter().map(|&key| columns.history().keys[key as usize]).collect();
        columns.scalars(py, &keys)
    };
    let aside = (
        judgement.repeated_reads,
        keys(&judgement.repeated_keys)?,
        keys(&judgement.deleted_keys)?,
        keys(&judgement.mixed_keys)?,
        judgement.range_reads,
    );
    Ok((counts, shown, aside).into_pyobject(py)?.into_any())
}

/// Which levels are violated, counts by name number, whether there may be more, findings, how many demands
/// were kept, and what happens-before cost: joins, entries, traversals, visits.
fn of_weak<'py>(py: Python<'py>, columns: &Columns, found: weak::Judgement) -> PyResult<Bound<'py, PyAny>> {
    let findings = found.findings.iter().map(|finding| of_finding(py, columns, finding));
    let findings = findings.collect::<PyResult<Vec<_>>>()?;
    let Effort { joins, entries, traversals, visits } = found.effort;
    let effort = (joins, entries, traversals, visits);
    let row = (found.violated, found.counts, found.is_partial, findings, found.demands, effort);
    Ok(row.into_pyobject(py)?.into_any())
}

/// (name, (reader, older or None, newer) or None, key, read, order, sight).
fn of_finding<'py>(py: Python<'py>, columns: &Columns, finding: &Finding) -> PyResult<Bound<'py, PyAny>> {
    let conflict =
        finding.conflict.map(|(reader, older, newer)| (reader, (older != INITIAL).then_some(older), newer));
    let steps =
        |steps: &[Step]| steps.iter().map(|step| of_step(py, columns, step)).collect::<PyResult<Vec<_>>>();
    let row = (
        finding.name as u8,
        conflict,
        key(py, columns, finding.key)?,
        finding.read,
        steps(&finding.order)?,
        steps(&finding.sight)?,
    );
    Ok(row.into_pyobject(py)?.into_any())
}

/// (before, after, relation, key or None, operations).
fn of_step<'py>(py: Python<'py>, columns: &Columns, step: &Step) -> PyResult<Bound<'py, PyAny>> {
    let key = key(py, columns, step.key)?;
    let row = (step.before, step.after, step.relation as u8, key, step.operations.clone());
    Ok(row.into_pyobject(py)?.into_any())
}

fn key<'py>(py: Python<'py>, columns: &Columns, key: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
    if key == NO_KEY {
        return Ok(None);
    }
    columns.scalar(py, columns.history().keys[key as usize]).map(Some)
}
