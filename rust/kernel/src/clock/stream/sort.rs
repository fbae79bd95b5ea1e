//! Sorting more than fits into memory: runs that are sorted by themselves, and their merge.
//!
//! A record is a key, by whose bytes it is ordered, and a payload. The runs lie in a store; the merge names the
//! run of which it needs the next bytes.

use rayon::prelude::*;

const LENGTH: usize = 4;
const KEY_LENGTH: usize = 4;
const HEAD: usize = LENGTH + KEY_LENGTH;

/// A key and its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'b> {
    /// Entries are ordered by these bytes.
    pub key: &'b [u8],
    /// Any bytes.
    pub payload: &'b [u8],
}

/// Collects entries until a run is full.
#[derive(Debug, Default)]
pub struct Run {
    bytes: Vec<u8>,
    /// The first bytes of each key, which mostly decide, and where its entry stands.
    starts: Vec<(u128, u32)>,
}

impl Run {
    /// Adds an entry.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) {
        self.starts.push((beginning(key), self.bytes.len() as u32));
        let length = (KEY_LENGTH + key.len() + payload.len()) as u32;
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(&(key.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(payload);
    }

    /// How many bytes the run has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The run in order; another one begins.
    pub fn take(&mut self) -> Vec<u8> {
        let Self { bytes, starts } = self;
        starts.par_sort_unstable_by(|&(one, at), &(other, place)| {
            one.cmp(&other).then_with(|| key_at(bytes, at as usize).cmp(key_at(bytes, place as usize)))
        });
        let mut sorted = Vec::with_capacity(bytes.len());
        for &(_, start) in starts.iter() {
            let start = start as usize;
            sorted.extend_from_slice(&bytes[start..start + size_at(bytes, start)]);
        }
        starts.clear();
        bytes.clear();
        sorted
    }
}

/// The first bytes of a key as a number that compares like them; a shorter key ends with zeros.
fn beginning(key: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let length = key.len().min(bytes.len());
    bytes[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(bytes)
}

fn size_at(bytes: &[u8], start: usize) -> usize {
    let length = bytes[start..start + LENGTH].try_into().map_or(0, u32::from_le_bytes);
    LENGTH + length as usize
}

fn key_at(bytes: &[u8], start: usize) -> &[u8] {
    entry_at(bytes, start).key
}

fn entry_at(bytes: &[u8], start: usize) -> Entry<'_> {
    let key = bytes[start + LENGTH..start + HEAD].try_into().map_or(0, u32::from_le_bytes) as usize;
    let (from, to) = (start + HEAD, start + size_at(bytes, start));
    Entry { key: &bytes[from..from + key], payload: &bytes[from + key..to] }
}

/// The bytes of a run that were read and not yet handed out.
#[derive(Debug, Default)]
struct Input {
    bytes: Vec<u8>,
    at: usize,
    is_over: bool,
}

impl Input {
    fn has_entry(&self) -> bool {
        let left = self.bytes.len() - self.at;
        left >= LENGTH && left >= size_at(&self.bytes, self.at)
    }

    fn entry(&self) -> Entry<'_> {
        entry_at(&self.bytes, self.at)
    }
}

/// Several runs as one.
#[derive(Debug)]
pub struct Merge {
    inputs: Vec<Input>,
    /// Runs of which the next entry is known, the first of all last.
    order: Vec<u32>,
    /// Runs of which it is not.
    waiting: Vec<u32>,
    /// The run whose entry was handed out.
    current: Option<u32>,
}

impl Merge {
    /// The merge of so many runs.
    #[must_use]
    pub fn new(runs: usize) -> Self {
        let inputs = (0..runs).map(|_| Input::default()).collect();
        Self { inputs, order: Vec::new(), waiting: (0..runs as u32).collect(), current: None }
    }

    /// The next bytes of a run; none if it is over.
    pub fn feed(&mut self, run: u32, bytes: &[u8]) {
        let input = &mut self.inputs[run as usize];
        input.bytes.drain(..input.at);
        input.at = 0;
        input.bytes.extend_from_slice(bytes);
        input.is_over |= bytes.is_empty();
    }

    /// Adds all entries that are there to `run`, in order; the run of which more is needed.
    pub fn write(&mut self, run: &mut Vec<u8>) -> Option<u32> {
        loop {
            match self.step() {
                Ok(Some(_)) => {
                    let input = &self.inputs[self.current.unwrap_or_default() as usize];
                    let end = input.at + size_at(&input.bytes, input.at);
                    run.extend_from_slice(&input.bytes[input.at..end]);
                }
                Ok(None) => return None,
                Err(needed) => return Some(needed),
            }
        }
    }

    /// The next entry of all, or none.
    ///
    /// # Errors
    /// The run of which more must be fed before.
    pub fn step(&mut self) -> Result<Option<Entry<'_>>, u32> {
        if let Some(run) = self.current.take() {
            let input = &mut self.inputs[run as usize];
            input.at += size_at(&input.bytes, input.at);
            self.waiting.push(run);
        }
        while let Some(&run) = self.waiting.last() {
            let input = &self.inputs[run as usize];
            if input.has_entry() {
                let key = input.entry().key;
                let place =
                    self.order.partition_point(|&other| self.inputs[other as usize].entry().key > key);
                self.order.insert(place, run);
            } else if !input.is_over {
                return Err(run);
            }
            self.waiting.pop();
        }
        self.current = self.order.pop();
        Ok(self.current.map(|run| self.inputs[run as usize].entry()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(runs: &[Vec<u8>], size: usize) -> Vec<Vec<u8>> {
        let mut merge = Merge::new(runs.len());
        let mut at = vec![0; runs.len()];
        let mut keys = Vec::new();
        loop {
            match merge.step() {
                Ok(Some(entry)) => {
                    assert_eq!(entry.payload, [entry.key, b"!"].concat());
                    keys.push(entry.key.to_vec());
                }
                Ok(None) => return keys,
                Err(run) => {
                    let (bytes, at) = (&runs[run as usize], &mut at[run as usize]);
                    let end = (*at + size).min(bytes.len());
                    merge.feed(run, &bytes[*at..end]);
                    *at = end;
                }
            }
        }
    }

    #[test]
    fn runs_of_any_size_read_in_blocks_of_any_size_merge_to_the_same_order() {
        let keys: Vec<Vec<u8>> =
            (0..50).map(|number| vec![(number * 37 % 251) as u8; 1 + number % 3]).collect();
        let mut expected = keys.clone();
        expected.sort();
        for (entries, size) in [(1, 1), (7, 5), (100, 1000)] {
            let (mut run, mut runs) = (Run::default(), Vec::new());
            for (number, key) in keys.iter().enumerate() {
                run.push(key, &[key, &b"!"[..]].concat());
                if number % entries == entries - 1 {
                    runs.push(run.take());
                }
            }
            runs.push(run.take());
            assert_eq!(merged(&runs, size), expected);
        }
    }

    #[test]
    fn no_runs_are_over_at_once() {
        assert_eq!(Merge::new(0).step(), Ok(None));
    }
}
