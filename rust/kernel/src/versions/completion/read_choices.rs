//! Reads that several versions explain. Such a read becomes a choice of a version where it shows another value in a
//! candidate; then the versions between the chosen one and the read become choices, too.

use super::OpenRead;
use super::order_search::{OrderSearch, Succession};
use crate::solver::Literal;
use hashbrown::HashMap;

/// So many versions between a read and what it shows become choices for one candidate.
const MAX_AT_ONCE: usize = 8;

/// The choices that reads have become.
#[derive(Default)]
pub(super) struct ReadChoices {
    /// For each read by its place: the choice of each of its versions, whose first side is that it is shown.
    shown: HashMap<usize, Vec<u32>>,
    /// For each read by its place and each version: the choice whose first side is that the read missed it.
    missed: HashMap<(usize, u32), u32>,
}

impl ReadChoices {
    /// The read, by its place, that a choice is about.
    pub(super) fn read_of(&self, choice: u32) -> Option<usize> {
        let shown =
            self.shown.iter().find(|(_, choices)| choices.contains(&choice)).map(|(&number, _)| number);
        let missed = || self.missed.iter().find(|&(_, &other)| other == choice);
        shown.or_else(|| missed().map(|(&(number, _), _)| number))
    }
}

impl OrderSearch<'_, '_, '_, '_> {
    /// Makes choices of reads that show another value in the candidate; how many reads do.
    pub(super) fn choose_at_reads(&mut self, sequences: &[Vec<u32>]) -> usize {
        if !self.level_problem.has_reads() || self.level_problem.supposes_reads() {
            return 0;
        }
        let mut failed = 0;
        for (number, read) in self.level_problem.reads().iter().enumerate() {
            let versions = &sequences[read.at];
            if self.is_met(read, versions) {
                continue;
            }
            failed += 1;
            if self.reads.shown.contains_key(&number) {
                self.choose_between(number, read, versions);
            } else {
                self.choose_version(number, read);
            }
        }
        failed
    }

    fn is_initial(&self, read: &OpenRead, version: u32) -> bool {
        version == self.level_problem.all.lookup.order(read.key).start
    }

    fn place(&self, version: u32) -> u32 {
        self.engine.places()[self.level_problem.end(version) as usize]
    }

    fn is_before(&self, read: &OpenRead, version: u32) -> bool {
        self.is_initial(read, version) || self.place(version) < self.engine.places()[read.node as usize]
    }

    /// Whether the read shows a possible version in the candidate.
    fn is_met(&self, read: &OpenRead, versions: &[u32]) -> bool {
        if read.misses_nothing || !self.level_problem.has_missed_versions() {
            return read.versions.iter().any(|&version| self.is_before(read, version));
        }
        let before = versions.partition_point(|&version| self.is_before(read, version));
        let initial = self.level_problem.all.lookup.order(read.key).start;
        let shown = versions[..before].last().copied().unwrap_or(initial);
        read.versions.binary_search(&shown).is_ok()
    }

    /// One of the versions is shown; the latest before the read is tried first.
    pub(super) fn choose_version(&mut self, number: usize, read: &OpenRead) {
        let before = read.versions.iter().copied().filter(|&version| self.is_before(read, version));
        let place = |&version: &u32| if self.is_initial(read, version) { 0 } else { self.place(version) + 1 };
        let after = || read.versions.iter().copied().min_by_key(place);
        let likely = before.max_by_key(place).or_else(after);
        let mut choices = Vec::new();
        for &version in &read.versions {
            let is_written = !self.is_initial(read, version);
            let edges = if is_written { self.level_problem.shows(version, read) } else { Vec::new() };
            let preferred = u8::from(likely != Some(version));
            choices.push(self.further_choice(edges, preferred));
        }
        let none: Vec<Literal> = choices.iter().map(|&choice| (choice, 1)).collect();
        self.engine.forbid(&none);
        self.reads.shown.insert(number, choices);
    }

    /// The version that a candidate supposes: the one that is chosen, or the latest possible one before the read.
    pub(super) fn supposed_version(&self, number: usize, read: &OpenRead) -> Option<u32> {
        if let Some(choices) = self.reads.shown.get(&number) {
            let mut chosen = choices.iter().zip(&read.versions);
            return chosen.find(|&(&choice, _)| self.engine.side(choice) == 0).map(|(_, &version)| version);
        }
        let before = read.versions.iter().copied().filter(|&version| self.is_before(read, version));
        before.max_by_key(|&version| if self.is_initial(read, version) { 0 } else { self.place(version) + 1 })
    }

    /// The choice that a read shows a version.
    pub(super) fn shown_literal(&mut self, number: usize, version: u32) -> Literal {
        let read = &self.level_problem.reads()[number];
        if !self.reads.shown.contains_key(&number) {
            self.choose_version(number, read);
        }
        let place = read.versions.binary_search(&version).unwrap_or(0);
        (self.reads.shown[&number][place], 0)
    }

    /// A version between the one that is shown and the read comes before that one, or after the read.
    fn choose_between(&mut self, number: usize, read: &OpenRead, versions: &[u32]) {
        let choices = self.reads.shown[&number].clone();
        for (choice, &shown) in choices.into_iter().zip(&read.versions) {
            if self.engine.side(choice) != 0 {
                continue;
            }
            let is_initial = self.is_initial(read, shown);
            let is_between = |&version: &u32| {
                self.is_before(read, version) && (is_initial || self.place(shown) < self.place(version))
            };
            let between: Vec<u32> = versions.iter().copied().filter(is_between).take(MAX_AT_ONCE).collect();
            for version in between {
                let missed = self.missed(number, read, version);
                let mut literals = vec![(choice, 0), (missed, 1)];
                if !is_initial {
                    literals.push(self.literal(Succession { key: read.key, before: shown, after: version }));
                }
                self.engine.forbid(&literals);
            }
        }
    }

    fn missed(&mut self, number: usize, read: &OpenRead, version: u32) -> u32 {
        if let Some(&choice) = self.reads.missed.get(&(number, version)) {
            return choice;
        }
        let choice = self.further_choice(vec![self.level_problem.misses(read.node, version)], 1);
        self.reads.missed.insert((number, version), choice);
        choice
    }

    /// A choice whose first side has these edges, and whose second has none.
    fn further_choice(&mut self, edges: Vec<(u32, u32)>, preferred: u8) -> u32 {
        self.pairs.push(None);
        self.engine.choice([edges, Vec::new()], preferred)
    }
}
