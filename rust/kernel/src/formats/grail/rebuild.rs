//! A history that has the dependencies of a graph.
//!
//! The value of a write is its place among the versions of its key, from 1. A read of a register returned the
//! version that it saw, or 0, the initial one; a read of a list returned all elements up to the one that it saw.

use super::version_order::{KnownOrder, NONE};
use super::versions::Versions;
use super::{Event, Grail, Type};
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::{History, Kind, Status, VersionSource};
use crate::value::Value;

impl Grail {
    pub(super) fn rebuild(mut self) -> Result<History, ParseError> {
        self.check_listed()?;
        let known = self.known_order()?;
        let versions = self.versions(&known, self.versions_of_chains(&known)?);
        let mut builder = std::mem::take(&mut self.builder);
        builder.initial.default = number(0);
        self.add_transactions(&mut builder);
        self.add_events(&mut builder, &known, &versions);
        builder.note("dependencies that are not wr, ww or rw, left out", self.others);
        builder.note("orders of two writes, each as a key of its own", versions.pairs.len() as u64);
        builder.finish()
    }

    /// If transactions are listed, all that dependencies name must be.
    fn check_listed(&self) -> Result<(), ParseError> {
        if self.transactions.iter().all(|&(.., listed)| listed == 0) {
            return Ok(());
        }
        match self.transactions.iter().find(|&&(.., listed)| listed == 0) {
            None => Ok(()),
            Some(&(name, line, _)) => {
                let found = format!("{}, which is not listed", self.called(name));
                Err(ParseError::on_line(u64::from(line), "transactions that are listed", &found)
                    .hint("do both files belong to one graph? Dependencies can also be read alone"))
            }
        }
    }

    /// The number of each event's version, in keys whose writes are all in order.
    fn versions_of_chains(&self, known: &KnownOrder) -> Result<Vec<u32>, ParseError> {
        let KnownOrder { writer, level, is_open, .. } = known;
        let mut next = vec![NONE; self.events.len()];
        for edge in self.of_type(Type::ReadWrite) {
            let nearest = &mut next[edge.from as usize];
            *nearest = (*nearest).min(level[edge.to as usize]);
        }
        for edge in self.of_type(Type::WriteRead).filter(|edge| !is_open[edge.to as usize]) {
            let (nearest, version) = (next[edge.to as usize], level[edge.from as usize] + 1);
            if nearest != NONE && nearest != version {
                let expected =
                    format!("{} to see the version just before the write", self.event_name(edge.to));
                let found = format!("version {version}, and a dependency on version {}", nearest + 1);
                return Err(ParseError::on_line(u64::from(edge.line), &expected, &found)
                    .hint("an rw dependency leads to the next version of the key"));
            }
        }
        let version = |event: usize| match (self.events[event].is_write, writer[event]) {
            (true, _) => level[event] + 1,
            (false, NONE) => next[event],
            (false, writer) => level[writer as usize] + 1,
        };
        Ok((0..self.events.len()).map(version).collect())
    }

    fn add_transactions(&self, builder: &mut Builder) {
        for &(name, line, listed) in &self.transactions {
            let session = builder.nameless_session();
            let line = if listed == 0 { line } else { listed };
            builder.transaction(name, session, Status::Committed, line).expect("names differ");
        }
    }

    /// Adds the operations; keys are numbered in the order in which transactions touch them, and behind them those
    /// of single pairs.
    fn add_events(&self, builder: &mut Builder, known: &KnownOrder, versions: &Versions) {
        let mut order: Vec<u32> = self.numbers().collect();
        order.sort_unstable_by_key(|&event| {
            let Event { transaction, place, .. } = self.events[event as usize];
            (transaction, place)
        });
        let (numbers, keys) = key_numbers(&order, &known.key);
        let paired = paired(&versions.pairs);
        let longest = longest_list(builder, versions);
        let mut declared: Vec<(u32, u32)> = Vec::new();
        for &event in &order {
            let Event { transaction, is_write, line, .. } = self.events[event as usize];
            let key = builder.key(number(numbers[known.key[event as usize] as usize]));
            let version = versions.number[event as usize];
            if versions.is_declared[event as usize] {
                declared.push((key, version));
            }
            let (kind, value) = match (versions.is_list[event as usize], is_write) {
                (true, true) => (Kind::Append, number(version)),
                (true, false) => (Kind::Read, builder.values.prefix(longest, version)),
                (false, true) => (Kind::Write, number(version)),
                (false, false) => (Kind::Read, number(version)),
            };
            builder.operation(transaction, kind, key, value, line);
            let first = paired.partition_point(|&(known, ..)| known < event);
            for &(_, pair, version) in paired[first..].iter().take_while(|&&(known, ..)| known == event) {
                let key = builder.key(number(keys + pair));
                declared.push((key, version));
                builder.operation(transaction, Kind::Write, key, number(version), line);
            }
        }
        declared.sort_unstable();
        for (key, version) in declared {
            builder.version(VersionSource::Declared, key, number(version));
        }
    }
}

/// The number of each key, by the event that stands for it, and how many keys there are.
fn key_numbers(order: &[u32], key: &[u32]) -> (Vec<u32>, u32) {
    let mut numbers = vec![NONE; key.len()];
    let mut keys = 0;
    for &event in order {
        let number = &mut numbers[key[event as usize] as usize];
        if *number == NONE {
            *number = keys;
            keys += 1;
        }
    }
    (numbers, keys)
}

/// Each write of a pair with the number of the pair and its version there, sorted.
fn paired(pairs: &[(u32, u32)]) -> Vec<(u32, u32, u32)> {
    let numbered = pairs.iter().zip(0..);
    let mut paired: Vec<(u32, u32, u32)> =
        numbered.flat_map(|(&(before, after), pair)| [(before, pair, 1), (after, pair, 2)]).collect();
    paired.sort_unstable();
    paired
}

/// The list of the versions 1, 2, ..., of which every list that a read returned is a beginning.
fn longest_list(builder: &mut Builder, versions: &Versions) -> usize {
    let lists = versions.number.iter().zip(&versions.is_list).filter(|&(_, &is_list)| is_list);
    let longest = lists.map(|(&number, _)| number).max().unwrap_or(0);
    builder.values.push_list((1..=longest).map(number)).list_index().unwrap_or_default()
}

fn number(number: u32) -> Value {
    Value::small(i64::from(number)).unwrap_or(Value::NIL)
}
