//! Reading and writing AWDIT's test format.

use super::write::write;
use super::*;
use crate::equality::same;
use crate::formats::testing;

fn read(text: &str) -> Result<History, ParseError> {
    read_blocks(text.as_bytes(), text.len().max(1))
}

fn read_blocks(text: &[u8], size: usize) -> Result<History, ParseError> {
    testing::read_blocks("awdit", text, size)
}

fn written(history: &History) -> String {
    let mut text = Vec::new();
    write(history, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn dashes_end_transactions_and_equals_signs_end_sessions() {
    let history = read("w 0 0\nw 1 0\n=====\nw 0 1\n-\r\n r 0 1 \nr 1 0\n==\n--\n\n=\nw 1 1").unwrap();
    assert_eq!(history.operation_offsets, [0, 2, 3, 5, 6]);
    assert_eq!(history.session_offsets, [0, 1, 3, 4]);
    assert_eq!(history.transactions.ids, [1, 2, 3, 4].map(|id| Value::small(id).unwrap()));
    assert_eq!(history.session_ids, [1, 2, 3].map(|id| Value::small(id).unwrap()));
    assert_eq!(history.transactions.lines, [1, 4, 6, 12]);
    assert!(history.notes.is_empty());
}

#[test]
fn ends_may_stand_on_the_line_of_an_operation() {
    let lines = read("w 0 1\n-----\nr 0 1\n=====\nr 0 1\n").unwrap();
    assert!(same(&lines, &read("w 0 1-----r 0 1 == r 0 1").unwrap()));
}

#[test]
fn blocks_of_any_size_give_the_same_history() {
    let text = "w 0 0\nw 18446744073709551615 7\n=====\nw 0 1\n-----\nr 0 1\nr 1 0\n====\nw 1 1\n";
    let whole = read(text).unwrap();
    for size in 1..text.len() {
        assert!(same(&whole, &read_blocks(text.as_bytes(), size).unwrap()), "{size}");
    }
}

#[test]
fn writing_and_reading_again_is_the_identity() {
    let text = "w 0 0\nw 18446744073709551615 7\n=====\nw 0 1\n-----\nr 0 1\n";
    assert_eq!(written(&read(text).unwrap()), text);
    assert_eq!(written(&read("").unwrap()), "");
}

#[test]
fn initial_values_that_were_read_become_a_session() {
    let mut history = read("w 0 1\nr 3 9\n-\nr 0 9\n==\nr 5 9\nw 5 9\n").unwrap();
    history.initial.default = Value::small(9).unwrap();
    assert_eq!(written(&history), "w 0 9\nw 3 9\n=====\nw 0 1\nr 3 9\n-----\nr 0 9\n=====\nr 5 9\nw 5 9\n");
}

#[test]
fn long_histories_keep_their_separators() {
    let text = (0..200_000).fold(String::new(), |text, number| text + &format!("w {number} 1\n=====\n"));
    let text = text.trim_end_matches("=====\n");
    assert!(written(&read(text).unwrap()) == text);
}

#[test]
fn errors_say_where_and_what() {
    for (text, line, column, expected) in [
        ("w 0 1\nx 0 1", 2, 1, "an operation such as"),
        ("w", 1, 2, "as the key"),
        ("w0 1", 1, 2, "as the key"),
        ("w 0", 1, 4, "as the value"),
        ("w 0 -1", 1, 5, "as the value"),
        ("w 0 18446744073709551616", 1, 5, "as the value"),
        ("w 0 1x", 1, 6, "the end of the line"),
        ("w 0 1 r 0 1", 1, 7, "the end of the line"),
        ("w 0 1 2", 1, 7, "the end of the line"),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text}");
        assert!(error.expected.contains(expected), "{text}: {}", error.expected);
    }
}
