//! One document at a time: a transaction or a dependency.

use super::{EXAMPLE, Type};
use crate::formats::Rewind;
use crate::formats::json::{Cursor, Fault, JsonObjects, Marks};
use crate::value::{AtomKind, Value, Values};
use std::borrow::Cow;

const EVENT: &str = "an event such as `r_evt/1,2`: read, transaction, place";

/// A document, whose values are those of its batch.
pub(super) enum Item {
    Transaction {
        name: Value,
        line: u32,
    },
    Dependency(Dependency),
    /// A dependency of another type.
    Other,
}

pub(super) struct Dependency {
    pub(super) from: Mention,
    pub(super) to: Mention,
    pub(super) kind: Type,
    pub(super) line: u32,
}

/// An event as an edge names it.
pub(super) struct Mention {
    pub(super) transaction: Value,
    pub(super) place: i64,
    pub(super) is_append: bool,
}

/// Documents of a part of a block.
#[derive(Default)]
pub struct Batch {
    pub(super) marks: Marks,
    pub(super) items: Vec<Item>,
    pub(super) values: Values,
}

/// A string and where it stands.
type Field<'text> = Option<(Cow<'text, str>, usize)>;

/// The fields of a document; others are skipped.
#[derive(Default)]
struct Draft<'text> {
    key: Field<'text>,
    id: Field<'text>,
    from: Field<'text>,
    to: Field<'text>,
    from_event: Field<'text>,
    to_event: Field<'text>,
    kind: Field<'text>,
}

impl Rewind for Batch {
    type Mark = ();

    fn mark(&self) {}

    fn rewind(&mut self, (): ()) {}
}

impl JsonObjects for Batch {
    const EXAMPLE: &'static str = EXAMPLE;

    fn marks(&mut self) -> &mut Marks {
        &mut self.marks
    }

    fn object(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        let (at, line) = (cursor.at(), cursor.line() as u32);
        let item = self.item(draft(cursor)?, at, line)?;
        self.items.push(item);
        Ok(())
    }
}

impl Batch {
    fn item(&mut self, draft: Draft, at: usize, line: u32) -> Result<Item, Fault> {
        let Draft { key, id, from, to, from_event, to_event, kind } = draft;
        if from.is_none() && to.is_none() && from_event.is_none() && to_event.is_none() {
            let (name, at) = id.or(key).ok_or_else(|| Fault::at(at, EXAMPLE))?;
            return Ok(Item::Transaction { name: self.transaction(&name, at)?, line });
        }
        let (kind, _) = kind.ok_or_else(|| Fault::at(at, "a dependency with its `type`"))?;
        let kind = match &*kind {
            "wr" => Type::WriteRead,
            "ww" => Type::WriteWrite,
            "rw" => Type::ReadWrite,
            _ => return Ok(Item::Other),
        };
        let (from_writes, to_writes) = kind.writes();
        let from_event = from_event.ok_or_else(|| Fault::at(at, "a dependency with its `from_evt`"))?;
        let to_event = to_event.ok_or_else(|| Fault::at(at, "a dependency with its `to_evt`"))?;
        let from = self.event(from_event, from, from_writes)?;
        let to = self.event(to_event, to, to_writes)?;
        Ok(Item::Dependency(Dependency { from, to, kind, line }))
    }

    /// The name behind `txn/`; digits are an integer.
    fn transaction(&mut self, name: &str, at: usize) -> Result<Value, Fault> {
        let name = behind_slash(name);
        if name.is_empty() {
            return Err(Fault::at(at, "a transaction such as `txn/1`"));
        }
        // `01`, `+1` and `-0` are other names than `1` and `0`.
        let is_canonical = name.starts_with(|first: char| first.is_ascii_digit()) && !name.starts_with('0');
        match name.parse() {
            Ok(number) if is_canonical || name == "0" => Ok(self.values.integer(number)),
            _ => Ok(self.values.intern(AtomKind::Text, name)),
        }
    }

    fn event(
        &mut self,
        (event, at): (Cow<str>, usize),
        owner: Field,
        is_write: bool,
    ) -> Result<Mention, Fault> {
        let malformed = || Fault::at(at, EVENT);
        let (collection, name) = event.split_once('/').ok_or_else(malformed)?;
        let (name, place) = name.rsplit_once(',').ok_or_else(malformed)?;
        let fits = match collection {
            "r_evt" => !is_write,
            "w_evt" | "a_evt" => is_write,
            _ => return Err(malformed()),
        };
        if !fits {
            let expected = if is_write { "a write or append" } else { "a read" };
            return Err(Fault::at(at, format!("{expected} on this side of the dependency")));
        }
        let place = place.parse().map_err(|_| malformed())?;
        if let Some((owner, at)) = owner.filter(|(owner, _)| behind_slash(owner) != behind_slash(name)) {
            return Err(Fault::at(at, format!("`txn/{name}`, the transaction of the event, not `{owner}`")));
        }
        Ok(Mention { transaction: self.transaction(name, at)?, place, is_append: collection == "a_evt" })
    }
}

fn behind_slash(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, name)| name)
}

fn draft<'text>(cursor: &mut Cursor<'text>) -> Result<Draft<'text>, Fault> {
    let mut draft = Draft::default();
    let mut fields = cursor.begin_object()?;
    while let Some(name) = cursor.next_field(&mut fields)? {
        let slot = match &*name {
            b"_key" => &mut draft.key,
            b"_id" => &mut draft.id,
            b"_from" => &mut draft.from,
            b"_to" => &mut draft.to,
            b"from_evt" => &mut draft.from_event,
            b"to_evt" => &mut draft.to_event,
            b"type" => &mut draft.kind,
            _ => {
                cursor.skip_value()?;
                continue;
            }
        };
        let at = cursor.start();
        if slot.is_some() {
            return Err(Fault::at(at, "each field only once"));
        }
        *slot = Some((cursor.string()?, at));
    }
    Ok(draft)
}
