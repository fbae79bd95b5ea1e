//! Reading and writing dbcop's JSON.

use super::write::write;
use super::*;
use crate::equality::same;
use crate::formats::testing;
use crate::history::Status;
use crate::value::Value;

fn read(text: &str) -> Result<History, ParseError> {
    read_blocks(text.as_bytes(), text.len().max(1))
}

fn read_blocks(text: &[u8], size: usize) -> Result<History, ParseError> {
    testing::read_blocks("dbcop-json", text, size)
}

const DATA: &str = r#"[[{"events":[{"Write":{"variable":0,"version":1}},["r",1,null]],"committed":true},
{"committed":false,"note":[1],"events":[["w",18446744073709551615,7]]}],
[], [{"events":[],"committed":true}]]"#;

#[test]
fn the_array_alone_and_in_an_object_is_the_same_history() {
    let bare = read(DATA).unwrap();
    assert_eq!(bare.operation_offsets, [0, 2, 3, 3]);
    assert_eq!(bare.session_offsets, [0, 2, 3]);
    assert_eq!(bare.transactions.statuses[1], Status::Aborted);
    assert_eq!(bare.operations.values[1], ZERO);
    assert_eq!(bare.operations.lines, [1, 1, 2]);
    assert_eq!(bare.notes.len(), 1);
    for whole in [
        format!(r#"{{"data":{DATA}}}"#),
        format!(r#"{{"x":{{"events":1}},"params":{{"id":12}},"data":{DATA},"info":"]","end":1234}}"#),
    ] {
        assert!(same(&bare, &read(&whole).unwrap()), "{whole}");
        for size in 1..whole.len() {
            assert!(same(&bare, &read_blocks(whole.as_bytes(), size).unwrap()), "{size}: {whole}");
        }
    }
}

#[test]
fn a_version_that_is_absent_or_null_is_the_initial_one() {
    let text = r#"[[{"events":[["w",1,0],["r",1,null],{"Read":{"variable":2}}],"committed":true}]]"#;
    let history = read(text).unwrap();
    assert_eq!(history.operations.values, [ZERO, Value::NIL, ZERO]);
    assert_eq!(history.initial.of_key, [(0, Value::NIL)]);
}

#[test]
fn writing_and_reading_again_is_the_identity() {
    for text in [DATA, "[]", r#"[[{"events":[["w",1,0],["r",1,null]],"committed":true}]]"#] {
        let history = read(text).unwrap();
        let (mut once, mut twice) = (Vec::new(), Vec::new());
        write(&history, &mut once).unwrap();
        let again = read_blocks(&once, 13).unwrap();
        assert!(same(&history, &again), "{}", String::from_utf8_lossy(&once));
        write(&again, &mut twice).unwrap();
        assert_eq!(once, twice);
    }
}

#[test]
fn errors_say_where_and_what() {
    for (text, line, expected) in [
        ("[[\n{\"committed\":true}]]", 2, "a transaction with `events`"),
        ("[[{\"events\":[]}]]", 1, "a transaction with `committed`"),
        ("[[{\"events\":[],\"events\":[],\"committed\":true}]]", 1, "each field only once"),
        ("[[{\"events\":[5],\"committed\":true}]]", 1, "an event such as"),
        ("[[{\"events\":[{\"Delete\":{}}],\"committed\":true}]]", 1, "`Read` or `Write`"),
        ("[[{\"events\":[[\"x\",0,1]],\"committed\":true}]]", 1, "`\"r\"` or `\"w\"`"),
        ("[[{\"events\":[[\"w\",0]],\"committed\":true}]]", 1, "three parts"),
        ("[[{\"events\":[[\"w\",0,1,2]],\"committed\":true}]]", 1, "three parts"),
        ("[[{\"events\":[[\"w\",0,null]],\"committed\":true}]]", 1, "the version that was written"),
        ("[[{\"events\":[[\"r\",\"x\",1]],\"committed\":true}]]", 1, "a variable"),
        ("[[{\"events\":[[\"r\",0,-1]],\"committed\":true}]]", 1, "a version"),
        ("[[{\"events\":[[\"r\",0,1.5]],\"committed\":true}]]", 1, "a version"),
        ("[[{\"events\":[[\"r\",0,18446744073709551616]],\"committed\":true}]]", 1, "a version"),
        ("[[{\"events\":[{\"Write\":{\"variable\":1}}],\"committed\":true}]]", 1, "a write with a `version`"),
        ("{\"data\":[],\"data\":[]}", 1, "each field only once"),
        ("{\"info\":\"\"}", 1, "an object with `data`"),
        ("{\"data\":[]}\n[]", 2, "nothing after"),
        ("[{\"events\":[],\"committed\":true}]", 1, "a session in `[]`"),
        ("[[", 1, "close the file"),
        ("[[[", 1, "a transaction such as"),
        ("{\"data\":\"x\"}", 1, "`:` after the name"),
        ("]", 1, "around the sessions"),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(error.line, line, "{text}");
        assert!(error.expected.contains(expected), "{text}: {}", error.expected);
    }
}
