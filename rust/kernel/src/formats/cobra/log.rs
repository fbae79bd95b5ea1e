//! The logs in one of their layouts.

use crate::builder::Builder;
use crate::error::ParseError;
use crate::formats::stream::{Stream, line, show_byte};
use crate::history::{History, Interval, Kind, Status};
use crate::value::{AtomKind, Value};
use hashbrown::{HashMap, HashSet};

/// The key was there before the logs start.
const INIT: i64 = 0xbebe_ebee;
/// The key had no value.
const NULL: i64 = 0xdead_beef;
/// The key was deleted; the log does not say by which transaction.
const DELETE: i64 = 0xabcd_efab;
/// The write before a blind write, which was not read.
const MISSING: i64 = 0xadea_fbee;
/// The switch of the garbage collection, on and off: no data.
const GC: [i64; 2] = [0x2333_2333, 0x6666_6666];
/// A write or read without an id: the hash of its value stands for it, and hashes may repeat.
const NO_ID: i64 = 0xabdd_efee;

const RECORD: &str = "a record: `S`, `W`, `R`, `C` or `A`";

/// What tells one write from another, in all logs of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Identity {
    Unseen,
    Ids,
    Hashes,
}

/// The history so far.
pub struct Log {
    has_times: bool,
    builder: Builder,
    session: u32,
    names: HashSet<Value>,
    open: Option<Open>,
    keys: HashMap<i64, u32>,
    claims: Vec<Claim>,
    identity: Identity,
    records: u64,
    hashes: u64,
    collections: u64,
    unknown: u64,
    disagreeing: u64,
}

/// The transaction that is under way.
#[derive(Clone, Copy)]
struct Open {
    number: u32,
    id: i64,
    start: Option<i64>,
}

/// The writer of the value that a read saw, according to the log.
#[derive(Clone, Copy)]
struct Claim {
    operation: u32,
    writer: i64,
}

impl Log {
    pub fn new(has_times: bool) -> Self {
        let mut builder = Builder::new();
        builder.initial.default = Value::small(0).expect("zero is small");
        builder.initial.replaceable = true;
        Self {
            has_times,
            builder,
            session: 0,
            names: HashSet::new(),
            open: None,
            keys: HashMap::new(),
            claims: Vec::new(),
            identity: Identity::Unseen,
            records: 0,
            hashes: 0,
            collections: 0,
            unknown: 0,
            disagreeing: 0,
        }
    }
}

impl Stream for Log {
    fn take(&mut self, bytes: &[u8], at: u64) -> Result<usize, ParseError> {
        let mut taken = 0;
        while let Some(&tag) = bytes.get(taken) {
            let at = at + taken as u64;
            let size = self.size(tag).ok_or_else(|| ParseError::at_byte(at, RECORD, &show_byte(tag)))?;
            let Some(record) = bytes.get(taken..taken + size) else { break };
            self.record(tag, &record[1..], at)?;
            self.records += 1;
            taken += size;
        }
        Ok(taken)
    }

    fn start_of_file(&mut self, name: &str) -> Result<(), ParseError> {
        let digits = name.strip_prefix('T').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let id = match (digits, name) {
            (Some(digits), _) if !digits.is_empty() => self.builder.values.decimal(digits),
            (_, "") => self.builder.values.integer(0),
            (_, name) => self.builder.values.intern(AtomKind::Text, name),
        };
        self.session = self.builder.session(id);
        if self.names.insert(id) {
            return Ok(());
        }
        Err(ParseError::on_line(0, "one log a session", &format!("two called {name}"))
            .hint("is a log there twice, once of them compressed?"))
    }

    fn end_of_file(&mut self, rest: &[u8], at: u64) -> Result<(), ParseError> {
        if let Some((&tag, fields)) = rest.split_first() {
            let missing = self.size(tag).unwrap_or_default() - 1 - fields.len();
            let expected = format!("{missing} more bytes of a record `{}`", char::from(tag));
            return Err(ParseError::at_byte(at, &expected, "the end of the file")
                .hint("the log is cut short inside a record: drop its last bytes to read what is before"));
        }
        if let Some(open) = self.open.take() {
            self.builder.interval(open.number, Interval::new(open.start, None));
        }
        Ok(())
    }

    fn into_history(mut self) -> Result<History, ParseError> {
        self.builder.note("garbage-collection reads and writes dropped", self.collections);
        let hashes = "reads and writes without an id (0xabddefee), told apart by the hash of the value";
        self.builder.note(hashes, self.hashes);
        self.builder.note("reads of a deleted key or of no known write, result unknown", self.unknown);
        // Operations keep their numbers: each log is in program order, one transaction after the other.
        let claims = self.resolved();
        let mut history = self.builder.finish()?;
        let disagreeing = self.disagreeing + contradicted(&history, &claims);
        if disagreeing > 0 {
            history.notes.push(("reads that name another writer than the logs".to_owned(), disagreeing));
        }
        Ok(history)
    }
}

impl Log {
    /// How many records were understood.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The size of a record with its tag.
    fn size(&self, tag: u8) -> Option<usize> {
        match tag {
            b'W' => Some(25),
            b'R' => Some(33),
            b'S' | b'C' | b'A' => Some(if self.has_times { 17 } else { 9 }),
            _ => None,
        }
    }

    fn record(&mut self, tag: u8, fields: &[u8], at: u64) -> Result<(), ParseError> {
        match tag {
            b'W' => self.write(fields, at),
            b'R' => self.read(fields, at),
            b'S' => self.start(fields, at),
            _ => self.end(tag, fields, at),
        }
    }

    fn start(&mut self, fields: &[u8], at: u64) -> Result<(), ParseError> {
        let id = field(fields, 0);
        if let Some(open) = self.open {
            let expected = format!("the end of transaction {}: a record `C` or `A`", open.id);
            return Err(ParseError::at_byte(at, &expected, &format!("the start of transaction {id}"))
                .hint("a session runs one transaction at a time"));
        }
        let name = self.builder.values.integer(id);
        // The log ends before the transaction does: its end is unknown.
        let number = self.builder.transaction(name, self.session, Status::Indeterminate, line(at));
        let Some(number) = number else {
            return Err(ParseError::at_byte(
                at,
                "an id of its own for each transaction",
                &format!("{id} again"),
            )
            .hint("does the input hold the same log twice?"));
        };
        let start = self.has_times.then(|| field(fields, 1));
        self.open = Some(Open { number, id, start });
        Ok(())
    }

    fn end(&mut self, tag: u8, fields: &[u8], at: u64) -> Result<(), ParseError> {
        let id = field(fields, 0);
        let verb = if tag == b'C' { "commit" } else { "abort" };
        let Some(open) = self.open.take() else {
            return Err(outside(at, &format!("the {verb} of transaction {id}")));
        };
        if open.id != id {
            let expected = format!("the {verb} of transaction {}, which is under way", open.id);
            return Err(ParseError::at_byte(at, &expected, &format!("that of {id}")));
        }
        let status = if tag == b'C' { Status::Committed } else { Status::Aborted };
        self.builder.set_status(open.number, status);
        if self.has_times {
            self.builder.interval(open.number, Interval::new(open.start, Some(field(fields, 1))));
        }
        Ok(())
    }

    fn write(&mut self, fields: &[u8], at: u64) -> Result<(), ParseError> {
        let Some(open) = self.open else { return Err(outside(at, "a write")) };
        let (write, key) = (field(fields, 0), field(fields, 1));
        if GC.contains(&write) {
            self.collections += 1;
            return Ok(());
        }
        if matches!(write, DELETE | MISSING) {
            let found = format!("0x{write:x}, which only reads have");
            return Err(ParseError::at_byte(at + 1, "the id of a write", &found)
                .hint("is the log damaged? Drop its records from here on to read what is before"));
        }
        let value = self.value(write, field(fields, 2), at + 1)?;
        let key = self.key(key);
        self.builder.operation(open.number, Kind::Write, key, value, line(at));
        Ok(())
    }

    fn read(&mut self, fields: &[u8], at: u64) -> Result<(), ParseError> {
        let Some(open) = self.open else { return Err(outside(at, "a read")) };
        let (writer, write, key) = (field(fields, 0), field(fields, 1), field(fields, 2));
        if GC.contains(&write) {
            self.collections += 1;
            return Ok(());
        }
        let is_told = !matches!(write, DELETE | MISSING);
        let value = if is_told { self.value(write, field(fields, 3), at + 9)? } else { Value::UNKNOWN };
        self.unknown += u64::from(!is_told);
        let key = self.key(key);
        let operation = self.builder.operation(open.number, Kind::Read, key, value, line(at));
        if is_initial(write) {
            self.disagreeing += u64::from(!is_initial(writer));
        } else if is_told && write != NO_ID {
            self.claims.push(Claim { operation: operation as u32, writer });
        }
        Ok(())
    }

    /// The claims with the numbers of the writers, of those that the logs show.
    fn resolved(&mut self) -> Vec<(u32, Option<u32>)> {
        let (claims, builder) = (std::mem::take(&mut self.claims), &mut self.builder);
        let mut number = |id| {
            let id = builder.values.integer(id);
            builder.find(id)
        };
        claims.into_iter().map(|claim| (claim.operation, number(claim.writer))).collect()
    }

    /// What tells the write apart from others of its key: its id, or the hash of its value if it has none.
    fn value(&mut self, write: i64, hash: i64, at: u64) -> Result<Value, ParseError> {
        if is_initial(write) {
            return Ok(self.builder.values.integer(0));
        }
        let (identity, value) =
            if write == NO_ID { (Identity::Hashes, hash) } else { (Identity::Ids, write) };
        if self.identity == Identity::Unseen {
            self.identity = identity;
        }
        if self.identity != identity {
            let found = if write == NO_ID { "0xabddefee, which is none" } else { "one" };
            let expected = match self.identity {
                Identity::Hashes => "no id of a write, as in the records before",
                _ => "the id of a write, as in the records before",
            };
            return Err(ParseError::at_byte(at, expected, found)
                .hint("0xabddefee stands for a write without an id: all records have ids, or none has"));
        }
        self.hashes += u64::from(write == NO_ID);
        Ok(self.builder.values.integer(value))
    }

    /// The number of a key; its hash seldom fits into a word beside the tag.
    fn key(&mut self, hash: i64) -> u32 {
        let builder = &mut self.builder;
        *self.keys.entry(hash).or_insert_with(|| {
            let key = builder.values.integer(hash);
            builder.key(key)
        })
    }
}

fn is_initial(id: i64) -> bool {
    matches!(id, INIT | NULL)
}

#[inline]
fn field(fields: &[u8], place: usize) -> i64 {
    fields[place * 8..].first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes))
}

fn outside(at: u64, found: &str) -> ParseError {
    ParseError::at_byte(at, "the start of a transaction: a record `S`", found)
}

/// How many reads saw a write that the logs give to another transaction than the read does.
fn contradicted(history: &History, claims: &[(u32, Option<u32>)]) -> u64 {
    let operations = &history.operations;
    let installed = |operation: usize| {
        let is_write = operations.kinds[operation] == Kind::Write;
        is_write.then(|| (operations.keys[operation], operations.values[operation]))
    };
    let mut contradicted = 0;
    // Reads from transactions that no log shows: then no log may show the write either.
    let mut strangers: HashMap<(u32, Value), u64> = HashMap::new();
    for &(read, writer) in claims {
        let seen = (operations.keys[read as usize], operations.values[read as usize]);
        let Some(writer) = writer else {
            *strangers.entry(seen).or_default() += 1;
            continue;
        };
        let mut writes = history.operations_of(writer as usize).filter_map(installed);
        contradicted += u64::from(!writes.any(|written| written == seen));
    }
    if !strangers.is_empty() {
        let writes = (0..operations.kinds.len()).filter_map(installed);
        contradicted += writes.filter_map(|written| strangers.remove(&written)).sum::<u64>();
    }
    contradicted
}
