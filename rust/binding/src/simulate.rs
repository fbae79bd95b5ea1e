//! Histories of the simulated database, and the log of its faults.

use crate::columns::Columns;
use crate::generate::{StepRow, TableRow, mix, small_or_none, unknown};
use crate::interrupt::interruptible;
use crate::parse_error;
use isoscope_kernel::generate::Model;
use isoscope_kernel::simulate::{
    self as kernel, Axiom, Bug, Clocks, Conflicts, Entry, Isolation, Simulated, Simulation,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Axiom, transaction, key, other transaction, expected value, found value.
type EntryRow<'py> =
    (&'static str, u32, Bound<'py, PyAny>, Option<u32>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The history of a run of the simulated database, and what came of its fault.
#[pyfunction]
#[pyo3(signature = (*, seed, sessions, transactions, tables, templates, aborted, isolation, conflicts, concurrency, nodes, skew, lists, most_writes_per_key, repeated_values, timestamps, intervals, initial, initial_replaceable, bug, bug_rate))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "keyword-only in Python")]
#[expect(clippy::needless_pass_by_value, reason = "they come from Python")]
pub fn simulate<'py>(
    py: Python<'py>,
    seed: u64,
    sessions: u32,
    transactions: u32,
    tables: Vec<TableRow>,
    templates: Vec<(u32, Vec<StepRow>)>,
    aborted: u32,
    isolation: &str,
    conflicts: &str,
    concurrency: u32,
    nodes: u32,
    skew: u64,
    lists: bool,
    most_writes_per_key: u32,
    repeated_values: u32,
    timestamps: bool,
    intervals: bool,
    initial: &Bound<'_, PyAny>,
    initial_replaceable: bool,
    bug: Option<&str>,
    bug_rate: u32,
) -> PyResult<(Columns, Vec<EntryRow<'py>>)> {
    if sessions == 0 || concurrency == 0 {
        return Err(PyValueError::new_err("a database without a session does nothing"));
    }
    let simulation = Simulation {
        seed,
        sessions,
        transactions,
        mix: mix(&tables, &templates)?,
        aborted,
        model: if lists { Model::List } else { Model::Register },
        isolation: isolation_called(isolation)?,
        conflicts: conflicts_called(conflicts)?,
        concurrency,
        clocks: if nodes == 0 { Clocks::Central } else { Clocks::Hybrid { nodes, skew } },
        most_writes_per_key,
        repeated_values,
        timestamps,
        intervals,
        initial: small_or_none(initial)?,
        initial_replaceable,
        bug: bug.map(bug_called).transpose()?,
        bug_rate,
    };
    let simulated = interruptible(py, |cancel| kernel::simulate(&simulation, cancel))?;
    let Simulated { history, log } = simulated.map_err(parse_error)?;
    let columns = Columns::new(history);
    let rows = log.iter().map(|entry| row(py, &columns, entry)).collect::<PyResult<_>>()?;
    Ok((columns, rows))
}

fn row<'py>(py: Python<'py>, columns: &Columns, entry: &Entry) -> PyResult<EntryRow<'py>> {
    let value = |value| columns.scalar(py, value);
    let (key, expected, found) = (value(entry.key)?, value(entry.expected)?, value(entry.found)?);
    Ok((name(entry.axiom), entry.transaction, key, entry.other, expected, found))
}

fn name(axiom: Axiom) -> &'static str {
    match axiom {
        Axiom::Ext => "ext",
        Axiom::Replay => "replay",
        Axiom::Int => "int",
        Axiom::OwnInt => "own-int",
        Axiom::NoConflict => "noconflict",
        Axiom::Session => "session",
        Axiom::Inversion => "inversion",
        Axiom::AbortedRead => "aborted-read",
        Axiom::IntermediateRead => "intermediate-read",
        Axiom::Missed => "missed",
    }
}

fn isolation_called(name: &str) -> PyResult<Isolation> {
    match name {
        "serializable" => Ok(Isolation::Serializable),
        "snapshot-isolation" => Ok(Isolation::Snapshot),
        "read-committed" => Ok(Isolation::ReadCommitted),
        "read-uncommitted" => Ok(Isolation::ReadUncommitted),
        other => Err(unknown("isolation", other)),
    }
}

fn conflicts_called(name: &str) -> PyResult<Conflicts> {
    match name {
        "abort" => Ok(Conflicts::Abort),
        "retry" => Ok(Conflicts::Retry),
        "read" => Ok(Conflicts::Read),
        other => Err(unknown("way with conflicts", other)),
    }
}

fn bug_called(name: &str) -> PyResult<Bug> {
    match name {
        "stale-snapshot" => Ok(Bug::StaleSnapshot),
        "moving-snapshot" => Ok(Bug::MovingSnapshot),
        "lost-update" => Ok(Bug::LostUpdate),
        "write-skew" => Ok(Bug::WriteSkew),
        "fractured-commit" => Ok(Bug::FracturedCommit),
        "dirty-read" => Ok(Bug::DirtyRead),
        "aborted-read" => Ok(Bug::AbortedRead),
        "non-repeatable-read" => Ok(Bug::NonRepeatableRead),
        "forgotten-write" => Ok(Bug::ForgottenWrite),
        "reordered-session" => Ok(Bug::ReorderedSession),
        "dropped-write" => Ok(Bug::DroppedWrite),
        "timestamp-swap" => Ok(Bug::TimestampSwap),
        "clock-skew" => Ok(Bug::ClockSkew),
        other => Err(unknown("bug", other)),
    }
}
