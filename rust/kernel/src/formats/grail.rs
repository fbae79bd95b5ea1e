//! Dependency graphs as GRAIL stores them for graph databases: transactions and dependencies, in JSON.
//!
//! ```json
//! [{"_key": "1", "_id": "txn/1"}]
//! [{"_from": "txn/1", "_to": "txn/15", "from_evt": "r_evt/1,1", "to_evt": "a_evt/15,3", "type": "rw"}]
//! ```
//!
//! There are no keys and no values, so a history is made that has exactly these dependencies
//! ([`rebuild`]). Every transaction is committed and a session of its own.

mod rebuild;
mod record;
mod version_order;
mod versions;

pub use record::Batch;

use super::Records;
use super::json::{self, Enclosure};
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::History;
use crate::value::{Translation, Value};
use hashbrown::HashMap;
use record::{Dependency, Item, Mention};

const EXAMPLE: &str =
    "a dependency such as `{\"from_evt\":\"w_evt/1,1\",\"to_evt\":\"r_evt/2,1\",\"type\":\"wr\"}`";

/// The type of a dependency between two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    WriteRead,
    WriteWrite,
    ReadWrite,
}

impl Type {
    /// Whether its events are writes.
    fn writes(self) -> (bool, bool) {
        match self {
            Self::WriteRead => (true, false),
            Self::WriteWrite => (true, true),
            Self::ReadWrite => (false, true),
        }
    }
}

/// Something that a transaction did.
#[derive(Debug, Clone, Copy)]
struct Event {
    transaction: u32,
    place: i64,
    is_write: bool,
    is_append: bool,
    line: u32,
}

/// An edge between events, by their numbers.
#[derive(Debug, Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    kind: Type,
    line: u32,
}

/// The graph so far.
#[derive(Default)]
pub struct Grail {
    builder: Builder,
    enclosure: Enclosure,
    /// Transactions by name, and where each was first mentioned and listed (0: it was not).
    names: HashMap<Value, u32>,
    transactions: Vec<(Value, u32, u32)>,
    places: HashMap<(u32, i64), u32>,
    events: Vec<Event>,
    edges: Vec<Edge>,
    others: u64,
}

impl Records for Grail {
    type Batch = Batch;

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        self.enclosure.add(&mut batch.marks, EXAMPLE)?;
        let names = self.builder.values.absorb(&batch.values);
        for item in batch.items.drain(..) {
            match item {
                Item::Transaction { name, line } => self.list(names.of(name), line)?,
                Item::Dependency(dependency) => self.dependency(&dependency, &names)?,
                Item::Other => self.others += 1,
            }
        }
        batch.values.clear();
        Ok(())
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        self.enclosure.end_of_file(line)
    }

    fn into_history(self) -> Result<History, ParseError> {
        self.rebuild()
    }
}

impl Grail {
    fn transaction(&mut self, name: Value, line: u32) -> u32 {
        let fresh = self.transactions.len() as u32;
        let number = *self.names.entry(name).or_insert(fresh);
        if number == fresh {
            self.transactions.push((name, line, 0));
        }
        number
    }

    fn list(&mut self, name: Value, line: u32) -> Result<(), ParseError> {
        let number = self.transaction(name, line) as usize;
        let listed = self.transactions[number].2;
        if listed != 0 {
            let found = format!("{}, which line {listed} lists", self.called(name));
            return Err(ParseError::on_line(u64::from(line), "each transaction once", &found)
                .hint("does the input hold the same graph twice?"));
        }
        self.transactions[number].2 = line;
        Ok(())
    }

    fn dependency(&mut self, read: &Dependency, names: &Translation<'_>) -> Result<(), ParseError> {
        let (from_writes, to_writes) = read.kind.writes();
        let from = self.event(&read.from, from_writes, read.line, names)?;
        let to = self.event(&read.to, to_writes, read.line, names)?;
        self.edges.push(Edge { from, to, kind: read.kind, line: read.line });
        Ok(())
    }

    /// The number of an event, which must be the same kind of event wherever it is mentioned.
    fn event(
        &mut self,
        read: &Mention,
        is_write: bool,
        line: u32,
        names: &Translation<'_>,
    ) -> Result<u32, ParseError> {
        let transaction = self.transaction(names.of(read.transaction), line);
        let fresh = self.events.len() as u32;
        let number = *self.places.entry((transaction, read.place)).or_insert(fresh);
        if number == fresh {
            let is_append = read.is_append;
            self.events.push(Event { transaction, place: read.place, is_write, is_append, line });
        }
        let known = self.events[number as usize];
        if known.is_write != is_write {
            let kind = |is_write| if is_write { "a write" } else { "a read" };
            let expected =
                format!("{}, which is {} on line {}", self.event_name(number), kind(!is_write), known.line);
            return Err(ParseError::on_line(u64::from(line), &expected, kind(is_write)));
        }
        Ok(number)
    }

    /// How messages call a transaction.
    fn called(&self, name: Value) -> String {
        let mut text = Vec::new();
        json::write_value(&self.builder.values, name, &mut text);
        format!("transaction {}", String::from_utf8_lossy(&text))
    }

    /// How messages call an event.
    fn event_name(&self, event: u32) -> String {
        let event = self.events[event as usize];
        format!("event {} of {}", event.place, self.called(self.transactions[event.transaction as usize].0))
    }
}

#[cfg(test)]
mod tests;
