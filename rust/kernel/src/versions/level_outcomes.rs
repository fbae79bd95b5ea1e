//! Which levels are broken, which hold, and which are still open.

use super::Outcome;
use super::anomalies::{Finding, Named, VersionAnomaly};
use super::dependencies::{Dependencies, Order};
use super::levels::{Cycles, Level};
use super::lookup::Lookup;
use super::orders::Orders;
use super::session_guarantees::{GUARANTEES, Touches};
use super::witness::Step;

/// What is known of the levels so far.
pub(super) struct LevelOutcomes {
    violated: [bool; Level::COUNT],
    /// Whether a level that is not violated holds for sure.
    decided: [bool; Level::COUNT],
}

impl LevelOutcomes {
    /// `knows_reads`: the version that each read showed is known.
    pub(super) fn new(found: &Cycles, orders: &Orders, knows_reads: bool) -> Self {
        let mut levels = Self { violated: found.violated, decided: [false; Level::COUNT] };
        levels.violated[Level::Pl1 as usize] |= !orders.circles.is_empty();
        levels.violated[Level::Pl2 as usize] |= !orders.dirty.is_empty();
        levels.spread();
        // Where all orders are known, whatever is not violated holds.
        if orders.is_complete() && knows_reads {
            levels.decide_all();
            for level in GUARANTEES {
                levels.decided[level as usize] = false;
            }
        }
        levels
    }

    fn spread(&mut self) {
        Cycles::spread(&mut self.violated);
    }

    fn decide_all(&mut self) {
        self.decided = [true; Level::COUNT];
    }

    pub(super) fn is_known(&self, level: Level) -> bool {
        self.violated[level as usize] || self.decided[level as usize]
    }

    /// Whether a stronger level holds.
    fn is_proved(&self, level: Level) -> bool {
        let holds = |stronger: &Level| self.decided[*stronger as usize] && !self.violated[*stronger as usize];
        Level::ALL.iter().any(|stronger| stronger.implied().contains(&level) && holds(stronger))
    }

    pub(super) fn prove(&mut self, level: Level) {
        self.decided[level as usize] = true;
        for &weaker in level.implied() {
            if !self.decided[weaker as usize] {
                self.prove(weaker);
            }
        }
    }

    pub(super) fn refute(&mut self, level: Level) {
        self.violated[level as usize] = true;
        self.spread();
    }

    pub(super) fn outcomes(&self, is_timed: bool) -> [Outcome; Level::COUNT] {
        Level::ALL.map(|level| {
            let is_untimed = level.order() == Order::RealTime && !is_timed;
            match (self.violated[level as usize], self.decided[level as usize]) {
                (true, _) => Outcome::Violated,
                _ if is_untimed => Outcome::Untimed,
                (_, true) => Outcome::Holds,
                _ if self.is_proved(level) => Outcome::Holds,
                _ => Outcome::Spent,
            }
        })
    }

    /// Decides the session guarantees that no stronger level proves.
    /// If not every read is known, they can only be broken.
    pub(super) fn look_at_guarantees(
        &mut self,
        all: &Dependencies,
        lookup: &Lookup<'_>,
        knows_reads: bool,
        named: &mut Named,
    ) {
        let open: Vec<Level> = GUARANTEES.into_iter().filter(|&level| !self.is_proved(level)).collect();
        if open.is_empty() {
            return;
        }
        let touches = Touches::new(all, lookup);
        for level in open {
            let is_broken = touches.breaks(level);
            self.decided[level as usize] = is_broken || knows_reads;
            self.violated[level as usize] |= is_broken;
            if is_broken {
                let shown = touches.witness(level).unwrap_or_else(|| no_commit_order(level, Vec::new()));
                if shown.name == VersionAnomaly::NoCommitOrder {
                    named.counts[VersionAnomaly::NoCommitOrder as usize] += 1;
                }
                named.findings.push(shown);
            }
        }
        self.spread();
    }
}

/// Whatever the order of versions, this level is broken.
pub(super) fn no_commit_order(level: Level, alternatives: Vec<Vec<Step>>) -> Finding {
    Finding { name: VersionAnomaly::NoCommitOrder, steps: Vec::new(), alternatives, level: Some(level) }
}
