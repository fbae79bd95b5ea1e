use super::*;
use crate::history::{Kind, Status};
use crate::intervals::profile::{Certifier, Conduct, Granularity, Lock, Read, Snapshot};
use hashbrown::HashSet;

const SEEDS: std::ops::Range<u64> = 0..1;

fn conduct(lock: Lock, read: Read) -> Conduct {
    Conduct { lock, read, locks_predicate: false }
}

/// A profile with `select` for the first three statements and `change` for the last three.
fn profile(snapshot: Snapshot, certifier: Certifier, select: Conduct, change: Conduct) -> Profile {
    Profile {
        snapshot,
        granularity: Granularity::Row,
        first_updater_wins: false,
        compares_inserts: false,
        clock_skew: false,
        certifier,
        commit_lock: Lock::None,
        statements: [select, select, select, change, change, change],
    }
}

/// Every way to take a snapshot with every certifier, optimistic and with locks of every kind.
fn profiles() -> Vec<Profile> {
    let mut profiles = Vec::new();
    for snapshot in Snapshot::ALL {
        for certifier in Certifier::ALL {
            for (select, change) in conducts() {
                for granularity in Granularity::ALL {
                    let base = profile(snapshot, certifier, select, change);
                    let first_updater_wins = snapshot.is_of_transaction();
                    let commit_lock =
                        if granularity == Granularity::Row { Lock::None } else { Lock::Exclusive };
                    profiles.push(Profile { granularity, ..base.clone() });
                    profiles.push(Profile { granularity, first_updater_wins, commit_lock, ..base });
                }
            }
        }
    }
    profiles
}

fn conducts() -> [(Conduct, Conduct); 5] {
    let predicate = Conduct { locks_predicate: true, ..conduct(Lock::Share, Read::Locking) };
    [
        (conduct(Lock::None, Read::Consistent), conduct(Lock::None, Read::Consistent)),
        (conduct(Lock::None, Read::Consistent), conduct(Lock::Exclusive, Read::Consistent)),
        (conduct(Lock::Share, Read::Consistent), conduct(Lock::Exclusive, Read::Consistent)),
        (conduct(Lock::Share, Read::Locking), conduct(Lock::Update, Read::Locking)),
        (predicate, conduct(Lock::Exclusive, Read::Locking)),
    ]
}

fn simulation(profile: Profile, seed: u64) -> Simulation {
    let load = Load {
        clients: 6,
        transactions: 60,
        operations: (1, 6),
        keys: 10,
        tables: 2,
        theta: 0.5,
        reads: 500,
        ranges: 200,
        longest_range: 4,
        for_update: 100,
        for_share: 100,
        updates_after_reads: 300,
        inserts: 200,
        deletes: 200,
        repeated_values: 0,
        rollbacks: 50,
        lost_answers: 50,
    };
    let delays = Delays { network: 100_000, service: 50_000, thinking: 50_000, clock_error: 0 };
    Simulation { profile, seed, load, delays, faults: Vec::new(), truth: true }
}

fn run(simulation: &Simulation) -> Simulated {
    simulate(simulation, &Cancel::default()).unwrap()
}

/// Runs of all profiles without a fault.
fn each_run(mut judge: impl FnMut(&Profile, &Simulated)) {
    for profile in profiles() {
        for seed in SEEDS {
            let simulation = simulation(profile.clone(), seed);
            judge(&profile, &run(&simulation));
        }
    }
}

/// The versions of a row that other transactions left, and when.
fn versions(truth: &Truth, row: u32) -> Vec<(u32, u64)> {
    let of_row = truth.versions.iter().filter(|&&(key, ..)| key == row);
    of_row.map(|&(_, writer, from)| (writer, from)).collect()
}

#[test]
fn every_read_shows_the_newest_version_of_its_instant() {
    each_run(|profile, Simulated { history, truth }| {
        let readers = history.transaction_of_operation();
        for shown in &truth.shown {
            let reader = readers[shown.operation as usize];
            let mut others = versions(truth, shown.key).into_iter().filter(|&(writer, _)| writer != reader);
            let newest = others.rfind(|&(_, from)| from <= shown.at);
            let (writer, from) = newest.map_or((None, 0), |(writer, from)| (Some(writer), from));
            assert_eq!((shown.writer, shown.from), (writer, from), "{profile:?}");
        }
    });
}

#[test]
fn versions_of_a_row_appear_one_after_the_other_and_by_the_commit_of_their_writer() {
    each_run(|profile, Simulated { truth, .. }| {
        for pair in truth.versions.windows(2) {
            assert!(pair[0].0 != pair[1].0 || pair[0].2 < pair[1].2, "{profile:?}");
        }
        for &(_, writer, from) in &truth.versions {
            let life = truth.lifetimes[writer as usize];
            let committed = life.committed.unwrap();
            let is_earlier = profile.certifier == Certifier::TimestampOrder && from >= life.begun;
            assert!(from == committed || is_earlier && from < committed, "{profile:?}");
        }
    });
}

#[test]
fn locks_that_exclude_each_other_are_not_held_together() {
    let mut count = 0;
    each_run(|profile, Simulated { truth, .. }| {
        let rows: Vec<_> = truth.locks.iter().filter(|lock| !lock.is_predicate).collect();
        for (place, one) in rows.iter().enumerate() {
            for other in &rows[..place] {
                let excludes = one.mode.conflicts(other.mode) && one.transaction != other.transaction;
                if excludes && one.low <= other.high && other.low <= one.high {
                    assert!(one.released < other.taken || other.released < one.taken, "{profile:?}");
                    count += 1;
                }
            }
        }
    });
    assert!(count > 0);
}

#[test]
fn no_other_transaction_changes_rows_under_a_predicate_lock() {
    let mut count = 0;
    each_run(|profile, Simulated { truth, .. }| {
        for lock in truth.locks.iter().filter(|lock| lock.is_predicate) {
            count += 1;
            for &(row, writer, _) in &truth.versions {
                let committed = truth.lifetimes[writer as usize].committed.unwrap();
                let is_covered = lock.low <= row && row <= lock.high && writer != lock.transaction;
                let is_held = lock.taken <= committed && committed < lock.released;
                assert!(!(is_covered && is_held), "{profile:?}");
            }
        }
    });
    assert!(count > 0);
}

#[test]
fn the_first_updater_wins_where_the_profile_says_so() {
    each_run(|profile, Simulated { history, truth }| {
        if !profile.first_updater_wins || profile.certifier == Certifier::TimestampOrder {
            return;
        }
        for pair in truth.versions.windows(2) {
            let [(row, _, from), (next, writer, _)] = [pair[0], pair[1]];
            let snapshot = truth.lifetimes[writer as usize].snapshot;
            if row == next && !starts_with_insertion(history, writer, row) {
                assert!(snapshot.is_none_or(|snapshot| from <= snapshot), "{profile:?}");
            }
        }
    });
}

#[test]
fn no_transaction_inserts_an_existing_row() {
    let mut count = 0;
    each_run(|profile, Simulated { history, truth }| {
        for pair in truth.versions.windows(2) {
            let [(row, first, _), (next, second, _)] = [pair[0], pair[1]];
            // An insertion finds no row, so the transaction before has deleted it.
            if row == next && starts_with_insertion(history, second, row) {
                assert!(deletes(history, first, row), "{profile:?}");
                count += 1;
            }
        }
    });
    assert!(count > 0);
}

/// The changes of a row by a transaction, in their order.
fn changes(history: &History, transaction: u32, row: u32) -> Vec<Kind> {
    let of_row = history.operations_of(transaction as usize).filter(|&operation| {
        let key = history.operations.keys[operation];
        history.operations.kinds[operation].installs()
            && history.keys[key as usize].as_small() == Some(i64::from(row))
    });
    of_row.map(|operation| history.operations.kinds[operation]).collect()
}

fn starts_with_insertion(history: &History, transaction: u32, row: u32) -> bool {
    changes(history, transaction, row).first() == Some(&Kind::Insert)
}

fn deletes(history: &History, transaction: u32, row: u32) -> bool {
    changes(history, transaction, row).last() == Some(&Kind::Delete)
}

#[test]
fn optimistic_certifiers_accept_no_commit_on_old_versions() {
    each_run(|profile, simulated| match profile.certifier {
        Certifier::OptimisticReads => reads_were_current(profile, simulated),
        Certifier::OptimisticWrites => writes_were_first(profile, &simulated.truth),
        _ => {}
    });
}

fn reads_were_current(profile: &Profile, Simulated { history, truth }: &Simulated) {
    let transactions = history.transaction_of_operation();
    let writers: HashSet<u32> = truth.versions.iter().map(|&(_, writer, _)| writer).collect();
    for shown in &truth.shown {
        let reader = transactions[shown.operation as usize];
        let Some(committed) = truth.lifetimes[reader as usize].committed else { continue };
        let overwrites =
            |&(writer, from): &(u32, u64)| writer != reader && shown.from < from && from < committed;
        let is_old = versions(truth, shown.key).iter().any(overwrites);
        assert!(!is_old || !writers.contains(&reader), "{profile:?}");
    }
}

fn writes_were_first(profile: &Profile, truth: &Truth) {
    for pair in truth.versions.windows(2) {
        let [(row, _, from), (next, writer, _)] = [pair[0], pair[1]];
        let snapshot = truth.lifetimes[writer as usize].snapshot;
        assert!(row != next || snapshot.is_none_or(|snapshot| from <= snapshot), "{profile:?}");
    }
}

#[test]
fn no_transaction_commits_in_a_dangerous_structure() {
    let mut count = 0;
    each_run(|profile, Simulated { truth, .. }| {
        if profile.certifier != Certifier::Ssi {
            return;
        }
        let out: Vec<_> = truth.dependencies.iter().filter(|one| one.relation == Relation::Rw).collect();
        let concurrent = |one: u32, other: u32| {
            let [one, other] = [one, other].map(|number| truth.lifetimes[number as usize]);
            let starts = |life: &Lifetime| life.snapshot.unwrap_or(life.begun);
            Some(starts(&one)) < other.committed && Some(starts(&other)) < one.committed
        };
        for (first, second) in out.iter().flat_map(|&first| out.iter().map(move |&second| (first, second))) {
            let [one, pivot, last] = [first.before, first.after, second.after];
            if second.before != pivot || !concurrent(one, pivot) || !concurrent(pivot, last) {
                continue;
            }
            count += 1;
            let ends = [one, pivot, last].map(|number| truth.lifetimes[number as usize].committed);
            let is_first = ends[2] < ends[1] && (ends[2] < ends[0] || one == last);
            assert!(!is_first && one != last, "{profile:?}");
        }
    });
    assert!(count == 0, "it is conservative: {count}");
}

#[test]
fn a_dependent_transaction_has_the_newer_timestamp() {
    let mut count = 0;
    each_run(|profile, Simulated { truth, .. }| {
        if profile.certifier != Certifier::TimestampOrder || profile.snapshot == Snapshot::Statement {
            return;
        }
        for one in &truth.dependencies {
            let times = [one.before, one.after].map(|number| truth.lifetimes[number as usize].snapshot);
            assert!(times[0].is_none() || times[1].is_none() || times[0] <= times[1], "{profile:?} {one:?}");
            count += 1;
        }
    });
    assert!(count > 0);
}

#[test]
fn the_interval_of_a_read_contains_the_instant_that_it_looked_at() {
    each_run(|profile, Simulated { history, truth }| {
        for shown in &truth.shown {
            let interval = history.operations.intervals.get(shown.operation as usize);
            let at = shown.at as i64;
            assert!(interval.complete().is_none_or(|complete| at < complete), "{profile:?}");
            if !profile.snapshot.is_of_transaction() {
                assert!(interval.invoke().is_some_and(|invoke| invoke < at), "{profile:?}");
            }
        }
    });
}

#[test]
fn a_commit_happens_inside_its_interval() {
    each_run(|profile, Simulated { history, truth }| {
        for (transaction, life) in truth.lifetimes.iter().enumerate() {
            let last = history.operations_of(transaction).next_back().unwrap();
            let interval = history.operations.intervals.get(last);
            let status = history.transactions.statuses[transaction];
            assert_eq!(interval.complete().is_none(), status == Status::Indeterminate);
            assert!(status != Status::Committed || life.committed.is_some());
            if let Some(committed) = life.committed.map(|at| at as i64) {
                assert!(interval.invoke().is_some_and(|invoke| invoke < committed), "{profile:?}");
                assert!(interval.complete().is_none_or(|complete| committed < complete), "{profile:?}");
            }
        }
    });
}

#[test]
fn the_same_seed_gives_the_same_history_and_another_does_not() {
    let usual = profile(Snapshot::Begin, Certifier::Ssi, conducts()[1].0, conducts()[1].1);
    let [one, same, other] = [1, 1, 2].map(|seed| run(&simulation(usual.clone(), seed)));
    assert_eq!(one.history.operations.values, same.history.operations.values);
    assert_eq!(one.truth.lifetimes, same.truth.lifetimes);
    assert_ne!(one.truth.lifetimes, other.truth.lifetimes);
}

#[test]
fn slices_are_the_whole_cut_into_pieces() {
    let usual = profile(Snapshot::Begin, Certifier::Ssi, conducts()[1].0, conducts()[1].1);
    let simulation = simulation(usual, 1);
    let whole = run(&simulation).history;
    let mut slices = ProfiledRun::new(&simulation);
    let mut ids = Vec::new();
    let mut kinds = Vec::new();
    loop {
        let slice = slices.next(7, &Cancel::default()).unwrap();
        if slice.transaction_count() == 0 {
            break;
        }
        ids.extend(slice.transactions.ids);
        kinds.extend(slice.operations.kinds);
    }
    assert_eq!(ids, whole.transactions.ids);
    assert_eq!(kinds, whole.operations.kinds);
}

#[test]
fn every_fault_strikes_somewhere_and_shows() {
    for fault in Fault::ALL.into_iter().filter(|fault| fault.is_of_profiles()) {
        let shows = profiles().into_iter().any(|profile| {
            let faulty = Simulation { faults: vec![(fault, 200_000)], ..simulation(profile, 1) };
            run(&faulty).truth.faults.iter().any(|struck| struck.fault == fault && struck.is_visible)
        });
        assert!(shows, "{fault:?}");
    }
}
