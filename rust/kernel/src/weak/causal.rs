//! What the causal axiom demands of the commit order: O(operations * sessions), in bounded memory.
//!
//! If a transaction reads a key from t1, then the last writer of the key in each row that happens before
//! it must precede t1; earlier writers of that row follow by session order. A demand is kept only if
//! happens-before does not imply it, and once for each (row, t1): the latest.

use super::clocks::{Clocks, Line, PATIENCE, Place, SHORT_ROW, first_rows};
use super::dependencies::{Dependencies, Read};
use super::reader::Reader;
use crate::cancel::Cancel;
use crate::graph::{Components, Edges};
use crate::observations::{ABSENT, INITIAL};
use rayon::prelude::*;

/// Keys with more writers than this get cursors; the writers of others are simply looked at.
const FEW_WRITERS: usize = 8;
const NARROW: u32 = u32::MAX;

/// What a level demands of the commit order.
#[derive(Debug, Default)]
pub struct Demands {
    /// (t1, t2): t2 must precede t1.
    pub edges: Edges,
    /// A transaction that must precede the initial one, if there is any.
    pub contradiction: Option<u32>,
}

/// Demands as (t1, t2), and a transaction that must precede the initial one.
type Found = (Vec<(u32, u32)>, Option<u32>);

/// The demands of the causal axiom.
#[must_use]
pub fn demands(dependencies: &Dependencies<'_>, order: &Components, cancel: &Cancel) -> Demands {
    if dependencies.longest_row() <= SHORT_ROW {
        return of_width::<i16, 32>(dependencies, order, cancel);
    }
    of_width::<i32, 16>(dependencies, order, cancel)
}

fn of_width<P: Place, const W: usize>(
    dependencies: &Dependencies<'_>,
    order: &Components,
    cancel: &Cancel,
) -> Demands {
    let firsts: Vec<u32> = first_rows(dependencies, W).collect();
    let keys = WideKeys::new(dependencies);
    let on_cycle = if order.is_cyclic() { order.on_cycle() } else { Vec::new() };
    let parts: Vec<Found> = firsts
        .into_par_iter()
        .map(|first| {
            let clocks = Clocks::<P, W>::new(dependencies, order, first, cancel);
            let mut part = Part::new(dependencies, &keys, &on_cycle, clocks);
            part.run(cancel);
            part.finish()
        })
        .collect();
    let contradiction = parts.iter().find_map(|part| part.1);
    let pairs = parts.into_iter().flat_map(|part| part.0).collect();
    Demands { edges: Edges::new(dependencies.len(), pairs), contradiction }
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
struct Cursors<P, const W: usize> {
    /// Place of the next writer; [`Place::NEVER`] if there is none.
    upcoming: Line<P, W>,
    /// Place of the last writer that was passed; 0 if there is none.
    passed: Line<P, W>,
    /// Where the next writer stands among the places.
    next: [u32; W],
    /// The row of readers that these cursors are for.
    reader_row: u32,
}

/// The demands that come from `W` rows.
struct Part<'d, 'h, P, const W: usize> {
    dependencies: &'d Dependencies<'h>,
    wide: &'d WideKeys,
    on_cycle: &'d [bool],
    clocks: Clocks<P, W>,
    /// What precedes each transaction already: by its clock, itself, or a demand.
    known: Vec<Line<P, W>>,
    /// Places of the writers of each wide key, row by row, each row closed by [`Place::NEVER`].
    places: Vec<P>,
    /// Where the places of each wide key start, row by row.
    starts: Vec<[u32; W]>,
    cursors: Vec<Cursors<P, W>>,
    contradiction: Option<u32>,
}

impl<'d, 'h, P: Place, const W: usize> Part<'d, 'h, P, W> {
    fn new(
        dependencies: &'d Dependencies<'h>,
        wide: &'d WideKeys,
        on_cycle: &'d [bool],
        clocks: Clocks<P, W>,
    ) -> Self {
        let mut known = clocks.lines[..dependencies.len()].to_vec();
        let last = (clocks.first as usize + W).min(dependencies.row_starts.len() - 1);
        for node in dependencies.row_starts[clocks.first as usize]..dependencies.row_starts[last] {
            clocks.count(dependencies, node, &mut known[node as usize]);
        }
        let zero = Line::zero();
        let unused = Cursors { upcoming: zero, passed: zero, next: [0; W], reader_row: ABSENT };
        let mut part = Self {
            dependencies,
            wide,
            on_cycle,
            clocks,
            known,
            places: Vec::new(),
            starts: Vec::with_capacity(wide.keys.len()),
            cursors: vec![unused; wide.keys.len()],
            contradiction: None,
        };
        for &key in &wide.keys {
            part.add_places(key);
        }
        part
    }

    /// The first node of a lane's row; beyond the last row that of nothing.
    fn row_start(&self, lane: usize) -> u32 {
        let starts = &self.dependencies.row_starts;
        starts[(self.clocks.first as usize + lane).min(starts.len() - 1)]
    }

    fn add_places(&mut self, key: u32) {
        let mut writers = self.dependencies.writers_among(key, self.row_start(0)..self.row_start(W));
        let mut starts = [0; W];
        for (lane, start) in starts.iter_mut().enumerate() {
            let (first, end) = (self.row_start(lane), self.row_start(lane + 1));
            let (here, later) = writers.split_at(writers.partition_point(|&writer| writer < end));
            *start = self.places.len() as u32;
            self.places.extend(here.iter().map(|&writer| P::new(writer - first + 1)));
            self.places.push(P::NEVER);
            writers = later;
        }
        self.starts.push(starts);
    }

    fn run(&mut self, cancel: &Cancel) {
        for node in 0..self.dependencies.len() as u32 {
            if (node as usize).is_multiple_of(PATIENCE) && cancel.is_asked() {
                return;
            }
            self.node(self.dependencies.rows[node as usize], node);
        }
    }

    fn node(&mut self, row: u32, node: u32) {
        let on_cycle = self.on_cycle.get(node as usize).is_some_and(|&on_cycle| on_cycle);
        if self.dependencies.varying[node as usize] || on_cycle {
            return self.with_care(node);
        }
        let clock = self.clocks.lines[node as usize];
        for number in self.dependencies.read_range(node) {
            let read = self.dependencies.read(number);
            if read.source == ABSENT {
                continue;
            }
            match self.wide.numbers[read.key as usize] {
                NARROW => self.few_writers(&clock, read),
                wide => self.many_writers(row, &clock, read, wide as usize),
            }
        }
    }

    fn few_writers(&mut self, clock: &Line<P, W>, read: Read) {
        let dependencies = self.dependencies;
        for &writer in dependencies.writers(read.key) {
            let row = dependencies.rows[writer as usize];
            let lane = row.wrapping_sub(self.clocks.first) as usize;
            if lane >= W {
                continue;
            }
            let place = P::new(writer - dependencies.row_starts[row as usize] + 1);
            if place <= clock.0[lane] {
                self.demand(read.source, lane, place);
            }
        }
    }

    #[inline]
    fn many_writers(&mut self, row: u32, clock: &Line<P, W>, read: Read, wide: usize) {
        if self.cursors[wide].reader_row != row {
            self.reset(row, wide);
        }
        let cursors = &mut self.cursors[wide];
        if read.source == INITIAL {
            let zero = Line::zero();
            advance(cursors, &self.places, clock, &zero);
            if cursors.passed.exceeds(&zero) && self.contradiction.is_none() {
                let passed = cursors.passed;
                self.contradiction = (0..W)
                    .find(|&lane| passed.0[lane] > P::default())
                    .map(|lane| self.row_start(lane) + passed.0[lane].number() - 1);
            }
            return;
        }
        let known = &mut self.known[read.source as usize];
        advance(cursors, &self.places, clock, known);
        if cursors.passed.exceeds(known) {
            known.join(&cursors.passed);
        }
    }

    fn reset(&mut self, row: u32, wide: usize) {
        let next = self.starts[wide];
        let upcoming = Line(next.map(|next| self.places[next as usize]));
        self.cursors[wide] = Cursors { upcoming, passed: Line::zero(), next, reader_row: row };
    }

    fn demand(&mut self, source: u32, lane: usize, place: P) {
        if source == INITIAL {
            let newer = self.row_start(lane) + place.number() - 1;
            self.contradiction.get_or_insert(newer);
            return;
        }
        let known = &mut self.known[source as usize].0[lane];
        if place > *known {
            *known = place;
        }
    }

    /// A transaction that saw a key in several states, or that happens before itself: which writers make
    /// a conflict depends on what else it observed.
    fn with_care(&mut self, node: u32) {
        let reader = Reader::new(self.dependencies, node);
        let clock = self.clocks.lines[node as usize];
        for &(key, source) in &reader.sources {
            for lane in 0..W {
                let start = self.row_start(lane);
                let writers = self.dependencies.writers_among(key, start..start + clock.0[lane].number());
                let conflicts = |&&writer: &&u32| reader.class(key, source, writer).is_some();
                if let Some(&newer) = writers.iter().rev().find(conflicts) {
                    self.demand(source, lane, P::new(newer - start + 1));
                }
            }
        }
    }

    /// The demands that happens-before does not imply, as (t1, t2).
    fn finish(self) -> Found {
        let mut pairs = Vec::new();
        for (node, known) in self.known.iter().enumerate() {
            let mut implied = self.clocks.lines[node];
            if !known.exceeds(&implied) {
                continue;
            }
            self.clocks.count(self.dependencies, node as u32, &mut implied);
            for lane in (0..W).filter(|&lane| known.0[lane] > implied.0[lane]) {
                pairs.push((node as u32, self.row_start(lane) + known.0[lane].number() - 1));
            }
        }
        (pairs, self.contradiction)
    }
}

/// Moves the cursors past every writer that the clock counts, in the rows of which it counts more than is
/// known: the others can wait.
#[inline]
fn advance<P: Place, const W: usize>(
    cursors: &mut Cursors<P, W>,
    places: &[P],
    clock: &Line<P, W>,
    known: &Line<P, W>,
) {
    let mut lanes = 0u32;
    for lane in 0..W {
        let reached = u32::from(clock.0[lane] >= cursors.upcoming.0[lane]);
        let unknown = u32::from(clock.0[lane] > known.0[lane]);
        lanes |= (reached & unknown) << lane;
    }
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes - 1;
        let mut next = cursors.next[lane] as usize + 1;
        while places[next] <= clock.0[lane] {
            next += 1;
        }
        cursors.next[lane] = next as u32;
        cursors.passed.0[lane] = places[next - 1];
        cursors.upcoming.0[lane] = places[next];
    }
}
