//! Parsers as Python sees them: fed block by block.

use crate::columns::Columns;
use crate::{parse_error, scalar};
use isoscope_kernel::formats::{self, Reader as Kernel, Slices};
use isoscope_kernel::history::History;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Parses a format, fed block by block.
#[pyclass(module = "isoscope._native")]
pub struct Reader(Option<Box<dyn Kernel>>);

#[pymethods]
impl Reader {
    #[new]
    fn new(format: &str) -> PyResult<Self> {
        match formats::reader(format) {
            Some(reader) => Ok(Self(Some(reader))),
            None => Err(PyValueError::new_err(format!("no reader for `{format}`"))),
        }
    }

    /// Whether the format is lines of text; in any other, a line is a single byte.
    #[getter]
    fn is_text(&mut self) -> PyResult<bool> {
        self.kernel().map(|reader| reader.is_text())
    }

    /// A file starts; its name without folders and suffixes is empty if it has none.
    fn start_of_file(&mut self, name: &str) -> PyResult<()> {
        self.kernel()?.start_of_file(name).map_err(parse_error)
    }

    /// Takes the next bytes of the input.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the buffer over")]
    fn feed(&mut self, py: Python<'_>, block: PyBuffer<u8>) -> PyResult<()> {
        let reader = self.kernel()?;
        // Python may change the block once the GIL is released, so it is copied, once.
        block.copy_to_slice(py, reader.room(block.item_count()))?;
        py.detach(|| reader.parse()).map_err(parse_error)
    }

    /// One file of the input is over; the line on which the next one starts.
    fn end_of_file(&mut self, py: Python<'_>) -> PyResult<u64> {
        let reader = self.kernel()?;
        py.detach(|| reader.end_of_file()).map_err(parse_error)
    }

    /// Takes the write-ahead log that belongs to a history.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the buffer over")]
    fn attach_log(&mut self, py: Python<'_>, log: PyBuffer<u8>) -> PyResult<()> {
        let text = log.to_vec(py)?;
        let reader = self.kernel()?;
        let Some(attached) = py.detach(|| reader.log().map(|log| log.attach(&text))) else {
            return Err(PyValueError::new_err("histories of this format have no log"));
        };
        attached.map_err(parse_error)
    }

    /// The transactions so far as a history of their own, if there are any and the format has slices.
    #[pyo3(signature = (initial = None))]
    fn drain(&mut self, py: Python<'_>, initial: Option<InitialRow<'_>>) -> PyResult<Option<Columns>> {
        let reader = self.kernel()?;
        let Some(drained) = py.detach(|| reader.slices().map(Slices::drain)) else {
            return Err(PyValueError::new_err("this format has no slices"));
        };
        let Some(mut history) = drained.map_err(parse_error)? else {
            return Ok(None);
        };
        if let Some(row) = initial {
            replace_initial(&mut history, &row)?;
        }
        Ok(Some(Columns::new(history)))
    }

    /// The history; `initial` (value of all keys, [(key, value)]) replaces the initial values of the format.
    #[pyo3(signature = (initial = None))]
    fn finish(&mut self, py: Python<'_>, initial: Option<InitialRow<'_>>) -> PyResult<Columns> {
        let reader = self.0.take().ok_or_else(finished)?;
        let mut history = py.detach(|| reader.into_history()).map_err(parse_error)?;
        if let Some(row) = initial {
            replace_initial(&mut history, &row)?;
        }
        Ok(Columns::new(history))
    }
}

type InitialRow<'py> = (Bound<'py, PyAny>, Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>);

fn replace_initial(history: &mut History, row: &InitialRow<'_>) -> PyResult<()> {
    history.initial.default = scalar::maybe_unknown(&mut history.values, &row.0)?;
    history.initial.of_key.clear();
    for (key, value) in &row.1 {
        let key = scalar::from_python(&mut history.values, key)?;
        let value = scalar::maybe_unknown(&mut history.values, value)?;
        // A key that no operation touches needs no initial value.
        if let Some(number) = history.keys.iter().position(|&known| known == key) {
            history.initial.of_key.push((number as u32, value));
        }
    }
    history.initial.of_key.sort_by_key(|&(key, _)| key);
    Ok(())
}

impl Reader {
    fn kernel(&mut self) -> PyResult<&mut (dyn Kernel + 'static)> {
        self.0.as_deref_mut().ok_or_else(finished)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the reader is finished")
}
