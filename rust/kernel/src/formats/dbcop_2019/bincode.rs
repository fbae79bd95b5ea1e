//! dbcop's `history.bincode`: numbers of 64 bits, little endian, each list behind its length.
//!
//! ```text
//! u64 id, n_node, n_variable, n_transaction, n_event      parameters of the workload, not used
//! text info, start, end                                   u64 length and so many bytes, not used
//! u64 sessions { u64 transactions { u64 events { u8 write, u64 variable, u64 value, u8 success }
//!                                   u8 success } }
//! ```
//!
//! A length is only ever counted down, so an absurd one costs nothing: the file ends too early.

use super::{Event, Recording};
use crate::error::ParseError;
use crate::formats::stream::{Stream, line, show_byte};
use crate::history::History;

const HEADER: usize = 40;
const EVENT: usize = 18;
/// Longest text of the header: more is another format.
const LONGEST_TEXT: u64 = 1 << 20;
const TEXTS: [&str; 3] = ["info", "start", "end"];
const ANOTHER: &str = "is this another format? Name it with --format";

/// The next field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Header,
    TextLength(usize),
    Text(usize),
    Sessions,
    Session,
    Transaction,
    Event,
    Success,
    End,
}

/// The history so far, and how much of each list is still to come.
pub struct Bincode {
    recording: Recording,
    next: Next,
    text: u64,
    sessions: u64,
    transactions: u64,
    events: u64,
}

impl Default for Bincode {
    fn default() -> Self {
        let recording = Recording::default();
        Self { recording, next: Next::Header, text: 0, sessions: 0, transactions: 0, events: 0 }
    }
}

impl Stream for Bincode {
    fn take(&mut self, bytes: &[u8], at: u64) -> Result<usize, ParseError> {
        let mut taken = 0;
        while let Some(size) = self.field(&bytes[taken..], at + taken as u64)? {
            taken += size;
        }
        Ok(taken)
    }

    fn end_of_file(&mut self, rest: &[u8], at: u64) -> Result<(), ParseError> {
        let is_empty = self.next == Next::Header && rest.is_empty();
        if !is_empty && self.next != Next::End {
            return Err(ParseError::at_byte(at, &self.expected(), "the end of the file")
                .hint("the file is cut short, or it is no bincode"));
        }
        self.next = Next::Header;
        Ok(())
    }

    fn into_history(self) -> Result<History, ParseError> {
        self.recording.into_history()
    }
}

impl Bincode {
    /// Takes the next field; its size, or `None` if it has not come whole.
    #[inline]
    fn field(&mut self, bytes: &[u8], at: u64) -> Result<Option<usize>, ParseError> {
        match self.next {
            Next::Event if self.events > 0 => {
                let Some(fields) = bytes.first_chunk() else { return Ok(None) };
                self.event(fields, at)?;
                Ok(Some(EVENT))
            }
            Next::Success => {
                let Some(&byte) = bytes.first() else { return Ok(None) };
                self.recording.end_of_transaction(flag(byte, at, "whether the transaction committed")?);
                self.next = Next::Transaction;
                Ok(Some(1))
            }
            Next::Transaction if self.transactions > 0 => Ok(self.transaction(bytes, at)),
            _ => self.frame(bytes, at),
        }
    }

    #[inline]
    fn event(&mut self, fields: &[u8; EVENT], at: u64) -> Result<(), ParseError> {
        let event = Event {
            write: flag(fields[0], at, "whether the event is a write")?,
            variable: number(&fields[1..]).unwrap_or_default(),
            value: number(&fields[9..]).unwrap_or_default(),
            success: flag(fields[17], at + 17, "whether the event succeeded")?,
        };
        self.recording.event(event, line(at));
        self.events -= 1;
        Ok(())
    }

    fn transaction(&mut self, bytes: &[u8], at: u64) -> Option<usize> {
        self.events = number(bytes)?;
        self.recording.transaction(line(at));
        self.transactions -= 1;
        self.next = Next::Event;
        Some(8)
    }

    /// A field that is rare.
    fn frame(&mut self, bytes: &[u8], at: u64) -> Result<Option<usize>, ParseError> {
        Ok(match self.next {
            Next::Header if bytes.len() >= HEADER => self.go(Next::TextLength(0), HEADER),
            Next::TextLength(which) => return self.text_length(which, bytes, at),
            Next::Text(which) if self.text == 0 => {
                self.go(if which + 1 < TEXTS.len() { Next::TextLength(which + 1) } else { Next::Sessions }, 0)
            }
            Next::Text(_) if !bytes.is_empty() => {
                let size = bytes.len().min(self.text as usize);
                self.text -= size as u64;
                Some(size)
            }
            Next::Sessions => number(bytes).and_then(|count| {
                self.sessions = count;
                self.go(Next::Session, 8)
            }),
            Next::Session if self.sessions == 0 => self.go(Next::End, 0),
            Next::Session => number(bytes).and_then(|count| {
                (self.sessions, self.transactions) = (self.sessions - 1, count);
                self.recording.session();
                self.go(Next::Transaction, 8)
            }),
            Next::Transaction => self.go(Next::Session, 0),
            Next::Event => self.go(Next::Success, 0),
            Next::End if !bytes.is_empty() => {
                let expected = "the end of the file after the last session";
                return Err(ParseError::at_byte(at, expected, "more bytes").hint(ANOTHER));
            }
            _ => None,
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "what every field returns")]
    fn go(&mut self, next: Next, size: usize) -> Option<usize> {
        self.next = next;
        Some(size)
    }

    fn text_length(&mut self, which: usize, bytes: &[u8], at: u64) -> Result<Option<usize>, ParseError> {
        let Some(length) = number(bytes) else { return Ok(None) };
        if length > LONGEST_TEXT {
            let expected = format!("the length of the text `{}`, at most 1 MiB", TEXTS[which]);
            return Err(ParseError::at_byte(at, &expected, &length.to_string()).hint(ANOTHER));
        }
        self.text = length;
        Ok(self.go(Next::Text(which), 8))
    }

    /// The field that is missing at the end of a file.
    fn expected(&self) -> String {
        let more = |count: u64, what: &str| match count {
            1 => format!("1 more {what}"),
            _ => format!("{count} more {what}s"),
        };
        match self.next {
            Next::Header => "a header of 40 bytes".to_owned(),
            Next::TextLength(which) => format!("the length of the text `{}`", TEXTS[which]),
            Next::Text(which) => format!("{} of the text `{}`", more(self.text, "byte"), TEXTS[which]),
            Next::Sessions => "the number of sessions".to_owned(),
            Next::Session => more(self.sessions, "session"),
            Next::Transaction => format!("{} of a session", more(self.transactions, "transaction")),
            Next::Event => format!("{} of a transaction", more(self.events, "event")),
            Next::Success => "whether the transaction committed (0 or 1)".to_owned(),
            Next::End => "the end of the file".to_owned(),
        }
    }
}

#[inline]
fn number(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[inline]
fn flag(byte: u8, at: u64, what: &str) -> Result<bool, ParseError> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(ParseError::at_byte(at, &format!("{what} (0 or 1)"), &show_byte(byte)).hint(ANOTHER)),
    }
}
