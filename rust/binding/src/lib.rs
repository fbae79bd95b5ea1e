//! `isoscope._native`: checks arguments, releases the GIL, calls one kernel.

mod activity;
mod build;
mod clock;
mod clock_online;
mod clock_stream;
mod columns;
mod dependency_graph;
mod explained;
mod generate;
mod interrupt;
mod intervals;
mod intervals_online;
mod order_witness;
mod pipeline;
mod profile;
mod profiled;
mod proof;
mod read;
mod rows;
mod scalar;
mod simulate;
mod sub_history;
mod tables;
mod values;
mod versions;

use isoscope_kernel::history::{Kind, Status};
use isoscope_kernel::weak::alternatives::HappensBeforeMethod;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

create_exception!(
    _native,
    ParseError,
    PyException,
    "Why a parser stopped: its arguments say where and what."
);

/// The Python exception for a kernel's error; `isoscope.formats` adds the path.
fn parse_error(error: isoscope_kernel::error::ParseError) -> PyErr {
    let (excerpt, caret) = error.excerpt;
    ParseError::new_err((error.line, error.column, error.expected, error.found, error.hint, excerpt, caret))
}

/// Parsers and algorithms on dense integer columns.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ParseError", module.py().get_type::<ParseError>())?;
    module.add("UNKNOWN", Py::new(module.py(), scalar::Unknown)?)?;
    module.add_class::<scalar::Unknown>()?;
    module.add_class::<scalar::Term>()?;
    module.add_class::<columns::Columns>()?;
    module.add_class::<read::Reader>()?;
    module.add_class::<build::Builder>()?;
    module.add_class::<rows::TransactionRow>()?;
    module.add_class::<rows::OperationRow>()?;
    module.add_class::<rows::RangeRow>()?;
    module.add_class::<rows::SessionRow>()?;
    module.add_class::<rows::InitialRow>()?;
    module.add_class::<rows::VersionOrderRow>()?;
    module.add_class::<columns::EvidenceExtents>()?;
    module.add("KINDS", PyTuple::new(module.py(), Kind::ALL.map(Kind::as_str))?)?;
    module.add("STATUSES", PyTuple::new(module.py(), Status::ALL.map(Status::as_str))?)?;
    module.add_class::<tables::TableColumns>()?;
    module.add_class::<tables::ListColumns>()?;
    module.add_class::<tables::TableReader>()?;
    module.add_function(wrap_pyfunction!(tables::table_columns, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(clock::judge_clock, module)?)?;
    module.add_function(wrap_pyfunction!(clock::clock_ties, module)?)?;
    module.add_function(wrap_pyfunction!(clock_stream::judge_clock_stream, module)?)?;
    module.add("CLOCK_AXIOMS", clock::axioms(module.py())?)?;
    module.add("StreamRefused", module.py().get_type::<clock_stream::StreamRefused>())?;
    module.add_class::<clock::ClockFinding>()?;
    module.add_class::<clock::ClockJudgement>()?;
    module.add_class::<clock_stream::ClockStream>()?;
    module.add_class::<clock_stream::StreamLimits>()?;
    module.add_class::<clock_online::ClockNews>()?;
    module.add_class::<clock_online::ClockOnline>()?;
    module.add_class::<clock_online::ClockReport>()?;
    module.add_class::<clock_online::ClockStability>()?;
    module.add_class::<clock_online::ClockStatus>()?;
    module.add("Refused", module.py().get_type::<simulate::Refused>())?;
    module.add_class::<simulate::InjectedFault>()?;
    module.add_class::<simulate::SimulatedRun>()?;
    module.add_class::<simulate::SimulatedStore>()?;
    module.add_class::<profiled::ProfiledRun>()?;
    module.add_class::<profiled::Truth>()?;
    module.add_class::<profiled::Lifetime>()?;
    module.add_class::<profiled::HeldLock>()?;
    module.add_class::<profiled::ShownVersion>()?;
    module.add_class::<profiled::RowVersion>()?;
    module.add_class::<profiled::TrueDependency>()?;
    module.add_class::<profiled::StruckFault>()?;
    module.add_class::<profile::Conduct>()?;
    module.add_class::<profile::OperationConduct>()?;
    module.add_class::<profile::Profile>()?;
    module.add_class::<intervals::SnapshotUsed>()?;
    module.add_class::<intervals::MechanismFinding>()?;
    module.add_class::<intervals::MechanismCheck>()?;
    module.add_class::<intervals::DependencyCount>()?;
    module.add_class::<intervals::MechanismsJudgement>()?;
    module.add_class::<intervals_online::FindingNews>()?;
    module.add_class::<intervals_online::IntervalsReport>()?;
    module.add_class::<intervals_online::IntervalsOnline>()?;
    module.add_function(wrap_pyfunction!(intervals::judge_intervals, module)?)?;
    module.add_function(wrap_pyfunction!(sub_history::itemised, module)?)?;
    module.add_function(wrap_pyfunction!(sub_history::sub_history, module)?)?;
    module.add_function(wrap_pyfunction!(sub_history::with_transactions_read_from, module)?)?;
    module.add_function(wrap_pyfunction!(sub_history::with_transactions_on_same_keys, module)?)?;
    module.add_class::<pipeline::Dispatched>()?;
    module.add_function(wrap_pyfunction!(pipeline::dispatch_times, module)?)?;
    add_activity(module)?;
    add_values(module)?;
    add_versions(module)
}

fn add_activity(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<activity::ActivityCounts>()?;
    module.add_class::<activity::BucketCounts>()?;
    module.add_class::<activity::LatencyQuantiles>()?;
    module.add_class::<activity::ConcurrencyCounts>()?;
    module.add_class::<activity::KeyUseCounts>()?;
    module.add_function(wrap_pyfunction!(activity::activity, module)?)
}

fn add_values(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<proof::ProofStep>()?;
    module.add_class::<values::ValuesJudgement>()?;
    module.add_class::<values::ReadFinding>()?;
    module.add_class::<values::UnjudgedReads>()?;
    module.add_class::<values::WeakJudgement>()?;
    module.add_class::<values::ConflictFinding>()?;
    module.add_class::<values::StaleRead>()?;
    module.add_class::<values::WeakEffort>()?;
    let methods = HappensBeforeMethod::ALL.map(HappensBeforeMethod::as_str);
    module.add("HAPPENS_BEFORE_METHODS", PyTuple::new(module.py(), methods)?)?;
    module.add_function(wrap_pyfunction!(values::judge_values, module)?)
}

fn add_versions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<order_witness::OrderWitness>()?;
    module.add_class::<explained::ExplainedValues>()?;
    module.add_function(wrap_pyfunction!(explained::explain_values, module)?)?;
    module.add_function(wrap_pyfunction!(explained::sources_agree, module)?)?;
    module.add_class::<order_witness::WitnessRead>()?;
    module.add_class::<versions::VersionsJudgement>()?;
    module.add_class::<versions::CycleFinding>()?;
    module.add_class::<versions::OrderedKeys>()?;
    module.add_class::<versions::UnjudgedVersions>()?;
    module.add_function(wrap_pyfunction!(versions::judge_versions, module)?)?;
    module.add_function(wrap_pyfunction!(versions::ordered_keys, module)?)?;
    module.add_class::<dependency_graph::Dependency>()?;
    module.add_class::<dependency_graph::EventGraph>()?;
    module.add_class::<dependency_graph::GraphStatistics>()?;
    module.add_class::<dependency_graph::Graph>()?;
    module.add_function(wrap_pyfunction!(dependency_graph::dependencies, module)?)?;
    module.add_function(wrap_pyfunction!(dependency_graph::event_graph, module)?)?;
    module.add_function(wrap_pyfunction!(dependency_graph::graph_statistics, module)?)?;
    module.add_class::<sub_history::Itemised>()
}
