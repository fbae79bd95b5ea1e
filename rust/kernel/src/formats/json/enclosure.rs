//! Records that stand in one array or alone (JSON lines), separated by whitespace and commas.

use super::{Cursor, Fault};
use crate::error::ParseError;

/// The next token among the records of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    End,
    /// A comma or bracket, which is taken.
    Punctuation,
    /// An object, which is not taken.
    Record,
}

/// Lines of the punctuation that a part of a block holds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks {
    /// The first thing that is not whitespace.
    first: Option<u64>,
    opened: Option<u64>,
    closed: Option<u64>,
}

impl Marks {
    /// Takes punctuation up to the next record, which should look like `example`.
    ///
    /// # Errors
    /// If something else stands here.
    pub fn next(&mut self, cursor: &mut Cursor, example: &'static str) -> Result<Next, Fault> {
        let Some(byte) = cursor.peek() else {
            return Ok(Next::End);
        };
        let is_first = self.first.is_none();
        self.first.get_or_insert(cursor.line());
        match byte {
            _ if self.closed.is_some() => {
                return Err(Fault::at(cursor.at(), "nothing after the closing `]`"));
            }
            b'{' => return Ok(Next::Record),
            b',' => cursor.expect(b',', "`,`")?,
            b']' => {
                self.closed = Some(cursor.line());
                cursor.expect(b']', "`]`")?;
            }
            b'[' if is_first => {
                self.opened = Some(cursor.line());
                cursor.begin_array()?;
            }
            _ => return Err(Fault::at(cursor.at(), example)),
        }
        Ok(Next::Punctuation)
    }
}

/// Where in its file the last record stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Enclosure {
    /// Nothing was seen yet.
    #[default]
    Start,
    /// Objects without an array around them.
    Lines,
    /// Inside the array that was opened on this line.
    Array(u64),
    /// Behind the array that was closed on this line.
    Closed(u64),
}

impl Enclosure {
    /// Goes on behind a part with these marks, which are then empty; records should look like `example`.
    ///
    /// # Errors
    /// If brackets do not match, or something follows the array.
    pub fn add(&mut self, marks: &mut Marks, example: &str) -> Result<(), ParseError> {
        *self = self.after(std::mem::take(marks), example)?;
        Ok(())
    }

    fn after(self, marks: Marks, example: &str) -> Result<Self, ParseError> {
        let Some(first) = marks.first else {
            return Ok(self);
        };
        let now = match (self, marks.opened) {
            (Self::Closed(line), _) => {
                let expected = format!("nothing after the `]` of line {line}");
                return Err(ParseError::on_line(first, &expected, "more"));
            }
            (Self::Start, Some(line)) => Self::Array(line),
            (Self::Start, None) => Self::Lines,
            (_, Some(line)) => {
                return Err(ParseError::on_line(line, example, "`[`").hint("one file holds one array"));
            }
            (_, None) => self,
        };
        match (marks.closed, now) {
            (None, _) => Ok(now),
            (Some(line), Self::Array(_)) => Ok(Self::Closed(line)),
            (Some(line), _) => Err(ParseError::on_line(line, "a `[` at the start of the file", "only `]`")),
        }
    }

    /// The file ends on `line`; the next one starts anew.
    ///
    /// # Errors
    /// If its array is still open.
    pub fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        match std::mem::take(self) {
            Self::Array(opened) => {
                let expected = format!("`]` for the `[` of line {opened}");
                Err(ParseError::on_line(line, &expected, "the end of the input")
                    .hint("the file is cut short: later transactions may be missing"))
            }
            _ => Ok(()),
        }
    }
}
