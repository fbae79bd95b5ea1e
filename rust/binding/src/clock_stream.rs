//! The method of timestamps for histories that do not fit into memory: slices in, judgements out.

use crate::clock::{self, ClockJudgement};
use crate::columns::{Columns, present_names};
use crate::interrupt::interruptible;
use crate::scalar;
use isoscope_kernel::clock::stream::{self, RunStore, SortedStream, StreamError, StreamFacts, StreamSorter};
use isoscope_kernel::clock::{ClockLevel, Judgement};
use isoscope_kernel::evidence::EvidenceKind;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

create_exception!(
    _native,
    StreamRefused,
    PyException,
    "A history cannot be judged slice by slice: its arguments are the line, or 0, and the problem."
);

/// How much of a stream is in memory at once.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct StreamLimits {
    /// Bytes of a run before it is sorted and written.
    run_bytes: usize,
    /// Bytes that are read of a run at once.
    block_bytes: usize,
    /// Reads that are looked up in one pass.
    suspect_reads: usize,
    /// Runs that are read at the same time.
    merged_runs: usize,
}

#[pymethods]
impl StreamLimits {
    #[new]
    #[pyo3(signature = (*, run_bytes, block_bytes, suspect_reads, merged_runs))]
    fn new(run_bytes: usize, block_bytes: usize, suspect_reads: usize, merged_runs: usize) -> Self {
        // Two runs at least make one, and every step takes something.
        Self {
            run_bytes,
            block_bytes: block_bytes.max(1),
            suspect_reads: suspect_reads.max(1),
            merged_runs: merged_runs.max(2),
        }
    }
}

/// What the clock says of a stream.
#[pyclass(frozen, module = "isoscope._native")]
pub struct ClockStream {
    facts: Arc<StreamFacts>,
    /// One for each level that was asked; none if the history has no timestamps.
    #[pyo3(get)]
    judgements: Vec<Py<ClockJudgement>>,
    /// How many sessions, transactions, operations and keys there are, and transactions of each status.
    #[pyo3(get)]
    sizes: Py<PyDict>,
    /// The kinds of evidence.
    #[pyo3(get)]
    evidence: Vec<&'static str>,
    /// Seconds until the slices came, and until they were sorted.
    #[pyo3(get)]
    load_seconds: f64,
    #[pyo3(get)]
    sort_seconds: f64,
}

#[pymethods]
impl ClockStream {
    /// Whether some transaction uses a key as a list: then nil reads of it show the empty list.
    fn holds_list(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(scalar::find(self.facts.values(), key)?.is_some_and(|key| self.facts.holds_list(key)))
    }
}

/// Holds a history against the database's own clock, level by level; `slices` is iterated once, and sorted
/// runs lie in `folder`. Raises `StreamRefused`, or OSError if the disk is full.
#[pyfunction]
#[pyo3(signature = (slices, folder, *, levels, max_anomalies, limits))]
pub fn judge_clock_stream(
    py: Python<'_>,
    slices: &Bound<'_, PyAny>,
    folder: PathBuf,
    levels: Vec<String>,
    max_anomalies: usize,
    limits: &StreamLimits,
) -> PyResult<ClockStream> {
    let levels = clock::levels(levels)?;
    let limits = stream::StreamLimits {
        run_bytes: limits.run_bytes,
        block_bytes: limits.block_bytes,
        suspect_reads: limits.suspect_reads,
        merged_runs: limits.merged_runs,
    };
    let started = Instant::now();
    let mut sorter =
        StreamSorter::new(&levels, max_anomalies, limits, FileRuns { folder, open: HashMap::new() });
    let loading = take_all(py, slices, &mut sorter)?;
    let mut sorted = interruptible(py, |cancel| sorter.finish(cancel))?.map_err(|error| raised(py, error))?;
    let sorting = started.elapsed().saturating_sub(loading);
    let judgements = judge_levels(py, &mut sorted, &levels)?;
    let facts = Arc::clone(sorted.facts());
    Ok(ClockStream {
        judgements,
        sizes: sizes(py, &facts)?,
        evidence: present_names(facts.present),
        load_seconds: loading.as_secs_f64(),
        sort_seconds: sorting.as_secs_f64(),
        facts,
    })
}

/// Takes all slices; how long they took to come.
fn take_all(
    py: Python<'_>,
    slices: &Bound<'_, PyAny>,
    sorter: &mut StreamSorter<FileRuns>,
) -> PyResult<Duration> {
    let mut slices = slices.try_iter()?;
    let mut loading = Duration::ZERO;
    loop {
        let asked = Instant::now();
        let slice = slices.next();
        loading += asked.elapsed();
        let Some(slice) = slice else { return Ok(loading) };
        let slice = slice?.cast_into::<Columns>()?;
        let columns = slice.get();
        py.detach(|| sorter.take(columns.history())).map_err(|error| raised(py, error))?;
        py.check_signals()?;
    }
}

fn judge_levels(
    py: Python<'_>,
    sorted: &mut SortedStream<FileRuns>,
    levels: &[ClockLevel],
) -> PyResult<Vec<Py<ClockJudgement>>> {
    let facts = Arc::clone(sorted.facts());
    if !facts.present[EvidenceKind::Timestamps as usize] {
        return Ok(Vec::new());
    }
    let judge = |&level: &ClockLevel| {
        let judged = interruptible(py, |cancel| sorted.judge(level, cancel))?;
        let judgement: Judgement = judged.map_err(|error| raised(py, error))?;
        let key = |key| facts.key(key);
        Py::new(py, ClockJudgement::new(py, level, &judgement, facts.values(), key)?)
    };
    levels.iter().map(judge).collect()
}

fn sizes(py: Python<'_>, facts: &StreamFacts) -> PyResult<Py<PyDict>> {
    let sizes = facts.sizes;
    let named = PyDict::new(py);
    let [committed, aborted, indeterminate] = sizes.statuses;
    for (name, size) in [
        ("sessions", sizes.sessions),
        ("transactions", sizes.transactions),
        ("operations", sizes.operations),
        ("keys", sizes.keys),
        ("committed", committed),
        ("aborted", aborted),
        ("indeterminate", indeterminate),
    ] {
        named.set_item(name, size)?;
    }
    Ok(named.unbind())
}

/// The Python exception for an error of a stream.
fn raised(py: Python<'_>, error: StreamError<io::Error>) -> PyErr {
    match error {
        StreamError::Refused(refusal) => StreamRefused::new_err((refusal.line, refusal.problem)),
        StreamError::Store(error) => os_error(py, &error).unwrap_or_else(|error| error),
    }
}

/// An OSError that has its number, as Python's own have.
fn os_error(py: Python<'_>, error: &io::Error) -> PyResult<PyErr> {
    let Some(number) = error.raw_os_error() else { return Ok(PyOSError::new_err(error.to_string())) };
    let text: String = py.import("os")?.call_method1("strerror", (number,))?.extract()?;
    Ok(PyOSError::new_err((number, text)))
}

/// Runs as files of a folder; those that were read stay open, which are never more than are merged at once.
struct FileRuns {
    folder: PathBuf,
    open: HashMap<u32, OpenRun>,
}

struct OpenRun {
    file: File,
    position: u64,
}

impl FileRuns {
    fn path(&self, run: u32) -> PathBuf {
        self.folder.join(run.to_string())
    }
}

impl RunStore for FileRuns {
    type Error = io::Error;

    fn append(&mut self, run: u32, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).open(self.path(run))?.write_all(bytes)
    }

    fn read(&mut self, run: u32, offset: u64, length: usize, block: &mut Vec<u8>) -> io::Result<()> {
        let path = self.path(run);
        let OpenRun { file, position } = match self.open.entry(run) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(_) if !path.exists() => return Ok(()),
            Entry::Vacant(closed) => closed.insert(OpenRun { file: File::open(path)?, position: 0 }),
        };
        if *position != offset {
            *position = file.seek(SeekFrom::Start(offset))?;
        }
        *position += file.take(length as u64).read_to_end(block)? as u64;
        Ok(())
    }

    fn remove(&mut self, run: u32) -> io::Result<()> {
        self.open.remove(&run);
        match std::fs::remove_file(self.path(run)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}
