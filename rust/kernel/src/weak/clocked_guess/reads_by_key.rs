//! The external reads of a history key by key, and keys shared between cores.

use crate::observations::ABSENT;
use crate::weak::dependencies::Dependencies;
use std::ops::Range;

/// So many shares, for cores that take turns.
const SHARES: usize = 64;

/// External reads whose source is known: the reader and the source.
pub(super) struct ReadsByKey {
    offsets: Vec<u32>,
    reads: Vec<(u32, u32)>,
}

/// Some keys, and their writers key by key in the order of the last guess.
pub(super) struct Share {
    pub keys: Range<u32>,
    pub writers: Vec<u32>,
}

impl ReadsByKey {
    pub(super) fn new(dependencies: &Dependencies<'_>) -> Self {
        let keys = dependencies.history.keys.len();
        let numbers = 0..dependencies.read_count();
        let known = |&number: &usize| dependencies.read(number).source != ABSENT;
        let mut offsets = vec![0u32; keys + 1];
        for number in numbers.filter(known) {
            offsets[dependencies.read(number).key as usize + 1] += 1;
        }
        for key in 0..keys {
            offsets[key + 1] += offsets[key];
        }
        let mut next = offsets.clone();
        let mut reads = vec![(0, 0); offsets[keys] as usize];
        for node in 0..dependencies.len() as u32 {
            for read in dependencies.reads(node).filter(|read| read.source != ABSENT) {
                let place = &mut next[read.key as usize];
                reads[*place as usize] = (node, read.source);
                *place += 1;
            }
        }
        Self { offsets, reads }
    }

    pub(super) fn of(&self, key: u32) -> &[(u32, u32)] {
        &self.reads[self.offsets[key as usize] as usize..self.offsets[key as usize + 1] as usize]
    }

    /// All keys in shares with about equally many reads and writers each.
    pub(super) fn shares(&self, dependencies: &Dependencies<'_>) -> Vec<Share> {
        let target = (self.reads.len() + dependencies.write_count()) / SHARES + 1;
        let (mut shares, mut size) = (Vec::new(), 0);
        let mut share = Share { keys: 0..0, writers: Vec::new() };
        for key in 0..dependencies.history.keys.len() as u32 {
            share.keys.end = key + 1;
            share.writers.extend(dependencies.writers(key));
            size += self.of(key).len() + dependencies.writers(key).len();
            if size >= target {
                let next = Share { keys: key + 1..key + 1, writers: Vec::new() };
                shares.push(std::mem::replace(&mut share, next));
                size = 0;
            }
        }
        shares.push(share);
        shares
    }
}
