//! Vector clocks: for each node and each session, how many transactions of the session come before it.

use crate::graph::Edges;
use crate::versions::dependencies::Dependencies;
use rayon::prelude::*;
use std::ops::Range;

/// A count of transactions of one session.
pub(super) trait Clock: Copy + Ord + Default + Send + Sync + Into<u32> {
    fn from_count(count: u32) -> Self;
}

impl Clock for u16 {
    fn from_count(count: u32) -> Self {
        count as Self
    }
}

impl Clock for u32 {
    fn from_count(count: u32) -> Self {
        count
    }
}

/// Fewer sessions are not worth a block of their own.
const MIN_WIDTH: usize = 32;

/// A row of clocks for each node.
pub(super) struct SessionClocks<C> {
    sessions: usize,
    /// The session of each transaction that is a node, and its place in that, from 1 on.
    session: Vec<u32>,
    count: Vec<u32>,
    /// How many transactions each session has.
    lengths: Vec<u32>,
    /// The row of each node: rows stand in topological order, so that neighbours are near.
    places: Vec<u32>,
    /// So many sessions are in a block, or less in the last one.
    width: usize,
    blocks: Vec<Block<C>>,
}

/// The clocks of some sessions, which do not depend on those of others.
struct Block<C> {
    sessions: Range<usize>,
    rows: Vec<C>,
}

impl<C: Clock> Block<C> {
    /// Fills all rows, each from those of nodes that stand before it in `sorted`.
    fn fill(&mut self, sorted: &[u32], from: &Edges, places: &[u32], own: &[(u32, u32)]) {
        let width = self.sessions.len();
        for (&node, place) in sorted.iter().zip(0..) {
            let (earlier, rest) = self.rows.split_at_mut(place * width);
            let row = &mut rest[..width];
            row.fill(C::default());
            for &other in from.of(node) {
                let start = places[other as usize] as usize * width;
                join(row, &earlier[start..start + width]);
            }
            if let Some(&(session, count)) = own.get(node as usize)
                && self.sessions.contains(&(session as usize))
            {
                let clock = &mut row[session as usize - self.sessions.start];
                *clock = C::from_count(count).max(*clock);
            }
        }
    }

    fn row(&self, place: u32) -> &[C] {
        let width = self.sessions.len();
        &self.rows[place as usize * width..(place as usize + 1) * width]
    }
}

fn join<C: Clock>(row: &mut [C], other: &[C]) {
    row.iter_mut().zip(other).for_each(|(clock, &other)| *clock = other.max(*clock));
}

impl<C: Clock> SessionClocks<C> {
    pub(super) fn new(all: &Dependencies, sessions: usize) -> Self {
        let (mut session, mut count, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for (row, number) in all.sessions.chunk_by(|one, other| one == other).zip(0..) {
            session.extend(std::iter::repeat_n(number, row.len()));
            count.extend(1..=row.len() as u32);
            lengths.push(row.len() as u32);
        }
        // However they are cut, clocks are the same.
        let width = sessions.div_ceil(rayon::current_num_threads()).max(MIN_WIDTH);
        let block = |start: usize| {
            let sessions = start..(start + width).min(sessions);
            Block { rows: vec![C::default(); all.nodes() * sessions.len()], sessions }
        };
        let blocks = (0..sessions).step_by(width).map(block).collect();
        Self { sessions, session, count, lengths, places: vec![0; all.nodes()], width, blocks }
    }

    pub(super) fn sessions(&self) -> usize {
        self.sessions
    }

    pub(super) fn session(&self, node: u32) -> usize {
        self.session[node as usize] as usize
    }

    /// The place of a transaction in its session, from 1 on.
    pub(super) fn count(&self, node: u32) -> u32 {
        self.count[node as usize]
    }

    pub(super) fn place(&self, node: u32) -> u32 {
        self.places[node as usize]
    }

    /// Joins with a row how many transactions of each session come before a node, itself included.
    pub(super) fn join_into(&self, row: &mut [C], node: u32) {
        for (part, block) in row.chunks_mut(self.width).zip(&self.blocks) {
            join(part, block.row(self.places[node as usize]));
        }
    }

    /// Whether one transaction is another or comes before it.
    pub(super) fn reaches(&self, before: u32, after: u32) -> bool {
        let session = self.session(before);
        let row = self.blocks[session / self.width].row(self.places[after as usize]);
        row[session % self.width].into() >= self.count(before)
    }

    /// Fills all rows from predecessors, along a topological order.
    pub(super) fn fill(&mut self, sorted: &[u32], before: &Edges) {
        let own: Vec<(u32, u32)> = self.session.iter().copied().zip(self.count.iter().copied()).collect();
        self.fill_blocks(sorted, before, &own);
    }

    /// Fills all rows with how many transactions of each session come after a node, itself included.
    pub(super) fn fill_backwards(&mut self, sorted: &[u32], after: &Edges) {
        let left = |(&session, &count): (&u32, &u32)| (session, self.lengths[session as usize] + 1 - count);
        let own: Vec<(u32, u32)> = self.session.iter().zip(&self.count).map(left).collect();
        let turned: Vec<u32> = sorted.iter().rev().copied().collect();
        self.fill_blocks(&turned, after, &own);
    }

    fn fill_blocks(&mut self, sorted: &[u32], from: &Edges, own: &[(u32, u32)]) {
        sorted.iter().zip(0..).for_each(|(&node, place)| self.places[node as usize] = place);
        let places = &self.places;
        self.blocks.par_iter_mut().for_each(|block| block.fill(sorted, from, places, own));
    }

    /// How many transactions there are in a row.
    pub(super) fn sum(&self, node: u32) -> i64 {
        let rows = self.blocks.iter().flat_map(|block| block.row(self.places[node as usize]));
        rows.map(|&clock| i64::from(clock.into())).sum()
    }
}
