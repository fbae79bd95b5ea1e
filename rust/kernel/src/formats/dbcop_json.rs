//! dbcop's JSON: an array of sessions, each an array of transactions, alone or as `data` of an object.
//!
//! ```json
//! {"params": {"id": 0, "n_node": 1, "n_variable": 1, "n_transaction": 1, "n_event": 2}, "info": "",
//!  "start": "2025-01-01T00:00:00Z", "end": "2025-01-01T00:00:00Z",
//!  "data": [[{"events": [{"Write": {"variable": 0, "version": 1}}, ["r", 0, null]], "committed": true}]]}
//! ```
//!
//! Both spellings of an event may be mixed. A read of version null found the variable never written;
//! `"committed": false` is an aborted transaction. Fields come in any order and unknown ones are skipped;
//! of the object only `data` says anything. There are no ids.
//!
//! A record is a transaction, a bracket, or a field of the outer object: [`Place`] sees that they nest.

mod record;
mod write;

pub use record::Batch;
pub use write::WRITER;

use super::Records;
use super::without_ids::{NumberedHistory, ZERO};
use crate::error::ParseError;
use crate::history::History;
use record::{Mark, Token};

/// The history so far.
pub struct DbcopJson {
    history: NumberedHistory,
    place: Place,
    has_object: bool,
    has_data: bool,
}

/// Where in its file the last record stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    /// Between the fields of the outer object.
    Object,
    /// Behind `"data":`.
    Data,
    /// Between sessions.
    Sessions,
    /// Between transactions.
    Session,
    End,
}

impl Place {
    /// The records that may stand here.
    fn expected(self) -> &'static str {
        match self {
            Self::Start => "`[` around the sessions, or the object with `data`",
            Self::Object => "a field of the outer object",
            Self::Data => "`[` around the sessions",
            Self::Sessions => "a session in `[]`",
            Self::Session => "a transaction such as `{\"events\":[...],\"committed\":true}`",
            Self::End => "nothing after the history",
        }
    }
}

impl Default for DbcopJson {
    fn default() -> Self {
        let history = NumberedHistory::starting_with(ZERO, true);
        Self { history, place: Place::Start, has_object: false, has_data: false }
    }
}

impl Records for DbcopJson {
    type Batch = Batch;

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        let translation = self.history.builder.values.absorb(&batch.values);
        let mut from = 0;
        for Mark { token, line } in batch.marks.drain(..) {
            let Token::Transaction { status, end } = token else {
                self.bracket(token, line)?;
                continue;
            };
            if self.place != Place::Session {
                return Err(self.misplaced(token, line));
            }
            let transaction = self.history.transaction(status, line as u32);
            self.history.operations(transaction, &batch.operations[from..end], &translation);
            from = end;
        }
        batch.operations.clear();
        batch.values.clear();
        Ok(())
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        let place = std::mem::take(&mut self.place);
        (self.has_object, self.has_data) = (false, false);
        if place == Place::Start || place == Place::End {
            return Ok(());
        }
        let expected = format!("{}, or the brackets that close the file", place.expected());
        Err(ParseError::on_line(line, &expected, "the end of the input")
            .hint("the file is cut short: later transactions may be missing"))
    }

    fn into_history(mut self) -> Result<History, ParseError> {
        self.history.settle_initial_reads();
        self.history.into_history()
    }
}

impl DbcopJson {
    /// Goes on behind a bracket or field.
    fn bracket(&mut self, token: Token, line: u64) -> Result<(), ParseError> {
        self.place = match (self.place, token) {
            (Place::Start, Token::OpenObject) => {
                self.has_object = true;
                Place::Object
            }
            (Place::Start | Place::Data, Token::OpenArray) => Place::Sessions,
            (Place::Object, Token::Field) => Place::Object,
            (Place::Object, Token::Data) if self.has_data => {
                return Err(ParseError::on_line(line, "each field only once", "`data` again"));
            }
            (Place::Object, Token::Data) => {
                self.has_data = true;
                Place::Data
            }
            (Place::Object, Token::CloseObject) if !self.has_data => {
                return Err(ParseError::on_line(line, "an object with `data`", "its end"));
            }
            (Place::Sessions, Token::OpenArray) => Place::Session,
            (Place::Sessions, Token::CloseArray) if self.has_object => Place::Object,
            (Place::Object, Token::CloseObject) | (Place::Sessions, Token::CloseArray) => Place::End,
            (Place::Session, Token::CloseArray) => {
                self.history.end_session();
                Place::Sessions
            }
            _ => return Err(self.misplaced(token, line)),
        };
        Ok(())
    }

    fn misplaced(&self, token: Token, line: u64) -> ParseError {
        ParseError::on_line(line, self.place.expected(), token.name())
    }
}

#[cfg(test)]
mod tests;
