//! Levels of a history in which values repeat: does some explanation of what it shows meet them?
//!
//! `docs/explanation/semantics.md` is the specification: "Explanations" and what follows it. Which transactions took
//! effect, unknown initial values, the elements of lists and the rows of recorded orders are tried one by one; the
//! writers of reads of registers are left to the solver, and tried only for levels that it does not decide.

use super::anomalies::VersionAnomaly;
use super::level_outcomes::no_commit_order;
use super::levels::Level;
use super::session_guarantees::GUARANTEES;
use super::transaction_times::TransactionTimes;
use super::{Judge, Judgement, Outcome, Question, first_transactions, judge};
use crate::cancel::Cancel;
use crate::explanations::{Ambiguity, Premise, Refusal, Sites, Told};
use crate::history::History;
use crate::observations::Observations;
use crate::reads::{ReadAnomaly, judge_counted};

/// Of more transactions that may have taken effect, only all and none are tried.
const MAX_EFFECTS: usize = 10;
/// So many explanations are tried, and so many operations judged on the way, but a few in any case.
const MOST_EXPLANATIONS: usize = 2_000;
const MOST_OPERATIONS: usize = 2_000_000;
const FEW_EXPLANATIONS: usize = 16;

/// What all explanations together say of a level.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Some explanation meets it.
    Holds,
    /// None does.
    Violated,
    /// Some explanation leaves it open, and none meets it.
    Open,
    /// Not all explanations were tried.
    Untried,
}

type Answers = [Answer; Level::COUNT];

/// Judges all levels that speak of versions; reads that were set aside because values repeat are of these keys.
#[must_use]
pub fn judge_with_repeated(
    history: &History,
    observations: &Observations,
    repeated_keys: &[u32],
    question: &Question<'_>,
    cancel: &Cancel,
) -> Judgement {
    let mut judgement = judge(history, observations, question, cancel);
    let keys = [repeated_keys, &judgement.unsure_keys].concat();
    if keys.is_empty() {
        return judgement;
    }
    let ambiguity = Ambiguity::new(history, &observations.counted, keys);
    if !ambiguity.is_covered() {
        // Such rows are skipped.
        judgement.unsure_keys.clear();
        return judgement;
    }
    let answers = Explaining::new(history, ambiguity, question, cancel).answers(&judgement.outcomes);
    for (level, answer) in Level::ALL.into_iter().zip(answers) {
        let outcome = &mut judgement.outcomes[level as usize];
        let was_violated = *outcome == Outcome::Violated;
        match answer {
            Answer::Holds => *outcome = Outcome::Holds,
            // Without the rows of repeated values it was violated.
            Answer::Open if was_violated => *outcome = Outcome::Contradictory,
            Answer::Open | Answer::Untried => continue,
            Answer::Violated if was_violated => continue,
            Answer::Violated => {
                *outcome = Outcome::Violated;
                judgement.named.counts[VersionAnomaly::NoCommitOrder as usize] += 1;
                judgement.named.findings.push(no_commit_order(level, Vec::new()));
            }
        }
        judgement.explained.push(level);
    }
    judgement.named.findings.sort_by_key(|finding| finding.name);
    judgement
}

/// What the explanations so far say of each level.
#[derive(Clone, Copy)]
struct Tally {
    holds: [bool; Level::COUNT],
    /// Broken by every explanation so far.
    broken: [bool; Level::COUNT],
    explanations: usize,
}

impl Tally {
    const EMPTY: Self = Self { holds: [false; Level::COUNT], broken: [true; Level::COUNT], explanations: 0 };

    fn add(&mut self, outcomes: &[Outcome; Level::COUNT]) {
        for (level, &outcome) in outcomes.iter().enumerate() {
            self.holds[level] |= outcome == Outcome::Holds;
            self.broken[level] &= outcome == Outcome::Violated;
        }
        self.explanations += 1;
    }

    fn is_settled(&self) -> bool {
        self.holds.iter().all(|&holds| holds)
    }
}

struct Explaining<'e> {
    history: &'e History,
    ambiguity: Ambiguity<'e>,
    question: &'e Question<'e>,
    /// When the time of the question is over, by its clock.
    end: Option<u64>,
    cancel: &'e Cancel,
}

/// How far a pass over the explanations came.
struct Pass {
    /// Explanations whose sources do not contradict each other, and all others.
    coherent: Tally,
    contradictory: Tally,
    is_exhaustive: bool,
    /// Whether the writers of some reads were left open.
    has_open_reads: bool,
}

impl Pass {
    /// Explanations in which sources contradict each other count only if there are no others.
    fn answers(&self) -> Answers {
        let tally = if self.coherent.explanations > 0 { &self.coherent } else { &self.contradictory };
        let is_known = self.is_exhaustive && tally.explanations > 0;
        std::array::from_fn(|level| match (tally.holds[level], tally.broken[level]) {
            // If others were not tried, it is not known whether sources contradict each other in all of them.
            (true, _) if is_known || self.coherent.explanations > 0 => Answer::Holds,
            (false, true) if is_known => Answer::Violated,
            _ if is_known && !self.has_open_reads => Answer::Open,
            _ => Answer::Untried,
        })
    }
}

impl<'e> Explaining<'e> {
    fn new(
        history: &'e History,
        ambiguity: Ambiguity<'e>,
        question: &'e Question<'e>,
        cancel: &'e Cancel,
    ) -> Self {
        let end = question.budget.time.map(|time| (time.clock)() + time.milliseconds);
        Self { history, ambiguity, question, end, cancel }
    }

    /// Whether time is over, or a stop was asked for.
    fn is_over(&self) -> bool {
        let clock = self.question.budget.time.zip(self.end);
        self.cancel.is_asked() || clock.is_some_and(|(time, end)| (time.clock)() >= end)
    }

    /// `plain` is what was found without repeated values. The solver leaves nothing open but the session guarantees,
    /// and what it leaves open says nothing against what was found.
    fn answers(&self, plain: &[Outcome; Level::COUNT]) -> Answers {
        let can_leave_open = !self.question.claims.any();
        let first = self.pass(!can_leave_open);
        let mut answers = first.answers();
        if !first.has_open_reads {
            return answers;
        }
        let is_left = |level: Level| {
            let is_in_doubt = GUARANTEES.contains(&level) || plain[level as usize] == Outcome::Violated;
            is_in_doubt && answers[level as usize] == Answer::Untried
        };
        if Level::ALL.into_iter().any(is_left) && !self.is_over() {
            let second = self.pass(true).answers();
            for (answer, second) in answers.iter_mut().zip(second) {
                if *answer == Answer::Untried {
                    *answer = second;
                }
            }
        }
        answers
    }

    fn most(&self) -> usize {
        let affordable = MOST_OPERATIONS / self.history.operation_count().max(1);
        affordable.clamp(FEW_EXPLANATIONS, MOST_EXPLANATIONS)
    }

    /// Tries one explanation after the other; the writers of reads of registers too if `with_reads`.
    fn pass(&self, with_reads: bool) -> Pass {
        let mut pass = Pass {
            coherent: Tally::EMPTY,
            contradictory: Tally::EMPTY,
            is_exhaustive: self.ambiguity.effects().len() <= MAX_EFFECTS,
            has_open_reads: false,
        };
        let mut left = self.most();
        for effects in subsets(self.ambiguity.effects()) {
            let Some(premises) = self.ambiguity.premises(&effects, left) else {
                pass.is_exhaustive = false;
                continue;
            };
            for premise in premises {
                match self.ambiguity.sites(&premise, self.most()) {
                    Ok(sites) => self.try_options(&premise, &sites, with_reads, &mut left, &mut pass),
                    Err(Refusal::NoWriter) => {}
                    Err(Refusal::TooMany) => pass.is_exhaustive = false,
                }
                if pass.coherent.is_settled() {
                    return pass;
                }
                if self.is_over() {
                    pass.is_exhaustive = false;
                    return pass;
                }
            }
        }
        pass
    }

    fn try_options(
        &self,
        premise: &Premise,
        sites: &Sites,
        with_reads: bool,
        left: &mut usize,
        pass: &mut Pass,
    ) {
        let sizes = sites.sizes(with_reads);
        let mut options = vec![0; sizes.len()];
        loop {
            if *left == 0 {
                pass.is_exhaustive = false;
                return;
            }
            *left -= 1;
            let told = self.ambiguity.told(premise, sites, &options);
            pass.has_open_reads |= !told.open.is_empty() || told.has_open_wrong_reads;
            let (outcomes, is_contradictory) = self.judged(&told, premise);
            if is_contradictory { &mut pass.contradictory } else { &mut pass.coherent }.add(&outcomes);
            if pass.coherent.is_settled() || !advance(&mut options, &sizes) {
                return;
            }
            if self.is_over() {
                pass.is_exhaustive = false;
                return;
            }
        }
    }

    /// What an explanation says of each level, and whether its sources contradict each other.
    fn judged(&self, told: &Told, premise: &Premise) -> ([Outcome; Level::COUNT], bool) {
        let (reads, observations) = judge_counted(&told.history, premise.counted.clone(), self.cancel);
        let times = TransactionTimes::new(&told.history, &observations.counted);
        let first = first_transactions(&told.history);
        let judge_by = |believed| {
            let (history, question, cancel) = (&told.history, self.question, self.cancel);
            let (observations, times, first, open_reads) =
                (&observations, &times, &first[..], &told.open[..]);
            Judge { history, observations, times, question, believed, first, open_reads, cancel }.run()
        };
        let (mut judged, orders) = judge_by(None);
        let is_contradictory = !orders.contradictions.is_empty();
        if is_contradictory {
            judged.outcomes = agreed(orders.speaking.iter().map(|&source| judge_by(Some(source)).0.outcomes));
        }
        let shows = |name: ReadAnomaly| reads.findings.iter().any(|finding| finding.name == name);
        let is_wrong = reads.findings.iter().any(|finding| finding.name != ReadAnomaly::NonRepeatableRead);
        let is_unjudged =
            !reads.mixed_keys.is_empty() || judged.has_unsure_appends || reads.repeated_reads > 0;
        let leaves_reads = !told.open.is_empty() || told.has_open_wrong_reads;
        let outcomes = Level::ALL.map(|level| {
            let forbids_wrong_reads = level == Level::Pl2 || implies(level, Level::Pl2);
            let is_guarantee = GUARANTEES.contains(&level);
            match judged.outcomes[level as usize] {
                Outcome::Violated if is_guarantee && told.has_open_wrong_reads => Outcome::Spent,
                Outcome::Violated => Outcome::Violated,
                _ if is_wrong && forbids_wrong_reads => Outcome::Violated,
                _ if shows(ReadAnomaly::DuplicateElements) && !is_guarantee => Outcome::Violated,
                Outcome::Holds if is_unjudged => Outcome::Spent,
                Outcome::Holds if shows(ReadAnomaly::IncompatibleOrder) => Outcome::Spent,
                Outcome::Holds if is_guarantee && leaves_reads && is_wrong => Outcome::Spent,
                outcome => outcome,
            }
        });
        (outcomes, is_contradictory)
    }
}

/// What all sources alone say of each level, if that is the same.
fn agreed(by_source: impl Iterator<Item = [Outcome; Level::COUNT]>) -> [Outcome; Level::COUNT] {
    let agree = |one: [Outcome; Level::COUNT], other: [Outcome; Level::COUNT]| {
        std::array::from_fn(|at| if one[at] == other[at] { one[at] } else { Outcome::Contradictory })
    };
    by_source.reduce(agree).unwrap_or([Outcome::Contradictory; Level::COUNT])
}

fn implies(level: Level, weaker: Level) -> bool {
    level.implied().iter().any(|&other| other == weaker || implies(other, weaker))
}

/// The next combination of options; whether there is one.
fn advance(options: &mut [usize], sizes: &[usize]) -> bool {
    for (option, &size) in options.iter_mut().zip(sizes) {
        *option += 1;
        if *option < size {
            return true;
        }
        *option = 0;
    }
    false
}

/// All subsets of a few; of more, none and all.
fn subsets(all: &[u32]) -> Vec<Vec<u32>> {
    if all.len() > MAX_EFFECTS {
        return vec![Vec::new(), all.to_vec()];
    }
    let chosen = |bits: u32| all.iter().zip(0..).filter(move |&(_, place)| bits >> place & 1 == 1);
    (0..1u32 << all.len()).map(|bits| chosen(bits).map(|(&one, _)| one).collect()).collect()
}

#[cfg(test)]
mod tests;
