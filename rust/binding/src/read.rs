//! Parsers as Python sees them: fed block by block.

use crate::columns::Columns;
use crate::{parse_error, scalar};
use isoscope_kernel::error::ParseError;
use isoscope_kernel::formats::aion::Aion;
use isoscope_kernel::formats::awdit::Awdit;
use isoscope_kernel::formats::cobra::Cobra;
use isoscope_kernel::formats::dbcop_2019::bincode::Bincode;
use isoscope_kernel::formats::dbcop_2019::yaml::Yaml;
use isoscope_kernel::formats::dbcop_hist::DbcopHist;
use isoscope_kernel::formats::dbcop_json::DbcopJson;
use isoscope_kernel::formats::grail::Grail;
use isoscope_kernel::formats::jepsen::{Jepsen, JepsenJson};
use isoscope_kernel::formats::leopard::Leopard;
use isoscope_kernel::formats::plume::Plume;
use isoscope_kernel::formats::viper::{Viper, ViperEdn};
use isoscope_kernel::formats::{Reader as Blocks, arango};
use isoscope_kernel::history::History;
use isoscope_kernel::value::{AtomKind, Values};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// One parser for each format.
enum Format {
    Aion(Blocks<Aion>),
    Awdit(Blocks<Awdit>),
    DbcopHist(Blocks<DbcopHist>),
    DbcopJson(Blocks<DbcopJson>),
    Cobra(Blocks<Cobra>),
    DbcopBincode(Blocks<Bincode>),
    DbcopYaml(Blocks<Yaml>),
    Grail(Blocks<Grail>),
    Jepsen(Blocks<Jepsen>),
    JepsenJson(Blocks<JepsenJson>),
    Leopard(Blocks<Leopard>),
    Plume(Blocks<Plume>),
    Viper(Blocks<Viper>),
    ViperEdn(Blocks<ViperEdn>),
}

/// Does the same with whichever parser it is.
macro_rules! each {
    ($format:expr, $reader:ident => $result:expr) => {
        match $format {
            Format::Aion($reader) => $result,
            Format::Awdit($reader) => $result,
            Format::DbcopHist($reader) => $result,
            Format::DbcopJson($reader) => $result,
            Format::Cobra($reader) => $result,
            Format::DbcopBincode($reader) => $result,
            Format::DbcopYaml($reader) => $result,
            Format::Grail($reader) => $result,
            Format::Jepsen($reader) => $result,
            Format::JepsenJson($reader) => $result,
            Format::Leopard($reader) => $result,
            Format::Plume($reader) => $result,
            Format::Viper($reader) => $result,
            Format::ViperEdn($reader) => $result,
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
            "cobra" => Self::Cobra(Blocks::new(Cobra::default())),
            "dbcop-bincode" => Self::DbcopBincode(Blocks::new(Bincode::default())),
            "dbcop-yaml" => Self::DbcopYaml(Blocks::new(Yaml::default())),
            "grail" => Self::Grail(Blocks::new(Grail::default())),
            "jepsen" => Self::Jepsen(Blocks::new(Jepsen::default())),
            "jepsen-json" => Self::JepsenJson(Blocks::new(JepsenJson::default())),
            "leopard" => Self::Leopard(Blocks::new(Leopard::default())),
            "plume" => Self::Plume(Blocks::new(Plume::default())),
            "viper" => Self::Viper(Blocks::new(Viper::default())),
            "viper-edn" => Self::ViperEdn(Blocks::new(ViperEdn::default())),
            _ => return None,
        })
    }

    fn is_text(&self) -> bool {
        each!(self, reader => reader.is_text())
    }

    fn start_of_file(&mut self, name: &str) -> Result<(), ParseError> {
        each!(self, reader => reader.start_of_file(name))
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

/// Parses a format, fed block by block.
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

    /// Whether the format is lines of text; in any other, a line is a single byte.
    #[getter]
    fn is_text(&mut self) -> PyResult<bool> {
        self.format().map(|format| format.is_text())
    }

    /// A file starts; its name without folders and suffixes is empty if it has none.
    fn start_of_file(&mut self, name: &str) -> PyResult<()> {
        self.format()?.start_of_file(name).map_err(parse_error)
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

    /// The transactions so far as a history of their own, if there are any; only the format `aion` has this.
    #[pyo3(signature = (initial = None))]
    fn drain(&mut self, py: Python<'_>, initial: Option<InitialRow<'_>>) -> PyResult<Option<Columns>> {
        let Format::Aion(reader) = self.format()? else {
            return Err(PyValueError::new_err("this format has no slices"));
        };
        let Some(mut history) = py.detach(|| reader.format().drain()).map_err(parse_error)? else {
            return Ok(None);
        };
        if let Some(row) = initial {
            replace_initial(&mut history, &row)?;
        }
        Ok(Some(Columns::new(history)))
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
