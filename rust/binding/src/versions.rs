//! The method of version orders as Python sees it: one call, columns in, findings out.

use crate::columns::Columns;
use crate::interrupt::interruptible;
use isoscope_kernel::generate::graph::begins_and_commits;
use isoscope_kernel::graph::Edges;
use isoscope_kernel::history::Kind;
use isoscope_kernel::history::NO_KEY;
use isoscope_kernel::observations::{INITIAL, NOBODY};
use isoscope_kernel::predicates::Predicate;
use isoscope_kernel::versions::dependencies::components;
use isoscope_kernel::versions::names::Finding;
use isoscope_kernel::versions::orders::Claims;
use isoscope_kernel::versions::orders::extent::Ordered;
use isoscope_kernel::versions::search::Budget;
use isoscope_kernel::versions::statistics::statistics;
use isoscope_kernel::versions::times::Times;
use isoscope_kernel::versions::witness::Step;
use isoscope_kernel::versions::{Question, edges, judge, ordered, predicates_of, recorded};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Judges all levels that speak of versions.
///
/// `assume` is the sum of 1 (writes follow reads), 2 (sequential keys) and 4 (linearizable keys). Of each
/// name the first `most` findings are returned; all are counted. `budget` is what the search for an order of
/// versions may cost: steps.
#[pyfunction]
#[pyo3(signature = (columns, assume, most, budget = None))]
pub fn judge_versions<'py>(
    py: Python<'py>,
    columns: &Columns,
    assume: u8,
    most: usize,
    budget: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let claims = claims(assume);
    let usual = Budget::default();
    let budget = Budget { steps: budget.unwrap_or(usual.steps), ..usual };
    let (found, aside) = interruptible(py, |cancel| {
        let (_, observations) = columns.judged(cancel);
        let predicates = predicates_of(columns.history(), observations);
        let question = Question { claims, most, budget, predicates: &predicates };
        (judge(columns.history(), observations, &question, cancel), predicates.aside)
    })?;
    let outcomes: Vec<u8> = found.outcomes.iter().map(|&outcome| outcome as u8).collect();
    let findings = found.named.findings.iter().map(|finding| of_finding(py, columns, finding));
    let findings = findings.collect::<PyResult<Vec<_>>>()?;
    let keys = of_ordered(columns.ordered(assume).get_or_init(|| found.ordered));
    let history = columns.history();
    let is_other = |&operation: &usize| {
        history.operations.kinds[operation] == Kind::RangeRead && Predicate::of(history, operation).is_none()
    };
    let others = (0..history.operation_count()).filter(is_other).count();
    let unjudged = (found.has_unsure_appends, aside, others);
    let row = (outcomes, found.named.counts.to_vec(), findings, keys, unjudged);
    Ok(row.into_pyobject(py)?.into_any())
}

/// By source: how many keys it orders, and how many of them to the last version. Free after
/// [`judge_versions`] with the same claims.
#[pyfunction]
pub fn ordered_keys(py: Python<'_>, columns: &Columns, assume: u8) -> PyResult<Vec<(u8, u64, u64)>> {
    if let Some(known) = columns.ordered(assume).get() {
        return Ok(of_ordered(known));
    }
    let found = interruptible(py, |cancel| {
        let (_, observations) = columns.judged(cancel);
        ordered(columns.history(), observations, claims(assume), cancel)
    })?;
    Ok(of_ordered(columns.ordered(assume).get_or_init(|| found)))
}

fn claims(assume: u8) -> Claims {
    Claims {
        writes_follow_reads: assume & 1 != 0,
        sequential_keys: assume & 2 != 0,
        linearizable_keys: assume & 4 != 0,
    }
}

fn of_ordered(found: &[Ordered]) -> Vec<(u8, u64, u64)> {
    found.iter().map(|&(source, keys, whole)| (source as u8, keys, whole)).collect()
}

/// The edges of the dependency graph: (before, after, relation) by numbers of transactions.
#[pyfunction]
pub fn dependencies(py: Python<'_>, columns: &Columns) -> PyResult<Vec<(u32, u32, u8)>> {
    let found = interruptible(py, |cancel| {
        let (_, observations) = columns.judged(cancel);
        edges(columns.history(), observations, cancel)
    })?;
    Ok(found.into_iter().map(|(before, after, relation)| (before, after, relation as u8)).collect())
}

/// What the search for cycles may cost that counts them: edges followed.
const CYCLES: u64 = 20_000_000;

/// Sizes of the dependency graph: (vertices, (wr, ww, rw), components, the largest of them, traversals,
/// whether there are more traversals).
#[pyfunction]
pub fn graph_statistics<'py>(py: Python<'py>, columns: &Columns) -> PyResult<Bound<'py, PyAny>> {
    let found = interruptible(py, |cancel| {
        let (_, observations) = columns.judged(cancel);
        let times = Times::new(columns.history(), &observations.counted);
        let orders = recorded(columns.history(), observations, &times, cancel);
        statistics(columns.history(), &orders, CYCLES)
    })?;
    let edges: (u64, u64, u64) = found.edges.into();
    let row = (found.vertices, edges, found.components, found.largest, found.traversals, found.is_partial);
    Ok(row.into_pyobject(py)?.into_any())
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

/// (name, steps, alternatives, level).
fn of_finding<'py>(py: Python<'py>, columns: &Columns, finding: &Finding) -> PyResult<Bound<'py, PyAny>> {
    let steps =
        |steps: &[Step]| steps.iter().map(|step| of_step(py, columns, step)).collect::<PyResult<Vec<_>>>();
    let alternatives = finding.alternatives.iter().map(|one| steps(one)).collect::<PyResult<Vec<_>>>()?;
    let level = finding.level.checked_sub(1);
    Ok((finding.name as u8, steps(&finding.steps)?, alternatives, level).into_pyobject(py)?.into_any())
}

/// (before or None, after, relation, key or None, operations, source); the initial transaction is None.
fn of_step<'py>(py: Python<'py>, columns: &Columns, step: &Step) -> PyResult<Bound<'py, PyAny>> {
    let key = match step.key {
        NO_KEY => None,
        key => Some(columns.scalar(py, columns.history().keys[key as usize])?),
    };
    let operations: Vec<u32> = step.operations.iter().copied().filter(|&o| o != NOBODY).collect();
    let end = |transaction: u32| (transaction != INITIAL).then_some(transaction);
    let row = (end(step.before), end(step.after), step.relation as u8, key, operations, step.source as u8);
    Ok(row.into_pyobject(py)?.into_any())
}
