//! The write-ahead log of `ArangoDB` as JSON lines: the order in which versions were installed.
//!
//! ```json
//! {"tick":"94","type":2200,"tid":"137","db":"rwRegister"}
//! {"tick":"95","type":2300,"tid":"137","data":{"_key":"3","_id":"rwCol/3","_rev":"_f","rwAttr":1}}
//! {"tick":"96","type":2201,"tid":"137","db":"rwRegister"}
//! ```
//!
//! Types: 2200 begin, 2201 commit, 2202 abort, 2300 insert or replace, 2302 remove; others are skipped.
//! The order of the file is the order of versions. A row counts if the log shows the commit of its
//! transaction, and only the last row of a transaction and key counts, in its own place. The server gives
//! an operation outside transactions the transaction id 0: each such row is committed by itself. In a log
//! without any begin, commit or abort (cut down by hand), every row counts.

use super::json::{self, Cursor, Fault, Number};
use crate::error::ParseError;
use crate::value::{Value, Values};
use hashbrown::HashSet;

const BEGIN: i64 = 2200;
const COMMIT: i64 = 2201;
const ABORT: i64 = 2202;
const ROW: i64 = 2300;
const REMOVAL: i64 = 2302;

/// The attribute that holds the value in GRAIL's workloads.
const ATTRIBUTE: &[u8] = b"rwAttr";
/// The transaction of an operation that is in none.
const NO_TRANSACTION: &str = "0";

/// The content of a log.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// Committed versions in the order in which they were installed.
    pub versions: Vec<LoggedVersion>,
    /// The pool of the versions' values.
    pub values: Values,
    /// Rows that were dropped because the log shows no commit of their transaction.
    pub uncommitted: u64,
    /// Removals of documents, which are no versions here.
    pub removals: u64,
}

/// One version of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedVersion {
    /// The key of the document, always text in `ArangoDB`.
    pub key: String,
    /// A scalar of [`Log::values`].
    pub value: Value,
    /// Line of the log.
    pub line: u64,
}

/// Rows and commits before it is known which rows count.
#[derive(Default)]
struct Records {
    rows: Vec<(String, LoggedVersion)>,
    committed: HashSet<String>,
    has_markers: bool,
    removals: u64,
    values: Values,
}

/// One line of the log; its data only as a place to come back to, because the type may stand behind it.
struct Record<'text> {
    kind: i64,
    transaction: Option<String>,
    data: Option<Cursor<'text>>,
    at: usize,
    line: u64,
}

/// Reads a whole log.
///
/// # Errors
/// If a line is no JSON object, or a row lacks its transaction, key or value.
pub fn parse(text: &[u8]) -> Result<Log, ParseError> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut cursor = Cursor::new(text, 1);
    let mut records = Records::default();
    while cursor.peek().is_some() {
        let record = record(&mut cursor).map_err(|fault| cursor.error(fault))?;
        records.add(record).map_err(|fault| cursor.error(fault))?;
    }
    Ok(records.finish())
}

fn record<'text>(cursor: &mut Cursor<'text>) -> Result<Record<'text>, Fault> {
    let (at, line) = (cursor.start(), cursor.line());
    let (mut kind, mut transaction, mut data) = (None, None, None);
    let mut fields = cursor.begin_object()?;
    while let Some(name) = cursor.next_field(&mut fields)? {
        match &*name {
            b"type" => kind = Some(cursor.integer("an integer as the type of the record")?),
            b"tid" => transaction = Some(id(cursor)?),
            b"data" => {
                data = Some(*cursor);
                cursor.skip_value()?;
            }
            _ => cursor.skip_value()?,
        }
    }
    let kind = kind.ok_or_else(|| Fault::at(at, "a record with a `type`, such as 2300"))?;
    Ok(Record { kind, transaction, data, at, line })
}

impl Records {
    fn add(&mut self, record: Record) -> Result<(), Fault> {
        let transaction =
            record.transaction.ok_or_else(|| Fault::at(record.at, "a record with its transaction `tid`"));
        match record.kind {
            BEGIN | ABORT => self.has_markers = true,
            COMMIT => {
                self.has_markers = true;
                self.committed.insert(transaction?);
            }
            ROW => {
                let data = record.data.ok_or_else(|| Fault::at(record.at, "a row with its `data`"))?;
                let (key, value) = self.row(data)?;
                self.rows.push((transaction?, LoggedVersion { key, value, line: record.line }));
            }
            REMOVAL => self.removals += 1,
            _ => {}
        }
        Ok(())
    }

    /// Key and value of a document.
    fn row(&mut self, mut cursor: Cursor) -> Result<(String, Value), Fault> {
        let at = cursor.start();
        let (mut key, mut chosen, mut others) = (None, None, Vec::new());
        let mut fields = cursor.begin_object()?;
        while let Some(name) = cursor.next_field(&mut fields)? {
            match &*name {
                b"_key" => {
                    key = Some(id(&mut cursor)?);
                    continue;
                }
                ATTRIBUTE => chosen = Some(cursor),
                name if name.starts_with(b"_") => {}
                _ => others.push(cursor),
            }
            cursor.skip_value()?;
        }
        let mut attribute = match (chosen, others.as_slice()) {
            (Some(chosen), _) => chosen,
            (None, &[only]) => only,
            (None, _) => {
                return Err(Fault::at(at, "a row with the attribute `rwAttr`, or with only one of its own")
                    .hint("which attribute holds the value? Rename it to `rwAttr`"));
            }
        };
        let key = key.ok_or_else(|| Fault::at(at, "a row with its `_key`"))?;
        Ok((key, json::scalar(&mut attribute, &mut self.values)?))
    }

    fn finish(self) -> Log {
        let Self { rows, committed, has_markers, removals, values } = self;
        let all = rows.len();
        let counts = |transaction: &str| {
            !has_markers || transaction == NO_TRANSACTION || committed.contains(transaction)
        };
        let rows: Vec<_> = rows.into_iter().filter(|(transaction, _)| counts(transaction)).collect();
        let uncommitted = (all - rows.len()) as u64;
        let is_last = last_of_their_transaction(&rows);
        let versions =
            rows.into_iter().zip(is_last).filter(|&(_, last)| last).map(|((_, version), _)| version);
        Log { versions: versions.collect(), values, uncommitted, removals }
    }
}

/// Which rows no later row of the same transaction and key replaces.
fn last_of_their_transaction(rows: &[(String, LoggedVersion)]) -> Vec<bool> {
    let mut later = HashSet::new();
    let mut is_last: Vec<bool> = rows
        .iter()
        .rev()
        .map(|(transaction, version)| {
            transaction == NO_TRANSACTION || later.insert((transaction, &version.key))
        })
        .collect();
    is_last.reverse();
    is_last
}

/// An id, which some dumps write as a number.
fn id(cursor: &mut Cursor) -> Result<String, Fault> {
    const ID: &str = "an id: a string or an integer";
    let byte = cursor.peek_for(ID)?;
    let at = cursor.at();
    if byte == b'"' {
        return Ok(cursor.string()?.into_owned());
    }
    match cursor.number() {
        Ok(Number::Integer(number)) => Ok(number.to_string()),
        Ok(Number::Long(digits)) => Ok(digits.to_owned()),
        Err(cut_off @ Fault::CutOff(_)) => Err(cut_off),
        _ => Err(Fault::at(at, ID)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"{"tick":"1","type":1100,"data":{"id":"98","indexes":[{"type":"primary"}]}}
{"tick":"2","type":2200,"tid":"137"}
{"tick":"3","type":2300,"tid":"137","data":{"_key":"3","_id":"c/3","rwAttr":1}}
{"tick":"4","type":2200,"tid":"138"}
{"data":{"rwAttr":"two","other":0,"_key":"3"},"tid":"138","type":2300}
{"tick":"6","type":2300,"tid":"137","data":{"_key":"3","rwAttr":3}}
{"tick":"7","type":2300,"tid":139,"data":{"_key":4,"value":12345678901234567890}}
{"tick":"8","type":2300,"tid":"0","data":{"_key":"4","rwAttr":5}}
{"tick":"8","type":2300,"tid":"0","data":{"_key":"4","rwAttr":6}}
{"tick":"9","type":2201,"tid":137}
{"tick":"9","type":2201,"tid":"138"}
{"tick":"9","type":2302,"tid":"138","data":{"_key":"4","_rev":"_f"}}
"#;

    fn shown(log: &Log) -> Vec<String> {
        let show = |version: &LoggedVersion| {
            let mut value = Vec::new();
            json::write_value(&log.values, version.value, &mut value);
            format!("{}={}@{}", version.key, String::from_utf8(value).unwrap(), version.line)
        };
        log.versions.iter().map(show).collect()
    }

    #[test]
    fn the_last_row_of_each_committed_transaction_counts_in_its_place() {
        let log = parse(SAMPLE.as_bytes()).unwrap();
        assert_eq!(shown(&log), ["3=\"two\"@5", "3=3@6", "4=5@8", "4=6@9"]);
        assert_eq!((log.uncommitted, log.removals), (1, 1));
    }

    #[test]
    fn without_any_marker_every_transaction_counts_as_committed() {
        let rows: Vec<&str> = SAMPLE.lines().filter(|line| line.contains("2300")).collect();
        let log = parse(rows.join("\n").as_bytes()).unwrap();
        assert_eq!(shown(&log), ["3=\"two\"@2", "3=3@3", "4=12345678901234567890@4", "4=5@5", "4=6@6"]);
        assert_eq!(log.uncommitted, 0);
    }

    #[test]
    fn an_aborted_transaction_leaves_no_version() {
        let log = parse(br#"{"type":2300,"tid":"1","data":{"_key":"3","rwAttr":1}} {"type":2202,"tid":"1"}"#);
        let log = log.unwrap();
        assert_eq!((log.versions.len(), log.uncommitted), (0, 1));
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, line, expected) in [
            ("{\"type\":2200}\n{\"tick\":\"1\"}", 2, "a `type`"),
            (r#"{"type":2201}"#, 1, "`tid`"),
            (r#"{"type":2300,"tid":"1"}"#, 1, "`data`"),
            (r#"{"type":2300,"tid":"1","data":{"rwAttr":1}}"#, 1, "`_key`"),
            (r#"{"type":2300,"tid":"1","data":{"_key":"1","a":1,"b":2}}"#, 1, "`rwAttr`"),
            (r#"{"type":2300,"tid":"1","data":{"_key":"1","rwAttr":[1]}}"#, 1, "a string, a number"),
            (r#"{"type":2300,"tid":true,"data":{"_key":"1","rwAttr":1}}"#, 1, "an id"),
            ("{\"type\":2200}\n2201", 2, "an object"),
            ("{\"type\":2200}\n{\"type\":22", 2, "after a field"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.expected.contains(expected), "{text}: {}", error.expected);
        }
    }

    #[test]
    fn a_log_cut_anywhere_or_with_flipped_bits_never_panics() {
        let sample = SAMPLE.as_bytes();
        for end in 0..sample.len() {
            let is_whole = sample[..end].trim_ascii_end().last().is_none_or(|&byte| byte == b'}');
            assert!(parse(&sample[..end]).is_err() || is_whole, "{end}");
        }
        let mut seed = 7u64;
        for _ in 0..5_000 {
            let mut text = sample.to_vec();
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 33) as usize % text.len();
            text[at] ^= 1 << (seed >> 60 & 7);
            _ = parse(&text);
        }
    }
}
