//! Reads that several versions explain at levels that forbid paths, or versions in between: a candidate supposes one
//! version of each. What is supposed becomes a choice only when it takes part in a fault.

use super::OpenRead;
use super::order_search::{OrderSearch, Succession};
use crate::observations::{ABSENT, INITIAL};
use crate::solver::bars::{Bars, Reasoned};
use crate::versions::levels::Level;
use hashbrown::HashMap;

/// Something that a candidate supposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Supposed {
    /// One version before another.
    Order(Succession),
    /// A read, by its place, shows a version.
    Read(usize, u32),
}

/// A read and the version that a candidate supposes.
pub(super) struct SupposedRead {
    pub(super) number: usize,
    node: u32,
    read: u32,
    key: u32,
    at: usize,
    pub(super) version: u32,
    misses_nothing: bool,
}

/// Edges and bars of a candidate, and what each of them supposes.
pub(super) struct SupposedBars {
    pub(super) bars: Bars,
    pub(super) reasons: Vec<Vec<Supposed>>,
}

impl SupposedBars {
    fn reason(&mut self, supposed: &[Supposed]) -> u32 {
        self.reasons.push(supposed.to_vec());
        self.reasons.len() as u32 - 1
    }

    fn edge(&mut self, from: u32, to: u32, supposed: &[Supposed]) {
        let reason = self.reason(supposed);
        self.bars.edges.push(Reasoned { from, to, reason });
    }

    fn bar(&mut self, from: u32, to: u32, supposed: &[Supposed]) {
        let reason = self.reason(supposed);
        self.bars.barred.push(Reasoned { from, to, reason });
    }
}

/// Versions that a candidate puts right after each version.
type Successions = HashMap<u32, Vec<Succession>>;

impl OrderSearch<'_, '_, '_, '_> {
    /// Supposes a version of each read; also how many have none before them, which become choices.
    pub(super) fn suppose_reads(&mut self) -> (Vec<SupposedRead>, usize) {
        if !self.level_problem.supposes_reads() {
            return (Vec::new(), 0);
        }
        let (mut found, mut failed) = (Vec::new(), 0);
        for (number, open) in self.level_problem.reads().iter().enumerate() {
            let &OpenRead { node, read, key, at, misses_nothing, .. } = open;
            if let Some(version) = self.supposed_version(number, open) {
                found.push(SupposedRead { number, node, read, key, at, version, misses_nothing });
            } else {
                self.choose_version(number, open);
                failed += 1;
            }
        }
        (found, failed)
    }

    /// Adds what follows from the versions that reads show.
    pub(super) fn add_reads(&self, reads: &[SupposedRead], all: &mut SupposedBars) {
        let mut successions = Successions::new();
        for supposed in all.reasons.iter().flatten() {
            if let &Supposed::Order(succession) = supposed {
                successions.entry(succession.before).or_default().push(succession);
            }
        }
        for read in reads {
            self.add_read(read, &successions, all);
        }
        if self.level_problem.level == Level::UpdateSerializable {
            for same in reads.chunk_by(|one, other| one.node == other.node) {
                if !self.level_problem.writes_something(same[0].node) {
                    self.add_reader(same, &successions, all);
                }
            }
        }
    }

    fn add_read(&self, read: &SupposedRead, successions: &Successions, all: &mut SupposedBars) {
        let problem = self.level_problem;
        let shown = Supposed::Read(read.number, read.version);
        let writer = self.writer(read.version);
        let missed = if read.misses_nothing {
            Vec::new()
        } else {
            self.missed_by(read.node, read.key, read.version, successions)
        };
        match problem.level {
            Level::MonotonicView => {
                let moments = problem.moments_from(read.node, read.read);
                for node in writer.into_iter().flat_map(|writer| {
                    moments.iter().map(move |&moment| (writer, moment)).chain([(writer, read.node)])
                }) {
                    all.edge(node.0, node.1, &[shown]);
                }
                for (next, supposed) in missed {
                    let supposed: Vec<Supposed> = supposed.into_iter().chain([shown]).collect();
                    if let Some(&moment) = moments.first() {
                        all.bar(next, moment, &supposed);
                    }
                }
            }
            Level::UpdateSerializable if !problem.writes_something(read.node) => {}
            level => {
                if let Some(writer) = writer {
                    all.edge(writer, read.node, &[shown]);
                }
                for (next, supposed) in missed {
                    let supposed: Vec<Supposed> = supposed.into_iter().chain([shown]).collect();
                    all.bar(next, read.node, &supposed);
                    if level == Level::UpdateSerializable {
                        all.edge(read.node, next, &supposed);
                    }
                }
            }
        }
    }

    /// A transaction that only reads: nothing that it missed leads to what it read from.
    fn add_reader(&self, reads: &[SupposedRead], successions: &Successions, all: &mut SupposedBars) {
        let (problem, node) = (self.level_problem, reads[0].node);
        let transaction = problem.all.small.transactions[node as usize];
        let known: Vec<(u32, u32)> =
            problem.all.lookup.observed(transaction).map(|(_, key, version)| (key, version)).collect();
        for source in reads {
            let Some(writer) = self.writer(source.version) else { continue };
            let shown = Supposed::Read(source.number, source.version);
            let missed =
                known.iter().flat_map(|&(key, version)| self.missed_by(node, key, version, successions));
            for (next, supposed) in missed {
                let supposed: Vec<Supposed> = supposed.into_iter().chain([shown]).collect();
                all.bar(next, writer, &supposed);
            }
        }
        for read in reads {
            let shown = Supposed::Read(read.number, read.version);
            for (next, supposed) in self.missed_by(node, read.key, read.version, successions) {
                let supposed: Vec<Supposed> = supposed.into_iter().chain([shown]).collect();
                for source in problem.sources_of(node) {
                    all.bar(next, source, &supposed);
                }
                for source in reads {
                    let both = [&supposed[..], &[Supposed::Read(source.number, source.version)]].concat();
                    if let Some(writer) = self.writer(source.version) {
                        all.bar(next, writer, &both);
                    }
                }
            }
        }
    }

    /// The nodes that wrote right after a version, and what that supposes.
    fn missed_by(
        &self,
        reader: u32,
        key: u32,
        version: u32,
        successions: &Successions,
    ) -> Vec<(u32, Option<Supposed>)> {
        let all = self.level_problem.all;
        let known = all.lookup.after(key, version, self.level_problem.level.order());
        let known = known.map(|extra| (extra.after, None));
        let supposed = successions.get(&version).into_iter().flatten();
        let supposed = supposed.map(|&succession| (succession.after, Some(Supposed::Order(succession))));
        let found = known.chain(supposed).filter_map(|(after, supposed)| {
            let node = self.writer(after).filter(|&node| node != reader)?;
            Some((node, supposed))
        });
        found.collect()
    }

    /// The node that wrote a version, if it is among those that may be on a cycle.
    fn writer(&self, version: u32) -> Option<u32> {
        let all = self.level_problem.all;
        let writer = all.lookup.orders.writers[version as usize];
        (writer != INITIAL).then(|| all.nodes[writer as usize]).filter(|&node| node != ABSENT)
    }

    /// Updates that are lost if reads show what the candidate supposes.
    pub(super) fn lost_by_reads(&self, reads: &[SupposedRead], sequences: &[Vec<u32>]) -> Vec<Vec<Supposed>> {
        if self.level_problem.level != Level::CursorStability {
            return Vec::new();
        }
        let all = self.level_problem.all;
        let mut faults = Vec::new();
        for read in reads.iter().filter(|read| !read.misses_nothing) {
            let transaction = all.small.transactions[read.node as usize];
            let versions = &sequences[read.at];
            let first = match self.writer(read.version) {
                Some(_) => versions.iter().position(|&v| v == read.version).map_or(0, |place| place + 1),
                None => 0,
            };
            for own in all.lookup.installed_of(transaction, read.key) {
                let Some(end) = versions.iter().position(|&version| version == own) else { continue };
                let Some(&other) = versions.get(first..end).and_then(<[u32]>::first) else { continue };
                let (key, shown) = (read.key, Supposed::Read(read.number, read.version));
                let mut fault = vec![shown, Supposed::Order(Succession { key, before: other, after: own })];
                if self.writer(read.version).is_some() {
                    let before = read.version;
                    fault.push(Supposed::Order(Succession { key, before, after: other }));
                }
                faults.push(fault);
            }
        }
        faults
    }

    /// What takes part in a fault, as choices.
    pub(super) fn literals_of(&mut self, fault: &[Supposed]) -> Vec<crate::solver::Literal> {
        let literals = fault.iter().map(|&supposed| match supposed {
            Supposed::Order(succession) => self.literal(succession),
            Supposed::Read(number, version) => self.shown_literal(number, version),
        });
        let mut literals: Vec<crate::solver::Literal> = literals.collect();
        literals.sort_unstable();
        literals.dedup();
        literals
    }
}
