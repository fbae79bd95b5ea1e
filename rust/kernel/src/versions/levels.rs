//! The condition of every level that speaks of versions, on edges that are known.
//!
//! `reference/adya.py` is the specification.

use super::dependencies::{Dependencies, Order, Pairs, Parts, components};
use super::lookup::Lookup;
use super::lost_updates::{self, LostUpdate};
use super::reachability::Reach;
use crate::cancel::Cancel;
use crate::graph::{Components, Edges};
use crate::named_enum::named_enum;
use crate::observations::ABSENT;

named_enum! {
    /// The levels, a stronger one behind those that it implies; session guarantees last.
    pub enum Level {
        Pl1 => "pl-1",
        StrongSessionPl1 => "strong-session-pl-1",
        StrongPl1 => "strong-pl-1",
        Pl2 => "pl-2",
        StrongSessionPl2 => "strong-session-pl-2",
        StrongPl2 => "strong-pl-2",
        CursorStability => "cursor-stability",
        MonotonicView => "monotonic-view",
        /// Without predicates also consistent view.
        ParallelSnapshotIsolation => "parallel-snapshot-isolation",
        StrongSessionParallelSnapshotIsolation => "strong-session-parallel-snapshot-isolation",
        Prefix => "prefix",
        SnapshotIsolation => "snapshot-isolation",
        StrongSessionSnapshotIsolation => "strong-session-snapshot-isolation",
        StrongSnapshotIsolation => "strong-snapshot-isolation",
        UpdateSerializable => "update-serializable",
        /// Without predicates also repeatable read.
        Serializable => "serializable",
        StrongSessionSerializable => "strong-session-serializable",
        StrictSerializable => "strict-serializable",
        MonotonicWrites => "monotonic-writes",
        WritesFollowReads => "writes-follow-reads",
        ReadYourWrites => "read-your-writes",
        MonotonicReads => "monotonic-reads",
    }
}

impl Level {
    /// The levels that this one implies directly.
    #[must_use]
    pub const fn implied(self) -> &'static [Self] {
        match self {
            Self::Pl1
            | Self::MonotonicWrites
            | Self::WritesFollowReads
            | Self::ReadYourWrites
            | Self::MonotonicReads => &[],
            Self::StrongSessionPl1 => &[Self::Pl1, Self::MonotonicWrites],
            Self::StrongPl1 => &[Self::StrongSessionPl1],
            Self::Pl2 => &[Self::Pl1],
            Self::StrongSessionPl2 => &[Self::Pl2, Self::StrongSessionPl1, Self::WritesFollowReads],
            Self::StrongPl2 => &[Self::StrongSessionPl2, Self::StrongPl1],
            Self::CursorStability | Self::MonotonicView => &[Self::Pl2],
            Self::ParallelSnapshotIsolation => &[Self::CursorStability, Self::MonotonicView],
            Self::StrongSessionParallelSnapshotIsolation => &[
                Self::ParallelSnapshotIsolation,
                Self::StrongSessionPl2,
                Self::ReadYourWrites,
                Self::MonotonicReads,
            ],
            // By the recorded order; without one it is the business of values.
            Self::Prefix => &[Self::StrongSessionPl2],
            Self::SnapshotIsolation | Self::UpdateSerializable => &[Self::ParallelSnapshotIsolation],
            Self::StrongSessionSnapshotIsolation => {
                &[Self::SnapshotIsolation, Self::StrongSessionParallelSnapshotIsolation, Self::Prefix]
            }
            Self::StrongSnapshotIsolation => &[Self::StrongSessionSnapshotIsolation, Self::StrongPl2],
            Self::Serializable => &[Self::SnapshotIsolation, Self::UpdateSerializable],
            Self::StrongSessionSerializable => &[Self::Serializable, Self::StrongSessionSnapshotIsolation],
            Self::StrictSerializable => &[Self::StrongSessionSerializable, Self::StrongSnapshotIsolation],
        }
    }

    /// What orders transactions at this level beside data.
    #[must_use]
    pub const fn order(self) -> Order {
        match self {
            Self::StrongPl1 | Self::StrongPl2 | Self::StrongSnapshotIsolation | Self::StrictSerializable => {
                Order::RealTime
            }
            Self::StrongSessionPl1
            | Self::StrongSessionPl2
            | Self::StrongSessionParallelSnapshotIsolation
            | Self::Prefix
            | Self::StrongSessionSnapshotIsolation
            | Self::StrongSessionSerializable
            | Self::MonotonicWrites
            | Self::WritesFollowReads
            | Self::ReadYourWrites
            | Self::MonotonicReads => Order::Session,
            _ => Order::Plain,
        }
    }
}

/// A read-write edge that a path of other edges closes to a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Closing {
    pub reader: u32,
    pub key: u32,
    /// The node that overwrote what was read, or a junction that leads there.
    pub after: u32,
}

/// What is wrong, order by order.
#[derive(Debug, Default)]
pub struct Cycles {
    /// Components of write-write with each order.
    pub writes: [Components; 3],
    /// Components of dependencies with each order.
    pub flows: [Components; 3],
    /// Read-write edges that dependencies close, with each order.
    pub closing: [Vec<Closing>; 3],
    /// Lost updates.
    pub lost: Vec<LostUpdate>,
    /// A cycle of transactions that write something, or of those and one that does not.
    pub updates: Option<Updates>,
    /// A read that missed something on which an earlier operation of its transaction depends: the edge, and
    /// the node that the operation depends on.
    pub views: Option<(Closing, u32)>,
    /// Which levels a known cycle breaks.
    pub violated: [bool; Level::COUNT],
}

/// What breaks update serializability.
#[derive(Debug, Clone)]
pub enum Updates {
    /// These are on cycles.
    Writing(Vec<u32>),
    /// A transaction that only reads missed a version, and read from this node.
    Reading(Closing, u32),
}

/// Looks for cycles of every kind; `small` is what is on cycles of all edges.
#[must_use]
pub fn cycles(small: &Dependencies, lookup: &Lookup<'_>, cancel: &Cancel) -> Cycles {
    let mut found = Cycles { lost: lost_updates::updates(small, lookup), ..Cycles::default() };
    if small.len() == 0 {
        return found;
    }
    found.violated[Level::CursorStability as usize] = !found.lost.is_empty();
    for order in Order::ALL {
        let at = order as usize;
        if order == Order::RealTime && small.real_time.is_empty() {
            found.repeat_session_order();
            break;
        }
        found.writes[at] = components_of(small, Parts { wr: false, rw: false, order });
        let dependencies = small.dependencies(order);
        let reach = Reach::new(&dependencies, small.nodes());
        found.closing[at] = closing(small, order, &reach, cancel);
        found.flows[at] = reach.components().clone();
        let levels = of_order(order);
        found.set(levels.pl_1, found.writes[at].is_cyclic());
        found.set(levels.pl_2, found.flows[at].is_cyclic());
        if let Some(psi) = levels.psi {
            found.set(psi, !found.closing[at].is_empty());
        }
        let (edges, nodes) = small.begins_and_commits(order, false);
        found.set(levels.si, components(&edges, nodes).is_cyclic());
        found.set(levels.ser, components_of(small, Parts { wr: true, rw: true, order }).is_cyclic());
    }
    let (edges, nodes) = small.begins_and_commits(Order::Session, true);
    found.set(Level::Prefix, components(&edges, nodes).is_cyclic());
    if !found.violated[Level::Pl2 as usize] {
        found.updates = updates(small, lookup, cancel);
        found.views = monotonic_views(small, lookup, &found.closing[0], cancel);
        found.set(Level::UpdateSerializable, found.updates.is_some());
        found.set(Level::MonotonicView, found.views.is_some());
    }
    found
}

/// Whether this level is broken; one that nothing but cycles break is known by its components.
#[must_use]
pub fn is_broken(small: &Dependencies, lookup: &Lookup<'_>, level: Level, cancel: &Cancel) -> bool {
    let closing_of = |order: Order| {
        let dependencies = small.dependencies(order);
        closing(small, order, &Reach::new(&dependencies, small.nodes()), cancel)
    };
    match level {
        Level::CursorStability => !lost_updates::updates(small, lookup).is_empty(),
        Level::ParallelSnapshotIsolation | Level::StrongSessionParallelSnapshotIsolation => {
            !closing_of(level.order()).is_empty()
        }
        Level::MonotonicView => monotonic_views(small, lookup, &closing_of(Order::Plain), cancel).is_some(),
        Level::UpdateSerializable => updates(small, lookup, cancel).is_some(),
        _ => cycles(small, lookup, cancel).violated[level as usize],
    }
}

fn components_of(small: &Dependencies, parts: Parts) -> Components {
    components(&small.graph(parts), small.nodes())
}

impl Cycles {
    fn set(&mut self, level: Level, is_violated: bool) {
        self.violated[level as usize] |= is_violated;
    }

    /// Without real time its levels have the cycles of session order.
    fn repeat_session_order(&mut self) {
        self.writes[2] = self.writes[1].clone();
        self.flows[2] = self.flows[1].clone();
        let in_sessions = self.closing[1].clone();
        self.closing[2] = in_sessions;
    }

    /// Breaks every level that implies a broken one.
    pub fn spread(violated: &mut [bool; Level::COUNT]) {
        // Levels stand behind those that they imply, but for the session guarantees: twice is enough.
        for _ in 0..2 {
            for level in Level::ALL {
                violated[level as usize] |= level.implied().iter().any(|&weaker| violated[weaker as usize]);
            }
        }
    }
}

/// The levels of one order of transactions.
pub(super) struct OfOrder {
    pub(super) pl_1: Level,
    pub(super) pl_2: Level,
    psi: Option<Level>,
    pub(super) si: Level,
    pub(super) ser: Level,
}

pub(super) fn of_order(order: Order) -> OfOrder {
    match order {
        Order::Plain => OfOrder {
            pl_1: Level::Pl1,
            pl_2: Level::Pl2,
            psi: Some(Level::ParallelSnapshotIsolation),
            si: Level::SnapshotIsolation,
            ser: Level::Serializable,
        },
        Order::Session => OfOrder {
            pl_1: Level::StrongSessionPl1,
            pl_2: Level::StrongSessionPl2,
            psi: Some(Level::StrongSessionParallelSnapshotIsolation),
            si: Level::StrongSessionSnapshotIsolation,
            ser: Level::StrongSessionSerializable,
        },
        Order::RealTime => OfOrder {
            pl_1: Level::StrongPl1,
            pl_2: Level::StrongPl2,
            psi: None,
            si: Level::StrongSnapshotIsolation,
            ser: Level::StrictSerializable,
        },
    }
}

/// Read-write edges a -> b with a way from b to a by dependencies.
fn closing(small: &Dependencies, order: Order, reach: &Reach<'_>, cancel: &Cancel) -> Vec<Closing> {
    let candidates: Vec<Closing> = small.read_writes(order).collect();
    let pairs: Pairs = candidates.iter().map(|edge| (edge.after, edge.reader)).collect();
    let answers = reach.asked(&pairs, cancel);
    let closed = candidates.into_iter().zip(answers).filter(|&(_, closes)| closes);
    let mut found: Vec<Closing> = closed.map(|(edge, _)| edge).collect();
    found.sort_unstable();
    found
}

/// Edges between transactions that write something.
#[must_use]
pub fn edges_of_updates(small: &Dependencies, lookup: &Lookup<'_>) -> (Edges, Vec<bool>) {
    let transactions = small.transactions.iter();
    let mut kept: Vec<bool> = transactions.map(|&transaction| lookup.writes_something(transaction)).collect();
    kept.resize(small.nodes(), true);
    let lists = [&small.ww, &small.wr].into_iter().map(Vec::as_slice).chain(small.believed(Order::Plain));
    let inside: Pairs = lists
        .flatten()
        .copied()
        .filter(|&(node, before)| kept[node as usize] && kept[before as usize])
        .collect();
    (Edges::collected(small.nodes(), &[&inside]), kept)
}

/// A cycle of some transaction together with all that write something.
fn updates(small: &Dependencies, lookup: &Lookup<'_>, cancel: &Cancel) -> Option<Updates> {
    let (edges, kept) = edges_of_updates(small, lookup);
    let reach = Reach::new(&edges, small.nodes());
    if let Some(group) = reach.components().cycles().next() {
        return Some(Updates::Writing(group.to_vec()));
    }
    let sources = Edges::collected(small.nodes(), &[&small.wr]);
    let only_reading = small.read_writes(Order::Plain).filter(|edge| !kept[edge.reader as usize]);
    let asked: Vec<(Closing, u32)> = only_reading
        .flat_map(|edge| sources.of(edge.reader).iter().map(move |&source| (edge, source)))
        .filter(|&(_, source)| kept[source as usize])
        .collect();
    first_reached(&reach, &asked, cancel).map(|(edge, source)| Updates::Reading(edge, source))
}

/// A read that misses something that an earlier operation of its transaction depends on.
fn monotonic_views(
    small: &Dependencies,
    lookup: &Lookup<'_>,
    closing: &[Closing],
    cancel: &Cancel,
) -> Option<(Closing, u32)> {
    let mut nodes = vec![ABSENT; lookup.history.transaction_count()];
    small.transactions.iter().zip(0..).for_each(|(&t, node)| nodes[t as usize] = node);
    let mut asked = Vec::new();
    for same in closing.chunk_by(|a, b| (a.reader, a.key) == (b.reader, b.key)) {
        let Closing { reader, key, .. } = same[0];
        let transaction = small.transactions[reader as usize];
        for (read, _, version) in lookup.observed(transaction).filter(|&(_, other, _)| other == key) {
            let before = lookup.entered_until(transaction, read);
            let entered: Vec<u32> =
                before.into_iter().map(|t| nodes[t as usize]).filter(|&node| node != ABSENT).collect();
            let overwrote = lookup.after(key, version, Order::Plain).map(|extra| extra.after);
            let writers = overwrote.map(|version| lookup.orders.writers[version as usize]);
            for after in writers.filter(|&t| t != transaction).map(|t| nodes[t as usize]) {
                let edge = Closing { reader, key, after };
                asked.extend(entered.iter().filter(|_| after != ABSENT).map(|&node| (edge, node)));
            }
        }
    }
    let dependencies = small.dependencies(Order::Plain);
    first_reached(&Reach::new(&dependencies, small.nodes()), &asked, cancel)
}

fn first_reached(reach: &Reach<'_>, asked: &[(Closing, u32)], cancel: &Cancel) -> Option<(Closing, u32)> {
    let pairs: Pairs = asked.iter().map(|(edge, node)| (edge.after, *node)).collect();
    let answers = reach.asked(&pairs, cancel);
    asked.iter().zip(answers).find(|&(_, reached)| reached).map(|(&found, _)| found)
}

impl Dependencies {
    /// Read-write edges that leave a transaction.
    pub fn read_writes(&self, order: Order) -> impl Iterator<Item = Closing> {
        let transactions = self.len() as u32;
        self.believed_with_keys(order).filter_map(move |((after, reader), key)| {
            (reader < transactions).then_some(Closing { reader, key, after })
        })
    }

    /// Dependencies, and the edges from junctions to the transactions that overwrote.
    #[must_use]
    pub fn dependencies(&self, order: Order) -> Edges {
        let rows = self.session_pairs(order >= Order::Session);
        let transactions = self.len() as u32;
        let junctions = self.believed(order).flatten().copied();
        let junctions: Pairs = junctions.filter(|&(_, before)| before >= transactions).collect();
        let mut lists: Vec<&[(u32, u32)]> = vec![&self.ww, &self.wr, &rows, &junctions];
        if order == Order::RealTime {
            lists.push(&self.real_time);
        }
        Edges::collected(self.nodes(), &lists)
    }

    /// The node of the begin of a transaction, or of a junction or instant, in a BC-graph.
    #[must_use]
    pub fn begin(&self, node: u32) -> u32 {
        if (node as usize) < self.len() { node } else { node + self.len() as u32 }
    }

    /// The node of the commit of a transaction, or of a junction or instant, in a BC-graph.
    #[must_use]
    pub fn commit(&self, node: u32) -> u32 {
        node + self.len() as u32
    }

    /// The BC-graph: for a prefix of the commit order writes need not wait for each other's begin.
    #[must_use]
    pub fn begins_and_commits(&self, order: Order, prefix: bool) -> (Edges, usize) {
        let nodes = self.nodes() + self.len();
        let mut pairs: Pairs = (0..self.len() as u32).map(|node| (self.commit(node), node)).collect();
        let waits = |&(node, before): &(u32, u32)| (self.begin(node), self.commit(before));
        let misses = |&(node, before): &(u32, u32)| (self.commit(node), self.begin(before));
        if prefix {
            pairs.extend(self.ww.iter().map(|&(node, before)| (self.commit(node), self.commit(before))));
        } else {
            pairs.extend(self.ww.iter().map(waits));
        }
        pairs.extend(self.wr.iter().map(waits));
        pairs.extend(self.session_pairs(order >= Order::Session).iter().map(waits));
        if order == Order::RealTime {
            pairs.extend(self.real_time.iter().map(waits));
        }
        pairs.extend(self.believed(order).flatten().map(misses));
        (Edges::collected(nodes, &[&pairs]), nodes)
    }
}
