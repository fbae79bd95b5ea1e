//! A heap of the first waiting item of each client.
//!
//! Not the library's: here the second smallest can be looked at, which tells how far a run goes.

use serde::{Deserialize, Serialize};

/// A time and a client, as one number that compares like them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Head(i128);

impl Head {
    pub(super) fn new(before: i64, client: u32) -> Self {
        Self((i128::from(before) << u32::BITS) | i128::from(client))
    }

    pub(super) fn before(self) -> i64 {
        (self.0 >> u32::BITS) as i64
    }

    pub(super) fn client(self) -> u32 {
        self.0 as u32
    }
}

/// The smallest is first, and no other is smaller than its parent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Heads(Vec<Head>);

impl Heads {
    pub(super) fn first(&self) -> Option<Head> {
        self.0.first().copied()
    }

    /// The smallest but one.
    pub(super) fn second(&self) -> Option<Head> {
        self.0.iter().skip(1).take(2).min().copied()
    }

    pub(super) fn push(&mut self, head: Head) {
        let mut hole = self.0.len();
        self.0.push(head);
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if self.0[parent] <= head {
                break;
            }
            self.0[hole] = self.0[parent];
            hole = parent;
        }
        self.0[hole] = head;
    }

    /// Puts another in the place of the first, or none.
    pub(super) fn replace_first(&mut self, next: Option<Head>) {
        match next {
            Some(head) => self.sink(head),
            None => {
                if let Some(head) = self.0.pop()
                    && !self.0.is_empty()
                {
                    self.sink(head);
                }
            }
        }
    }

    fn sink(&mut self, head: Head) {
        let heads = &mut self.0[..];
        let (mut hole, mut child) = (0, 1);
        while child < heads.len() {
            // An index past the end stands for its left neighbour; no branch to guess wrong.
            let right = (child + 1).min(heads.len() - 1);
            child += usize::from(heads[right] < heads[child]);
            if head <= heads[child] {
                break;
            }
            heads[hole] = heads[child];
            (hole, child) = (child, 2 * child + 1);
        }
        heads[hole] = head;
    }
}
