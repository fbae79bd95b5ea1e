//! The EDN front end: text to events.

use super::field::{Field, Seen};
use super::{Batch, Draft, EventType, MISSING, MicroOperation, Process, UNUSABLE, WORKLOADS, kind_named};
use crate::error::ParseError;
use crate::formats::edn::{Cursor, Fault, closer_of, valid_prefix};
use crate::history::Kind;
use crate::value::{AtomKind, Value};

const EXAMPLE: &str = "an operation such as `{:type :ok, :process 0, :value [[:append 1 2]]}`";
const OPERATIONS: &str = "a vector of micro-operations such as `[[:r 1 nil] [:append 1 2]]`";

/// Kinds as nearly every history spells them, tried before any other spelling.
const USUAL_KINDS: [(&[u8], Kind); 3] =
    [(b":r ", Kind::Read), (b":append ", Kind::Append), (b":w ", Kind::Write)];

/// Fills `batch` from the whole records of `text`; how many bytes were taken.
pub(super) fn parse(
    text: &[u8],
    first_line: u64,
    last: bool,
    batch: &mut Batch,
) -> Result<usize, ParseError> {
    let (valid, is_broken) = valid_prefix(text, last);
    let cursor = Cursor::new(valid, last && !is_broken);
    let mut records = EventReader { cursor, text, line: first_line, counted: 0 };
    loop {
        let taken = records.cursor.at();
        let mark = batch.mark();
        let fault = match records.record(batch) {
            Ok(true) => continue,
            Err(fault @ Fault::Malformed(_)) => fault,
            Ok(false) | Err(Fault::CutOff) if is_broken => Fault::new(valid.len(), "UTF-8 text"),
            Ok(false) => return Ok(records.cursor.at()),
            Err(Fault::CutOff) if last => Fault::CutOff,
            Err(Fault::CutOff) => {
                batch.rewind(mark);
                return Ok(taken);
            }
        };
        batch.rewind(mark);
        return Err(fault.into_error(text, first_line));
    }
}

struct EventReader<'text> {
    cursor: Cursor<'text>,
    text: &'text [u8],
    /// Line of the byte `counted`.
    line: u64,
    counted: usize,
}

impl EventReader<'_> {
    /// Adds the next event or bracket; false at the end of the text.
    fn record(&mut self, batch: &mut Batch) -> Result<bool, Fault> {
        self.cursor.skip_blank()?;
        if self.cursor.is_at_end() {
            return Ok(false);
        }
        let start = self.cursor.at();
        let line = self.line_at(start);
        match self.cursor.peek()? {
            bracket @ (b'[' | b'(') => return Ok(self.bracket(EventType::Open(bracket), line, batch)),
            bracket @ (b']' | b')') => return Ok(self.bracket(EventType::Close(bracket), line, batch)),
            b'#' => self.skip_tags()?,
            _ => {}
        }
        if self.cursor.peek()? != b'{' {
            return Err(Fault::new(start, EXAMPLE).hint("is this another format? Name it with --format"));
        }
        self.cursor.advance();
        self.event(Draft::new(line), start, batch)?;
        Ok(true)
    }

    fn line_at(&mut self, at: usize) -> u64 {
        self.line += memchr::memchr_iter(b'\n', &self.text[self.counted..at]).count() as u64;
        self.counted = at;
        self.line
    }

    fn bracket(&mut self, event_type: EventType, line: u64, batch: &mut Batch) -> bool {
        self.cursor.advance();
        batch.bracket(event_type, line);
        true
    }

    /// Goes over tags, such as `#jepsen.history.Op`.
    fn skip_tags(&mut self) -> Result<(), Fault> {
        while self.cursor.peek()? == b'#' && self.cursor.tag()?.is_some() {
            self.cursor.skip_blank()?;
        }
        Ok(())
    }

    /// Reads the entries of a map up to its `}`.
    fn event(&mut self, mut draft: Draft, start: usize, batch: &mut Batch) -> Result<(), Fault> {
        let mark = batch.mark();
        let mut fault = None;
        let mut seen = Seen::default();
        loop {
            self.cursor.skip_blank()?;
            let at = self.cursor.at();
            match self.cursor.peek()? {
                b'}' => break,
                b':' => match Field::named(self.cursor.word()?) {
                    Some(field) if seen.add(field) => self.entry(field, &mut draft, &mut fault, batch)?,
                    Some(_) => return Err(Fault::new(at, "each key of the map once")),
                    None => self.cursor.skip_form()?,
                },
                _ => {
                    self.cursor.skip_form()?;
                    self.cursor.skip_form()?;
                }
            }
        }
        self.cursor.advance();
        if draft.is_a_clients()
            && let Some(fault) = fault
        {
            return Err(fault);
        }
        batch.close(&draft, mark).map_err(|(expected, hint)| Fault::new(start, expected).hint(hint))
    }

    /// Reads the value of one key.
    fn entry(
        &mut self,
        field: Field,
        draft: &mut Draft,
        fault: &mut Option<Fault>,
        batch: &mut Batch,
    ) -> Result<(), Fault> {
        match field {
            Field::Type => draft.event_type = EventType::named(self.name()?),
            Field::Function => draft.other_function = !matches!(self.name()?, b"txn" | b"nil"),
            Field::Process => draft.process = self.process(batch)?,
            Field::Index => draft.index = self.integer()?,
            Field::Time => draft.time = self.integer()?,
            Field::Transaction => draft.transaction = self.cursor.value(&mut batch.values)?,
            Field::Value => self.value(draft, fault, batch)?,
        }
        Ok(())
    }

    /// A name, or nothing if the form is not one.
    fn name(&mut self) -> Result<&[u8], Fault> {
        let start = self.after_blank()?;
        if self.cursor.peek()? != b'#' {
            let name = self.cursor.name()?;
            if !name.is_empty() {
                return Ok(name);
            }
        }
        self.cursor.rewind(start);
        self.cursor.skip_form()?;
        Ok(b"")
    }

    /// An integer that is not negative; [`MISSING`] for nil, [`UNUSABLE`] for anything else.
    fn integer(&mut self) -> Result<i64, Fault> {
        let start = self.after_blank()?;
        if let Some(number) = self.cursor.short_integer() {
            return Ok(if number >= 0 { number } else { UNUSABLE });
        }
        let word = self.cursor.word()?;
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        if number.is_none() {
            self.cursor.rewind(start);
            self.cursor.skip_form()?;
        }
        let otherwise = if word == b"nil" { MISSING } else { UNUSABLE };
        Ok(number.filter(|&number| number >= 0).unwrap_or(otherwise))
    }

    fn process(&mut self, batch: &mut Batch) -> Result<Process, Fault> {
        let process = self.cursor.value(&mut batch.values)?;
        if process == Value::NIL {
            return Ok(Process::Unnamed);
        }
        let is_integer = match process.atom_index() {
            Some(index) => batch.values.atom(index).0 == AtomKind::Integer,
            None => true,
        };
        Ok(if is_integer { Process::Client(process) } else { Process::Other })
    }

    /// Reads the micro-operations of an event that may turn out not to be a client's.
    fn value(
        &mut self,
        draft: &mut Draft,
        fault: &mut Option<Fault>,
        batch: &mut Batch,
    ) -> Result<(), Fault> {
        let start = self.after_blank()?;
        let mark = batch.mark();
        match self.operations(batch) {
            Ok(has_value) => draft.has_value = has_value,
            Err(Fault::CutOff) => return Err(Fault::CutOff),
            Err(misfit) => {
                *fault = Some(misfit);
                batch.rewind(mark);
                self.cursor.rewind(start);
                self.cursor.skip_form()?;
            }
        }
        Ok(())
    }

    fn after_blank(&mut self) -> Result<usize, Fault> {
        self.cursor.skip_blank()?;
        Ok(self.cursor.at())
    }

    /// Reads a vector of micro-operations; false if there is nil instead.
    fn operations(&mut self, batch: &mut Batch) -> Result<bool, Fault> {
        let start = self.cursor.at();
        let closer = match self.cursor.peek()? {
            opener @ (b'[' | b'(') => closer_of(opener),
            b'n' if self.cursor.word()? == b"nil" => return Ok(false),
            _ => return Err(Fault::new(start, OPERATIONS).hint(WORKLOADS)),
        };
        self.cursor.advance();
        loop {
            self.cursor.skip_blank()?;
            match self.cursor.peek()? {
                byte if byte == closer => break,
                opener @ (b'[' | b'(') => self.operation(closer_of(opener), batch)?,
                _ => {
                    let at = self.cursor.at();
                    return Err(Fault::new(at, "a micro-operation such as `[:r 1 nil]`").hint(WORKLOADS));
                }
            }
        }
        self.cursor.advance();
        Ok(true)
    }

    fn operation(&mut self, closer: u8, batch: &mut Batch) -> Result<(), Fault> {
        self.cursor.advance();
        let kind = self.kind()?;
        let key = self.cursor.value(&mut batch.values)?;
        let value = self.operand(kind, closer, batch)?;
        let at = self.after_blank()?;
        if self.cursor.peek()? != closer {
            return Err(Fault::new(at, &format!("`{}` behind kind, key and value", closer as char)));
        }
        self.cursor.advance();
        batch.operations.push(MicroOperation { kind, key, value });
        Ok(())
    }

    fn kind(&mut self) -> Result<Kind, Fault> {
        for (usual, kind) in USUAL_KINDS {
            if self.cursor.take(usual) {
                return Ok(kind);
            }
        }
        let at = self.after_blank()?;
        kind_named(self.cursor.name()?).ok_or_else(|| {
            Fault::new(at, "a micro-operation that is `:r`, `:w` or `:append`").hint(WORKLOADS)
        })
    }

    /// What was written or read; a read may leave it out.
    fn operand(&mut self, kind: Kind, closer: u8, batch: &mut Batch) -> Result<Value, Fault> {
        let at = self.after_blank()?;
        match (self.cursor.peek()? == closer, kind) {
            (true, Kind::Read) => Ok(Value::NIL),
            (true, _) => Err(Fault::new(at, "a value behind the key")),
            (false, Kind::Read) => self.cursor.value_or_list(&mut batch.values),
            (false, _) => self.cursor.value(&mut batch.values),
        }
    }
}
