//! What follows from sessions is true in every serial order that explains all reads.

use super::*;
use crate::builder::Builder;
use crate::history::{History, Kind, Status};
use crate::reads;
use crate::value::Value;
use crate::versions::orders::{self, Claims};
use crate::versions::random::Random;
use crate::versions::transaction_times::TransactionTimes;

const KEYS: u32 = 3;

/// (session, operations (kind, key, value)), in the order of a serial run.
type Run = Vec<(u32, Vec<(Kind, u32, i64)>)>;

/// A serial run; in some a read shows an older value.
fn run(random: &mut Random) -> Run {
    let mut written: [Vec<i64>; KEYS as usize] = std::array::from_fn(|_| vec![0]);
    let (mut next, lies) = (0, random.below(2));
    let count = 4 + random.below(3);
    let transactions = (0..count).map(|_| {
        let session = random.below(3);
        let mut operations = Vec::new();
        for key in (0..KEYS).filter(|_| random.below(3) > 0).collect::<Vec<u32>>() {
            let values = &mut written[key as usize];
            if random.below(2) == 0 {
                let back = if random.below(6) < lies { random.below(values.len() as u32) } else { 0 };
                operations.push((Kind::Read, key, values[values.len() - 1 - back as usize]));
            }
            if random.below(2) == 0 {
                next += 1;
                values.push(next);
                operations.push((Kind::Write, key, next));
            }
        }
        (session, operations)
    });
    transactions.collect()
}

fn history(run: &Run) -> History {
    let mut builder = Builder::new();
    for (id, (session, operations)) in (0..).zip(run) {
        let session = builder.session(Value::small(i64::from(*session)).unwrap());
        let id = Value::small(id).unwrap();
        let transaction = builder.transaction(id, session, Status::Committed, 1).unwrap();
        for &(kind, key, value) in operations {
            let key = builder.key(Value::small(i64::from(key)).unwrap());
            builder.operation(transaction, kind, key, Value::small(value).unwrap(), 1);
        }
    }
    let mut history = builder.finish().unwrap();
    history.initial.default = Value::small(0).unwrap();
    history
}

/// All orders that follow the sessions in which every read shows the last value.
fn explained(run: &Run) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    extend(run, &mut Vec::new(), &mut found);
    found
}

fn extend(run: &Run, order: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if order.len() == run.len() {
        found.push(order.clone());
        return;
    }
    for next in (0..run.len()).filter(|next| !order.contains(next)).collect::<Vec<usize>>() {
        let is_first = (0..next).all(|other| run[other].0 != run[next].0 || order.contains(&other));
        if is_first && is_explained(run, order, next) {
            order.push(next);
            extend(run, order, found);
            order.pop();
        }
    }
}

fn is_explained(run: &Run, order: &[usize], next: usize) -> bool {
    let mut store = [0; KEYS as usize];
    let before = order.iter().flat_map(|&transaction| &run[transaction].1);
    for &(_, key, value) in before.filter(|operation| operation.0 == Kind::Write) {
        store[key as usize] = value;
    }
    run[next].1.iter().all(|&(kind, key, value)| {
        let is_shown = store[key as usize] == value;
        if kind == Kind::Write {
            store[key as usize] = value;
        }
        kind == Kind::Write || is_shown
    })
}

#[test]
fn what_follows_is_true_in_every_order_that_explains_all_reads() {
    let cancel = Cancel::default();
    let (mut edges, mut impossible) = (0, 0);
    for seed in 0..600 {
        let run = run(&mut Random(seed * 7919));
        let history = history(&run);
        let (_, observations) = reads::judge(&history, &cancel);
        let times = TransactionTimes::new(&history, &observations.counted);
        let (claims, believed) = (Claims::default(), None);
        let first = &[][..];
        let question = orders::Question {
            history: &history,
            observations: &observations,
            times: &times,
            claims,
            believed,
            first,
            is_of_items: false,
        };
        let orders = Orders::new(&question, &cancel);
        let all = Dependencies::new(&history, &observations, &orders, &times);
        let readers = Readers::new(&history, &orders, &all.transactions);
        let serial = explained(&run);
        let Some(found) = saturate(&all, &orders, &readers, Order::Session, &cancel) else {
            assert!(serial.is_empty() || all.len() == 0, "{run:?} has the order {:?}", serial[0]);
            impossible += 1;
            continue;
        };
        for order in &serial {
            let place = |node: u32| {
                let transaction = all.transactions[node as usize] as usize;
                order.iter().position(|&other| other == transaction)
            };
            for &(node, before) in &found.edges {
                assert!(place(before) < place(node), "{run:?}: {before} before {node}");
            }
        }
        let grows =
            |&(node, before): &(u32, u32)| found.balance[before as usize] < found.balance[node as usize];
        assert!(all.wr.iter().all(grows));
        edges += found.edges.len();
    }
    assert!(edges > 50 && impossible > 20, "{edges} {impossible}");
}
