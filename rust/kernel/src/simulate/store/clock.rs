//! Where timestamps come from: one counter, the order of execution, true time, or hybrid logical clocks of several
//! nodes.
//!
//! The clock of a node follows its physical clock, which may be ahead of true time, and never falls behind a
//! timestamp that the node has seen (Kulkarni et al. 2014). A read shows its start timestamp to the node of its
//! key. A commit takes a timestamp above all timestamps that the nodes of its keys have seen. So no transaction
//! commits below a snapshot that was already read.

use crate::generate::random::Random;
use crate::history::Timestamp;

/// True time between two events, in nanoseconds.
pub(crate) const TICK: u64 = 1000;
/// Clocks hand out even numbers. The timestamps of faults are odd, so they never equal one of a clock.
const STRIDE: u64 = 2;
const LOGICAL_BITS: u32 = 20;

/// The kind of clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocks {
    /// One counter.
    Central,
    /// Transactions run one after the other; one may start as if before the last `reach` others.
    #[allow(missing_docs)]
    Serial { reach: u32 },
    /// True time, which the scheduler moves on.
    True,
    /// A hybrid logical clock on each node; their physical clocks differ by up to `skew` nanoseconds.
    #[allow(missing_docs)]
    Hybrid { nodes: u32, skew: u64 },
}

#[derive(Debug)]
struct Node {
    last: u64,
    /// How far its physical clock is ahead of true time.
    ahead: u64,
}

impl Node {
    fn physical(&self, clocks: Clocks, now: u64) -> u64 {
        match clocks {
            Clocks::Central | Clocks::Serial { .. } | Clocks::True => 0,
            Clocks::Hybrid { .. } => (now + self.ahead) << LOGICAL_BITS,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Clock {
    clocks: Clocks,
    nodes: Vec<Node>,
}

impl Clock {
    pub(crate) fn new(clocks: Clocks, random: &mut Random) -> Self {
        let nodes = match clocks {
            Clocks::Central | Clocks::Serial { .. } | Clocks::True => vec![Node { last: 0, ahead: 0 }],
            Clocks::Hybrid { nodes, skew } => {
                let ahead = |_| Node { last: 0, ahead: random.wide_below(skew + 1) };
                (0..nodes).map(ahead).collect()
            }
        };
        Self { clocks, nodes }
    }

    /// The start timestamp of a transaction that begins now.
    pub(crate) fn start(&mut self, session: u32, now: u64) -> u64 {
        match self.clocks {
            Clocks::Serial { .. } => after(self.nodes[0].last),
            _ => self.tick(session, now),
        }
    }

    /// A new timestamp from the node of `session`.
    pub(crate) fn tick(&mut self, session: u32, now: u64) -> u64 {
        let clocks = self.clocks;
        if clocks == Clocks::True {
            return now;
        }
        let node = self.node(session);
        node.last = (node.last + STRIDE).max(node.physical(clocks, now));
        node.last
    }

    /// No later transaction starts below this timestamp.
    pub(crate) fn floor(&self, now: u64) -> u64 {
        if let Clocks::Serial { reach } = self.clocks {
            return after(self.nodes[0].last).saturating_sub(STRIDE * u64::from(reach));
        }
        let floors = self.nodes.iter().map(|node| node.last.max(node.physical(self.clocks, now)));
        floors.min().unwrap_or_default()
    }

    /// No transaction in true time that starts later, or is open, looks behind this instant.
    pub(crate) fn raise_floor(&mut self, instant: u64) {
        self.nodes[0].last = instant;
    }

    /// The node of `key` sees a timestamp.
    pub(crate) fn show(&mut self, key: u32, timestamp: u64) {
        if matches!(self.clocks, Clocks::Hybrid { .. }) {
            let node = self.node(key);
            node.last = node.last.max(timestamp);
        }
    }

    /// A timestamp above all that the nodes of `session` and of `keys` have seen; they see it.
    pub(crate) fn commit(&mut self, session: u32, keys: impl Iterator<Item = u32> + Clone, now: u64) -> u64 {
        let mut commit = self.tick(session, now);
        if !matches!(self.clocks, Clocks::Hybrid { .. }) {
            return commit;
        }
        for key in keys.clone() {
            commit = commit.max(self.node(key).last + STRIDE);
        }
        self.show(session, commit);
        keys.for_each(|key| self.show(key, commit));
        commit
    }

    /// A timestamp after `start` and before `commit`, from a clock that is behind by up to the skew.
    pub(crate) fn behind(&self, start: u64, commit: u64, random: &mut Random) -> Option<u64> {
        let Clocks::Hybrid { skew, .. } = self.clocks else { return None };
        let behind = (1 + random.wide_below(skew.max(1))) << LOGICAL_BITS;
        Some(after(start).max(commit.saturating_sub(behind) | 1))
    }

    /// The timestamp as a history records it.
    pub(crate) fn timestamp(&self, timestamp: u64) -> Timestamp {
        match self.clocks {
            Clocks::Central | Clocks::Serial { .. } | Clocks::True => Timestamp::new(timestamp as i64, 0),
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

/// The timestamp right after one of a clock, and before the next.
pub(crate) fn after(timestamp: u64) -> u64 {
    timestamp + 1
}
