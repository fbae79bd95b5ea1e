//! Sorters that benchmarks compare the pipeline with: one heap of all items, and Algorithm 1 of the paper.

use super::bounds::{Bounds, TooLate};
use super::sort::{Fetch, Sorter};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// An item in the heap; `place` is its place among all items.
#[derive(Debug, Clone)]
struct Entry<T> {
    before: i64,
    client: u32,
    place: u64,
    item: T,
}

impl<T> Entry<T> {
    fn key(&self) -> (i64, u32, u64) {
        (self.before, self.client, self.place)
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// One heap of single items; each item is put into it when it comes.
#[derive(Debug, Clone)]
pub struct Naive<T> {
    bounds: Bounds,
    heap: BinaryHeap<Reverse<Entry<T>>>,
    places: u64,
    max_waiting: usize,
}

impl<T> Naive<T> {
    /// A sorter without clients.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "like the other two")]
    pub fn new() -> Self {
        Self { bounds: Bounds::new(), heap: BinaryHeap::new(), places: 0, max_waiting: 0 }
    }

    fn insert(&mut self, client: u32, before: i64, item: T) {
        self.heap.push(Reverse(Entry { before, client, place: self.places, item }));
        self.places += 1;
        self.max_waiting = self.max_waiting.max(self.heap.len());
    }
}

impl<T> Sorter<T> for Naive<T> {
    fn push(&mut self, client: u32, before: i64, item: T) -> Result<(), TooLate> {
        self.bounds.push(client, before)?;
        self.insert(client, before, item);
        Ok(())
    }

    fn heartbeat(&mut self, client: u32, time: i64) {
        self.bounds.heartbeat(client, time);
    }

    fn finish(&mut self, client: u32) {
        self.bounds.finish(client);
    }

    fn dispatch(&mut self, mut each: impl FnMut(u32, &[(i64, T)])) {
        let Some(last) = self.bounds.last() else { return };
        let mut newest = None;
        while self.heap.peek().is_some_and(|Reverse(entry)| entry.before <= last) {
            let Some(Reverse(entry)) = self.heap.pop() else { break };
            newest = Some(entry.before);
            each(entry.client, &[(entry.before, entry.item)]);
        }
        self.bounds.passed(newest);
    }

    fn fetch(&self) -> Option<Fetch> {
        self.bounds.watermark().map(|_| Fetch::Everything)
    }

    fn max_waiting(&self) -> usize {
        self.max_waiting
    }
}

/// Algorithm 1: in each round all that waits in local buffers goes into a heap of single items.
#[derive(Debug, Clone)]
pub struct Plain<T> {
    locals: Vec<VecDeque<(i64, T)>>,
    global: Naive<T>,
    capacity: usize,
    waiting: usize,
    max_waiting: usize,
}

impl<T> Plain<T> {
    /// Local buffers of so many items each.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { locals: Vec::new(), global: Naive::new(), capacity, waiting: 0, max_waiting: 0 }
    }
}

impl<T> Sorter<T> for Plain<T> {
    fn push(&mut self, client: u32, before: i64, item: T) -> Result<(), TooLate> {
        self.global.bounds.push(client, before)?;
        let place = client as usize;
        if place >= self.locals.len() {
            self.locals.resize_with(place + 1, VecDeque::new);
        }
        self.locals[place].push_back((before, item));
        self.waiting += 1;
        self.max_waiting = self.max_waiting.max(self.waiting + self.global.heap.len());
        Ok(())
    }

    fn heartbeat(&mut self, client: u32, time: i64) {
        self.global.heartbeat(client, time);
    }

    fn finish(&mut self, client: u32) {
        self.global.finish(client);
    }

    fn dispatch(&mut self, each: impl FnMut(u32, &[(i64, T)])) {
        for (client, local) in self.locals.iter_mut().enumerate() {
            for (before, item) in local.drain(..) {
                self.global.insert(client as u32, before, item);
            }
        }
        self.waiting = 0;
        self.global.dispatch(each);
    }

    fn fetch(&self) -> Option<Fetch> {
        self.global.fetch().map(|_| Fetch::Each(self.capacity))
    }

    fn max_waiting(&self) -> usize {
        self.max_waiting
    }
}
