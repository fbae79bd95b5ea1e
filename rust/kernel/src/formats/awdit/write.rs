//! A history in AWDIT's test format.

use crate::formats::Writer;
use crate::formats::without_ids::{
    Naturals, is_negative, leaves_operations_of, misplaced_ids, push_number, sessions, written_transactions,
};
use crate::history::{History, Kind, Status};
use std::io::{self, Write};

const CHUNK: usize = 1 << 20;

/// The writer of the format.
pub const WRITER: Writer = Writer {
    name: "awdit",
    write,
    unwritable,
    leaves_operations: |history| leaves_operations_of(history, |status| status != Status::Aborted),
};

/// Writes `history` in AWDIT's test format.
///
/// Anything that the format cannot hold is left out or numbered. Initial values that reads show become a first
/// session of one transaction: without it the reads would be of thin air.
///
/// # Errors
/// If `out` fails.
pub fn write(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let numbers = Naturals::of(history, |_| false);
    let written = |operation: usize| number(history, &numbers, operation).is_some();
    let is_committed = committed(history);
    let is_kept =
        |transaction: usize| is_committed(transaction) && history.operations_of(transaction).any(written);
    let mut text = Vec::new();
    write_initial(history, &numbers, &is_kept, &mut text);
    for session in sessions(history, is_kept) {
        if !text.is_empty() {
            text.extend_from_slice(b"=====\n");
        }
        for (place, transaction) in session.into_iter().enumerate() {
            if place > 0 {
                text.extend_from_slice(b"-----\n");
            }
            write_transaction(history, &numbers, transaction, &mut text);
            // The last byte stays: that there is one says that a session stands before.
            if text.len() > CHUNK {
                out.write_all(&text[..text.len() - 1])?;
                text.drain(..text.len() - 1);
            }
        }
    }
    out.write_all(&text)
}

/// Whether a transaction is committed, or counts as that.
fn committed(history: &History) -> impl Fn(usize) -> bool {
    let is_written = written_transactions(history);
    move |transaction| {
        is_written[transaction] && history.transactions.statuses[transaction] != Status::Aborted
    }
}

fn write_transaction(history: &History, numbers: &Naturals<'_>, transaction: usize, text: &mut Vec<u8>) {
    for operation in history.operations_of(transaction) {
        if let Some(value) = number(history, numbers, operation) {
            let kind = history.operations.kinds[operation];
            let letter = if kind == Kind::Read { b'r' } else { b'w' };
            push_line(text, letter, numbers.key(history.operations.keys[operation]), value);
        }
    }
}

fn push_line(text: &mut Vec<u8>, letter: u8, key: u64, value: u64) {
    text.extend_from_slice(&[letter, b' ']);
    push_number(text, key);
    text.push(b' ');
    push_number(text, value);
    text.push(b'\n');
}

/// The number that `operation` read or wrote; `None` if the format has no such operation.
fn number(history: &History, numbers: &Naturals<'_>, operation: usize) -> Option<u64> {
    match history.operations.kinds[operation] {
        Kind::Read | Kind::Write | Kind::Insert => numbers.value(history.operations.values[operation]),
        _ => None,
    }
}

/// Writes the initial values that were read and not written.
fn write_initial(
    history: &History,
    numbers: &Naturals<'_>,
    is_kept: &impl Fn(usize) -> bool,
    text: &mut Vec<u8>,
) {
    let mut seen = vec![(false, false); history.keys.len()];
    for transaction in (0..history.transaction_count()).filter(|&transaction| is_kept(transaction)) {
        for operation in history.operations_of(transaction) {
            let (key, value) = (history.operations.keys[operation], history.operations.values[operation]);
            if number(history, numbers, operation).is_some() && value == history.initial.of(key) {
                let (read, written) = &mut seen[key as usize];
                let is_read = history.operations.kinds[operation] == Kind::Read;
                *(if is_read { read } else { written }) = true;
            }
        }
    }
    for (key, _) in (0..).zip(&seen).filter(|&(_, &(read, written))| read && !written) {
        if let Some(value) = numbers.value(history.initial.of(key)) {
            push_line(text, b'w', numbers.key(key), value);
        }
    }
}

/// Losses of `history` in this format, beyond the features that it does not have.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let mut lost = misplaced_ids(history, committed(history));
    if history.keys.iter().chain(&history.operations.values).any(|&value| is_negative(history, value)) {
        lost.push("negative integers: all keys or all values are numbered");
    }
    lost
}
