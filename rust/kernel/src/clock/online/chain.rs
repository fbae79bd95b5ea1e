//! A sorted sequence that mostly grows at its end and is cut at its front; a late entry moves few others.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::VecDeque;

/// The largest number of entries in a chunk: an entry in the middle moves at most so many.
const CHUNK: usize = 256;
/// A chunk that was cut may have room for so many times its entries.
const SPARE: usize = 4;

/// Where an entry stands: its chunk, and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    chunk: usize,
    index: usize,
}

/// Entries in an order that only their owner knows.
#[derive(Debug)]
pub struct Chain<T> {
    /// None of them is empty.
    chunks: VecDeque<Vec<T>>,
    /// So many entries of the first chunk are gone: they are not removed one by one because that moves the rest.
    gone: usize,
}

impl<T> Default for Chain<T> {
    fn default() -> Self {
        Self { chunks: VecDeque::new(), gone: 0 }
    }
}

impl<T: Copy + Serialize> Serialize for Chain<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.iter().collect::<Vec<&T>>().serialize(to)
    }
}

impl<'de, T: Copy + Deserialize<'de>> Deserialize<'de> for Chain<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let entries = Vec::<T>::deserialize(from)?;
        Ok(Self { chunks: entries.chunks(CHUNK).map(<[T]>::to_vec).collect(), gone: 0 })
    }
}

impl<T: Copy> Chain<T> {
    /// The place behind all entries for which `is_before` holds; they stand in front of all others.
    pub fn partition(&self, mut is_before: impl FnMut(&T) -> bool) -> Place {
        // Most entries that are looked for stand near the end.
        let Some(last) = self.chunks.back() else { return Place { chunk: 0, index: 0 } };
        if last.last().is_some_and(&mut is_before) {
            return Place { chunk: self.chunks.len() - 1, index: last.len() };
        }
        let chunk = if self.chunks.len() > 1 && is_before(&last[0]) {
            self.chunks.len() - 1
        } else {
            self.partition_chunks(&mut is_before)
        };
        let first = self.first_of(chunk);
        let index = first + partition_from_end(&self.chunks[chunk][first..], is_before);
        self.normal(Place { chunk, index })
    }

    /// The last chunk that starts with an entry for which `is_before` holds; else the first.
    fn partition_chunks(&self, is_before: &mut impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (1, self.chunks.len());
        while low < high {
            let middle = low.midpoint(high);
            if is_before(&self.chunks[middle][0]) { low = middle + 1 } else { high = middle }
        }
        low - 1
    }

    /// Where the entries of a chunk begin.
    const fn first_of(&self, chunk: usize) -> usize {
        if chunk == 0 { self.gone } else { 0 }
    }

    /// The same place, at the start of a chunk where it was the end of one.
    fn normal(&self, place: Place) -> Place {
        let is_end = self.chunks.get(place.chunk).is_some_and(|chunk| chunk.len() == place.index);
        if is_end && place.chunk + 1 < self.chunks.len() {
            return Place { chunk: place.chunk + 1, index: 0 };
        }
        place
    }

    /// The entry at a place; none at the end.
    pub fn get(&self, place: Place) -> Option<&T> {
        self.chunks.get(place.chunk)?.get(place.index)
    }

    /// The entry at a place, to be changed.
    pub fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        self.chunks.get_mut(place.chunk)?.get_mut(place.index)
    }

    /// The place behind this one, where there is an entry.
    pub fn next(&self, place: Place) -> Place {
        self.normal(Place { index: place.index + 1, ..place })
    }

    /// The place in front of this one.
    pub fn before(&self, place: Place) -> Option<Place> {
        if place.index > self.first_of(place.chunk) {
            return Some(Place { index: place.index - 1, ..place });
        }
        let chunk = place.chunk.checked_sub(1)?;
        Some(Place { chunk, index: self.chunks[chunk].len() - 1 })
    }

    /// The first entry.
    pub fn first(&self) -> Option<&T> {
        self.chunks.front().map(|chunk| &chunk[self.gone])
    }

    /// All entries from a place on.
    pub fn entries(&self, place: Place) -> impl Iterator<Item = &T> {
        let first = self.chunks.get(place.chunk).map_or(&[][..], |chunk| &chunk[place.index..]);
        first.iter().chain(self.chunks.iter().skip(place.chunk + 1).flatten())
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten().skip(self.gone)
    }

    /// All entries, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().flatten().skip(self.gone)
    }

    /// All entries from a place on, to be changed.
    pub fn entries_mut(&mut self, place: Place) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().enumerate().skip(place.chunk).flat_map(move |(number, chunk)| {
            let first = if number == place.chunk { place.index } else { 0 };
            chunk[first..].iter_mut()
        })
    }

    /// Puts an entry in front of the one at `place`; where it stands then.
    pub fn insert(&mut self, place: Place, entry: T) -> Place {
        let Place { chunk: number, index } = place;
        let count = self.chunks.len();
        if count == 0 {
            self.chunks.push_back(vec![entry]);
            return Place { chunk: 0, index: 0 };
        }
        let chunk = &mut self.chunks[number];
        if chunk.len() < CHUNK {
            chunk.insert(index, entry);
            return place;
        }
        if number == 0 && self.gone > 0 {
            chunk.drain(..self.gone);
            let place = Place { chunk: 0, index: index - self.gone };
            chunk.insert(place.index, entry);
            self.gone = 0;
            return place;
        }
        if index == chunk.len() && number + 1 == count {
            self.chunks.push_back(vec![entry]);
            return Place { chunk: number + 1, index: 0 };
        }
        let rest = chunk.split_off(CHUNK / 2);
        self.chunks.insert(number + 1, rest);
        let place =
            if index > CHUNK / 2 { Place { chunk: number + 1, index: index - CHUNK / 2 } } else { place };
        self.chunks[place.chunk].insert(place.index, entry);
        place
    }

    /// Takes the first `count` entries away.
    pub fn cut(&mut self, mut count: usize, mut see: impl FnMut(T)) {
        while count > 0 {
            let Some(chunk) = self.chunks.front() else { return };
            let there = &chunk[self.gone..];
            let taken = there.len().min(count);
            there[..taken].iter().copied().for_each(&mut see);
            count -= taken;
            self.gone += taken;
            if self.gone == chunk.len() {
                self.chunks.pop_front();
                self.gone = 0;
            }
        }
        self.compact();
    }

    /// Gives the space of entries that are gone back when they are most of their chunk: a key that is seldom used
    /// would keep hundreds of them.
    fn compact(&mut self) {
        let Some(chunk) = self.chunks.front_mut() else {
            self.chunks = VecDeque::new();
            return;
        };
        if self.gone > chunk.len() / 2 {
            chunk.drain(..self.gone);
            self.gone = 0;
            if chunk.capacity() > SPARE * chunk.len() {
                chunk.shrink_to(2 * chunk.len());
            }
        }
    }
}

/// As `partition_point`, with the fewest steps for a place near the end.
fn partition_from_end<T>(entries: &[T], mut is_before: impl FnMut(&T) -> bool) -> usize {
    let (mut end, mut step) = (entries.len(), 1);
    while step < end {
        if is_before(&entries[end - step]) {
            let start = end - step + 1;
            return start + entries[start..end].partition_point(is_before);
        }
        end -= step;
        step *= 2;
    }
    entries[..end].partition_point(is_before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(chain: &Chain<u32>) -> Vec<u32> {
        chain.iter().copied().collect()
    }

    #[test]
    fn entries_in_any_order_stand_sorted_and_are_found_again() {
        let mut chain = Chain::default();
        let all: Vec<u32> = (0..2000u32).map(|number| number * 7919 % 2003).collect();
        for &number in &all {
            let place = chain.partition(|&other| other < number);
            let place = chain.insert(place, number);
            assert_eq!(chain.get(place), Some(&number));
        }
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert_eq!(numbers(&chain), sorted);
        for (index, &number) in sorted.iter().enumerate() {
            let place = chain.partition(|&other| other < number);
            assert_eq!(chain.get(place), Some(&number));
            assert_eq!(
                chain.before(place).map(|place| chain.get(place).copied()),
                index.checked_sub(1).map(|i| Some(sorted[i]))
            );
            assert_eq!(chain.entries(place).count(), sorted.len() - index);
        }
        let end = chain.partition(|_| true);
        assert_eq!((chain.get(end), chain.entries(end).count()), (None, 0));
    }

    #[test]
    fn a_chain_that_is_cut_and_filled_in_any_order_is_what_a_sorted_list_is() {
        let (mut chain, mut list, mut state) = (Chain::default(), Vec::<u32>::new(), 7u32);
        for round in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = round.saturating_sub(state >> 23) * 4 + (state & 3);
            let least = list.first().copied().unwrap_or(0);
            let number = number.max(least);
            let place = chain.partition(|&other| other < number);
            let at = list.partition_point(|&other| other < number);
            assert_eq!(chain.get(place), list.get(at));
            assert_eq!(
                chain.before(place).and_then(|before| chain.get(before)),
                at.checked_sub(1).map(|at| &list[at])
            );
            let place = chain.insert(place, number);
            list.insert(at, number);
            assert_eq!(chain.get(place), Some(&number));
            if list.len() > 700 {
                let count = (state >> 8) as usize % 500;
                let mut gone = Vec::new();
                chain.cut(count, |entry| gone.push(entry));
                assert_eq!(gone, list[..count]);
                list.drain(..count);
                assert_eq!(numbers(&chain), list);
            }
        }
        assert_eq!(numbers(&chain), list);
    }

    #[test]
    fn a_place_is_found_from_the_end_as_from_the_front() {
        for length in 0..40u32 {
            let entries: Vec<u32> = (0..length).collect();
            for bound in 0..=length {
                assert_eq!(partition_from_end(&entries, |&entry| entry < bound), bound as usize);
            }
        }
    }

    #[test]
    fn a_chain_that_is_always_short_takes_little_space() {
        let mut chain = Chain::default();
        for number in 0..1000u32 {
            let end = chain.partition(|_| true);
            chain.insert(end, number);
            let count = chain.iter().count();
            chain.cut(count.saturating_sub(2), |_| {});
            assert!(chain.chunks.iter().map(Vec::capacity).sum::<usize>() <= 8);
        }
        assert_eq!(numbers(&chain), [998, 999]);
    }

    #[test]
    fn the_front_can_be_cut_off_and_the_rest_grows_on() {
        let mut chain = Chain::default();
        for number in 0..1000u32 {
            let end = chain.partition(|_| true);
            chain.insert(end, number);
        }
        let mut gone = Vec::new();
        chain.cut(300, |entry| gone.push(entry));
        chain.cut(10, |entry| gone.push(entry));
        assert_eq!(gone, (0..310).collect::<Vec<_>>());
        assert_eq!(numbers(&chain), (310..1000).collect::<Vec<_>>());
        assert_eq!(chain.first(), Some(&310));
        chain.cut(2000, |_| {});
        assert_eq!(chain.first(), None);
    }
}
