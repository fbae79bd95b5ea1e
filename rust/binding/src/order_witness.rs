//! Why a level holds, as Python sees it: columns of numbers.

use isoscope_kernel::observations::{ABSENT, INITIAL};
use isoscope_kernel::versions::orders::Source;
use isoscope_kernel::versions::witness_order::{Form, WitnessOrder};
use isoscope_kernel::weak::explained::ExplainedOrder;
use isoscope_kernel::weak::reader::WeakLevel;
use pyo3::prelude::*;

/// An order that shows that a level holds.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct OrderWitness {
    /// The level.
    level: &'static str,
    /// What `order` lists: `order` transactions, `events` begins and commits, `versions` nothing.
    form: &'static str,
    /// Transactions by number; of `events` each twice, its begin first.
    order: Vec<u32>,
    /// Where the versions of each key begin, and the end.
    version_offsets: Vec<u32>,
    /// The writes that installed the versions of each key, the oldest first, without the initial version.
    versions: Vec<u32>,
    /// Indeterminate transactions that took effect.
    took_effect: Vec<u32>,
    /// Reads that several writes may explain.
    reads: Vec<Py<WitnessRead>>,
    /// The source of the version order that is believed alone; empty if sources do not contradict each other.
    source: &'static str,
    /// What the replay found wrong; empty unless a single read is wrong.
    fault: String,
}

/// A read, and the writes that it shows.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct WitnessRead {
    /// The number of the read.
    read: u32,
    /// One write, or those of the elements of a list; None for the initial state, or a value that no transaction wrote.
    writes: Vec<Option<u32>>,
    /// Whether it is of a list.
    is_list: bool,
}

/// A commit order of a weak level.
pub fn commit_witness(
    py: Python<'_>,
    level: WeakLevel,
    order: &ExplainedOrder,
) -> PyResult<Py<OrderWitness>> {
    let made = OrderWitness {
        level: level.as_str(),
        form: "order",
        order: order.order.clone(),
        version_offsets: Vec::new(),
        versions: Vec::new(),
        took_effect: order.effects.clone(),
        reads: witness_reads(
            py,
            order.reads.iter().map(|(read, writes, is_list)| (*read, &writes[..], *is_list)),
        )?,
        source: "",
        fault: String::new(),
    };
    Py::new(py, made)
}

fn witness_reads<'w>(
    py: Python<'_>,
    reads: impl Iterator<Item = (u32, &'w [u32], bool)>,
) -> PyResult<Vec<Py<WitnessRead>>> {
    let known = |&write: &u32| (write != INITIAL && write != ABSENT).then_some(write);
    let made = reads.map(|(read, writes, is_list)| {
        Py::new(py, WitnessRead { read, writes: writes.iter().map(known).collect(), is_list })
    });
    made.collect()
}

/// A witness of the kernel.
pub fn order_witness(py: Python<'_>, witness: &WitnessOrder) -> PyResult<Py<OrderWitness>> {
    let (form, order) = match witness.form {
        Form::Serial | Form::Commits => ("order", witness.events.clone()),
        Form::Snapshots => ("events", witness.events.iter().map(|event| event / 2).collect()),
        Form::Versions => ("versions", Vec::new()),
    };
    let reads = witness.reads.iter().map(|shown| (shown.read, &shown.writes[..], shown.is_list));
    let made = OrderWitness {
        level: witness.level.as_str(),
        form,
        order,
        version_offsets: witness.version_offsets.clone(),
        versions: witness.versions.clone(),
        took_effect: witness.effects.clone(),
        reads: witness_reads(py, reads)?,
        source: witness.believed.map_or("", Source::as_str),
        fault: witness.fault.clone(),
    };
    Py::new(py, made)
}
