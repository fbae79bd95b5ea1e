//! Levels of a history in which values repeat: does some explanation of its reads meet them?
//!
//! `docs/explanation/semantics.md` is the specification: "Explanations" and what follows it. Registers with a known
//! initial value are covered, without recorded orders and claims.

use super::anomalies::VersionAnomaly;
use super::level_outcomes::no_commit_order;
use super::levels::Level;
use super::session_guarantees::GUARANTEES;
use super::transaction_times::TransactionTimes;
use super::{Judge, Judgement, Outcome, Question, first_transactions, judge};
use crate::cancel::Cancel;
use crate::history::{History, Kind};
use crate::observations::Observations;
use crate::possible_writers::{Ambiguity, Consequence};

/// Of more transactions that may have taken effect, only all and none are tried.
const MAX_EFFECTS: usize = 4;

/// What some explanation, or none, says of each level.
type Answers = [Option<Outcome>; Level::COUNT];

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
    let answers = explain(history, observations, repeated_keys, question, cancel);
    for (level, answer) in Level::ALL.into_iter().zip(answers) {
        let outcome = &mut judgement.outcomes[level as usize];
        let Some(answer) = answer.filter(|_| *outcome != Outcome::Violated) else { continue };
        *outcome = answer;
        judgement.explained.push(level);
        if answer == Outcome::Violated {
            judgement.named.counts[VersionAnomaly::NoCommitOrder as usize] += 1;
            judgement.named.findings.push(no_commit_order(level, Vec::new()));
        }
    }
    judgement.named.findings.sort_by_key(|finding| finding.name);
    judgement
}

/// The levels that hold by some explanation, and those that are violated by each; nothing of the others.
fn explain(
    history: &History,
    observations: &Observations,
    repeated_keys: &[u32],
    question: &Question<'_>,
    cancel: &Cancel,
) -> Answers {
    let mut answers = [None; Level::COUNT];
    let ambiguity = Ambiguity::new(history, observations, repeated_keys);
    let is_special = |kind: &Kind| matches!(kind, Kind::RangeRead | Kind::Delete);
    let is_covered = history.versions.is_empty()
        && !question.claims.any()
        && !history.operations.kinds.iter().any(is_special)
        && ambiguity.is_of_registers();
    if repeated_keys.is_empty() || !is_covered {
        return answers;
    }
    let (effects, has_all_effects) = ambiguity.effects();
    let mut broken = [has_all_effects && effects.len() <= MAX_EFFECTS; Level::COUNT];
    for taken in subsets(effects) {
        let explained = match ambiguity.explained(&taken) {
            Consequence::Explained(explained) => explained,
            Consequence::NoWriter => continue,
            Consequence::WrongRead => {
                spare_levels_that_allow_wrong_reads(&mut broken);
                continue;
            }
        };
        let times = TransactionTimes::new(history, &explained.observations.counted);
        let judge = Judge {
            history,
            observations: &explained.observations,
            times: &times,
            question,
            believed: None,
            first: &first_transactions(history),
            open_reads: &explained.open,
            cancel,
        };
        let (judged, orders) = judge.run();
        if !orders.contradictions.is_empty() {
            return [None; Level::COUNT];
        }
        for ((answer, broken), outcome) in answers.iter_mut().zip(&mut broken).zip(judged.outcomes) {
            *broken &= outcome == Outcome::Violated;
            if outcome == Outcome::Holds {
                *answer = Some(Outcome::Holds);
            }
        }
        if cancel.is_asked() || answers.iter().all(Option::is_some) {
            break;
        }
    }
    for (answer, broken) in answers.iter_mut().zip(broken) {
        if broken && answer.is_none() {
            *answer = Some(Outcome::Violated);
        }
    }
    // These ask of wrong reads, too, which write they show.
    for level in GUARANTEES {
        let proves = |stronger: &Level| {
            stronger.implied().contains(&level) && answers[*stronger as usize] == Some(Outcome::Holds)
        };
        answers[level as usize] = Level::ALL.iter().any(proves).then_some(Outcome::Holds);
    }
    answers
}

/// Whether such a level is broken is not known.
fn spare_levels_that_allow_wrong_reads(broken: &mut [bool; Level::COUNT]) {
    for (broken, level) in broken.iter_mut().zip(Level::ALL) {
        *broken &= level == Level::Pl2 || implies(level, Level::Pl2);
    }
}

fn implies(level: Level, weaker: Level) -> bool {
    level.implied().iter().any(|&other| other == weaker || implies(other, weaker))
}

/// All subsets of a few; of more, none and all.
fn subsets(all: &[u32]) -> Vec<Vec<u32>> {
    if all.len() > MAX_EFFECTS {
        return vec![Vec::new(), all.to_vec()];
    }
    let chosen = |bits: u32| all.iter().zip(0..).filter(move |&(_, place)| bits >> place & 1 == 1);
    (0..1u32 << all.len()).map(|bits| chosen(bits).map(|(&one, _)| one).collect()).collect()
}
