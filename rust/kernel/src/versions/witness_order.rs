//! What shows that a level holds: an order of all versions and, where the level has one, of transactions.
//!
//! Every witness is replayed before it is given. Cost: near linear, but for levels that forbid paths, whose
//! condition is evaluated again if the order was found by a search.

mod replay;

use super::dependencies::{Dependencies, Order, Parts, components};
use super::levels::{Level, edges_of_updates, is_broken};
use super::lookup::Lookup;
use super::orders::{Orders, Source};
use super::session_guarantees::{GUARANTEES, Touches};
use super::transaction_times::TransactionTimes;
use crate::cancel::Cancel;
use crate::graph::Edges;
use crate::history::{History, Status};
use crate::observations::{ABSENT, INITIAL};
use crate::solver::starting_order;
use replay::Replay;
use std::borrow::Cow;

/// What a witness orders beside versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Transactions: each reads what is current when they run one after the other in this order.
    Serial,
    /// Begins and commits.
    Snapshots,
    /// Transactions: the condition of the level is evaluated on the order of versions that follows.
    Commits,
    /// Nothing, because a session guarantee may order versions against each other.
    Versions,
}

impl Form {
    /// The form of a level.
    #[must_use]
    pub fn of(level: Level) -> Self {
        match level {
            Level::Serializable | Level::StrongSessionSerializable | Level::StrictSerializable => {
                Self::Serial
            }
            Level::Prefix
            | Level::SnapshotIsolation
            | Level::StrongSessionSnapshotIsolation
            | Level::StrongSnapshotIsolation => Self::Snapshots,
            _ if GUARANTEES.contains(&level) => Self::Versions,
            _ => Self::Commits,
        }
    }
}

/// A read and the writes that it shows: one, or those of the elements of a list. [`INITIAL`] is the first state, [`ABSENT`]
/// a value that no transaction wrote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct ShownWrites {
    pub read: u32,
    pub writes: Vec<u32>,
    pub is_list: bool,
}

/// Why a level holds.
#[derive(Debug, Clone)]
pub struct WitnessOrder {
    /// The level.
    pub level: Level,
    /// What `events` are.
    pub form: Form,
    /// Transactions in order; or `2 * t` for the begin and `2 * t + 1` for the commit of a transaction. Those that touch no
    /// data are left out: they can stand anywhere.
    pub events: Vec<u32>,
    /// Where the versions of each key begin, and the end.
    pub version_offsets: Vec<u32>,
    /// The writes that installed the versions of each key, the oldest first, without the initial version.
    pub versions: Vec<u32>,
    /// Indeterminate transactions that took effect.
    pub effects: Vec<u32>,
    /// Reads that several transactions may have served, and what they show.
    pub reads: Vec<ShownWrites>,
    /// The source that is believed alone, because sources contradict each other.
    pub believed: Option<Source>,
    /// What the replay found wrong. Unless a single read is wrong, which breaks most levels by itself, it must find nothing.
    pub fault: String,
}

/// An order of all versions that meets some levels.
pub(super) struct Proof {
    pub(super) levels: Vec<Level>,
    pub(super) orders: Orders,
    /// The graph of this order, if the levels were evaluated on it.
    pub(super) evaluated: Option<Dependencies>,
}

impl Proof {
    pub(super) fn covers(&self, level: Level) -> bool {
        self.levels.iter().any(|&proved| proved == level || implies(proved, level))
    }
}

/// Whether a level implies another one.
pub(super) fn implies(level: Level, weaker: Level) -> bool {
    level.implied().iter().any(|&other| other == weaker || implies(other, weaker))
}

/// A complete order of versions, its graph, and the history that it is of.
pub(super) struct Witnessed<'w> {
    pub(super) history: &'w History,
    pub(super) times: &'w TransactionTimes,
    pub(super) all: Cow<'w, Dependencies>,
    pub(super) lookup: Lookup<'w>,
    /// Whether levels were evaluated on this graph: then a level that forbids cycles is not evaluated again.
    pub(super) is_evaluated: bool,
    pub(super) cancel: &'w Cancel,
}

impl Witnessed<'_> {
    /// The witness of a level that this order meets.
    pub(super) fn of(&self, level: Level) -> WitnessOrder {
        let Self { history, times, all, lookup, .. } = self;
        let form = Form::of(level);
        let events = match form {
            Form::Serial => follow(all, &all.graph(Parts { wr: true, rw: true, order: level.order() })),
            Form::Snapshots => begins_and_commits(all, level),
            Form::Commits => follow(all, &conditions(all, lookup, level)),
            Form::Versions => Vec::new(),
        };
        let replay = Replay { history, all, lookup, level };
        let fault = match form {
            Form::Serial | Form::Snapshots => replay.fault(form, &events),
            Form::Commits if self.is_evaluated => None,
            Form::Commits if forbids_cycles_alone(level) && events.len() == all.len() => None,
            _ if is_met(all, lookup, level, self.cancel) || self.cancel.is_asked() => None,
            _ => Some("it breaks the level".to_owned()),
        };
        let fault = fault.or_else(|| replay.disorder(form, &events, times)).unwrap_or_default();
        WitnessOrder { fault, ..self.told(level, form, events, lookup.orders.in_order()) }
    }

    /// The witness of a session guarantee: an order of versions that contains what it demands.
    pub(super) fn of_guarantee(&self, level: Level) -> Option<WitnessOrder> {
        let orders = self.lookup.orders;
        let places = Touches::new(&self.all, &self.lookup).places(level)?;
        let mut versions = orders.in_order();
        for (order, of_key) in orders.keys.iter().zip(&mut versions) {
            debug_assert_eq!((order.end - order.start) as usize, of_key.len());
            of_key.sort_by_key(|&version| places[version as usize]);
        }
        Some(self.told(level, Form::Versions, Vec::new(), versions))
    }

    fn told(&self, level: Level, form: Form, events: Vec<u32>, keys: Vec<Vec<u32>>) -> WitnessOrder {
        let (mut version_offsets, mut versions) = (vec![0], Vec::new());
        let (orders, counted) = (self.lookup.orders, &self.lookup.observations.counted);
        for of_key in keys {
            let operations = of_key.into_iter().map(|version| orders.operations[version as usize]);
            versions.extend(operations.filter(|&operation| operation != ABSENT));
            version_offsets.push(versions.len() as u32);
        }
        let statuses = &self.history.transactions.statuses;
        let took_effect = |&t: &u32| counted[t as usize] && statuses[t as usize] == Status::Indeterminate;
        let effects = (0..statuses.len() as u32).filter(took_effect).collect();
        let (reads, believed, fault) = (Vec::new(), None, String::new());
        WitnessOrder { level, form, events, version_offsets, versions, effects, reads, believed, fault }
    }
}

impl Orders {
    /// The versions of each key, the oldest first.
    fn in_order(&self) -> Vec<Vec<u32>> {
        self.keys.iter().map(|order| (order.start..order.end).collect()).collect()
    }
}

/// Whether a level forbids nothing but cycles of its edges: an order of all transactions that follows them then meets it.
fn forbids_cycles_alone(level: Level) -> bool {
    use Level::{Pl1, Pl2, StrongPl1, StrongPl2, StrongSessionPl1, StrongSessionPl2};
    matches!(level, Pl1 | Pl2 | StrongPl1 | StrongPl2 | StrongSessionPl1 | StrongSessionPl2)
}

/// Whether a level that forbids paths, or is known by components, is met by all edges.
fn is_met(all: &Dependencies, lookup: &Lookup<'_>, level: Level, cancel: &Cancel) -> bool {
    if GUARANTEES.contains(&level) {
        return !Touches::new(all, lookup).breaks(level);
    }
    let sessions = all.session_pairs(true);
    let mut lists: Vec<&[(u32, u32)]> = vec![&all.ww, &all.wr, &all.real_time, &sessions];
    lists.extend(all.believed(Order::RealTime));
    let found = components(&Edges::collected(all.nodes(), &lists), all.nodes());
    !is_broken(&all.on_cycles(&found).0, lookup, level, cancel)
}

/// Transactions in an order that follows these edges: of those that can come next, the first in the history does.
fn follow(all: &Dependencies, edges: &Edges) -> Vec<u32> {
    let transactions = all.len();
    let rank = |node: u32| all.transactions.get(node as usize).map_or(0, |&t| u64::from(t) + 1);
    let nodes = sorted(edges, all.nodes(), rank);
    let nodes = nodes.into_iter().filter(|&node| (node as usize) < transactions);
    nodes.map(|node| all.transactions[node as usize]).collect()
}

/// The edges of a level that has a condition beside them.
fn conditions(all: &Dependencies, lookup: &Lookup<'_>, level: Level) -> Edges {
    let is_of_writes = matches!(level, Level::Pl1 | Level::StrongSessionPl1 | Level::StrongPl1);
    let edges = all.graph(Parts { wr: !is_of_writes, rw: false, order: level.order() });
    if level != Level::UpdateSerializable {
        return edges;
    }
    let (updates, _) = edges_of_updates(all, lookup);
    let pairs: Vec<(u32, u32)> = edges.pairs().chain(updates.pairs()).collect();
    Edges::collected(all.nodes(), &[&pairs])
}

/// Begins and commits in an order that follows the BC-graph.
fn begins_and_commits(all: &Dependencies, level: Level) -> Vec<u32> {
    let (edges, nodes) = all.begins_and_commits(level.order(), level == Level::Prefix);
    let count = all.len() as u32;
    let event = |node: u32| {
        let transaction = |node: u32| all.transactions[node as usize];
        match node {
            _ if node < count => Some(2 * transaction(node)),
            _ if node < 2 * count => Some(2 * transaction(node - count) + 1),
            _ => None,
        }
    };
    let rank = |node: u32| event(node).map_or(0, |event| u64::from(event) + 1);
    sorted(&edges, nodes, rank).into_iter().filter_map(event).collect()
}

/// Nodes in an order that follows edges to predecessors; as many as can be ordered.
fn sorted(edges: &Edges, nodes: usize, rank: impl Fn(u32) -> u64) -> Vec<u32> {
    let forward: Vec<(u32, u32)> = edges.pairs().map(|(node, before)| (before, node)).collect();
    let Some(places) = starting_order(nodes, &forward, rank) else { return Vec::new() };
    let mut order = vec![0; nodes];
    places.iter().zip(0..).for_each(|(&place, node)| order[place as usize] = node);
    order
}

/// The write that a version is of, or [`INITIAL`].
pub(super) fn write_of(orders: &Orders, version: u32) -> u32 {
    match orders.operations[version as usize] {
        ABSENT => INITIAL,
        operation => operation,
    }
}

#[cfg(test)]
mod tests;
