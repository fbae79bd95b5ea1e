//! Happens-before as vector clocks, one cache line a transaction at a time.
//!
//! The entries of a clock do not depend on each other, so they are computed for a few rows at once: memory
//! stays at one line a transaction however many sessions there are, and cores take different rows. Short
//! rows have places of 16 bits, of which twice as many fit into a line.

use super::dependencies::Dependencies;
use crate::cancel::Cancel;
use crate::graph::Components;
use crate::observations::ABSENT;
use rayon::prelude::*;
use std::sync::Arc;

/// So many transactions are looked at between two checks for cancellation.
pub const PATIENCE: usize = 1 << 16;

/// A place in a row, from 1; 0 is before the first.
pub trait Place: Copy + Default + PartialOrd + Send + Sync {
    /// Beyond every place.
    const NEVER: Self;

    /// The place with this number.
    fn new(place: u32) -> Self;

    /// Its number.
    fn number(self) -> u32;
}

impl Place for i16 {
    const NEVER: Self = Self::MAX;

    #[inline]
    fn new(place: u32) -> Self {
        place as Self
    }

    #[inline]
    fn number(self) -> u32 {
        self as u32
    }
}

impl Place for i32 {
    const NEVER: Self = Self::MAX;

    #[inline]
    fn new(place: u32) -> Self {
        place as Self
    }

    #[inline]
    fn number(self) -> u32 {
        self as u32
    }
}

/// Rows up to this length have places of 16 bits.
pub const SHORT_ROW: usize = i16::MAX as usize - 1;

/// Part of a clock: for each of `W` rows how many of its transactions happen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub struct Line<P, const W: usize>(pub [P; W]);

impl<P: Place, const W: usize> Line<P, W> {
    /// Nothing happens before.
    #[must_use]
    pub fn zero() -> Self {
        Self([P::default(); W])
    }

    /// Takes the larger entries.
    #[inline]
    pub fn join(&mut self, other: &Self) {
        for lane in 0..W {
            self.0[lane] = if other.0[lane] > self.0[lane] { other.0[lane] } else { self.0[lane] };
        }
    }

    /// Whether some entry is larger than the other's.
    #[inline]
    #[must_use]
    pub fn exceeds(&self, other: &Self) -> bool {
        let mut any = false;
        for lane in 0..W {
            any |= self.0[lane] > other.0[lane];
        }
        any
    }
}

/// Clocks of all nodes for the `W` rows from `first` on.
pub struct Clocks<P, const W: usize> {
    /// The first of the rows.
    pub first: u32,
    /// One line a node.
    pub lines: Vec<Line<P, W>>,
    /// The number of each row, if only some of them are counted; otherwise empty.
    numbers: Arc<Vec<u32>>,
}

impl<P: Place, const W: usize> Clocks<P, W> {
    /// Computes the clocks along `order`, the components of session order and write-read.
    #[must_use]
    pub fn new(dependencies: &Dependencies<'_>, order: &Components, first: u32, cancel: &Cancel) -> Self {
        Self::of_some(dependencies, order, first, &Arc::default(), cancel)
    }

    /// The same where rows have other `numbers`.
    fn of_some(
        dependencies: &Dependencies<'_>,
        order: &Components,
        first: u32,
        numbers: &Arc<Vec<u32>>,
        cancel: &Cancel,
    ) -> Self {
        let lines = vec![Line::zero(); dependencies.node_count()];
        let mut clocks = Self { first, lines, numbers: Arc::clone(numbers) };
        for (count, group) in order.groups().enumerate() {
            if count.is_multiple_of(PATIENCE) && cancel.is_asked() {
                break;
            }
            clocks.group(dependencies, group);
        }
        clocks
    }

    fn group(&mut self, dependencies: &Dependencies<'_>, group: &[u32]) {
        let mut line = Line::zero();
        for &node in group {
            if let Some(before) = dependencies.row_predecessor(node) {
                self.learn(dependencies, before, &mut line);
            }
            for &predecessor in dependencies.reads_from.of(node) {
                self.learn(dependencies, predecessor, &mut line);
            }
        }
        for &node in group {
            self.lines[node as usize] = line;
        }
    }

    #[inline]
    fn learn(&self, dependencies: &Dependencies<'_>, predecessor: u32, line: &mut Line<P, W>) {
        line.join(&self.lines[predecessor as usize]);
        self.count(dependencies, predecessor, line);
    }

    /// Lets the clock count `node` itself, if it is in one of the rows.
    #[inline]
    pub fn count(&self, dependencies: &Dependencies<'_>, node: u32, line: &mut Line<P, W>) {
        let Some(&row) = dependencies.rows.get(node as usize) else { return };
        let number = self.numbers.get(row as usize).copied().unwrap_or(row);
        let lane = number.wrapping_sub(self.first) as usize;
        if lane < W {
            let place = P::new(node - dependencies.row_starts[row as usize] + 1);
            if place > line.0[lane] {
                line.0[lane] = place;
            }
        }
    }
}

/// How many places of 32 bits make a line.
const WIDTH: usize = 16;

/// Clocks that count some rows, all at once: for questions about any two transactions.
pub struct HappensBefore {
    /// The rows, in the order of their numbers.
    pub rows: Vec<u32>,
    numbers: Arc<Vec<u32>>,
    clocks: Vec<Clocks<i32, WIDTH>>,
}

impl HappensBefore {
    /// Computes them for `rows`.
    #[must_use]
    pub fn new(dependencies: &Dependencies<'_>, order: &Components, rows: Vec<u32>, cancel: &Cancel) -> Self {
        let mut numbers = vec![ABSENT; dependencies.row_starts.len() - 1];
        for (number, &row) in rows.iter().enumerate() {
            numbers[row as usize] = number as u32;
        }
        let numbers = Arc::new(numbers);
        let firsts: Vec<u32> = (0..rows.len() as u32).step_by(WIDTH).collect();
        let clocks = firsts
            .into_par_iter()
            .map(|first| Clocks::of_some(dependencies, order, first, &numbers, cancel))
            .collect();
        Self { rows, numbers, clocks }
    }

    /// How many rows can be counted in so many bytes.
    #[must_use]
    pub fn rows_in(dependencies: &Dependencies<'_>, bytes: usize) -> usize {
        let line = size_of::<Line<i32, WIDTH>>();
        (bytes / (line * dependencies.node_count().max(1))).max(1) * WIDTH
    }

    /// Whether `row` is counted.
    #[must_use]
    pub fn counts(&self, row: u32) -> bool {
        self.numbers[row as usize] != ABSENT
    }

    /// How many transactions of `row`, which is counted, happen before `node`.
    #[must_use]
    pub fn count(&self, node: u32, row: u32) -> u32 {
        let number = self.numbers[row as usize] as usize;
        self.clocks[number / WIDTH].lines[node as usize].0[number % WIDTH] as u32
    }

    /// Whether `before`, whose row is counted, happens before `after`.
    #[must_use]
    pub fn holds(&self, dependencies: &Dependencies<'_>, before: u32, after: u32) -> bool {
        let row = dependencies.rows[before as usize];
        self.count(after, row) > before - dependencies.row_starts[row as usize]
    }
}

/// The first row of each part of the clock, if a part has `width` rows.
pub fn first_rows(dependencies: &Dependencies<'_>, width: usize) -> impl Iterator<Item = u32> {
    (0..dependencies.row_starts.len() as u32 - 1).step_by(width)
}
