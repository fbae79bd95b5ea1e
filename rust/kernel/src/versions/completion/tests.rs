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
use crate::versions::random::Random;
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
    let claims = Claims::default();
    let question =
        Question { claims, max_anomalies: 10, budget, is_of_items: false, asked: None, witnessed: &[] };
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

type Operations = Vec<(Kind, i64, i64)>;

/// Transactions that read a value of any other one, or 0, and write values of their own.
fn random_history(random: &mut Random) -> Vec<Operations> {
    const TRANSACTIONS: u32 = 6;
    let keys: Vec<Vec<i64>> =
        (0..TRANSACTIONS).map(|_| (0..3).filter(|_| random.below(2) == 0).collect()).collect();
    let value = |writer: usize, key: i64| 10 * (writer as i64 + 1) + key;
    let mut transaction = |number: usize| {
        let mut operations = Vec::new();
        for key in 0..3 {
            if random.below(2) == 0 {
                continue;
            }
            let is_other = |writer: &usize| *writer != number && keys[*writer].contains(&key);
            let others: Vec<usize> = (0..keys.len()).filter(is_other).collect();
            let at = random.below(others.len() as u32 + 1) as usize;
            operations.push((Kind::Read, key, others.get(at).map_or(0, |&writer| value(writer, key))));
        }
        operations.extend(keys[number].iter().map(|&key| (Kind::Write, key, value(number, key))));
        operations
    };
    (0..keys.len()).map(&mut transaction).collect()
}

/// Whether transactions can run one after the other: all orders are tried.
fn is_serial(left: &[Operations], store: [i64; 3]) -> bool {
    let runs = |operations: &Operations| {
        let mut store = store;
        for &(kind, key, value) in operations {
            match kind {
                Kind::Read if store[key as usize] != value => return None,
                Kind::Read => {}
                _ => store[key as usize] = value,
            }
        }
        Some(store)
    };
    let rest = |place: usize| [&left[..place], &left[place + 1..]].concat();
    let is_first = |place: usize| runs(&left[place]).is_some_and(|store| is_serial(&rest(place), store));
    left.is_empty() || (0..left.len()).any(is_first)
}

#[test]
fn few_transactions_refute_only_what_all_of_them_break() {
    let mut random = Random(7);
    // The table of all transactions does not fit, and no choice does.
    let small = Budget { bytes: 8, ..Budget::default() };
    let (mut violated, mut spent) = (0, 0);
    for _ in 0..2_000 {
        let all = random_history(&mut random);
        let transactions: Vec<&[(Kind, i64, i64)]> = all.iter().map(Vec::as_slice).collect();
        let holds = is_serial(&all, [0; 3]);
        let level = Level::Serializable as usize;
        let expected = if holds { Outcome::Holds } else { Outcome::Violated };
        assert_eq!(judged(&transactions, Budget::default()).outcomes[level], expected, "{all:?}");
        let Judgement { outcomes, progress, .. } = judged(&transactions, small);
        let found = outcomes[level];
        assert!(found != Outcome::Spent || !progress.is_empty());
        assert!(found == expected || found == Outcome::Spent, "{found:?} {all:?}");
        violated += u32::from(found == Outcome::Violated);
        spent += u32::from(found == Outcome::Spent);
    }
    assert!(violated > 100 && spent > 10, "{violated} {spent}");
}

/// Two random histories that share no key.
fn two_histories(random: &mut Random) -> [Vec<Operations>; 2] {
    let moved =
        |(kind, key, value): (Kind, i64, i64)| (kind, key + 3, if value == 0 { 0 } else { value + 1000 });
    let [one, other] = [random_history(random), random_history(random)];
    [one, other.into_iter().map(|operations| operations.into_iter().map(moved).collect()).collect()]
}

fn judged_together(histories: &[Vec<Operations>; 2], budget: Budget) -> Judgement {
    let all: Vec<&[(Kind, i64, i64)]> = histories.iter().flatten().map(Vec::as_slice).collect();
    judged(&all, budget)
}

#[test]
fn a_level_holds_if_it_holds_in_every_group() {
    let mut random = Random(11);
    let (mut held, mut broken) = (0, 0);
    for _ in 0..100 {
        let both = two_histories(&mut random);
        let alone = both.each_ref().map(|one| judged_together(&[one.clone(), Vec::new()], Budget::default()));
        let together = judged_together(&both, Budget::default());
        for level in [Level::Serializable, Level::SnapshotIsolation, Level::CursorStability, Level::Pl2] {
            let is_broken = alone.iter().any(|one| one.outcomes[level as usize] == Outcome::Violated);
            let expected = if is_broken { Outcome::Violated } else { Outcome::Holds };
            assert_eq!(together.outcomes[level as usize], expected, "{level:?} {both:?}");
            held += u32::from(!is_broken);
            broken += u32::from(is_broken);
        }
    }
    assert!(held > 10 && broken > 10, "{held} {broken}");
}

#[test]
fn groups_give_the_same_answer_on_any_number_of_cores() {
    let mut random = Random(13);
    let pools = [1, 3].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    for _ in 0..50 {
        let both = two_histories(&mut random);
        for budget in [Budget::default(), Budget { bytes: 4_000, ..Budget::default() }] {
            let [one, other] =
                pools.each_ref().map(|pool| pool.install(|| format!("{:?}", judged_together(&both, budget))));
            assert_eq!(one, other);
        }
    }
}

#[test]
fn a_search_that_fills_its_memory_says_so() {
    let found = judged(&JOINT, Budget { bytes: 100, ..Budget::default() });
    let level = Level::SnapshotIsolation;
    assert_eq!(found.outcomes[level as usize], Outcome::Spent);
    let (_, came) = found.progress.iter().find(|(other, _)| *other == level).unwrap();
    assert!(came.is_full, "{came:?}");
    let stopped = judged(&JOINT, Budget { steps: 0, ..Budget::default() });
    assert!(stopped.progress.iter().all(|(_, came)| !came.is_full), "{:?}", stopped.progress);
}
