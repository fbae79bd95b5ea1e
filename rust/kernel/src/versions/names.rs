//! What the cycles are called, how many there are of each, and the first of them with their proofs.

use super::dependencies::{Dependencies, Order, Pairs, components};
use super::levels::{Closing, Cycles, Level, Updates};
use super::lookup::Lookup;
use super::lost::Lost;
use super::orders::Source;
use super::witness::{ANY, Paths, Relation, Step, Witnesses};
use crate::graph::{Components, Edges};
use crate::observations::{INITIAL, NOBODY};
use hashbrown::{HashMap, HashSet};

/// The anomalies, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Name {
    WriteCycle,
    WriteCycleSession,
    WriteCycleRealTime,
    CircularInformationFlow,
    CircularInformationFlowSession,
    CircularInformationFlowRealTime,
    LostUpdate,
    ReadSkew,
    ReadSkewSession,
    ReadSkewRealTime,
    LongFork,
    LongForkSession,
    LongForkRealTime,
    WriteSkew,
    WriteSkewSession,
    WriteSkewRealTime,
    DirtyUpdate,
    CyclicVersions,
    ContradictoryEvidence,
    NoCommitOrder,
    PredicateReadMiss,
}

/// How many names there are.
pub const NAMES: usize = 21;

const WRITE_CYCLES: [Name; 3] = [Name::WriteCycle, Name::WriteCycleSession, Name::WriteCycleRealTime];
const FLOWS: [Name; 3] = [
    Name::CircularInformationFlow,
    Name::CircularInformationFlowSession,
    Name::CircularInformationFlowRealTime,
];
const READ_SKEWS: [Name; 3] = [Name::ReadSkew, Name::ReadSkewSession, Name::ReadSkewRealTime];
const LONG_FORKS: [Name; 3] = [Name::LongFork, Name::LongForkSession, Name::LongForkRealTime];
const WRITE_SKEWS: [Name; 3] = [Name::WriteSkew, Name::WriteSkewSession, Name::WriteSkewRealTime];

/// An anomaly with its proof.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What it is called.
    pub name: Name,
    /// The cycle.
    pub steps: Vec<Step>,
    /// What follows from each order that two versions may have, where both lead in a circle.
    pub alternatives: Vec<Vec<Step>>,
    /// The level, for [`Name::NoCommitOrder`].
    pub level: u8,
}

/// Counts by name, and the first findings of each.
#[derive(Debug)]
pub struct Named {
    /// By the number of the name.
    pub counts: [u64; NAMES],
    /// In the order of names.
    pub findings: Vec<Finding>,
}

/// Cycles are looked for from so many nodes or edges of a component.
const TRIES: usize = 64;

/// Names all cycles.
#[must_use]
pub fn name(small: &Dependencies, lookup: &Lookup<'_>, cycles: &Cycles, most: usize) -> Named {
    let mut naming = Naming {
        witnesses: Witnesses { small, lookup },
        cycles,
        most,
        named: Named { counts: [0; NAMES], findings: Vec::new() },
        paths: Paths::new(small.nodes() + small.len()),
    };
    naming.lost_updates();
    let mut before: [Option<Shapes>; 3] = Default::default();
    for order in Order::ALL {
        if order == Order::RealTime && small.real_time.is_empty() {
            break;
        }
        naming.write_cycles(order);
        naming.flows(order);
        naming.read_skews(order);
        let left = Left::new(small, cycles, order);
        naming.long_forks(order, &left, &mut before[0]);
        naming.write_skews(order, &left, &mut before[1]);
    }
    naming.named.findings.sort_by_key(|finding| finding.name);
    naming.named
}

/// The shortest proof that is what it is called, else the shortest.
fn best(name: Name, proofs: impl IntoIterator<Item = Vec<Step>>) -> Vec<Step> {
    let proofs = proofs.into_iter().filter(|steps| !steps.is_empty());
    proofs.min_by_key(|steps| (classify(steps) != name, steps.len())).unwrap_or_default()
}

/// Node sets of components.
type Shapes = HashSet<Vec<u32>>;

fn shapes(components: &Components, transactions: usize) -> Vec<Vec<u32>> {
    let groups = components.cycles().map(|group| {
        let mut nodes: Vec<u32> =
            group.iter().copied().filter(|&node| (node as usize) < transactions).collect();
        nodes.sort_unstable();
        nodes
    });
    let mut found: Vec<Vec<u32>> = groups.filter(|nodes| nodes.len() > 1).collect();
    found.sort_unstable();
    found
}

/// The edges that are left when write cycles, circular flows, lost updates and read skews are set aside.
struct Left {
    dependencies: Pairs,
    read_writes: Pairs,
}

impl Left {
    fn new(small: &Dependencies, cycles: &Cycles, order: Order) -> Self {
        let flows = &cycles.flows[order as usize];
        let cyclic = flows.on_cycle();
        let is_on_flow = |node: u32, before: u32| {
            cyclic[node as usize] && flows.of[node as usize] == flows.of[before as usize]
        };
        let rows = small.session_pairs(order >= Order::Session);
        let mut lists: Vec<&[(u32, u32)]> = vec![&small.ww, &small.wr, &rows];
        if order == Order::RealTime {
            lists.push(&small.real_time);
        }
        let dependencies = lists
            .into_iter()
            .flatten()
            .copied()
            .filter(|&(node, before)| !is_on_flow(node, before))
            .collect();
        let closing: HashSet<(u32, u32)> =
            cycles.closing[order as usize].iter().map(|closing| (closing.after, closing.reader)).collect();
        let lost: HashSet<(u32, u32)> = cycles.lost.iter().map(|lost| (lost.transaction, lost.key)).collect();
        let of_lost = |reader: u32, key: u32| {
            let transaction = small.transactions.get(reader as usize);
            transaction.is_some_and(|&transaction| lost.contains(&(transaction, key)))
        };
        let read_writes = small
            .believed_with_keys(order)
            .filter(|&(pair, key)| !closing.contains(&pair) && !of_lost(pair.1, key))
            .map(|(pair, _)| pair)
            .collect();
        Self { dependencies, read_writes }
    }
}

struct Naming<'s, 'h> {
    witnesses: Witnesses<'s, 'h>,
    cycles: &'s Cycles,
    most: usize,
    named: Named,
    paths: Paths,
}

impl Naming<'_, '_> {
    fn small(&self) -> &Dependencies {
        self.witnesses.small
    }

    /// Counts one more; whether it is to be shown.
    fn count(&mut self, name: Name) -> bool {
        let count = &mut self.named.counts[name as usize];
        *count += 1;
        *count <= self.most as u64
    }

    fn show(&mut self, name: Name, steps: Vec<Step>) {
        debug_assert!(!steps.is_empty(), "{name:?} without a proof");
        self.named.findings.push(Finding { name, steps, alternatives: Vec::new(), level: 0 });
    }

    fn lost_updates(&mut self) {
        for &lost in &self.cycles.lost {
            if self.count(Name::LostUpdate) {
                let steps = self.of_lost(lost);
                self.show(Name::LostUpdate, steps);
            }
        }
    }

    fn of_lost(&self, lost: Lost) -> Vec<Step> {
        let lookup = self.witnesses.lookup;
        let orders = lookup.orders;
        let other = orders.writers[lost.between as usize];
        let version = orders.observed[lost.read as usize];
        let source = self.source_between(lost.key, version, lost.between);
        let missed = Step {
            before: lost.transaction,
            after: other,
            relation: Relation::ReadWrite,
            key: lost.key,
            operations: vec![
                lost.read,
                orders.operations[lost.between as usize],
                orders.operations[version as usize],
            ],
            source,
        };
        let back = if lost.is_mutual { self.mutual(lost, other) } else { self.overwrote(lost, other) };
        vec![missed, back]
    }

    /// The other read the same version.
    fn mutual(&self, lost: Lost, other: u32) -> Step {
        let lookup = self.witnesses.lookup;
        let version = lookup.orders.observed[lost.read as usize];
        let reads = lookup.reads_of(other, lost.key);
        let read = reads.into_iter().find(|&read| lookup.orders.observed[read as usize] == version);
        let own = lookup.first_version(lost.transaction, lost.key);
        let write = own.map_or(NOBODY, |own| lookup.orders.operations[own as usize]);
        let operations = vec![read.unwrap_or(lost.read), write, lookup.orders.operations[version as usize]];
        let (before, after) = (other, lost.transaction);
        let source = own.map_or(Source::Nothing, |own| self.source_between(lost.key, version, own));
        Step { before, after, relation: Relation::ReadWrite, key: lost.key, operations, source }
    }

    /// Who says that one version comes somewhere after another.
    fn source_between(&self, key: u32, before: u32, after: u32) -> Source {
        let lookup = self.witnesses.lookup;
        if lookup.orders.writers[before as usize] == INITIAL {
            return Source::Initial;
        }
        let direct = lookup.after(key, before, Order::Plain).find(|extra| extra.after == after);
        direct.map_or(lookup.order(key).source, |extra| extra.source)
    }

    /// The own version came after that of the other.
    fn overwrote(&self, lost: Lost, other: u32) -> Step {
        let lookup = self.witnesses.lookup;
        let orders = lookup.orders;
        let own = lookup.first_version(lost.transaction, lost.key).unwrap_or(lost.between);
        let source = self.source_between(lost.key, lost.between, own);
        let mut operations = vec![orders.operations[lost.between as usize], orders.operations[own as usize]];
        if source == Source::ListRead {
            operations.insert(0, lookup.observations.canonical_read(lost.key));
        }
        let (before, after) = (other, lost.transaction);
        Step { before, after, relation: Relation::WriteWrite, key: lost.key, operations, source }
    }

    /// Components that are no components of the weaker order, in the order of the history.
    fn fresh(&self, all: &[Components; 3], order: Order) -> Vec<Vec<u32>> {
        let transactions = self.small().len();
        let at = order as usize;
        let known: Shapes = match at.checked_sub(1) {
            Some(weaker) => shapes(&all[weaker], transactions).into_iter().collect(),
            None => Shapes::new(),
        };
        shapes(&all[at], transactions).into_iter().filter(|nodes| !known.contains(nodes)).collect()
    }

    fn write_cycles(&mut self, order: Order) {
        let found = self.fresh(&self.cycles.writes, order);
        if found.is_empty() {
            return;
        }
        let parts = super::dependencies::Parts { wr: false, rw: false, order };
        let edges = self.small().graph(parts);
        let preferred = [Relation::WriteWrite, Relation::Session, Relation::RealTime];
        let name = WRITE_CYCLES[order as usize];
        for nodes in found {
            if !self.count(name) {
                continue;
            }
            let mut cycles = self.cycles_in_time(&edges, &nodes, order);
            cycles.extend(self.witnesses.shortest_cycle(&edges, &nodes, &mut self.paths));
            let steps = cycles.iter().map(|cycle| self.witnesses.steps(cycle, &preferred, order));
            let shown = best(name, steps);
            self.show(name, shown);
        }
    }

    /// Short cycles through what this order adds to the weaker one.
    fn cycles_in_time(&mut self, edges: &Edges, nodes: &[u32], order: Order) -> Vec<Vec<u32>> {
        let inside: HashSet<u32> = nodes.iter().copied().collect();
        let pairs = self.pairs_in_time(order, |node| inside.contains(&node));
        self.cycles_through(edges, &pairs)
    }

    /// Edges that this order adds to the weaker one, between nodes that are wanted or from instants.
    fn pairs_in_time(&self, order: Order, wanted: impl Fn(u32) -> bool) -> Pairs {
        let small = self.small();
        let transactions = small.len() as u32;
        let is_wanted = |&(node, before): &(u32, u32)| {
            node < transactions && wanted(node) && (before >= transactions || wanted(before))
        };
        match order {
            Order::Plain => Pairs::new(),
            Order::Session => small.session_pairs(true).into_iter().filter(is_wanted).collect(),
            Order::RealTime => small.real_time.iter().copied().filter(is_wanted).collect(),
        }
    }

    /// The shortest cycle through each of the first of these edges.
    fn cycles_through(&mut self, edges: &Edges, pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let witnesses = &self.witnesses;
        let paths = &mut self.paths;
        let cycles = pairs.iter().take(TRIES).filter_map(|&(node, before)| {
            let mut path = witnesses.path_from(edges, node, before, paths)?;
            path.push(node);
            // A cycle begins with a transaction.
            let first = path.iter().position(|&node| (node as usize) < witnesses.small.len())?;
            path.pop();
            path.rotate_left(first);
            path.push(path[0]);
            Some(path)
        });
        cycles.collect()
    }

    fn flows(&mut self, order: Order) {
        let found = self.fresh(&self.cycles.flows, order);
        if found.is_empty() {
            return;
        }
        let edges = self.small().dependencies(order);
        let writes: HashSet<(u32, u32)> = self.small().ww.iter().copied().collect();
        let preferred = [Relation::WriteRead, Relation::WriteWrite, Relation::Session, Relation::RealTime];
        for nodes in found {
            let reads = self.reads_inside(&nodes, &writes);
            if reads.is_empty() || !self.count(FLOWS[order as usize]) {
                continue;
            }
            let name = FLOWS[order as usize];
            let mut cycles = self.cycles_through(&edges, &reads);
            cycles.extend(self.cycles_in_time(&edges, &nodes, order));
            let steps = cycles.iter().map(|cycle| self.witnesses.steps(cycle, &preferred, order));
            let shown = best(name, steps);
            self.show(name, shown);
        }
    }

    /// Who of these read from whom of them, without having overwritten him right away.
    fn reads_inside(&self, nodes: &[u32], writes: &HashSet<(u32, u32)>) -> Vec<(u32, u32)> {
        let Witnesses { small, lookup } = self.witnesses;
        let inside: HashMap<u32, u32> = nodes.iter().map(|&n| (small.transactions[n as usize], n)).collect();
        let mut found = Vec::new();
        for &node in nodes {
            let transaction = small.transactions[node as usize];
            let writers = lookup.operations(transaction).flat_map(|read| lookup.read_from(read));
            let members = writers.filter_map(|writer| inside.get(&writer).copied());
            found.extend(members.map(|before| (node, before)));
        }
        found.retain(|pair| pair.0 != pair.1 && !writes.contains(pair));
        found.sort_unstable();
        found.dedup();
        found
    }

    fn read_skews(&mut self, order: Order) {
        let at = order as usize;
        let lost: HashSet<(u32, u32)> =
            self.cycles.lost.iter().map(|lost| (lost.transaction, lost.key)).collect();
        let pair = |closing: &Closing| (closing.reader, closing.key);
        let weaker: HashSet<(u32, u32)> = match at.checked_sub(1) {
            Some(weaker) => self.cycles.closing[weaker].iter().map(pair).collect(),
            None => HashSet::new(),
        };
        let cycles = self.cycles;
        let mut edges = None;
        for same in cycles.closing[at].chunk_by(|a, b| pair(a) == pair(b)) {
            let (reader, key) = pair(&same[0]);
            let transaction = self.small().transactions[reader as usize];
            if lost.contains(&(transaction, key)) || weaker.contains(&(reader, key)) {
                continue;
            }
            if !self.count(READ_SKEWS[at]) {
                continue;
            }
            let edges = edges.get_or_insert_with(|| self.witnesses.small.dependencies(order));
            let steps = skew(&self.witnesses, edges, same, order, &mut self.paths);
            if let Some(steps) = steps {
                self.show(READ_SKEWS[at], steps);
            }
        }
    }

    fn long_forks(&mut self, order: Order, left: &Left, before: &mut Option<Shapes>) {
        let small = self.small();
        let nodes = small.nodes() + small.len();
        let mut pairs: Pairs = (0..small.len() as u32).map(|node| (small.commit(node), node)).collect();
        pairs.extend(left.dependencies.iter().map(|&(node, b)| (small.begin(node), small.commit(b))));
        pairs.extend(left.read_writes.iter().map(|&(node, b)| (small.commit(node), small.begin(b))));
        let edges = Edges::collected(nodes, &[&pairs]);
        let found = components(&edges, nodes);
        let transactions = small.len() as u32;
        let groups = found.cycles().map(|group| {
            let ends = group.iter().copied().filter(|&node| node < 2 * transactions);
            let mut nodes: Vec<u32> = ends.map(|node| node % transactions).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        });
        let mut groups: Vec<Vec<u32>> = groups.filter(|nodes| nodes.len() > 1).collect();
        groups.sort_unstable();
        let known = before.take().unwrap_or_default();
        for nodes in groups.iter().filter(|nodes| !known.contains(*nodes)) {
            if self.count(LONG_FORKS[order as usize]) {
                let steps = self.forks(&edges, nodes, order);
                self.show(LONG_FORKS[order as usize], best(LONG_FORKS[order as usize], steps));
            }
        }
        *before = Some(groups.into_iter().collect());
    }

    /// Short cycles of begins and commits.
    fn forks(&mut self, edges: &Edges, nodes: &[u32], order: Order) -> Vec<Vec<Step>> {
        let small = self.witnesses.small;
        let transactions = small.len() as u32;
        let cost = |before: u32, after: u32| match before {
            // From a begin to its own commit is no step.
            _ if before >= 2 * transactions || after == before + transactions => 0,
            _ => 16,
        };
        let inside: HashSet<u32> = nodes.iter().copied().collect();
        let in_time = self.pairs_in_time(order, |node| inside.contains(&node));
        let ends = in_time.iter().map(|&(node, before)| (small.begin(node), small.commit(before)));
        let paths = &mut self.paths;
        let mut cycles: Vec<Vec<u32>> =
            nodes.iter().take(TRIES).filter_map(|&node| paths.shortest(edges, node, node, cost)).collect();
        cycles.extend(ends.take(TRIES).filter_map(|(node, before)| {
            let mut path = paths.shortest(edges, node, before, cost)?;
            path.push(node);
            Some(path)
        }));
        cycles.iter().map(|cycle| self.witnesses.steps_of_ends(cycle, order)).collect()
    }

    fn write_skews(&mut self, order: Order, left: &Left, before: &mut Option<Shapes>) {
        let nodes = self.small().nodes();
        let edges = Edges::collected(nodes, &[&left.dependencies, &left.read_writes]);
        let found = components(&edges, nodes);
        let groups = shapes(&found, self.small().len());
        let known = before.take().unwrap_or_default();
        let missed = Edges::collected(nodes, &[&left.read_writes]);
        let reversed: Pairs = left.read_writes.iter().map(|&(node, before)| (before, node)).collect();
        let overwrote = Edges::collected(nodes, &[&reversed]);
        let mut fresh: Vec<&Vec<u32>> = groups.iter().filter(|nodes| !known.contains(*nodes)).collect();
        fresh.sort_unstable();
        for group in fresh {
            let inside = found.of[group[0] as usize];
            let is_inside = |node: u32| found.of[node as usize] == inside;
            let is_shown = self.named.counts[WRITE_SKEWS[order as usize] as usize] < self.most as u64;
            let found = self.two_in_a_row(&edges, &missed, &overwrote, group, is_inside, is_shown);
            let Some(cycle) = found else { continue };
            let name = WRITE_SKEWS[order as usize];
            if self.count(name) {
                let mut shown = vec![self.skew_steps(&cycle, order)];
                let in_time = self.cycles_in_time(&edges, group, order);
                shown.extend(in_time.iter().map(|cycle| self.witnesses.steps(cycle, &ANY, order)));
                self.show(name, best(name, shown));
            }
        }
        *before = Some(groups.into_iter().collect());
    }

    /// A simple cycle that enters and leaves some transaction by read-write edges; it begins and ends there. A
    /// short one if it is to be shown.
    fn two_in_a_row(
        &mut self,
        edges: &Edges,
        missed: &Edges,
        overwrote: &Edges,
        group: &[u32],
        is_inside: impl Fn(u32) -> bool,
        is_shown: bool,
    ) -> Option<Vec<u32>> {
        let mut best: Option<(u32, Vec<u32>)> = None;
        for (tried, &middle) in group.iter().enumerate() {
            if best.is_some() && (tried > TRIES || !is_shown) {
                break;
            }
            let readers = self.ends(missed, middle, &is_inside);
            let writers = self.ends(overwrote, middle, &is_inside);
            let nodes = |ends: &[(u32, Vec<u32>)]| ends.iter().map(|&(node, _)| node).collect::<Vec<u32>>();
            let witnesses = &self.witnesses;
            let cost = |before: u32, after: u32| witnesses.cost(before, after);
            let is_allowed = |node: u32| node != middle && is_inside(node);
            let (writing, reading) = (nodes(&writers), nodes(&readers));
            let path = self.paths.shortest_between(edges, &writing, &reading, is_allowed, cost);
            let Some(path) = path else { continue };
            let way = |ends: &[(u32, Vec<u32>)], node: u32| {
                ends.iter().find(|&&(end, _)| end == node).map(|(_, way)| way.clone()).unwrap_or_default()
            };
            let mut cycle = vec![middle];
            cycle.extend(way(&writers, path[0]));
            cycle.extend(&path);
            cycle.extend(way(&readers, path[path.len() - 1]).iter().rev());
            cycle.push(middle);
            let length = self.witnesses_length(&cycle);
            if best.as_ref().is_none_or(|(known, _)| length < *known) {
                best = Some((length, cycle));
            }
        }
        best.map(|(_, cycle)| cycle)
    }

    fn witnesses_length(&self, cycle: &[u32]) -> u32 {
        cycle.windows(2).map(|pair| self.witnesses.cost(pair[0], pair[1])).sum()
    }

    /// Transactions one read-write edge away, with the junctions on the way there.
    fn ends(&self, edges: &Edges, from: u32, is_inside: &impl Fn(u32) -> bool) -> Vec<(u32, Vec<u32>)> {
        let transactions = self.small().len() as u32;
        let mut found = Vec::new();
        let mut open: Vec<(u32, Vec<u32>)> = vec![(from, Vec::new())];
        let mut known: HashSet<u32> = HashSet::new();
        while let Some((node, way)) = open.pop() {
            for &next in edges.of(node).iter().filter(|&&next| is_inside(next)) {
                if !known.insert(next) || next == from {
                    continue;
                }
                if next < transactions {
                    found.push((next, way.clone()));
                } else {
                    let mut way = way.clone();
                    way.push(next);
                    open.push((next, way));
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn skew_steps(&self, cycle: &[u32], order: Order) -> Vec<Step> {
        let transactions = self.small().len() as u32;
        let places: Vec<usize> = (0..cycle.len()).filter(|&place| cycle[place] < transactions).collect();
        let flow = [
            Relation::WriteRead,
            Relation::WriteWrite,
            Relation::Session,
            Relation::RealTime,
            Relation::ReadWrite,
        ];
        let (first, last) = (0, places.len() - 2);
        let steps = places.windows(2).enumerate().filter_map(|(number, pair)| {
            let preferred: &[Relation] =
                if number == first || number == last { &[Relation::ReadWrite] } else { &flow };
            let between = (pair[1] > pair[0] + 1).then(|| cycle[pair[0] + 1]);
            self.witnesses.step(cycle[pair[0]], cycle[pair[1]], between, preferred, order)
        });
        let mut steps: Vec<Step> = steps.collect();
        // The two reads in a row stand together.
        if steps.len() > 2 {
            steps.rotate_right(1);
        }
        steps
    }
}

/// A read that missed something, and how what it missed comes before the reader: the shortest way.
fn skew(
    witnesses: &Witnesses<'_, '_>,
    edges: &Edges,
    closing: &[Closing],
    order: Order,
    paths: &mut Paths,
) -> Option<Vec<Step>> {
    let reader = closing[0].reader;
    let ways = closing.iter().filter_map(|edge| witnesses.path_from(edges, edge.after, reader, paths));
    let length = |path: &Vec<u32>| path.windows(2).map(|pair| witnesses.cost(pair[0], pair[1])).sum::<u32>();
    let path = ways.min_by_key(length)?;
    let transactions = witnesses.small.len() as u32;
    let first = path.iter().position(|&node| node < transactions)?;
    let flow = [Relation::WriteRead, Relation::WriteWrite, Relation::Session, Relation::RealTime];
    let between = (first > 0).then(|| path[0]);
    let mut steps = vec![witnesses.step(reader, path[first], between, &[Relation::ReadWrite], order)?];
    steps.extend(witnesses.steps(&path[first..], &flow, order));
    Some(steps)
}

/// Proofs for levels that no single name stands for: a cycle of their own graph.
pub fn name_levels(
    small: &Dependencies,
    lookup: &Lookup<'_>,
    cycles: &Cycles,
    cancel: &crate::cancel::Cancel,
    named: &mut Named,
) {
    if small.len() == 0 || cancel.is_asked() {
        return;
    }
    let mut own =
        OwnGraphs { witnesses: Witnesses { small, lookup }, paths: Paths::new(small.nodes() + small.len()) };
    let proofs = [
        (Level::Prefix, own.prefix(cycles)),
        (Level::UpdateSerializable, own.updates(cycles)),
        (Level::MonotonicView, own.views(cycles)),
    ];
    for (level, steps) in proofs {
        if let Some(steps) = steps.filter(|steps| !steps.is_empty()) {
            let name = classify(&steps);
            named.findings.push(Finding { name, steps, alternatives: Vec::new(), level: level as u8 + 1 });
        }
    }
}

/// What a cycle is called, by its steps.
fn classify(steps: &[Step]) -> Name {
    let has = |relation: Relation| steps.iter().any(|step| step.relation == relation);
    // An edge may rest on an order of versions that only sessions or real time show.
    let rests_on = |source: Source| steps.iter().any(|step| step.source == source);
    let is_timed = has(Relation::RealTime) || rests_on(Source::RealTime);
    let order = match (is_timed, has(Relation::Session) || rests_on(Source::Session)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    };
    let is_missed = |place: usize| steps[place % steps.len()].relation == Relation::ReadWrite;
    let missed = (0..steps.len()).filter(|&place| is_missed(place)).count();
    let in_a_row = missed > 1 && (0..steps.len()).any(|place| is_missed(place) && is_missed(place + 1));
    match missed {
        0 if has(Relation::WriteRead) => FLOWS[order],
        0 => WRITE_CYCLES[order],
        1 => READ_SKEWS[order],
        _ if in_a_row => WRITE_SKEWS[order],
        _ => LONG_FORKS[order],
    }
}

/// Cycles in the graphs of single levels.
struct OwnGraphs<'s, 'h> {
    witnesses: Witnesses<'s, 'h>,
    paths: Paths,
}

impl OwnGraphs<'_, '_> {
    fn prefix(&mut self, cycles: &Cycles) -> Option<Vec<Step>> {
        if !cycles.violated[Level::Prefix as usize] {
            return None;
        }
        let small = self.witnesses.small;
        let (edges, nodes) = small.begins_and_commits(Order::Session, true);
        let transactions = small.len() as u32;
        let found = components(&edges, nodes);
        let groups: Vec<Vec<u32>> = found.cycles().take(64).map(<[u32]>::to_vec).collect();
        let mut best: Option<Vec<u32>> = None;
        for group in groups {
            let mut starts: Vec<u32> = group.into_iter().filter(|&node| node < 2 * transactions).collect();
            starts.sort_unstable();
            for &node in starts.iter().take(64) {
                let cycle = self.paths.shortest(&edges, node, node, |_, _| 1);
                if let Some(cycle) = cycle
                    && best.as_ref().is_none_or(|known| cycle.len() < known.len())
                {
                    best = Some(cycle);
                }
            }
        }
        Some(self.witnesses.steps_of_ends(&best?, Order::Session))
    }

    fn updates(&mut self, cycles: &Cycles) -> Option<Vec<Step>> {
        let (edges, _) = super::levels::edges_of_updates(self.witnesses.small, self.witnesses.lookup);
        match cycles.updates.as_ref()? {
            Updates::Writing(group) => {
                let cycle = self.witnesses.shortest_cycle(&edges, group, &mut self.paths)?;
                Some(self.witnesses.steps(&cycle, &ANY, Order::Plain))
            }
            Updates::Reading(missed, source) => self.around(&edges, *missed, *source),
        }
    }

    fn views(&mut self, cycles: &Cycles) -> Option<Vec<Step>> {
        let (missed, source) = cycles.views?;
        let edges = self.witnesses.small.dependencies(Order::Plain);
        self.around(&edges, missed, source)
    }

    /// From what a reader missed to somebody it depends on, and to itself.
    fn around(&mut self, edges: &Edges, missed: Closing, source: u32) -> Option<Vec<Step>> {
        let mut path = self.witnesses.path_from(edges, missed.after, source, &mut self.paths)?;
        path.push(missed.reader);
        let transactions = self.witnesses.small.len() as u32;
        let first = path.iter().position(|&node| node < transactions)?;
        let between = (first > 0).then(|| path[0]);
        let missing = [Relation::ReadWrite];
        let mut steps =
            vec![self.witnesses.step(missed.reader, path[first], between, &missing, Order::Plain)?];
        steps.extend(self.witnesses.steps(&path[first..], &ANY, Order::Plain));
        Some(steps)
    }
}
