//! `isoscope._native`: checks arguments, releases the GIL, calls one kernel.

mod activity;
mod build;
mod clock;
mod columns;
mod generate;
mod interrupt;
mod intervals;
mod intervals_online;
mod judge;
mod online;
mod part;
mod pipeline;
mod predicates;
mod profile;
mod profiled;
mod read;
mod scalar;
mod simulate;
mod stream;
mod tables;
mod versions;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

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
    module.add_class::<tables::TableReader>()?;
    module.add_function(wrap_pyfunction!(activity::activity, module)?)?;
    module.add_function(wrap_pyfunction!(tables::table_columns, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add("Refused", module.py().get_type::<simulate::Refused>())?;
    module.add_class::<simulate::InjectedFault>()?;
    module.add_class::<simulate::SimulatedStore>()?;
    module.add_function(wrap_pyfunction!(judge::judge_values, module)?)?;
    module.add_function(wrap_pyfunction!(versions::judge_versions, module)?)?;
    module.add_function(wrap_pyfunction!(versions::ordered_keys, module)?)?;
    module.add_function(wrap_pyfunction!(versions::dependencies, module)?)?;
    module.add_function(wrap_pyfunction!(versions::graph_statistics, module)?)?;
    module.add_class::<versions::Graph>()?;
    module.add_function(wrap_pyfunction!(clock::judge_clock, module)?)?;
    module.add_function(wrap_pyfunction!(clock::clock_ties, module)?)?;
    module.add_class::<profiled::ProfiledRun>()?;
    module.add_class::<profiled::Truth>()?;
    module.add_class::<profiled::Lifetime>()?;
    module.add_class::<profiled::HeldLock>()?;
    module.add_class::<profiled::ShownVersion>()?;
    module.add_class::<profiled::RowVersion>()?;
    module.add_class::<profiled::TrueDependency>()?;
    module.add_class::<profiled::StruckFault>()?;
    module.add_class::<online::ClockOnline>()?;
    module.add_class::<profile::Conduct>()?;
    module.add_class::<profile::OperationConduct>()?;
    module.add_class::<profile::Profile>()?;
    module.add_class::<intervals_online::IntervalsOnline>()?;
    module.add_function(wrap_pyfunction!(intervals::judge_intervals, module)?)?;
    module.add_function(wrap_pyfunction!(intervals::deduced_versions, module)?)?;
    module.add_class::<stream::ClockIntake>()?;
    module.add_class::<stream::ClockFacts>()?;
    module.add_class::<stream::ClockTrial>()?;
    module.add_class::<stream::RunMerge>()?;
    module.add_function(wrap_pyfunction!(part::itemised, module)?)?;
    module.add_function(wrap_pyfunction!(part::part, module)?)?;
    module.add_function(wrap_pyfunction!(part::servers, module)?)?;
    module.add_function(wrap_pyfunction!(part::neighbours, module)?)?;
    module.add_function(wrap_pyfunction!(pipeline::dispatch_times, module)?)?;
    module.add_function(wrap_pyfunction!(predicates::judge_predicates, module)?)?;
    Ok(())
}
