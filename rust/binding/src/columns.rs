//! A finished history as Python sees it.

use crate::interrupt::interruptible;
use crate::rows::{InitialRow, SessionRow, TransactionRow, VersionOrderRow};
use crate::scalar;
use crate::tables::TableColumns;
use isoscope_kernel::cancel::Cancel;
use isoscope_kernel::evidence::{self, Evidence, EvidenceKind};
use isoscope_kernel::formats::{self, table};
use isoscope_kernel::history::{History, Kind, Status};
use isoscope_kernel::observations::Observations;
use isoscope_kernel::reads;
use isoscope_kernel::value::Value;
use isoscope_kernel::{by_key::ByKey, equality};
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};
use std::io;
use std::sync::OnceLock;

/// How complete each kind of evidence of a history is, by the name of the extent.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct EvidenceExtents {
    values: &'static str,
    version_order: &'static str,
    timestamps: &'static str,
    intervals: &'static str,
    /// (key, value) pairs that several transactions wrote, the initial one included.
    repeated_values: u64,
}

impl From<Evidence> for EvidenceExtents {
    fn from(found: Evidence) -> Self {
        Self {
            values: found.values.as_str(),
            version_order: found.version_order.as_str(),
            timestamps: found.timestamps.as_str(),
            intervals: found.intervals.as_str(),
            repeated_values: found.repeated_values,
        }
    }
}

/// The columns of a history; never changed after they are built.
#[pyclass(frozen, module = "isoscope._native")]
pub struct Columns {
    history: History,
    longest: OnceLock<table::Longest>,
    judged: OnceLock<(reads::Judgement, Observations)>,
    ties: OnceLock<u64>,
}

impl Columns {
    pub fn new(history: History) -> Self {
        Self { history, longest: OnceLock::new(), judged: OnceLock::new(), ties: OnceLock::new() }
    }

    /// What is wrong with single reads, and the transaction that each read from: computed once.
    pub(crate) fn judged(&self, cancel: &Cancel) -> &(reads::Judgement, Observations) {
        if let Some(known) = self.judged.get() {
            return known;
        }
        let found = reads::judge(&self.history, cancel);
        // A cancelled judge found nothing of meaning, and its answer is not used.
        if cancel.is_asked() {
            self.judged.get_or_init(Default::default)
        } else {
            self.judged.get_or_init(|| found)
        }
    }

    /// How many timestamps belong to several transactions, once the clock was judged.
    pub(crate) fn tied(&self) -> &OnceLock<u64> {
        &self.ties
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn scalar<'py>(&self, py: Python<'py>, value: Value) -> PyResult<Bound<'py, PyAny>> {
        scalar::to_python(py, &self.history.values, value)
    }

    pub(crate) fn scalars<'py>(&self, py: Python<'py>, values: &[Value]) -> PyResult<Vec<Bound<'py, PyAny>>> {
        values.iter().map(|&value| self.scalar(py, value)).collect()
    }

    /// The keys with these numbers.
    pub(crate) fn keys_of(&self, py: Python<'_>, numbers: &[u32]) -> PyResult<Vec<Py<PyAny>>> {
        let key = |&key: &u32| Ok(self.scalar(py, self.history.keys[key as usize])?.unbind());
        numbers.iter().map(key).collect()
    }

    fn check(&self, transaction: usize) -> PyResult<()> {
        if transaction < self.history.transaction_count() {
            return Ok(());
        }
        Err(PyIndexError::new_err(format!("no transaction has number {transaction}")))
    }
}

#[pymethods]
impl Columns {
    /// How many transactions there are.
    #[getter]
    fn transactions(&self) -> usize {
        self.history.transaction_count()
    }

    /// How many operations there are.
    #[getter]
    fn operations(&self) -> usize {
        self.history.operation_count()
    }

    /// How many sessions there are.
    #[getter]
    fn sessions(&self) -> usize {
        self.history.session_ids.len()
    }

    /// All keys, in the order of first appearance.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.scalars(py, &self.history.keys)
    }

    /// How many keys there are.
    #[getter]
    fn key_count(&self) -> usize {
        self.history.keys.len()
    }

    /// One session.
    fn session(&self, py: Python<'_>, session: usize) -> PyResult<SessionRow> {
        if session >= self.history.session_ids.len() {
            return Err(PyIndexError::new_err(format!("no session has number {session}")));
        }
        SessionRow::of(py, self, session)
    }

    /// The number of the transaction with this original id; None if there is none.
    fn find(&self, id: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        let id = scalar::find(&self.history.values, id)?;
        Ok(id.and_then(|id| self.history.transactions.ids.iter().position(|&other| other == id)))
    }

    /// One transaction with its operations.
    fn transaction(&self, py: Python<'_>, transaction: usize) -> PyResult<TransactionRow> {
        self.check(transaction)?;
        TransactionRow::of(py, self, transaction)
    }

    /// How many timestamps belong to several transactions; None before the clock was judged.
    #[getter]
    fn ties(&self) -> Option<u64> {
        self.ties.get().copied()
    }

    /// How many transactions of its session come before one.
    fn place_in_session(&self, transaction: usize) -> PyResult<usize> {
        self.check(transaction)?;
        let session = self.history.transactions.sessions[transaction] as usize;
        let before =
            self.history.transactions_of(session).iter().take_while(|&&other| other as usize != transaction);
        Ok(before.count())
    }

    /// The ids of transactions.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands the list over")]
    fn ids(&self, py: Python<'_>, transactions: Vec<usize>) -> PyResult<Vec<Py<PyAny>>> {
        let id = |&transaction: &usize| {
            self.check(transaction)?;
            Ok(self.scalar(py, self.history.transactions.ids[transaction])?.unbind())
        };
        transactions.iter().map(id).collect()
    }

    /// The number of the first operation of a transaction, or of the one after it if it has none.
    fn first_operation(&self, transaction: usize) -> PyResult<u32> {
        self.check(transaction)?;
        Ok(self.history.operation_offsets[transaction])
    }

    /// The number of the transaction that an operation belongs to, and its place there.
    fn locate(&self, operation: u32) -> PyResult<(usize, usize)> {
        if operation as usize >= self.history.operation_count() {
            return Err(PyIndexError::new_err(format!("no operation has number {operation}")));
        }
        let transaction = self.history.operation_offsets.partition_point(|&offset| offset <= operation) - 1;
        Ok((transaction, (operation - self.history.operation_offsets[transaction]) as usize))
    }

    /// The values of keys before the first write.
    fn initial(&self, py: Python<'_>) -> PyResult<InitialRow> {
        InitialRow::of(py, self)
    }

    /// The order of versions that each source gives.
    fn versions(&self, py: Python<'_>) -> PyResult<Vec<VersionOrderRow>> {
        self.history.versions.iter().map(|order| VersionOrderRow::of(py, self, order)).collect()
    }

    /// What the reader counted on the way.
    fn notes(&self) -> Vec<(String, u64)> {
        self.history.notes.clone()
    }

    /// How many operations there are of each kind, by its name.
    fn kind_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut counts = [0_u64; Kind::COUNT];
        for &kind in &self.history.operations.kinds {
            counts[kind as usize] += 1;
        }
        Kind::ALL.map(Kind::as_str).into_iter().zip(counts).into_py_dict(py)
    }

    /// Whether a value of a key was written by several transactions, or appended twice by one.
    fn repeats(&self, py: Python<'_>) -> PyResult<bool> {
        interruptible(py, |cancel| evidence::repeats(&self.history, cancel))
    }

    /// How many transactions there are of each status, by its name.
    fn status_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut counts = [0_u64; Status::COUNT];
        for &status in &self.history.transactions.statuses {
            counts[status as usize] += 1;
        }
        Status::ALL.map(Status::as_str).into_iter().zip(counts).into_py_dict(py)
    }

    /// How complete each kind of evidence is: a pass over all writes.
    fn evidence(&self, py: Python<'_>) -> PyResult<EvidenceExtents> {
        let found = interruptible(py, |cancel| evidence::evidence(&self.history, cancel))?;
        Ok(EvidenceExtents::from(found))
    }

    /// Names of the kinds of evidence that there are.
    fn present_evidence(&self, py: Python<'_>) -> Vec<&'static str> {
        present_names(py.detach(|| evidence::present(&self.history)))
    }

    /// Names of what the history holds beyond committed integer reads and writes.
    fn features(&self, py: Python<'_>) -> Vec<&'static str> {
        py.detach(|| evidence::features(&self.history))
    }

    /// Whether both hold the same; lines and notes do not count.
    fn same(&self, py: Python<'_>, other: &Self) -> bool {
        py.detach(|| equality::same(&self.history, &other.history))
    }

    /// Which transactions count as committed, by their numbers.
    fn counted(&self, py: Python<'_>) -> Vec<bool> {
        py.detach(|| {
            let owners = self.history.transaction_of_operation();
            reads::counted(&self.history, &owners, &ByKey::new(&self.history))
        })
    }

    /// The numbers of indeterminate transactions that count as committed.
    fn took_effect(&self, py: Python<'_>) -> Vec<usize> {
        let statuses = &self.history.transactions.statuses;
        if !statuses.contains(&Status::Indeterminate) {
            return Vec::new();
        }
        let counted = self.counted(py).into_iter().zip(statuses).enumerate();
        let took_effect =
            counted.filter(|(_, (counts, status))| *counts && **status == Status::Indeterminate);
        took_effect.map(|(transaction, _)| transaction).collect()
    }

    /// Writes the history in a format that is text to `sink`, which has `write(bytes)`.
    fn write(&self, format: &str, sink: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut sink = Sink { sink, error: None };
        let outcome = (writer(format)?.write)(&self.history, &mut sink);
        match (sink.error, outcome) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(PyOSError::new_err(error.to_string())),
            (None, Ok(())) => Ok(()),
        }
    }

    /// What a format that is text would lose of the history, beyond the features that it does not have.
    fn unwritable(&self, py: Python<'_>, format: &str) -> PyResult<Vec<&'static str>> {
        let writer = writer(format)?;
        Ok(py.detach(|| (writer.unwritable)(&self.history)))
    }

    /// Whether a format that is text would hold any operation of the history.
    fn leaves_operations(&self, py: Python<'_>, format: &str) -> PyResult<bool> {
        let writer = writer(format)?;
        Ok(py.detach(|| (writer.leaves_operations)(&self.history)))
    }

    /// Rows of operations from `transaction` on, at least one transaction and about `most` rows; and the
    /// transaction with which to go on.
    fn export_rows(&self, py: Python<'_>, transaction: usize, most: u32) -> PyResult<(usize, TableColumns)> {
        self.check(transaction)?;
        let offsets = &self.history.operation_offsets;
        let enough = offsets[transaction].saturating_add(most);
        let last = self.history.transaction_count();
        let end = offsets.partition_point(|&offset| offset < enough).clamp(transaction + 1, last);
        let end = end.min(transaction + most.max(1) as usize);
        let table = py.detach(|| {
            let longest = self.longest.get_or_init(|| table::Longest::of(&self.history));
            table::export(&self.history, longest, transaction..end)
        });
        Ok((end, TableColumns::new(py, table)?))
    }

    /// Rows of the recorded version orders.
    fn export_versions(&self, py: Python<'_>) -> PyResult<TableColumns> {
        let table = py.detach(|| table::export_versions(&self.history));
        TableColumns::new(py, table)
    }

    /// The columns that are not null everywhere in the exported rows, and whether each is null somewhere.
    fn used_columns(&self, py: Python<'_>) -> Vec<(&'static str, bool)> {
        py.detach(|| table::used_columns(&self.history))
    }

    /// The initial values as EDN: of all other keys, whether a write replaces it, [(key, value)].
    fn initial_edn(&self) -> (String, bool, Vec<(String, String)>) {
        let (initial, values) = (&self.history.initial, &self.history.values);
        let text = |value: Value| match value {
            Value::UNKNOWN => String::new(),
            known => table::edn_text(values, known),
        };
        let of_key = initial
            .of_key
            .iter()
            .map(|&(key, value)| (table::edn_text(values, self.history.keys[key as usize]), text(value)));
        (text(initial.default), initial.replaceable, of_key.collect())
    }
}

/// The names of the kinds of evidence that are there.
pub fn present_names(present: [bool; EvidenceKind::COUNT]) -> Vec<&'static str> {
    let kinds = EvidenceKind::ALL.into_iter().zip(present);
    kinds.filter_map(|(kind, is_there)| is_there.then_some(kind.as_str())).collect()
}

fn writer(format: &str) -> PyResult<&'static formats::Writer> {
    formats::writer(format).ok_or_else(|| PyValueError::new_err(format!("no writer for `{format}`")))
}

/// A Python file object as a place to write to; keeps the exception that stopped it.
struct Sink<'py, 'object> {
    sink: &'object Bound<'py, PyAny>,
    error: Option<PyErr>,
}

impl io::Write for Sink<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = PyBytes::new(self.sink.py(), bytes);
        match self.sink.call_method1("write", (written,)) {
            Ok(_) => Ok(bytes.len()),
            Err(error) => {
                self.error = Some(error);
                Err(io::Error::other("the sink failed"))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
