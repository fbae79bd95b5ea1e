//! Clauses over choices: what follows from the sides that are taken, and what is learnt from a conflict.
//!
//! As in MiniSat (Eén and Sörensson 2003): two literals of each clause are watched; a conflict is resolved until one
//! literal of the latest decision is left, and literals that follow from others are left out.

/// Two for each choice: one for each of its sides.
pub(super) type Lit = u32;

/// No clause.
pub(super) const NONE: u32 = u32::MAX;
/// A choice that is not made.
pub(super) const OPEN: u8 = 2;

const DECAY: f64 = 0.95;
const CLAUSE_DECAY: f64 = 0.999;
const TOO_LARGE: f64 = 1e100;
/// So many learnt clauses are kept at first; later more.
const FIRST_LIMIT: usize = if cfg!(test) { 8 } else { 10_000 };

pub(super) const fn literal(choice: u32, side: u8) -> Lit {
    2 * choice + side as u32
}

pub(super) const fn choice_of(literal: Lit) -> usize {
    literal as usize / 2
}

pub(super) const fn side_of(literal: Lit) -> u8 {
    (literal & 1) as u8
}

pub(super) const fn opposite(literal: Lit) -> Lit {
    literal ^ 1
}

struct Clause {
    /// Empty if the clause was dropped; the first two are watched.
    literals: Vec<Lit>,
    is_learnt: bool,
    activity: f64,
}

/// Clauses, and the sides that are taken.
#[derive(Default)]
pub(super) struct Clauses {
    all: Vec<Clause>,
    /// The clauses that watch each literal.
    watches: Vec<Vec<u32>>,
    /// The side of each choice, or [`OPEN`].
    values: Vec<u8>,
    levels: Vec<u32>,
    /// The clause that each choice follows from, or [`NONE`].
    reasons: Vec<u32>,
    pub(super) trail: Vec<Lit>,
    propagated: usize,
    activities: Vec<f64>,
    bump: f64,
    clause_bump: f64,
    learnt: usize,
    limit: usize,
    is_seen: Vec<bool>,
    /// What all literals of clauses take.
    pub(super) literals: u64,
    /// Whether there is no way to choose.
    pub(super) is_contradictory: bool,
}

/// What a conflict teaches.
pub(super) struct Lesson {
    /// The first literal follows at the level.
    pub(super) clause: Vec<Lit>,
    pub(super) level: u32,
}

impl Clauses {
    pub(super) fn new() -> Self {
        Self { bump: 1.0, clause_bump: 1.0, limit: FIRST_LIMIT, ..Self::default() }
    }

    pub(super) fn add_choice(&mut self) {
        self.watches.extend([Vec::new(), Vec::new()]);
        self.values.push(OPEN);
        self.levels.push(0);
        self.reasons.push(NONE);
        self.activities.push(0.0);
        self.is_seen.push(false);
    }

    /// How many clauses there were; dropped ones leave a place.
    pub(super) fn count(&self) -> u64 {
        self.all.len() as u64
    }

    pub(super) fn value(&self, choice: u32) -> u8 {
        self.values[choice as usize]
    }

    pub(super) fn activity(&self, choice: u32) -> f64 {
        self.activities[choice as usize]
    }

    /// The literals of a clause; none if it was dropped.
    pub(super) fn of(&self, number: u32) -> &[Lit] {
        &self.all[number as usize].literals
    }

    pub(super) fn is_open(&self, literal: Lit) -> bool {
        self.values[choice_of(literal)] == OPEN
    }

    fn is_true(&self, literal: Lit) -> bool {
        self.values[choice_of(literal)] == side_of(literal)
    }

    fn is_false(&self, literal: Lit) -> bool {
        self.values[choice_of(literal)] == 1 - side_of(literal)
    }

    /// Takes a side.
    pub(super) fn enqueue(&mut self, literal: Lit, level: u32, reason: u32) {
        let choice = choice_of(literal);
        self.values[choice] = side_of(literal);
        self.levels[choice] = level;
        self.reasons[choice] = reason;
        self.trail.push(literal);
    }

    /// Adds a clause before any decision; its number unless it is met by what is known, or known to be one literal.
    pub(super) fn add(&mut self, mut literals: Vec<Lit>) -> Option<u32> {
        literals.sort_unstable();
        literals.dedup();
        let is_met = literals.windows(2).any(|pair| pair[0] == opposite(pair[1]));
        if is_met || literals.iter().any(|&literal| self.is_true(literal)) {
            return None;
        }
        literals.retain(|&literal| !self.is_false(literal));
        match literals[..] {
            [] => self.is_contradictory = true,
            [only] => self.enqueue(only, 0, NONE),
            _ => return Some(self.watch(literals, false)),
        }
        None
    }

    fn watch(&mut self, literals: Vec<Lit>, is_learnt: bool) -> u32 {
        let number = self.all.len() as u32;
        self.watches[literals[0] as usize].push(number);
        self.watches[literals[1] as usize].push(number);
        self.literals += literals.len() as u64;
        self.learnt += usize::from(is_learnt);
        self.all.push(Clause { literals, is_learnt, activity: self.clause_bump });
        number
    }

    /// Takes what follows; a clause that fails.
    pub(super) fn propagate(&mut self, level: u32) -> Option<u32> {
        while let Some(&literal) = self.trail.get(self.propagated) {
            self.propagated += 1;
            if let Some(failed) = self.visit(opposite(literal), level) {
                return Some(failed);
            }
        }
        None
    }

    /// Looks at the clauses that watch a literal which became false.
    fn visit(&mut self, falsified: Lit, level: u32) -> Option<u32> {
        let mut watching = std::mem::take(&mut self.watches[falsified as usize]);
        let (mut next, mut kept, mut failed) = (0, 0, None);
        while next < watching.len() && failed.is_none() {
            let number = watching[next];
            next += 1;
            if self.moves_watch(number, falsified) {
                continue;
            }
            watching[kept] = number;
            kept += 1;
            let first = self.all[number as usize].literals[0];
            if self.is_false(first) {
                failed = Some(number);
            } else if !self.is_true(first) {
                self.enqueue(first, level, number);
            }
        }
        watching.drain(kept..next);
        self.watches[falsified as usize] = watching;
        failed
    }

    /// Whether a clause no longer watches a literal: it watches another, or was dropped.
    fn moves_watch(&mut self, number: u32, falsified: Lit) -> bool {
        let values = &self.values;
        let literals = &mut self.all[number as usize].literals;
        let Some(&first) = literals.first() else { return true };
        if first == falsified {
            literals.swap(0, 1);
        }
        if values[choice_of(literals[0])] == side_of(literals[0]) {
            return false;
        }
        let is_false = |literal: Lit| values[choice_of(literal)] == 1 - side_of(literal);
        let Some(place) = (2..literals.len()).find(|&place| !is_false(literals[place])) else { return false };
        literals.swap(1, place);
        let watched = literals[1];
        self.watches[watched as usize].push(number);
        true
    }

    /// Takes back all sides but the first `left` of the trail, and says which.
    pub(super) fn take_back(&mut self, left: usize) -> Vec<Lit> {
        let taken_back = self.trail.split_off(left);
        for &literal in &taken_back {
            self.values[choice_of(literal)] = OPEN;
        }
        self.propagated = left;
        taken_back
    }

    /// What follows from literals that are all false, one of them since the latest decision at `level`.
    pub(super) fn lesson(&mut self, mut failed: Vec<Lit>, level: u32) -> Lesson {
        let mut clause = vec![0];
        let (mut at_level, mut place) = (0, self.trail.len());
        loop {
            for &literal in &failed {
                let choice = choice_of(literal);
                if self.levels[choice] == 0 || std::mem::replace(&mut self.is_seen[choice], true) {
                    continue;
                }
                self.bump_choice(choice);
                if self.levels[choice] == level {
                    at_level += 1;
                } else {
                    clause.push(literal);
                }
            }
            place = (0..place).rev().find(|&at| self.is_seen[choice_of(self.trail[at])]).unwrap_or(0);
            let latest = self.trail[place];
            self.is_seen[choice_of(latest)] = false;
            at_level -= 1;
            if at_level == 0 {
                clause[0] = opposite(latest);
                break;
            }
            let reason = self.reasons[choice_of(latest)];
            self.bump_clause(reason);
            failed = self.of(reason).iter().copied().filter(|&other| other != latest).collect();
        }
        let all = clause.clone();
        let kept: Vec<bool> = clause[1..].iter().map(|&literal| !self.follows(literal)).collect();
        let mut kept = std::iter::once(true).chain(kept);
        clause.retain(|_| kept.next().unwrap_or(true));
        all[1..].iter().for_each(|&literal| self.is_seen[choice_of(literal)] = false);
        self.decay();
        self.with_level(clause)
    }

    /// Whether a literal of a lesson follows from the others.
    fn follows(&self, literal: Lit) -> bool {
        let reason = self.reasons[choice_of(literal)];
        let is_known = |&other: &Lit| {
            other == opposite(literal) || self.is_seen[choice_of(other)] || self.levels[choice_of(other)] == 0
        };
        reason != NONE && self.of(reason).iter().all(is_known)
    }

    /// The level to which a lesson leads back: the latest but one of its literals.
    fn with_level(&self, mut clause: Vec<Lit>) -> Lesson {
        let level = |literal: Lit| self.levels[choice_of(literal)];
        let latest = (1..clause.len()).max_by_key(|&place| level(clause[place]));
        if let Some(latest) = latest {
            clause.swap(1, latest);
        }
        let level = clause.get(1).map_or(0, |&literal| level(literal));
        Lesson { clause, level }
    }

    /// Keeps a lesson and takes what follows from it; the number of its clause if it has several literals.
    pub(super) fn learn(&mut self, lesson: Lesson) -> Option<u32> {
        let Lesson { clause, level } = lesson;
        let first = clause[0];
        if clause.len() == 1 {
            self.enqueue(first, 0, NONE);
            return None;
        }
        let number = self.watch(clause, true);
        self.enqueue(first, level, number);
        Some(number)
    }

    fn bump_choice(&mut self, choice: usize) {
        self.activities[choice] += self.bump;
        if self.activities[choice] > TOO_LARGE {
            self.activities.iter_mut().for_each(|activity| *activity /= TOO_LARGE);
            self.bump /= TOO_LARGE;
        }
    }

    fn bump_clause(&mut self, number: u32) {
        let clause = &mut self.all[number as usize];
        clause.activity += self.clause_bump;
        if clause.activity > TOO_LARGE {
            self.all.iter_mut().for_each(|clause| clause.activity /= TOO_LARGE);
            self.clause_bump /= TOO_LARGE;
        }
    }

    fn decay(&mut self) {
        self.bump /= DECAY;
        self.clause_bump /= CLAUSE_DECAY;
    }

    /// Drops the half of the learnt clauses that took part in conflicts the longest ago, if there are many.
    pub(super) fn forget(&mut self) {
        if self.learnt < self.limit {
            return;
        }
        self.limit += self.limit / 10;
        let is_reason = |literals: &[Lit], number: u32| {
            self.is_true(literals[0]) && self.reasons[choice_of(literals[0])] == number
        };
        let numbered = self.all.iter().zip(0u32..);
        let learnt = numbered.filter(|(clause, _)| clause.is_learnt && clause.literals.len() > 2);
        let mut unused: Vec<(f64, u32)> = learnt
            .filter(|(clause, number)| !is_reason(&clause.literals, *number))
            .map(|(clause, number)| (clause.activity, number))
            .collect();
        unused.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        for &(_, number) in &unused[..unused.len() / 2] {
            let dropped = std::mem::take(&mut self.all[number as usize].literals);
            self.literals -= dropped.len() as u64;
            self.learnt -= 1;
        }
    }
}
