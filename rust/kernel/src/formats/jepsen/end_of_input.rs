//! Decisions that need the whole input: positions, ids, transactions that never completed, the log.

use super::transactions::{Ended, Invocation, NOWHERE, Place};
use super::{Jepsen, MISSING};
use crate::error::ParseError;
use crate::formats::{WriteAheadLog, arango, edn};
use crate::history::{History, Interval, Kind, Status, VersionSource};
use crate::value::{AtomKind, Value};
use hashbrown::HashMap;

impl WriteAheadLog for Jepsen {
    /// Adds the log of ArangoDB: its rows are in version order and of committed transactions only.
    fn attach(&mut self, text: &[u8]) -> Result<(), ParseError> {
        let mut log = arango::parse(text)?;
        let key = |version: &arango::LoggedVersion| log.values.intern(AtomKind::Text, &version.key);
        let keys: Vec<Value> = log.versions.iter().map(key).collect();
        let translation = self.builder.values.absorb(&log.values);
        let rows = keys.iter().zip(&log.versions);
        self.log.extend(rows.map(|(&key, row)| (translation.of(key), translation.of(row.value))));
        Ok(())
    }
}

impl Jepsen {
    pub(super) fn end_of_input(mut self) -> Result<History, ParseError> {
        self.end_open_invocations();
        if self.ended.is_empty() && self.others > 0 {
            let expected = "operations of clients, whose processes are integers";
            let found = format!("none among {} operations", self.others);
            return Err(ParseError::on_line(0, expected, &found).hint(
                "a process that is a name or a text is taken for the test's own, such as the nemesis",
            ));
        }
        self.create_transactions()?;
        self.compare_vectors_as_scalars();
        self.add_log();
        self.builder.note("operations that are not a client's, skipped", self.others);
        self.builder.note("indexes that are no natural numbers, not used", self.odd_indexes);
        self.builder.note("times that are no natural numbers, not used", self.odd_times);
        let unknown = "predicate reads whose rows are unknown, left out";
        self.builder.note(unknown, self.unknown_predicate_reads);
        self.builder.note("transactions whose completion differs from their invocation", self.changed);
        self.builder.finish()
    }

    /// Transactions that never completed come after all others, in the order of their invocations.
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
            self.ended.push(Ended { session, status, line, id, invoke, complete: NOWHERE });
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
            let Some(number) = self.builder.transaction(id, ended.session, ended.status, ended.line) else {
                return Err(self.repeated_id(id, ended.line));
            };
            self.builder.interval(number, Interval::new(time(ended.invoke), time(ended.complete)));
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
        self.builder.note("rows of the log about keys that the history does not mention", unmentioned);
    }

    /// The key of the history that the log calls `text`: integer, string, keyword or symbol.
    fn key_of_log(&mut self, text: Value) -> Option<u32> {
        let Some(index) = text.atom_index() else {
            return self.builder.find_key(text);
        };
        let name = self.builder.values.atom(index).1.to_owned();
        let values = &mut self.builder.values;
        let number = name.parse().ok().filter(|number: &i64| number.to_string() == name);
        let candidates = [
            number.map(|number| values.integer(number)),
            Some(values.intern(AtomKind::Text, &name)),
            Some(values.intern(AtomKind::Term, &format!(":{name}"))),
            Some(values.intern(AtomKind::Term, &name)),
        ];
        candidates.into_iter().flatten().find_map(|candidate| self.builder.find_key(candidate))
    }
}
