//! Orders of versions that follow from what is known, because the opposite order closes a cycle.
//!
//! Pass by pass: a table says which nodes reach which. Of every two versions of a key, an order whose edges lead
//! back is impossible, and the other one is forced. A read that several versions explain did not show a version
//! that comes after it, nor one that another version hides. The passes end when nothing follows any more.

use super::forced_reasons::Reasons;
use super::level_problem::LevelProblem;
use super::order_search::Succession;
use super::{OpenPair, OpenRead};
use crate::cancel::Cancel;
use crate::graph::Edges;
use crate::observations::ABSENT;
use crate::solver::reach_table::ReachTable;
use crate::solver::{Budget, Problem, TimeLimit, starting_order};
use crate::versions::levels::Level;
use hashbrown::HashMap;

/// Of keys with many versions, each is only compared with so many that likely come next.
const MAX_COMPARED: usize = 256;
/// Reads of keys with more versions are not looked at.
const MAX_HIDING: usize = 1024;

/// So much of the memory may be used.
const SHARE: u64 = 4;

/// A version of an open key.
struct Version {
    number: u32,
    /// The transaction that wrote it.
    node: u32,
    /// Where an earlier version leads to, and where this one leads from.
    start: u32,
    end: u32,
    /// Nodes that surely read it.
    readers: Vec<u32>,
}

/// An edge that is forced.
#[derive(Clone, Copy)]
pub(super) struct Forced {
    pub(super) before: u32,
    pub(super) after: u32,
    /// The order that it is of; nothing if a read forces it.
    pub(super) order: Option<Succession>,
}

/// No order is left: of these versions there is none, or the forced edges close a cycle.
type Broken = Option<Succession>;

/// What follows from the known edges of a level.
pub(super) struct ForcedOrders<'p, 'c, 's, 'h> {
    level_problem: &'p LevelProblem<'c, 's, 'h>,
    base: &'p Problem,
    /// The versions of each open key.
    keys: Vec<Vec<Version>>,
    /// For each key, the places of two versions that are in no order yet.
    open: Vec<Vec<(u32, u32)>>,
    reads: Vec<OpenRead>,
    forced: Vec<Forced>,
    table: ReachTable,
    /// So many forced edges are in the table as it was filled.
    filled: usize,
}

/// What is known more.
#[derive(Default)]
pub(super) struct Consequences {
    /// Edges (before, after), and those that were known before; nothing if nothing was looked for.
    pub(super) edges: Vec<(u32, u32)>,
    /// Whether some of them were not known before.
    pub(super) has_orders: bool,
    /// Reads that several versions explain still.
    pub(super) reads: Vec<OpenRead>,
    /// Nodes of reads that only one version explains by now, by version.
    pub(super) readers: HashMap<u32, Vec<u32>>,
}

impl<'p, 'c, 's, 'h> ForcedOrders<'p, 'c, 's, 'h> {
    /// What follows until `is_over`, which is told how many edges were looked at; if no order is left, pairs of
    /// versions that leave none. Nothing if a table of so many bytes is too small. `places` follow the known edges.
    pub(super) fn find(
        level_problem: &'p LevelProblem<'c, 's, 'h>,
        base: &'p Problem,
        places: &[u32],
        max_bytes: u64,
        is_over: impl Fn(u64) -> bool,
    ) -> Option<Result<Consequences, Vec<OpenPair>>> {
        let mut orders = Self::new(level_problem, base, places, max_bytes)?;
        let mut is_new = true;
        let mut steps = 0;
        while is_new && !is_over(steps) {
            steps += (base.edges.len() + orders.forced.len()) as u64;
            match orders.pass() {
                Ok(found) => is_new = found,
                Err(broken) => return Some(Err(orders.blamed(broken))),
            }
        }
        Some(Ok(orders.consequences()))
    }

    fn new(
        level_problem: &'p LevelProblem<'c, 's, 'h>,
        base: &'p Problem,
        places: &[u32],
        max_bytes: u64,
    ) -> Option<Self> {
        let all = level_problem.all;
        let version = |&number: &u32| Version {
            number,
            node: all.node(number),
            start: level_problem.start(number),
            end: level_problem.end(number),
            readers: all.readers(number).to_vec(),
        };
        let mut keys: Vec<Vec<Version>> =
            all.open.iter().map(|open| open.versions.iter().map(version).collect()).collect();
        for versions in &mut keys {
            versions.sort_by_key(|version| places[version.end as usize]);
        }
        let mut sources: Vec<u32> = all.reads.iter().map(|read| read.node).collect();
        for version in keys.iter().flatten() {
            sources.extend([version.start, version.end]);
            sources.extend(&version.readers);
        }
        sources.sort_unstable();
        sources.dedup();
        if ReachTable::bytes(base.nodes, sources.len()) > max_bytes {
            return None;
        }
        let open = keys.iter().map(|versions| pairs_of(versions)).collect();
        let table = ReachTable::new(base.nodes, &sources);
        let (reads, forced) = (all.reads.clone(), Vec::new());
        Some(Self { level_problem, base, keys, open, reads, forced, table, filled: 0 })
    }

    /// Looks at all that is open once; whether something followed.
    fn pass(&mut self) -> Result<bool, Broken> {
        let pairs: Vec<(u32, u32)> =
            self.edges().into_iter().map(|(before, after)| (after, before)).collect();
        self.filled = self.forced.len();
        if !self.table.fill(&Edges::collected(self.base.nodes, &[&pairs])) {
            return Err(None);
        }
        let before = (self.forced.len(), self.explanations());
        self.force_reads()?;
        self.force_pairs()?;
        Ok(before != (self.forced.len(), self.explanations()))
    }

    /// All edges (before, after), as far as others do not imply them.
    fn edges(&self) -> Vec<(u32, u32)> {
        let known = if self.filled == 0 { &self.base.edges } else { self.table.needed() };
        let forced = self.forced[self.filled..].iter().map(|edge| (edge.before, edge.after));
        known.iter().copied().chain(forced).collect()
    }

    fn explanations(&self) -> usize {
        self.reads.iter().map(|read| read.versions.len()).sum()
    }

    /// Leaves out versions that reads did not show.
    fn force_reads(&mut self) -> Result<(), Broken> {
        if !self.level_problem.has_reads() {
            return Ok(());
        }
        let mut reads = std::mem::take(&mut self.reads);
        for read in &mut reads {
            if read.misses_nothing || self.keys[read.at].len() > MAX_HIDING {
                continue;
            }
            read.versions = self.possible(read);
            match read.versions[..] {
                [] => return Err(None),
                [only] => self.shows(read, only),
                _ => {}
            }
        }
        reads.retain(|read| read.versions.len() > 1);
        self.reads = reads;
        Ok(())
    }

    fn possible(&self, read: &OpenRead) -> Vec<u32> {
        let (versions, table) = (&self.keys[read.at], &self.table);
        let is_before = |other: &&Version| other.end != read.node && table.reaches(other.end, read.node);
        let hides_others = self.level_problem.has_missed_versions();
        let hiding: Vec<&Version> = versions.iter().filter(|_| hides_others).filter(is_before).collect();
        // Of two transactions that update one version, one update would be lost.
        let updates = self.level_problem.forbids_lost_updates() && self.writes(read.at, read.node);
        let is_possible = |number: u32| {
            let Some(version) = versions.iter().find(|version| version.number == number) else {
                return hiding.is_empty();
            };
            let is_hidden =
                |other: &&Version| other.end != version.end && table.reaches(version.end, other.end);
            let is_updated = |&other: &u32| other != read.node && self.writes(read.at, other);
            let is_refuted = table.reaches(read.node, version.end)
                || hiding.iter().any(is_hidden)
                || updates && version.readers.iter().any(is_updated);
            !is_refuted
        };
        read.versions.iter().copied().filter(|&number| is_possible(number)).collect()
    }

    /// Whether a node writes a key.
    fn writes(&self, at: usize, node: u32) -> bool {
        self.keys[at].iter().any(|version| version.node == node)
    }

    /// A read showed this version.
    fn shows(&mut self, read: &OpenRead, number: u32) {
        let has_edges = self.level_problem.has_edges_of_readers();
        let versions = &mut self.keys[read.at];
        let Some(version) = versions.iter_mut().find(|version| version.number == number) else {
            let others = versions.iter().filter(|version| has_edges && version.node != read.node);
            let later: Vec<u32> = others.map(|version| version.end).collect();
            for after in later {
                self.add(read.node, after, None);
            }
            return;
        };
        version.readers.push(read.node);
        let end = version.end;
        self.add(end, read.node, None);
        // Pairs that are in order have an edge more.
        self.open[read.at] = pairs_of(&self.keys[read.at]);
    }

    fn add(&mut self, before: u32, after: u32, order: Option<Succession>) {
        if before == after || !self.table.reaches(before, after) {
            self.table.add(before, after);
            self.forced.push(Forced { before, after, order });
        }
    }

    fn force_pairs(&mut self) -> Result<(), Broken> {
        for at in 0..self.keys.len() {
            let mut open = std::mem::take(&mut self.open[at]);
            let mut broken = None;
            open.retain(|&(one, other)| {
                let (one, other) = (one as usize, other as usize);
                match (self.is_possible(at, one, other), self.is_possible(at, other, one)) {
                    (true, true) => return true,
                    (true, false) => self.force(at, one, other),
                    (false, true) => self.force(at, other, one),
                    (false, false) => broken = Some(self.succession(at, one, other)),
                }
                false
            });
            self.open[at] = open;
            if broken.is_some() {
                return Err(broken);
            }
        }
        Ok(())
    }

    fn succession(&self, at: usize, before: usize, after: usize) -> Succession {
        let key = self.level_problem.all.open[at].key;
        Succession { key, before: self.keys[at][before].number, after: self.keys[at][after].number }
    }

    /// Whether no edge of this order leads back.
    fn is_possible(&self, at: usize, before: usize, after: usize) -> bool {
        let (before, after) = (&self.keys[at][before], &self.keys[at][after]);
        let mut readers = before.readers.iter().filter(|&&reader| reader != after.node);
        let has_edges = self.level_problem.has_edges_of_readers();
        let leads_back = self.table.reaches(after.start, before.end)
            || has_edges && readers.any(|&reader| self.table.reaches(after.end, reader));
        !leads_back
    }

    fn force(&mut self, at: usize, before: usize, after: usize) {
        let order = Some(self.succession(at, before, after));
        let Version { start, end, node, .. } = self.keys[at][after];
        self.add(self.keys[at][before].end, start, order);
        if !self.level_problem.has_edges_of_readers() {
            return;
        }
        for place in 0..self.keys[at][before].readers.len() {
            let reader = self.keys[at][before].readers[place];
            if reader != node {
                self.add(reader, end, order);
            }
        }
    }

    fn blamed(&self, broken: Broken) -> Vec<OpenPair> {
        Reasons::new(self.level_problem, self.base, &self.forced).blamed(broken)
    }

    fn consequences(self) -> Consequences {
        let edges = self.edges();
        let mut readers: HashMap<u32, Vec<u32>> = HashMap::new();
        for version in self.keys.into_iter().flatten() {
            let known = self.level_problem.all.readers(version.number).len();
            if version.readers.len() > known {
                readers.insert(version.number, version.readers[known..].to_vec());
            }
        }
        Consequences { edges, has_orders: !self.forced.is_empty(), reads: self.reads, readers }
    }
}

impl LevelProblem<'_, '_, '_> {
    /// Finds what follows from the known edges; fails with pairs of versions that leave no order.
    pub(super) fn force(&mut self, budget: Budget, cancel: &Cancel) -> Result<(), Vec<OpenPair>> {
        if self.supposes_reads() && !self.reads().is_empty() {
            return Ok(());
        }
        if self.is_too_large(budget) {
            let saturated = self.saturated();
            if !saturated.is_empty() {
                self.forced.has_orders = true;
                self.forced.edges = self.base().edges;
                self.forced.edges.extend(saturated);
            }
            return Ok(());
        }
        let base = self.base();
        let Some(places) = starting_order(base.nodes, &base.edges, |node| self.rank(node)) else {
            return Err(Vec::new());
        };
        let end = budget.time.map(|TimeLimit { clock, milliseconds }| clock().saturating_add(milliseconds));
        let is_late = || budget.time.zip(end).is_some_and(|(time, end)| (time.clock)() >= end);
        let is_over = |steps: u64| steps >= budget.steps || cancel.is_asked() || is_late();
        let found = ForcedOrders::find(self, &base, &places, budget.bytes / SHARE, is_over).transpose()?;
        self.forced = found.unwrap_or_else(|| std::mem::take(&mut self.forced));
        Ok(())
    }
}

impl LevelProblem<'_, '_, '_> {
    /// Whether a table of what reaches what takes too much memory.
    pub(super) fn is_too_large(&self, budget: Budget) -> bool {
        // Each writer has a column at least.
        let writers = self.all.open.iter().map(|open| open.versions.len()).sum::<usize>();
        ReachTable::bytes(self.nodes, writers.min(self.all.small.len()) / 2) > budget.bytes / SHARE
    }

    /// Edges that follow at serializability, as far as sessions show.
    fn saturated(&self) -> Vec<(u32, u32)> {
        if !matches!(self.level, Level::StrongSessionSerializable | Level::StrictSerializable) {
            return Vec::new();
        }
        let nodes = &self.all.nodes;
        let follows = self.all.guess.follows[self.level.order() as usize].iter();
        let edges = follows.map(|&(before, after)| (nodes[before as usize], nodes[after as usize]));
        edges.filter(|&(before, after)| before != ABSENT && after != ABSENT).collect()
    }
}

/// Pairs of versions of different transactions.
fn pairs_of(versions: &[Version]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (place, one) in versions.iter().enumerate() {
        let later = versions.iter().enumerate().skip(place + 1).take(MAX_COMPARED);
        let others = later.filter(|(_, other)| one.node != other.node);
        pairs.extend(others.map(|(other, _)| (place as u32, other as u32)));
    }
    pairs
}
