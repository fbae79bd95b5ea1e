//! A history as dbcop's JSON file, one transaction a line.

use crate::formats::Writer;
use crate::formats::without_ids::{
    Naturals, Version, is_initial_read, is_negative, leaves_operations, lost_versions, misplaced_ids,
    push_number, sessions, written_transactions,
};
use crate::history::{History, Kind, Status};
use std::io::{self, Write};

const CHUNK: usize = 1 << 20;
/// A history does not hold when it was made, and the same history must give the same bytes.
const INSTANT: &str = "1970-01-01T00:00:00+00:00";

/// The writer of the format.
pub const WRITER: Writer = Writer { name: "dbcop-json", write, unwritable, leaves_operations };

/// Writes `history` as dbcop's JSON file.
///
/// Anything that the format cannot hold is left out or numbered: the caller asks [`crate::evidence::features`] and
/// [`unwritable`] first.
///
/// # Errors
/// If `out` fails.
pub fn write(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let numbers = Naturals::of(history, |operation| is_initial_read(history, operation));
    let writer = JsonWriter { history, numbers, is_written: written_transactions(history) };
    let mut text = writer.head().into_bytes();
    for (session, transactions) in writer.sessions().enumerate() {
        text.extend_from_slice(if session > 0 { b",\n[" } else { b"\n[" });
        for (place, transaction) in transactions.into_iter().enumerate() {
            text.extend_from_slice(if place > 0 { b",\n" } else { b"\n" });
            writer.transaction(transaction, &mut text);
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

struct JsonWriter<'h> {
    history: &'h History,
    numbers: Naturals<'h>,
    is_written: Vec<bool>,
}

impl JsonWriter<'_> {
    fn sessions(&self) -> impl Iterator<Item = Vec<usize>> {
        sessions(self.history, |transaction| self.is_written[transaction])
    }

    /// The fields before the sessions; of sizes that differ the largest is written.
    fn head(&self) -> String {
        let is_written = |&operation: &usize| Version::of(self.history, &self.numbers, operation).is_some();
        let mut variables = vec![false; self.history.keys.len()];
        let mut most_events = 0;
        for transaction in self.sessions().flatten() {
            let mut events = 0;
            for operation in self.history.operations_of(transaction).filter(is_written) {
                variables[self.history.operations.keys[operation] as usize] = true;
                events += 1;
            }
            most_events = most_events.max(events);
        }
        let variables = variables.into_iter().filter(|&is_used| is_used).count();
        let sizes: Vec<usize> = self.sessions().map(|session| session.len()).collect();
        let (nodes, most_transactions) = (sizes.len(), sizes.into_iter().max().unwrap_or(0));
        format!(
            "{{\"params\":{{\"id\":0,\"n_node\":{nodes},\"n_variable\":{variables},\
             \"n_transaction\":{most_transactions},\"n_event\":{most_events}}},\n\
             \"info\":\"written by isoscope\",\n\"start\":\"{INSTANT}\",\n\"end\":\"{INSTANT}\",\n\"data\":["
        )
    }

    fn transaction(&self, transaction: usize, text: &mut Vec<u8>) {
        text.extend_from_slice(b"{\"events\":[");
        let mut before: &[u8] = b"";
        for operation in self.history.operations_of(transaction) {
            let Some(version) = Version::of(self.history, &self.numbers, operation) else { continue };
            text.extend_from_slice(before);
            before = b",";
            let is_read = self.history.operations.kinds[operation] == Kind::Read;
            text.extend_from_slice(if is_read { b"{\"Read\":" } else { b"{\"Write\":" });
            text.extend_from_slice(b"{\"variable\":");
            push_number(text, self.numbers.key(self.history.operations.keys[operation]));
            text.extend_from_slice(b",\"version\":");
            match version {
                Version::Number(number) => push_number(text, number),
                Version::Initial => text.extend_from_slice(b"null"),
            }
            text.extend_from_slice(b"}}");
        }
        let is_aborted = self.history.transactions.statuses[transaction] == Status::Aborted;
        text.extend_from_slice(if is_aborted { b"],\"committed\":false}" } else { b"],\"committed\":true}" });
    }
}

/// Losses of `history` in this format, beyond the features that it does not have.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let is_written = written_transactions(history);
    let mut lost = misplaced_ids(history, |transaction| is_written[transaction]);
    if history.keys.iter().any(|&key| is_negative(history, key)) {
        lost.push("keys below 0: all keys are numbered");
    }
    lost.extend(lost_versions(history));
    lost
}
