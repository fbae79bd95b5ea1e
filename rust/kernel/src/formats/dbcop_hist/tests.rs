//! Reading and writing dbcop's text.

use super::write::{unwritable, write};
use super::*;
use crate::equality::same;
use crate::formats::testing;

fn read(text: &str) -> Result<History, ParseError> {
    read_blocks(text.as_bytes(), text.len().max(1))
}

fn read_blocks(text: &[u8], size: usize) -> Result<History, ParseError> {
    testing::read_blocks("dbcop-hist", text, size)
}

fn written(history: &History) -> String {
    let mut text = Vec::new();
    write(history, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

const SAMPLE: &str =
    "// first\n[x:=1 y:=2] [y==2 x:=3]!\n\n[z==?]// end\n---\n [ größe:=18446744073709551615 ]\r\n";

#[test]
fn a_small_history_is_read() {
    let history = read(SAMPLE).unwrap();
    assert_eq!(history.operation_offsets, [0, 2, 4, 5, 6]);
    assert_eq!(history.session_offsets, [0, 3, 4]);
    assert_eq!(history.transactions.statuses[1], Status::Aborted);
    assert_eq!(history.transactions.lines, [2, 2, 4, 6]);
    assert_eq!(history.operations.values[4], ZERO);
    assert!(history.initial.of_key.is_empty());
}

#[test]
fn where_zero_is_written_the_initial_version_is_another() {
    let history = read("[x:=0 x==? y==?]\n---\n[x==0]\n").unwrap();
    assert_eq!(history.operations.values, [ZERO, Value::NIL, ZERO, ZERO]);
    assert_eq!(history.initial.of_key, [(0, Value::NIL)]);
    assert_eq!(unwritable(&history), Vec::<&str>::new());
    assert_eq!(written(&history), "[x:=0 x==? y==0]\n---\n[x==0]\n");
}

#[test]
fn names_that_spell_a_natural_number_are_integers() {
    let history = read("[7:=1 07:=1 7a:=1 18446744073709551616:=1 18446744073709551615:=1]").unwrap();
    let names: Vec<_> =
        history.keys.iter().map(|key| key.atom_index().map(|at| history.values.atom(at))).collect();
    assert_eq!(history.keys[0].as_small(), Some(7));
    assert_eq!(names[1..4].iter().map(|name| name.unwrap().0).collect::<Vec<_>>(), [AtomKind::Text; 3]);
    assert_eq!(names[4], Some((AtomKind::Integer, "18446744073709551615")));
    assert!(same(&history, &read(&written(&history)).unwrap()));
}

#[test]
fn sessions_without_transactions_get_no_number_and_are_counted() {
    let history = read("---\n[x:=1]\n---\n// nothing\n---\n[x==1]\n---\n").unwrap();
    assert_eq!(history.session_ids, [1, 2].map(|id| Value::small(id).unwrap()));
    assert_eq!(history.notes, [("sessions without a transaction left out".to_owned(), 3)]);
    assert!(read("// nothing\n").unwrap().notes.is_empty());
}

#[test]
fn blocks_of_any_size_give_the_same_history() {
    let whole = read(SAMPLE).unwrap();
    for size in 1..SAMPLE.len() {
        assert!(same(&whole, &read_blocks(SAMPLE.as_bytes(), size).unwrap()), "{size}");
    }
}

#[test]
fn writing_and_reading_again_is_the_identity() {
    let history = read(SAMPLE).unwrap();
    let text = "[x:=1 y:=2]\n[y==2 x:=3]!\n[z==0]\n---\n[größe:=18446744073709551615]\n";
    assert_eq!(written(&history), text);
    assert!(same(&history, &read(text).unwrap()));
}

#[test]
fn errors_say_where_and_what() {
    for (text, line, column, expected) in [
        ("[x:=1]\nx", 2, 1, "a transaction such as"),
        ("[]", 1, 2, "an event"),
        ("[x:=1", 1, 6, "`]` after an event"),
        ("[x:=1y:=2]", 1, 6, "`]` after an event"),
        ("[x:=?]", 1, 5, "a version"),
        ("[x:=-1]", 1, 5, "a version"),
        ("[x==18446744073709551616]", 1, 5, "a version"),
        ("[x=1]", 1, 3, "`:=` or `==`"),
        ("[x := 1]", 1, 3, "`:=` or `==`"),
        ("[:=1]", 1, 2, "a variable"),
        ("[x:=1 \u{2192}:=1]", 1, 7, "a variable"),
        ("[x:=1] y", 1, 8, "another transaction"),
        ("--- [x:=1]", 1, 5, "nothing but `-`"),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text}");
        assert!(error.expected.contains(expected), "{text}: {}", error.expected);
    }
    assert!(read_blocks(b"[x\xff:=1]", 4).unwrap_err().expected.contains("a variable"));
}
