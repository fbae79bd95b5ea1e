//! A history as dbcop's JSON file, one transaction a line.

use crate::formats::placed::{
    Naturals, is_initial_read, is_negative, lost_versions, misplaced_ids, push_number, sessions,
};
use crate::history::{History, Kind, Status};
use std::io::{self, Write};

const CHUNK: usize = 1 << 20;
/// Nobody recorded when the history was made, and the same history must give the same bytes.
const INSTANT: &str = "1970-01-01T00:00:00+00:00";

/// Writes `history` as dbcop's JSON file.
///
/// What the format cannot hold is left out or numbered: the caller asks [`crate::evidence::features`] and
/// [`unwritable`] first.
///
/// # Errors
/// If `out` fails.
pub fn write(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let numbers = Naturals::of(history, |operation| is_initial_read(history, operation));
    let mut text = head(history).into_bytes();
    for (session, transactions) in sessions(history, |_| true).enumerate() {
        text.extend_from_slice(if session > 0 { b",\n[" } else { b"\n[" });
        for (place, transaction) in transactions.into_iter().enumerate() {
            text.extend_from_slice(if place > 0 { b",\n" } else { b"\n" });
            write_transaction(history, &numbers, transaction, &mut text);
            if text.len() > CHUNK {
                out.write_all(&text)?;
                text.clear();
            }
        }
        text.extend_from_slice(b"\n]");
    }
    text.extend_from_slice(b"\n]}\n");
    out.write_all(&text)
}

/// The fields before the sessions; of sizes that differ the largest is told.
fn head(history: &History) -> String {
    let sizes = sessions(history, |_| true).map(|session| session.len());
    let events = (0..history.transaction_count()).map(|number| history.operations_of(number).len());
    format!(
        "{{\"params\":{{\"id\":0,\"n_node\":{},\"n_variable\":{},\"n_transaction\":{},\"n_event\":{}}},\n\
         \"info\":\"written by isoscope\",\n\"start\":\"{INSTANT}\",\n\"end\":\"{INSTANT}\",\n\"data\":[",
        sessions(history, |_| true).count(),
        history.keys.len(),
        sizes.max().unwrap_or(0),
        events.max().unwrap_or(0),
    )
}

fn write_transaction(history: &History, numbers: &Naturals<'_>, transaction: usize, text: &mut Vec<u8>) {
    text.extend_from_slice(b"{\"events\":[");
    let mut before: &[u8] = b"";
    for operation in history.operations_of(transaction) {
        let kind: &[u8] = match history.operations.kinds[operation] {
            Kind::Read => b"{\"Read\":{\"variable\":",
            Kind::Write | Kind::Insert => b"{\"Write\":{\"variable\":",
            _ => continue,
        };
        let version = numbers.value(history.operations.values[operation]);
        let is_initial = is_initial_read(history, operation);
        if version.is_none() && !is_initial {
            continue;
        }
        text.extend_from_slice(before);
        before = b",";
        text.extend_from_slice(kind);
        push_number(text, numbers.key(history.operations.keys[operation]));
        text.extend_from_slice(b",\"version\":");
        match version.filter(|_| !is_initial) {
            Some(number) => push_number(text, number),
            None => text.extend_from_slice(b"null"),
        }
        text.extend_from_slice(b"}}");
    }
    let committed = history.transactions.statuses[transaction] != Status::Aborted;
    text.extend_from_slice(format!("],\"committed\":{committed}}}").as_bytes());
}

/// What the format cannot say of `history`, beyond the features that it does not have.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let mut lost = misplaced_ids(history);
    if history.keys.iter().any(|&key| is_negative(history, key)) {
        lost.push("keys below 0");
    }
    lost.extend(lost_versions(history));
    lost
}
