//! A history as dbcop's text, one transaction a line.

use super::{is_name, spelt_natural};
use crate::formats::Writer;
use crate::formats::without_ids::{
    Naturals, Version, is_beyond, is_initial_read, leaves_operations, lost_versions, misplaced_ids, natural,
    push_number, sessions, written_transactions,
};
use crate::history::{History, Kind, Status};
use crate::value::{AtomKind, Value};
use std::io::{self, Write};

const CHUNK: usize = 1 << 20;

/// The writer of the format.
pub const WRITER: Writer = Writer { name: "dbcop-hist", write, unwritable, leaves_operations };

/// Writes `history` as dbcop's text.
///
/// Anything that the format cannot hold is left out or numbered: the caller asks [`crate::evidence::features`] and
/// [`unwritable`] first.
///
/// # Errors
/// If `out` fails.
pub fn write(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let writer = TextWriter {
        history,
        numbers: Naturals::of(history, |operation| is_initial_read(history, operation)),
        is_named: history.keys.iter().all(|&key| is_variable(history, key)),
    };
    let mut text = Vec::new();
    let is_written = written_transactions(history);
    let is_kept = |transaction: usize| {
        let has_version = |operation| Version::of(history, &writer.numbers, operation).is_some();
        is_written[transaction] && history.operations_of(transaction).any(has_version)
    };
    for (session, transactions) in sessions(history, is_kept).enumerate() {
        if session > 0 {
            text.extend_from_slice(b"---\n");
        }
        for transaction in transactions {
            writer.transaction(transaction, &mut text);
            if text.len() > CHUNK {
                out.write_all(&text)?;
                text.clear();
            }
        }
    }
    out.write_all(&text)
}

struct TextWriter<'h> {
    history: &'h History,
    numbers: Naturals<'h>,
    is_named: bool,
}

impl TextWriter<'_> {
    fn transaction(&self, transaction: usize, text: &mut Vec<u8>) {
        let mut before = b'[';
        for operation in self.history.operations_of(transaction) {
            let Some(version) = Version::of(self.history, &self.numbers, operation) else { continue };
            text.push(before);
            before = b' ';
            self.variable(self.history.operations.keys[operation], text);
            let is_read = self.history.operations.kinds[operation] == Kind::Read;
            text.extend_from_slice(if is_read { b"==" } else { b":=" });
            match version {
                Version::Number(number) => push_number(text, number),
                Version::Initial => text.push(b'?'),
            }
        }
        text.push(b']');
        if self.history.transactions.statuses[transaction] == Status::Aborted {
            text.push(b'!');
        }
        text.push(b'\n');
    }

    fn variable(&self, key: u32, text: &mut Vec<u8>) {
        let name = self.history.keys[key as usize];
        let atom = name.atom_index().map(|index| self.history.values.atom(index));
        match (natural(self.history, name), atom) {
            _ if !self.is_named => push_number(text, u64::from(key)),
            (Some(number), _) => push_number(text, number),
            (None, Some((_, name))) => text.extend_from_slice(name.as_bytes()),
            (None, None) => push_number(text, u64::from(key)),
        }
    }
}

/// Whether a variable can be called so: a natural number, or a name that is not read as one.
fn is_variable(history: &History, key: Value) -> bool {
    let is_text = |index: usize| {
        let (kind, name) = history.values.atom(index);
        kind == AtomKind::Text && is_name(name) && spelt_natural(name.as_bytes()).is_none()
    };
    natural(history, key).is_some() || key.atom_index().is_some_and(is_text)
}

/// Losses of `history` in this format, beyond the features that it does not have.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let is_written = written_transactions(history);
    let mut lost = misplaced_ids(history, |transaction| is_written[transaction]);
    let is_lost = |&key: &Value| !is_variable(history, key) && !is_beyond(history, key);
    if history.keys.iter().any(is_lost) {
        lost.push("keys that are neither integers from 0 nor names of letters, digits and `_`: all keys are numbered");
    }
    lost.extend(lost_versions(history));
    lost
}
