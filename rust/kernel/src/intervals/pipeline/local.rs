//! The buffer of one client: what it said, oldest first.

use serde::{Deserialize, Serialize};

/// Runs shorter than this are gone through one by one.
const SHORT: usize = 8;

/// Items wait from `head` on; those before it were dispatched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Local<T> {
    items: Vec<(i64, T)>,
    head: usize,
}

impl<T> Default for Local<T> {
    fn default() -> Self {
        Self { items: Vec::new(), head: 0 }
    }
}

impl<T> Local<T> {
    pub(super) fn push(&mut self, before: i64, item: T) {
        self.items.push((before, item));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn waiting(&self) -> &[(i64, T)] {
        &self.items[self.head..]
    }

    /// How many of those that wait are no newer than `last`.
    pub(super) fn run(&self, last: i64) -> usize {
        let waiting = self.waiting();
        let near = waiting.iter().take(SHORT).take_while(|item| item.0 <= last).count();
        if near < SHORT { near } else { near + gallop(&waiting[near..], last) }
    }

    /// Drops the first `length` of those that wait; the time of the next one.
    pub(super) fn consume(&mut self, length: usize, capacity: usize) -> Option<i64> {
        self.head += length;
        let left = self.items.len() - self.head;
        if left == 0 {
            self.items.clear();
            // What a burst took is given back.
            self.items.shrink_to(capacity);
            self.head = 0;
        } else if self.head > left.max(SHORT) {
            self.items.drain(..self.head);
            self.head = 0;
        }
        self.waiting().first().map(|item| item.0)
    }
}

/// How many are no newer than `last`, by steps that double: cheap if there are few.
fn gallop<T>(items: &[(i64, T)], last: i64) -> usize {
    let mut step = SHORT;
    while step < items.len() && items[step].0 <= last {
        step *= 2;
    }
    let end = step.min(items.len());
    items[..end].partition_point(|item| item.0 <= last)
}
