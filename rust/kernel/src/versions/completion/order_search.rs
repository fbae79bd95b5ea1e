//! The search for an order of all open versions, in which pairs of versions become choices only when a
//! candidate fails at them.
//!
//! A candidate is an order of nodes that follows all that is known and chosen. The versions of each key stand in
//! the order of their writers. If every neighbour's edges lead forward there, it is an order that closes no
//! cycle: pairs that are further apart follow. A candidate that fails is repaired pair by pair, key by key, as long as
//! one order of a pair closes no cycle with those taken before; the solver decides the rest.

use super::candidate_faults::{Update, updates};
use super::level_problem::LevelProblem;
use super::read_choices::ReadChoices;
use super::supposed_reads::SupposedRead;
use super::unsettled_keys::UnsettledKeys;
use super::{OpenKey, OpenPair};
use crate::cancel::Cancel;
use crate::solver::engine::{EdgeList, Ending, Engine};
use crate::solver::{Budget, Literal, Problem, Progress, Side, starting_order};
use crate::versions::levels::Level;
use hashbrown::HashMap;

/// So many pairs with one version become choices for one candidate.
const MAX_AT_ONCE: usize = 8;

/// After so many repairs of parts, the whole search decides.
const MAX_LOCAL_REPAIRS: usize = 32;

/// Whether an order satisfies a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Some order does.
    Found,
    /// None does.
    Impossible,
    /// The budget is spent.
    Unknown(Progress),
}

/// One version before another of the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Succession {
    pub(super) key: u32,
    pub(super) before: u32,
    pub(super) after: u32,
}

/// A search for one level.
pub(super) struct OrderSearch<'p, 'c, 's, 'h> {
    pub(super) level_problem: &'p LevelProblem<'c, 's, 'h>,
    pub(super) base: Problem,
    pub(super) updates: Vec<Update>,
    pub(super) engine: Engine<'p>,
    /// The pair of each choice; a choice about a read has none.
    pub(super) pairs: Vec<Option<OpenPair>>,
    /// The choice of each pair: the lower version first.
    choices: HashMap<(u32, u32), u32>,
    pub(super) reads: ReadChoices,
    /// The versions of each open key, as they stood when it was looked at last.
    sequences: Vec<Vec<u32>>,
    /// What the candidate that satisfies the level supposes of reads.
    supposed: Vec<SupposedRead>,
    /// Choices whose sides both closed a cycle in the last repair.
    pub(super) failed: Vec<u32>,
    /// Pairs that leave no order, if few transactions show that.
    refuted: Vec<OpenPair>,
    pub(super) budget: Budget,
    pub(super) cancel: &'p Cancel,
}

/// An order that satisfies a level.
pub(super) struct Candidate {
    /// The place of each node.
    pub(super) places: Vec<u32>,
    /// Of levels whose places do not say what reads show: each read, by its place, and the version.
    pub(super) reads: Vec<(usize, u32)>,
}

impl<'p, 'c, 's, 'h> OrderSearch<'p, 'c, 's, 'h> {
    /// A search that has not begun; nothing if known edges close a cycle.
    pub(super) fn new(
        level_problem: &'p LevelProblem<'c, 's, 'h>,
        budget: Budget,
        cancel: &'p Cancel,
    ) -> Option<Self> {
        let mut base = level_problem.base();
        if !level_problem.forced.edges.is_empty() {
            base.edges.clone_from(&level_problem.forced.edges);
        }
        let rank = |node: u32| level_problem.rank(node);
        let places = starting_order(base.nodes, &base.edges, rank)?;
        let engine = Engine::new(&base.edges, places, budget, cancel);
        let updates =
            if level_problem.level == Level::CursorStability { updates(level_problem) } else { Vec::new() };
        let sequences = level_problem.all.open.iter().map(|open| open.versions.clone()).collect();
        let (pairs, choices) = (Vec::new(), HashMap::new());
        let (reads, supposed, failed) = (ReadChoices::default(), Vec::new(), Vec::new());
        Some(Self {
            level_problem,
            base,
            updates,
            engine,
            pairs,
            choices,
            reads,
            sequences,
            supposed,
            failed,
            refuted: Vec::new(),
            budget,
            cancel,
        })
    }

    /// Decides a level; also gives the order that was found, or the pairs that leave none.
    pub(super) fn decide(
        level_problem: &'p LevelProblem<'c, 's, 'h>,
        budget: Budget,
        cancel: &'p Cancel,
    ) -> (Answer, Vec<OpenPair>, Option<Candidate>) {
        let Some(mut search) = Self::new(level_problem, budget, cancel) else {
            return (Answer::Impossible, Vec::new(), None);
        };
        let answer = search.run();
        let mut blamed = std::mem::take(&mut search.refuted);
        if blamed.is_empty() {
            blamed = search.engine.blamed().filter_map(|choice| search.pairs[choice as usize]).collect();
        }
        let candidate = (answer == Answer::Found).then(|| Candidate {
            places: search.engine.places().to_vec(),
            reads: search.supposed.iter().map(|read| (read.number, read.version)).collect(),
        });
        (answer, blamed, candidate)
    }

    pub(super) fn run(&mut self) -> Answer {
        let mut unsettled = UnsettledKeys::new(self.level_problem);
        let mut repairs = 0..MAX_LOCAL_REPAIRS;
        let mut has_looked = false;
        loop {
            self.failed.clear();
            self.engine.hold();
            let is_repaired = self.repair(&mut unsettled);
            self.engine.release();
            if self.engine.is_over() {
                return Answer::Unknown(self.engine.progress());
            }
            if is_repaired {
                let sequences = self.sequences();
                let failed = self.choose_at_reads(&sequences);
                let (reads, unmet) = self.suppose_reads();
                let failed = failed + unmet;
                match self.forbid_at_faults(&sequences, &reads) {
                    Some(0) if failed == 0 => {
                        self.supposed = reads;
                        return Answer::Found;
                    }
                    None => return Answer::Impossible,
                    Some(_) => {}
                }
            }
            if !is_repaired && !std::mem::replace(&mut has_looked, true) {
                self.refuted = self.refuted_in_windows();
                if !self.refuted.is_empty() {
                    return Answer::Impossible;
                }
            }
            if !is_repaired && repairs.next().is_some() && self.repair_locally() {
                continue;
            }
            match self.engine.run() {
                Ending::Spent => return Answer::Unknown(self.engine.progress()),
                Ending::Impossible => return Answer::Impossible,
                Ending::Settled => {}
            }
        }
    }

    /// Takes an order of each pair that fails in the candidate; whether that could be done for all. Every key is
    /// looked at again at the end, since a move is only noted for the transactions that touch it.
    fn repair(&mut self, unsettled: &mut UnsettledKeys) -> bool {
        let mut is_repaired = true;
        loop {
            let known = self.engine.choices();
            unsettled.push_all();
            while let Some(at) = unsettled.pop() {
                is_repaired &= self.repair_key(at);
                for node in self.engine.moved() {
                    unsettled.push_of(self.level_problem.transaction_node(node));
                }
                if self.engine.is_over() {
                    unsettled.clear();
                    return false;
                }
            }
            if !is_repaired || self.engine.choices() == known {
                return is_repaired;
            }
        }
    }

    /// Takes an order of pairs of one key whose edges lead back. A read that comes after several writers fails at
    /// each of them.
    fn repair_key(&mut self, at: usize) -> bool {
        let key = self.open()[at].key;
        self.sort(at);
        let versions = std::mem::take(&mut self.sequences[at]);
        let mut is_repaired = true;
        for (place, &before) in versions.iter().enumerate() {
            for &after in versions[place + 1..].iter().take(MAX_AT_ONCE) {
                let pair = Succession { key, before, after };
                // A pair that turned meanwhile is looked at when its key comes again.
                if !self.is_in_order(pair) || !self.leads_back(pair) {
                    break;
                }
                is_repaired &= self.take(pair);
            }
        }
        self.sequences[at] = versions;
        is_repaired
    }

    fn is_in_order(&self, pair: Succession) -> bool {
        let (places, problem) = (self.engine.places(), self.level_problem);
        places[problem.end(pair.before) as usize] < places[problem.end(pair.after) as usize]
    }

    /// Makes a choice of a pair and takes a side of it; whether one closes no cycle.
    fn take(&mut self, pair: Succession) -> bool {
        let (first, second) = (pair.before.min(pair.after), pair.before.max(pair.after));
        if let Some(&choice) = self.choices.get(&(first, second)) {
            self.failed.push(choice);
            return false;
        }
        let (sides, preferred) = self.sides(pair.key, first, second);
        let (choice, is_taken) = self.engine.held_choice(sides, preferred);
        self.pairs.push(Some(OpenPair { key: pair.key, first, second }));
        self.choices.insert((first, second), choice);
        if !is_taken {
            self.failed.push(choice);
        }
        is_taken
    }

    /// The edges of both orders, and the order that moves the candidate less.
    fn sides(&self, key: u32, first: u32, second: u32) -> ([EdgeList; 2], u8) {
        let sides = [(first, second), (second, first)]
            .map(|(before, after)| self.side(Succession { key, before, after }));
        let [one, other] = sides.each_ref().map(|side| self.distance_back(side));
        (sides.map(|side| side.edges), u8::from(other < one))
    }

    pub(super) fn open(&self) -> &'c [OpenKey] {
        &self.level_problem.all.open
    }

    /// Brings the versions of an open key in the order of the candidate. Few have moved since the last time, so a sort
    /// that keeps what is in order takes little.
    fn sort(&mut self, at: usize) {
        let (places, problem) = (self.engine.places(), self.level_problem);
        self.sequences[at].sort_by_key(|&version| (places[problem.end(version) as usize], version));
    }

    /// The versions of all open keys in the order of the candidate.
    fn sequences(&mut self) -> Vec<Vec<u32>> {
        (0..self.sequences.len()).for_each(|at| self.sort(at));
        self.sequences.clone()
    }

    /// Neighbours of different writers in the candidate.
    pub(super) fn successions<'q>(
        &self,
        sequences: &'q [Vec<u32>],
    ) -> impl Iterator<Item = Succession> + use<'q, 'c, 's, 'h> {
        let all = self.level_problem.all;
        let open = &all.open;
        open.iter().zip(sequences).flat_map(move |(open, versions)| {
            let pairs =
                versions.windows(2).map(|pair| Succession { key: open.key, before: pair[0], after: pair[1] });
            pairs.filter(|pair| all.node(pair.before) != all.node(pair.after))
        })
    }

    pub(super) fn side(&self, succession: Succession) -> Side {
        self.level_problem.side(succession.key, succession.before, succession.after)
    }

    /// How far the edges of a side lead back at most.
    fn distance_back(&self, side: &Side) -> u32 {
        let places = self.engine.places();
        let back = |&(before, after): &(u32, u32)| {
            (places[before as usize] + 1).saturating_sub(places[after as usize])
        };
        side.edges.iter().map(back).max().unwrap_or(0)
    }

    fn leads_back(&self, pair: Succession) -> bool {
        let (all, problem) = (self.level_problem.all, self.level_problem);
        let after = all.node(pair.after);
        if all.node(pair.before) == after {
            return false;
        }
        if problem.has_further_edges() {
            return self.distance_back(&self.side(pair)) > 0;
        }
        let place = |node: u32| self.engine.places()[node as usize];
        let end = place(problem.end(pair.after));
        place(problem.end(pair.before)) >= place(problem.start(pair.after))
            || problem.has_edges_of_readers()
                && problem.readers(pair.before).any(|reader| reader != after && place(reader) >= end)
    }

    /// The literal that says this, which may be new.
    pub(super) fn literal(&mut self, succession: Succession) -> Literal {
        let Succession { key, before, after } = succession;
        let (first, second) = (before.min(after), before.max(after));
        let side = u8::from(before > after);
        if let Some(&choice) = self.choices.get(&(first, second)) {
            return (choice, side);
        }
        let (sides, preferred) = self.sides(key, first, second);
        let choice = self.engine.choice(sides, preferred);
        self.pairs.push(Some(OpenPair { key, first, second }));
        self.choices.insert((first, second), choice);
        (choice, side)
    }
}
