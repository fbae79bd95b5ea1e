use super::write::{write, write_lines};
use super::*;
use crate::formats::testing;
use crate::history::{Kind, Status};

/// Every feature of the format, with and without line ends inside records.
const SAMPLE: &str = r#"[
  {"tid": 67, "sid": 19, "sts": {"p": 1691420095436341, "l": 61}, "cts": {"l": 18, "p": "1691420095659914"},
   "ops": [{"t": "w", "k": 7, "v": 2},
           {"v": 3, "k": "x\u00e9\ny", "t": "READ", "more": [{"deep": [1, {}]}]}]},
  {"ops": [], "tid": "a-b", "sts": 448719026770149417, "cts": null, "rtts": 12.5},{"tid": 68, "sid": "s",
   "status": "aborted", "ops": [{"t": "append", "k": -1, "v": 18446744073709551616}, {"t": "r", "k": -1}]},
  {"tid": 12345678901234567890, "sid": 19, "status": "indeterminate",
   "ops": [{"t": "r", "k": -1, "v": [1, "two", null, 2.5, true]}, {"t": "r", "k": 1.5, "v": null},
           {"t": "A", "k": -1, "v": false}, {"t": "Write", "k": null, "v": null}, {"t": "r", "k": -1, "v": []}]}
]
"#;

fn read(text: &str) -> Result<History, ParseError> {
    read_blocks(text.as_bytes(), text.len().max(1))
}

fn read_blocks(text: &[u8], size: usize) -> Result<History, ParseError> {
    testing::read_blocks("aion", text, size)
}

fn one(transaction: &str) -> Result<History, ParseError> {
    read(&format!("[{transaction}]"))
}

fn shown(history: &History, value: Value) -> String {
    let mut out = Vec::new();
    json::write_value(&history.values, value, &mut out);
    String::from_utf8(out).unwrap()
}

/// All columns but the lines, in words that do not depend on how values are numbered.
fn columns(history: &History) -> Vec<String> {
    let transactions = &history.transactions;
    let mut columns: Vec<String> = (0..history.transaction_count())
        .map(|transaction| {
            let session = transactions.sessions[transaction];
            format!(
                "{} {session} {} {:?} {:?} {:?} {:?} {:?}",
                shown(history, transactions.ids[transaction]),
                shown(history, history.session_ids[session as usize]),
                transactions.statuses[transaction],
                transactions.sequences.get(transaction),
                transactions.starts.get(transaction),
                transactions.commits.get(transaction),
                history.operations_of(transaction),
            )
        })
        .collect();
    columns.extend((0..history.operation_count()).map(|operation| {
        let (key, value) = (history.operations.keys[operation], history.operations.values[operation]);
        let (name, value) = (shown(history, history.keys[key as usize]), shown(history, value));
        format!("{:?} {key} {name} {value}", history.operations.kinds[operation])
    }));
    columns.push(format!("{:?}", history.session_transactions));
    columns
}

fn lines(history: &History) -> (Vec<u32>, Vec<u32>) {
    (history.transactions.lines.clone(), history.operations.lines.clone())
}

#[test]
fn every_feature_is_read() {
    use Status::{Aborted, Committed, Indeterminate};
    let history = read(SAMPLE).unwrap();
    assert_eq!(history.session_ids.len(), 3);
    let transactions = &history.transactions;
    assert_eq!(transactions.starts.get(0).parts(), Some((1_691_420_095_436_341, 61)));
    assert_eq!(transactions.commits.get(0).parts(), Some((1_691_420_095_659_914, 18)));
    assert_eq!(transactions.starts.get(1).parts(), Some((448_719_026_770_149_417, 0)));
    assert_eq!(transactions.commits.get(1).parts(), None);
    assert_eq!(transactions.statuses, [Committed, Committed, Aborted, Indeterminate]);
    assert_eq!(history.transactions_of(0), [0, 3]);
    let values: Vec<_> = history.operations.values.iter().map(|&value| shown(&history, value)).collect();
    let list = r#"[1,"two",null,2.5,true]"#;
    assert_eq!(values, ["2", "3", "18446744073709551616", "[]", list, "null", "false", "null", "[]"]);
    let keys: Vec<_> = history.keys.iter().map(|&key| shown(&history, key)).collect();
    assert_eq!(keys, ["7", "\"xé\\ny\"", "-1", "1.5", "null"]);
    assert_eq!(history.initial.default, Value::UNKNOWN);
}

#[test]
fn lines_are_those_on_which_objects_start() {
    let (transactions, operations) = lines(&read(SAMPLE).unwrap());
    assert_eq!(transactions, [2, 5, 5, 7]);
    assert_eq!(operations, [3, 4, 6, 6, 8, 8, 9, 9, 9]);
}

#[test]
fn blocks_of_any_size_give_the_same_columns() {
    let whole = read(SAMPLE).unwrap();
    for size in 1..SAMPLE.len() {
        let parts = read_blocks(SAMPLE.as_bytes(), size).unwrap();
        assert_eq!(columns(&parts), columns(&whole), "blocks of {size} bytes");
        assert_eq!(lines(&parts), lines(&whole), "blocks of {size} bytes");
    }
}

/// More than one core takes, with a line end after every record (1), inside records (2) or nowhere (0).
fn long(line_ends: usize) -> String {
    let (between, inside) = [("", ""), ("\n", ""), ("\n", "\n ")][line_ends];
    let records: Vec<String> = (0..4000)
        .map(|i| {
            let operations =
                format!(r#"[{{"t":"w","k":{},{inside}"v":{i}}},{{"t":"r","k":"key","v":[1]}}]"#, i % 9);
            format!(r#"{{{inside}"tid":{i},"sid":{},{inside}"sts":{i},"ops":{operations}}}"#, i % 4)
        })
        .collect();
    format!("[{}]", records.join(&format!(",{between}")))
}

#[test]
fn both_cores_give_the_same_columns_as_one() {
    let expected = columns(&read_blocks(long(1).as_bytes(), 1000).unwrap());
    for line_ends in 0..3 {
        let text = long(line_ends);
        let alone = read_blocks(text.as_bytes(), 1000).unwrap();
        for size in [text.len(), 1 << 17, 99_991] {
            let shared = read_blocks(text.as_bytes(), size).unwrap();
            assert_eq!(columns(&shared), expected);
            assert_eq!(lines(&shared), lines(&alone));
        }
    }
}

#[test]
fn a_wrong_guess_of_where_a_record_starts_costs_nothing_but_time() {
    // The text of the key looks like the start of a record, so the second core starts inside a string.
    let records = (0..2000).map(|i| {
        let operation = r#"{"t":"w","k":"{\"tid\"","v":1,"{":{"tid":0}}"#;
        format!(r#"{{"tid":{i},"ops":[{operation},{operation}]}}"#)
    });
    let text = records.collect::<Vec<_>>().join("\n");
    assert_eq!(columns(&read(&text).unwrap()), columns(&read_blocks(text.as_bytes(), 1000).unwrap()));
}

#[test]
fn an_error_has_the_same_place_whatever_the_blocks() {
    for line_ends in 0..3 {
        let text = long(line_ends).replace(r#""tid":3333"#, r#""tid":[3333]"#);
        let whole = read(&text).unwrap_err();
        let at = text.find("[3333]").unwrap();
        let newline = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        assert_eq!(whole.column, (at - newline) as u64 + 1);
        for size in [17, 1000, 99_991] {
            let parts = read_blocks(text.as_bytes(), size).unwrap_err();
            assert_eq!(
                (parts.line, parts.column, parts.expected),
                (whole.line, whole.column, whole.expected.clone())
            );
        }
    }
}

#[test]
fn what_is_written_reads_the_same() {
    for text in [SAMPLE, "", "[]", r#"{"tid":1,"sid":1,"sno":9,"ops":[]}{"tid":2,"sid":1,"sno":-4,"ops":[]}"#]
    {
        let history = read(text).unwrap();
        for write in [write, write_lines] {
            let mut out = Vec::new();
            write(&history, &mut out).unwrap();
            let again = read(&String::from_utf8(out).unwrap()).unwrap();
            assert_eq!(columns(&again), columns(&history));
        }
    }
}

#[test]
fn a_transaction_is_written_on_one_line() {
    let history = read(SAMPLE).unwrap();
    let mut out = Vec::new();
    write(&history, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let third = r#"{"tid":68,"sid":"s","status":"aborted","ops":[{"t":"a","k":-1,"v":18446744073709551616},"#;
    assert!(text.lines().nth(3).unwrap().starts_with(third), "{text}");
    assert_eq!(text.lines().count(), 6);
}

#[test]
fn what_the_format_cannot_say_is_left_out() {
    let mut builder = Builder::new();
    let session = builder.nameless_session();
    let only = builder.transaction(Value::NIL, session, Status::Committed, 1).unwrap();
    let key = builder.key(Value::NIL);
    builder.operation(only, Kind::Delete, key, Value::NIL, 1);
    let mut text = Vec::new();
    write(&builder.finish().unwrap(), &mut text).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "[\n{\"tid\":\"nil\",\"ops\":[]}\n]\n");
}

#[test]
fn explicit_places_order_a_session() {
    let history = read(r#"{"tid":1,"sid":1,"sno":9,"ops":[]},{"tid":2,"sid":1,"sno":-4,"ops":[]}"#).unwrap();
    assert_eq!(history.transactions_of(0), [1, 0]);
}

#[test]
fn a_start_after_its_commit_is_left_to_the_checker() {
    assert!(one(r#"{"tid":1,"sts":5,"cts":{"p":4},"ops":[]}"#).is_ok());
}

#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    let lines: String =
        SAMPLE.lines().skip(1).map(str::trim).collect::<Vec<_>>().join(" ").replace(']', "] ");
    for text in [SAMPLE, lines.trim_end().trim_end_matches(']')] {
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let cut = read(&text[..end]);
            let inside_array = text.starts_with('[') && !text[..end].trim_end().is_empty();
            assert!(!inside_array || cut.is_err() || text[end..].trim().is_empty(), "{end}");
        }
    }
}

#[test]
fn flipped_bits_never_panic() {
    let mut seed = 3u64;
    for _ in 0..10_000 {
        let mut text = SAMPLE.as_bytes().to_vec();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (seed >> 33) as usize % text.len();
        text[at] ^= 1 << (seed >> 60 & 7);
        let (whole, parts) = (read_blocks(&text, text.len()), read_blocks(&text, 100));
        assert_eq!(
            whole.map_err(|error| error.line).map(|history| columns(&history)).ok(),
            parts.ok().map(|history| columns(&history))
        );
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let error = one(&format!(r#"{{"tid":1,"more":{}"#, "[".repeat(100_000))).unwrap_err();
    assert!(error.expected.contains("nested"), "{}", error.expected);
}

#[test]
fn a_repeated_id_names_the_earlier_line() {
    let error = read("{\"tid\":\"x\",\"ops\":[]}\n\n{\"tid\":\"x\",\"ops\":[]}").unwrap_err();
    assert_eq!(error.line, 3);
    assert!(error.found.contains("\"x\"") && error.found.contains("line 1"), "{}", error.found);
}

#[test]
fn brackets_must_match() {
    let record = r#"{"tid":1,"ops":[]}"#;
    for (text, expected) in [
        (format!("[{record}"), "`]` for the `[` of line 1"),
        (format!("{record}]"), "a `[` at the start"),
        (format!("[{record}]{record}"), "nothing after"),
        (format!("[{record}]]"), "nothing after"),
        (format!("[{record}],"), "nothing after"),
        (format!(",[{record}]"), "a transaction"),
        (format!("[[{record}]]"), "a transaction"),
        (format!("{record}[{record}]"), "a transaction"),
        ("[".to_owned(), "`]` for"),
        ("[1]".to_owned(), "a transaction"),
        ("null".to_owned(), "a transaction"),
    ] {
        for size in 1..=text.len() {
            let error = read_blocks(text.as_bytes(), size).unwrap_err();
            assert!(error.expected.contains(expected), "{text} by {size}: {}", error.expected);
        }
    }
}

#[test]
fn each_file_has_its_own_array() {
    let files: [&[u8]; 3] =
        [b"[{\"tid\":1,\"ops\":[]}]", b"{\"tid\":2,\"ops\":[]}\n", b"\n[{\"tid\":3,\"ops\":[]}]"];
    let history = testing::read_files("aion", &files, 100).unwrap();
    assert_eq!(history.transactions.lines, [1, 2, 4]);
}

#[test]
fn errors_say_where_and_what() {
    for (text, column, expected) in [
        (r#"{"ops":[]}"#, 2, "with a `tid`"),
        (r#"{"tid":1}"#, 2, "with `ops`"),
        (r#"{"tid":1.5,"ops":[]}"#, 9, "an integer or a string"),
        (r#"{"tid":null,"ops":[]}"#, 9, "an integer or a string"),
        (r#"{"tid":1,"sid":true,"ops":[]}"#, 17, "an integer or a string"),
        (r#"{"tid":1,"tid":2,"ops":[]}"#, 17, "only once"),
        (r#"{"tid":1,"ops":[],"ops":[]}"#, 26, "only once"),
        (r#"{"tid":1,"sno":1.5,"ops":[]}"#, 17, "`sno`"),
        (r#"{"tid":1,"status":"Aborted","ops":[]}"#, 20, "`aborted`"),
        (r#"{"tid":1,"sts":9223372036854775808,"ops":[]}"#, 17, "64 bits"),
        (r#"{"tid":1,"sts":"12x","ops":[]}"#, 17, "a timestamp"),
        (r#"{"tid":1,"sts":{"l":1},"ops":[]}"#, 17, "`p`"),
        (r#"{"tid":1,"ops":{}}"#, 17, "an array"),
        (r#"{"tid":1,"ops":[{"t":"x","k":1,"v":1}]}"#, 23, "`r`, `w` or `a`"),
        (r#"{"tid":1,"ops":[{"k":1,"v":1}]}"#, 18, "its kind `t`"),
        (r#"{"tid":1,"ops":[{"t":"r","v":1}]}"#, 18, "a key `k`"),
        (r#"{"tid":1,"ops":[{"t":"w","k":1}]}"#, 18, "a value `v`"),
        (r#"{"tid":1,"ops":[{"v":[1],"t":"a","k":1}]}"#, 23, "not an array"),
        (r#"{"tid":1,"ops":[{"t":"r","k":[1],"v":1}]}"#, 31, "a string, a number"),
        (r#"{"tid":1,"ops":[{"t":"r","k":1,"v":[[1]]}]}"#, 38, "a string, a number"),
    ] {
        let error = one(text).unwrap_err();
        assert_eq!((error.line, error.column), (1, column), "{text}: {}", error.expected);
        assert!(error.expected.contains(expected), "{text}: {}", error.expected);
    }
    let error = one(r#"{"tid":1,"ops":[{"t":"x","k":1,"v":1}]}"#).unwrap_err();
    assert!(error.found.starts_with("`\"x\""), "{}", error.found);
}
