//! What the causal axiom demands of the commit order: O(operations * sessions), in bounded memory.
//!
//! If a transaction reads a key from t1, then the last writer of the key in each row that happens before
//! it must precede t1; earlier writers of that row follow by session order. A demand is kept only if
//! happens-before does not imply it, and once for each (row, t1): the latest.

use super::clocks::{Clocks, Line, WIDTH, first_rows};
use super::dependencies::{Dependencies, Read};
use super::reader::Reader;
use crate::cancel::Cancel;
use crate::graph::{Components, Edges};
use crate::observations::{INITIAL, NOBODY};
use rayon::prelude::*;

/// Keys with more writers than this get cursors; the writers of others are simply looked at.
const FEW_WRITERS: usize = 8;
const NARROW: u32 = u32::MAX;
const NEVER: i32 = i32::MAX;

/// What a level demands of the commit order.
#[derive(Debug, Default)]
pub struct Demands {
    /// (t1, t2): t2 must precede t1.
    pub edges: Edges,
    /// Some transaction must precede the initial one.
    pub contradicts_initial: bool,
}

/// The demands of the causal axiom.
#[must_use]
pub fn demands(dependencies: &Dependencies<'_>, order: &Components, cancel: &Cancel) -> Demands {
    let firsts: Vec<u32> = first_rows(dependencies).collect();
    let keys = WideKeys::new(dependencies);
    let on_cycle = if order.is_cyclic() { order.on_cycle() } else { Vec::new() };
    let parts: Vec<(Vec<(u32, u32)>, bool)> = firsts
        .into_par_iter()
        .map(|first| {
            let clocks = Clocks::new(dependencies, order, first, cancel);
            let mut part = Part::new(dependencies, &keys, &on_cycle, clocks);
            part.run(cancel);
            part.finish()
        })
        .collect();
    let contradicts_initial = parts.iter().any(|part| part.1);
    let pairs = parts.into_iter().flat_map(|part| part.0).collect();
    Demands { edges: Edges::new(dependencies.len(), pairs), contradicts_initial }
}

/// Keys with many writers, numbered.
struct WideKeys {
    numbers: Vec<u32>,
    keys: Vec<u32>,
}

impl WideKeys {
    fn new(dependencies: &Dependencies<'_>) -> Self {
        let mut wide = Self { numbers: vec![NARROW; dependencies.history.keys.len()], keys: Vec::new() };
        for key in 0..dependencies.history.keys.len() as u32 {
            if dependencies.writers(key).len() > FEW_WRITERS {
                wide.numbers[key as usize] = wide.keys.len() as u32;
                wide.keys.push(key);
            }
        }
        wide
    }
}

/// Cursors over the writers of one key, a lane for each row; they only move forward along a session.
#[derive(Clone)]
struct Cursors {
    /// The row of readers that these cursors are for.
    reader_row: u32,
    /// The next writer among the key's writers.
    next: [u32; WIDTH],
    /// Its place in its row, from 1; [`NEVER`] if there is none.
    upcoming: Line,
    /// The place of the last writer that was passed, from 1; 0 if there is none.
    passed: Line,
}

/// The demands that come from sixteen rows.
struct Part<'d, 'h> {
    dependencies: &'d Dependencies<'h>,
    wide: &'d WideKeys,
    on_cycle: &'d [bool],
    clocks: Clocks,
    /// What precedes each transaction already: by its clock, itself, or a demand.
    known: Vec<Line>,
    starts: Vec<[u32; WIDTH]>,
    cursors: Vec<Cursors>,
    contradicts_initial: bool,
}

impl<'d, 'h> Part<'d, 'h> {
    fn new(
        dependencies: &'d Dependencies<'h>,
        wide: &'d WideKeys,
        on_cycle: &'d [bool],
        clocks: Clocks,
    ) -> Self {
        let mut known = clocks.lines[..dependencies.len()].to_vec();
        let rows = clocks.first as usize..(clocks.first as usize + WIDTH).min(dependencies.row_starts.len() - 1);
        for node in dependencies.row_starts[rows.start]..dependencies.row_starts[rows.end] {
            clocks.count(dependencies, node, &mut known[node as usize]);
        }
        let unused = Cursors { reader_row: NOBODY, next: [0; WIDTH], upcoming: Line::ZERO, passed: Line::ZERO };
        let mut part = Self {
            dependencies,
            wide,
            on_cycle,
            clocks,
            known,
            starts: Vec::with_capacity(wide.keys.len()),
            cursors: vec![unused; wide.keys.len()],
            contradicts_initial: false,
        };
        part.starts = wide.keys.iter().map(|&key| part.starts_of(key)).collect();
        part
    }

    /// The first node of a lane's row; beyond the last row that of nothing.
    fn row_start(&self, lane: usize) -> u32 {
        let starts = &self.dependencies.row_starts;
        starts[(self.clocks.first as usize + lane).min(starts.len() - 1)]
    }

    /// Where the writers of each row start among the writers of `key`.
    fn starts_of(&self, key: u32) -> [u32; WIDTH] {
        let writers = self.dependencies.writers(key);
        std::array::from_fn(|lane| {
            let start = self.row_start(lane);
            writers.partition_point(|&writer| writer < start) as u32
        })
    }

    fn run(&mut self, cancel: &Cancel) {
        for row in 0..self.dependencies.row_starts.len() - 1 {
            if cancel.is_asked() {
                return;
            }
            for node in self.dependencies.row_starts[row]..self.dependencies.row_starts[row + 1] {
                self.node(row as u32, node);
            }
        }
    }

    fn node(&mut self, row: u32, node: u32) {
        let on_cycle = self.on_cycle.get(node as usize).is_some_and(|&on_cycle| on_cycle);
        if self.dependencies.varying[node as usize] || on_cycle {
            return self.with_care(node);
        }
        for number in self.dependencies.read_range(node) {
            let read = self.dependencies.read(number);
            if read.source == NOBODY {
                continue;
            }
            match self.wide.numbers[read.key as usize] {
                NARROW => self.few_writers(node, read),
                wide => self.many_writers(row, node, read, wide as usize),
            }
        }
    }

    fn few_writers(&mut self, node: u32, read: Read) {
        let dependencies = self.dependencies;
        for &writer in dependencies.writers(read.key) {
            let row = dependencies.rows[writer as usize];
            let lane = row.wrapping_sub(self.clocks.first) as usize;
            if lane >= WIDTH {
                continue;
            }
            let place = (writer - dependencies.row_starts[row as usize]) as i32 + 1;
            if place <= self.clocks.lines[node as usize].0[lane] {
                self.demand(read.source, lane, place);
            }
        }
    }

    #[inline]
    fn many_writers(&mut self, row: u32, node: u32, read: Read, wide: usize) {
        if self.cursors[wide].reader_row != row {
            self.reset(row, read.key, wide);
        }
        let clock = &self.clocks.lines[node as usize];
        if !Self::all_later(&self.cursors[wide].upcoming, clock) {
            let clock = *clock;
            self.advance(read.key, wide, &clock);
        }
        let passed = &self.cursors[wide].passed;
        if read.source == INITIAL {
            self.contradicts_initial |= passed.exceeds(&Line::ZERO);
        } else if passed.exceeds(&self.known[read.source as usize]) {
            self.known[read.source as usize].join(&self.cursors[wide].passed);
        }
    }

    #[inline]
    fn all_later(upcoming: &Line, clock: &Line) -> bool {
        let mut later = true;
        for lane in 0..WIDTH {
            later &= upcoming.0[lane] > clock.0[lane];
        }
        later
    }

    fn reset(&mut self, row: u32, key: u32, wide: usize) {
        let next = self.starts[wide];
        let upcoming = std::array::from_fn(|lane| self.place_of(key, lane, next[lane]));
        self.cursors[wide] =
            Cursors { reader_row: row, next, upcoming: Line(upcoming), passed: Line::ZERO };
    }

    /// The place in its row, from 1, of a writer of `key`, if it is in the row of `lane`.
    fn place_of(&self, key: u32, lane: usize, writer: u32) -> i32 {
        let (start, end) = (self.row_start(lane), self.row_start(lane + 1));
        match self.dependencies.writers(key).get(writer as usize) {
            Some(&node) if node < end => (node - start) as i32 + 1,
            _ => NEVER,
        }
    }

    /// Moves the cursors past every writer that the clock counts.
    fn advance(&mut self, key: u32, wide: usize, clock: &Line) {
        let writers = self.dependencies.writers(key);
        for lane in 0..WIDTH {
            if self.cursors[wide].upcoming.0[lane] > clock.0[lane] {
                continue;
            }
            let (start, end) = (self.row_start(lane), self.row_start(lane + 1));
            let limit = start + clock.0[lane] as u32;
            let next = self.cursors[wide].next[lane] as usize;
            let passed = gallop(&writers[next..], limit);
            let last = writers[next + passed - 1];
            let cursors = &mut self.cursors[wide];
            cursors.next[lane] = (next + passed) as u32;
            cursors.passed.0[lane] = (last - start) as i32 + 1;
            cursors.upcoming.0[lane] = match writers.get(next + passed) {
                Some(&node) if node < end => (node - start) as i32 + 1,
                _ => NEVER,
            };
        }
    }

    fn demand(&mut self, source: u32, lane: usize, place: i32) {
        if source == INITIAL {
            self.contradicts_initial = true;
        } else {
            let known = &mut self.known[source as usize].0[lane];
            *known = place.max(*known);
        }
    }

    /// A transaction that saw a key in several states, or that happens before itself: which writers make
    /// a conflict depends on what else it observed.
    fn with_care(&mut self, node: u32) {
        let reader = Reader::new(self.dependencies, node);
        let clock = self.clocks.lines[node as usize];
        for &(key, source) in &reader.sources {
            for lane in 0..WIDTH {
                let start = self.row_start(lane);
                let writers = self.dependencies.writers_among(key, start..start + clock.0[lane] as u32);
                let conflicts = |&&writer: &&u32| reader.class(key, source, writer).is_some();
                if let Some(&newer) = writers.iter().rev().find(conflicts) {
                    self.demand(source, lane, (newer - start) as i32 + 1);
                }
            }
        }
    }

    /// The demands that happens-before does not imply, as (t1, t2).
    fn finish(self) -> (Vec<(u32, u32)>, bool) {
        let mut pairs = Vec::new();
        for (node, known) in self.known.iter().enumerate() {
            let mut implied = self.clocks.lines[node];
            if !known.exceeds(&implied) {
                continue;
            }
            self.clocks.count(self.dependencies, node as u32, &mut implied);
            for lane in (0..WIDTH).filter(|&lane| known.0[lane] > implied.0[lane]) {
                pairs.push((node as u32, self.row_start(lane) + known.0[lane] as u32 - 1));
            }
        }
        (pairs, self.contradicts_initial)
    }
}

/// How many of the ascending `nodes` are below `limit`, found in steps that double.
fn gallop(nodes: &[u32], limit: u32) -> usize {
    let mut step = 1;
    while step < nodes.len() && nodes[step] < limit {
        step *= 2;
    }
    let from = step / 2;
    from + nodes[from..nodes.len().min(step + 1)].partition_point(|&node| node < limit)
}
