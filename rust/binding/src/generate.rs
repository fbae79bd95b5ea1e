//! Histories that are made up: a workload on a store of some level.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use crate::{parse_error, scalar};
use isoscope_kernel::generate::{
    self as kernel, Action, Distribution, Isolation, Mix, Model, Pick, Scene, Scripted, Step, Table,
    Template, Workload,
};
use isoscope_kernel::value::{Value, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Keys, distribution.
pub type TableRow = (u32, String);
/// Table, action, reads in thousandths, pick, least and most times.
pub type StepRow = (u32, String, u32, String, u32, u32);
/// Session, aborted, operations: key, and for a read how many writes it shows.
type SceneRow = (u32, bool, Vec<(u32, Option<u32>)>);

/// The history of a workload, the same for the same arguments everywhere.
#[pyfunction]
#[pyo3(signature = (*, seed, sessions, transactions, tables, templates, aborted, isolation, lag, script, lists, most_writes_per_key, timestamps, intervals, initial, initial_replaceable))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "keyword-only in Python")]
#[expect(clippy::needless_pass_by_value, reason = "they come from Python")]
pub fn generate(
    py: Python<'_>,
    seed: u64,
    sessions: u32,
    transactions: u32,
    tables: Vec<TableRow>,
    templates: Vec<(u32, Vec<StepRow>)>,
    aborted: u32,
    isolation: &str,
    lag: u32,
    script: Vec<SceneRow>,
    lists: bool,
    most_writes_per_key: u32,
    timestamps: bool,
    intervals: bool,
    initial: &Bound<'_, PyAny>,
    initial_replaceable: bool,
) -> PyResult<Columns> {
    let mix = mix(&tables, &templates)?;
    if sessions == 0 || lag == 0 || transactions < script.len() as u32 {
        return Err(PyValueError::new_err("a workload needs a session, a version to read, and its script"));
    }
    let workload = Workload {
        seed,
        sessions,
        transactions,
        mix,
        aborted,
        model: if lists { Model::List } else { Model::Register },
        isolation: isolation_called(isolation)?,
        lag,
        script: script.into_iter().map(scene).collect(),
        most_writes_per_key,
        timestamps,
        intervals,
        initial: small_or_none(initial)?,
        initial_replaceable,
    };
    let history = interruptible(py, |cancel| kernel::generate(&workload, cancel))?;
    history.map(Columns::new).map_err(parse_error)
}

/// What transactions do.
pub fn mix(tables: &[TableRow], templates: &[(u32, Vec<StepRow>)]) -> PyResult<Mix> {
    let mix = Mix {
        tables: tables.iter().map(table).collect::<PyResult<_>>()?,
        templates: templates.iter().map(template).collect::<PyResult<_>>()?,
    };
    match mix.problem() {
        Some(problem) => Err(PyValueError::new_err(problem)),
        None => Ok(mix),
    }
}

/// What keys hold before the first write.
pub fn small_or_none(initial: &Bound<'_, PyAny>) -> PyResult<Value> {
    let initial = scalar::maybe_unknown(&mut Values::default(), initial)?;
    if initial.as_small().is_none() && initial != Value::NIL && initial != Value::UNKNOWN {
        return Err(PyValueError::new_err("the initial value must be an integer, None or UNKNOWN"));
    }
    Ok(initial)
}

fn table((keys, distribution): &TableRow) -> PyResult<Table> {
    let distribution = match distribution.as_str() {
        "uniform" => Distribution::Uniform,
        "zipfian" => Distribution::Zipfian,
        "hotspot" => Distribution::Hotspot,
        other => return Err(unknown("distribution", other)),
    };
    Ok(Table { keys: *keys, distribution })
}

fn template((weight, steps): &(u32, Vec<StepRow>)) -> PyResult<Template> {
    Ok(Template { weight: *weight, steps: steps.iter().map(step).collect::<PyResult<_>>()? })
}

fn step((table, action, reads, pick, least, most): &StepRow) -> PyResult<Step> {
    let action = match action.as_str() {
        "read" => Action::Read,
        "write" => Action::Write,
        "update" => Action::Update,
        "either" => Action::Either(*reads),
        other => return Err(unknown("action", other)),
    };
    let pick = match pick.as_str() {
        "drawn" => Pick::Drawn,
        "new" => Pick::New,
        "recent" => Pick::Recent,
        other => return Err(unknown("pick", other)),
    };
    Ok(Step { table: *table, action, pick, times: (*least, *most) })
}

fn scene((session, aborted, operations): SceneRow) -> Scene {
    let scripted = |(key, writes): (u32, Option<u32>)| match writes {
        Some(writes) => Scripted::Read(key, writes),
        None => Scripted::Write(key),
    };
    Scene { session, aborted, operations: operations.into_iter().map(scripted).collect() }
}

fn isolation_called(name: &str) -> PyResult<Isolation> {
    match name {
        "read-committed" => Ok(Isolation::ReadCommitted),
        "read-atomic" => Ok(Isolation::ReadAtomic),
        "causal" => Ok(Isolation::Causal),
        "strong-snapshot-isolation" => Ok(Isolation::Snapshot),
        "serial" => Ok(Isolation::Serial),
        other => Err(unknown("isolation", other)),
    }
}

/// A name that means nothing.
pub fn unknown(what: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("no {what} is called `{name}`"))
}
