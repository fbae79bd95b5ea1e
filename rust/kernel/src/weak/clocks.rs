//! Happens-before as vector clocks, sixteen rows at a time: one cache line a transaction.
//!
//! The entries of a clock do not depend on each other, so memory stays at one line a transaction however
//! many sessions there are, and cores take different rows.

use super::dependencies::Dependencies;
use crate::cancel::Cancel;
use crate::graph::Components;

/// How many rows of the clock are computed at once.
pub const WIDTH: usize = 16;

/// Part of a clock: for each row how many of its transactions happen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub struct Line(pub [i32; WIDTH]);

impl Line {
    /// Nothing happens before.
    pub const ZERO: Self = Self([0; WIDTH]);

    /// Takes the larger entries.
    #[inline]
    pub fn join(&mut self, other: &Self) {
        for lane in 0..WIDTH {
            self.0[lane] = if other.0[lane] > self.0[lane] { other.0[lane] } else { self.0[lane] };
        }
    }

    /// Whether some entry is larger than the other's.
    #[inline]
    #[must_use]
    pub fn exceeds(&self, other: &Self) -> bool {
        let mut any = false;
        for lane in 0..WIDTH {
            any |= self.0[lane] > other.0[lane];
        }
        any
    }
}

/// Clocks of all nodes for the rows from `first` on.
pub struct Clocks {
    /// The first of the rows.
    pub first: u32,
    /// One line a node.
    pub lines: Vec<Line>,
}

impl Clocks {
    /// Computes the clocks along `order`, the components of session order and write-read.
    #[must_use]
    pub fn new(dependencies: &Dependencies<'_>, order: &Components, first: u32, cancel: &Cancel) -> Self {
        let mut clocks = Self { first, lines: vec![Line::ZERO; dependencies.node_count()] };
        for (count, group) in order.groups().enumerate() {
            if count & 0xffff == 0 && cancel.is_asked() {
                break;
            }
            clocks.group(dependencies, group);
        }
        clocks
    }

    fn group(&mut self, dependencies: &Dependencies<'_>, group: &[u32]) {
        let mut line = Line::ZERO;
        for &node in group {
            for predecessor in dependencies.graph(&[]).predecessors(node) {
                line.join(&self.lines[predecessor as usize]);
                self.count(dependencies, predecessor, &mut line);
            }
        }
        for &node in group {
            self.lines[node as usize] = line;
        }
    }

    /// Lets the clock count `node` itself, if it is in one of the rows.
    #[inline]
    pub fn count(&self, dependencies: &Dependencies<'_>, node: u32, line: &mut Line) {
        let Some(&row) = dependencies.rows.get(node as usize) else { return };
        let lane = row.wrapping_sub(self.first) as usize;
        if lane < WIDTH {
            let place = (node - dependencies.row_starts[row as usize]) as i32 + 1;
            line.0[lane] = place.max(line.0[lane]);
        }
    }
}

/// All clocks at once, for questions about any two transactions.
pub struct HappensBefore(Vec<Clocks>);

impl HappensBefore {
    /// Computes them.
    #[must_use]
    pub fn new(dependencies: &Dependencies<'_>, order: &Components, cancel: &Cancel) -> Self {
        use rayon::prelude::*;
        let firsts: Vec<u32> = first_rows(dependencies).collect();
        Self(firsts.into_par_iter().map(|first| Clocks::new(dependencies, order, first, cancel)).collect())
    }

    /// How many transactions of `row` happen before `node`.
    #[must_use]
    pub fn count(&self, node: u32, row: u32) -> u32 {
        self.0[row as usize / WIDTH].lines[node as usize].0[row as usize % WIDTH] as u32
    }

    /// Whether `before` happens before `after`.
    #[must_use]
    pub fn holds(&self, dependencies: &Dependencies<'_>, before: u32, after: u32) -> bool {
        let row = dependencies.rows[before as usize];
        self.count(after, row) > before - dependencies.row_starts[row as usize]
    }
}

/// The first row of each part of the clock.
pub fn first_rows(dependencies: &Dependencies<'_>) -> impl Iterator<Item = u32> {
    (0..dependencies.row_starts.len() as u32 - 1).step_by(WIDTH)
}
