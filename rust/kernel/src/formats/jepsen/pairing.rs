//! From events to transactions: a completion joins the open invocation of its process.

use super::{Batch, Event, EventType, Jepsen, MISSING, MicroOperation};
use crate::error::ParseError;
use crate::formats::edn;
use crate::history::{History, Interval, Kind, Status, VersionSource};
use crate::value::{AtomKind, Translation, Value, Values};
use hashbrown::HashMap;

/// Whether one vector holds all events of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enclosure {
    /// Nothing was seen yet.
    Unseen,
    /// Events stand by themselves.
    Without,
    /// Opened by this bracket on this line.
    Open(u8, u32),
    Closed,
}

/// Where and when an event was: by running number, by index, by clock.
#[derive(Debug, Clone, Copy)]
struct Place {
    number: i64,
    index: i64,
    time: i64,
}

const NOWHERE: Place = Place {
    number: MISSING,
    index: MISSING,
    time: MISSING,
};

/// The latest invocation of a session.
#[derive(Debug)]
pub(super) struct Invocation {
    is_open: bool,
    place: Place,
    line: u32,
    transaction: Value,
    operations: Vec<MicroOperation>,
}

impl Default for Invocation {
    fn default() -> Self {
        Self {
            is_open: false,
            place: NOWHERE,
            line: 0,
            transaction: Value::NIL,
            operations: Vec::new(),
        }
    }
}

/// A transaction; which of its numbers are its positions is known only at the end of the input.
#[derive(Debug)]
pub(super) struct Ended {
    session: u32,
    status: Status,
    line: u32,
    /// Nil if it is called by its position.
    id: Value,
    invoke: Place,
    complete: Place,
}

impl Jepsen {
    /// Adds the rows of a write-ahead log, in version order and of committed transactions only: keys (texts
    /// or integers) and values, both of the pool `values`.
    pub fn attach_log(&mut self, values: &Values, rows: &[(Value, Value)]) {
        let translation = self.builder.values.absorb(values);
        self.log.extend(
            rows.iter()
                .map(|&(key, value)| (translation.of(key), translation.of(value))),
        );
    }

    pub(super) fn merge_events(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        let translation = self.builder.values.absorb(&batch.values);
        for event in batch.events.drain(..) {
            self.event(&event, &batch.operations[event.first..event.last], &translation)?;
        }
        batch.operations.clear();
        batch.values.clear();
        batch.fault.take().map_or(Ok(()), Err)
    }

    fn event(
        &mut self,
        event: &Event,
        operations: &[MicroOperation],
        translation: &Translation,
    ) -> Result<(), ParseError> {
        self.enclose(event.what, event.line)?;
        match event.what {
            EventType::Open(_) | EventType::Close(_) => Ok(()),
            EventType::Other => {
                self.others += 1;
                Ok(())
            }
            EventType::Invoke => self.invoke(event, operations, translation),
            EventType::Ok => {
                self.complete(event, Status::Committed, operations, translation);
                Ok(())
            }
            EventType::Fail => {
                self.complete(event, Status::Aborted, operations, translation);
                Ok(())
            }
            EventType::Info => {
                self.complete(event, Status::Indeterminate, operations, translation);
                Ok(())
            }
        }
    }

    fn enclose(&mut self, event_type: EventType, line: u32) -> Result<(), ParseError> {
        let fail = |expected: &str, found: &str| Err(ParseError::on_line(u64::from(line), expected, found));
        self.enclosure = match (event_type, self.enclosure) {
            (EventType::Open(bracket), Enclosure::Unseen) => Enclosure::Open(bracket, line),
            (EventType::Close(closer), Enclosure::Open(opener, _)) if edn::closer_of(opener) == closer => {
                Enclosure::Closed
            }
            (_, Enclosure::Closed) => {
                return fail(
                    "the end of the file, since the vector of operations is closed",
                    "more",
                );
            }
            (EventType::Open(bracket), _) => {
                let found = format!("`{}`", bracket as char);
                return fail("an operation, which is a map", &found);
            }
            (EventType::Close(bracket), _) => {
                let found = format!("`{}`, which closes nothing", bracket as char);
                return fail("an operation or the end of the file", &found);
            }
            (_, Enclosure::Unseen) => Enclosure::Without,
            (_, same) => same,
        };
        Ok(())
    }

    pub(super) fn close_file(&mut self, line: u64) -> Result<(), ParseError> {
        if let Enclosure::Open(opener, since) = self.enclosure {
            let expected = format!("`{}` to close line {since}", edn::closer_of(opener) as char);
            return Err(ParseError::on_line(line, &expected, "the end of the file")
                .hint("the file is cut short: operations may be missing"));
        }
        self.enclosure = Enclosure::Unseen;
        Ok(())
    }

    fn invoke(
        &mut self,
        event: &Event,
        operations: &[MicroOperation],
        translation: &Translation,
    ) -> Result<(), ParseError> {
        let place = self.place(event);
        let session = self.builder.session(translation.of(event.process)) as usize;
        if session >= self.invocations.len() {
            self.invocations.resize_with(session + 1, Invocation::default);
        }
        let invocation = &mut self.invocations[session];
        if invocation.is_open {
            let expected = format!(
                "the completion of the invocation on line {} of this process",
                invocation.line
            );
            return Err(
                ParseError::on_line(u64::from(event.line), &expected, "another invocation").hint(
                    "a process runs one transaction at a time: give concurrent ones processes of their own",
                ),
            );
        }
        invocation.is_open = true;
        invocation.place = place;
        invocation.line = event.line;
        invocation.transaction = translation.of(event.transaction);
        invocation.operations.clear();
        invocation.operations.extend(
            operations
                .iter()
                .map(|operation| operation.translated(translation)),
        );
        Ok(())
    }

    fn complete(
        &mut self,
        event: &Event,
        status: Status,
        operations: &[MicroOperation],
        translation: &Translation,
    ) {
        let complete = self.place(event);
        let session = match event.process {
            Value::NIL => self.builder.nameless_session(),
            process => self.builder.session(translation.of(process)),
        };
        let opened = self
            .invocations
            .get_mut(session as usize)
            .filter(|invocation| invocation.is_open);
        let mut invoked = opened.map(std::mem::take);
        let mut id = translation.of(event.transaction);
        if let Some(invocation) = &invoked
            && id == Value::NIL
        {
            id = invocation.transaction;
        }
        if event.has_value {
            let mut differs = invoked
                .as_ref()
                .is_some_and(|before| before.operations.len() != operations.len());
            for (place, operation) in operations.iter().enumerate() {
                let operation = operation.translated(translation);
                let before = invoked.as_ref().and_then(|before| before.operations.get(place));
                differs |= before.is_some_and(|before| !before.asks_the_same(operation));
                self.operation(operation, status, event.line);
            }
            self.changed += u64::from(differs);
        } else if let Some(invocation) = &invoked {
            for &operation in &invocation.operations {
                self.operation(operation.without_result(), status, event.line);
            }
        }
        let invoke = invoked.as_ref().map_or(NOWHERE, |invocation| invocation.place);
        self.ended.push(Ended {
            session,
            status,
            line: event.line,
            id,
            invoke,
            complete,
        });
        // The memory of the micro-operations serves the next invocation of this session.
        if let Some(invocation) = &mut invoked {
            self.invocations[session as usize].operations = std::mem::take(&mut invocation.operations);
        }
    }

    /// The place of the next event of a client.
    fn place(&mut self, event: &Event) -> Place {
        let number = self.event_count;
        self.event_count += 1;
        if event.index > self.latest_index {
            self.latest_index = event.index;
            self.usable_indexes += 1;
        } else {
            self.unusable_indexes += 1;
        }
        Place {
            number,
            index: event.index,
            time: event.time,
        }
    }

    /// Adds an operation of the transaction that is about to end.
    fn operation(&mut self, operation: MicroOperation, status: Status, line: u32) {
        let MicroOperation { kind, mut value, .. } = operation;
        let key = self.builder.key(operation.key);
        if kind == Kind::Read && value == Value::NIL && status != Status::Committed {
            value = Value::UNKNOWN;
        }
        if kind == Kind::Write {
            self.remember_write(key, value);
        }
        self.builder
            .operation(self.ended.len() as u32, kind, key, value, line);
    }

    fn remember_write(&mut self, key: u32, value: Value) {
        if value.as_small() == Some(0) {
            self.keys_with_zero.insert(key);
        }
        if let Some((AtomKind::Term, text)) = value.atom_index().map(|index| self.builder.values.atom(index))
            && text.starts_with(['[', '('])
        {
            self.keys_with_vectors.insert(key);
        }
    }

    pub(super) fn into_history(mut self) -> Result<History, ParseError> {
        self.end_open_invocations();
        self.create_transactions()?;
        self.compare_vectors_as_scalars();
        self.add_log();
        self.builder
            .note("operations that are not a client's, skipped", self.others);
        self.builder.note(
            "transactions whose completion differs from their invocation",
            self.changed,
        );
        self.builder.finish()
    }

    /// Whoever never completed comes after all others, in the order of the invocations.
    fn end_open_invocations(&mut self) {
        let mut open: Vec<(u32, Invocation)> = std::mem::take(&mut self.invocations)
            .into_iter()
            .enumerate()
            .filter(|(_, invocation)| invocation.is_open)
            .map(|(session, invocation)| (session as u32, invocation))
            .collect();
        open.sort_by_key(|(_, invocation)| invocation.place.number);
        for (session, invocation) in open {
            let (status, line) = (Status::Indeterminate, invocation.line);
            for operation in invocation.operations {
                self.operation(operation.without_result(), status, line);
            }
            let (id, invoke) = (invocation.transaction, invocation.place);
            self.ended.push(Ended {
                session,
                status,
                line,
                id,
                invoke,
                complete: NOWHERE,
            });
        }
    }

    fn create_transactions(&mut self) -> Result<(), ParseError> {
        let by_index = self.unusable_indexes == 0;
        if self.usable_indexes > 0 {
            let note = "events whose index is missing or does not ascend: all are numbered by line instead";
            self.builder.note(note, self.unusable_indexes);
        }
        let position = |place: Place| {
            let number = if by_index { place.index } else { place.number };
            (number != MISSING).then_some(number)
        };
        let time = |place: Place| (place.time != MISSING).then_some(place.time);
        for ended in std::mem::take(&mut self.ended) {
            let (invoke, complete) = (position(ended.invoke), position(ended.complete));
            let id = match (ended.id, complete.or(invoke)) {
                (Value::NIL, Some(position)) => self.builder.values.integer(position),
                (id, _) => id,
            };
            let Some(number) = self
                .builder
                .transaction(id, ended.session, ended.status, ended.line)
            else {
                return Err(self.repeated_id(id, ended.line));
            };
            self.builder
                .interval(number, Interval::new(time(ended.invoke), time(ended.complete)));
            self.builder.positions(number, Interval::new(invoke, complete));
        }
        Ok(())
    }

    fn repeated_id(&self, id: Value, line: u32) -> ParseError {
        let mut text = Vec::new();
        edn::write_value(&self.builder.values, id, &mut text);
        let found = format!("`{}` again", String::from_utf8_lossy(&text));
        ParseError::on_line(u64::from(line), "a transaction id of its own", &found)
            .hint("`:transaction` must differ from the position of every other completion, too")
    }

    /// A register that holds vectors: its reads are scalars like its writes, not lists.
    fn compare_vectors_as_scalars(&mut self) {
        if self.keys_with_vectors.is_empty() {
            return;
        }
        let keys = std::mem::take(&mut self.keys_with_vectors);
        self.builder.revise_values(|values, kind, key, value| {
            if kind != Kind::Read || value.list_index().is_none() || !keys.contains(&key) {
                return value;
            }
            let mut text = Vec::new();
            edn::write_scalar(values, value, &mut text);
            values.intern(AtomKind::Term, &String::from_utf8_lossy(&text))
        });
    }

    fn add_log(&mut self) {
        let mut keys: HashMap<Value, Option<u32>> = HashMap::new();
        let mut unmentioned = 0;
        for (text, value) in std::mem::take(&mut self.log) {
            let is_first = !keys.contains_key(&text);
            let known = *keys.entry(text).or_insert_with(|| self.key_of_log(text));
            let Some(key) = known else {
                unmentioned += 1;
                continue;
            };
            // ArangoDB's log shows the creation of a key, which clients see as nil, as a zero.
            let is_initial = is_first && value.as_small() == Some(0) && !self.keys_with_zero.contains(&key);
            if !is_initial {
                self.builder.version(VersionSource::Log, key, value);
            }
        }
        self.builder.note(
            "rows of the log about keys that the history does not mention",
            unmentioned,
        );
    }

    /// The key of the history that the log calls `text`: integer, string, keyword or symbol.
    fn key_of_log(&mut self, text: Value) -> Option<u32> {
        let Some(index) = text.atom_index() else {
            return self.builder.find_key(text);
        };
        let name = self.builder.values.atom(index).1.to_owned();
        let values = &mut self.builder.values;
        let number = name
            .parse()
            .ok()
            .filter(|number: &i64| number.to_string() == name);
        let candidates = [
            number.map(|number| values.integer(number)),
            Some(values.intern(AtomKind::Text, &name)),
            Some(values.intern(AtomKind::Term, &format!(":{name}"))),
            Some(values.intern(AtomKind::Term, &name)),
        ];
        candidates
            .into_iter()
            .flatten()
            .find_map(|candidate| self.builder.find_key(candidate))
    }
}

impl MicroOperation {
    fn translated(&self, translation: &Translation) -> Self {
        Self {
            kind: self.kind,
            key: translation.of(self.key),
            value: translation.of(self.value),
        }
    }

    /// Whether an invocation of this may complete as `other`: only the results of reads may differ.
    fn asks_the_same(&self, other: Self) -> bool {
        self.kind == other.kind
            && self.key == other.key
            && (self.kind == Kind::Read || self.value == other.value)
    }

    /// A read whose result nobody knows; anything else as it is.
    fn without_result(mut self) -> Self {
        if self.kind == Kind::Read {
            self.value = Value::UNKNOWN;
        }
        self
    }
}
