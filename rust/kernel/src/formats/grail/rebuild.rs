//! A history that has the dependencies of a graph.
//!
//! Events that dependencies join are about one key. The writes of a key form one chain: `ww` orders two of
//! them, and so does a read that saw one (`wr`) just before the other was written (`rw`). The value of a
//! write is its place in the chain, from 1; a read returned the version that it saw, or 0, the initial one.

use super::{Event, Grail, Type};
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::{History, Kind, Status, VersionSource};
use crate::value::Value;

const NONE: u32 = u32::MAX;

/// The dependencies of each event.
struct Facts {
    /// The version that each read saw, counted along the chain.
    seen: Vec<u32>,
    /// How many writes of its key come before each write.
    level: Vec<u32>,
    /// The key of each event, as one of its events.
    key: Vec<u32>,
}

impl Grail {
    pub(super) fn rebuild(mut self) -> Result<History, ParseError> {
        self.check_listed()?;
        let writer = self.writers()?;
        let key = self.keys();
        let level = self.levels(&writer)?;
        self.check_chains(&level, &key)?;
        let seen = self.seen(&writer, &level)?;
        let mut order: Vec<u32> = (0..self.events.len() as u32).collect();
        order.sort_unstable_by_key(|&event| {
            let Event { transaction, place, .. } = self.events[event as usize];
            (transaction, place)
        });
        let mut builder = std::mem::take(&mut self.builder);
        builder.initial.default = number(0);
        self.add_transactions(&mut builder);
        self.add_events(&mut builder, &order, &Facts { seen, level, key });
        builder.note("dependencies that are not wr, ww or rw, left out", self.others);
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

    fn writers(&self) -> Result<Vec<u32>, ParseError> {
        let mut writer = vec![NONE; self.events.len()];
        for edge in self.edges.iter().filter(|edge| edge.kind == Type::WriteRead) {
            let known = &mut writer[edge.to as usize];
            if *known != NONE && *known != edge.from {
                let expected = format!("one writer of what {} read", self.event_name(edge.to));
                let found = format!("{} and {}", self.event_name(*known), self.event_name(edge.from));
                return Err(ParseError::on_line(u64::from(edge.line), &expected, &found));
            }
            *known = edge.from;
        }
        Ok(writer)
    }

    /// One event of each key stands for all of them (union-find).
    fn keys(&self) -> Vec<u32> {
        let mut parents: Vec<u32> = (0..self.events.len() as u32).collect();
        for edge in &self.edges {
            let (from, to) = (root(&mut parents, edge.from), root(&mut parents, edge.to));
            parents[from.max(to) as usize] = from.min(to);
        }
        (0..self.events.len() as u32).map(|event| root(&mut parents, event)).collect()
    }

    /// How many writes must come before each write at least.
    fn levels(&self, writer: &[u32]) -> Result<Vec<u32>, ParseError> {
        let pairs = self.ordered_pairs(writer);
        let (offsets, successors) = grouped(self.events.len(), &pairs);
        let mut missing = vec![0_u32; self.events.len()];
        for &(_, later) in &pairs {
            missing[later as usize] += 1;
        }
        let mut ready: Vec<u32> =
            (0..self.events.len() as u32).filter(|&event| missing[event as usize] == 0).collect();
        let mut level = vec![0_u32; self.events.len()];
        let mut done = 0;
        while let Some(event) = ready.pop() {
            done += 1;
            let event = event as usize;
            for &later in &successors[offsets[event]..offsets[event + 1]] {
                level[later as usize] = level[later as usize].max(level[event] + 1);
                missing[later as usize] -= 1;
                if missing[later as usize] == 0 {
                    ready.push(later);
                }
            }
        }
        if done == self.events.len() {
            return Ok(level);
        }
        let stuck = missing.iter().position(|&count| count > 0).unwrap_or_default() as u32;
        let found = format!("{}, which comes before itself", self.event_name(stuck));
        let line = u64::from(self.events[stuck as usize].line);
        Err(ParseError::on_line(line, "versions of each key in one order", &found)
            .hint("dependencies of one key must not run in a circle: transactions may"))
    }

    /// Writes of which the first comes before the second.
    fn ordered_pairs(&self, writer: &[u32]) -> Vec<(u32, u32)> {
        let pairs = self.edges.iter().filter_map(|edge| match edge.kind {
            Type::WriteRead => None,
            Type::WriteWrite => Some((edge.from, edge.to)),
            Type::ReadWrite => Some((writer[edge.from as usize], edge.to)).filter(|pair| pair.0 != NONE),
        });
        pairs.collect()
    }

    /// Two writes of a key on one level are not ordered.
    fn check_chains(&self, level: &[u32], key: &[u32]) -> Result<(), ParseError> {
        let mut writes: Vec<u32> =
            (0..self.events.len() as u32).filter(|&event| self.events[event as usize].is_write).collect();
        let place = |event: u32| (key[event as usize], level[event as usize]);
        writes.sort_unstable_by_key(|&event| (place(event), event));
        let Some(pair) = writes.windows(2).find(|pair| place(pair[0]) == place(pair[1])) else {
            return Ok(());
        };
        let found = format!("{} and {}", self.event_name(pair[0]), self.event_name(pair[1]));
        let line = u64::from(self.events[pair[1] as usize].line);
        Err(ParseError::on_line(line, "an order of the two writes of one key", &found)
            .hint("ww dependencies must lead from each version of a key to the next one"))
    }

    /// Which version each read saw, as the number of versions up to it.
    fn seen(&self, writer: &[u32], level: &[u32]) -> Result<Vec<u32>, ParseError> {
        let mut next = vec![NONE; self.events.len()];
        for edge in self.edges.iter().filter(|edge| edge.kind == Type::ReadWrite) {
            let nearest = &mut next[edge.from as usize];
            *nearest = (*nearest).min(level[edge.to as usize]);
        }
        for edge in self.edges.iter().filter(|edge| edge.kind == Type::WriteRead) {
            let (nearest, version) = (next[edge.to as usize], level[edge.from as usize] + 1);
            if nearest != NONE && nearest != version {
                let expected =
                    format!("{} to see the version just before the write", self.event_name(edge.to));
                let found = format!("version {version}, and a dependency on version {}", nearest + 1);
                return Err(ParseError::on_line(u64::from(edge.line), &expected, &found)
                    .hint("an rw dependency leads to the next version of the key"));
            }
        }
        let saw = |read: usize| match writer[read] {
            NONE => next[read],
            writer => level[writer as usize] + 1,
        };
        Ok((0..self.events.len()).map(saw).collect())
    }

    fn add_transactions(&self, builder: &mut Builder) {
        for &(name, line, listed) in &self.transactions {
            let session = builder.nameless_session();
            let line = if listed == 0 { line } else { listed };
            builder.transaction(name, session, Status::Committed, line).expect("names differ");
        }
    }

    /// Adds the operations; keys are numbered in the order in which transactions touch them.
    fn add_events(&self, builder: &mut Builder, order: &[u32], facts: &Facts) {
        let mut numbers = vec![NONE; self.events.len()];
        let mut keys = 0;
        let mut versions: Vec<(u32, u32)> = Vec::new();
        for &event in order {
            let Event { transaction, is_write, line, .. } = self.events[event as usize];
            let key = &mut numbers[facts.key[event as usize] as usize];
            if *key == NONE {
                *key = keys;
                keys += 1;
            }
            let key = builder.key(number(*key));
            let (kind, version) = if is_write {
                versions.push((key, facts.level[event as usize] + 1));
                (Kind::Write, facts.level[event as usize] + 1)
            } else {
                (Kind::Read, facts.seen[event as usize])
            };
            builder.operation(transaction, kind, key, number(version), line);
        }
        versions.sort_unstable();
        for (key, version) in versions {
            builder.version(VersionSource::Declared, key, number(version));
        }
    }
}

fn number(number: u32) -> Value {
    Value::small(i64::from(number)).unwrap_or(Value::NIL)
}

/// The representative of `event`; paths are halved on the way.
fn root(parents: &mut [u32], mut event: u32) -> u32 {
    while parents[event as usize] != event {
        let above = parents[parents[event as usize] as usize];
        parents[event as usize] = above;
        event = above;
    }
    event
}

/// Second members of `pairs` by their first: those of `f` are `members[offsets[f]..offsets[f + 1]]`.
fn grouped(size: usize, pairs: &[(u32, u32)]) -> (Vec<usize>, Vec<u32>) {
    let mut offsets = vec![0; size + 1];
    for pair in pairs {
        offsets[pair.0 as usize + 1] += 1;
    }
    for place in 0..size {
        offsets[place + 1] += offsets[place];
    }
    let mut next = offsets.clone();
    let mut members = vec![0; pairs.len()];
    for &(first, second) in pairs {
        members[next[first as usize]] = second;
        next[first as usize] += 1;
    }
    (offsets, members)
}
