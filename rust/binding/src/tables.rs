//! Tables of rows as Python hands them over and takes them.

use crate::columns::Columns;
use crate::{parse_error, scalar};
use isoscope_kernel::formats::edn;
use isoscope_kernel::formats::table::{self, INTEGERS, Lists, TEXTS, Table, Text};
use isoscope_kernel::value::Value;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Names of the columns of integers and of the columns of texts.
#[pyfunction]
pub fn table_columns() -> (Vec<&'static str>, Vec<&'static str>) {
    (INTEGERS.to_vec(), TEXTS.to_vec())
}

/// Collects tables, one row an operation, into a history.
#[pyclass(module = "isoscope._native")]
pub struct TableReader(Option<table::TableReader>);

type TextColumn<'py> = (Bound<'py, PyAny>, Vec<String>);
type ListColumn<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

#[pymethods]
impl TableReader {
    #[new]
    fn new() -> Self {
        Self(Some(table::TableReader::default()))
    }

    /// Adds rows; integers use the least 64-bit number for null, texts the index -1. Lists are lengths,
    /// elements and presence.
    fn add(
        &mut self,
        py: Python<'_>,
        rows: usize,
        integers: &Bound<'_, PyDict>,
        texts: &Bound<'_, PyDict>,
        lists: Option<ListColumn<'_>>,
        tombstones: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut table = Table { rows, ..Table::default() };
        for (name, data) in integers {
            table.integers[place(&INTEGERS, &name.extract::<String>()?)?] = Some(copy(&data)?);
        }
        for (name, column) in texts {
            let (indices, dictionary): TextColumn<'_> = column.extract()?;
            let text = Text { indices: copy(&indices)?, dictionary };
            table.texts[place(&TEXTS, &name.extract::<String>()?)?] = Some(text);
        }
        if let Some((lengths, elements, present)) = lists {
            let offsets = offsets(&copy::<i64>(&lengths)?);
            table.lists = Some(Lists { offsets, elements: copy(&elements)?, present: copy(&present)? });
        }
        table.tombstone = tombstones.map(copy).transpose()?;
        let reader = self.reader()?;
        py.detach(|| reader.add(&table)).map_err(parse_error)
    }

    /// Sets the initial values from EDN; an empty text is unknown.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
    fn initial_edn(&mut self, value: &str, replaceable: bool, of_key: Vec<(String, String)>) -> PyResult<()> {
        let builder = &mut self.reader()?.builder;
        builder.initial.replaceable = replaceable;
        builder.initial.default = match value {
            "" => Value::UNKNOWN,
            text => edn::parse_value(text, &mut builder.values).map_err(parse_error)?,
        };
        for (key, value) in &of_key {
            let key = edn::parse_value(key, &mut builder.values).map_err(parse_error)?;
            let key = builder.key(key);
            let value = edn::parse_value(value, &mut builder.values).map_err(parse_error)?;
            builder.initial.of_key.push((key, value));
        }
        Ok(())
    }

    /// Replaces the initial values.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
    fn initial(
        &mut self,
        value: &Bound<'_, PyAny>,
        of_key: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
    ) -> PyResult<()> {
        let builder = &mut self.reader()?.builder;
        builder.initial.default = scalar::from_python(&mut builder.values, value)?;
        for (key, value) in &of_key {
            let key = scalar::from_python(&mut builder.values, key)?;
            let key = builder.key(key);
            let value = scalar::from_python(&mut builder.values, value)?;
            builder.initial.of_key.retain(|&(known, _)| known != key);
            builder.initial.of_key.push((key, value));
        }
        Ok(())
    }

    /// The history of all rows.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Columns> {
        let reader = self.0.take().ok_or_else(finished)?;
        py.detach(|| reader.finish()).map(Columns::new).map_err(parse_error)
    }
}

impl TableReader {
    fn reader(&mut self) -> PyResult<&mut table::TableReader> {
        self.0.as_mut().ok_or_else(finished)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the reader is finished")
}

fn place(names: &[&str], name: &str) -> PyResult<usize> {
    let found = names.iter().position(|&known| known == name);
    found.ok_or_else(|| PyValueError::new_err(format!("no column is called `{name}`")))
}

fn copy<T: Element>(object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(object)?.to_vec(object.py())
}

fn offsets(lengths: &[i64]) -> Vec<i64> {
    let mut end = 0;
    let ends = lengths.iter().map(|length| {
        end += length;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

/// (rows, integers, texts, lists, tombstones), each column as bytes.
pub fn to_python(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyAny>> {
    let (integers, texts) = (PyDict::new(py), PyDict::new(py));
    for (name, column) in INTEGERS.iter().zip(&table.integers) {
        if let Some(column) = column {
            integers.set_item(name, bytes(py, column, i64::to_le_bytes))?;
        }
    }
    for (name, column) in TEXTS.iter().zip(table.texts) {
        if let Some(Text { indices, dictionary }) = column {
            texts.set_item(name, (bytes(py, &indices, i32::to_le_bytes), dictionary))?;
        }
    }
    let lists = table.lists.map(|lists| {
        let offsets = bytes(py, &lists.offsets, i64::to_le_bytes);
        let elements = bytes(py, &lists.elements, i64::to_le_bytes);
        (offsets, elements, PyBytes::new(py, &lists.present))
    });
    let tombstones = table.tombstone.map(|column| PyBytes::new(py, &column));
    Ok((table.rows, integers, texts, lists, tombstones).into_pyobject(py)?.into_any())
}

fn bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    column: &[T],
    of: impl Fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let flat: Vec<u8> = column.iter().flat_map(|&value| of(value)).collect();
    PyBytes::new(py, &flat)
}
