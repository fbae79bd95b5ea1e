//! Cut isolation and the weak levels of a history in which values repeat: does some explanation meet them?
//!
//! `docs/explanation/semantics.md` is the specification: "Explanations" and what follows it. Which transactions took
//! effect, unknown initial values, the elements of lists and the rows of recorded orders are tried one by one; the
//! writers of reads of registers are left to a search.

use super::commits::is_satisfied;
use super::dependencies::Dependencies;
use super::open_reads::{Answer, decide};
use super::reader::WeakLevel;
use super::recorded_order::RecordedOrder;
use crate::cancel::Cancel;
use crate::explanations::{Ambiguity, Enumeration, Premise, Told};
use crate::history::{History, Status};
use crate::observations::{INITIAL, Observations};
use crate::reads::{Finding, ReadAnomaly, judge_counted};
use crate::solver::Budget;
use crate::versions::recorded_by;
use crate::versions::transaction_times::TransactionTimes;
use std::ops::ControlFlow;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// The strongest weak level; those below it are judged, too. Nothing: only cut isolation.
    pub strongest: Option<WeakLevel>,
    /// Whether a commit order must contain what is recorded of the order of versions.
    pub by_recorded_order: bool,
    /// What the search may cost.
    pub budget: Budget,
}

/// What explanations say of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    /// Some explanation meets it.
    Holds,
    /// None does.
    Violated,
    /// Not all were tried, or a search was too long.
    #[default]
    Unknown,
}

/// A commit order, and what it supposes.
#[derive(Debug, Clone, Default)]
pub struct ExplainedOrder {
    /// Transactions.
    pub order: Vec<u32>,
    /// Indeterminate transactions that took effect.
    pub effects: Vec<u32>,
    /// Reads that several writes may explain: the read, the writes or [`INITIAL`], and whether it is of a list.
    pub reads: Vec<(u32, Vec<u32>, bool)>,
}

/// What all explanations say.
#[derive(Debug, Default)]
pub struct Explained {
    /// Whether there is anything that may be explained in several ways.
    pub is_ambiguous: bool,
    /// Cut isolation.
    pub cut: Outcome,
    /// A read that breaks it in an explanation.
    pub cut_finding: Option<Finding>,
    /// The weak levels, from read committed on.
    pub weak: Vec<Outcome>,
    /// A commit order of each that holds.
    pub orders: Vec<Option<ExplainedOrder>>,
}

/// Judges cut isolation and the weak levels; reads that were set aside are of these keys.
#[must_use]
pub fn judge_explained(
    history: &History,
    observations: &Observations,
    repeated_keys: &[u32],
    question: Question,
    cancel: &Cancel,
) -> Explained {
    let levels = question.strongest.map_or(0, |strongest| strongest as usize + 1);
    let unknown = || Explained {
        weak: vec![Outcome::Unknown; levels],
        orders: vec![None; levels],
        ..Explained::default()
    };
    let mut keys = repeated_keys.to_vec();
    if question.by_recorded_order {
        let times = TransactionTimes::new(history, &observations.counted);
        keys.extend(recorded_by(None, history, observations, &times, cancel).unsure_keys);
    }
    if keys.is_empty() {
        return unknown();
    }
    let ambiguity = Ambiguity::new(history, &observations.counted, keys);
    if !ambiguity.is_covered() {
        return unknown();
    }
    let mut tally =
        Tally { history, question, cancel, found: unknown(), sources: Sources::default(), tried: 0 };
    let end = question.budget.time.map(|time| (time.clock)() + time.milliseconds);
    let is_late = || question.budget.time.zip(end).is_some_and(|(time, end)| (time.clock)() >= end);
    let is_over = || cancel.is_asked() || is_late();
    let enumeration = Enumeration { with_reads: false, is_over: &is_over };
    // Until an explanation leaves them open, no explanation so far meets them.
    tally.found.cut = Outcome::Violated;
    tally.found.weak.fill(Outcome::Violated);
    let is_exhaustive = ambiguity.each(&enumeration, &mut |told, premise| tally.visit(told, premise));
    Explained { is_ambiguous: true, ..tally.finish(is_exhaustive) }
}

/// Whether the sources of the order of versions agree, or contradict each other, in some explanation.
#[derive(Debug, Clone, Copy, Default)]
struct Sources {
    agree: bool,
    contradict: bool,
}

/// What the explanations so far say.
struct Tally<'t> {
    history: &'t History,
    question: Question,
    cancel: &'t Cancel,
    found: Explained,
    sources: Sources,
    tried: usize,
}

impl Tally<'_> {
    fn visit(&mut self, told: &Told, premise: &Premise) -> ControlFlow<()> {
        self.tried += 1;
        let (by_value, _) = judge_counted(self.history, premise.counted.clone(), self.cancel);
        let differs = |finding: &&Finding| finding.name == ReadAnomaly::NonRepeatableRead;
        let differing = by_value.findings.iter().find(differs).copied();
        if differing.is_none() {
            self.found.cut = Outcome::Holds;
        }
        self.found.cut_finding = self.found.cut_finding.or(differing);
        self.weak(told, premise, differing.is_some());
        let is_settled = |outcome: &Outcome| *outcome == Outcome::Holds;
        if self.found.cut == Outcome::Holds && self.found.weak.iter().all(is_settled) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// The strongest level first: if it holds, so do the others.
    fn weak(&mut self, told: &Told, premise: &Premise, differs: bool) {
        if self.found.weak.is_empty() {
            return;
        }
        let (reads, observations) = judge_counted(&told.history, premise.counted.clone(), self.cancel);
        let recorded = self.recorded(told, &observations);
        self.sources.contradict |= recorded.is_none();
        self.sources.agree |= recorded.is_some();
        let is_wrong = |finding: &Finding| finding.name != ReadAnomaly::NonRepeatableRead;
        if reads.findings.iter().any(is_wrong) {
            return;
        }
        if !reads.mixed_keys.is_empty() || !reads.deleted_keys.is_empty() || reads.repeated_reads > 0 {
            self.leave_open();
            return;
        }
        let Some(recorded) = recorded else { return };
        let dependencies = Dependencies::new(&told.history, &observations, recorded);
        for level in WeakLevel::ALL[..self.found.weak.len()].iter().copied().rev() {
            if self.found.weak[level as usize] == Outcome::Holds {
                return;
            }
            if differs && level != WeakLevel::ReadCommitted {
                continue;
            }
            match decide(&dependencies, &told.open, level, self.question.budget, self.cancel) {
                Answer::Found(order, shown) => {
                    assert!(
                        is_satisfied(&dependencies, &order, &shown, level, self.cancel),
                        "the commit order of {level:?} breaks it"
                    );
                    self.prove(level, &self.told_order(told, premise, order, &shown));
                    return;
                }
                Answer::Impossible => {}
                Answer::Unknown => self.found.weak[level as usize] = Outcome::Unknown,
            }
        }
    }

    /// What is recorded of the order of versions; nothing if sources contradict each other.
    fn recorded(&self, told: &Told, observations: &Observations) -> Option<RecordedOrder> {
        if !self.question.by_recorded_order {
            return Some(RecordedOrder::default());
        }
        let times = TransactionTimes::new(&told.history, &observations.counted);
        let orders = recorded_by(None, &told.history, observations, &times, self.cancel);
        orders.contradictions.is_empty().then(|| RecordedOrder::new(&orders, None))
    }

    fn leave_open(&mut self) {
        for outcome in self.found.weak.iter_mut().filter(|outcome| **outcome == Outcome::Violated) {
            *outcome = Outcome::Unknown;
        }
    }

    fn prove(&mut self, level: WeakLevel, order: &ExplainedOrder) {
        for weaker in 0..=level as usize {
            if self.found.weak[weaker] != Outcome::Holds {
                self.found.weak[weaker] = Outcome::Holds;
                self.found.orders[weaker] = Some(order.clone());
            }
        }
    }

    fn told_order(
        &self,
        told: &Told,
        premise: &Premise,
        order: Vec<u32>,
        shown: &[(u32, u32)],
    ) -> ExplainedOrder {
        let last_write = |writer: u32, read: u32| {
            let key = self.history.operations.keys[read as usize];
            let installs = |operation: &usize| {
                self.history.operations.kinds[*operation].installs()
                    && self.history.operations.keys[*operation] == key
            };
            self.history.operations_of(writer as usize).rev().find(installs).map_or(INITIAL, |o| o as u32)
        };
        let write = |(read, writer): (u32, u32)| {
            let write = if writer == INITIAL { INITIAL } else { last_write(writer, read) };
            (read, vec![write], false)
        };
        let mut reads: Vec<(u32, Vec<u32>, bool)> = shown.iter().copied().map(write).collect();
        reads.extend(told.shown.iter().cloned());
        reads.sort_unstable();
        let statuses = &self.history.transactions.statuses;
        let took_effect =
            |&t: &u32| premise.counted[t as usize] && statuses[t as usize] == Status::Indeterminate;
        let effects = (0..statuses.len() as u32).filter(took_effect).collect();
        ExplainedOrder { order, effects, reads }
    }

    /// If not all explanations were tried, those that were say nothing against a level.
    fn finish(mut self, is_exhaustive: bool) -> Explained {
        if !is_exhaustive || self.tried == 0 {
            self.leave_open();
            if self.found.cut == Outcome::Violated {
                self.found.cut = Outcome::Unknown;
            }
        } else if self.sources.contradict && !self.sources.agree {
            // Where they agree in some explanation, those in which they contradict each other do not count.
            self.leave_open();
        }
        self.found
    }
}

#[cfg(test)]
mod tests;
