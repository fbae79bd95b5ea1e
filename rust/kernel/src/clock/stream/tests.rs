use super::record::{Encoder, Extent, Record, event_key, session_key};
use super::{MemoryRuns, StreamError, StreamLimits, StreamSorter};
use crate::builder::Builder;
use crate::cancel::Cancel;
use crate::clock::events::ordered;
use crate::clock::{ClockLevel, Event, Judgement, judge};
use crate::history::{History, Kind, Status, Timestamp};
use crate::value::{AtomKind, Value};

/// Sessions of all sorts, every transaction at the same few times.
fn history() -> History {
    let mut builder = Builder::new();
    let names = ["b", "a", "a\0", "", "é"].map(|name| builder.values.intern(AtomKind::Text, name));
    let large = builder.values.decimal("-99999999999999999999");
    let numbers = [10, 9, -3, -20].map(|number| Value::small(number).unwrap());
    let ids = names.into_iter().chain(numbers).chain([large, Value::NIL, Value::NIL]);
    let sessions: Vec<Value> = ids.collect();
    for (number, &id) in sessions.iter().chain(&sessions).enumerate() {
        let session = if id == Value::NIL { builder.nameless_session() } else { builder.session(id) };
        let name = Value::small(100 - number as i64).unwrap();
        let transaction = builder.transaction(name, session, Status::Committed, 1).unwrap();
        let (start, commit) = ((number % 3) as i64 - 1, (number % 2) as i64);
        builder.timestamps(transaction, Timestamp::new(start, -1), Timestamp::new(commit, -1));
        let key = builder.key(Value::small(7).unwrap());
        let list = builder.values.push_list([large, Value::NIL]);
        builder.operation(transaction, Kind::Append, key, large, 1);
        builder.operation(transaction, Kind::Begin, crate::history::NO_KEY, Value::NIL, 1);
        builder.operation(transaction, Kind::Read, key, list, 1);
    }
    builder.finish().unwrap()
}

fn times(history: &History, transaction: usize) -> (Timestamp, Timestamp) {
    (history.transactions.starts.get(transaction), history.transactions.commits.get(transaction))
}

#[test]
fn keys_of_events_compare_like_events() {
    let history = history();
    let all: Vec<u32> = (0..history.transaction_count() as u32).collect();
    let mut keys = Vec::new();
    for &transaction in &all {
        let number = transaction as usize;
        let columns = &history.transactions;
        let (mut session, mut key) = (Vec::new(), Vec::new());
        let named = history.session_ids[columns.sessions[number] as usize];
        session_key(&mut session, &history.values, named, columns.ids[number]);
        for is_start in [false, true] {
            event_key(&mut key, times(&history, number), is_start, &session, transaction);
            keys.push((key.clone(), transaction, is_start));
        }
    }
    keys.sort();
    let (events, _) = ordered(&history, &all, true);
    let expected: Vec<(u32, bool)> =
        events.iter().map(|event: &Event| (event.transaction(), event.is_start())).collect();
    let found: Vec<(u32, bool)> = keys.into_iter().map(|(_, number, is_start)| (number, is_start)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_record_says_what_was_written() {
    let history = history();
    let atoms: Vec<Value> = (0..history.values.atom_count()).map(|_| Value::small(5).unwrap()).collect();
    let encoder = Encoder { history: &history, keys: &[300], atoms: &atoms };
    let (mut bytes, mut record) = (Vec::new(), Record::default());
    encoder.payload(&mut bytes, 4, (1000, 7000), true, Extent::All);
    record.decode(&bytes, |_| false);
    assert_eq!((record.transaction, record.is_start), (1000, true));
    assert_eq!((record.start, record.commit), times(&history, 4));
    let [append, read] = record.operations[..] else { panic!("two operations") };
    assert_eq!((append.number, append.kind, append.key), (7000, Kind::Append, 300));
    assert_eq!((read.number, read.kind), (7002, Kind::Read));
    assert_eq!(record.values.as_list(read.value).map(<[Value]>::len), Some(2));
    encoder.payload(&mut bytes, 4, (1000, 7000), false, Extent::Writes);
    record.decode(&bytes, |_| false);
    assert_eq!(record.operations.len(), 1);
}

#[test]
fn a_read_that_found_nothing_found_the_empty_list_of_a_key_that_holds_one() {
    let mut builder = Builder::new();
    let transaction = builder.transaction(Value::small(1).unwrap(), 0, Status::Committed, 1).unwrap();
    builder.nameless_session();
    let key = builder.key(Value::small(7).unwrap());
    builder.operation(transaction, Kind::Read, key, Value::NIL, 1);
    let history = builder.finish().unwrap();
    let encoder = Encoder { history: &history, keys: &[0], atoms: &[Value::NIL] };
    let (mut bytes, mut record) = (Vec::new(), Record::default());
    encoder.payload(&mut bytes, 0, (0, 0), false, Extent::All);
    for (holds_list, expected) in [(false, None), (true, Some(0))] {
        record.decode(&bytes, |_| holds_list);
        assert_eq!(record.values.as_list(record.operations[0].value).map(<[Value]>::len), expected);
    }
}

/// A history of `count` transactions of one session, one after the other; every fifth read shows another value.
fn stale_reads(count: i64) -> History {
    let mut builder = Builder::new();
    let session = builder.session(Value::small(1).unwrap());
    for number in 0..count {
        let id = Value::small(number).unwrap();
        let transaction = builder.transaction(id, session, Status::Committed, number as u32).unwrap();
        builder.timestamps(transaction, Timestamp::new(10 * number, 0), Timestamp::new(10 * number + 5, 0));
        let key = builder.key(Value::small(number % 3).unwrap());
        let seen = if number % 5 == 0 { number - 6 } else { number - 3 };
        builder.operation(transaction, Kind::Read, key, Value::small(seen).unwrap(), 1);
        builder.operation(transaction, Kind::Write, key, Value::small(number).unwrap(), 1);
    }
    builder.finish().unwrap()
}

fn streamed(
    history: &History,
    level: ClockLevel,
    bytes: usize,
) -> Result<Judgement, StreamError<std::convert::Infallible>> {
    let limits = StreamLimits { run_bytes: bytes, block_bytes: bytes, suspect_reads: 2, merged_runs: 2 };
    let mut sorter = StreamSorter::new(&ClockLevel::ALL, 3, limits, MemoryRuns::default());
    sorter.take(history)?;
    sorter.finish(&Cancel::default())?.judge(level, &Cancel::default())
}

#[test]
fn runs_of_any_size_give_the_judgement_of_the_history_in_memory() {
    let history = stale_reads(60);
    for level in ClockLevel::ALL {
        let whole = judge(&history, level, 3, &Cancel::default());
        assert_eq!((whole.counts[0] > 3, whole.findings.len()), (true, 3));
        for bytes in [1, 100, 1 << 20] {
            let streamed = streamed(&history, level, bytes).unwrap();
            assert_eq!((streamed.counts, &streamed.findings), (whole.counts, &whole.findings));
        }
    }
}

#[test]
fn two_transactions_with_one_id_are_refused() {
    let limits = StreamLimits { run_bytes: 9, block_bytes: 9, suspect_reads: 2, merged_runs: 2 };
    let mut sorter = StreamSorter::new(&ClockLevel::ALL, 3, limits, MemoryRuns::default());
    let history = stale_reads(2);
    sorter.take(&history).unwrap();
    sorter.take(&history).unwrap();
    let judged = sorter.finish(&Cancel::default()).unwrap().judge(ClockLevel::Snapshot, &Cancel::default());
    let Err(StreamError::Refused(refusal)) = judged else { panic!("a repeated id") };
    assert_eq!(refusal.problem, "the transaction 0 was there before, on line 0");
}
