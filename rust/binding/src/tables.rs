//! Tables of rows as Python hands them over and takes them.

use crate::columns::Columns;
use crate::{parse_error, scalar};
use isoscope_kernel::builder::Builder;
use isoscope_kernel::formats::edn;
use isoscope_kernel::formats::table::{self, Integers, Lists, NO_TEXT, NULL, Table, Text, Texts};
use isoscope_kernel::value::Value;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Names of the columns of integers and of the columns of texts.
#[pyfunction]
pub fn table_columns() -> (Vec<&'static str>, Vec<&'static str>) {
    (Integers::ALL.map(Integers::as_str).to_vec(), Texts::ALL.map(Texts::as_str).to_vec())
}

/// Collects tables, one row an operation, into a history.
#[pyclass(module = "isoscope._native")]
pub struct TableReader {
    reader: Option<table::TableReader>,
    /// Columns whose memory is used again: fresh pages cost more than the rows.
    table: Table,
}

/// Data and, if something is null, the validity bitmap of an Arrow column, and where the column starts.
type Column<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, usize);
type TextColumn<'py> = (Column<'py>, Vec<String>);
/// Offsets and validity of an Arrow column of lists, and its elements.
type ListColumn<'py> = (Column<'py>, Column<'py>);

#[pymethods]
impl TableReader {
    #[new]
    fn new() -> Self {
        Self { reader: Some(table::TableReader::default()), table: Table::default() }
    }

    /// Adds rows: each column as the buffers of an Arrow array, texts with their dictionary.
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
        for column in Integers::ALL {
            let (place, name) = (column as usize, column.as_str());
            let column = integers.get_item(name)?.map(|column| column.extract()).transpose()?;
            fill(&mut self.table.integers[place], rows, NULL, column.as_ref())?;
        }
        for column in Texts::ALL {
            let (place, name) = (column as usize, column.as_str());
            let column: Option<TextColumn<'_>> =
                texts.get_item(name)?.map(|text| text.extract()).transpose()?;
            let Some((indices, dictionary)) = column else {
                self.table.texts[place] = None;
                continue;
            };
            let mut memory = self.table.texts[place].take().map(|text| text.indices);
            fill(&mut memory, rows, NO_TEXT, Some(&indices))?;
            self.table.texts[place] = Some(Text { indices: memory.unwrap_or_default(), dictionary });
        }
        self.table.lists =
            lists.map(|(offsets, elements)| list_column(rows, &offsets, &elements)).transpose()?;
        self.table.tombstone = tombstones.map(copy).transpose()?;
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
        builder.initial.default = scalar::maybe_unknown(&mut builder.values, value)?;
        builder.initial.of_key.clear();
        for (key, value) in &of_key {
            let key = scalar::from_python(&mut builder.values, key)?;
            let key = builder.key(key);
            let value = scalar::maybe_unknown(&mut builder.values, value)?;
            builder.initial.of_key.push((key, value));
        }
        Ok(())
    }

    /// The rows so far as a history of their own. Later rows must be of other transactions, and need their
    /// initial values again.
    fn drain(&mut self, py: Python<'_>) -> PyResult<Columns> {
        let reader = self.reader()?;
        py.detach(|| reader.drain()).map(Columns::new).map_err(parse_error)
    }

    /// The history of all rows.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Columns> {
        let reader = self.reader.take().ok_or_else(finished)?;
        py.detach(|| reader.into_history()).map(Columns::new).map_err(parse_error)
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

/// Copies a column into memory that is there already, `null` where the bitmap says so.
fn fill<T: Element + Default>(
    memory: &mut Option<Vec<T>>,
    rows: usize,
    null: T,
    column: Option<&Column<'_>>,
) -> PyResult<()> {
    let Some((data, validity, start)) = column else {
        *memory = None;
        return Ok(());
    };
    let cells = memory.get_or_insert_default();
    let buffer = PyBuffer::<T>::get(data)?;
    if buffer.item_count() != rows {
        return Err(PyValueError::new_err("a column is not as long as its table"));
    }
    cells.resize(rows, T::default());
    buffer.copy_to_slice(data.py(), cells)?;
    if let Some(validity) = validity {
        let bits: Vec<u8> = copy(validity)?;
        for (row, cell) in cells.iter_mut().enumerate() {
            if !is_set(&bits, start + row) {
                *cell = null;
            }
        }
    }
    Ok(())
}

fn is_set(bits: &[u8], place: usize) -> bool {
    bits.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1)
}

fn list_column(rows: usize, lists: &Column<'_>, elements: &Column<'_>) -> PyResult<Lists> {
    let (data, validity, start) = lists;
    let ends: Vec<i32> = copy(data)?;
    let bits: Option<Vec<u8>> = validity.as_ref().map(copy).transpose()?;
    let present = |row: usize| u8::from(bits.as_ref().is_none_or(|bits| is_set(bits, start + row)));
    let count = PyBuffer::<i64>::get(&elements.0)?.item_count();
    let mut integers = None;
    fill(&mut integers, count, NULL, Some(elements))?;
    Ok(Lists {
        offsets: ends.into_iter().map(i64::from).collect(),
        elements: integers.unwrap_or_default(),
        present: (0..rows).map(present).collect(),
    })
}

fn copy<T: Element>(object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(object)?.to_vec(object.py())
}

/// Rows of a history, each column as little-endian bytes.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct TableColumns {
    /// How many rows there are.
    rows: usize,
    /// Columns of integers by name.
    integers: Py<PyDict>,
    /// Columns of texts by name: (indices, dictionary).
    texts: Py<PyDict>,
    /// The column of lists, if there is one.
    lists: Option<Py<ListColumns>>,
    /// A byte for each row, 1 if the row was deleted; None if no row was.
    tombstones: Option<Py<PyBytes>>,
}

/// A column of lists of integers.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct ListColumns {
    /// The place of each list among the elements.
    offsets: Py<PyBytes>,
    /// The elements of all lists.
    elements: Py<PyBytes>,
    /// A byte for each row, 1 if it has a list.
    present: Py<PyBytes>,
}

impl TableColumns {
    pub fn new(py: Python<'_>, table: Table) -> PyResult<Self> {
        let (integers, texts) = (PyDict::new(py), PyDict::new(py));
        for (name, column) in Integers::ALL.map(Integers::as_str).iter().zip(&table.integers) {
            if let Some(column) = column {
                integers.set_item(name, bytes(py, column, i64::to_le_bytes))?;
            }
        }
        for (name, column) in Texts::ALL.map(Texts::as_str).iter().zip(table.texts) {
            if let Some(Text { indices, dictionary }) = column {
                texts.set_item(name, (bytes(py, &indices, i32::to_le_bytes), dictionary))?;
            }
        }
        let lists = table.lists.map(|lists| {
            let offsets = bytes(py, &lists.offsets, i64::to_le_bytes).unbind();
            let elements = bytes(py, &lists.elements, i64::to_le_bytes).unbind();
            Py::new(py, ListColumns { offsets, elements, present: PyBytes::new(py, &lists.present).unbind() })
        });
        Ok(Self {
            rows: table.rows,
            integers: integers.unbind(),
            texts: texts.unbind(),
            lists: lists.transpose()?,
            tombstones: table.tombstone.map(|column| PyBytes::new(py, &column).unbind()),
        })
    }
}

fn bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    column: &[T],
    of: impl Fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let flat: Vec<u8> = column.iter().flat_map(|&value| of(value)).collect();
    PyBytes::new(py, &flat)
}
