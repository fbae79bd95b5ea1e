//! dbcop's histories, the same ones in both notations.

use super::*;
use crate::equality::same;
use crate::formats::testing::read_blocks;

type Transaction = (&'static [(u8, u64, u64, u8)], u8);

fn yaml(text: &str) -> Result<History, ParseError> {
    read_blocks("dbcop-yaml", text.as_bytes(), text.len().max(1))
}

fn bytes(sessions: &[&[Transaction]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let number = |bytes: &mut Vec<u8>, number: u64| bytes.extend(number.to_le_bytes());
    (0..5).for_each(|place| number(&mut bytes, place));
    for text in ["info", "", "2020"] {
        number(&mut bytes, text.len() as u64);
        bytes.extend(text.bytes());
    }
    number(&mut bytes, sessions.len() as u64);
    for session in sessions {
        number(&mut bytes, session.len() as u64);
        for (events, success) in *session {
            number(&mut bytes, events.len() as u64);
            for &(write, variable, value, success) in *events {
                bytes.push(write);
                number(&mut bytes, variable);
                number(&mut bytes, value);
                bytes.push(success);
            }
            bytes.push(*success);
        }
    }
    bytes
}

const SESSIONS: [&[Transaction]; 3] = [
    &[(&[(1, 7, 1, 1), (0, 8, 0, 1)], 1), (&[], 1)],
    &[],
    &[(&[(0, u64::MAX, 2, 1), (1, 7, 3, 0), (0, 7, 4, 0)], 0)],
];
const BLOCK: &str = "---
- - events:
      - write: true
        variable: 7
        value: 1
        success: true
      - {write: false, variable: 8, value: 0, success: true}
    success: true
  -
    success: true
    events: []
- []   # empty
-
  - events:
    - 'write': false
      \"variable\": 18446744073709551615
      value: 2
      success: true
    - { value: 3, write: true,
        variable: 7, success: false }
    - write: False
      success: FALSE
      variable: 7
      value: 4
    success: false
...
";

#[test]
fn both_notations_hold_the_same_history() {
    let from_bytes = read_blocks("dbcop-bincode", &bytes(&SESSIONS), 1 << 20).unwrap();
    let from_yaml = yaml(BLOCK).unwrap();
    assert!(same(&from_bytes, &from_yaml));
    assert_eq!(from_bytes.notes, from_yaml.notes);
    assert_eq!(from_bytes.session_ids.len(), 2);
    let statuses = [Status::Committed, Status::Committed, Status::Aborted, Status::Aborted];
    assert_eq!(from_bytes.transactions.statuses, statuses);
}

#[test]
fn blocks_of_any_size_give_the_same_history() {
    let input = bytes(&SESSIONS);
    let whole = yaml(BLOCK).unwrap();
    for size in 1..60 {
        assert!(same(&whole, &read_blocks("dbcop-bincode", &input, size).unwrap()), "{size}");
        assert!(same(&whole, &read_blocks("dbcop-yaml", BLOCK.as_bytes(), size).unwrap()), "{size}");
    }
}

#[test]
fn failed_writes_are_aborted_transactions_and_failed_reads_are_counted() {
    let history = yaml(BLOCK).unwrap();
    let counted = [
        ("failed reads dropped".to_owned(), 1),
        ("failed writes kept as aborted transactions".to_owned(), 1),
        ("sessions without a transaction left out".to_owned(), 1),
    ];
    assert_eq!(history.notes, counted);
    assert_eq!(history.operations_of(3).map(|place| history.operations.kinds[place]).len(), 1);
}

#[test]
fn flow_style_alone_is_read_too() {
    let flow =
        "[[{\"events\":[{\"write\":true,\"variable\":7,\"value\":1,\"success\":true}],\"success\":true}],[]]";
    let block = "- - events:\n    - write: true\n      variable: 7\n      value: 1\n      success: true\n    success: true\n- []";
    assert!(same(&yaml(flow).unwrap(), &yaml(block).unwrap()));
}

#[test]
fn a_history_that_is_cut_off_is_an_error_at_its_end() {
    let input = bytes(&SESSIONS);
    for size in 1..input.len() {
        let error = read_blocks("dbcop-bincode", &input[..size], 7).unwrap_err();
        assert_eq!((error.line, &*error.found), (size as u64 + 1, "the end of the file"), "{size}");
    }
}

#[test]
fn an_empty_file_is_an_empty_history() {
    assert_eq!(read_blocks("dbcop-bincode", b"", 1).unwrap().transaction_count(), 0);
    for empty in ["", "---\n", "\n# nothing\n", "[]", "---\n...\n"] {
        assert_eq!(yaml(empty).unwrap().transaction_count(), 0, "{empty}");
    }
}

#[test]
fn an_absurd_length_ends_with_the_file() {
    let mut input = bytes(&[]);
    let place = input.len() - 8;
    input[place..].fill(0xff);
    let error = read_blocks("dbcop-bincode", &input, 9).unwrap_err();
    assert_eq!(error.expected, "18446744073709551615 more sessions");
}

#[test]
fn nothing_nests_deeper_than_an_event() {
    for deep in ["[", "- ", "{", "-\n ", "[[{events: [{"] {
        let text = deep.repeat(50_000);
        assert!(yaml(&text).is_err(), "{deep}");
    }
}
