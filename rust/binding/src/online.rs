//! The levels of the clock while transactions arrive.

use crate::clock::rows;
use crate::columns::Columns;
use crate::scalar;
use isoscope_kernel::clock::Isolation;
use isoscope_kernel::clock::online::{Engine, News, Report, Store, Terms};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Mutex;

/// Judges one level of the clock; there is no clock in it, every call says what time it is.
#[pyclass(module = "isoscope._native")]
pub struct ClockOnline(Engine);

#[pymethods]
impl ClockOnline {
    #[new]
    #[pyo3(signature = (serializable, *, most, timeout, keep, initial))]
    fn new(
        serializable: bool,
        most: usize,
        timeout: u64,
        keep: u64,
        initial: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let isolation = if serializable { Isolation::Serializable } else { Isolation::Snapshot };
        let mut engine = Engine::new(Terms { isolation, most, timeout, keep });
        let initial = scalar::maybe_unknown(engine.values_mut(), initial)?;
        if initial != isoscope_kernel::value::Value::UNKNOWN {
            engine.set_initial(initial);
        }
        Ok(Self(engine))
    }

    /// Raises ValueError as `take` would; nothing is taken.
    fn admit(&mut self, py: Python<'_>, columns: &Columns) -> PyResult<()> {
        let engine = &mut self.0;
        let admitted = py.detach(|| engine.admit(columns.history()));
        admitted.map(|_| ()).map_err(|refusal| PyValueError::new_err((refusal.transaction, refusal.found)))
    }

    /// Takes all transactions of `columns`, which arrive at `now`; how many are new. Raises ValueError with the
    /// number of the transaction and what is wrong with it if one cannot be judged; then none is taken.
    fn take(&mut self, py: Python<'_>, columns: &Columns, now: u64) -> PyResult<u64> {
        let engine = &mut self.0;
        let taken = py.detach(|| engine.take(columns.history(), now));
        taken.map_err(|refusal| PyValueError::new_err((refusal.transaction, refusal.found)))
    }

    /// Keeps what leaves memory in a folder, in files of at least so many transactions, so that whoever comes late
    /// can be judged.
    fn spill_to(&mut self, folder: PathBuf, least: usize) {
        let folder = Folder { place: folder, written: self.0.segments(), open: Mutex::new(None) };
        self.0.spill_to(Box::new(folder), least);
    }

    /// Everything, as bytes.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let engine = &self.0;
        PyBytes::new(py, &py.detach(|| engine.save()))
    }

    /// The engine that was saved; raises ValueError if these are no bytes of one.
    #[staticmethod]
    fn load(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let loaded = py.detach(|| Engine::load(data));
        loaded
            .map(Self)
            .map_err(|_| PyValueError::new_err("the checkpoint is damaged, or of another version"))
    }

    /// What the disk said when something could not be spilled or read back.
    #[getter]
    fn trouble(&self) -> Option<&str> {
        self.0.trouble()
    }

    /// It is `now`: what timed out is final, and what nobody can ask for is dropped.
    fn advance(&mut self, py: Python<'_>, now: u64) {
        let engine = &mut self.0;
        py.detach(|| engine.advance(now));
    }

    /// Everything is final.
    fn flush(&mut self, py: Python<'_>) {
        let engine = &mut self.0;
        py.detach(|| engine.flush());
    }

    /// What was found since the last time: number, name, transaction, other transaction, key, whether it was
    /// taken back.
    fn news<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let news = self.0.news();
        news.into_iter().map(|one| self.row(py, &one)).collect()
    }

    /// Everything so far: the transactions that show it, their places in their sessions, and what `judge_clock`
    /// gives.
    fn report<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, self.0.report())
    }

    /// The same of one piece of news, if it is one of the last.
    fn recent<'py>(&mut self, py: Python<'py>, number: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.recent(number).map(|report| shown(py, report)).transpose()
    }

    /// How many of what there are.
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sizes = self.0.sizes();
        let all = PyDict::new(py);
        for (name, size) in [
            ("transactions", sizes.transactions),
            ("aborted", sizes.aborted),
            ("operations", sizes.operations),
            ("keys", sizes.keys),
            ("sessions", sizes.sessions),
            ("live", sizes.live),
            ("pending", sizes.pending),
            ("provisional", sizes.provisional),
            ("repeated", sizes.repeated),
            ("unverifiable", sizes.unverifiable),
            ("unverifiable_reads", sizes.unverifiable_reads),
            ("overturned", sizes.overturned),
            ("ties", sizes.ties),
            ("memory", self.0.memory()),
        ] {
            all.set_item(name, size)?;
        }
        Ok(all)
    }

    /// Counts of what is final, by name.
    fn counts(&self) -> Vec<u64> {
        self.0.counts().to_vec()
    }

    /// How often answers changed: reads and transactions by the number of changes; wrong answers that became
    /// right by the bits of the nanoseconds that it took.
    fn stability(&self) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
        let stability = self.0.stability();
        (stability.of_reads.to_vec(), stability.of_transactions.to_vec(), stability.rectified.clone())
    }

    /// Below this time only the newest version of each key is in memory.
    #[getter]
    fn watermark(&self) -> Option<(i64, i64)> {
        self.0.watermark().parts()
    }
}

impl ClockOnline {
    fn row<'py>(&self, py: Python<'py>, news: &News) -> PyResult<Bound<'py, PyAny>> {
        let scalar = |value| scalar::to_python(py, self.0.values(), value);
        let (other, key) = (news.other.map(scalar).transpose()?, news.key.map(scalar).transpose()?);
        let transaction = scalar(news.transaction)?;
        let row = (news.number, news.name as u8, transaction, other, key, news.is_retracted);
        Ok(row.into_pyobject(py)?.into_any())
    }
}

fn shown(py: Python<'_>, report: Report) -> PyResult<Bound<'_, PyAny>> {
    let Report { history, places, judgement } = report;
    let judged = rows(py, &judgement, &history.values, |key| history.keys[key as usize])?;
    Ok((Columns::new(history), places, judged).into_pyobject(py)?.into_any())
}

/// Segments as files of a folder.
struct Folder {
    place: PathBuf,
    written: u32,
    /// The segment that was read last: whoever asks once asks again.
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

impl Store for Folder {
    fn write(&mut self, segment: &[u8]) -> Result<(), String> {
        // A whole file or none: a name that is there is complete.
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
