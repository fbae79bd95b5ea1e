//! Cut isolation and the weak levels of a history in which values repeat: does some explanation meet them?
//!
//! `docs/explanation/semantics.md` is the specification: "Explanations" and what follows it. Which transactions took
//! effect, unknown initial values, the elements of lists and the rows of recorded orders are tried one by one; the
//! writers of reads of registers are left to a search.

use super::agreement::ambiguous_keys;
use super::commits::is_satisfied;
use super::dependencies::Dependencies;
use super::open_reads::{Answer, decide};
use super::reader::WeakLevel;
use super::recorded_order::RecordedOrder;
use crate::cancel::Cancel;
use crate::explanations::{Ambiguity, Enumeration, MAX_EFFECTS, Premise, Told, Worth};
use crate::history::{History, Status};
use crate::observations::{INITIAL, Observations};
use crate::reads::{Finding, Judgement, ReadAnomaly, judge_counted};
use crate::solver::Budget;
use crate::versions::orders::Source;
use crate::versions::recorded_by;
use crate::versions::transaction_times::TransactionTimes;

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
    /// Whether sources of the order of versions contradict each other in every explanation.
    pub is_contradictory: bool,
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
    let keys = if question.by_recorded_order {
        ambiguous_keys(history, observations, repeated_keys, cancel)
    } else {
        repeated_keys.to_vec()
    };
    if keys.is_empty() {
        return Explained::with(Outcome::Unknown, levels);
    }
    let mut ambiguity = Ambiguity::new(history, &observations.counted, keys);
    if !ambiguity.is_covered() {
        return Explained::with(Outcome::Unknown, levels);
    }
    let end = question.budget.time.map(|time| (time.clock)() + time.milliseconds);
    let is_late = || question.budget.time.zip(end).is_some_and(|(time, end)| (time.clock)() >= end);
    let is_over = || cancel.is_asked() || is_late();
    let enumeration = Enumeration { with_reads: false, max_effects: MAX_EFFECTS, is_over: &is_over };
    let tried = |ambiguity: &Ambiguity<'_>| {
        let mut tally = Tally::new(history, question, cancel, levels);
        let is_exhaustive = ambiguity.each(&enumeration, &mut |told, premise| tally.visit(told, premise));
        Explained { is_ambiguous: true, ..tally.finish(is_exhaustive) }
    };
    let found = tried(&ambiguity);
    // Where each source is heard alone, every row matters.
    if found.is_contradictory && ambiguity.tell_first_rows() { tried(&ambiguity) } else { found }
}

impl Explained {
    fn with(outcome: Outcome, levels: usize) -> Self {
        let (weak, orders) = (vec![outcome; levels], vec![None; levels]);
        Self { cut: outcome, weak, orders, ..Self::default() }
    }

    fn leave_open(&mut self) {
        for outcome in self.weak.iter_mut().filter(|outcome| **outcome == Outcome::Violated) {
            *outcome = Outcome::Unknown;
        }
    }

    fn is_settled(&self) -> bool {
        self.cut == Outcome::Holds && self.weak.iter().all(|&outcome| outcome == Outcome::Holds)
    }

    fn prove(&mut self, level: WeakLevel, order: Option<&ExplainedOrder>) {
        for weaker in 0..=level as usize {
            if self.weak[weaker] != Outcome::Holds {
                self.weak[weaker] = Outcome::Holds;
                self.orders[weaker] = order.cloned();
            }
        }
    }
}

/// What the explanations so far say: those whose sources of the order of versions agree, and those in which they
/// contradict each other. Until an explanation leaves a level open, none so far meets it.
struct Tally<'t> {
    history: &'t History,
    question: Question,
    cancel: &'t Cancel,
    coherent: Explained,
    contradictory: Explained,
    /// How many there are of both kinds.
    tried: [usize; 2],
}

/// What is recorded beside the values of an explanation.
struct RecordedOrders {
    /// One, or one for each source if they contradict each other.
    orders: Vec<RecordedOrder>,
    is_contradictory: bool,
}

impl<'t> Tally<'t> {
    fn new(history: &'t History, question: Question, cancel: &'t Cancel, levels: usize) -> Self {
        let none = || Explained::with(Outcome::Violated, levels);
        Self { history, question, cancel, coherent: none(), contradictory: none(), tried: [0; 2] }
    }

    fn visit(&mut self, told: &Told, premise: &Premise) -> Worth {
        let (by_value, _) = judge_counted(self.history, premise.effective.clone(), self.cancel);
        let differs = |finding: &&Finding| finding.name == ReadAnomaly::NonRepeatableRead;
        let differing = by_value.findings.iter().find(differs).copied();
        let (reads, observations) = judge_counted(&told.history, premise.counted.clone(), self.cancel);
        let recorded = self.recorded(told, &observations);
        let asked = Asked { told, premise, reads, observations, differs: differing.is_some() };
        self.tried[usize::from(recorded.is_contradictory)] += 1;
        if !premise.is_decided() {
            let cut_may_hold = self.coherent.cut != Outcome::Holds && differing.is_none();
            let is_open = cut_may_hold || self.weak_may_hold(&asked, recorded);
            return if is_open { Worth::Open } else { Worth::Broken };
        }
        let found = if recorded.is_contradictory { &mut self.contradictory } else { &mut self.coherent };
        if differing.is_none() {
            found.cut = Outcome::Holds;
        }
        found.cut_finding = found.cut_finding.or(differing);
        self.weak(&asked, recorded);
        if self.coherent.is_settled() { Worth::Enough } else { Worth::Open }
    }

    /// Whether a way to decide what is undecided may meet the weakest level that none meets so far.
    fn weak_may_hold(&self, asked: &Asked<'_>, recorded: RecordedOrders) -> bool {
        let open = |level: &&WeakLevel| self.coherent.weak[**level as usize] != Outcome::Holds;
        let Some(&level) = WeakLevel::ALL[..self.coherent.weak.len()].iter().find(open) else {
            return false;
        };
        let may_hold = |order| {
            let dependencies = Dependencies::new(&asked.told.history, &asked.observations, order);
            !matches!(self.answer(asked, &dependencies, level), Answer::Impossible)
        };
        !asked.has_wrong_read() && recorded.orders.into_iter().all(may_hold)
    }

    /// The strongest level first: if it holds, so do the others.
    fn weak(&mut self, asked: &Asked<'_>, recorded: RecordedOrders) {
        let RecordedOrders { orders, is_contradictory } = recorded;
        let found = if is_contradictory { &mut self.contradictory } else { &mut self.coherent };
        if found.weak.is_empty() || asked.has_wrong_read() {
            return;
        }
        if asked.is_unjudged() {
            found.leave_open();
            return;
        }
        let dependencies = |order| Dependencies::new(&asked.told.history, &asked.observations, order);
        let dependencies: Vec<Dependencies> = orders.into_iter().map(dependencies).collect();
        let levels = &WeakLevel::ALL[..found.weak.len()];
        let is_open = |level: &&WeakLevel| found.weak[**level as usize] != Outcome::Holds;
        let open: Vec<WeakLevel> = levels.iter().rev().take_while(is_open).copied().collect();
        for level in open {
            let mut answers = dependencies.iter().map(|one| self.answer(asked, one, level));
            let first = answers.next().unwrap_or(Answer::Unknown);
            let answer = answers.fold(first, agreed);
            let found = if is_contradictory { &mut self.contradictory } else { &mut self.coherent };
            match answer {
                Answer::Found(..) if is_contradictory => return found.prove(level, None),
                Answer::Found(order, shown) => {
                    let order = self.told_order(asked.told, asked.premise, order, &shown);
                    return self.coherent.prove(level, Some(&order));
                }
                Answer::Impossible => {}
                Answer::Unknown => found.weak[level as usize] = Outcome::Unknown,
            }
        }
    }

    /// Whether the explanation has a commit order of a level.
    fn answer(&self, asked: &Asked<'_>, dependencies: &Dependencies<'_>, level: WeakLevel) -> Answer {
        if asked.differs && level != WeakLevel::ReadCommitted {
            return Answer::Impossible;
        }
        let open = &asked.told.open;
        let answer = decide(dependencies, open, level, self.question.budget, self.cancel);
        if let Answer::Found(order, shown) = &answer {
            assert!(
                is_satisfied(dependencies, order, shown, level, self.cancel),
                "the commit order of {level:?} breaks it"
            );
        }
        answer
    }

    fn recorded(&self, told: &Told, observations: &Observations) -> RecordedOrders {
        if !self.question.by_recorded_order {
            return RecordedOrders { orders: vec![RecordedOrder::default()], is_contradictory: false };
        }
        let times = TransactionTimes::new(&told.history, &observations.counted);
        let orders = |source| recorded_by(source, &told.history, observations, &times, self.cancel);
        let all = orders(None);
        if all.contradictions.is_empty() {
            let orders = vec![RecordedOrder::new(&all, None)];
            return RecordedOrders { orders, is_contradictory: false };
        }
        let alone = |&source: &Source| RecordedOrder::new(&orders(Some(source)), Some(source));
        RecordedOrders { orders: all.speaking.iter().map(alone).collect(), is_contradictory: true }
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

    /// If not all explanations were tried, those that were say nothing against a level. Those whose sources contradict
    /// each other count only if there are no others.
    fn finish(self, is_exhaustive: bool) -> Explained {
        let [agree, contradict] = self.tried.map(|count| count > 0);
        if is_exhaustive && contradict && !agree {
            return Explained { is_contradictory: true, ..self.contradictory };
        }
        let mut found = self.coherent;
        if !is_exhaustive || !agree {
            found.leave_open();
            if found.cut == Outcome::Violated {
                found.cut = Outcome::Unknown;
            }
        }
        found
    }
}

/// One explanation, and what is asked of it.
struct Asked<'a> {
    told: &'a Told,
    premise: &'a Premise,
    reads: Judgement,
    observations: Observations,
    /// Whether two reads of a transaction differ.
    differs: bool,
}

impl Asked<'_> {
    fn has_wrong_read(&self) -> bool {
        let is_wrong = |finding: &Finding| finding.name != ReadAnomaly::NonRepeatableRead;
        self.told.has_misses || self.reads.findings.iter().any(is_wrong)
    }

    fn is_unjudged(&self) -> bool {
        let Judgement { mixed_keys, deleted_keys, repeated_reads, .. } = &self.reads;
        !mixed_keys.is_empty() || !deleted_keys.is_empty() || *repeated_reads > 0
    }
}

/// What two sources say together, each heard alone.
fn agreed(one: Answer, other: Answer) -> Answer {
    match (one, other) {
        (Answer::Impossible, Answer::Impossible) => Answer::Impossible,
        (found @ Answer::Found(..), Answer::Found(..)) => found,
        _ => Answer::Unknown,
    }
}

#[cfg(test)]
mod tests;
