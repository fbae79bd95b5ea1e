//! Why no order of the open versions satisfies a level: for each order of a few pairs of versions, a circle.

use super::level_problem::LevelProblem;
use super::{Completion, OpenPair};
use crate::cancel::Cancel;
use crate::graph::Edges;
use crate::relation::Relation;
use crate::solver::{self, Budget, Literal, Problem, Side};
use crate::versions::levels::Level;
use crate::versions::orders::Source;
use crate::versions::reachability::Reach;

use crate::versions::shortest_paths::Paths;
use crate::versions::witness::{Step, Witnesses};
use hashbrown::HashMap;

/// A proof tells so many orders.
const MAX_ORDERS: usize = 4;
/// Of more pairs or nodes only the first pair that decides by itself is told.
const MAX_PAIRS: usize = 48;
const MAX_NODES: usize = 1_000;
const MAX_BARRED: usize = 200;
/// Pairs that conflicts did not need are left out so often.
const MAX_ROUNDS: usize = 8;
/// Pairs are left out one by one if there are no more pairs, times nodes.
const MAX_WORK: usize = 4_000_000;
/// What a proof with fewer pairs may cost.
const FEWER: Budget = Budget { steps: 20_000_000, bytes: 1 << 30, time: None };

/// A level that no order satisfies, and what it asks.
pub(super) struct Refutation<'r, 's, 'h> {
    pub(super) all: &'r Completion<'s, 'h>,
    pub(super) level_problem: &'r LevelProblem<'r, 's, 'h>,
    pub(super) problem: &'r Problem,
    pub(super) pairs: &'r [OpenPair],
    pub(super) cancel: &'r Cancel,
}

/// What closes a circle.
#[derive(Clone, Copy)]
enum Closing {
    /// The edge, to which a path leads back.
    Edge((u32, u32)),
    /// A path from the first to the second, which must not be.
    Barred((u32, u32)),
}

impl<'r, 's, 'h> Refutation<'r, 's, 'h> {
    /// The orders of some of these pairs, all of which close a circle.
    pub(super) fn alternatives_of(
        all: &'r Completion<'s, 'h>,
        level_problem: &'r LevelProblem<'r, 's, 'h>,
        pairs: Vec<OpenPair>,
        cancel: &'r Cancel,
    ) -> Vec<Vec<Step>> {
        let pairs = needed(level_problem, pairs, cancel);
        let problem = level_problem.problem(&pairs);
        Refutation { all, level_problem, problem: &problem, pairs: &pairs, cancel }.alternatives()
    }

    /// Orders of versions that are all there are, each as steps: what it supposes, and the circle that this
    /// closes. Nothing if that takes more orders than a proof can show.
    pub(super) fn alternatives(&self) -> Vec<Vec<Step>> {
        for orders in 2..=if self.is_small() { MAX_ORDERS } else { 2 } {
            if let Some(told) = self.orders(&[], orders) {
                let circles: Vec<Vec<Step>> = told.iter().map(|taken| self.told(taken)).collect();
                return if circles.iter().all(|steps| !steps.is_empty()) { circles } else { Vec::new() };
            }
        }
        Vec::new()
    }

    fn is_small(&self) -> bool {
        self.pairs.len() <= MAX_PAIRS
            && self.pairs.len().pow(2) * self.problem.nodes <= MAX_PAIRS.pow(2) * MAX_NODES
            && self.problem.barred.len() <= MAX_BARRED
    }

    /// At most so many orders, each of which closes a circle, of which one is right if `taken` is.
    fn orders(&self, taken: &[Literal], room: usize) -> Option<Vec<Vec<Literal>>> {
        let with = |choice: u32, side: u8| [taken, &[(choice, side)]].concat();
        let open: Vec<u32> = (0..self.pairs.len() as u32)
            .filter(|choice| taken.iter().all(|(other, _)| other != choice))
            .collect();
        let closed = self.closed(taken, &open);
        if let Some(place) = closed.iter().position(|sides| sides[0] && sides[1]) {
            return Some(vec![with(open[place], 0), with(open[place], 1)]);
        }
        if room < 3 || self.cancel.is_asked() {
            return None;
        }
        for (&choice, sides) in open.iter().zip(&closed).filter(|(_, sides)| sides[0] || sides[1]) {
            let side = u8::from(sides[1]);
            if let Some(rest) = self.orders(&with(choice, 1 - side), room - 1) {
                return Some([vec![with(choice, side)], rest].concat());
            }
        }
        for &choice in open.iter().filter(|_| room >= 4) {
            if let Some(first) = self.orders(&with(choice, 0), room - 2)
                && let Some(second) = self.orders(&with(choice, 1), room - first.len())
            {
                return Some([first, second].concat());
            }
        }
        None
    }

    fn side(&self, (choice, side): Literal) -> &Side {
        &self.problem.choices[choice as usize][side as usize]
    }

    fn graph(&self, taken: &[Literal]) -> Edges {
        let further = taken.iter().flat_map(|&literal| &self.side(literal).edges);
        let pairs: Vec<(u32, u32)> =
            self.problem.edges.iter().chain(further).map(|&(before, after)| (after, before)).collect();
        Edges::collected(self.problem.nodes, &[&pairs])
    }

    /// For each open pair which of its sides close a circle.
    fn closed(&self, taken: &[Literal], open: &[u32]) -> Vec<[bool; 2]> {
        let edges = self.graph(taken);
        let reach = Reach::new(&edges, self.problem.nodes);
        let barred = if self.is_small() { self.barred(taken) } else { Vec::new() };
        let mut asked = Vec::new();
        for &choice in open {
            for side in [0, 1] {
                let Side { edges, barred: own, .. } = self.side((choice, side));
                asked.extend(edges.iter().map(|&(before, after)| (after, before)));
                asked.extend(own);
                // A path that must not be, over one of the edges.
                for &(before, after) in edges {
                    asked.extend(barred.iter().flat_map(|&(from, to)| [(from, before), (after, to)]));
                }
            }
        }
        let mut answers = reach.asked(&asked, self.cancel).into_iter();
        let mut is_closed = |literal: Literal| {
            let side = self.side(literal);
            let count = side.edges.len() + side.barred.len();
            let direct = answers.by_ref().take(count).fold(false, |any, reached| any | reached);
            let mut over = false;
            for _ in 0..side.edges.len() * barred.len() {
                let both = [answers.next(), answers.next()];
                over |= both == [Some(true), Some(true)];
            }
            direct || over || self.is_excluded(taken, literal)
        };
        open.iter().map(|&choice| [is_closed((choice, 0)), is_closed((choice, 1))]).collect()
    }

    /// Whether the level forbids an order by itself, or together with what is taken.
    fn is_excluded(&self, taken: &[Literal], literal: Literal) -> bool {
        let exclusive = self.problem.exclusive.iter();
        let mut others = exclusive.filter_map(|&(one, other)| match literal {
            _ if one == literal => Some(other),
            _ if other == literal => Some(one),
            _ => None,
        });
        self.side(literal).is_impossible || others.any(|other| taken.contains(&other))
    }

    fn barred(&self, taken: &[Literal]) -> Vec<(u32, u32)> {
        let further = taken.iter().flat_map(|&literal| &self.side(literal).barred);
        self.problem.barred.iter().chain(further).copied().collect()
    }

    /// What is supposed, and the circle that it closes; nothing if no circle is found.
    fn told(&self, taken: &[Literal]) -> Vec<Step> {
        let Some(circle) = self.circle(taken).or_else(|| self.lost_update(taken)) else { return Vec::new() };
        let is_chain = circle.windows(2).all(|pair| pair[0].after == pair[1].before);
        let is_closed = circle.first().map(|step| step.before) == circle.last().map(|step| step.after);
        if !is_chain || !is_closed {
            return Vec::new();
        }
        let supposed: Vec<Step> = taken.iter().map(|&literal| self.supposed(literal)).collect();
        let is_supposition = |step: &Step| supposed.contains(step);
        let mut circle = circle;
        if let Some(place) = circle.iter().position(|step| !is_supposition(step)) {
            circle.rotate_left(place);
        }
        if let [only] = &supposed[..]
            && let Some(place) = circle.iter().position(|step| step == only)
        {
            circle.rotate_left(place);
            circle.remove(0);
        }
        supposed.into_iter().chain(circle).collect()
    }

    /// The versions of a literal: the earlier one first.
    fn versions(&self, (choice, side): Literal) -> (u32, u32) {
        let OpenPair { first, second, .. } = self.pairs[choice as usize];
        if side == 0 { (first, second) } else { (second, first) }
    }

    fn supposed(&self, literal: Literal) -> Step {
        let orders = self.all.lookup.orders;
        let (before, after) = self.versions(literal);
        Step {
            before: orders.writers[before as usize],
            after: orders.writers[after as usize],
            relation: Relation::WriteWrite,
            key: self.pairs[literal.0 as usize].key,
            operations: vec![orders.operations[before as usize], orders.operations[after as usize]],
            source: Source::Supposed,
        }
    }

    /// A transaction read the earlier version, and so missed the later one.
    fn missed(&self, reader: u32, literal: Literal) -> Option<Step> {
        let lookup = self.all.lookup;
        let (before, after) = self.versions(literal);
        let mut observed = lookup.observed(reader).filter(|&(.., version)| version == before);
        let (read, key, _) = observed.next()?;
        Some(Step {
            before: reader,
            after: lookup.orders.writers[after as usize],
            relation: Relation::ReadWrite,
            key,
            operations: lookup.missed(read, before, after),
            source: Source::Supposed,
        })
    }

    /// The shortest circle that these orders close.
    fn circle(&self, taken: &[Literal]) -> Option<Vec<Step>> {
        let edges = self.graph(taken);
        let mut paths = Paths::new(self.problem.nodes);
        let last = self.side(*taken.last()?);
        let by_edges = last.edges.iter().map(|&edge| Closing::Edge(edge));
        let by_bars = self.barred(taken).into_iter().map(Closing::Barred);
        let mut found: Vec<(Closing, Vec<u32>)> = Vec::new();
        for closing in by_edges.chain(by_bars) {
            let (from, to) = match closing {
                Closing::Edge((before, after)) => (after, before),
                Closing::Barred(pair) => pair,
            };
            let path = if from == to { Some(vec![from]) } else { paths.shortest(&edges, from, to, |_, _| 1) };
            found.extend(path.map(|path| (closing, path)));
        }
        found.sort_by_key(|(_, path)| path.len());
        found.iter().find_map(|(closing, path)| self.around(taken, *closing, path))
    }

    /// The steps along a path, and what closes it.
    fn around(&self, taken: &[Literal], closing: Closing, path: &[u32]) -> Option<Vec<Step>> {
        let supposed = self.supposed_edges(taken);
        let transactions = self.all.small.len() as u32;
        let is_of_ends = self.level_problem.is_of_begins_and_commits();
        let first = path.iter().position(|&node| node < transactions * if is_of_ends { 2 } else { 1 });
        let path = &path[first.unwrap_or(0)..];
        let mut steps = Vec::new();
        let mut from = 0;
        for place in 1..path.len() {
            if let Some(step) = supposed.get(&(path[place - 1], path[place])) {
                steps.extend(self.level_problem.steps(&path[from..place]));
                steps.push(step.clone());
                from = place;
            }
        }
        steps.extend(self.level_problem.steps(&path[from..]));
        match closing {
            Closing::Edge(edge) => steps.push(supposed.get(&edge)?.clone()),
            Closing::Barred((_, to)) => {
                let start = steps.first().map_or(self.transaction(path[0]), |step| step.before);
                let end = steps.last().map_or(start, |step| step.after);
                steps.extend(self.missing(taken, start, end, to)?);
            }
        }
        Some(steps)
    }

    fn transaction(&self, node: u32) -> u32 {
        self.all.small.transactions[self.level_problem.owner(node) as usize]
    }

    /// The edges of these orders, with the steps that they are.
    fn supposed_edges(&self, taken: &[Literal]) -> HashMap<(u32, u32), Step> {
        let mut found = HashMap::new();
        for &literal in taken {
            let first = self.all.node(self.versions(literal).0);
            for &(before, after) in &self.side(literal).edges {
                let owner = self.level_problem.owner(before);
                let step = if owner == first {
                    Some(self.supposed(literal))
                } else {
                    self.missed(self.all.small.transactions[owner as usize], literal)
                };
                found.extend(step.map(|step| ((before, after), step)));
            }
        }
        found
    }

    /// From the end of a path to its start: a transaction there, or one that read from there, missed what the
    /// transaction at the start wrote.
    fn missing(&self, taken: &[Literal], start: u32, end: u32, node: u32) -> Option<Vec<Step>> {
        let order = self.level_problem.level.order();
        let witnesses = Witnesses { small: self.all.small, lookup: self.all.lookup };
        let missed = |reader: u32| {
            let known = witnesses.reason(reader, start, Relation::ReadWrite, order);
            known.or_else(|| {
                let behind = taken.iter().filter(|&&literal| self.supposed(literal).after == start);
                behind.into_iter().find_map(|&literal| self.missed(reader, literal))
            })
        };
        if self.level_problem.level != Level::UpdateSerializable {
            return missed(self.transaction(node)).filter(|step| step.before == end).map(|step| vec![step]);
        }
        let readers = self.all.small.transactions.iter().filter(|&&reader| reader != start);
        readers.into_iter().find_map(|&reader| {
            let came = witnesses.reason(end, reader, Relation::WriteRead, order)?;
            Some(vec![came, missed(reader)?])
        })
    }

    /// An update that these orders lose: another version comes between the one that was read and the own one.
    fn lost_update(&self, taken: &[Literal]) -> Option<Vec<Step>> {
        let last = *taken.last()?;
        let witnesses = Witnesses { small: self.all.small, lookup: self.all.lookup };
        let order = self.level_problem.level.order();
        let written = self.supposed(last);
        let same_key = |literal: &&Literal| self.pairs[literal.0 as usize].key == written.key;
        let behind = |before: u32, after: u32| {
            let of_pair = |step: &Step| (step.before, step.after) == (before, after);
            let known = witnesses.reason(before, after, Relation::WriteWrite, order);
            let mut others = taken.iter().filter(same_key).map(|&literal| self.supposed(literal));
            known.filter(|step| step.key == written.key).or_else(|| others.find(of_pair))
        };
        let known = witnesses.missed(written.after, written.before, order, |key| key == written.key);
        let mut others = taken.iter().filter(same_key).filter(|&&literal| {
            let supposed = self.supposed(literal);
            supposed.after == written.before
        });
        if let Some(missed) =
            known.or_else(|| others.find_map(|&literal| self.missed(written.after, literal)))
        {
            return Some(vec![missed, written]);
        }
        let (before, _) = self.versions(last);
        let readers = self.all.readers(before).iter().map(|&node| self.all.small.transactions[node as usize]);
        readers
            .into_iter()
            .find_map(|reader| Some(vec![self.missed(reader, last)?, behind(written.after, reader)?]))
    }
}

/// Pairs without any of which an order would be left, as far as that is found out.
fn needed(level_problem: &LevelProblem<'_, '_, '_>, pairs: Vec<OpenPair>, cancel: &Cancel) -> Vec<OpenPair> {
    let impossible = |pairs: &[OpenPair]| match solver::solve(&level_problem.problem(pairs), FEWER, cancel) {
        solver::Answer::Impossible(blamed) => {
            Some(blamed.into_iter().map(|choice| pairs[choice as usize]).collect::<Vec<OpenPair>>())
        }
        _ => None,
    };
    let mut kept = pairs;
    for _ in 0..MAX_ROUNDS {
        match impossible(&kept).filter(|fewer| fewer.len() < kept.len()) {
            Some(fewer) => kept = fewer,
            None => break,
        }
    }
    let mut place = 0;
    let is_cheap =
        |kept: &[OpenPair]| kept.len() <= 4 * MAX_PAIRS && kept.len() * level_problem.nodes <= MAX_WORK;
    while place < kept.len() && is_cheap(&kept) && !cancel.is_asked() {
        let mut without = kept.clone();
        without.remove(place);
        match impossible(&without) {
            Some(fewer) => kept = fewer,
            None => place += 1,
        }
    }
    kept
}
