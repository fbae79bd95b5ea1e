//! Faults: named switches, each with its rate.

use super::StoredVersion;
use crate::generate::random::Random;
use crate::named_enum::named_enum;
use hashbrown::HashMap;

named_enum! {
    /// A fault, by what goes wrong. An isolation has the first four and the last nine, a profile all but the last nine.
    pub enum Fault {
        /// A read shows an older version than that of its snapshot.
        StaleSnapshot => "stale-snapshot",
        /// A read shows the newest committed version, not the one of its snapshot.
        MovingSnapshot => "moving-snapshot",
        /// A read shows a write that is not committed.
        DirtyRead => "dirty-read",
        /// A read shows a write that was rolled back.
        AbortedRead => "aborted-read",
        /// A read shows a write that its own transaction overwrote.
        IntermediateRead => "intermediate-read",
        /// A read shows a version that is committed only later.
        FutureRead => "future-read",
        /// A read does not show the write of its own transaction.
        LostOwnWrite => "lost-own-write",
        /// A statement that writes does not wait for a lock.
        MissingLock => "missing-lock",
        /// A read does not wait for its lock.
        MissingShareLock => "missing-share-lock",
        /// A lock is released while its transaction goes on.
        EarlyRelease => "early-release",
        /// A row is changed although it changed since the snapshot.
        MissedFirstUpdater => "missed-first-updater",
        /// A transaction commits although the certifier should refuse it.
        MissedCertifier => "missed-certifier",
        /// A write disappears with its commit.
        LostVersion => "lost-version",
        /// A range read leaves out a row.
        MissingRow => "missing-row",
        /// A transaction commits although another has written its rows.
        LostUpdate => "lost-update",
        /// A transaction commits although another has written what it read.
        WriteSkew => "write-skew",
        /// Half of the writes of a transaction become visible later.
        FracturedCommit => "fractured-commit",
        /// A second read of a row shows the newest version.
        NonRepeatableRead => "non-repeatable-read",
        /// From some read on, a transaction does not see what it wrote.
        ForgottenWrite => "forgotten-write",
        /// The timestamp and the snapshot of a transaction are older than the last commit of its session.
        ReorderedSession => "reordered-session",
        /// One of the writes of a transaction never becomes visible.
        DroppedWrite => "dropped-write",
        /// The start and commit timestamps of a transaction change places.
        TimestampSwap => "timestamp-swap",
        /// A commit timestamp comes from a clock that is behind.
        ClockSkew => "clock-skew",
    }
}

impl Fault {
    /// Whether it can strike under an isolation.
    #[must_use]
    pub fn is_of_isolations(self) -> bool {
        self <= Self::AbortedRead || self > Self::MissingRow
    }

    /// Whether it can strike under a profile.
    #[must_use]
    pub fn is_of_profiles(self) -> bool {
        self <= Self::MissingRow
    }
}

/// One occasion at which a fault of a profile struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StruckFault {
    /// The fault.
    pub fault: Fault,
    /// The number of the transaction.
    pub transaction: u32,
    /// The number of the operation.
    pub operation: u32,
    /// Whether clients of committed transactions can have seen it.
    pub is_visible: bool,
}

/// The faults that may strike, and the data that they need.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(super) random: Random,
    rates: [u32; Fault::ALL.len()],
    /// By row: the last version that was rolled back, and the last that its own transaction overwrote.
    pub(super) aborted: HashMap<u32, StoredVersion>,
    pub(super) intermediate: HashMap<u32, StoredVersion>,
    /// Rows whose newest version got lost: the place of the fault in `struck`, and when.
    pub(super) lost: HashMap<u32, (usize, u64)>,
    pub(super) struck: Vec<StruckFault>,
}

impl Faults {
    pub(super) fn new(seed: u64, rates: impl IntoIterator<Item = (Fault, u32)>) -> Self {
        let mut faults = Self {
            random: Random(seed),
            rates: [0; Fault::ALL.len()],
            aborted: HashMap::new(),
            intermediate: HashMap::new(),
            lost: HashMap::new(),
            struck: Vec::new(),
        };
        for (fault, rate) in rates {
            faults.rates[fault as usize] = rate;
        }
        faults
    }

    pub(crate) fn may(&self, fault: Fault) -> bool {
        self.rates[fault as usize] > 0
    }

    pub(crate) fn strikes(&mut self, fault: Fault) -> bool {
        self.may(fault) && self.random.below(1_000_000) < self.rates[fault as usize]
    }

    /// Marks the loss of a version as visible if a read at this instant should have shown it.
    pub(super) fn show_lost(&mut self, key: u32, at: u64) {
        if let Some(&(struck, lost)) = self.lost.get(&key)
            && at > lost
        {
            self.struck[struck].is_visible = true;
        }
    }

    /// One of so many.
    pub(super) fn one_of(&mut self, many: usize) -> usize {
        self.random.below(many as u32) as usize
    }
}
