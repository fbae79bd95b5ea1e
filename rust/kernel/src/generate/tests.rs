use super::*;
use crate::history::Kind;
use crate::reads::judge;
use crate::versions::{self, Outcome, levels::Level};
use crate::weak::{self, Question, reader::WeakLevel};

const SERIAL: Isolation = Isolation::Serializable;
const CAUSAL: Isolation = Isolation::Lagging(Lagging::Causal);

fn serial(isolation: Isolation) -> Serial {
    Serial { isolation, lag: 8, script: Vec::new() }
}

fn workload(model: Model) -> Workload {
    let table = Table { keys: 20, distribution: Distribution::Zipfian };
    Workload {
        seed: 7,
        sessions: 5,
        transactions: 300,
        mix: Mix::plain(table, 500, (1, 8)),
        aborted: 100,
        model,
        max_writes_per_key: 16,
        timestamps: true,
        intervals: true,
        initial: Value::UNKNOWN,
        initial_replaceable: false,
    }
}

fn history(workload: &Workload, isolation: Isolation) -> History {
    generate(workload, &serial(isolation), &Cancel::default()).unwrap()
}

/// Whether read committed, read atomic and causal are violated.
fn violated(history: &History) -> Vec<bool> {
    let cancel = Cancel::default();
    let (_, observations) = judge(history, &cancel);
    weak::judge(history, &observations, Question::new(WeakLevel::Causal, 1), &cancel).violated
}

#[test]
fn a_serial_history_shows_no_anomaly() {
    for model in [Model::Register, Model::List] {
        for distribution in [Distribution::Uniform, Distribution::Zipfian, Distribution::Hotspot] {
            let mix = Mix::plain(Table { keys: 20, distribution }, 500, (1, 8));
            let history = history(&Workload { mix, ..workload(model) }, SERIAL);
            let (judgement, _) = judge(&history, &Cancel::default());
            assert_eq!(judgement.findings, []);
            assert_eq!(judgement.repeated_reads, 0);
            assert!(history.operation_count() > 300);
        }
    }
}

#[test]
fn a_store_keeps_its_level_and_breaks_the_next() {
    let lagging = [Lagging::ReadCommitted, Lagging::ReadAtomic, Lagging::Causal].map(Isolation::Lagging);
    let levels = lagging.into_iter().chain([SERIAL]);
    for model in [Model::Register, Model::List] {
        for (kept, isolation) in levels.clone().enumerate() {
            for seed in 0..6 {
                let history = history(&Workload { seed, ..workload(model) }, isolation);
                let expected: Vec<bool> = (0..3).map(|level| level > kept).collect();
                assert_eq!(violated(&history), expected, "{model:?} {isolation:?} {seed}");
            }
        }
    }
}

/// The outcomes of these levels by the version order.
fn outcomes(history: &History, levels: [Level; 3]) -> [Outcome; 3] {
    let cancel = Cancel::default();
    let (_, observations) = judge(history, &cancel);
    let question = versions::Question {
        claims: versions::orders::Claims::default(),
        max_anomalies: 1,
        budget: crate::solver::Budget::default(),
        is_of_items: false,
        asked: None,
        witnessed: &[],
    };
    let found = versions::judge(history, &observations, &question, &cancel).outcomes;
    levels.map(|level| found[level as usize])
}

#[test]
fn snapshots_allow_write_skew_and_nothing_weaker_even_in_real_time() {
    let levels = [Level::StrongSnapshotIsolation, Level::Serializable, Level::StrictSerializable];
    for seed in 0..6 {
        let skewed = history(&Workload { seed, ..workload(Model::List) }, Isolation::Snapshot);
        assert_eq!(outcomes(&skewed, levels), [Outcome::Holds, Outcome::Violated, Outcome::Violated]);
        let serial = history(&Workload { seed, ..workload(Model::List) }, SERIAL);
        assert_eq!(outcomes(&serial, levels), [Outcome::Holds; 3]);
    }
}

#[test]
fn intervals_overlap_but_not_in_a_session() {
    let history = history(&workload(Model::Register), SERIAL);
    let interval = |t: u32| history.transactions.intervals.get(t as usize);
    for session in 0..5 {
        let mine = history.transactions_of(session);
        assert!(mine.windows(2).all(|pair| interval(pair[0]).complete() < interval(pair[1]).invoke()));
    }
    let overlapping = (1..300).filter(|&t| interval(t - 1).complete() > interval(t).invoke());
    assert!(overlapping.count() > 150);
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for isolation in [SERIAL, CAUSAL, Isolation::Snapshot] {
        let again = || history(&workload(Model::List), isolation);
        assert!(crate::equality::same(&again(), &again()));
        let other = history(&Workload { seed: 8, ..workload(Model::List) }, isolation);
        assert!(!crate::equality::same(&again(), &other));
    }
}

#[test]
fn a_script_runs_among_the_others_and_breaks_its_level() {
    let write =
        Scene { session: 0, aborted: false, operations: vec![Scripted::Write(0), Scripted::Write(1)] };
    let read =
        Scene { session: 1, aborted: false, operations: vec![Scripted::Read(1, 1), Scripted::Read(0, 0)] };
    for seed in 0..6 {
        let script = vec![write.clone(), read.clone()];
        let workload = Workload { seed, ..workload(Model::Register) };
        let history = generate(&workload, &Serial { script, ..serial(SERIAL) }, &Cancel::default()).unwrap();
        assert_eq!(history.transactions.ids.len(), 300);
        assert_eq!(violated(&history), [true; 3]);
    }
}

#[test]
fn a_mix_inserts_updates_and_reads_recent_rows() {
    let table = |keys| Table { keys, distribution: Distribution::Uniform };
    let step = |table, action, pick| Step { table, action, pick, times: (2, 2) };
    let mix = Mix {
        tables: vec![table(0), table(3)],
        templates: vec![
            Template { weight: 1, steps: vec![step(0, Action::Write, Pick::New)] },
            Template {
                weight: 3,
                steps: vec![step(0, Action::Read, Pick::Recent), step(1, Action::Update, Pick::Drawn)],
            },
        ],
    };
    assert_eq!(mix.problem(), None);
    let base = Workload { aborted: 0, max_writes_per_key: 0, ..workload(Model::Register) };
    let history = history(&Workload { mix, ..base }, CAUSAL);
    assert_eq!(violated(&history), [false; 3]);
    let kinds = &history.operations.kinds;
    let writes = kinds.iter().filter(|&&kind| kind == Kind::Write).count();
    assert_eq!(writes, 600, "every transaction writes two keys");
    assert!(kinds.len() > 600 + 2 * 300, "some read keys that were inserted");
    assert!(history.keys.len() > 50, "the inserted ones, and three");
}

#[test]
fn an_impossible_mix_has_a_problem() {
    let sound = || Mix::plain(Table { keys: 1, distribution: Distribution::Uniform }, 500, (1, 2));
    let broken = |change: fn(&mut Mix)| {
        let mut mix = sound();
        change(&mut mix);
        mix.problem().unwrap()
    };
    assert_eq!(sound().problem(), None);
    assert!(broken(|mix| mix.templates[0].weight = 0).contains("weight"));
    assert!(broken(|mix| mix.tables[0].keys = 0).contains("empty"));
    assert!(broken(|mix| mix.tables.clear()).contains("not there"));
    assert!(broken(|mix| mix.templates[0].steps[0].times = (3, 2)).contains("least"));
}
