//! Python scalars and kernel values.

use isoscope_kernel::value::{AtomKind, Value, Values};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The result of a read that the client never learned.
#[pyclass(frozen, module = "isoscope._native")]
pub struct Unknown;

#[pymethods]
impl Unknown {
    #[expect(clippy::unused_self, reason = "Python calls it on the instance")]
    fn __repr__(&self) -> &'static str {
        "UNKNOWN"
    }

    #[expect(clippy::unused_self, reason = "Python calls it on the instance")]
    fn __reduce__(&self) -> &'static str {
        "UNKNOWN"
    }
}

/// A scalar without a Python twin (keyword, symbol, ratio, ...), known by its EDN text.
#[pyclass(frozen, eq, hash, ord, module = "isoscope._native")]
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// The EDN text, for instance `:x`.
    #[pyo3(get)]
    text: String,
}

#[pymethods]
impl Term {
    #[new]
    fn new(text: String) -> Self {
        Self { text }
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Term({:?})", self.text)
    }

    fn __getnewargs__(&self) -> (&str,) {
        (&self.text,)
    }
}

/// `value` as Python sees it: an int, str, float, bool, None, Term, UNKNOWN or a tuple of scalars.
pub fn to_python<'py>(py: Python<'py>, values: &Values, value: Value) -> PyResult<Bound<'py, PyAny>> {
    if let Some(small) = value.as_small() {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    if value == Value::UNKNOWN {
        return unknown(py);
    }
    if let Some(list) = values.as_list(value) {
        let elements: PyResult<Vec<_>> = list.iter().map(|&element| to_python(py, values, element)).collect();
        return Ok(PyTuple::new(py, elements?)?.into_any());
    }
    let (kind, text) = values.atom(value.atom_index().unwrap_or_default());
    Ok(match kind {
        AtomKind::Nil => py.None().into_bound(py),
        AtomKind::Boolean => PyBool::new(py, text == "true").to_owned().into_any(),
        AtomKind::Integer => py.get_type::<PyInt>().call1((text,))?,
        AtomKind::Float => py.get_type::<PyFloat>().call1((text,))?,
        AtomKind::Text => PyString::new(py, text).into_any(),
        AtomKind::Term => Bound::new(py, Term { text: text.to_owned() })?.into_any(),
    })
}

/// The kernel's value of a Python scalar; `UNKNOWN` is none.
pub fn from_python(values: &mut Values, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    // What nearly all are comes first: a recorder waits for this.
    if let Ok(integer) = object.cast_exact::<PyInt>() {
        return from_integer(values, integer);
    }
    if object.is_none() {
        return Ok(Value::NIL);
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(values.boolean(truth.is_true()));
    }
    if let Ok(integer) = object.cast::<PyInt>() {
        return from_integer(values, integer);
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text
            .to_str()
            .map_err(|_| PyValueError::new_err("a text with lone surrogates is no key or value"))?;
        return Ok(values.intern(AtomKind::Text, text));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        return Ok(values.float(number.extract()?));
    }
    if let Ok(term) = object.cast::<Term>() {
        return Ok(values.intern(AtomKind::Term, &term.get().text));
    }
    let problem =
        format!("expected None, a bool, int, float, str or Term, found {}", object.get_type().name()?);
    Err(PyTypeError::new_err(problem))
}

fn from_integer(values: &mut Values, integer: &Bound<'_, PyInt>) -> PyResult<Value> {
    if let Ok(number) = integer.extract::<i64>() {
        return Ok(values.integer(number));
    }
    let too_long = "an integer of more than 4,300 digits is no key or value: make it a text";
    let digits = integer.str().map_err(|_| PyValueError::new_err(too_long))?;
    Ok(values.decimal(&digits.to_string()))
}

/// The kernel's value of a Python scalar, or of `UNKNOWN`.
pub fn maybe_unknown(values: &mut Values, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let is_unknown = !object.is_exact_instance_of::<PyInt>() && object.is_instance_of::<Unknown>();
    if is_unknown { Ok(Value::UNKNOWN) } else { from_python(values, object) }
}

/// The elements of a list or tuple of scalars; `None` if it is neither.
pub fn elements(values: &mut Values, object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Value>>> {
    if !object.is_instance_of::<PyTuple>() && !object.is_instance_of::<PyList>() {
        return Ok(None);
    }
    object.try_iter()?.map(|element| from_python(values, &element?)).collect::<PyResult<_>>().map(Some)
}

/// The value that `object` has in `values`, which is not changed; `None` if it has none.
pub fn find(values: &Values, object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let mut scratch = Values::default();
    let value = maybe_unknown(&mut scratch, object)?;
    let Some(index) = value.atom_index() else { return Ok(Some(value)) };
    let wanted = scratch.atom(index);
    Ok(values.find(wanted.0, wanted.1))
}

fn unknown(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static UNKNOWN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let object = UNKNOWN
        .get_or_try_init(py, || PyResult::Ok(py.import("isoscope._native")?.getattr("UNKNOWN")?.unbind()))?;
    Ok(object.bind(py).clone())
}
