//! Parsers as Python sees them: fed block by block.

use crate::columns::Columns;
use crate::{parse_error, scalar};
use isoscope_kernel::error::ParseError;
use isoscope_kernel::formats::aion::Aion;
use isoscope_kernel::formats::awdit::Awdit;
use isoscope_kernel::formats::dbcop_hist::DbcopHist;
use isoscope_kernel::formats::dbcop_json::DbcopJson;
use isoscope_kernel::formats::jepsen::{Jepsen, JepsenJson};
use isoscope_kernel::formats::plume::Plume;
use isoscope_kernel::formats::{Reader as Blocks, arango};
use isoscope_kernel::history::History;
use isoscope_kernel::value::{AtomKind, Values};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// One parser for each format that is text.
enum Format {
    Aion(Blocks<Aion>),
    Awdit(Blocks<Awdit>),
    DbcopHist(Blocks<DbcopHist>),
    DbcopJson(Blocks<DbcopJson>),
    Jepsen(Blocks<Jepsen>),
    JepsenJson(Blocks<JepsenJson>),
    Plume(Blocks<Plume>),
}

/// Does the same with whichever parser it is.
macro_rules! each {
    ($format:expr, $reader:ident => $result:expr) => {
        match $format {
            Format::Aion($reader) => $result,
            Format::Awdit($reader) => $result,
            Format::DbcopHist($reader) => $result,
            Format::DbcopJson($reader) => $result,
            Format::Jepsen($reader) => $result,
            Format::JepsenJson($reader) => $result,
            Format::Plume($reader) => $result,
        }
    };
}

impl Format {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "aion" => Self::Aion(Blocks::new(Aion::default())),
            "awdit" => Self::Awdit(Blocks::new(Awdit::default())),
            "dbcop-hist" => Self::DbcopHist(Blocks::new(DbcopHist::default())),
            "dbcop-json" => Self::DbcopJson(Blocks::new(DbcopJson::default())),
            "jepsen" => Self::Jepsen(Blocks::new(Jepsen::default())),
            "jepsen-json" => Self::JepsenJson(Blocks::new(JepsenJson::default())),
            "plume" => Self::Plume(Blocks::new(Plume::default())),
            _ => return None,
        })
    }

    fn feed(&mut self, block: &[u8]) -> Result<(), ParseError> {
        each!(self, reader => reader.feed(block))
    }

    fn end_of_file(&mut self) -> Result<u64, ParseError> {
        each!(self, reader => reader.end_of_file())
    }

    fn finish(self) -> Result<History, ParseError> {
        each!(self, reader => reader.finish())
    }

    /// Where the rows of a write-ahead log go; only Jepsen's histories come with one.
    fn jepsen(&mut self) -> Option<&mut Jepsen> {
        match self {
            Self::Jepsen(reader) => Some(reader.format()),
            Self::JepsenJson(reader) => Some(&mut reader.format().0),
            _ => None,
        }
    }
}

/// Parses a format that is text, fed block by block.
#[pyclass(module = "isoscope._native")]
pub struct Reader(Option<Format>);

#[pymethods]
impl Reader {
    #[new]
    fn new(format: &str) -> PyResult<Self> {
        match Format::named(format) {
            Some(reader) => Ok(Self(Some(reader))),
            None => Err(PyValueError::new_err(format!("no reader for `{format}`"))),
        }
    }

    /// Takes the next bytes of the input.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the buffer over")]
    fn feed(&mut self, py: Python<'_>, block: PyBuffer<u8>) -> PyResult<()> {
        let bytes = block.to_vec(py)?;
        let format = self.format()?;
        py.detach(|| format.feed(&bytes)).map_err(parse_error)
    }

    /// One file of the input is over; the line on which the next one starts.
    fn end_of_file(&mut self, py: Python<'_>) -> PyResult<u64> {
        let format = self.format()?;
        py.detach(|| format.end_of_file()).map_err(parse_error)
    }

    /// Takes the ArangoDB write-ahead log that belongs to a Jepsen history.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the buffer over")]
    fn attach_log(&mut self, py: Python<'_>, log: PyBuffer<u8>) -> PyResult<()> {
        let bytes = log.to_vec(py)?;
        let Some(jepsen) = self.format()?.jepsen() else {
            return Err(PyValueError::new_err("only a Jepsen history comes with a log"));
        };
        py.detach(|| attach_log(jepsen, &bytes)).map_err(parse_error)
    }

    /// The history; `initial` (value of all keys, [(key, value)]) replaces what the format stands for.
    #[pyo3(signature = (initial = None))]
    fn finish(&mut self, py: Python<'_>, initial: Option<InitialRow<'_>>) -> PyResult<Columns> {
        let format = self.0.take().ok_or_else(finished)?;
        let mut history = py.detach(|| format.finish()).map_err(parse_error)?;
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
    fn format(&mut self) -> PyResult<&mut Format> {
        self.0.as_mut().ok_or_else(finished)
    }
}

fn attach_log(jepsen: &mut Jepsen, text: &[u8]) -> Result<(), ParseError> {
    let log = arango::parse(text)?;
    let mut values: Values = log.values;
    let rows: Vec<_> = log
        .versions
        .into_iter()
        .map(|version| (values.intern(AtomKind::Text, &version.key), version.value))
        .collect();
    jepsen.attach_log(&values, &rows);
    Ok(())
}

fn finished() -> PyErr {
    PyValueError::new_err("the reader is finished")
}
