//! Events in EDN: maps.

use super::event::{Batch, Draft, EventType, Function, MicroOperation, Process, kind_named};
use super::event_field::{Field, Seen};
use super::{MISSING, PREDICATES, UNUSABLE};
use crate::formats::Rewind;
use crate::formats::edn::{Cursor, EdnBatch, Fault, closer_of};
use crate::history::Kind;
use crate::predicates::Predicate;
use crate::value::{AtomKind, Value};

const EXAMPLE: &str = "an operation such as `{:type :ok, :process 0, :value [[:append 1 2]]}`";
const OPERATIONS: &str = "a vector of micro-operations such as `[[:r 1 nil] [:append 1 2]]`";
const INSERTED: &str = "a map of keys and values that were inserted, such as `{:x 0}`";

/// Kinds as nearly every history spells them, tried before any other spelling.
const USUAL_KINDS: [(&[u8], Kind); 3] =
    [(b":r ", Kind::Read), (b":append ", Kind::Append), (b":w ", Kind::Write)];

impl EdnBatch for Batch {
    fn next_edn(&mut self, cursor: &mut Cursor) -> Result<bool, Fault> {
        cursor.skip_blank()?;
        if cursor.is_at_end() {
            return Ok(false);
        }
        let start = cursor.at();
        let line = cursor.line_at(start);
        let bracket = match cursor.peek()? {
            bracket @ (b'[' | b'(') => Some(EventType::Open(bracket)),
            bracket @ (b']' | b')') => Some(EventType::Close(bracket)),
            _ => None,
        };
        if let Some(bracket) = bracket {
            cursor.advance();
            self.bracket(bracket, line);
            return Ok(true);
        }
        cursor.skip_tags()?;
        if cursor.peek()? != b'{' {
            return Err(Fault::new(start, EXAMPLE).hint("is this another format? Name it with --format"));
        }
        cursor.advance();
        EventParser { cursor, value_at: 0, is_other_workload: false }.event(Draft::new(line), start, self)?;
        Ok(true)
    }
}

/// Reads one event.
struct EventParser<'cursor, 'text> {
    cursor: &'cursor mut Cursor<'text>,
    /// The start of the value of the event.
    value_at: usize,
    /// Whether the value has no micro-operations.
    is_other_workload: bool,
}

impl EventParser<'_, '_> {
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
        if draft.function == Function::Init && seen.has(Field::Value) {
            batch.rewind(mark);
            fault = self.init(&mut draft, batch).err();
        }
        self.cursor.advance();
        if draft.is_a_clients()
            && let Some(fault) = fault
        {
            return Err(if self.is_other_workload { fault.hint(draft.workload.hint()) } else { fault });
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
            Field::Function => draft.set_function(self.name()?),
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
        self.value_at = start;
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

    /// Reads the value again, of an event that turned out to be `:init`.
    fn init(&mut self, draft: &mut Draft, batch: &mut Batch) -> Result<(), Fault> {
        let end = self.cursor.at();
        self.cursor.rewind(self.value_at);
        let inserted = self.inserted(batch);
        self.cursor.rewind(end);
        draft.has_value = inserted?;
        Ok(())
    }

    /// Reads a map of inserted rows; false if there is nil instead.
    fn inserted(&mut self, batch: &mut Batch) -> Result<bool, Fault> {
        if self.cursor.peek()? != b'{' {
            return self.nothing_but(INSERTED).map(|_| false);
        }
        self.cursor.advance();
        while let Some((key, value)) = self.row(batch)? {
            batch.operations.push(MicroOperation::initial(key, value));
        }
        Ok(true)
    }

    /// The next key of a map with its value; behind the last one the cursor moves over the `}`.
    fn row(&mut self, batch: &mut Batch) -> Result<Option<(Value, Value)>, Fault> {
        self.cursor.skip_blank()?;
        if self.cursor.peek()? == b'}' {
            self.cursor.advance();
            return Ok(None);
        }
        let key = self.cursor.value(&mut batch.values)?;
        let at = self.after_blank()?;
        if self.cursor.peek()? == b'}' {
            return Err(Fault::new(at, "a value for every key"));
        }
        Ok(Some((key, self.cursor.value(&mut batch.values)?)))
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
            _ => return Err(self.other_workload(start, OPERATIONS)),
        };
        self.cursor.advance();
        loop {
            self.cursor.skip_blank()?;
            match self.cursor.peek()? {
                byte if byte == closer => break,
                opener @ (b'[' | b'(') => self.operation(closer_of(opener), batch)?,
                _ => {
                    let at = self.cursor.at();
                    return Err(self.other_workload(at, "a micro-operation such as `[:r 1 nil]`"));
                }
            }
        }
        self.cursor.advance();
        Ok(true)
    }

    fn operation(&mut self, closer: u8, batch: &mut Batch) -> Result<(), Fault> {
        self.cursor.advance();
        let kind = self.kind()?;
        let key = match kind {
            Kind::RangeRead => self.predicate(batch)?,
            _ => self.cursor.value(&mut batch.values)?,
        };
        let value = self.operand(kind, closer, batch)?;
        let at = self.after_blank()?;
        if self.cursor.peek()? != closer {
            return Err(Fault::new(at, &format!("`{}` behind kind, key and value", closer as char)));
        }
        self.cursor.advance();
        batch.operations.push(MicroOperation::new(kind, key, value));
        Ok(())
    }

    /// A predicate, as its text.
    fn predicate(&mut self, batch: &mut Batch) -> Result<Value, Fault> {
        let at = self.after_blank()?;
        let predicate = match self.cursor.peek()? {
            opener @ (b'[' | b'(') => {
                self.cursor.advance();
                let name = self.cursor.name()?;
                Predicate::new(name, &self.operands(closer_of(opener), batch)?)
            }
            _ => Predicate::new(self.cursor.name()?, &[]),
        };
        let predicate = predicate.ok_or_else(|| Fault::new(at, PREDICATES))?;
        Ok(batch.values.intern(AtomKind::Text, &predicate.to_string()))
    }

    /// The rest of a vector, up to its end.
    fn operands(&mut self, closer: u8, batch: &mut Batch) -> Result<Vec<Value>, Fault> {
        let mut operands = Vec::new();
        loop {
            self.cursor.skip_blank()?;
            if self.cursor.peek()? == closer {
                self.cursor.advance();
                return Ok(operands);
            }
            operands.push(self.cursor.value(&mut batch.values)?);
        }
    }

    fn kind(&mut self) -> Result<Kind, Fault> {
        for (usual, kind) in USUAL_KINDS {
            if self.cursor.take(usual) {
                return Ok(kind);
            }
        }
        let at = self.after_blank()?;
        let kind = kind_named(self.cursor.name()?);
        kind.ok_or_else(|| {
            let names = "a micro-operation that is `:r`, `:w`, `:append`, `:insert`, `:delete` or `:rp`";
            self.other_workload(at, names)
        })
    }

    /// A fault whose advice depends on `:f`, which may stand behind the value.
    fn other_workload(&mut self, at: usize, expected: &str) -> Fault {
        self.is_other_workload = true;
        Fault::new(at, expected)
    }

    /// The value that was written or read; a read may leave it out.
    fn operand(&mut self, kind: Kind, closer: u8, batch: &mut Batch) -> Result<Value, Fault> {
        let at = self.after_blank()?;
        match (self.cursor.peek()? == closer, kind) {
            (true, Kind::Read | Kind::RangeRead | Kind::Delete) => Ok(Value::NIL),
            (true, _) => Err(Fault::new(at, "a value behind the key")),
            (false, Kind::Read) => self.cursor.value_or_list(&mut batch.values),
            (false, Kind::RangeRead) => self.rows(batch),
            (false, Kind::Delete) => self.nothing_but("nothing behind the key of what was deleted"),
            (false, _) => self.cursor.value(&mut batch.values),
        }
    }

    /// The rows that a predicate read saw: keys and values in turn; nil if they are unknown.
    fn rows(&mut self, batch: &mut Batch) -> Result<Value, Fault> {
        if self.cursor.peek()? != b'{' {
            return self.nothing_but("a map of the rows that were seen, such as `{:x 0}`");
        }
        self.cursor.advance();
        let mut rows = Vec::new();
        while let Some((key, value)) = self.row(batch)? {
            rows.extend([key, value]);
        }
        Ok(batch.values.push_list(rows))
    }

    /// A nil in the place of `expected`.
    fn nothing_but(&mut self, expected: &str) -> Result<Value, Fault> {
        let at = self.cursor.at();
        match self.cursor.word()? {
            b"nil" => Ok(Value::NIL),
            _ => Err(Fault::new(at, expected)),
        }
    }
}
