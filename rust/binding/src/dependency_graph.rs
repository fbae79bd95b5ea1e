//! The dependency graph as Python sees it: its edges, its sizes, and a graph to search.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use isoscope_kernel::generate::graph::begins_and_commits;
use isoscope_kernel::graph::Edges;
use isoscope_kernel::versions::dependencies::components;
use isoscope_kernel::versions::statistics::statistics;
use isoscope_kernel::versions::transaction_times::TransactionTimes;
use isoscope_kernel::versions::{edges, recorded};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An edge of the dependency graph.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct Dependency {
    /// The number of the earlier transaction.
    before: u32,
    /// The number of the later transaction.
    after: u32,
    /// `wr`, `ww` or `rw`.
    relation: &'static str,
}

/// The edges of the dependency graph.
#[pyfunction]
pub fn dependencies(py: Python<'_>, columns: &Columns) -> PyResult<Vec<Dependency>> {
    let found = interruptible(py, |cancel| {
        let (_, observations) = columns.judged(cancel);
        edges(columns.history(), observations, cancel)
    })?;
    let edge = |(before, after, relation): (u32, u32, isoscope_kernel::relation::Relation)| Dependency {
        before,
        after,
        relation: relation.as_str(),
    };
    Ok(found.into_iter().map(edge).collect())
}

/// Sizes of the dependency graph; edges of a kind count once between two transactions.
#[pyclass(frozen, get_all, module = "isoscope._native")]
pub struct GraphStatistics {
    /// Transactions.
    vertices: u64,
    /// Edges from a writer to a reader.
    wr: u64,
    /// Edges from a writer to the next one.
    ww: u64,
    /// Edges from a reader to the next writer.
    rw: u64,
    /// Strongly connected components.
    components: u64,
    /// Transactions of the largest component.
    largest_component: u64,
    /// The lengths of all cycles that meet no transaction twice, added up: a search from every transaction
    /// finds each cycle as often as it is long.
    traversals: u64,
    /// Whether there were too many cycles to count.
    traversals_are_partial: bool,
}

#[pymethods]
impl GraphStatistics {
    /// Edges of all kinds.
    #[getter]
    fn edges(&self) -> u64 {
        self.wr + self.ww + self.rw
    }

    /// Edges for each vertex.
    #[getter]
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    fn density(&self) -> f64 {
        if self.vertices == 0 { 0.0 } else { self.edges() as f64 / self.vertices as f64 }
    }
}

/// The search that counts cycles follows at most so many edges.
const MAX_EDGES_FOLLOWED: u64 = 20_000_000;

/// Sizes of the dependency graph.
#[pyfunction]
pub fn graph_statistics(py: Python<'_>, columns: &Columns) -> PyResult<GraphStatistics> {
    let found = interruptible(py, |cancel| {
        let (_, observations) = columns.judged(cancel);
        let times = TransactionTimes::new(columns.history(), &observations.counted);
        let orders = recorded(columns.history(), observations, &times, cancel);
        statistics(columns.history(), &orders, MAX_EDGES_FOLLOWED)
    })?;
    let [wr, ww, rw] = found.edges;
    Ok(GraphStatistics {
        vertices: found.vertices,
        wr,
        ww,
        rw,
        components: found.components,
        largest_component: found.largest,
        traversals: found.traversals,
        traversals_are_partial: found.is_partial,
    })
}

/// A graph, ready to be searched.
#[pyclass(frozen, module = "isoscope._native")]
pub struct Graph {
    edges: Edges,
    nodes: usize,
}

#[pymethods]
impl Graph {
    /// A graph of begins and commits without cycles: sessions take turns, and so many dependencies are drawn.
    #[staticmethod]
    #[pyo3(signature = (*, seed, transactions, sessions, dependencies))]
    fn begins_and_commits(
        py: Python<'_>,
        seed: u64,
        transactions: u32,
        sessions: u32,
        dependencies: usize,
    ) -> PyResult<Self> {
        if sessions == 0 || !transactions.is_multiple_of(sessions) || transactions > u32::MAX / 2 {
            return Err(PyValueError::new_err("every session must have the same number of transactions"));
        }
        let edges = py.detach(|| begins_and_commits(seed, transactions, sessions, dependencies));
        Ok(Self { edges, nodes: 2 * transactions as usize })
    }

    /// How many nodes there are.
    #[getter]
    fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many edges there are.
    #[getter]
    fn edges(&self) -> usize {
        self.edges.len()
    }

    /// How many strongly connected components there are.
    fn components(&self, py: Python<'_>) -> u32 {
        py.detach(|| components(&self.edges, self.nodes).count)
    }
}
