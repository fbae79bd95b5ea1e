//! Weak levels where several transactions may have served a read: is there a choice of writers that satisfies the axiom?
//!
//! The writers are choices of a conflict-driven search. A run of it chooses a writer for each read, and an order of
//! transactions that follows session order, what was read, and what the axiom demands so far. Demands that this order
//! does not meet become clauses: one of the choices behind the demand is wrong, or the demand is an edge. When all are
//! met the order is a commit order; when no choice is left, there is none.

mod missed_demands;

use super::causal::Demands;
use super::dependencies::Dependencies;
use super::guessed_order::likely_order;
use super::reader::WeakLevel;
use super::{causal, direct};
use crate::cancel::Cancel;
use crate::explanations::OpenRead;
use crate::observations::{ABSENT, INITIAL};
use crate::solver::engine::{EdgeList, Ending, Engine};
use crate::solver::{Budget, Literal, starting_order};
use hashbrown::HashMap;
use missed_demands::{Demand, missed_demands};

/// Clocks of the causal level take at most so many entries.
const MOST_ENTRIES: usize = 1 << 27;

/// Reads with the same possible writers, of which all have one: of one transaction and key.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) node: u32,
    pub(super) key: u32,
    /// The first of them.
    pub(super) read: u32,
    reads: Vec<u32>,
    /// Nodes, or [`INITIAL`].
    pub(super) options: Vec<u32>,
}

/// What became of a level.
pub enum Answer {
    /// Transactions in a commit order, and for each open read the transaction that served it, or [`INITIAL`].
    Found(Vec<u32>, Vec<(u32, u32)>),
    /// No choice of writers satisfies the level.
    Impossible,
    /// The budget is spent.
    Unknown,
}

/// Decides a level; `dependencies` are those of the reads whose writers are known.
#[must_use]
pub fn decide(
    dependencies: &Dependencies<'_>,
    open: &[OpenRead],
    level: WeakLevel,
    budget: Budget,
    cancel: &Cancel,
) -> Answer {
    let sites = sites(dependencies, open, level);
    if sites.iter().any(|site| site.options.is_empty()) {
        return Answer::Impossible;
    }
    if level == WeakLevel::Causal && dependencies.node_count() * dependencies.row_starts.len() > MOST_ENTRIES
    {
        return Answer::Unknown;
    }
    let Some((edges, places)) = base(dependencies, level, cancel) else { return Answer::Impossible };
    let engine = Engine::new(&edges, places, budget, cancel);
    let (choices, demanded) = (Vec::new(), HashMap::new());
    let mut search = Search { dependencies, level, sites, engine, choices, demanded };
    search.add_sites();
    search.run(cancel)
}

/// Reads of a key by one transaction have one writer, but at read committed: two writers would have to come before
/// each other.
fn sites(dependencies: &Dependencies<'_>, open: &[OpenRead], level: WeakLevel) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    let mut places: HashMap<(u32, u32), usize> = HashMap::new();
    let mut sorted: Vec<&OpenRead> = open.iter().collect();
    sorted.sort_by_key(|open| open.read);
    for open in sorted {
        let node = dependencies.nodes[open.transaction as usize];
        if node == ABSENT {
            continue;
        }
        let named =
            |&writer: &u32| if writer < INITIAL { dependencies.nodes[writer as usize] } else { writer };
        let options: Vec<u32> = open.writers.iter().map(named).filter(|&writer| writer != ABSENT).collect();
        if level != WeakLevel::ReadCommitted
            && let Some(&place) = places.get(&(node, open.key))
        {
            sites[place].reads.push(open.read);
            sites[place].options.retain(|writer| options.contains(writer));
            continue;
        }
        places.insert((node, open.key), sites.len());
        sites.push(Site { node, key: open.key, read: open.read, reads: vec![open.read], options });
    }
    sites
}

/// Edges (before, after) that are known, with the demands of known reads, and places that follow them.
fn base(dependencies: &Dependencies<'_>, level: WeakLevel, cancel: &Cancel) -> Option<(EdgeList, Vec<u32>)> {
    let Demands { edges: demands, contradiction } = match level {
        WeakLevel::Causal => causal::demands(dependencies, &dependencies.graph(&[]).components(), cancel),
        WeakLevel::ReadAtomic | WeakLevel::ReadCommitted => direct::demands_of(dependencies, level, cancel),
    };
    if contradiction.is_some() {
        return None;
    }
    let graph = dependencies.graph(&[&dependencies.successions, &demands]);
    let nodes = graph.nodes as u32;
    let edges: Vec<(u32, u32)> =
        (0..nodes).flat_map(|node| graph.predecessors(node).map(move |before| (before, node))).collect();
    let mut ranks = vec![0; nodes as usize];
    likely_order(dependencies).iter().zip(1..).for_each(|(&node, rank)| ranks[node as usize] = rank);
    let places = starting_order(nodes as usize, &edges, |node| ranks[node as usize])?;
    Some((edges, places))
}

struct Search<'s, 'h> {
    dependencies: &'s Dependencies<'h>,
    level: WeakLevel,
    sites: Vec<Site>,
    engine: Engine<'s>,
    /// For each site the choice of each option, whose first side is that it is the writer.
    choices: Vec<Vec<u32>>,
    /// The choice of each edge (before, after) that was demanded.
    demanded: HashMap<(u32, u32), u32>,
}

impl Search<'_, '_> {
    fn add_sites(&mut self) {
        for place in 0..self.sites.len() {
            let site = &self.sites[place];
            let likely = likely_writer(site, self.engine.places());
            let mut choices = Vec::with_capacity(site.options.len());
            for &writer in &site.options {
                let edges = if writer < INITIAL { vec![(writer, site.node)] } else { Vec::new() };
                choices.push(self.engine.choice([edges, Vec::new()], u8::from(writer != likely)));
            }
            let none: Vec<Literal> = choices.iter().map(|&choice| (choice, 1)).collect();
            self.engine.forbid(&none);
            self.choices.push(choices);
        }
    }

    fn run(&mut self, cancel: &Cancel) -> Answer {
        loop {
            match self.engine.run() {
                Ending::Spent => return Answer::Unknown,
                Ending::Impossible => return Answer::Impossible,
                Ending::Settled => {}
            }
            let chosen: Vec<usize> = (0..self.sites.len()).map(|site| self.chosen(site)).collect();
            let writers: Vec<u32> =
                self.sites.iter().zip(&chosen).map(|(site, &option)| site.options[option]).collect();
            let places = self.engine.places();
            let missed = missed_demands(self.dependencies, self.level, &self.sites, &writers, places);
            if cancel.is_asked() || self.engine.is_over() {
                return Answer::Unknown;
            }
            if missed.is_empty() {
                return self.found(&writers);
            }
            for demand in missed {
                self.add(&demand, &chosen);
            }
        }
    }

    /// The option of a site that was chosen, the first if there are several.
    fn chosen(&self, site: usize) -> usize {
        let is_chosen = |&choice: &u32| self.engine.side(choice) == 0;
        self.choices[site].iter().position(is_chosen).unwrap_or(0)
    }

    /// The choices behind a demand must not be taken together, unless the edge is there.
    fn add(&mut self, demand: &Demand, chosen: &[usize]) {
        let literal = |&site: &usize| (self.choices[site][chosen[site]], 0);
        let mut literals: Vec<Literal> = demand.because.iter().map(literal).collect();
        if demand.after != INITIAL {
            let edge = (demand.before, demand.after);
            let engine = &mut self.engine;
            let choice =
                *self.demanded.entry(edge).or_insert_with(|| engine.choice([vec![edge], Vec::new()], 0));
            literals.push((choice, 1));
        }
        self.engine.forbid(&literals);
    }

    fn found(&self, writers: &[u32]) -> Answer {
        let places = self.engine.places();
        let mut nodes: Vec<u32> = (0..self.dependencies.len() as u32).collect();
        nodes.sort_by_key(|&node| places[node as usize]);
        let transaction = |node: u32| self.dependencies.transactions[node as usize];
        let order = nodes.into_iter().map(transaction).collect();
        let named = |writer: u32| if writer < INITIAL { transaction(writer) } else { writer };
        let shown = self.sites.iter().zip(writers);
        let shown =
            shown.flat_map(|(site, &writer)| site.reads.iter().map(move |&read| (read, named(writer))));
        Answer::Found(order, shown.collect())
    }
}

/// The latest writer before a read, or the first of all.
fn likely_writer(site: &Site, places: &[u32]) -> u32 {
    let place = |writer: u32| if writer < INITIAL { places[writer as usize] + 1 } else { 0 };
    let options = || site.options.iter().copied();
    let before = options().filter(|&writer| place(writer) <= places[site.node as usize]);
    before
        .max_by_key(|&writer| place(writer))
        .or_else(|| options().min_by_key(|&w| place(w)))
        .unwrap_or(INITIAL)
}
