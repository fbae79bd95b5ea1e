use super::interleaved::Interleaved;
use super::*;
use crate::generate::{Distribution, Mix, Table};
use crate::history::{Kind, Status, Timestamp};

fn workload() -> Workload {
    let table = Table { keys: 20, distribution: Distribution::Zipfian };
    Workload {
        seed: 1,
        sessions: 8,
        transactions: 400,
        mix: Mix::plain(table, 500, (1, 8)),
        aborted: 50,
        model: Model::Register,
        max_writes_per_key: 0,
        timestamps: true,
        intervals: false,
        initial: Value::small(0).unwrap(),
        initial_replaceable: true,
    }
}

/// A workload whose clients roll nothing back.
fn without_rollbacks() -> Workload {
    Workload { aborted: 0, ..workload() }
}

const DATABASE: Simulation = Simulation {
    isolation: Isolation::Snapshot,
    conflicts: Conflicts::Abort,
    concurrency: 6,
    clocks: Clocks::Central,
    repeated_values: 0,
    bug: None,
    bug_rate: 0,
};

fn run(workload: &Workload, simulation: &Simulation) -> Simulated {
    simulate(workload, simulation, &Cancel::default()).unwrap()
}

fn committed(history: &History) -> usize {
    history.transactions.statuses.iter().filter(|&&status| status == Status::Committed).count()
}

#[test]
fn the_same_seed_gives_the_same_history_and_another_does_not() {
    let [one, same, other] = [1, 1, 2].map(|seed| run(&Workload { seed, ..workload() }, &DATABASE).history);
    assert_eq!(one.operations.values, same.operations.values);
    assert_eq!(one.operations.keys, same.operations.keys);
    assert_ne!(one.operations.values, other.operations.values);
}

#[test]
fn a_transaction_without_others_meets_no_conflict() {
    for isolation in [Isolation::Serializable, Isolation::Snapshot, Isolation::ReadUncommitted] {
        let alone = Simulation { isolation, concurrency: 1, ..DATABASE };
        assert_eq!(committed(&run(&without_rollbacks(), &alone).history), 400);
        let crowded = Simulation { isolation, ..DATABASE };
        assert!(committed(&run(&without_rollbacks(), &crowded).history) < 400);
    }
}

#[test]
fn a_repeated_transaction_commits_in_the_end() {
    for isolation in [Isolation::Serializable, Isolation::Snapshot, Isolation::ReadUncommitted] {
        let again = Simulation { isolation, conflicts: Conflicts::Retry, ..DATABASE };
        let history = run(&without_rollbacks(), &again).history;
        assert_eq!(committed(&history), 400);
        assert!(history.transaction_count() > 400);
    }
}

#[test]
fn a_transaction_that_reads_instead_of_a_late_write_commits() {
    let reads = Simulation { conflicts: Conflicts::Read, ..DATABASE };
    assert_eq!(committed(&run(&without_rollbacks(), &reads).history), 400);
}

#[test]
fn versions_that_no_transaction_can_see_are_dropped() {
    let long = Workload { transactions: 20_000, ..workload() };
    let reads = Simulation { conflicts: Conflicts::Read, ..DATABASE };
    let mut scheduler = Interleaved::new(&long, &reads);
    while scheduler.step() {}
    assert!(scheduler.store.rows.iter().all(|row| row.versions.len() < 100));
    assert!(scheduler.store.rows.iter().any(|row| row.written > 1000));
}

#[test]
fn a_session_starts_after_its_last_commit_whatever_the_clocks() {
    for clocks in [Clocks::Central, Clocks::Hybrid { nodes: 3, skew: 1_000_000 }] {
        let history = run(&workload(), &Simulation { clocks, ..DATABASE }).history;
        for session in 0..8 {
            let mut last = Timestamp::default();
            for &transaction in history.transactions_of(session) {
                let transaction = transaction as usize;
                assert!(last < history.transactions.starts.get(transaction));
                last = last.max(history.transactions.commits.get(transaction));
            }
        }
    }
}

#[test]
fn operations_of_a_session_follow_each_other_on_the_clients_clock() {
    let history = run(&Workload { intervals: true, ..workload() }, &DATABASE).history;
    for session in 0..8 {
        let mut last = 0;
        for &transaction in history.transactions_of(session) {
            let operations = history.operations_of(transaction as usize);
            let whole = history.transactions.intervals.get(transaction as usize);
            assert_eq!(history.operations.kinds[operations.start], Kind::Begin);
            for operation in operations {
                let interval = history.operations.intervals.get(operation);
                assert!(last < interval.invoke().unwrap());
                assert!(interval.invoke() <= interval.complete());
                assert!(whole.invoke() <= interval.invoke() && interval.complete() <= whole.complete());
                last = interval.complete().unwrap();
            }
        }
    }
}

#[test]
fn nothing_is_logged_where_no_bug_strikes() {
    assert!(run(&workload(), &DATABASE).injected.is_empty());
    let never = Simulation { bug: Some(Fault::StaleSnapshot), bug_rate: 0, ..DATABASE };
    assert!(run(&workload(), &never).injected.is_empty());
}

#[test]
fn a_repeated_transaction_commits_in_the_end_whatever_the_bug() {
    for bug in [Fault::StaleSnapshot, Fault::ReorderedSession, Fault::LostUpdate, Fault::TimestampSwap] {
        let conflicts = Conflicts::Retry;
        let again = Simulation { bug: Some(bug), bug_rate: 1_000_000, conflicts, ..DATABASE };
        let workload = without_rollbacks();
        let mut scheduler = Interleaved::new(&workload, &again);
        let ended = (0..1_000_000).any(|_| !scheduler.step());
        assert!(ended, "{bug:?}");
    }
}

#[test]
fn a_bug_leaves_entries_of_its_axiom() {
    let hybrid = Clocks::Hybrid { nodes: 3, skew: 100_000 };
    for (bug, axiom) in [
        (Fault::StaleSnapshot, Axiom::Ext),
        (Fault::MovingSnapshot, Axiom::Ext),
        (Fault::LostUpdate, Axiom::NoConflict),
        (Fault::FracturedCommit, Axiom::Ext),
        (Fault::DirtyRead, Axiom::AbortedRead),
        (Fault::AbortedRead, Axiom::AbortedRead),
        (Fault::NonRepeatableRead, Axiom::Int),
        (Fault::ForgottenWrite, Axiom::OwnInt),
        (Fault::ReorderedSession, Axiom::Session),
        (Fault::DroppedWrite, Axiom::Ext),
        (Fault::TimestampSwap, Axiom::Inversion),
        (Fault::ClockSkew, Axiom::Ext),
    ] {
        let broken = Simulation { bug: Some(bug), bug_rate: 300_000, clocks: hybrid, ..DATABASE };
        assert!(run(&workload(), &broken).injected.iter().any(|entry| entry.axiom == axiom), "{bug:?}");
    }
}

#[test]
fn a_key_is_retired_after_so_many_writes() {
    let retiring = Workload { max_writes_per_key: 5, ..workload() };
    let mut scheduler = Interleaved::new(&retiring, &DATABASE);
    while scheduler.step() {}
    // A transaction that had planned to write it still does.
    assert!(scheduler.store.rows.iter().all(|row| row.written < 5 + 6 * 8));
    assert!(scheduler.store.rows.len() > 100);
}

#[test]
#[should_panic(expected = "only an open transaction reads, writes and commits")]
fn a_session_without_a_transaction_cannot_read() {
    let mut store = Interactive::new(Isolation::Snapshot, Model::Register, None, 0, 1);
    let session = store.add_session();
    store.read(session, 1);
}

#[test]
#[should_panic(expected = "only an open transaction reads, writes and commits")]
fn a_transaction_cannot_commit_twice() {
    let mut store = Interactive::new(Isolation::Snapshot, Model::Register, None, 0, 1);
    let session = store.add_session();
    store.begin(session);
    store.commit(session).unwrap();
    let _ = store.commit(session);
}
