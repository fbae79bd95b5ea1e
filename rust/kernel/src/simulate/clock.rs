//! Where timestamps come from: one oracle, or hybrid logical clocks of several nodes.
//!
//! A node's clock follows its physical one, which may be ahead of true time, and never falls behind a timestamp
//! that the node has seen (Kulkarni et al. 2014). Whoever reads a key shows his start timestamp to its node, and
//! whoever commits takes a timestamp above all that the nodes of his keys have seen. So nobody commits below a
//! snapshot that has already been read.

use super::Clocks;
use crate::generate::random::Random;
use crate::history::Timestamp;

/// True time between two events, in nanoseconds.
pub(super) const TICK: u64 = 1000;
/// Clocks hand out even numbers: what a fault makes up is odd, and never one of theirs.
const STRIDE: u64 = 2;
const LOGICAL_BITS: u32 = 20;

struct Node {
    last: u64,
    /// How far its physical clock is ahead of true time.
    ahead: u64,
}

impl Node {
    fn physical(&self, clocks: Clocks, now: u64) -> u64 {
        match clocks {
            Clocks::Central => 0,
            Clocks::Hybrid { .. } => (now + self.ahead) << LOGICAL_BITS,
        }
    }
}

pub(super) struct Clock {
    clocks: Clocks,
    nodes: Vec<Node>,
}

impl Clock {
    pub(super) fn new(clocks: Clocks, random: &mut Random) -> Self {
        let nodes = match clocks {
            Clocks::Central => vec![Node { last: 0, ahead: 0 }],
            Clocks::Hybrid { nodes, skew } => {
                let ahead = |_| Node { last: 0, ahead: random.wide_below(skew + 1) };
                (0..nodes).map(ahead).collect()
            }
        };
        Self { clocks, nodes }
    }

    /// A new timestamp from the node of `session`.
    pub(super) fn tick(&mut self, session: u32, now: u64) -> u64 {
        let clocks = self.clocks;
        let node = self.node(session);
        node.last = (node.last + STRIDE).max(node.physical(clocks, now));
        node.last
    }

    /// No timestamp that is still to come is lower.
    pub(super) fn floor(&self, now: u64) -> u64 {
        let floors = self.nodes.iter().map(|node| node.last.max(node.physical(self.clocks, now)));
        floors.min().unwrap_or_default()
    }

    /// The node of `key` sees a timestamp.
    pub(super) fn show(&mut self, key: u32, timestamp: u64) {
        let node = self.node(key);
        node.last = node.last.max(timestamp);
    }

    /// A timestamp above all that the nodes of `session` and of `keys` have seen; they see it.
    pub(super) fn commit(&mut self, session: u32, keys: impl Iterator<Item = u32> + Clone, now: u64) -> u64 {
        let mut commit = self.tick(session, now);
        if self.clocks == Clocks::Central {
            return commit;
        }
        for key in keys.clone() {
            commit = commit.max(self.node(key).last + STRIDE);
        }
        self.show(session, commit);
        keys.for_each(|key| self.show(key, commit));
        commit
    }

    /// A timestamp before `commit`, as a clock would show it that is behind by up to the skew, but after `start`.
    pub(super) fn behind(&self, start: u64, commit: u64, random: &mut Random) -> Option<u64> {
        let Clocks::Hybrid { skew, .. } = self.clocks else { return None };
        let behind = (1 + random.wide_below(skew.max(1))) << LOGICAL_BITS;
        Some(after(start).max(commit.saturating_sub(behind) | 1))
    }

    /// As it is recorded.
    pub(super) fn timestamp(&self, timestamp: u64) -> Timestamp {
        match self.clocks {
            Clocks::Central => Timestamp::new(timestamp as i64, 0),
            Clocks::Hybrid { .. } => {
                let logical = timestamp & ((1 << LOGICAL_BITS) - 1);
                Timestamp::new((timestamp >> LOGICAL_BITS) as i64, logical as i64)
            }
        }
    }

    fn node(&mut self, number: u32) -> &mut Node {
        let place = number as usize % self.nodes.len();
        &mut self.nodes[place]
    }
}

/// A timestamp right after one of a clock, and before the next.
pub(super) fn after(timestamp: u64) -> u64 {
    timestamp + 1
}
