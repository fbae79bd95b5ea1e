//! Generated histories: a workload whose transactions run one after the other.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use crate::{parse_error, scalar};
use isoscope_kernel::generate::{
    self as kernel, Action, Distribution, Isolation, Lagging, Mix, Model, Pick, Scene, Scripted, Serial,
    Step, Table, Template,
};
use isoscope_kernel::value::{Value, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The attributes of `isoscope.workloads.Workload` that the kernel needs; shares lie between 0 and 1.
#[derive(FromPyObject)]
pub struct Workload<'py> {
    seed: u64,
    pub sessions: u32,
    transactions: u32,
    min_operations: u32,
    max_operations: u32,
    keys: u32,
    read_ratio: f64,
    abort_ratio: f64,
    distribution: String,
    mix: Option<WorkloadMix>,
    lag: u32,
    lists: bool,
    max_writes_per_key: u32,
    timestamps: bool,
    intervals: bool,
    initial: Initial<'py>,
}

#[derive(FromPyObject)]
struct Initial<'py> {
    value: Bound<'py, PyAny>,
    replaceable: bool,
}

/// `isoscope.workloads.Mix`.
#[derive(FromPyObject)]
struct WorkloadMix {
    tables: Vec<MixTable>,
    templates: Vec<MixTemplate>,
}

#[derive(FromPyObject)]
struct MixTable {
    name: String,
    keys: u32,
    distribution: String,
}

#[derive(FromPyObject)]
struct MixTemplate {
    weight: u32,
    steps: Vec<MixStep>,
}

#[derive(FromPyObject)]
struct MixStep {
    action: String,
    table: String,
    least: u32,
    most: Option<u32>,
    pick: String,
    reads: f64,
}

/// `isoscope.workloads.breaking.Scene`; a write has no number of writes.
#[derive(FromPyObject)]
pub struct ScriptScene {
    session: u32,
    aborted: bool,
    operations: Vec<ScriptOperation>,
}

#[derive(FromPyObject)]
struct ScriptOperation {
    key: String,
    writes: Option<u32>,
}

/// The history of a workload, the same for the same arguments on every machine.
#[pyfunction]
#[pyo3(signature = (workload, *, isolation, script))]
#[expect(clippy::needless_pass_by_value, reason = "they come from Python")]
pub fn generate(
    py: Python<'_>,
    workload: Workload<'_>,
    isolation: &str,
    script: Vec<ScriptScene>,
) -> PyResult<Columns> {
    if workload.sessions == 0 || workload.lag == 0 || workload.transactions < script.len() as u32 {
        return Err(PyValueError::new_err("a workload needs a session, a version to read, and its script"));
    }
    let serial = Serial {
        isolation: serial_isolation(isolation)?,
        lag: workload.lag,
        script: script.iter().map(scene).collect(),
    };
    let workload = workload.kernel()?;
    let history = interruptible(py, |cancel| kernel::generate(&workload, &serial, cancel))?;
    history.map(Columns::new).map_err(parse_error)
}

impl Workload<'_> {
    pub fn kernel(&self) -> PyResult<kernel::Workload> {
        let mix = if let Some(mix) = &self.mix {
            mix.kernel()?
        } else {
            let table = Table { keys: self.keys, distribution: distribution(&self.distribution)? };
            Mix::plain(table, thousandths(self.read_ratio), (self.min_operations, self.max_operations))
        };
        if let Some(problem) = mix.problem() {
            return Err(PyValueError::new_err(problem));
        }
        Ok(kernel::Workload {
            seed: self.seed,
            sessions: self.sessions,
            transactions: self.transactions,
            mix,
            aborted: thousandths(self.abort_ratio),
            model: model(self.lists),
            max_writes_per_key: self.max_writes_per_key,
            timestamps: self.timestamps,
            intervals: self.intervals,
            initial: small_or_none(&self.initial.value)?,
            initial_replaceable: self.initial.replaceable,
        })
    }
}

impl WorkloadMix {
    fn kernel(&self) -> PyResult<Mix> {
        let table = |table: &MixTable| {
            Ok(Table { keys: table.keys, distribution: distribution(&table.distribution)? })
        };
        let template = |template: &MixTemplate| {
            let steps = template.steps.iter().map(|step| self.step(step)).collect::<PyResult<_>>()?;
            Ok(Template { weight: template.weight, steps })
        };
        Ok(Mix {
            tables: self.tables.iter().map(table).collect::<PyResult<_>>()?,
            templates: self.templates.iter().map(template).collect::<PyResult<_>>()?,
        })
    }

    fn step(&self, step: &MixStep) -> PyResult<Step> {
        let action = match step.action.as_str() {
            "read" => Action::Read,
            "write" => Action::Write,
            "update" => Action::Update,
            "either" => Action::Either(thousandths(step.reads)),
            other => return Err(unknown("action", other)),
        };
        let pick = Pick::named(&step.pick).ok_or_else(|| unknown("pick", &step.pick))?;
        let table = self.tables.iter().position(|table| table.name == step.table);
        let table = table.ok_or_else(|| unknown("table", &step.table))? as u32;
        Ok(Step { table, action, pick, times: (step.least, step.most.unwrap_or(step.least)) })
    }
}

/// A share in thousandths, rounded as Python rounds.
pub fn thousandths(share: f64) -> u32 {
    (share * 1000.0).round_ties_even() as u32
}

/// What keys hold.
pub fn model(lists: bool) -> Model {
    if lists { Model::List } else { Model::Register }
}

fn small_or_none(initial: &Bound<'_, PyAny>) -> PyResult<Value> {
    let initial = scalar::maybe_unknown(&mut Values::default(), initial)?;
    if initial.as_small().is_none() && initial != Value::NIL && initial != Value::UNKNOWN {
        return Err(PyValueError::new_err("the initial value must be an integer, None or UNKNOWN"));
    }
    Ok(initial)
}

fn distribution(name: &str) -> PyResult<Distribution> {
    Distribution::named(name).ok_or_else(|| unknown("distribution", name))
}

fn scene(scene: &ScriptScene) -> Scene {
    let scripted = |operation: &ScriptOperation| {
        let key = u32::from(operation.key != "x");
        operation.writes.map_or(Scripted::Write(key), |writes| Scripted::Read(key, writes))
    };
    let operations = scene.operations.iter().map(scripted).collect();
    Scene { session: scene.session, aborted: scene.aborted, operations }
}

fn serial_isolation(name: &str) -> PyResult<Isolation> {
    match name {
        "read-committed" => Ok(Isolation::Lagging(Lagging::ReadCommitted)),
        "read-atomic" => Ok(Isolation::Lagging(Lagging::ReadAtomic)),
        "causal" => Ok(Isolation::Lagging(Lagging::Causal)),
        "strong-snapshot-isolation" => Ok(Isolation::Snapshot),
        "serial" => Ok(Isolation::Serializable),
        other => Err(unknown("isolation", other)),
    }
}

/// The error for a name that is not known.
pub fn unknown(what: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("no {what} is called `{name}`"))
}
