//! Transactions as bytes, in the order of their events.
//!
//! The key of an event is (timestamp, commit before start, start timestamp, session, place) in bytes that
//! compare like it; see `clock::events`. After all events come the transactions that did not commit, and after
//! these the ids of all transactions.

use crate::clock::replay::Operation;
use crate::history::{History, Kind, Timestamp};
use crate::value::{AtomKind, Value, Values};

/// The kind of an entry; entries are ordered by it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum EntryClass {
    Event,
    Aborted,
    Id,
}

/// A transaction at one of its events.
#[derive(Debug, Default)]
pub struct Record {
    pub transaction: u32,
    pub start: Timestamp,
    pub commit: Timestamp,
    pub is_start: bool,
    pub operations: Vec<Operation>,
    /// The lists among the values.
    pub values: Values,
}

/// The class of an entry.
pub fn class(key: &[u8]) -> EntryClass {
    match key[0] {
        0 => EntryClass::Event,
        1 => EntryClass::Aborted,
        _ => EntryClass::Id,
    }
}

/// The key of an event; `number` says where a transaction stands in its session.
pub fn event_key(
    key: &mut Vec<u8>,
    times: (Timestamp, Timestamp),
    is_start: bool,
    session: &[u8],
    number: u32,
) {
    key.clear();
    key.push(EntryClass::Event as u8);
    push_time(key, if is_start { times.0 } else { times.1 });
    key.push(u8::from(is_start));
    push_time(key, times.0);
    key.extend_from_slice(session);
    key.extend_from_slice(&number.to_be_bytes());
}

/// The time of an event, as bytes.
pub fn time(key: &[u8]) -> &[u8] {
    &key[1..17]
}

/// The key of a transaction that did not commit.
pub fn aborted_key(key: &mut Vec<u8>, number: u32) {
    key.clear();
    key.push(EntryClass::Aborted as u8);
    key.extend_from_slice(&number.to_be_bytes());
}

/// The key of an id; equal ids have equal keys but for the number.
pub fn id_key(key: &mut Vec<u8>, values: &Values, id: Value, number: u32) {
    key.clear();
    key.push(EntryClass::Id as u8);
    match id.atom_index() {
        None => {
            key.push(u8::MAX);
            key.extend_from_slice(&id.word().to_be_bytes());
        }
        Some(index) => {
            let (kind, text) = values.atom(index);
            key.push(kind as u8);
            key.extend_from_slice(text.as_bytes());
        }
    }
    key.extend_from_slice(&number.to_be_bytes());
}

/// The id in a key, and the number of its transaction.
pub fn split_id(key: &[u8]) -> (&[u8], u32) {
    let (id, number) = key.split_at(key.len() - 4);
    (id, number.try_into().map_or(0, u32::from_be_bytes))
}

/// An id of a key in words.
pub fn show_id(id: &[u8]) -> String {
    match id[1] {
        u8::MAX => (id[2..].try_into().map_or(0, i64::from_be_bytes) >> 1).to_string(),
        _ => String::from_utf8_lossy(&id[2..]).into_owned(),
    }
}

fn push_time(key: &mut Vec<u8>, time: Timestamp) {
    let (physical, logical) = time.parts().unwrap_or((i64::MIN, 0));
    for part in [physical, logical] {
        // With the sign turned, the bytes of negative numbers come first.
        key.extend_from_slice(&(part as u64 ^ 1 << 63).to_be_bytes());
    }
}

/// The bytes that order sessions, of which none begins another: the name, or without one the transaction's.
pub fn session_key(key: &mut Vec<u8>, values: &Values, session: Value, transaction: Value) {
    key.clear();
    let is_nameless = session == Value::NIL;
    key.push(u8::from(is_nameless));
    let (rank, size, text) =
        crate::clock::events::id(values, if is_nameless { transaction } else { session });
    key.push(rank);
    key.extend_from_slice(&(size as u64 ^ 1 << 63).to_be_bytes());
    for &byte in text.as_bytes() {
        key.push(byte);
        if byte == 0 {
            key.push(u8::MAX);
        }
    }
    key.extend_from_slice(&[0, 0]);
}

/// Which operations of a transaction an event needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Nothing,
    Writes,
    All,
}

/// Writes transactions of a slice.
pub struct Encoder<'s> {
    pub history: &'s History,
    /// The slice's keys and atoms in the whole.
    pub keys: &'s [u32],
    pub atoms: &'s [Value],
}

impl Encoder<'_> {
    /// The payload of an event; the numbers are those of the transaction and its first operation in the whole.
    pub fn payload(
        &self,
        bytes: &mut Vec<u8>,
        transaction: usize,
        numbers: (u32, u32),
        is_start: bool,
        extent: Extent,
    ) {
        let columns = &self.history.transactions;
        bytes.clear();
        push(bytes, u64::from(numbers.0));
        push(bytes, u64::from(numbers.1));
        bytes.push(u8::from(is_start));
        for time in [columns.starts.get(transaction), columns.commits.get(transaction)] {
            let (physical, logical) = time.parts().unwrap_or((i64::MIN, 0));
            bytes.extend_from_slice(&physical.to_le_bytes());
            push(bytes, zigzag(logical));
        }
        let operations = self.history.operations_of(transaction);
        let first = operations.start;
        for operation in operations {
            let kind = self.history.operations.kinds[operation];
            let is_wanted = match extent {
                Extent::Nothing => false,
                Extent::Writes => kind.installs(),
                Extent::All => kind == Kind::Read || kind.installs(),
            };
            if is_wanted {
                push(bytes, (operation - first) as u64);
                self.operation(bytes, operation, kind);
            }
        }
    }

    fn operation(&self, bytes: &mut Vec<u8>, operation: usize, kind: Kind) {
        let columns = &self.history.operations;
        bytes.push(kind as u8);
        push(bytes, u64::from(self.keys[columns.keys[operation] as usize]));
        let value = columns.values[operation];
        match self.history.values.as_list(value) {
            None => push(bytes, self.word(value)),
            Some(list) => {
                push(bytes, LIST);
                push(bytes, list.len() as u64);
                for &element in list {
                    push(bytes, self.word(element));
                }
            }
        }
    }

    fn word(&self, value: Value) -> u64 {
        value.atom_index().map_or(value, |index| self.atoms[index]).word()
    }
}

/// The word of some list, which no scalar has.
const LIST: u64 = 0b11;

impl Record {
    /// Reads what [`Encoder::payload`] wrote; a nil read of a key with `holds_list` is one of the empty list.
    pub fn decode(&mut self, bytes: &[u8], holds_list: impl Fn(u32) -> bool) {
        let mut rest = Rest(bytes);
        self.values.clear();
        self.operations.clear();
        self.transaction = rest.number() as u32;
        let first = rest.number() as u32;
        self.is_start = rest.byte() == 1;
        self.start = rest.time();
        self.commit = rest.time();
        while !rest.0.is_empty() {
            let number = first + rest.number() as u32;
            let kind = Kind::ALL[rest.byte() as usize];
            let key = rest.number() as u32;
            let value = match rest.number() {
                LIST => {
                    for _ in 0..rest.number() {
                        self.values.push_element(Value::from_word(rest.number()));
                    }
                    self.values.close_list()
                }
                word if kind == Kind::Read && word == Value::NIL.word() && holds_list(key) => {
                    self.values.close_list()
                }
                word => Value::from_word(word),
            };
            let value = if kind == Kind::Delete { Value::NIL } else { value };
            self.operations.push(Operation { number, kind, key, value });
        }
    }
}

/// The bytes that are left to be read.
pub struct Rest<'b>(pub &'b [u8]);

impl Rest<'_> {
    pub fn byte(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().expect("records are whole");
        self.0 = rest;
        first
    }

    pub fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    pub fn time(&mut self) -> Timestamp {
        let (physical, rest) = self.0.split_at(8);
        self.0 = rest;
        let physical = physical.try_into().map_or(0, i64::from_le_bytes);
        let logical = self.number();
        Timestamp::new(physical, (logical >> 1) as i64 ^ -((logical & 1) as i64))
    }
}

/// Seven bits a byte, the lowest first.
pub fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// The kind of an atom as it stands in an id.
const _: () = assert!((AtomKind::Term as u8) < u8::MAX);
