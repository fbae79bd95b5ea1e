//! The method of intervals while transactions arrive.

use crate::columns::Columns;
use crate::intervals::{MechanismCheck, MechanismsJudgement, checks, rejected};
use crate::profile::Profile;
use crate::scalar;
use isoscope_kernel::intervals::{Engine, News, Report, Terms};
use isoscope_kernel::value::Value;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Verifies the mechanisms of a profile while transactions arrive. It reads no clock: each call passes the time.
#[pyclass(module = "isoscope._native")]
pub struct IntervalsOnline {
    engine: Engine,
    /// The batch that was admitted last.
    admitted: Option<Py<Columns>>,
}

#[pymethods]
impl IntervalsOnline {
    #[new]
    #[pyo3(signature = (profile, *, clock_error, max_anomalies, initial, timeout))]
    fn new(
        profile: &Profile,
        clock_error: i64,
        max_anomalies: u64,
        initial: &Bound<'_, PyAny>,
        timeout: u64,
    ) -> PyResult<Self> {
        let profile = profile.kernel().clone();
        let mut engine = Engine::new(Terms { profile, clock_error, max_anomalies, timeout });
        let initial = scalar::maybe_unknown(engine.values_mut(), initial)?;
        if initial != Value::UNKNOWN {
            engine.set_initial(initial);
        }
        engine.start_log();
        Ok(Self { engine, admitted: None })
    }

    /// Raises ValueError as `take` would; nothing is taken.
    fn admit(&mut self, columns: &Bound<'_, Columns>) -> PyResult<()> {
        let (engine, history) = (&self.engine, columns.get().history());
        columns.py().detach(|| engine.admit(history)).map_err(rejected)?;
        self.admitted = Some(columns.clone().unbind());
        Ok(())
    }

    /// Takes all transactions of `columns`, which arrive at `now`; how many are new. Raises ValueError with the
    /// number of the transaction and what is wrong with it if one cannot be judged; then none is taken. Columns that
    /// were admitted right before are not looked at again.
    fn take(&mut self, columns: &Bound<'_, Columns>, now: u64) -> PyResult<u64> {
        let (engine, history) = (&mut self.engine, columns.get().history());
        let is_admitted = self.admitted.take().is_some_and(|known| known.is(columns));
        let taken = columns.py().detach(|| {
            if is_admitted { engine.take_admitted(history, now) } else { engine.take(history, now) }
        });
        taken.map_err(rejected)
    }

    /// All later operations of this session begin at `time` or later.
    fn heartbeat(&mut self, session: &Bound<'_, PyAny>, time: i64, now: u64) -> PyResult<()> {
        let session = scalar::from_python(self.engine.values_mut(), session)?;
        self.engine.heartbeat(session, time, now);
        Ok(())
    }

    /// It is `now`: sessions that were silent for too long are not waited for.
    fn advance(&mut self, py: Python<'_>, now: u64) {
        let engine = &mut self.engine;
        py.detach(|| engine.advance(now));
    }

    /// No more transactions come: all are judged.
    fn flush(&mut self, py: Python<'_>) {
        let engine = &mut self.engine;
        py.detach(|| engine.flush());
    }

    /// The findings since the last call.
    fn news(&mut self, py: Python<'_>) -> PyResult<Vec<FindingNews>> {
        let news = self.engine.news();
        news.into_iter().map(|one| self.announced(py, &one)).collect()
    }

    /// All counts, with the first findings of each mechanism.
    fn report(&self, py: Python<'_>) -> PyResult<IntervalsReport> {
        IntervalsReport::new(py, self.engine.report())
    }

    /// One finding by the number of its news, if it is one of the last.
    fn recent(&self, py: Python<'_>, number: u64) -> PyResult<Option<IntervalsReport>> {
        self.engine.recent(number).map(|report| IntervalsReport::new(py, report)).transpose()
    }

    /// The counts of each mechanism.
    fn checks(&self, py: Python<'_>) -> PyResult<Vec<Py<MechanismCheck>>> {
        checks(py, self.engine.tally())
    }

    /// How many transactions, operations, keys and sessions there are.
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (sizes, (live, pending), (keys, sessions)) =
            (self.engine.sizes(), self.engine.live(), self.engine.known());
        let all = PyDict::new(py);
        for (name, size) in [
            ("transactions", sizes.transactions),
            ("aborted", sizes.aborted),
            ("indeterminate", sizes.indeterminate),
            ("operations", sizes.operations),
            ("keys", keys as u64),
            ("sessions", sessions as u64),
            ("live", live),
            ("pending", pending),
            ("late", sizes.late),
            ("repeated", sizes.repeated),
            ("aside", self.engine.tally().unjudged_reads),
            ("memory", self.engine.memory()),
        ] {
            all.set_item(name, size)?;
        }
        Ok(all)
    }

    /// All operations that began before it are known; None if that is not so for any time.
    #[getter]
    fn watermark(&self) -> Option<i64> {
        Some(self.engine.watermark()).filter(|&time| time != i64::MIN)
    }

    /// The session that holds the watermark back, in a list; empty if none does.
    fn holding_back<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let session = self.engine.holding_back();
        session.into_iter().map(|id| scalar::to_python(py, self.engine.values(), id)).collect()
    }

    /// The whole state, as bytes.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let engine = &self.engine;
        PyBytes::new(py, &py.detach(|| engine.save()))
    }

    /// The engine that was saved; raises ValueError if these are no bytes of one.
    #[staticmethod]
    fn load(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let loaded = py.detach(|| Engine::load(data));
        loaded
            .map(|engine| Self { engine, admitted: None })
            .ok_or_else(|| PyValueError::new_err("the checkpoint is damaged, or of another version"))
    }
}

impl IntervalsOnline {
    fn announced(&self, py: Python<'_>, news: &News) -> PyResult<FindingNews> {
        let scalar = |value| scalar::to_python(py, self.engine.values(), value).map(Bound::unbind);
        Ok(FindingNews {
            number: news.number,
            mechanism: news.case.mechanism().as_str(),
            anomaly: news.case.mechanism().anomaly(),
            case: news.case.name(),
            transaction: scalar(news.transaction)?,
            other: news.other.map(scalar).transpose()?,
            key: scalar(news.key)?,
        })
    }
}

/// A finding as it is announced, by the ids of its transactions.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct FindingNews {
    number: u64,
    mechanism: &'static str,
    anomaly: &'static str,
    case: String,
    transaction: Py<PyAny>,
    other: Option<Py<PyAny>>,
    key: Py<PyAny>,
}

/// Findings with a history of the transactions that show them, each with its session and its place there.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct IntervalsReport {
    columns: Py<Columns>,
    places: Vec<(u32, u32)>,
    judgement: Py<MechanismsJudgement>,
}

impl IntervalsReport {
    fn new(py: Python<'_>, report: Report) -> PyResult<Self> {
        let Report { history, places, judgement } = report;
        Ok(Self {
            columns: Py::new(py, Columns::new(history))?,
            places,
            judgement: Py::new(py, MechanismsJudgement::new(py, judgement)?)?,
        })
    }
}
