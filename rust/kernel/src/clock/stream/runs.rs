//! Sorted runs in a store: written one by one, merged when they are many, and read as one sorted sequence.

use super::sort::{Entry, Merge};
use super::{RunStore, StreamLimits};
use crate::cancel::Cancel;
use std::ops::ControlFlow;

/// So many bytes of merged runs are written at once.
const MERGED_BYTES: usize = 1 << 16;

/// The runs of one history.
#[derive(Debug)]
pub struct Runs<S> {
    store: S,
    limits: StreamLimits,
    /// How many numbers were given to runs.
    numbered: u32,
    /// The sorted runs.
    sorted: Vec<u32>,
}

impl<S: RunStore> Runs<S> {
    pub fn new(store: S, limits: StreamLimits) -> Self {
        Self { store, limits, numbered: 0, sorted: Vec::new() }
    }

    pub const fn limits(&self) -> StreamLimits {
        self.limits
    }

    pub fn store(&mut self) -> &mut S {
        &mut self.store
    }

    /// The number of a run that does not exist yet.
    pub const fn new_run(&mut self) -> u32 {
        self.numbered += 1;
        self.numbered
    }

    /// Adds a sorted run.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        let run = self.new_run();
        self.store.append(run, bytes)?;
        self.sorted.push(run);
        Ok(())
    }

    /// Merges the first runs into one until all can be read at the same time.
    pub fn reduce(&mut self, cancel: &Cancel) -> Result<(), S::Error> {
        while self.sorted.len() > self.limits.merged_runs {
            let some: Vec<u32> = self.sorted.drain(..self.limits.merged_runs).collect();
            let merged = self.new_run();
            let mut reader = MergeReader::new(&some);
            let mut bytes = Vec::new();
            while let Some(needed) = reader.merge.write(&mut bytes) {
                if cancel.is_asked() {
                    return Ok(());
                }
                if bytes.len() > MERGED_BYTES {
                    self.store.append(merged, &bytes)?;
                    bytes.clear();
                }
                self.feed(&mut reader, needed)?;
            }
            self.store.append(merged, &bytes)?;
            self.sorted.push(merged);
            for run in some {
                self.store.remove(run)?;
            }
        }
        Ok(())
    }

    fn feed(&mut self, reader: &mut MergeReader, needed: u32) -> Result<(), S::Error> {
        let (run, offset) = &mut reader.places[needed as usize];
        reader.block.clear();
        self.store.read(*run, *offset, self.limits.block_bytes, &mut reader.block)?;
        *offset += reader.block.len() as u64;
        reader.merge.feed(needed, &reader.block);
        Ok(())
    }

    /// A reader of all runs from their beginning.
    pub fn reader(&self) -> MergeReader {
        MergeReader::new(&self.sorted)
    }

    /// Shows the entries that are in memory to `see`, and reads the next block. Whether the reader goes on: not
    /// after the last entry, and not if `see` stops it.
    pub fn read_block(
        &mut self,
        reader: &mut MergeReader,
        mut see: impl FnMut(&Entry<'_>) -> ControlFlow<()>,
    ) -> Result<bool, S::Error> {
        loop {
            match reader.merge.step() {
                Ok(Some(entry)) => {
                    if see(&entry).is_break() {
                        return Ok(false);
                    }
                }
                Ok(None) => return Ok(false),
                Err(needed) => {
                    self.feed(reader, needed)?;
                    return Ok(true);
                }
            }
        }
    }
}

/// Where a merge has read to in each of its runs.
#[derive(Debug)]
pub struct MergeReader {
    merge: Merge,
    places: Vec<(u32, u64)>,
    block: Vec<u8>,
}

impl MergeReader {
    fn new(runs: &[u32]) -> Self {
        let places = runs.iter().map(|&run| (run, 0)).collect();
        Self { merge: Merge::new(runs.len()), places, block: Vec::new() }
    }
}
