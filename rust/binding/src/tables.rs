//! Tables of rows as Python hands them over and takes them.

use crate::columns::Columns;
use crate::{parse_error, scalar};
use isoscope_kernel::builder::Builder;
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
pub struct TableReader {
    reader: Option<table::TableReader>,
    /// Columns whose memory is used again: fresh pages cost more than the rows.
    table: Table,
}

type TextColumn<'py> = (Bound<'py, PyAny>, Vec<String>);
type ListColumn<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

#[pymethods]
impl TableReader {
    #[new]
    fn new() -> Self {
        Self { reader: Some(table::TableReader::default()), table: Table::default() }
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
        self.table.rows = rows;
        for (place, name) in INTEGERS.iter().enumerate() {
            let data = integers.get_item(name)?;
            fill(&mut self.table.integers[place], data.as_ref())?;
        }
        for (place, name) in TEXTS.iter().enumerate() {
            let column: Option<TextColumn<'_>> =
                texts.get_item(name)?.map(|column| column.extract()).transpose()?;
            self.table.texts[place] = match column {
                Some((indices, dictionary)) => Some(Text { indices: copy(&indices)?, dictionary }),
                None => None,
            };
        }
        self.table.lists = match lists {
            Some((lengths, elements, present)) => {
                let offsets = offsets(&copy::<i64>(&lengths)?);
                Some(Lists { offsets, elements: copy(&elements)?, present: copy(&present)? })
            }
            None => None,
        };
        fill(&mut self.table.tombstone, tombstones)?;
        let Self { reader, table } = self;
        let reader = reader.as_mut().ok_or_else(finished)?;
        py.detach(|| reader.add(table)).map_err(parse_error)
    }

    /// Sets the initial values from EDN; an empty text is unknown.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
    fn initial_edn(&mut self, value: &str, replaceable: bool, of_key: Vec<(String, String)>) -> PyResult<()> {
        let builder = &mut self.reader()?.builder;
        builder.initial.replaceable = replaceable;
        builder.initial.default = value_or_unknown(value, builder)?;
        for (key, value) in &of_key {
            let key = edn::parse_value(key, &mut builder.values).map_err(parse_error)?;
            let key = builder.key(key);
            let value = value_or_unknown(value, builder)?;
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
        let reader = self.reader.take().ok_or_else(finished)?;
        py.detach(|| reader.finish()).map(Columns::new).map_err(parse_error)
    }
}

impl TableReader {
    fn reader(&mut self) -> PyResult<&mut table::TableReader> {
        self.reader.as_mut().ok_or_else(finished)
    }
}

/// The value of EDN text; empty text is unknown.
fn value_or_unknown(text: &str, builder: &mut Builder) -> PyResult<Value> {
    match text {
        "" => Ok(Value::UNKNOWN),
        known => edn::parse_value(known, &mut builder.values).map_err(parse_error),
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the reader is finished")
}

/// Copies the column into memory that is there already; absent data leaves it absent.
fn fill<T: Element + Default>(column: &mut Option<Vec<T>>, data: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(data) = data else {
        *column = None;
        return Ok(());
    };
    let buffer = PyBuffer::<T>::get(data)?;
    let cells = column.get_or_insert_default();
    cells.resize(buffer.item_count(), T::default());
    buffer.copy_to_slice(data.py(), cells)
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
