//! The mechanisms of a profile while transactions arrive.

use crate::columns::Columns;
use crate::intervals::judged;
use crate::profile::Profile;
use crate::scalar;
use isoscope_kernel::intervals::{Engine, News, Report, Terms};
use isoscope_kernel::value::Value;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Mirrors the mechanisms of a profile; there is no clock in it, every call says what time it is.
#[pyclass(module = "isoscope._native")]
pub struct IntervalsOnline(Engine);

#[pymethods]
impl IntervalsOnline {
    #[new]
    #[pyo3(signature = (profile, *, clock_error, most, initial, timeout))]
    fn new(
        profile: &Profile,
        clock_error: i64,
        most: u64,
        initial: &Bound<'_, PyAny>,
        timeout: u64,
    ) -> PyResult<Self> {
        let profile = profile.kernel().clone();
        let mut engine = Engine::new(Terms { profile, clock_error, most, timeout });
        let initial = scalar::maybe_unknown(engine.values_mut(), initial)?;
        if initial != Value::UNKNOWN {
            engine.set_initial(initial);
        }
        engine.tell_news();
        Ok(Self(engine))
    }

    /// Raises ValueError as `take` would; nothing is taken.
    fn admit(&self, py: Python<'_>, columns: &Columns) -> PyResult<()> {
        let engine = &self.0;
        let admitted = py.detach(|| engine.admit(columns.history()));
        admitted.map_err(|refusal| PyValueError::new_err((refusal.transaction, refusal.found)))
    }

    /// Takes all transactions of `columns`, which arrive at `now`; how many are new. Raises ValueError with the
    /// number of the transaction and what is wrong with it if one cannot be judged; then none is taken.
    fn take(&mut self, py: Python<'_>, columns: &Columns, now: u64) -> PyResult<u64> {
        let engine = &mut self.0;
        let taken = py.detach(|| engine.take(columns.history(), now));
        taken.map_err(|refusal| PyValueError::new_err((refusal.transaction, refusal.found)))
    }

    /// Nothing that began before `time` will come from this session any longer.
    fn heartbeat(&mut self, session: &Bound<'_, PyAny>, time: i64, now: u64) -> PyResult<()> {
        let session = scalar::from_python(self.0.values_mut(), session)?;
        self.0.heartbeat(session, time, now);
        Ok(())
    }

    /// It is `now`: whoever was silent for too long is not waited for.
    fn advance(&mut self, py: Python<'_>, now: u64) {
        let engine = &mut self.0;
        py.detach(|| engine.advance(now));
    }

    /// Nothing more will come.
    fn flush(&mut self, py: Python<'_>) {
        let engine = &mut self.0;
        py.detach(|| engine.flush());
    }

    /// What was found since the last time: number, name, case, transaction, other transaction, key.
    fn news<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let news = self.0.news();
        news.into_iter().map(|one| self.row(py, &one)).collect()
    }

    /// Everything so far: the transactions that show it, their sessions and places there, and what
    /// `judge_intervals` gives.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, self.0.report())
    }

    /// The same of one piece of news, if it is one of the last.
    fn recent<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.recent(number).map(|report| shown(py, report)).transpose()
    }

    /// Counts by name.
    fn counts(&self) -> Vec<u64> {
        self.0.tally().counts.to_vec()
    }

    /// How many of what there are.
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (sizes, (live, pending), (keys, sessions)) = (self.0.sizes(), self.0.live(), self.0.known());
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
            ("aside", self.0.tally().aside),
            ("memory", self.0.memory()),
        ] {
            all.set_item(name, size)?;
        }
        Ok(all)
    }

    /// Everything that began before it is known; None if nothing is.
    #[getter]
    fn watermark(&self) -> Option<i64> {
        Some(self.0.watermark()).filter(|&time| time != i64::MIN)
    }

    /// The session that holds the watermark back, in a tuple; empty if none does.
    fn holding_back<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let session = self.0.holding_back();
        session.into_iter().map(|id| scalar::to_python(py, self.0.values(), id)).collect()
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
            .ok_or_else(|| PyValueError::new_err("the checkpoint is damaged, or of another version"))
    }
}

impl IntervalsOnline {
    fn row<'py>(&self, py: Python<'py>, news: &News) -> PyResult<Bound<'py, PyAny>> {
        let scalar = |value| scalar::to_python(py, self.0.values(), value);
        let (transaction, key) = (scalar(news.transaction)?, scalar(news.key)?);
        let other = news.other.map(scalar).transpose()?;
        let row = (news.number, news.name as u8, news.case, transaction, other, key);
        Ok(row.into_pyobject(py)?.into_any())
    }
}

fn shown(py: Python<'_>, report: Report) -> PyResult<Bound<'_, PyAny>> {
    let Report { history, places, judgement } = report;
    let judged = judged(py, &judgement.tally, &judgement.findings)?;
    Ok((Columns::new(history), places, judged).into_pyobject(py)?.into_any())
}
