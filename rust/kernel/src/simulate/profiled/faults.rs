//! Faults: named switches, each with its rate.

use crate::generate::random::Random;
use crate::simulate::store::Version;
use hashbrown::HashMap;

/// A fault, by the mechanism that it breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// A read shows the version before the one of its snapshot.
    StaleSnapshot,
    /// A read shows the newest committed version, not the snapshot of its transaction.
    MovingSnapshot,
    /// A read shows a write that is not committed.
    DirtyRead,
    /// A read shows a write that was rolled back.
    AbortedRead,
    /// A read shows a write that its own transaction overwrote.
    IntermediateRead,
    /// A read shows a version that is committed only later.
    FutureRead,
    /// A read does not show the write of its own transaction.
    LostOwnWrite,
    /// A statement that writes does not wait for a lock.
    MissingLock,
    /// A read does not wait for its lock.
    MissingShareLock,
    /// A lock is released while its transaction goes on.
    EarlyRelease,
    /// A row is changed although it changed since the snapshot.
    MissedFirstUpdater,
    /// A transaction commits although the certifier should refuse it.
    MissedCertifier,
    /// A write disappears with its commit.
    LostVersion,
    /// A range read leaves out a row.
    MissingRow,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 14] = [
        Self::StaleSnapshot,
        Self::MovingSnapshot,
        Self::DirtyRead,
        Self::AbortedRead,
        Self::IntermediateRead,
        Self::FutureRead,
        Self::LostOwnWrite,
        Self::MissingLock,
        Self::MissingShareLock,
        Self::EarlyRelease,
        Self::MissedFirstUpdater,
        Self::MissedCertifier,
        Self::LostVersion,
        Self::MissingRow,
    ];

    /// The name in Python and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StaleSnapshot => "stale-snapshot",
            Self::MovingSnapshot => "moving-snapshot",
            Self::DirtyRead => "dirty-read",
            Self::AbortedRead => "aborted-read",
            Self::IntermediateRead => "intermediate-read",
            Self::FutureRead => "future-read",
            Self::LostOwnWrite => "lost-own-write",
            Self::MissingLock => "missing-lock",
            Self::MissingShareLock => "missing-share-lock",
            Self::EarlyRelease => "early-release",
            Self::MissedFirstUpdater => "missed-first-updater",
            Self::MissedCertifier => "missed-certifier",
            Self::LostVersion => "lost-version",
            Self::MissingRow => "missing-row",
        }
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
pub(super) struct Faults {
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

    pub(super) fn may(&self, fault: Fault) -> bool {
        self.rates[fault as usize] > 0
    }

    pub(super) fn strikes(&mut self, fault: Fault) -> bool {
        self.may(fault) && self.random.below(1_000_000) < self.rates[fault as usize]
    }

    /// One of so many.
    pub(super) fn one_of(&mut self, many: usize) -> usize {
        self.random.below(many as u32) as usize
    }
}
