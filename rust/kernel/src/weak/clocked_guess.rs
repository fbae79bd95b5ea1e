//! The causal level by guesses that vector clocks check: for histories that were not recorded in the order in which
//! they ran, and for those with reads of older versions.
//!
//! As in [`super::guessed_order`], a commit order is guessed, what it misses are demands, and with them another order is
//! guessed. Here one look at a clock tells whether a writer happens before a reader, so that many doubts cost little,
//! and a key whose writers keep their order is not looked at again. Each guess misses a small part of what the one
//! before missed, while the exact search walks over the writers of every key once for each session.

mod reads_by_key;

use super::clocks::{Clocks, Place, SHORT_ROW, first_rows};
use super::dependencies::Dependencies;
use super::guessed_order::likely_order;
use super::reader::Reader;
use crate::cancel::Cancel;
use crate::graph::{Components, Edges};
use crate::observations::INITIAL;
use rayon::prelude::*;
use reads_by_key::{ReadsByKey, Share};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows of a part of the clock with places of 16 bits, and with places of 32 bits.
const SHORT_WIDTH: usize = 32;
const LONG_WIDTH: usize = 16;
/// After so many guesses they are not worth it.
const GUESSES: usize = 24;
/// So many misses need not become fewer from one guess to the next.
const FEW_MISSES: usize = 64;
/// So many writers in doubt are looked at for each read on average.
const DOUBTS: usize = 32;

/// Whether the clocks of all rows take no more memory than the exact search, which holds two lines of each transaction
/// on each core.
#[must_use]
pub fn fits(dependencies: &Dependencies<'_>) -> bool {
    let width = if dependencies.longest_row() <= SHORT_ROW { SHORT_WIDTH } else { LONG_WIDTH };
    (dependencies.row_starts.len() - 1).div_ceil(width) <= 2 * rayon::current_num_threads()
}

/// A commit order that shows the causal level; none if the level is violated, or the guesses are not worth it.
///
/// `order` are the components of session order and write-read, which have no cycle.
#[must_use]
pub fn find(dependencies: &Dependencies<'_>, order: &Components, cancel: &Cancel) -> Option<Components> {
    if dependencies.longest_row() <= SHORT_ROW {
        return of_width::<i16, SHORT_WIDTH>(dependencies, order, cancel);
    }
    of_width::<i32, LONG_WIDTH>(dependencies, order, cancel)
}

fn of_width<P: Place, const W: usize>(
    dependencies: &Dependencies<'_>,
    order: &Components,
    cancel: &Cancel,
) -> Option<Components> {
    let firsts: Vec<u32> = first_rows(dependencies, W).collect();
    let (clocks, reads) = rayon::join(
        || firsts.into_par_iter().map(|first| Clocks::new(dependencies, order, first, cancel)).collect(),
        || ReadsByKey::new(dependencies),
    );
    let mut shares = reads.shares(dependencies);
    let check = Check::<P, W> { dependencies, clocks, reads, cancel };
    let first = likely_order(dependencies);
    let (mut pairs, mut misses) = (Vec::new(), None);
    for _ in 0..GUESSES {
        let demands = Edges::new(dependencies.len(), pairs.clone());
        let guess = super::commit_order(dependencies, &demands).components_from(&first);
        if guess.is_cyclic() {
            return None;
        }
        let mut missed = check.missed(&guess, &mut shares, misses.is_none())?;
        if missed.is_empty() {
            return Some(guess);
        }
        if misses.is_some_and(|misses| missed.len() > misses / 2 + FEW_MISSES) {
            return None;
        }
        misses = Some(missed.len());
        pairs.append(&mut missed);
    }
    None
}

/// What guesses are held against.
struct Check<'d, 'h, P, const W: usize> {
    dependencies: &'d Dependencies<'h>,
    /// The clocks of all rows.
    clocks: Vec<Clocks<P, W>>,
    reads: ReadsByKey,
    cancel: &'d Cancel,
}

/// Where the nodes stand in a guess, and how many more writers may be in doubt.
struct Guess {
    places: Vec<u32>,
    is_first: bool,
    doubts_left: AtomicUsize,
}

impl Guess {
    fn new(order: &[u32], is_first: bool, doubts: usize) -> Self {
        let mut places = vec![0; order.len()];
        for (place, &node) in order.iter().enumerate() {
            places[node as usize] = place as u32;
        }
        Self { places, is_first, doubts_left: AtomicUsize::new(doubts) }
    }

    #[inline]
    fn place(&self, node: u32) -> u32 {
        self.places[node as usize]
    }

    /// Whether so many writers in doubt are not too many.
    fn allows(&self, doubts: usize) -> bool {
        let take = |left: usize| left.checked_sub(doubts);
        self.doubts_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Brings the writers of a key into the order of the guess; the places among them that hold others than before,
    /// all of them in the first guess.
    fn reorder(&self, writers: &mut [u32]) -> Range<usize> {
        let place = |writer: &u32| self.place(*writer);
        if writers.is_sorted_by_key(place) {
            return if self.is_first { 0..writers.len() } else { 0..0 };
        }
        let before = writers.to_vec();
        writers.sort_by_key(place);
        if self.is_first {
            return 0..writers.len();
        }
        let is_new = |&number: &usize| writers[number] != before[number];
        let first = (0..writers.len()).find(is_new).unwrap_or_default();
        first..(first..writers.len()).rfind(is_new).map_or(first, |last| last + 1)
    }
}

impl<P: Place, const W: usize> Check<'_, '_, P, W> {
    /// The demands that a guess misses, as (t1, t2): t2 must precede t1. None if the level is violated or there are
    /// too many doubts.
    fn missed(&self, guess: &Components, shares: &mut [Share], is_first: bool) -> Option<Vec<(u32, u32)>> {
        let doubts = self.dependencies.read_count().saturating_mul(DOUBTS);
        let guess = Guess::new(&guess.order, is_first, doubts);
        let found = shares.par_iter_mut().map(|share| self.missed_in(&guess, share));
        Some(found.collect::<Option<Vec<_>>>()?.concat())
    }

    fn missed_in(&self, guess: &Guess, share: &mut Share) -> Option<Vec<(u32, u32)>> {
        let mut missed = Vec::new();
        let mut start = 0;
        for key in share.keys.clone() {
            if self.cancel.is_asked() {
                return None;
            }
            let end = start + self.dependencies.writers(key).len();
            self.key(guess, key, &mut share.writers[start..end], &mut missed)?;
            start = end;
        }
        Some(missed)
    }

    /// Looks at the reads of a key whose source, or a writer behind it, changed its place among the writers: the
    /// others miss as little as they did in the guess before.
    fn key(&self, guess: &Guess, key: u32, writers: &mut [u32], missed: &mut Vec<(u32, u32)>) -> Option<()> {
        let changed = guess.reorder(writers);
        if changed.is_empty() {
            return Some(());
        }
        let places: Vec<u32> = writers.iter().map(|&writer| guess.place(writer)).collect();
        let changed = places[changed.start]..=places[changed.end - 1];
        let mut doubts = 0;
        for &(reader, source) in self.reads.of(key) {
            let is_looked_at =
                if source == INITIAL { guess.is_first } else { changed.contains(&guess.place(source)) };
            if !is_looked_at {
                continue;
            }
            let between = between(guess, &places, reader, source);
            doubts += between.len();
            let newest = writers[between].iter().rev().copied();
            let mut newest = newest.filter(|&writer| self.happens_before(writer, reader));
            if let Some(newer) = newest.find(|&writer| self.is_missed(key, reader, source, writer)) {
                if source == INITIAL {
                    return None;
                }
                missed.push((source, newer));
            }
        }
        guess.allows(doubts).then_some(())
    }

    #[inline]
    fn happens_before(&self, writer: u32, reader: u32) -> bool {
        let row = self.dependencies.rows[writer as usize] as usize;
        let line = &self.clocks[row / W].lines[reader as usize];
        line.0[row % W].number() > writer - self.dependencies.row_starts[row]
    }

    /// Whether a writer that happens before the reader should have been read instead of the source.
    fn is_missed(&self, key: u32, reader: u32, source: u32, newer: u32) -> bool {
        let dependencies = self.dependencies;
        let is_plain = !dependencies.varying[reader as usize] && !dependencies.observations.has_lists();
        is_plain || Reader::new(dependencies, reader).class(key, source, newer).is_some()
    }
}

/// Where the writers at `places` stand that come after the source and before the reader.
#[inline]
fn between(guess: &Guess, places: &[u32], reader: u32, source: u32) -> Range<usize> {
    let behind = match source {
        INITIAL => 0,
        _ => places.partition_point(|&place| place <= guess.place(source)),
    };
    let reader = guess.place(reader);
    behind..behind + places[behind..].partition_point(|&place| place < reader)
}

#[cfg(test)]
mod tests;
