//! Faults: named switches, each with its rate.

use crate::generate::random::Random;
use crate::named_enum::named_enum;
use crate::simulate::store::Version;
use hashbrown::HashMap;

named_enum! {
    /// A fault, by the mechanism that it breaks.
    pub enum Fault {
        /// A read shows the version before the one of its snapshot.
        StaleSnapshot => "stale-snapshot",
        /// A read shows the newest committed version, not the snapshot of its transaction.
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
    }
}

/// One occasion at which a fault struck.
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
pub(crate) struct Faults {
    random: Random,
    rates: [u32; Fault::ALL.len()],
    /// By row: the last version that was rolled back, and the last that its own transaction overwrote.
    pub(super) aborted: HashMap<u32, Version>,
    pub(super) intermediate: HashMap<u32, Version>,
    /// Rows whose newest version got lost: the place of the fault in `struck`, and when.
    pub(super) lost: HashMap<u32, (usize, u64)>,
    pub(super) struck: Vec<StruckFault>,
}

impl Faults {
    pub(super) fn new(seed: u64, rates: &[(Fault, u32)]) -> Self {
        let mut faults = Self {
            random: Random(seed),
            rates: [0; Fault::ALL.len()],
            aborted: HashMap::new(),
            intermediate: HashMap::new(),
            lost: HashMap::new(),
            struck: Vec::new(),
        };
        for &(fault, rate) in rates {
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
