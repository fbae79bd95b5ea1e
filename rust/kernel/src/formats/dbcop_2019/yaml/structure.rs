//! Tokens of YAML as sessions of transactions of events.
//!
//! Lists and maps are told apart by columns in block style and by brackets in flow style. They nest five
//! deep and no deeper, because each level has its own kind of thing.

use super::super::{Event, Recording};
use super::token::{Field, Token, Word};
use crate::error::ParseError;
use crate::history::History;

/// The lists and maps by level; each level holds the next.
const LEVELS: [&str; 5] =
    ["a list of sessions", "a list of transactions", "a transaction", "a list of events", "an event"];
const TRANSACTION: usize = 2;
const EVENTS: usize = 3;
const EVENT: usize = 4;

/// An open list or map.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// The column of its dashes or names; `None` in flow style.
    column: Option<u32>,
    line: u32,
}

/// The token that may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// The list or map of the next level, because a dash, a comma, a bracket or a name announced it.
    Node,
    /// The number or boolean of this field.
    Scalar(Field),
    /// Another member of the open list or map, or its end; in flow style with a comma before it.
    Member { comma: bool },
    /// Nothing but the end.
    Nothing,
}

/// The history so far, and where in its structure the reader stands.
pub struct Structure {
    recording: Recording,
    /// The open lists and maps: the one at place `n` is of level `n`.
    open: Vec<Frame>,
    expected: Expected,
    has_start: bool,
    /// A field of the transaction that is open; `events` may come before or after it.
    success: Option<bool>,
    has_events: bool,
    event: Partial,
}

/// The fields of an event that have come.
#[derive(Debug, Clone, Copy, Default)]
struct Partial {
    write: Option<bool>,
    variable: Option<u64>,
    value: Option<u64>,
    success: Option<bool>,
}

impl Default for Structure {
    fn default() -> Self {
        Self {
            recording: Recording::default(),
            open: Vec::with_capacity(LEVELS.len()),
            expected: Expected::Node,
            has_start: false,
            success: None,
            has_events: false,
            event: Partial::default(),
        }
    }
}

impl Structure {
    pub fn take(&mut self, token: Token) -> Result<(), ParseError> {
        match token.word {
            Word::Dash => self.dash(token),
            Word::Field(field) => self.field(field, token),
            Word::Boolean(_) | Word::Number(_) => self.scalar(token),
            Word::OpenList | Word::OpenMap => self.opened(token),
            Word::CloseList | Word::CloseMap => self.closed(token),
            Word::Comma => self.comma(token),
            Word::Start => self.document(token),
            Word::End => self.end_of_file(u64::from(token.line)).map(|()| self.expected = Expected::Nothing),
        }
    }

    pub fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        if self.open.is_empty() {
            // A file without a word is an empty history.
            (self.expected, self.has_start) = (Expected::Node, false);
            return Ok(());
        }
        let cut = |expected: &str| {
            Err(ParseError::on_line(line, expected, "the end of the input")
                .hint("the file is cut short: later events may be missing"))
        };
        match self.expected {
            Expected::Node => return cut(LEVELS[self.open.len()]),
            Expected::Scalar(field) => return cut(&format!("a value of `{}`", field.name())),
            Expected::Member { .. } | Expected::Nothing => {}
        }
        if self.in_flow() {
            return cut(if is_map(self.open.len() - 1) { "`}`" } else { "`]`" });
        }
        while !self.open.is_empty() {
            self.close()?;
        }
        (self.expected, self.has_start) = (Expected::Node, false);
        Ok(())
    }

    pub fn into_history(self) -> Result<History, ParseError> {
        self.recording.into_history()
    }

    fn in_flow(&self) -> bool {
        self.open.last().is_some_and(|frame| frame.column.is_none())
    }

    fn document(&mut self, token: Token) -> Result<(), ParseError> {
        if self.has_start || !self.open.is_empty() || self.expected != Expected::Node {
            return Err(self.unexpected(token).hint("a file holds one document"));
        }
        self.has_start = true;
        Ok(())
    }

    /// `-`: the next item of a list in block style, perhaps its first.
    fn dash(&mut self, token: Token) -> Result<(), ParseError> {
        if self.in_flow() || !token.leads {
            return Err(self.unexpected(token));
        }
        if self.expected == Expected::Node && self.is_inside(token.column) {
            if is_map(self.open.len()) {
                return Err(self.unexpected(token));
            }
            self.open(token, false);
            return Ok(());
        }
        self.back_to(token)?;
        if is_map(self.open.len() - 1) {
            return Err(self.unexpected(token));
        }
        self.expected = Expected::Node;
        Ok(())
    }

    fn field(&mut self, field: Field, token: Token) -> Result<(), ParseError> {
        if self.in_flow() {
            if self.expected != (Expected::Member { comma: false }) || !is_map(self.open.len() - 1) {
                return Err(self.unexpected(token));
            }
        } else if !token.leads {
            return Err(self.unexpected(token));
        } else if self.expected == Expected::Node && self.is_inside(token.column) {
            if !is_map(self.open.len()) {
                return Err(self.unexpected(token));
            }
            self.open(token, false);
        } else {
            self.back_to(token)?;
            if !is_map(self.open.len() - 1) {
                return Err(self.unexpected(token));
            }
        }
        self.name(field, token)
    }

    /// Whether a block at `column` belongs to the announced list or map, not to one around it.
    fn is_inside(&self, column: u32) -> bool {
        match self.open.last().and_then(|frame| frame.column) {
            None => true,
            // The items of a list that is the value of a name may stand below the name.
            Some(around) if self.open.len() == EVENTS => column >= around,
            Some(around) => column > around,
        }
    }

    /// Closes lists and maps deeper than `token`, so that the open one has its column.
    fn back_to(&mut self, token: Token) -> Result<(), ParseError> {
        if !matches!(self.expected, Expected::Member { .. }) {
            return Err(self.unexpected(token));
        }
        if self.open.iter().all(|frame| frame.column != Some(token.column)) {
            return Err(self.misplaced(token));
        }
        let is_name = token.word != Word::Dash;
        while let Some(&Frame { column: Some(column), .. }) = self.open.last() {
            // A name may stand in the column of the dashes before it: it is then of the map around them.
            let is_behind = column == token.column && is_name && self.open.len() == EVENTS + 1;
            if column == token.column && !is_behind {
                return Ok(());
            }
            self.close()?;
        }
        Err(self.misplaced(token))
    }

    fn misplaced(&self, token: Token) -> ParseError {
        let columns: Vec<String> =
            self.open.iter().filter_map(|frame| frame.column).map(|column| column.to_string()).collect();
        let expected = format!("an indentation of {} spaces", columns.join(" or "));
        at(token, &expected, &format!("{} after {} spaces", token.word.show(), token.column))
    }

    /// The list or map of the next level starts.
    fn open(&mut self, token: Token, in_flow: bool) {
        let level = self.open.len();
        self.open.push(Frame { column: (!in_flow).then_some(token.column), line: token.line });
        self.expected = Expected::Member { comma: false };
        match level {
            TRANSACTION => {
                (self.success, self.has_events) = (None, false);
                self.recording.transaction(token.line);
            }
            EVENT => self.event = Partial::default(),
            1 => self.recording.session(),
            _ => {}
        }
        if !in_flow && !is_map(level) {
            self.expected = Expected::Node;
        }
    }

    fn opened(&mut self, token: Token) -> Result<(), ParseError> {
        let is_announced = match self.expected {
            Expected::Node => true,
            Expected::Member { comma: false } => self.in_flow() && !is_map(self.open.len() - 1),
            _ => false,
        };
        let bracket = if is_map(self.open.len()) { Word::OpenMap } else { Word::OpenList };
        if !is_announced || token.word != bracket {
            return Err(self.unexpected(token));
        }
        self.open(token, true);
        Ok(())
    }

    fn closed(&mut self, token: Token) -> Result<(), ParseError> {
        let is_open = self.in_flow() && matches!(self.expected, Expected::Member { .. });
        let level = self.open.len().saturating_sub(1);
        if !is_open || is_map(level) != (token.word == Word::CloseMap) {
            return Err(self.unexpected(token));
        }
        self.close()
    }

    fn comma(&mut self, token: Token) -> Result<(), ParseError> {
        if !self.in_flow() || self.expected != (Expected::Member { comma: true }) {
            return Err(self.unexpected(token));
        }
        self.expected = Expected::Member { comma: false };
        Ok(())
    }

    /// The open list or map ends.
    fn close(&mut self) -> Result<(), ParseError> {
        let Some(frame) = self.open.pop() else { return Ok(()) };
        match self.open.len() {
            TRANSACTION => self.end_of_transaction(frame.line)?,
            EVENT => {
                let event = self.event.whole(frame.line)?;
                self.recording.event(event, frame.line);
            }
            _ => {}
        }
        self.expected =
            if self.open.is_empty() { Expected::Nothing } else { Expected::Member { comma: true } };
        Ok(())
    }

    fn end_of_transaction(&mut self, line: u32) -> Result<(), ParseError> {
        let Some(success) = self.success else { return Err(missing("success", "a transaction", line)) };
        if !self.has_events {
            return Err(missing("events", "a transaction", line));
        }
        self.recording.end_of_transaction(success);
        Ok(())
    }

    /// The name of a field of the map that is open.
    fn name(&mut self, field: Field, token: Token) -> Result<(), ParseError> {
        let (is_known, is_repeated) = match (self.open.len() - 1, field) {
            (TRANSACTION, Field::Events) => (true, self.has_events),
            (TRANSACTION, Field::Success) => (true, self.success.is_some()),
            (EVENT, Field::Write) => (true, self.event.write.is_some()),
            (EVENT, Field::Variable) => (true, self.event.variable.is_some()),
            (EVENT, Field::Value) => (true, self.event.value.is_some()),
            (EVENT, Field::Success) => (true, self.event.success.is_some()),
            _ => (false, false),
        };
        if !is_known {
            return Err(self.unexpected(token));
        }
        if is_repeated {
            return Err(at(token, "each field once", &format!("{} again", token.word.show())));
        }
        self.has_events |= field == Field::Events;
        self.expected = if field == Field::Events { Expected::Node } else { Expected::Scalar(field) };
        Ok(())
    }

    fn scalar(&mut self, token: Token) -> Result<(), ParseError> {
        let Expected::Scalar(field) = self.expected else { return Err(self.unexpected(token)) };
        let in_event = self.open.len() == EVENT + 1;
        match (field, token.word) {
            (Field::Variable, Word::Number(number)) => self.event.variable = Some(number),
            (Field::Value, Word::Number(number)) => self.event.value = Some(number),
            (Field::Write, Word::Boolean(truth)) => self.event.write = Some(truth),
            (Field::Success, Word::Boolean(truth)) if in_event => self.event.success = Some(truth),
            (Field::Success, Word::Boolean(truth)) => self.success = Some(truth),
            _ => return Err(self.unexpected(token)),
        }
        self.expected = Expected::Member { comma: true };
        Ok(())
    }

    fn unexpected(&self, token: Token) -> ParseError {
        let expected = match self.expected {
            Expected::Node => LEVELS[self.open.len()].to_owned(),
            Expected::Scalar(field @ (Field::Variable | Field::Value)) => {
                format!("a whole number as the `{}`", field.name())
            }
            Expected::Scalar(field) => format!("`true` or `false` as the `{}`", field.name()),
            Expected::Nothing => "the end of the file".to_owned(),
            Expected::Member { comma } => self.member(comma),
        };
        at(token, &expected, &token.word.show())
    }

    /// The tokens that may follow a member of the open list or map.
    fn member(&self, comma: bool) -> String {
        let level = self.open.len() - 1;
        let member = match level {
            TRANSACTION => "`events` or `success` of a transaction",
            EVENT => "`write`, `variable`, `value` or `success` of an event",
            _ => LEVELS[level + 1],
        };
        match (self.in_flow(), comma) {
            (true, true) => format!("`,` or `{}`", if is_map(level) { '}' } else { ']' }),
            (true, false) => member.to_owned(),
            (false, _) if is_map(level) => format!("{member}, on a line of its own"),
            (false, _) => format!("`-` and {member}"),
        }
    }
}

impl Partial {
    fn whole(self, line: u32) -> Result<Event, ParseError> {
        let lacks = |name| missing(name, "an event", line);
        Ok(Event {
            write: self.write.ok_or_else(|| lacks("write"))?,
            variable: self.variable.ok_or_else(|| lacks("variable"))?,
            value: self.value.ok_or_else(|| lacks("value"))?,
            success: self.success.ok_or_else(|| lacks("success"))?,
        })
    }
}

/// Transactions and events are maps, what holds them are lists.
fn is_map(level: usize) -> bool {
    level == TRANSACTION || level == EVENT
}

fn at(token: Token, expected: &str, found: &str) -> ParseError {
    let error = ParseError::on_line(u64::from(token.line), expected, found);
    ParseError { column: u64::from(token.column) + 1, ..error }
}

fn missing(field: &str, of: &str, line: u32) -> ParseError {
    ParseError::on_line(u64::from(line), &format!("`{field}` in {of}"), "none")
}
