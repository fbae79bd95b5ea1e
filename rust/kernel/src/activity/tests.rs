//! Counts against what a reader can count by hand, and against every instant looked at alone.

use super::*;
use crate::builder::Builder;
use crate::history::{Interval, Kind, Timestamp};
use crate::value::Value;

fn number(value: i64) -> Value {
    Value::small(value).unwrap()
}

/// A history of intervals with their statuses.
fn recorded(spans: &[(i64, Option<i64>, Status)]) -> History {
    let mut builder = Builder::new();
    for (place, &(invoke, complete, status)) in spans.iter().enumerate() {
        let session = builder.nameless_session();
        let transaction = builder.transaction(number(place as i64), session, status, 1).unwrap();
        builder.interval(transaction, Interval::new(Some(invoke), complete));
    }
    builder.finish().unwrap()
}

#[test]
fn a_transaction_counts_where_it_ended_or_began_if_nobody_knows_its_end() {
    let history = recorded(&[
        (0, Some(40), Status::Committed),
        (5, Some(99), Status::Aborted),
        (61, None, Status::Indeterminate),
    ]);
    let found = activity(&history, 5, 0);
    assert_eq!((found.clock, found.first, found.length, found.width), (Clock::Client, 0, 100, 20));
    let ended: Vec<[u64; 3]> = found.buckets.iter().map(|bucket| bucket.ended).collect();
    assert_eq!(ended, [[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]);
    assert_eq!((found.untimed, found.open), (0, 1));
}

#[test]
fn latency_is_that_of_committed_transactions_by_nearest_rank() {
    let mut spans: Vec<_> = (1..=200).map(|taken| (1000, Some(1000 + taken), Status::Committed)).collect();
    spans.push((0, Some(1000), Status::Aborted));
    let found = activity(&recorded(&spans), 2, 0);
    assert_eq!(found.latency, Some([100, 190, 198, 200]));
    assert_eq!(found.buckets.iter().find_map(|bucket| bucket.latency), found.latency);
}

#[test]
fn under_way_is_what_a_look_at_every_instant_sees() {
    for seed in 0..200u64 {
        let draw = |n: u64, below: u64| (((seed * 131 + n * 7919) * 2_654_435_761) >> 7) % below;
        let spans: Vec<(i64, i64)> = (0..8)
            .map(|n| (draw(n, 50) as i64, draw(n + 20, 30) as i64))
            .map(|(began, taken)| (began, began + taken))
            .collect();
        let committed: Vec<_> = spans.iter().map(|s| (s.0, Some(s.1), Status::Committed)).collect();
        let found = activity(&recorded(&committed), 7, 0);
        let at = |instant: i64| spans.iter().filter(|s| s.0 <= instant && instant <= s.1).count() as u64;
        for (place, bucket) in found.buckets.iter().enumerate() {
            let start = found.first + place as i64 * found.width as i64;
            let stop = (start + found.width as i64).min(found.first + found.length as i64);
            let seen: Vec<u64> = (start..stop).map(at).collect();
            let (total, peak) = (seen.iter().sum::<u64>(), *seen.iter().max().unwrap());
            assert_eq!(bucket.concurrency, Concurrency { total: total.into(), peak }, "seed {seed}");
        }
        let total: u128 = found.buckets.iter().map(|bucket| bucket.concurrency.total).sum();
        let peak = found.buckets.iter().map(|bucket| bucket.concurrency.peak).max().unwrap();
        assert_eq!(found.concurrency, Concurrency { total, peak });
    }
}

#[test]
fn the_farthest_instants_fit() {
    let history = recorded(&[
        (i64::MIN + 1, Some(i64::MAX), Status::Committed),
        (i64::MAX, Some(i64::MAX), Status::Committed),
    ]);
    let found = activity(&history, 60, 0);
    assert!(found.buckets.len() <= 60 && found.buckets.len() > 10);
    assert_eq!((found.concurrency.peak, found.buckets[0].concurrency.peak), (2, 1));
    assert_eq!(found.latency, Some([0, u64::MAX - 1, u64::MAX - 1, u64::MAX - 1]));
}

#[test]
fn an_end_before_its_beginning_is_no_span() {
    let found = activity(&recorded(&[(9, Some(3), Status::Committed)]), 60, 0);
    assert_eq!((found.open, found.latency, found.concurrency.peak), (1, None, 0));
    assert_eq!(found.buckets.iter().map(|bucket| bucket.ended[0]).sum::<u64>(), 1);
}

#[test]
fn the_best_clock_that_there_is_decides() {
    let clock = |prepare: &dyn Fn(&mut Builder, u32)| {
        let mut builder = Builder::new();
        let session = builder.nameless_session();
        let transaction = builder.transaction(number(1), session, Status::Committed, 1).unwrap();
        prepare(&mut builder, transaction);
        let found = activity(&builder.finish().unwrap(), 60, 0);
        assert_eq!((found.buckets.len(), found.untimed), (1, 0));
        found.clock
    };
    let stamped = |builder: &mut Builder, transaction| {
        builder.timestamps(transaction, Timestamp::new(1, 0), Timestamp::new(1, 5));
    };
    let placed = |builder: &mut Builder, transaction| {
        builder.positions(transaction, Interval::new(Some(0), Some(0)));
    };
    assert_eq!(clock(&|_, _| ()), Clock::Appearance);
    assert_eq!(clock(&placed), Clock::Events);
    assert_eq!(clock(&|b, t| (placed(b, t), stamped(b, t)).0), Clock::Database);
    let timed = |b: &mut Builder, t| b.interval(t, Interval::new(Some(4), None));
    assert_eq!(clock(&|b, t| (timed(b, t), stamped(b, t)).0), Clock::Client);
}

#[test]
fn nothing_recorded_is_nothing_shown() {
    let found = activity(&History::default(), 60, 5);
    assert_eq!((found.buckets.len(), found.keys.len(), found.uses.len()), (0, 0, 0));
}

#[test]
fn a_transaction_uses_a_key_once_however_often_it_does() {
    let mut builder = Builder::new();
    let keys: Vec<u32> = (0..3).map(|key| builder.key(number(key))).collect();
    let uses =
        [&[(Kind::Read, 0), (Kind::Write, 0), (Kind::Read, 0)][..], &[(Kind::Write, 0), (Kind::Read, 1)]];
    for (id, operations) in uses.into_iter().enumerate() {
        let session = builder.nameless_session();
        let id = number(id as i64);
        let transaction = builder.transaction(id, session, Status::Committed, 1).unwrap();
        for &(kind, key) in operations {
            builder.operation(transaction, kind, keys[key], number(7), 1);
        }
    }
    let history = builder.finish().unwrap();
    let found = activity(&history, 60, 5);
    let shown = |one: &Use| (history.keys[one.key as usize], one.transactions, one.readers, one.writers);
    assert_eq!(
        found.keys.iter().map(shown).collect::<Vec<_>>(),
        [(number(0), 2, 1, 2), (number(1), 1, 1, 0)]
    );
    assert_eq!(found.uses, [1, 1]);
    assert_eq!(activity(&history, 60, 1).keys, found.keys[..1]);
}
