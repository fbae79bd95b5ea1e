//! A guess at the order of all transactions: they run one by one, each when its reads show what is current.
//!
//! A transaction can run when all that are known to come before it have, and when every version that it
//! overwrites has been read by all that read it. Of those that can, the one that likely came first does: by
//! real time, otherwise by its place in the file; where that is session after session, by timestamps or numbers if they
//! tell an order, otherwise by its place in the session. When none can, one that does the least harm runs anyway. Cost:
//! near linear, whatever the order of the file.

use super::dependencies::{Dependencies, Order, Pairs, Parts};
use super::likely_order::likely_places;
use super::lookup::Lookup;
use super::open_reads::PossibleVersions;
use super::saturation::Saturation;
use super::version_readers::Readers;
use crate::graph::Edges;
use crate::observations::ABSENT;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// So many are compared when none can run.
const COMPARED: usize = 32;

/// Nodes by how likely they come first.
type Queue = BinaryHeap<Reverse<(u32, u32)>>;

/// A place for each transaction of the history, as replayed.
#[must_use]
pub fn replayed_order(
    all: &Dependencies,
    lookup: &Lookup<'_>,
    order: Order,
    open_reads: &[PossibleVersions],
    saturation: Option<&Saturation>,
) -> Vec<u32> {
    let mut replay = Replay::new(all, lookup, order, open_reads, saturation);
    replay.run();
    replay.ranks
}

struct Replay<'r, 'h> {
    all: &'r Dependencies,
    lookup: &'r Lookup<'h>,
    readers: Readers,
    after: Edges,
    /// How many that come before each node have not run.
    waiting: Vec<u32>,
    hints: Vec<u32>,
    /// Whether each key is a register without a whole order.
    is_open: Vec<bool>,
    is_done: Vec<bool>,
    /// The version of each key that is current.
    current: Vec<u32>,
    /// How many nodes that read each version have not run.
    unread: Vec<u32>,
    /// Nodes that wait until a version of this key has been read.
    parked: Vec<Queue>,
    ready: Queue,
    /// Reads that several versions explain.
    open_reads: &'r [PossibleVersions],
    /// Those of each node, and those that each version explains, by their places.
    of_node: HashMap<u32, Vec<u32>>,
    of_version: HashMap<u32, Vec<u32>>,
    /// How many of the versions that explain each of them have not been overwritten.
    left: Vec<u32>,
    is_overwritten: Vec<bool>,
    /// Every node that has waited for a key.
    stuck: Queue,
    ranks: Vec<u32>,
    next: u32,
}

impl<'r, 'h> Replay<'r, 'h> {
    fn new(
        all: &'r Dependencies,
        lookup: &'r Lookup<'h>,
        order: Order,
        open_reads: &'r [PossibleVersions],
        saturation: Option<&Saturation>,
    ) -> Self {
        let nodes = all.nodes();
        let orders = lookup.orders;
        let readers = Readers::new(lookup.history, orders, &all.transactions);
        let mut known: Pairs = all.graph(Parts { wr: true, rw: true, order }).pairs().collect();
        let mut likely = likely_places(all, lookup);
        if let Some(saturation) = saturation {
            known.extend(&saturation.edges);
            likely = saturation.places(&likely);
        }
        let edges = Edges::collected(nodes, &[&known]);
        let waiting = (0..nodes as u32).map(|node| edges.of(node).len() as u32).collect();
        let forward: Pairs = edges.pairs().map(|(node, before)| (before, node)).collect();
        let once = |version: u32| readers.of(version).chunk_by(|one, other| one == other).count() as u32;
        let mut unread: Vec<u32> = (0..orders.writers.len() as u32).map(once).collect();
        let (mut of_node, mut of_version) = (HashMap::new(), HashMap::new());
        for (open, place) in open_reads.iter().zip(0..) {
            of_node.entry(open.node).or_insert_with(Vec::new).push(place);
            for &version in &open.versions {
                of_version.entry(version).or_insert_with(Vec::new).push(place);
            }
            if let [only] = open.versions[..] {
                unread[only as usize] += 1;
            }
        }
        Self {
            all,
            lookup,
            after: Edges::collected(nodes, &[&forward]),
            waiting,
            hints: likely,
            is_open: orders.keys.iter().map(|order| orders.is_open_register(order)).collect(),
            is_done: vec![false; nodes],
            current: orders.keys.iter().map(|order| order.start).collect(),
            unread,
            readers,
            parked: vec![Queue::new(); orders.keys.len()],
            ready: Queue::new(),
            left: open_reads.iter().map(|open| open.versions.len() as u32).collect(),
            open_reads,
            of_node,
            of_version,
            is_overwritten: vec![false; orders.writers.len()],
            stuck: Queue::new(),
            ranks: vec![0; lookup.history.transaction_count()],
            next: 0,
        }
    }

    fn run(&mut self) {
        let nodes = self.all.nodes() as u32;
        for node in (0..nodes).filter(|&node| self.waiting[node as usize] == 0).collect::<Vec<u32>>() {
            self.enter(node);
        }
        let mut later: Vec<u32> = (0..nodes).collect();
        later.sort_unstable_by_key(|&node| Reverse((self.hint(node), node)));
        loop {
            if let Some(Reverse((_, node))) = self.ready.pop() {
                self.consider(node);
            } else if let Some(node) = self.least_harm() {
                self.go(node);
            } else {
                // A cycle of what is known: the first of it breaks it.
                match later.pop() {
                    Some(node) if self.is_done[node as usize] => {}
                    Some(node) => self.go(node),
                    None => return,
                }
            }
        }
    }

    /// Junctions and instants are no events: they come as soon as they can.
    fn hint(&self, node: u32) -> u32 {
        self.hints.get(node as usize).map_or(0, |hint| hint + 1)
    }

    fn enter(&mut self, node: u32) {
        self.ready.push(Reverse((self.hint(node), node)));
    }

    fn consider(&mut self, node: u32) {
        if self.is_done[node as usize] {
            return;
        }
        let entry = Reverse((self.hint(node), node));
        if self.is_unmet(node) {
            self.stuck.push(entry);
            return;
        }
        let Some(blocked) = self.blocked(node) else { return self.go(node) };
        self.parked[blocked as usize].push(entry);
        self.stuck.push(entry);
        // It may have been let in for another key, which the next that waits there may have.
        for key in self.written(node) {
            if key != blocked && self.unread[self.current[key as usize] as usize] == 0 {
                self.let_in(key);
            }
        }
    }

    fn open_reads_of(&self, node: u32) -> impl Iterator<Item = (u32, &'r PossibleVersions)> {
        let places = self.of_node.get(&node).map_or(&[][..], Vec::as_slice);
        places.iter().map(|&place| (place, &self.open_reads[place as usize]))
    }

    /// Whether a read of a node shows another value now.
    fn is_unmet(&self, node: u32) -> bool {
        self.open_reads_of(node).any(|(_, open)| !open.versions.contains(&self.current[open.key as usize]))
    }

    /// The only version that can still explain a read.
    fn last_explanation(&self, place: u32) -> Option<u32> {
        let versions = self.open_reads[place as usize].versions.iter().copied();
        let mut left = versions.filter(|&version| !self.is_overwritten[version as usize]);
        left.next().filter(|_| self.left[place as usize] == 1)
    }

    /// Open registers that a node writes.
    fn written(&self, node: u32) -> Vec<u32> {
        let Some(&transaction) = self.all.transactions.get(node as usize) else { return Vec::new() };
        let installed = self.lookup.installed(transaction).map(|(_, key, _)| key);
        installed.filter(|&key| self.is_open[key as usize]).collect()
    }

    /// How many reads of a node need a version.
    fn needs(&self, node: u32, version: u32) -> u32 {
        let open =
            self.open_reads_of(node).filter(|&(place, _)| self.last_explanation(place) == Some(version));
        u32::from(self.readers.of(version).binary_search(&node).is_ok()) + open.count() as u32
    }

    /// A key whose current version others have still to read.
    fn blocked(&self, node: u32) -> Option<u32> {
        self.written(node).into_iter().find(|&key| {
            let current = self.current[key as usize];
            let unread = self.unread[current as usize];
            unread > 0 && unread > self.needs(node, current)
        })
    }

    /// Lets the likeliest of those that wait for a key try.
    fn let_in(&mut self, key: u32) {
        while let Some(Reverse((_, node))) = self.parked[key as usize].pop() {
            if !self.is_done[node as usize] {
                self.enter(node);
                return;
            }
        }
    }

    fn go(&mut self, node: u32) {
        self.is_done[node as usize] = true;
        if let Some(&transaction) = self.all.transactions.get(node as usize) {
            self.ranks[transaction as usize] = self.next;
            self.next += 1;
            self.read(node, transaction);
            self.write(transaction);
        }
        for place in 0..self.after.of(node).len() {
            let other = self.after.of(node)[place];
            let left = &mut self.waiting[other as usize];
            *left = left.saturating_sub(1);
            if *left == 0 && !self.is_done[other as usize] {
                self.enter(other);
            }
        }
    }

    fn read(&mut self, node: u32, transaction: u32) {
        let lookup = self.lookup;
        let mut seen: Vec<(u32, u32)> =
            lookup.observed(transaction).map(|(_, key, version)| (version, key)).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.retain(|&(version, _)| version != ABSENT);
        let open = self.open_reads_of(node);
        let last: Vec<(u32, u32)> =
            open.filter_map(|(place, open)| Some((self.last_explanation(place)?, open.key))).collect();
        for (version, key) in seen.into_iter().chain(last) {
            let left = &mut self.unread[version as usize];
            *left = left.saturating_sub(1);
            if self.current[key as usize] != version {
                continue;
            }
            match self.unread[version as usize] {
                0 => self.let_in(key),
                // The last that reads it may be one that overwrites it.
                1 => {
                    let last = self.last_reader(version, node);
                    if let Some(last) = last.filter(|&last| self.waiting[last as usize] == 0) {
                        self.enter(last);
                    }
                }
                _ => {}
            }
        }
    }

    /// A node other than `node` that has still to read a version.
    fn last_reader(&self, version: u32, node: u32) -> Option<u32> {
        let is_open = |&other: &u32| other != node && !self.is_done[other as usize];
        let open = self.of_version.get(&version).map_or(&[][..], Vec::as_slice).iter();
        let open = open.filter(|&&place| self.last_explanation(place) == Some(version));
        let open = open.map(|&place| self.open_reads[place as usize].node);
        self.readers.of(version).iter().copied().find(is_open).or_else(|| open.into_iter().find(is_open))
    }

    fn write(&mut self, transaction: u32) {
        let lookup = self.lookup;
        for (_, key, version) in lookup.installed(transaction) {
            let overwritten = std::mem::replace(&mut self.current[key as usize], version);
            self.overwrite(overwritten);
            // Those that waited for this value come before another overwrites it.
            for place in 0..self.of_version.get(&version).map_or(0, Vec::len) {
                let node = self.open_reads[self.of_version[&version][place] as usize].node;
                if self.waiting[node as usize] == 0 && !self.is_done[node as usize] {
                    self.ready.push(Reverse((0, node)));
                }
            }
            if self.unread[version as usize] == 0 {
                self.let_in(key);
            }
        }
    }

    /// The version explains no further read; a read with one explanation left needs that.
    fn overwrite(&mut self, version: u32) {
        if std::mem::replace(&mut self.is_overwritten[version as usize], true) {
            return;
        }
        for at in 0..self.of_version.get(&version).map_or(0, Vec::len) {
            let place = self.of_version[&version][at];
            let left = &mut self.left[place as usize];
            *left = left.saturating_sub(1);
            if self.is_done[self.open_reads[place as usize].node as usize] {
                continue;
            }
            if let Some(last) = self.last_explanation(place) {
                self.unread[last as usize] += 1;
            }
        }
    }

    /// One of those that wait for a key: if possible one that all who have still to read can let pass, because
    /// they could begin now.
    fn least_harm(&mut self) -> Option<u32> {
        let mut compared = Vec::new();
        let mut found = None;
        while compared.len() < COMPARED
            && let Some(entry) = self.stuck.pop()
        {
            let Reverse((_, node)) = entry;
            if self.is_done[node as usize] || compared.contains(&entry) {
                continue;
            }
            if self.is_harmless(node) {
                found = Some(node);
                break;
            }
            compared.push(entry);
        }
        let first = compared.first().map(|&Reverse((_, node))| node);
        self.stuck.extend(compared);
        found.or(first)
    }

    fn is_harmless(&self, node: u32) -> bool {
        self.written(node).into_iter().all(|key| {
            let readers = self.readers.of(self.current[key as usize]).iter();
            let mut open = readers.filter(|&&other| other != node && !self.is_done[other as usize]);
            open.all(|&other| self.waiting[other as usize] == 0)
        })
    }
}
