//! The method of timestamps for histories that do not fit into memory: slices and blocks in, runs out.

use crate::clock::rows;
use crate::columns::Columns;
use crate::scalar;
use isoscope_kernel::clock::Isolation;
use isoscope_kernel::clock::stream::{Facts, Intake, Merge, SPILLED, Trial};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// Takes a history slice by slice, and gives sorted runs of its events.
#[pyclass(module = "isoscope._native")]
pub struct ClockIntake(Option<Intake>);

#[pymethods]
impl ClockIntake {
    #[new]
    fn new(snapshot: bool, serializable: bool, most: usize) -> Self {
        Self(Some(Intake::new(snapshot, serializable, most)))
    }

    /// Takes the next transactions; (line, what) if there is something that only the whole could tell.
    fn take(&mut self, py: Python<'_>, columns: &Columns) -> PyResult<Option<(u32, &'static str)>> {
        let intake = self.intake()?;
        let taken = py.detach(|| intake.take(columns.history()));
        Ok(taken.err().map(|refusal| (refusal.line, refusal.found)))
    }

    /// The run so far, in order, if it has at least so many bytes.
    fn run<'py>(&mut self, py: Python<'py>, least: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let intake = self.intake()?;
        let run = py.detach(|| intake.run(least));
        Ok(run.map(|run| PyBytes::new(py, &run)))
    }

    /// Everything was taken.
    fn finish(&mut self) -> PyResult<ClockFacts> {
        self.0.take().map(|intake| ClockFacts(intake.finish())).ok_or_else(finished)
    }
}

impl ClockIntake {
    fn intake(&mut self) -> PyResult<&mut Intake> {
        self.0.as_mut().ok_or_else(finished)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the intake is finished")
}

/// What is known of a history when all of it was seen.
#[pyclass(frozen, module = "isoscope._native")]
pub struct ClockFacts(Arc<Facts>);

#[pymethods]
impl ClockFacts {
    /// How many sessions, transactions, operations and keys, and transactions of each status.
    #[getter]
    fn sizes(&self) -> [u64; 7] {
        self.0.sizes
    }

    /// Which kinds of evidence there are.
    #[getter]
    fn present(&self) -> [bool; 4] {
        self.0.present
    }

    /// Whether somebody uses a key as a list: reads that found nothing there found an empty one.
    fn holds_list(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(scalar::find(self.0.values(), key)?.is_some_and(|key| self.0.holds_list(key)))
    }

    /// The trial of one level.
    fn trial(&self, serializable: bool, most: usize) -> ClockTrial {
        let isolation = if serializable { Isolation::Serializable } else { Isolation::Snapshot };
        ClockTrial { trial: Trial::new(Arc::clone(&self.0), isolation, most), runs: 0 }
    }
}

/// One level, judged in several passes over the runs.
#[pyclass(module = "isoscope._native")]
pub struct ClockTrial {
    trial: Trial,
    runs: usize,
}

#[pymethods]
impl ClockTrial {
    /// So many bytes has a read that may show an initial value.
    #[classattr]
    const SPILLED: usize = SPILLED;

    /// A pass over so many runs begins.
    fn rewind(&mut self, runs: usize) {
        self.runs = runs;
        self.trial.rewind(runs);
    }

    /// Looks at all that is there; the run of which more is needed, or None if the pass is over.
    fn advance(&mut self, py: Python<'_>) -> Option<u32> {
        let trial = &mut self.trial;
        py.detach(|| trial.advance())
    }

    /// The next bytes of a run; none if it is over.
    fn feed(&mut self, run: u32, block: &[u8]) -> PyResult<()> {
        check(run, self.runs)?;
        self.trial.feed(run, block);
        Ok(())
    }

    /// Reads that may show initial values, found since the last time.
    fn spilled<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.trial.spilled())
    }

    /// The next pass finds out whether what these reads show was written.
    fn suspect(&mut self, spilled: &[u8]) {
        self.trial.suspect(spilled);
    }

    /// All initial values are learned: counts which of these reads are wrong.
    fn tally(&mut self, spilled: &[u8]) {
        self.trial.tally(spilled);
    }

    /// The next pass finds out where what stale reads show comes from; whether there is anything to find.
    fn ask(&mut self) -> bool {
        self.trial.ask()
    }

    /// (id, line, line of the one before it) of a transaction whose id was there already.
    #[getter]
    fn repeated(&self) -> Option<(&str, u32, u32)> {
        self.trial.repeated().map(|repeated| (repeated.id.as_str(), repeated.line, repeated.earlier))
    }

    /// What `judge_clock` gives.
    fn judged<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let judgement = self.trial.judgement();
        let facts = self.trial.facts();
        rows(py, &judgement, facts.values(), |key| facts.key(key))
    }
}

/// Several runs as one, for those who cannot have so many at once.
#[pyclass(module = "isoscope._native")]
pub struct RunMerge {
    merge: Merge,
    runs: usize,
    merged: Vec<u8>,
}

#[pymethods]
impl RunMerge {
    #[new]
    fn new(runs: usize) -> Self {
        Self { merge: Merge::new(runs), runs, merged: Vec::new() }
    }

    /// Merges all that is there; the run of which more is needed, or None if all are over.
    fn advance(&mut self, py: Python<'_>) -> Option<u32> {
        let Self { merge, merged, .. } = self;
        py.detach(|| merge.write(merged))
    }

    /// The next bytes of a run; none if it is over.
    fn feed(&mut self, run: u32, block: &[u8]) -> PyResult<()> {
        check(run, self.runs)?;
        self.merge.feed(run, block);
        Ok(())
    }

    /// The merged bytes since the last time.
    fn merged<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = PyBytes::new(py, &self.merged);
        self.merged.clear();
        bytes
    }
}

fn check(run: u32, runs: usize) -> PyResult<()> {
    if (run as usize) < runs {
        return Ok(());
    }
    Err(PyIndexError::new_err(format!("no run has number {run}")))
}
