//! The order of versions that the dependencies of a graph show, and the version that each read saw.
//!
//! Events that dependencies join are about one key. `ww` orders two writes, and so does a read that saw one
//! (`wr`) just before the other was written (`rw`). Where the writes of a key form no chain, GRAIL means
//! appends that no read shows: every read just before such an append saw the same state, the longest list.

use super::{Event, Grail, Type};
use crate::error::ParseError;

/// No event.
pub(super) const NONE: u32 = u32::MAX;

/// What the dependencies say of each event.
pub(super) struct KnownOrder {
    /// The key of each event, as one of its events.
    pub(super) key: Vec<u32>,
    /// The write that each read saw; [`NONE`] if that is the initial version, or told by `rw` alone.
    pub(super) writer: Vec<u32>,
    /// Writes of one key of which the first comes before the second.
    pub(super) pairs: Vec<(u32, u32)>,
    /// How many writes of its key come before each write at least.
    pub(super) level: Vec<u32>,
    /// For the key of each event: whether two of its writes have no order.
    pub(super) is_open: Vec<bool>,
}

impl Grail {
    pub(super) fn known_order(&self) -> Result<KnownOrder, ParseError> {
        let (key, writer) = (self.keys(), self.writers()?);
        let pairs = self.ordered_pairs(&writer);
        let level = self.levels(&pairs)?;
        let is_open = self.open_keys(&level, &key);
        let mut known = KnownOrder { key, writer, pairs, level, is_open };
        if known.is_open.contains(&true) {
            self.join_states(&mut known)?;
            known.level = self.levels(&known.pairs)?;
            known.is_open = self.open_keys(&known.level, &known.key);
        }
        Ok(known)
    }

    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.events.len() as u32
    }

    pub(super) fn of_type(&self, kind: Type) -> impl Iterator<Item = &super::Edge> {
        self.edges.iter().filter(move |edge| edge.kind == kind)
    }

    fn writers(&self) -> Result<Vec<u32>, ParseError> {
        let mut writer = vec![NONE; self.events.len()];
        for edge in self.of_type(Type::WriteRead) {
            let known = &mut writer[edge.to as usize];
            if *known != NONE && *known != edge.from {
                let expected = format!("one writer of what {} read", self.event_name(edge.to));
                let found = format!("{} and {}", self.event_name(*known), self.event_name(edge.from));
                return Err(ParseError::on_line(u64::from(edge.line), &expected, &found).hint(
                    "a wr dependency leads from the last element of a list, or from the value that was read",
                ));
            }
            *known = edge.from;
        }
        Ok(writer)
    }

    /// One event of each key stands for all of them (union-find).
    fn keys(&self) -> Vec<u32> {
        let mut parents: Vec<u32> = self.numbers().collect();
        for edge in &self.edges {
            join(&mut parents, edge.from, edge.to);
        }
        self.numbers().map(|event| root(&mut parents, event)).collect()
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

    /// How many writes must come before each write at least.
    fn levels(&self, pairs: &[(u32, u32)]) -> Result<Vec<u32>, ParseError> {
        let (offsets, successors) = grouped(self.events.len(), pairs);
        let mut missing = vec![0_u32; self.events.len()];
        for &(_, later) in pairs {
            missing[later as usize] += 1;
        }
        let mut ready: Vec<u32> = self.numbers().filter(|&event| missing[event as usize] == 0).collect();
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

    /// Whether the key of each event has two writes on one level, which nothing orders.
    fn open_keys(&self, level: &[u32], key: &[u32]) -> Vec<bool> {
        let mut writes: Vec<u32> =
            self.numbers().filter(|&event| self.events[event as usize].is_write).collect();
        let place = |event: u32| (key[event as usize], level[event as usize]);
        writes.sort_unstable_by_key(|&event| place(event));
        let mut is_open = vec![false; self.events.len()];
        for pair in writes.windows(2).filter(|pair| place(pair[0]) == place(pair[1])) {
            is_open[key[pair[0] as usize] as usize] = true;
        }
        self.numbers().map(|event| is_open[key[event as usize] as usize]).collect()
    }

    /// In open keys: reads and writes that an `rw` joins speak of one state. If one of the reads or a `ww` tells
    /// which write left that state, all of the reads saw it, and all of the writes come after it.
    fn join_states(&self, known: &mut KnownOrder) -> Result<(), ParseError> {
        let mut states: Vec<u32> = self.numbers().collect();
        for edge in self.of_type(Type::ReadWrite).filter(|edge| known.is_open[edge.from as usize]) {
            join(&mut states, edge.from, edge.to);
        }
        let state: Vec<u32> = self.numbers().map(|event| root(&mut states, event)).collect();
        let left_by = self.writers_of_states(known, &state)?;
        for event in self.numbers().filter(|&event| known.is_open[event as usize]) {
            let writer = left_by[state[event as usize] as usize];
            match self.events[event as usize] {
                _ if writer == NONE => {}
                Event { is_write: false, .. } => known.writer[event as usize] = writer,
                Event { .. } => known.pairs.push((writer, event)),
            }
        }
        Ok(())
    }

    /// The write that left each state: the one that a read saw, else the last one that a `ww` leads from.
    fn writers_of_states(&self, known: &KnownOrder, state: &[u32]) -> Result<Vec<u32>, ParseError> {
        let mut left_by = vec![NONE; self.events.len()];
        for edge in self.of_type(Type::WriteRead).filter(|edge| known.is_open[edge.to as usize]) {
            let writer = &mut left_by[state[edge.to as usize] as usize];
            if *writer != NONE && *writer != edge.from {
                let expected =
                    format!("{} to see the version just before the write", self.event_name(edge.to));
                let found = format!(
                    "that of {}, where another read saw that of {}",
                    self.event_name(edge.from),
                    self.event_name(*writer)
                );
                return Err(ParseError::on_line(u64::from(edge.line), &expected, &found)
                    .hint("an rw dependency leads to the next version of the key"));
            }
            *writer = edge.from;
        }
        self.last_overwritten(known, state, &mut left_by)?;
        Ok(left_by)
    }

    fn last_overwritten(
        &self,
        known: &KnownOrder,
        state: &[u32],
        left_by: &mut [u32],
    ) -> Result<(), ParseError> {
        let mut has_reads = vec![false; self.events.len()];
        let reads = self.numbers().filter(|&event| !self.events[event as usize].is_write);
        reads.for_each(|read| has_reads[state[read as usize] as usize] = true);
        // States whose writer a read tells stay as they are; the others are free for the last write.
        let is_free: Vec<bool> = left_by.iter().map(|&writer| writer == NONE).collect();
        for edge in self.of_type(Type::WriteWrite).filter(|edge| known.is_open[edge.to as usize]) {
            let state = state[edge.to as usize] as usize;
            let writer = left_by[state];
            if !is_free[state] || !has_reads[state] || writer == edge.from {
                continue;
            }
            let level = |event: u32| known.level[event as usize];
            if writer != NONE && level(writer) == level(edge.from) {
                let expected =
                    format!("one version just before {}, which a read saw", self.event_name(edge.to));
                let found = format!("{} and {}", self.event_name(writer), self.event_name(edge.from));
                return Err(ParseError::on_line(u64::from(edge.line), &expected, &found)
                    .hint("add the wr dependency of that read, or the ww dependency of the two writes"));
            }
            if writer == NONE || level(writer) < level(edge.from) {
                left_by[state] = edge.from;
            }
        }
        Ok(())
    }
}

fn join(parents: &mut [u32], one: u32, other: u32) {
    let (one, other) = (root(parents, one), root(parents, other));
    parents[one.max(other) as usize] = one.min(other);
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
