use super::*;
use crate::builder::Builder;
use crate::history::{Kind, Status};
use crate::reads;
use crate::value::Value;
use crate::versions::random::Random;

const KEYS: usize = 3;

/// Transactions that run one after the other on a store of few values; some reads show another value, and of
/// `doubtful` in eight transactions the end is not known.
fn random_history(random: &mut Random, doubtful: u32) -> History {
    let mut builder = Builder::new();
    let mut store = [0; KEYS];
    let transactions = 4 + random.below(4);
    let lies = random.below(3);
    for number in 0..transactions {
        let session = builder.session(Value::small(i64::from(random.below(3))).unwrap());
        let is_known = random.below(8) >= doubtful;
        let status = if is_known { Status::Committed } else { Status::Indeterminate };
        let id = Value::small(i64::from(number)).unwrap();
        let transaction = builder.transaction(id, session, status, 1).unwrap();
        for _ in 0..=random.below(4) {
            let at = random.below(KEYS as u32) as usize;
            let key = builder.key(Value::small(at as i64).unwrap());
            let is_write = random.below(2) == 0;
            if is_write {
                store[at] = i64::from(random.below(3));
            }
            let is_lie = !is_write && random.below(8) < lies;
            let value = if is_lie { i64::from(random.below(3)) } else { store[at] };
            let kind = if is_write { Kind::Write } else { Kind::Read };
            builder.operation(transaction, kind, key, Value::small(value).unwrap(), 1);
        }
    }
    let mut history = builder.finish().unwrap();
    history.initial.default = Value::small(0).unwrap();
    history
}

fn every_level() -> Question<'static> {
    let (claims, budget) = (crate::versions::Claims::default(), crate::solver::Budget::default());
    Question { claims, max_anomalies: 0, budget, is_of_items: false, asked: None, witnessed: &[] }
}

/// What the solver says of open reads is what their writers say, tried one by one.
#[test]
fn the_solver_agrees_with_trying_every_writer() {
    let cancel = Cancel::default();
    let (mut compared, mut seen) = (0, [[0; 2]; Level::COUNT]);
    for seed in 0..400 {
        let history = random_history(&mut Random(seed * 7919), 1);
        let (judged, observations) = reads::judge(&history, &cancel);
        let question = every_level();
        let ambiguity = Ambiguity::new(&history, &observations.counted, judged.repeated_keys);
        let times = SearchTimes::new(&question);
        let explaining = Explaining::new(ambiguity, &question, &times, &cancel);
        let first = explaining.pass(false);
        let every = explaining.pass(true);
        if !first.has_open_reads || !every.is_exhaustive {
            continue;
        }
        let (by_solver, by_trying) = (first.answers(), every.answers());
        for level in Level::ALL.into_iter().filter(|level| !GUARANTEES.contains(level)) {
            let at = level as usize;
            if level.order() == crate::versions::dependencies::Order::RealTime {
                continue;
            }
            assert!(by_solver[at] == by_trying[at], "{level:?} of seed {seed}");
            seen[at][usize::from(by_solver[at] == Answer::Holds)] += 1;
            compared += 1;
        }
    }
    assert!(compared > 500);
    for level in [Level::CursorStability, Level::MonotonicView, Level::UpdateSerializable, Level::Prefix] {
        assert!(seen[level as usize].iter().all(|&count| count > 3), "{level:?}: {:?}", seen[level as usize]);
    }
}

/// Deciding which transactions took effect one by one says the same as trying all combinations.
#[test]
fn the_search_for_effects_agrees_with_trying_every_combination() {
    let cancel = Cancel::default();
    let mut seen = [0; 2];
    for seed in 0..600 {
        let history = random_history(&mut Random(seed * 6151 + 1), 4);
        let (judged, observations) = reads::judge(&history, &cancel);
        let question = every_level();
        let ambiguity = Ambiguity::new(&history, &observations.counted, judged.repeated_keys);
        if ambiguity.effects().len() < 2 {
            continue;
        }
        let times = SearchTimes::new(&question);
        let mut explaining = Explaining::new(ambiguity, &question, &times, &cancel);
        let tried = explaining.pass(false);
        explaining.max_effects = 0;
        let searched = explaining.pass(false);
        assert!(searched.is_exhaustive, "seed {seed}");
        let (tried, searched) = (tried.answers(), searched.answers());
        for level in Level::ALL.into_iter().filter(|level| !GUARANTEES.contains(level)) {
            assert!(tried[level as usize] == searched[level as usize], "{level:?} of seed {seed}");
            seen[usize::from(tried[level as usize] == Answer::Holds)] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 200), "{seen:?}");
}
