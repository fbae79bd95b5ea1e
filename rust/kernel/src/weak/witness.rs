//! Proofs: the shortest chains of transactions that show a conflict or a cycle, each step with its reason.

mod path_search;

use super::anomalies::{Conflict, WeakAnomaly};
use super::clocks::HappensBefore;
use super::dependencies::{Dependencies, Read};
use super::reader::{Reader, WeakLevel};
use crate::graph::Edges;
use crate::history::NO_KEY;
use crate::observations::{ABSENT, INITIAL};
use crate::relation::Relation;
use crate::versions::orders::Source;

pub use crate::versions::witness::Step;

/// An anomaly with its proof.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What it is called.
    pub name: WeakAnomaly,
    /// For a conflict (reader, older, newer), older may be [`INITIAL`]; nothing for a cycle.
    pub conflict: Option<(u32, u32, u32)>,
    /// The key of the conflict; [`NO_KEY`] for a cycle.
    pub key: u32,
    /// The read of the conflict; [`ABSENT`] for a cycle.
    pub read: u32,
    /// How older precedes newer, or the cycle.
    pub order: Vec<Step>,
    /// How newer came to the reader's sight.
    pub sight: Vec<Step>,
}

/// From how many transactions of a component the shortest cycle is looked for.
const TRIES: usize = 64;

/// Builds proofs.
pub struct Witnesses<'d, 'h> {
    dependencies: &'d Dependencies<'h>,
    happens_before: &'d HappensBefore,
    /// The demands of each level.
    demands: Vec<&'d Edges>,
    /// (source, reader) of each read, sorted.
    readers: Vec<(u32, u32)>,
}

/// Which edges a search may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    HappensBefore,
    SessionAndSuccession,
    Base,
    Commit(WeakLevel),
    /// Without sessions.
    Reads,
    Succession,
    ReadsAndSuccession,
}

type Link = (u32, Relation);

impl<'d, 'h> Witnesses<'d, 'h> {
    /// For the given demands of each level.
    #[must_use]
    pub fn new(
        dependencies: &'d Dependencies<'h>,
        happens_before: &'d HappensBefore,
        demands: Vec<&'d Edges>,
    ) -> Self {
        let mut readers = Vec::new();
        for node in 0..dependencies.len() as u32 {
            let sources = dependencies.reads(node).map(|read| read.source);
            readers.extend(sources.filter(|&source| source < INITIAL).map(|source| (source, node)));
        }
        readers.sort_unstable();
        readers.dedup();
        Self { dependencies, happens_before, demands, readers }
    }

    /// The proof of a conflict.
    #[must_use]
    pub fn of_conflict(&self, conflict: &Conflict) -> Finding {
        let &Conflict { name, class, reader, key, older, newer } = conflict;
        let view = Reader::new(self.dependencies, reader);
        let along = match name {
            WeakAnomaly::NonMonotonicReadCo | WeakAnomaly::FracturedReadCo | WeakAnomaly::CausalConflict => {
                Order::HappensBefore
            }
            _ => Order::Commit(class),
        };
        let order = |known: &[Step]| match older {
            INITIAL => Vec::new(),
            _ => self.path(older, newer, along, &self.nodes_of(known)),
        };
        // Each of the two chains takes the way over transactions that the other one needs anyhow.
        let (read, sight) = self.sight(&view, class, (key, older, newer), &self.nodes_of(&order(&[])));
        let order = order(&sight);
        let transaction = |node: u32| {
            if node < INITIAL { self.dependencies.transactions[node as usize] } else { node }
        };
        let conflict = (transaction(reader), transaction(older), transaction(newer));
        Finding { name, conflict: Some(conflict), key, read: read.operation, order, sight }
    }

    /// How `newer` came to the sight of the reader of `key`, and the read that misses it.
    fn sight(
        &self,
        view: &Reader<'_, '_>,
        class: WeakLevel,
        (key, older, newer): (u32, u32, u32),
        known: &[u32],
    ) -> (Read, Vec<Step>) {
        if let Some((first, last)) =
            view.non_monotonic(key, older, newer).filter(|_| class == WeakLevel::ReadCommitted)
        {
            return (last, vec![self.write_read(newer, view.node, first)]);
        }
        let read = view.first_read(key, older);
        if view.follows(newer) {
            return (read, vec![self.step(newer, view.node, Relation::Session)]);
        }
        if let Some(first) = view.first_observation(newer) {
            return (read, vec![self.write_read(newer, view.node, first)]);
        }
        (read, self.path(newer, view.node, Order::HappensBefore, known))
    }

    /// The proof of a cycle inside the component `group`: one without sessions if there is such a cycle.
    #[must_use]
    pub fn of_cycle(&self, name: WeakAnomaly, group: &[u32]) -> Finding {
        let orders = match name {
            WeakAnomaly::WriteCycle => [Order::Succession, Order::SessionAndSuccession],
            WeakAnomaly::CircularInformationFlow => [Order::ReadsAndSuccession, Order::Base],
            _ => [Order::Reads, Order::HappensBefore],
        };
        let mut members: Vec<u32> =
            group.iter().copied().filter(|&node| (node as usize) < self.dependencies.len()).collect();
        members.sort_unstable_by_key(|&node| self.dependencies.transactions[node as usize]);
        let cycles = orders.into_iter().map(|order| (order, self.shortest_cycle(&members, order)));
        let found = cycles.into_iter().find(|(_, cycle)| !cycle.is_empty());
        let order = found.map_or_else(Vec::new, |(order, cycle)| self.steps(&cycle, order, &[]));
        Finding { name, conflict: None, key: NO_KEY, read: ABSENT, order, sight: Vec::new() }
    }

    fn shortest_cycle(&self, members: &[u32], order: Order) -> Vec<(u32, Link)> {
        let mut shortest: Vec<(u32, Link)> = Vec::new();
        for &node in members.iter().take(TRIES) {
            let cycle = self.links(node, node, order, &[]);
            if shortest.is_empty() || (!cycle.is_empty() && cycle.len() < shortest.len()) {
                shortest = cycle;
            }
            if shortest.len() == 2 {
                break;
            }
        }
        shortest
    }

    fn path(&self, from: u32, to: u32, order: Order, known: &[u32]) -> Vec<Step> {
        self.steps(&self.links(from, to, order, known), order, known)
    }

    /// The nodes that take part in steps: at their ends, or as the readers that show them.
    fn nodes_of(&self, steps: &[Step]) -> Vec<u32> {
        let history = self.dependencies.history;
        let owner = |&operation: &u32| {
            let after = history.operation_offsets.partition_point(|&offset| offset <= operation);
            after.checked_sub(1).map(|transaction| transaction as u32)
        };
        let transactions = steps.iter().flat_map(|step| {
            let owners = step.operations.iter().filter_map(owner);
            [step.before, step.after].into_iter().chain(owners)
        });
        let nodes = transactions.filter_map(|number| self.dependencies.nodes.get(number as usize).copied());
        nodes.filter(|&node| node != ABSENT).collect()
    }

    /// The cheapest way from `from` to `to`: each node with the way on from it.
    fn links(&self, from: u32, to: u32, order: Order, known: &[u32]) -> Vec<(u32, Link)> {
        let mut search = path_search::Search::new(self, order, to, known);
        search.run(from);
        let mut links = Vec::new();
        let mut node = from;
        while let Some(link) = search.next[node as usize] {
            links.push((node, link));
            node = link.0;
            if node == to {
                break;
            }
        }
        links
    }

    fn steps(&self, links: &[(u32, Link)], order: Order, known: &[u32]) -> Vec<Step> {
        let mut steps = Vec::new();
        for &(before, (after, relation)) in links {
            match (relation, order) {
                (Relation::CommitOrder, Order::Commit(class)) => {
                    self.demand(before, after, class, known, &mut steps);
                }
                (Relation::WriteWrite, _) => steps.push(self.succession(before, after, known)),
                _ => steps.push(self.step(before, after, relation)),
            }
        }
        steps
    }

    fn step(&self, before: u32, after: u32, relation: Relation) -> Step {
        match relation {
            Relation::WriteRead => {
                let read = self.dependencies.reads(after).find(|&read| {
                    read.source == before || self.dependencies.seen(read).any(|writer| writer == before)
                });
                read.map_or_else(
                    || self.plain(before, after, relation, NO_KEY, Vec::new()),
                    |read| self.write_read(before, after, read),
                )
            }
            _ => self.plain(before, after, relation, NO_KEY, Vec::new()),
        }
    }

    fn plain(&self, before: u32, after: u32, relation: Relation, key: u32, operations: Vec<u32>) -> Step {
        let transactions = &self.dependencies.transactions;
        let (before, after) = (transactions[before as usize], transactions[after as usize]);
        Step { before, after, relation, key, operations, source: Source::Nothing }
    }

    fn write_read(&self, before: u32, after: u32, read: Read) -> Step {
        let write = self.write_seen(before, read);
        self.plain(before, after, Relation::WriteRead, read.key, vec![read.operation, write])
    }

    /// The write of `writer` that a read saw: the one with its value, or an element of its list.
    fn write_seen(&self, writer: u32, read: Read) -> u32 {
        let history = self.dependencies.history;
        let value = history.operations.values[read.operation as usize];
        let single = [value];
        let shown = history.values.as_list(value).unwrap_or(&single);
        let installs = self.installs(writer, read.key);
        let seen =
            installs.iter().rev().find(|&&write| shown.contains(&history.operations.values[write as usize]));
        *seen.or(installs.last()).unwrap_or(&ABSENT)
    }

    /// Operations of `writer` that install `key`.
    fn installs(&self, writer: u32, key: u32) -> Vec<u32> {
        let history = self.dependencies.history;
        let transaction = self.dependencies.transactions[writer as usize];
        let writes = |&operation: &usize| {
            history.operations.kinds[operation].installs() && history.operations.keys[operation] == key
        };
        history.operations_of(transaction as usize).filter(writes).map(|operation| operation as u32).collect()
    }

    /// Two appends to a list, and the read that shows their order; or two versions in a recorded order.
    fn succession(&self, before: u32, after: u32, known: &[u32]) -> Step {
        let transactions = &self.dependencies.transactions;
        let (first, second) = (transactions[before as usize], transactions[after as usize]);
        let common =
            self.dependencies.writes(before).iter().filter(|&&key| self.dependencies.writes_key(after, key));
        let succeeds = |&key: &u32| self.dependencies.observations.succeeds(key, first, second);
        // A key is best if a transaction of the proof shows its order.
        let shows = |key: u32, node: u32| {
            let mut reads = self.dependencies.reads(node).filter(|read| read.key == key);
            reads.any(|read| self.dependencies.seen(read).any(|writer| writer == after))
        };
        let key = common
            .copied()
            .filter(succeeds)
            .min_by_key(|&key| !known.iter().chain(&[before, after]).any(|&node| shows(key, node)));
        let Some(key) = key.filter(|_| !self.dependencies.recorded.without_lists) else {
            let step = self.plain(before, after, Relation::WriteWrite, NO_KEY, Vec::new());
            let recorded = self.dependencies.recorded.between(first, second);
            return recorded.map_or(step.clone(), |pair| Step {
                key: pair.key,
                operations: pair.operations.to_vec(),
                source: pair.source,
                ..step
            });
        };
        let read = self.dependencies.observations.canonical_read(key);
        let last = |node: u32| self.installs(node, key).last().copied().unwrap_or(ABSENT);
        self.plain(before, after, Relation::WriteWrite, key, vec![read, last(before), last(after)])
    }

    /// A demand of the commit order, after the steps that brought `before` to the sight of its reader.
    fn demand(&self, before: u32, after: u32, class: WeakLevel, known: &[u32], steps: &mut Vec<Step>) {
        let Some((class, reader, key)) = self.reason(before, after, class) else {
            return steps.push(self.plain(before, after, Relation::CommitOrder, NO_KEY, Vec::new()));
        };
        let view = Reader::new(self.dependencies, reader);
        let (read, sight) = self.sight(&view, class, (key, after, before), known);
        steps.extend(sight);
        let newer = self.installs(before, key).last().copied().unwrap_or(ABSENT);
        let operations = vec![read.operation, self.write_seen(after, read), newer];
        steps.push(self.plain(before, after, Relation::CommitOrder, key, operations));
    }

    /// The reader of a key from `after` although `before` was in its sight, by the weakest level.
    fn reason(&self, before: u32, after: u32, class: WeakLevel) -> Option<(WeakLevel, u32, u32)> {
        let first = self.readers.partition_point(|&(source, _)| source < after);
        let readers = self.readers[first..].iter().take_while(|&&(source, _)| source == after);
        let mut best: Option<(WeakLevel, u32, u32)> = None;
        for &(_, reader) in readers {
            let view = Reader::new(self.dependencies, reader);
            let keys = view.sources.iter().filter(|&&(_, source)| source == after).map(|&(key, _)| key);
            for key in keys.filter(|&key| self.dependencies.writes_key(before, key)) {
                let found = view.class(key, after, before).filter(|&found| found <= class);
                let better = |found: &WeakLevel| best.is_none_or(|(known, ..)| *found < known);
                let sees =
                    |found: &WeakLevel| *found < WeakLevel::Causal || self.happens_before(before, reader);
                if let Some(found) = found.filter(better).filter(sees) {
                    best = Some((found, reader, key));
                }
            }
        }
        best
    }

    fn happens_before(&self, before: u32, after: u32) -> bool {
        if self.happens_before.counts(self.dependencies.rows[before as usize]) {
            return self.happens_before.holds(self.dependencies, before, after);
        }
        !self.links(before, after, Order::HappensBefore, &[]).is_empty()
    }

    /// A conflict on some cycle of the commit order inside `group`, where there are too many to name all.
    #[must_use]
    pub fn any_conflict(&self, group: &[u32], class: WeakLevel) -> Option<Conflict> {
        let start = group.iter().copied().find(|&node| (node as usize) < self.dependencies.len())?;
        let cycle = self.links(start, start, Order::Commit(class), &[]);
        let demands = cycle.into_iter().filter(|&(_, (_, relation))| relation == Relation::CommitOrder);
        demands.map(|(newer, (older, _))| (newer, older)).find_map(|(newer, older)| {
            let (class, reader, key) = self.reason(newer, older, class)?;
            let name = WeakAnomaly::ALL[class as usize * 2 + 1];
            Some(Conflict { name, class, reader, key, older, newer })
        })
    }
}
