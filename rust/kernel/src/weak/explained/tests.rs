use super::*;
use crate::builder::Builder;
use crate::history::Kind;
use crate::reads;
use crate::value::Value;
use crate::versions::random::Random;
use crate::weak;

const KEYS: u32 = 3;

/// Registers of few values: transactions read what one of the last states had.
fn random_history(random: &mut Random) -> History {
    let mut builder = Builder::new();
    let mut states = vec![[0; KEYS as usize]];
    for number in 0..4 + random.below(4) {
        let session = builder.session(Value::small(i64::from(random.below(3))).unwrap());
        let status = if random.below(8) > 0 { Status::Committed } else { Status::Indeterminate };
        let id = Value::small(i64::from(number)).unwrap();
        let transaction = builder.transaction(id, session, status, 1).unwrap();
        let mut state = *states.last().unwrap();
        for _ in 0..=random.below(4) {
            let at = random.below(KEYS);
            let key = builder.key(Value::small(i64::from(at)).unwrap());
            let shown = states[states.len() - 1 - random.below(states.len().min(3) as u32) as usize];
            let (kind, value) = if random.below(2) == 0 {
                state[at as usize] = i64::from(random.below(3));
                (Kind::Write, state[at as usize])
            } else {
                (Kind::Read, shown[at as usize])
            };
            builder.operation(transaction, kind, key, Value::small(value).unwrap(), 1);
        }
        states.push(state);
    }
    let mut history = builder.finish().unwrap();
    history.initial.default = Value::small(0).unwrap();
    history
}

/// What trying every writer of every read says: the levels that some explanation meets.
fn tried(history: &History, keys: &[u32], counted: &[bool], cancel: &Cancel) -> Option<[bool; 3]> {
    let ambiguity = Ambiguity::new(history, counted, keys.to_vec());
    let mut holds = [false; 3];
    let enumeration = Enumeration { with_reads: true, max_effects: MAX_EFFECTS, is_over: &|| false };
    let is_exhaustive = ambiguity.each(&enumeration, &mut |told, premise| {
        let (found, observations) = judge_counted(&told.history, premise.counted.clone(), cancel);
        let question = weak::Question::new(WeakLevel::Causal, 0);
        let judged = weak::judge(&told.history, &observations, question, cancel);
        let differs = found.findings.iter().any(|f| f.name == ReadAnomaly::NonRepeatableRead);
        let is_wrong = found.findings.iter().any(|f| f.name != ReadAnomaly::NonRepeatableRead);
        for (level, holds) in holds.iter_mut().enumerate() {
            *holds |= !is_wrong && !judged.violated[level] && (level == 0 || !differs);
        }
        Worth::Open
    });
    is_exhaustive.then_some(holds)
}

#[test]
fn the_search_agrees_with_trying_every_writer() {
    let cancel = Cancel::default();
    let mut seen = [[0; 2]; 3];
    for seed in 0..400 {
        let history = random_history(&mut Random(seed * 7919 + 3));
        let (judged, observations) = reads::judge(&history, &cancel);
        if judged.repeated_keys.is_empty() {
            continue;
        }
        let Some(expected) = tried(&history, &judged.repeated_keys, &observations.counted, &cancel) else {
            continue;
        };
        let question = Question {
            strongest: Some(WeakLevel::Causal),
            by_recorded_order: false,
            budget: Budget::default(),
        };
        let found = judge_explained(&history, &observations, &judged.repeated_keys, question, &cancel);
        for (level, &holds) in expected.iter().enumerate() {
            let outcome = if holds { Outcome::Holds } else { Outcome::Violated };
            assert_eq!(found.weak[level], outcome, "level {level} of seed {seed}");
            assert_eq!(found.orders[level].is_some(), holds);
            seen[level][usize::from(holds)] += 1;
        }
    }
    assert!(seen.iter().flatten().all(|&count| count > 20), "{seen:?}");
}
