use super::write::{unwritable, write_lines};
use super::*;
use crate::equality::same;
use crate::formats::testing;
use crate::history::Kind;

const SAMPLE: &str = r#"{"threadID":"0-0-0","transactionID":"0-0-0,0","operationID":"0-0-0,0,0","operationTraceType":"START","startTimestamp":1,"finishTimestamp":2}
{"threadID":"1-0-0","transactionID":"1-0-0,0","operationID":"1-0-0,0,0","operationTraceType":"SELECT","startTimestamp":2,"finishTimestamp":5,"predicateLock":null,"traceLockMode":"NON_LOCK","readMode":"CONSISTENT_READ","readTupleList":[{"table":"0","primaryKey":"0","valueMap":{"v":null,"w":"x"}},{"table":"1","primaryKey":7,"valueMap":{"v":2.5}}]}
{"threadID":"0-0-0","transactionID":"0-0-0,0","operationID":"0-0-0,0,1","operationTraceType":"UPDATE","startTimestamp":3,"finishTimestamp":4,"traceLockMode":"EXCLUSIVE_LOCK","readMode":"LOCKING_READ","writeTupleList":[{"table":"0","primaryKey":"0","valueMap":{"v":1}}],"readTupleList":[{"table":"0","primaryKey":"0","valueMap":{"v":0}}]}
{"threadID":"0-0-0","transactionID":"0-0-0,0","operationID":"0-0-0,0,2","operationTraceType":"DELETE","startTimestamp":5,"finishTimestamp":6,"writeTupleList":[{"table":"0","primaryKey":"1","valueMap":{}}]}
{"threadID":"0-0-0","transactionID":"0-0-0,0","operationID":"0-0-0,0,3","operationTraceType":"select for update","startTimestamp":6,"finishTimestamp":7,"predicateLock":"T.table='T'","readTupleList":[]}
{"threadID":"0-0-0","transactionID":"0-0-0,0","operationID":"0-0-0,0,4","operationTraceType":"COMMIT","startTimestamp":7,"finishTimestamp":8}
{"transactionID":3,"operationTraceType":"ROLLBACK"}
"#;

fn read(text: &[u8], size: usize) -> Result<History, ParseError> {
    testing::read_blocks("leopard", text, size)
}

fn written(history: &History) -> String {
    let mut out = Vec::new();
    write_lines(history, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn keys(history: &History) -> Vec<String> {
    let mut out = Vec::new();
    for &key in &history.keys {
        json::write_value(&history.values, key, &mut out);
        out.push(b'\n');
    }
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn blocks_do_not_matter_and_what_is_read_is_written_and_read_back() {
    let whole = read(SAMPLE.as_bytes(), SAMPLE.len()).unwrap();
    assert_eq!(unwritable(&whole), Vec::<&str>::new());
    for size in [1, 7, 100] {
        assert!(same(&whole, &read(SAMPLE.as_bytes(), size).unwrap()));
    }
    let text = written(&whole);
    assert!(same(&whole, &read(text.as_bytes(), 50).unwrap()), "{text}");
    assert_eq!(text, written(&read(text.as_bytes(), 50).unwrap()));
    assert_eq!(text.lines().count(), SAMPLE.lines().count());
}

#[test]
fn every_column_of_every_row_is_an_operation_and_reads_come_first() {
    let history = read(SAMPLE.as_bytes(), 1000).unwrap();
    assert_eq!(keys(&history), ["\"0/0/v\"", "\"0/0/w\"", "\"1/7/v\"", "\"0/1/\""]);
    let kinds = |transaction| history.operations.kinds[history.operations_of(transaction)].to_vec();
    assert_eq!(kinds(0), [Kind::Begin, Kind::Read, Kind::Write, Kind::Delete, Kind::RangeRead, Kind::Commit]);
    assert_eq!(kinds(1), [Kind::Read, Kind::Read, Kind::Read]);
    assert_eq!(history.transactions.statuses, [Status::Committed, Status::Indeterminate, Status::Aborted]);
}

#[test]
fn operations_are_ordered_by_their_ids() {
    let line = |place: &str, value: u32| {
        format!(
            r#"{{"transactionID":1,"operationID":{place},"operationTraceType":"UPDATE","writeTupleList":[{{"primaryKey":1,"valueMap":{{"value":{value}}}}}]}}"#
        )
    };
    let values = |places: [&str; 3]| {
        let text = [line(places[0], 1), line(places[1], 2), line(places[2], 3)].join("\n");
        let history = read(text.as_bytes(), 1000).unwrap();
        let values: Vec<_> =
            history.operations.values.iter().map(|value| value.as_small().unwrap()).collect();
        (values, history.notes)
    };
    assert_eq!(values(["0", "1", "2"]).0, [1, 2, 3]);
    assert_eq!(values(["\"a,2\"", "\"a,10\"", "\"a,1\""]).0, [3, 1, 2]);
    assert_eq!(values(["5", "5", "1"]).0, [3, 1, 2]);
    let (order, notes) = values(["2", "1", "null"]);
    assert_eq!((order, notes.len()), (vec![1, 2, 3], 1));
}

#[test]
fn a_second_end_and_another_thread_are_errors() {
    let commit = r#"{"threadID":1,"transactionID":1,"operationTraceType":"COMMIT"}"#;
    let error = read(format!("{commit}\n{commit}").as_bytes(), 1000).unwrap_err();
    assert_eq!((error.line, error.found.as_str()), (2, "another: it ended on line 1"));
    let other = commit.replace("\"threadID\":1", "\"threadID\":2");
    let error = read(format!("{commit}\n{other}").as_bytes(), 1000).unwrap_err();
    assert_eq!(error.expected, "the thread of transaction 1 on line 1");
}

#[test]
fn a_text_cut_anywhere_is_a_history_or_an_error() {
    for end in 0..SAMPLE.len() {
        let (whole, blocks) = (read(&SAMPLE.as_bytes()[..end], end), read(&SAMPLE.as_bytes()[..end], 9));
        assert_eq!(whole.is_ok(), blocks.is_ok(), "cut at {end}");
    }
}
