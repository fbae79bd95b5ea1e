//! Cobra's logs, with and without times.

use super::*;
use crate::equality::same;
use crate::history::{Interval, Status};

const INIT: i64 = 0xbebe_ebee;

fn record(tag: u8, fields: &[i64]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend(fields.iter().flat_map(|field| field.to_be_bytes()));
    bytes
}

/// A log of three transactions; `times` adds the client's.
fn log(first: i64, times: bool) -> Vec<u8> {
    let frame = |tag, id, time| if times { record(tag, &[id, time]) } else { record(tag, &[id]) };
    [
        frame(b'S', first, 100),
        record(b'W', &[first * 10, i64::MIN, 1]),
        frame(b'C', first, 200),
        frame(b'S', first + 1, 300),
        record(b'R', &[first, first * 10, i64::MIN, 1]),
        record(b'R', &[INIT, INIT, 5, 0]),
        frame(b'A', first + 1, 400),
        frame(b'S', first + 2, 500),
        record(b'W', &[first * 10 + 1, 5, 1]),
    ]
    .concat()
}

fn read(files: &[(&str, &[u8])], size: usize) -> Result<History, ParseError> {
    let mut reader = StreamReader::<Cobra>::default();
    for (name, content) in files {
        reader.start_of_file(name)?;
        content.chunks(size).try_for_each(|block| reader.feed(block))?;
        reader.end_of_file()?;
    }
    Box::new(reader).into_history()
}

#[test]
fn times_are_found_out_and_are_the_clients_interval() {
    for times in [false, true] {
        let history = read(&[("T1", &log(1, times)), ("T2", b""), ("T3", &log(4, times))], 64).unwrap();
        let statuses = [Status::Committed, Status::Aborted, Status::Indeterminate];
        assert_eq!(history.transactions.statuses, [statuses, statuses].concat());
        assert_eq!(history.session_ids.len(), 2);
        let expected = if times { Interval::new(Some(100), Some(200)) } else { Interval::default() };
        assert_eq!(history.transactions.intervals.get(0), expected);
        let open = if times { Interval::new(Some(500), None) } else { Interval::default() };
        assert_eq!(history.transactions.intervals.get(2), open);
        assert_eq!(history.notes, [("sessions without a transaction left out".to_owned(), 1)]);
    }
}

#[test]
fn blocks_of_any_size_give_the_same_history() {
    for times in [false, true] {
        let content = log(7, times);
        let whole = read(&[("T1", &content)], content.len()).unwrap();
        for size in 1..40 {
            assert!(same(&whole, &read(&[("T1", &content)], size).unwrap()), "{size}");
        }
    }
}

#[test]
fn one_log_with_times_and_one_without_are_no_history() {
    assert!(read(&[("T1", &log(1, true)), ("T2", &log(4, false))], 64).is_err());
}

#[test]
fn an_error_is_that_of_the_layout_that_came_further() {
    for times in [false, true] {
        let mut content = log(1, times);
        content.push(b'X');
        let error = read(&[("T1", &content)], 64).unwrap_err();
        assert_eq!(error.line, content.len() as u64);
    }
}

#[test]
fn logs_that_fit_both_layouts_are_read_without_times_and_said_so() {
    let id = 9_i64.to_be_bytes();
    // With times: a transaction from 0x57... to 0. Without: one that writes and does not end.
    let content = [b"S", &id[..], b"W", &[0; 7], b"C", &id, &[0; 8]].concat();
    let history = read(&[("T1", &content)], 64).unwrap();
    assert_eq!(history.transactions.statuses, [Status::Indeterminate]);
    let counted = [("logs that fit with and without times, read without".to_owned(), 1)];
    assert_eq!(history.notes, counted);
    let empty = [("sessions without a transaction left out".to_owned(), 1)];
    assert_eq!(read(&[("T1", b"")], 64).unwrap().notes, empty);
}

#[test]
fn a_read_that_names_another_writer_is_counted() {
    let one = [record(b'S', &[1]), record(b'W', &[10, 5, 0]), record(b'C', &[1])].concat();
    let frame = |reads: &[[i64; 4]]| {
        let reads: Vec<u8> = reads.iter().flat_map(|read| record(b'R', read)).collect();
        [record(b'S', &[2]), reads, record(b'C', &[2])].concat()
    };
    let count = |reads: &[[i64; 4]]| {
        let history = read(&[("T1", &frame(reads)), ("T2", &one)], 64).unwrap();
        history.notes.first().map_or(0, |note| note.1)
    };
    // The writer; another one that the logs show; one that they do not show; a write that no log shows.
    assert_eq!(count(&[[1, 10, 5, 0]]), 0);
    assert_eq!(count(&[[2, 10, 5, 0]]), 1);
    assert_eq!(count(&[[9, 10, 5, 0]]), 1);
    assert_eq!(count(&[[9, 11, 5, 0]]), 0);
    assert_eq!(count(&[[1, 11, 5, 0], [1, 10, 6, 0], [1, INIT, 5, 0]]), 3);
}
