//! Reading and writing Plume text.

use super::write::write;
use super::*;
use crate::formats::testing;

fn read(text: &str) -> Result<History, ParseError> {
    read_blocks(text.as_bytes(), text.len().max(1))
}

fn read_blocks(text: &[u8], size: usize) -> Result<History, ParseError> {
    testing::read_blocks("plume", text, size)
}

#[test]
fn a_small_history_is_read() {
    let history = read("w(1,5,0,7)\r\nr(1,5,2,8)\n\nw(2,6,0,7)").unwrap();
    assert_eq!(history.transaction_count(), 2);
    assert_eq!(history.operations_of(0), 0..2);
    assert_eq!(history.operations.lines, [1, 4, 2]);
    assert_eq!(history.session_ids.len(), 2);
}

#[test]
fn blocks_of_any_size_give_the_same_columns() {
    let text: String = (0..500).map(|i| format!("w({},{i},{},{})\n", i % 7, i % 3, i - i % 3)).collect();
    let text = text.replace(",0)", ",0)\n");
    let whole = read(&text);
    for size in [1, 2, 3, 7, 64, 1000] {
        let parts = read_blocks(text.as_bytes(), size);
        match (&whole, &parts) {
            (Ok(whole), Ok(parts)) => {
                assert_eq!(whole.operations.values, parts.operations.values);
                assert_eq!(whole.operations.lines, parts.operations.lines);
            }
            (Err(whole), Err(parts)) => assert_eq!(whole, parts),
            _ => panic!("one way failed, the other did not"),
        }
    }
}

#[test]
fn each_aborted_write_is_a_transaction_of_its_own() {
    let history = read("w(1,5,0,-1)\nw(2,5,0,-1)\nr(1,5,0,-1)\nr(1,5,0,3)\n").unwrap();
    assert_eq!(history.transaction_count(), 3);
    assert_eq!(history.transactions.statuses[..2], [Status::Aborted; 2]);
    assert_eq!(history.notes.len(), 1);
}

#[test]
fn a_transaction_in_two_sessions_is_an_error() {
    let error = read("w(1,5,0,1)\nw(1,6,1,1)").unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.expected.contains("line 1"), "{}", error.expected);
}

#[test]
fn errors_say_where_and_what() {
    for (text, line, column, expected) in [
        ("w(1,5,0", 1, 8, "`,` after the session"),
        ("w(1,5,0,1)\nx", 2, 1, "an operation"),
        ("w(1,5,0,1) r(1,5,0,1)", 1, 11, "the end of the line"),
        ("w(1,99999999999999999999,0,1)", 1, 5, "at most 64 bits"),
        ("w(a,5,0,1)", 1, 3, "the key"),
        ("r1", 1, 2, "`(`"),
        ("w(1,5,0,-2)", 1, 9, "a transaction id"),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text}");
        assert!(error.expected.contains(expected), "{text}: {}", error.expected);
    }
}

#[test]
fn writing_and_reading_again_is_the_identity() {
    let text = "w(1,5,0,7)\nw(9,1,3,-1)\nr(1,5,2,8)\nw(2,0,0,7)\nr(18446744073709551615,-4,2,9)\n";
    let history = read(text).unwrap();
    let mut written = Vec::new();
    write(&history, &mut written).unwrap();
    let again = read_blocks(&written, 7).unwrap();
    assert!(crate::equality::same(&history, &again), "{}", String::from_utf8_lossy(&written));
}

#[test]
fn sixty_four_bits_are_exact() {
    let history = read("w(18446744073709551615,-9223372036854775808,0,1)").unwrap();
    let key = history.keys[0].atom_index().unwrap();
    assert_eq!(history.values.atom(key).1, "18446744073709551615");
    let value = history.operations.values[0].atom_index().unwrap();
    assert_eq!(history.values.atom(value).1, "-9223372036854775808");
}
