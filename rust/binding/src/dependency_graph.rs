//! The dependency graph as Python sees it: its edges, its sizes, and a graph to search.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use isoscope_kernel::generate::graph::begins_and_commits;
use isoscope_kernel::graph::Edges;
use isoscope_kernel::reads;
use isoscope_kernel::versions::dependencies::components;
use isoscope_kernel::versions::event_graph::{EventEdge, event_graph as graph_of_events};
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

/// The dependency graph between operations, as columns; operations are numbered through the history.
#[pyclass(frozen, get_all, module = "isoscope._native")]
#[allow(clippy::struct_excessive_bools, reason = "each is one reason for doubt")]
pub struct EventGraph {
    /// Transactions that count as committed and touch data.
    transactions: Vec<u32>,
    /// The earlier transaction of each edge.
    before: Vec<u32>,
    /// The later one.
    after: Vec<u32>,
    /// `wr`, `ww` or `rw`.
    relations: Vec<&'static str>,
    /// The number of the key.
    keys: Vec<u32>,
    /// The operation of the earlier transaction.
    first: Vec<u32>,
    /// The operation of the later one.
    second: Vec<u32>,
    /// How the order of the two versions is known.
    sources: Vec<&'static str>,
    /// Neighbours in a session.
    sessions: Vec<(u32, u32)>,
    /// Pairs in real-time order from which all others follow.
    real_time: Vec<(u32, u32)>,
    /// Reads that no order of transactions explains: (operation, name).
    wrong_reads: Vec<(u32, &'static str)>,
    /// Reads of values that several transactions wrote.
    repeated_reads: u64,
    /// Keys whose reads are not judged.
    unjudged_keys: u64,
    /// Whether all versions of all keys are in order.
    is_complete: bool,
    /// Whether versions that may have been read are not in order.
    has_open_registers: bool,
    /// Whether two sources order versions differently.
    is_contradictory: bool,
    /// Whether an append or a recorded row may be of several transactions.
    has_unsure_keys: bool,
}

/// The dependency graph between operations.
#[pyfunction]
pub fn event_graph(py: Python<'_>, columns: &Columns) -> PyResult<EventGraph> {
    let (found, judged) = interruptible(py, |cancel| {
        let (judged, observations) = columns.judged(cancel);
        (graph_of_events(columns.history(), observations, cancel), judged)
    })?;
    let edges = &found.edges;
    let column = |field: fn(&EventEdge) -> u32| edges.iter().map(field).collect::<Vec<u32>>();
    Ok(EventGraph {
        before: column(|edge| edge.before),
        after: column(|edge| edge.after),
        relations: edges.iter().map(|edge| edge.relation.as_str()).collect(),
        keys: column(|edge| edge.key),
        first: column(|edge| edge.first),
        second: column(|edge| edge.second),
        sources: edges.iter().map(|edge| edge.source.as_str()).collect(),
        wrong_reads: wrong_reads(judged, &found.dirty_reads),
        repeated_reads: judged.repeated_reads,
        unjudged_keys: (judged.mixed_keys.len() + judged.deleted_keys.len()) as u64,
        is_complete: found.is_complete,
        has_open_registers: found.has_open_registers,
        is_contradictory: found.is_contradictory,
        has_unsure_keys: found.has_unsure_keys,
        transactions: found.transactions,
        sessions: found.sessions,
        real_time: found.real_time,
    })
}

fn wrong_reads(judged: &reads::Judgement, dirty: &[u32]) -> Vec<(u32, &'static str)> {
    let single = judged.findings.iter().map(|finding| (finding.read, finding.name.as_str()));
    let mut found: Vec<(u32, &'static str)> =
        single.chain(dirty.iter().map(|&read| (read, "dirty-update"))).collect();
    found.sort_unstable();
    found.dedup();
    found
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
