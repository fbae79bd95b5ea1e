//! Every level that holds has a witness, which was replayed; random histories.

use crate::builder::Builder;
use crate::cancel::Cancel;
use crate::history::{History, Kind, Status};
use crate::reads;
use crate::solver::Budget;
use crate::value::Value;
use crate::versions::explained::judge_with_repeated;
use crate::versions::levels::Level;
use crate::versions::orders::Claims;
use crate::versions::random::Random;
use crate::versions::witness_order::{Form, implies};
use crate::versions::{Judgement, Outcome, Question};

const KEYS: u32 = 3;

/// Registers and a list; `values` is how many different values a register has, or 0 if all differ.
fn random_history(random: &mut Random, values: u32) -> History {
    let mut builder = Builder::new();
    let mut store = [0; KEYS as usize];
    let mut list: Vec<Value> = Vec::new();
    let mut fresh = 10;
    for number in 0..3 + random.below(5) {
        let session = builder.session(Value::small(i64::from(random.below(3))).unwrap());
        let status = if random.below(8) > 0 { Status::Committed } else { Status::Indeterminate };
        let id = Value::small(i64::from(number)).unwrap();
        let transaction = builder.transaction(id, session, status, 1).unwrap();
        for _ in 0..=random.below(4) {
            let at = random.below(KEYS + 1);
            let key = builder.key(Value::small(i64::from(at)).unwrap());
            let is_write = random.below(2) == 0;
            fresh += 1;
            if at == KEYS {
                let element = Value::small(fresh).unwrap();
                let kept = list.len() - random.below(3).min(list.len() as u32) as usize;
                let shown = builder.list(key, &list[..kept]);
                let (kind, value) = if is_write { (Kind::Append, element) } else { (Kind::Read, shown) };
                if is_write {
                    list.push(element);
                }
                builder.operation(transaction, kind, key, value, 1);
                continue;
            }
            let stale = i64::from(random.below(3));
            if is_write {
                store[at as usize] = if values > 0 { i64::from(random.below(values)) } else { fresh };
            }
            let is_lie = !is_write && random.below(6) == 0 && values > 0;
            let value = if is_lie { stale } else { store[at as usize] };
            let kind = if is_write { Kind::Write } else { Kind::Read };
            builder.operation(transaction, kind, key, Value::small(value).unwrap(), 1);
        }
    }
    let mut history = builder.finish().unwrap();
    history.initial.default = Value::small(0).unwrap();
    history
}

fn judged(history: &History) -> Option<Judgement> {
    let cancel = Cancel::default();
    let (found, observations) = reads::judge(history, &cancel);
    // A wrong read breaks levels by itself.
    if !found.findings.is_empty() {
        return None;
    }
    // The weakest first: behind a level that implies it, a level has no witness of its own.
    let mut weakest_first = Level::ALL;
    weakest_first
        .sort_by_key(|&level| Level::ALL.into_iter().filter(|&weaker| implies(level, weaker)).count());
    let (claims, budget, witnessed) = (Claims::default(), Budget::default(), &weakest_first);
    let question = Question { claims, max_anomalies: 1, budget, is_of_items: false, asked: None, witnessed };
    Some(judge_with_repeated(history, (&found, &observations), &question, &cancel))
}

#[test]
fn every_level_that_holds_has_a_witness() {
    let mut seen = [0; Level::COUNT];
    for seed in 0..600 {
        let values = [0, 0, 3][seed as usize % 3];
        let history = random_history(&mut Random(seed * 7919 + 1), values);
        let Some(found) = judged(&history) else { continue };
        for level in Level::ALL {
            let of_level: Vec<_> = found.witnesses.iter().filter(|one| one.level == level).collect();
            let holds = found.outcomes[level as usize] == Outcome::Holds;
            let is_explained = values == 0 || found.explained.contains(&level);
            if holds && is_explained {
                assert_eq!(of_level.len(), 1, "{level:?} of seed {seed}");
                assert_eq!(of_level[0].fault, "", "{level:?} of seed {seed}");
                assert_eq!(of_level[0].form, Form::of(level));
                seen[level as usize] += 1;
            } else if !holds {
                assert!(of_level.is_empty(), "{level:?} of seed {seed}");
            }
        }
    }
    let timed =
        [Level::StrongPl1, Level::StrongPl2, Level::StrongSnapshotIsolation, Level::StrictSerializable];
    for level in Level::ALL.into_iter().filter(|level| !timed.contains(level)) {
        assert!(seen[level as usize] > 20, "{level:?}: {}", seen[level as usize]);
    }
}
