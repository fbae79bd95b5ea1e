//! The levels of the clock while transactions arrive.

use crate::clock::rows;
use crate::columns::Columns;
use crate::scalar;
use isoscope_kernel::clock::Isolation;
use isoscope_kernel::clock::online::{Engine, News, Report, Terms};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

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

    /// Takes all transactions of `columns`, which arrive at `now`; how many are new. Raises ValueError with the
    /// number of the transaction and what is wrong with it if one cannot be judged; then none is taken.
    fn take(&mut self, py: Python<'_>, columns: &Columns, now: u64) -> PyResult<u64> {
        let engine = &mut self.0;
        let taken = py.detach(|| engine.take(columns.history(), now));
        taken.map_err(|refusal| PyValueError::new_err((refusal.transaction, refusal.found)))
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
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, self.0.report())
    }

    /// The same of one piece of news, if it is one of the last.
    fn recent<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.recent(number).map(|report| shown(py, report)).transpose()
    }

    /// How many of what there are.
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sizes = self.0.sizes();
        let all = PyDict::new(py);
        for (name, size) in [
            ("transactions", sizes.transactions),
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
