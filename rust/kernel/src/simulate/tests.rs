use super::engine::Engine;
use super::*;
use crate::generate::{Distribution, Table};
use crate::history::{Kind, Status, Timestamp};

fn simulation(seed: u64) -> Simulation {
    let table = Table { keys: 20, distribution: Distribution::Zipfian };
    Simulation {
        seed,
        sessions: 8,
        transactions: 400,
        mix: Mix::plain(table, 500, (1, 8)),
        aborted: 50,
        model: Model::Register,
        isolation: Isolation::Snapshot,
        conflicts: Conflicts::Abort,
        concurrency: 6,
        clocks: Clocks::Central,
        most_writes_per_key: 0,
        repeated_values: 0,
        timestamps: true,
        intervals: false,
        initial: Value::small(0).unwrap(),
        initial_replaceable: true,
        bug: None,
        bug_rate: 0,
    }
}

fn run(simulation: &Simulation) -> Simulated {
    simulate(simulation, &Cancel::default()).unwrap()
}

fn committed(history: &History) -> usize {
    history.transactions.statuses.iter().filter(|&&status| status == Status::Committed).count()
}

#[test]
fn the_same_seed_gives_the_same_history_and_another_does_not() {
    let [one, same, other] = [1, 1, 2].map(|seed| run(&simulation(seed)).history);
    assert_eq!(one.operations.values, same.operations.values);
    assert_eq!(one.operations.keys, same.operations.keys);
    assert_ne!(one.operations.values, other.operations.values);
}

#[test]
fn who_is_alone_meets_no_conflict() {
    for isolation in [Isolation::Serializable, Isolation::Snapshot, Isolation::ReadUncommitted] {
        let alone = Simulation { isolation, concurrency: 1, aborted: 0, ..simulation(1) };
        assert_eq!(committed(&run(&alone).history), 400);
        let crowded = Simulation { isolation, aborted: 0, ..simulation(1) };
        assert!(committed(&run(&crowded).history) < 400);
    }
}

#[test]
fn what_is_done_again_commits_in_the_end() {
    for isolation in [Isolation::Serializable, Isolation::Snapshot, Isolation::ReadUncommitted] {
        let again = Simulation { isolation, conflicts: Conflicts::Retry, aborted: 0, ..simulation(1) };
        let history = run(&again).history;
        assert_eq!(committed(&history), 400);
        assert!(history.transaction_count() > 400);
    }
}

#[test]
fn who_reads_what_he_must_not_write_commits() {
    let reads = Simulation { conflicts: Conflicts::Read, aborted: 0, ..simulation(1) };
    assert_eq!(committed(&run(&reads).history), 400);
}

#[test]
fn versions_are_dropped_that_nobody_can_see_any_more() {
    let long = Simulation { transactions: 20_000, conflicts: Conflicts::Read, ..simulation(1) };
    let mut engine = Engine::new(&long);
    while engine.step() {}
    assert!(engine.keys.iter().all(|key| key.versions.len() < 100));
    assert!(engine.keys.iter().any(|key| key.written > 1000));
}

#[test]
fn a_session_starts_after_its_last_commit_whatever_the_clocks() {
    for clocks in [Clocks::Central, Clocks::Hybrid { nodes: 3, skew: 1_000_000 }] {
        let history = run(&Simulation { clocks, ..simulation(1) }).history;
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
    let history = run(&Simulation { intervals: true, ..simulation(1) }).history;
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
    assert!(run(&simulation(1)).log.is_empty());
    let never = Simulation { bug: Some(Bug::StaleSnapshot), bug_rate: 0, ..simulation(1) };
    assert!(run(&never).log.is_empty());
}

#[test]
fn what_is_done_again_commits_in_the_end_whatever_the_bug() {
    for bug in [Bug::StaleSnapshot, Bug::ReorderedSession, Bug::LostUpdate, Bug::TimestampSwap] {
        let conflicts = Conflicts::Retry;
        let again =
            Simulation { bug: Some(bug), bug_rate: 1_000_000, conflicts, aborted: 0, ..simulation(1) };
        let mut engine = Engine::new(&again);
        let ended = (0..1_000_000).any(|_| !engine.step());
        assert!(ended, "{bug:?}");
    }
}

#[test]
fn a_bug_leaves_entries_of_its_axiom() {
    let hybrid = Clocks::Hybrid { nodes: 3, skew: 100_000 };
    for (bug, axiom) in [
        (Bug::StaleSnapshot, Axiom::Ext),
        (Bug::MovingSnapshot, Axiom::Ext),
        (Bug::LostUpdate, Axiom::NoConflict),
        (Bug::FracturedCommit, Axiom::Ext),
        (Bug::DirtyRead, Axiom::AbortedRead),
        (Bug::AbortedRead, Axiom::AbortedRead),
        (Bug::NonRepeatableRead, Axiom::Int),
        (Bug::ForgottenWrite, Axiom::OwnInt),
        (Bug::ReorderedSession, Axiom::Session),
        (Bug::DroppedWrite, Axiom::Ext),
        (Bug::TimestampSwap, Axiom::Inversion),
        (Bug::ClockSkew, Axiom::Ext),
    ] {
        let broken = Simulation { bug: Some(bug), bug_rate: 300_000, clocks: hybrid, ..simulation(1) };
        assert!(run(&broken).log.iter().any(|entry| entry.axiom == axiom), "{bug:?}");
    }
}

#[test]
fn a_key_is_retired_after_so_many_writes() {
    let retiring = Simulation { most_writes_per_key: 5, ..simulation(1) };
    let mut engine = Engine::new(&retiring);
    while engine.step() {}
    // Who had planned to write it still does.
    assert!(engine.keys.iter().all(|key| key.written < 5 + 6 * 8));
    assert!(engine.keys.len() > 100);
}
