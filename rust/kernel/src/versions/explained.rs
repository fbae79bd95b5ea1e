//! Levels of a history in which values repeat: does some explanation of what it shows meet them?
//!
//! `docs/explanation/semantics.md` is the specification: "Explanations" and what follows it. Which transactions took
//! effect, unknown initial values, the elements of lists and the rows of recorded orders are tried one by one; the
//! writers of reads of registers are left to the solver, and tried only for levels that it does not decide.

mod tally;

use super::anomalies::{Finding, VersionAnomaly};
use super::level_outcomes::no_commit_order;
use super::levels::Level;
use super::search_times::{SearchTimes, Searching, add_progress};
use super::session_guarantees::GUARANTEES;
use super::transaction_times::TransactionTimes;
use super::witness_order::{ShownWrites, WitnessOrder, implies};
use super::{Judge, Judgement, Outcome, Question, judge_within};
use crate::cancel::Cancel;
use crate::explanations::{Ambiguity, Enumeration, MAX_EFFECTS, Premise, Told, Worth};
use crate::history::History;
use crate::observations::Observations;
use crate::predicates::first_transactions;
use crate::reads::{self, ReadAnomaly, judge_counted};
use crate::solver::{Budget, Progress};
use std::cell::RefCell;
use tally::Tally;

/// What a search without repeated values may cost before explanations are looked for.
const FEW_STEPS: u64 = 1_000_000;

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

/// Judges all levels that speak of versions, after the single reads.
#[must_use]
pub fn judge_with_repeated(
    history: &History,
    (reads, observations): (&reads::Judgement, &Observations),
    question: &Question<'_>,
    cancel: &Cancel,
) -> Judgement {
    let repeated_keys = &reads.ambiguous_keys()[..];
    let times = &SearchTimes::new(question);
    let judge = |question: &Question<'_>, is_first_look: bool| {
        judge_within(history, observations, question, Searching { times, is_first_look }, cancel)
    };
    let mut judgement =
        if repeated_keys.is_empty() { judge(question, false) } else { judge(&in_few_steps(question), true) };
    let keys = [repeated_keys, &judgement.unsure_keys].concat();
    if keys.is_empty() || cancel.is_asked() {
        return judgement;
    }
    let ambiguity = Ambiguity::new(history, &observations.counted, keys);
    if !ambiguity.is_covered() {
        judgement = judge(question, false);
        // Such rows are skipped.
        judgement.unsure_keys.clear();
        return judgement;
    }
    let mut explaining = Explaining::new(ambiguity, question, times, cancel);
    let first = explaining.first_pass();
    if first.leaves_open(question, &judgement.outcomes) && !explaining.is_over() {
        judgement = judge(question, false);
    }
    let Concluded { answers, witnesses, cases, are_reads_wrong } =
        explaining.answers(&first, &judgement.outcomes);
    judgement.witnesses = witnesses;
    add_progress(&mut judgement.progress, &explaining.progress.into_inner());
    // Wrong reads break a level by themselves.
    let is_told = are_reads_wrong && reads.shows_wrong_reads();
    for (level, answer) in Level::ALL.into_iter().zip(answers) {
        let outcome = &mut judgement.outcomes[level as usize];
        let was_violated = *outcome == Outcome::Violated;
        match answer {
            Answer::Holds => *outcome = Outcome::Holds,
            // Without the rows of repeated values it was violated.
            Answer::Open if was_violated => *outcome = Outcome::Contradictory,
            // What contradicting sources break together proves nothing.
            Answer::Untried if was_violated && first.is_contradictory() => *outcome = Outcome::Contradictory,
            Answer::Open | Answer::Untried => continue,
            Answer::Violated if was_violated || (is_told && forbids_wrong_reads(level)) => continue,
            Answer::Violated => {
                *outcome = Outcome::Violated;
                judgement.named.counts[VersionAnomaly::NoCommitOrder as usize] += 1;
                judgement.named.findings.push(unexplained(level, &cases));
            }
        }
        judgement.explained.push(level);
    }
    judgement.named.findings.sort_by_key(|finding| finding.name);
    judgement.witnesses.retain(|witness| answers[witness.level as usize] == Answer::Holds);
    judgement
}

/// What breaks a weaker level breaks this one.
fn unexplained(level: Level, cases: &[Finding]) -> Finding {
    let is_told = |weaker: Level| weaker == level || implies(level, weaker);
    let told = cases.iter().find(|finding| finding.level.is_some_and(is_told));
    no_commit_order(level, told.map(|finding| finding.alternatives.clone()).unwrap_or_default())
}

/// The same question, answered without repeated values as far as that is easy: explanations need the time.
fn in_few_steps<'q>(question: &Question<'q>) -> Question<'q> {
    let Question { claims, max_anomalies, budget, is_of_items, asked, witnessed } = *question;
    let budget = Budget { steps: budget.steps.min(FEW_STEPS), ..budget };
    Question { claims, max_anomalies, budget, is_of_items, asked, witnessed }
}

struct Explaining<'e> {
    ambiguity: Ambiguity<'e>,
    max_effects: usize,
    question: &'e Question<'e>,
    times: &'e SearchTimes,
    /// How far searches came that were too long.
    progress: RefCell<Vec<(Level, Progress)>>,
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

/// What one explanation says.
struct Explained {
    outcomes: [Outcome; Level::COUNT],
    /// Whether its sources contradict each other.
    is_contradictory: bool,
    /// Whether it has reads that most levels forbid.
    is_wrong: bool,
    witnesses: Vec<WitnessOrder>,
    cases: Vec<Finding>,
}

/// What all explanations say.
struct Concluded {
    answers: Answers,
    witnesses: Vec<WitnessOrder>,
    /// Why levels are broken, if there is only one explanation.
    cases: Vec<Finding>,
    /// Whether every explanation has reads that most levels forbid.
    are_reads_wrong: bool,
}

impl Pass {
    fn tally(&self) -> &Tally {
        if self.coherent.explanations > 0 { &self.coherent } else { &self.contradictory }
    }

    /// Whether sources contradict each other in every explanation that was tried.
    fn is_contradictory(&self) -> bool {
        self.coherent.explanations == 0 && self.contradictory.explanations > 0
    }

    /// Explanations in which sources contradict each other count only if there are no others.
    fn answers(&self) -> Answers {
        let tally = self.tally();
        let is_known = self.is_exhaustive && tally.explanations > 0;
        std::array::from_fn(|level| match (tally.holds[level], tally.broken[level]) {
            // If others were not tried, it is not known whether sources contradict each other in all of them.
            (true, _) if is_known || self.coherent.explanations > 0 => Answer::Holds,
            (false, true) if is_known => Answer::Violated,
            _ if is_known && !self.has_open_reads => Answer::Open,
            _ => Answer::Untried,
        })
    }

    /// Whether a level that is asked for is known neither from explanations nor without them.
    fn leaves_open(&self, question: &Question<'_>, plain: &[Outcome; Level::COUNT]) -> bool {
        let answers = self.answers();
        let is_open = |&level: &Level| {
            answers[level as usize] == Answer::Untried && plain[level as usize] == Outcome::Spent
        };
        question.asked.unwrap_or(&Level::ALL).iter().any(is_open)
    }
}

impl<'e> Explaining<'e> {
    fn new(
        ambiguity: Ambiguity<'e>,
        question: &'e Question<'e>,
        times: &'e SearchTimes,
        cancel: &'e Cancel,
    ) -> Self {
        let progress = RefCell::default();
        Self { ambiguity, max_effects: MAX_EFFECTS, question, times, progress, cancel }
    }

    /// Whether time is over, or a stop was asked for.
    fn is_over(&self) -> bool {
        self.cancel.is_asked() || self.times.is_over(self.question)
    }

    /// Where sources contradict each other, each is heard alone, and every row matters.
    fn first_pass(&mut self) -> Pass {
        let can_leave_open = !self.question.claims.any();
        let pass = self.pass(!can_leave_open);
        if pass.is_contradictory() && self.ambiguity.tell_first_rows() {
            return self.pass(!can_leave_open);
        }
        pass
    }

    /// `plain` is what was found without repeated values. The solver leaves nothing open but the session guarantees,
    /// and what it leaves open says nothing against what was found.
    fn answers(&self, first: &Pass, plain: &[Outcome; Level::COUNT]) -> Concluded {
        let mut answers = first.answers();
        let mut witnesses = first.tally().witnesses.clone();
        let is_single = first.is_exhaustive && first.tally().explanations == 1;
        let cases = if is_single { first.tally().cases.clone() } else { Vec::new() };
        let are_reads_wrong = first.tally().are_reads_wrong;
        if !first.has_open_reads {
            return Concluded { answers, witnesses, cases, are_reads_wrong };
        }
        let is_left = |level: Level| {
            let is_in_doubt = GUARANTEES.contains(&level) || plain[level as usize] == Outcome::Violated;
            is_in_doubt && answers[level as usize] == Answer::Untried
        };
        let asked = self.question.asked.unwrap_or(&Level::ALL);
        let is_settled = asked.iter().all(|&level| answers[level as usize] != Answer::Untried);
        if !is_settled && Level::ALL.into_iter().any(is_left) && !self.is_over() {
            let pass = self.pass(true);
            let is_new = |witness: &&WitnessOrder| answers[witness.level as usize] == Answer::Untried;
            witnesses.extend(pass.tally().witnesses.iter().filter(is_new).cloned());
            for (answer, second) in answers.iter_mut().zip(pass.answers()) {
                if *answer == Answer::Untried {
                    *answer = second;
                }
            }
        }
        Concluded { answers, witnesses, cases, are_reads_wrong }
    }

    /// Tries one explanation after the other; the writers of reads of registers too if `with_reads`.
    fn pass(&self, with_reads: bool) -> Pass {
        let (coherent, contradictory) = (Tally::EMPTY, Tally::EMPTY);
        let mut pass = Pass { coherent, contradictory, is_exhaustive: false, has_open_reads: false };
        let max_effects = self.max_effects;
        let enumeration = Enumeration { with_reads, max_effects, is_over: &|| self.is_over() };
        pass.is_exhaustive = self.ambiguity.each(&enumeration, &mut |told, premise| {
            pass.has_open_reads |= !told.open.is_empty() || told.has_open_wrong_reads;
            let judged = self.judged(told, premise);
            if !premise.is_decided() {
                return pass.coherent.add_undecided(&judged, &self.searched(with_reads));
            }
            let tally = if judged.is_contradictory { &mut pass.contradictory } else { &mut pass.coherent };
            tally.add(judged);
            if pass.coherent.is_settled() { Worth::Enough } else { Worth::Open }
        });
        pass
    }

    /// Levels that a pass is for: where reads stay open, the session guarantees are left to another one.
    fn searched(&self, with_reads: bool) -> Vec<Level> {
        let asked = self.question.asked.unwrap_or(&Level::ALL).iter().copied();
        asked.filter(|level| with_reads || !GUARANTEES.contains(level)).collect()
    }

    fn judged(&self, told: &Told, premise: &Premise) -> Explained {
        let (reads, observations) = judge_counted(&told.history, premise.counted.clone(), self.cancel);
        let times = TransactionTimes::new(&told.history, &observations.counted);
        let first = first_transactions(&told.history);
        let judge_by = |believed| {
            let (history, question, cancel) = (&told.history, self.question, self.cancel);
            let searching = Searching { times: self.times, is_first_look: false };
            let (observations, times, first, open_reads) =
                (&observations, &times, &first[..], &told.open[..]);
            Judge { history, observations, times, question, searching, believed, first, open_reads, cancel }
                .run()
        };
        let (mut judged, orders) = judge_by(None);
        add_progress(&mut self.progress.borrow_mut(), &judged.progress);
        let is_contradictory = !orders.contradictions.is_empty();
        if is_contradictory {
            let mut witnesses = Vec::new();
            judged.outcomes = agreed(orders.speaking.iter().map(|&source| {
                let mut alone = judge_by(Some(source)).0;
                witnesses.append(&mut alone.witnesses);
                alone.outcomes
            }));
            judged.witnesses = witnesses;
        }
        for witness in &mut judged.witnesses {
            let shown = told.shown.iter().cloned();
            witness.reads.extend(shown.map(|(read, writes, is_list)| ShownWrites { read, writes, is_list }));
            witness.reads.sort_unstable();
        }
        let shows = |name: ReadAnomaly| reads.findings.iter().any(|finding| finding.name == name);
        let is_wrong = told.has_misses || reads.shows_wrong_reads();
        let is_unjudged = !reads.mixed_keys.is_empty()
            || !reads.deleted_keys.is_empty()
            || judged.has_unsure_appends
            || reads.repeated_reads > 0;
        let leaves_reads = !told.open.is_empty() || told.has_open_wrong_reads;
        let outcomes = Level::ALL.map(|level| {
            let is_guarantee = GUARANTEES.contains(&level);
            match judged.outcomes[level as usize] {
                Outcome::Violated if is_guarantee && told.has_open_wrong_reads => Outcome::Spent,
                Outcome::Violated => Outcome::Violated,
                _ if is_wrong && forbids_wrong_reads(level) => Outcome::Violated,
                _ if shows(ReadAnomaly::DuplicateElements) && !is_guarantee => Outcome::Violated,
                Outcome::Holds if is_unjudged => Outcome::Spent,
                Outcome::Holds if shows(ReadAnomaly::IncompatibleOrder) => Outcome::Spent,
                Outcome::Holds if is_guarantee && leaves_reads && is_wrong => Outcome::Spent,
                outcome => outcome,
            }
        });
        let is_case = |finding: &Finding| !finding.alternatives.is_empty();
        let cases = judged.named.findings.into_iter().filter(is_case).collect();
        Explained { outcomes, is_contradictory, is_wrong, witnesses: judged.witnesses, cases }
    }
}

fn forbids_wrong_reads(level: Level) -> bool {
    level == Level::Pl2 || implies(level, Level::Pl2)
}

/// What all sources alone say of each level, if that is the same.
fn agreed(by_source: impl Iterator<Item = [Outcome; Level::COUNT]>) -> [Outcome; Level::COUNT] {
    let agree = |one: [Outcome; Level::COUNT], other: [Outcome; Level::COUNT]| {
        std::array::from_fn(|at| if one[at] == other[at] { one[at] } else { Outcome::Contradictory })
    };
    by_source.reduce(agree).unwrap_or([Outcome::Contradictory; Level::COUNT])
}

#[cfg(test)]
mod tests;
