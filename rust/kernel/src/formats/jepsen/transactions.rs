//! From events to transactions: a completion joins the open invocation of its process.

use super::event::{Batch, Event, EventType, MicroOperation};
use super::{Jepsen, MISSING, UNUSABLE};
use crate::builder::Details;
use crate::error::ParseError;
use crate::formats::edn;
use crate::history::{Kind, Label, Status};
use crate::predicates::INIT;
use crate::value::{AtomKind, Translation, Value};
use hashbrown::HashMap;
use std::collections::VecDeque;

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
pub(super) struct Place {
    pub(super) number: i64,
    pub(super) index: i64,
    pub(super) time: i64,
}

pub(super) const NOWHERE: Place = Place { number: MISSING, index: MISSING, time: MISSING };

/// The latest invocation of a session.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) is_open: bool,
    pub(super) place: Place,
    pub(super) line: u32,
    pub(super) transaction: Value,
    pub(super) operations: Vec<MicroOperation>,
}

impl Default for Invocation {
    fn default() -> Self {
        Self { is_open: false, place: NOWHERE, line: 0, transaction: Value::NIL, operations: Vec::new() }
    }
}

/// Open invocations without a process, by what they ask for.
pub(super) type Nameless = HashMap<Vec<MicroOperation>, VecDeque<Invocation>>;

/// A transaction; which of its numbers are its positions is known only at the end of the input.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) session: u32,
    pub(super) status: Status,
    pub(super) line: u32,
    /// Nil if it is called by its position.
    pub(super) id: Value,
    pub(super) invoke: Place,
    pub(super) complete: Place,
}

impl Jepsen {
    pub(super) fn merge_events(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        let Batch { events, operations, values } = batch;
        let translation = self.builder.values.absorb(values);
        for event in events.drain(..) {
            self.event(&event, &operations[event.first..event.last], &translation)?;
        }
        batch.operations.clear();
        batch.values.clear();
        Ok(())
    }

    fn event(
        &mut self,
        event: &Event,
        operations: &[MicroOperation],
        translation: &Translation<'_>,
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
                return fail("the end of the file, since the vector of operations is closed", "more");
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
            let (opener, closer) = (opener as char, edn::closer_of(opener) as char);
            let expected = format!("`{closer}` for the `{opener}` of line {since}");
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
        translation: &Translation<'_>,
    ) -> Result<(), ParseError> {
        let place = self.place(event);
        if event.process == Value::NIL {
            self.invoke_without_process(event, place, operations, translation);
            return Ok(());
        }
        let session = self.builder.session(translation.of(event.process)) as usize;
        if session >= self.invocations.len() {
            self.invocations.resize_with(session + 1, Invocation::default);
        }
        let invocation = &mut self.invocations[session];
        if invocation.is_open {
            let expected =
                format!("the completion of the invocation on line {} of this process", invocation.line);
            return Err(ParseError::on_line(u64::from(event.line), &expected, "another invocation").hint(
                "a process is a session and runs one transaction at a time: give concurrent ones processes of \
                 their own, or take :process out of all events to check without sessions and real time",
            ));
        }
        invocation.is_open = true;
        invocation.place = place;
        invocation.line = event.line;
        invocation.transaction = translation.of(event.transaction);
        invocation.operations.clear();
        invocation.operations.extend(operations.iter().map(|operation| operation.asked(translation)));
        Ok(())
    }

    /// Keeps an invocation until a completion without a process has the same content. Its place is not used for
    /// that one: of two with the same content nothing tells which of them ended first.
    fn invoke_without_process(
        &mut self,
        event: &Event,
        place: Place,
        operations: &[MicroOperation],
        translation: &Translation<'_>,
    ) {
        let asked: Vec<MicroOperation> = operations.iter().map(|o| o.asked(translation)).collect();
        let transaction = translation.of(event.transaction);
        let (line, operations) = (event.line, asked.clone());
        let invocation = Invocation { is_open: true, place, line, transaction, operations };
        self.nameless.entry(asked).or_default().push_back(invocation);
        self.nameless_invocations += 1;
    }

    /// The invocation of a completion without a process, without its place.
    fn invoked_without_process(
        &mut self,
        operations: &[MicroOperation],
        translation: &Translation<'_>,
    ) -> Option<Invocation> {
        if self.nameless.is_empty() {
            return None;
        }
        let asked: Vec<MicroOperation> = operations.iter().map(|o| o.asked(translation)).collect();
        let invocation = self.nameless.get_mut(&asked)?.pop_front()?;
        Some(Invocation { place: NOWHERE, ..invocation })
    }

    fn complete(
        &mut self,
        event: &Event,
        status: Status,
        operations: &[MicroOperation],
        translation: &Translation<'_>,
    ) {
        let complete = self.place(event);
        let session = match event.process {
            Value::NIL => self.builder.nameless_session(),
            process => self.builder.session(translation.of(process)),
        };
        let mut invoked = if event.process == Value::NIL {
            self.invoked_without_process(operations, translation)
        } else {
            let opened = self.invocations.get_mut(session as usize);
            opened.filter(|invocation| invocation.is_open).map(std::mem::take)
        };
        let mut id = translation.of(event.transaction);
        if let Some(invocation) = &invoked
            && id == Value::NIL
        {
            id = invocation.transaction;
        }
        if event.has_value {
            let mut differs =
                invoked.as_ref().is_some_and(|before| before.operations.len() != operations.len());
            for (place, operation) in operations.iter().enumerate() {
                let asked = operation.asked(translation);
                let before = invoked.as_ref().and_then(|before| before.operations.get(place));
                differs |= before.is_some_and(|before| !before.asks_the_same(asked));
                if asked.kind == Kind::RangeRead {
                    let rows = translation.elements(operation.value);
                    self.predicate_read(asked.key, rows.as_deref(), status, event.line);
                    continue;
                }
                let key = self.builder.key(asked.key);
                let value = self.builder.result(key, operation.value, translation);
                self.operation(MicroOperation { value, ..asked }, status, event.line);
            }
            self.changed += u64::from(differs);
        } else if let Some(invocation) = &invoked {
            for &operation in &invocation.operations {
                self.operation(operation.without_result(), status, event.line);
            }
        }
        let invoke = invoked.as_ref().map_or(NOWHERE, |invocation| invocation.place);
        self.ended.push(Ended { session, status, line: event.line, id, invoke, complete });
        // The memory of the micro-operations serves the next invocation of this session.
        if let Some(invocation) = &mut invoked
            && event.process != Value::NIL
        {
            self.invocations[session as usize].operations = std::mem::take(&mut invocation.operations);
        }
    }

    /// The place of the next event of a client.
    fn place(&mut self, event: &Event) -> Place {
        let number = self.event_count;
        self.event_count += 1;
        if event.index > self.latest_index && event.index != UNUSABLE {
            self.latest_index = event.index;
            self.usable_indexes += 1;
        } else {
            self.unusable_indexes += 1;
        }
        self.odd_indexes += u64::from(event.index == UNUSABLE);
        self.odd_times += u64::from(event.time == UNUSABLE);
        let usable = |number: i64| if number == UNUSABLE { MISSING } else { number };
        Place { number, index: usable(event.index), time: usable(event.time) }
    }

    /// Adds an operation of the transaction that is about to end.
    pub(super) fn operation(&mut self, operation: MicroOperation, status: Status, line: u32) {
        let MicroOperation { kind, mut value, .. } = operation;
        if kind == Kind::RangeRead {
            return self.predicate_read(operation.key, None, status, line);
        }
        let key = self.builder.key(operation.key);
        if kind == Kind::Read && value == Value::NIL && status != Status::Committed {
            value = Value::UNKNOWN;
        }
        if matches!(kind, Kind::Write | Kind::Insert) {
            self.remember_write(key, value);
        }
        let number = self.builder.operation(self.ended.len() as u32, kind, key, value, line);
        if operation.is_initial {
            let statement = Label(self.builder.values.intern(AtomKind::Text, INIT));
            self.builder.details(number, Details { statement, ..Details::default() });
        }
    }

    /// Adds a predicate read of the transaction that is about to end; nil rows are none if it committed.
    fn predicate_read(&mut self, predicate: Value, rows: Option<&[Value]>, status: Status, line: u32) {
        if rows.is_none() && status != Status::Committed {
            self.unknown_predicate_reads += 1;
            return;
        }
        let rows = rows.unwrap_or_default().chunks_exact(2);
        let live: Vec<(u32, Value)> = rows.map(|row| (self.builder.key(row[0]), row[1])).collect();
        let bounds = (Value::NIL, Value::NIL);
        let number = self.builder.range_read(self.ended.len() as u32, bounds, &live, &[], line);
        self.builder.details(number, Details { predicate: Label(predicate), ..Details::default() });
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
}

impl MicroOperation {
    /// The same in the pool of the history, without the result of a read.
    fn asked(&self, translation: &Translation<'_>) -> Self {
        let value = if self.is_read() { Value::NIL } else { translation.of(self.value) };
        Self { key: translation.of(self.key), value, ..*self }
    }

    /// Whether an invocation of this may complete as `other`: only the results of reads may differ.
    fn asks_the_same(&self, other: Self) -> bool {
        self.kind == other.kind && self.key == other.key && (self.is_read() || self.value == other.value)
    }

    fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::RangeRead)
    }

    /// A read whose result is unknown; any other operation as it is.
    pub(super) fn without_result(mut self) -> Self {
        if self.kind == Kind::Read {
            self.value = Value::UNKNOWN;
        }
        self
    }
}
