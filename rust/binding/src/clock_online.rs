//! The levels of the clock while transactions arrive.

use crate::clock::{ClockJudgement, counts};
use crate::columns::Columns;
use crate::scalar;
use isoscope_kernel::clock::ClockLevel;
use isoscope_kernel::clock::online::{BatchRefusal, Engine, News, Report, SegmentStore, Terms};
use isoscope_kernel::value::{Value, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Mutex;

/// A finding that is new, or retracted.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ClockNews {
    /// 1, 2, 3, ...
    number: u64,
    /// The name of the anomaly.
    name: &'static str,
    /// The axiom that it breaks.
    axiom: &'static str,
    /// The id of the transaction.
    transaction: Py<PyAny>,
    /// The id of the other transaction, if there is one.
    other: Option<Py<PyAny>>,
    key: Option<Py<PyAny>>,
    /// Whether a late transaction showed that it is none.
    is_retracted: bool,
}

/// The kept findings of an engine, and the transactions that show them.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ClockReport {
    /// The transactions, in the order of arrival.
    columns: Py<Columns>,
    /// The session of each, by the order of first appearance.
    sessions: Vec<u32>,
    /// The place of each in its session.
    places: Vec<u32>,
    judgement: Py<ClockJudgement>,
}

/// The counters of an engine.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ClockStatus {
    transactions: u64,
    aborted: u64,
    operations: u64,
    keys: u64,
    sessions: u64,
    /// Transactions in memory, and those of them that are not final.
    live: u64,
    pending: u64,
    /// Reads that are stale at present and not final.
    provisional: u64,
    /// Final findings by name.
    counts: Py<PyDict>,
    /// Transactions that came twice.
    repeated: u64,
    /// Transactions and reads that came too late to be judged.
    unverifiable: u64,
    unverifiable_reads: u64,
    /// Final answers that a late transaction changed.
    overturned: u64,
    /// Timestamps of several transactions.
    ties: u64,
    /// Bytes.
    memory: u64,
    /// Below this time only the newest version of each key is in memory.
    watermark: Option<(i64, i64)>,
}

/// How often answers changed before they were final.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ClockStability {
    /// Reads by the number of changes: once, twice, ...
    reads: Vec<u64>,
    /// The same of transactions.
    transactions: Vec<u64>,
    /// Stale answers that became right, by the bits of the nanoseconds that it took.
    rectified: Vec<u64>,
}

/// Judges one level of the clock; there is no clock in it, every call passes the time.
#[pyclass(module = "isoscope._native")]
pub struct ClockOnline {
    engine: Engine,
    /// The batch that was admitted last, and which of its transactions are repeated; None after a change.
    admitted: Option<(Py<Columns>, Vec<bool>)>,
}

#[pymethods]
impl ClockOnline {
    #[new]
    #[pyo3(signature = (level, *, max_anomalies, timeout, keep, initial))]
    fn new(
        level: &str,
        max_anomalies: usize,
        timeout: u64,
        keep: u64,
        initial: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let level = crate::clock::level(level)?;
        let mut engine = Engine::new(Terms { level, max_anomalies, timeout, keep });
        let initial = scalar::maybe_unknown(engine.values_mut(), initial)?;
        if initial != Value::UNKNOWN {
            engine.set_initial(initial);
        }
        Ok(Self { engine, admitted: None })
    }

    /// Raises ValueError as `take` would; nothing is taken. A `take` of the same columns right afterwards does not
    /// look at them again.
    fn admit(&mut self, columns: &Bound<'_, Columns>) -> PyResult<()> {
        let (engine, history) = (&mut self.engine, columns.get().history());
        let repeated = columns.py().detach(|| engine.admit(history)).map_err(refused)?;
        self.admitted = Some((columns.clone().unbind(), repeated));
        Ok(())
    }

    /// Takes all transactions of `columns`, which arrive at `now`; how many are new. Raises ValueError with the
    /// number of a transaction and its problem if it cannot be judged; then none is taken.
    fn take(&mut self, columns: &Bound<'_, Columns>, now: u64) -> PyResult<u64> {
        let (engine, history) = (&mut self.engine, columns.get().history());
        let admitted = self.admitted.take().filter(|(known, _)| known.is(columns));
        columns
            .py()
            .detach(|| match admitted {
                Some((_, repeated)) => Ok(engine.take_admitted(history, repeated, now)),
                None => engine.take(history, now),
            })
            .map_err(refused)
    }

    /// Keeps transactions that leave memory in a folder, in files of at least so many, so that late transactions
    /// can be judged.
    fn spill_to(&mut self, folder: PathBuf, min_transactions: usize) {
        let folder = Folder { place: folder, written: self.engine.segments(), open: Mutex::new(None) };
        self.engine.spill_to(Box::new(folder), min_transactions);
    }

    /// Everything, as bytes.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let engine = &self.engine;
        PyBytes::new(py, &py.detach(|| engine.save()))
    }

    /// The engine that was saved; raises ValueError if these are no bytes of one.
    #[staticmethod]
    fn load(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let loaded = py.detach(|| Engine::load(data));
        let damaged = |_| PyValueError::new_err("the checkpoint is damaged, or of another version");
        loaded.map(|engine| Self { engine, admitted: None }).map_err(damaged)
    }

    /// The message of the disk, if something could not be spilled or read back.
    #[getter]
    fn trouble(&self) -> Option<&str> {
        self.engine.trouble()
    }

    /// It is `now`: transactions that timed out are final, and those that no late one can need are dropped.
    fn advance(&mut self, py: Python<'_>, now: u64) {
        self.admitted = None;
        let engine = &mut self.engine;
        py.detach(|| engine.advance(now));
    }

    /// Everything is final.
    fn flush(&mut self, py: Python<'_>) {
        self.admitted = None;
        let engine = &mut self.engine;
        py.detach(|| engine.flush());
    }

    /// The findings since the last call.
    fn news(&mut self, py: Python<'_>) -> PyResult<Vec<ClockNews>> {
        let news = self.engine.news();
        news.iter().map(|one| ClockNews::new(py, self.engine.values(), one)).collect()
    }

    /// All findings that are kept.
    fn report(&mut self, py: Python<'_>) -> PyResult<ClockReport> {
        let report = self.engine.report();
        ClockReport::new(py, self.engine.level(), report)
    }

    /// The finding of one piece of news, if it is one of the last.
    fn recent(&mut self, py: Python<'_>, number: u64) -> PyResult<Option<ClockReport>> {
        let report = self.engine.recent(number);
        report.map(|report| ClockReport::new(py, self.engine.level(), report)).transpose()
    }

    /// The counters.
    fn status(&self, py: Python<'_>) -> PyResult<ClockStatus> {
        let sizes = self.engine.sizes();
        Ok(ClockStatus {
            transactions: sizes.transactions,
            aborted: sizes.aborted,
            operations: sizes.operations,
            keys: sizes.keys,
            sessions: sizes.sessions,
            live: sizes.live,
            pending: sizes.pending,
            provisional: sizes.provisional,
            counts: counts(py, &self.engine.counts())?,
            repeated: sizes.repeated,
            unverifiable: sizes.unverifiable,
            unverifiable_reads: sizes.unverifiable_reads,
            overturned: sizes.overturned,
            ties: sizes.ties,
            memory: self.engine.memory(),
            watermark: self.engine.watermark().parts(),
        })
    }

    /// How often answers changed before they were final.
    fn stability(&self) -> ClockStability {
        let stability = self.engine.stability();
        ClockStability {
            reads: stability.of_reads.to_vec(),
            transactions: stability.of_transactions.to_vec(),
            rectified: stability.rectified.clone(),
        }
    }
}

fn refused(refusal: BatchRefusal) -> PyErr {
    PyValueError::new_err((refusal.transaction, refusal.problem))
}

impl ClockNews {
    fn new(py: Python<'_>, values: &Values, news: &News) -> PyResult<Self> {
        let scalar = |value| scalar::to_python(py, values, value).map(Bound::unbind);
        Ok(Self {
            number: news.number,
            name: news.anomaly.as_str(),
            axiom: news.anomaly.axiom(),
            transaction: scalar(news.transaction)?,
            other: news.other.map(scalar).transpose()?,
            key: news.key.map(scalar).transpose()?,
            is_retracted: news.is_retracted,
        })
    }
}

impl ClockReport {
    fn new(py: Python<'_>, level: ClockLevel, report: Report) -> PyResult<Self> {
        let Report { history, places, judgement } = report;
        let key = |key| history.keys[key as usize];
        let judgement = Py::new(py, ClockJudgement::new(py, level, &judgement, &history.values, key)?)?;
        let (sessions, places) = places.into_iter().unzip();
        Ok(Self { columns: Py::new(py, Columns::new(history))?, sessions, places, judgement })
    }
}

/// Segments as files of a folder.
struct Folder {
    place: PathBuf,
    /// How many segments there are.
    written: u32,
    /// The segment that was read last: the next read is mostly of the same.
    open: Mutex<Option<(u32, File)>>,
}

impl Folder {
    fn path(&self, segment: u32) -> PathBuf {
        self.place.join(format!("{segment:08}.segment"))
    }

    fn trouble(&self, error: &std::io::Error) -> String {
        format!("{}: {error}", self.place.display())
    }
}

impl SegmentStore for Folder {
    fn write(&mut self, segment: &[u8]) -> Result<(), String> {
        // The file is renamed when it is complete.
        let path = self.path(self.written);
        let unfinished = path.with_extension("new");
        let written = fs::write(&unfinished, segment).and_then(|()| fs::rename(&unfinished, &path));
        if let Err(error) = written {
            let _ = fs::remove_file(&unfinished);
            return Err(self.trouble(&error));
        }
        self.written += 1;
        Ok(())
    }

    fn read(&self, segment: u32, offset: u64, length: usize) -> Result<Vec<u8>, String> {
        let mut open = self.open.lock().map_err(|_| "a lock is poisoned".to_owned())?;
        let mut read = || -> std::io::Result<Vec<u8>> {
            if open.as_ref().is_none_or(|&(number, _)| number != segment) {
                *open = Some((segment, File::open(self.path(segment))?));
            }
            let mut bytes = vec![0; length];
            if let Some((_, file)) = open.as_mut() {
                file.seek(SeekFrom::Start(offset))?;
                file.read_exact(&mut bytes)?;
            }
            Ok(bytes)
        };
        read().map_err(|error| self.trouble(&error))
    }
}
