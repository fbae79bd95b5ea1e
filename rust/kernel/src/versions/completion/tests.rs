//! Registers and unread appends are completed together, and every order that is tried is told.

use crate::builder::Builder;
use crate::cancel::Cancel;
use crate::history::{History, Kind, Status};
use crate::reads;
use crate::relation::Relation;
use crate::solver::Budget;
use crate::value::Value;
use crate::versions::levels::Level;
use crate::versions::orders::{Claims, Source};
use crate::versions::{Judgement, Outcome, Question, judge};

const REGISTER: i64 = 0;
const LIST: i64 = 1;
/// A read of nothing.
const EMPTY: i64 = -1;

fn number(value: i64) -> Value {
    Value::small(value).unwrap()
}

/// Each transaction in a session of its own.
fn history(transactions: &[&[(Kind, i64, i64)]]) -> History {
    let mut builder = Builder::new();
    for (id, operations) in (1..).zip(transactions) {
        let session = builder.session(number(id));
        let transaction = builder.transaction(number(id), session, Status::Committed, 1).unwrap();
        for &(kind, key, value) in *operations {
            let key = builder.key(number(key));
            let value = if value == EMPTY { builder.list(key, &[]) } else { number(value) };
            builder.operation(transaction, kind, key, value, 1);
        }
    }
    builder.finish().unwrap()
}

fn judged(transactions: &[&[(Kind, i64, i64)]], budget: Budget) -> Judgement {
    let (history, cancel) = (history(transactions), Cancel::default());
    let (_, observations) = reads::judge(&history, &cancel);
    let predicates = crate::predicates::Judgement::default();
    let claims = Claims::default();
    let question = Question { claims, max_anomalies: 10, budget, predicates: &predicates, asked: None };
    judge(&history, &observations, &question, &cancel)
}

/// Neither the order of the register nor that of the list breaks snapshot isolation by itself.
const JOINT: [&[(Kind, i64, i64)]; 3] = [
    &[(Kind::Read, LIST, EMPTY), (Kind::Write, REGISTER, 3), (Kind::Append, LIST, 4)],
    &[(Kind::Read, LIST, EMPTY), (Kind::Write, REGISTER, 5)],
    &[(Kind::Read, REGISTER, 5), (Kind::Append, LIST, 7)],
];

#[test]
fn an_order_of_registers_may_leave_no_order_of_unread_appends() {
    let found = judged(&JOINT, Budget::default());
    for level in [Level::ParallelSnapshotIsolation, Level::SnapshotIsolation, Level::Serializable] {
        assert_eq!(found.outcomes[level as usize], Outcome::Violated, "{level:?}");
    }
    for level in [Level::Prefix, Level::MonotonicView, Level::CursorStability, Level::Pl2] {
        assert_eq!(found.outcomes[level as usize], Outcome::Holds, "{level:?}");
    }
}

#[test]
fn one_transaction_less_leaves_an_order() {
    for left_out in 0..JOINT.len() {
        let mut fewer = JOINT.to_vec();
        fewer.remove(left_out);
        // A read of what is left out would come from nowhere.
        let fewer: Vec<_> = fewer.into_iter().map(|one| &one[usize::from(one[0].2 == 5)..]).collect();
        let found = judged(&fewer, Budget::default());
        assert_eq!(found.outcomes[Level::SnapshotIsolation as usize], Outcome::Holds, "{left_out}");
    }
}

#[test]
fn each_order_that_is_told_is_a_circle() {
    let found = judged(&JOINT, Budget::default());
    let mut told = 0;
    for finding in found.named.findings.iter().filter(|finding| finding.level.is_some()) {
        for steps in &finding.alternatives {
            let is_supposed = |step: &crate::versions::witness::Step| {
                (step.relation, step.source) == (Relation::WriteWrite, Source::Supposed)
            };
            let supposed = steps.iter().take_while(|step| is_supposed(step)).count();
            let circle = &steps[supposed..];
            let start = if supposed == 1 && circle[0].before != circle[circle.len() - 1].after {
                &steps[..]
            } else {
                circle
            };
            assert!(start.windows(2).all(|pair| pair[0].after == pair[1].before));
            assert_eq!(start[0].before, start[start.len() - 1].after);
            told += 1;
        }
    }
    assert!(told > 6, "{told}");
}

#[test]
fn half_a_search_proves_nothing() {
    let found = judged(&JOINT, Budget { steps: 0, ..Budget::default() });
    assert_eq!(found.outcomes[Level::SnapshotIsolation as usize], Outcome::Spent);
    assert_eq!(found.outcomes[Level::Prefix as usize], Outcome::Holds);
}
