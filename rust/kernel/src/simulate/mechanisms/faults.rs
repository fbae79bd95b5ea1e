//! Faults: what the database does wrong now and then.

use super::rows::Version;
use crate::generate::random::Random;
use hashbrown::HashMap;

/// What goes wrong, by the mechanism that it breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// A read shows the version before the one of its snapshot.
    StaleSnapshot,
    /// A read shows what is committed by then, not the snapshot of its transaction.
    MovingSnapshot,
    /// A read shows a write that is not committed.
    DirtyRead,
    /// A read shows a write that was rolled back.
    AbortedRead,
    /// A read shows a write that its own transaction overwrote.
    IntermediateRead,
    /// A read showed what was committed only later.
    FutureRead,
    /// A read does not show what its own transaction wrote.
    LostOwnWrite,
    /// A statement that writes does not wait for a lock.
    MissingLock,
    /// A read does not wait for its lock.
    MissingShareLock,
    /// A lock is released while its transaction goes on.
    EarlyRelease,
    /// A row is changed although it changed since the snapshot.
    MissedFirstUpdater,
    /// A transaction commits that the certifier should refuse.
    MissedCertifier,
    /// A write disappears with its commit.
    LostVersion,
    /// A range read leaves out a row.
    MissingRow,
}

impl Fault {
    /// Every one, by its number, and what it is called.
    pub const ALL: [(Self, &'static str); 14] = [
        (Self::StaleSnapshot, "stale-snapshot"),
        (Self::MovingSnapshot, "moving-snapshot"),
        (Self::DirtyRead, "dirty-read"),
        (Self::AbortedRead, "aborted-read"),
        (Self::IntermediateRead, "intermediate-read"),
        (Self::FutureRead, "future-read"),
        (Self::LostOwnWrite, "lost-own-write"),
        (Self::MissingLock, "missing-lock"),
        (Self::MissingShareLock, "missing-share-lock"),
        (Self::EarlyRelease, "early-release"),
        (Self::MissedFirstUpdater, "missed-first-updater"),
        (Self::MissedCertifier, "missed-certifier"),
        (Self::LostVersion, "lost-version"),
        (Self::MissingRow, "missing-row"),
    ];

    /// The fault that is called so.
    #[must_use]
    pub fn called(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|&(_, known)| known == name).map(|(fault, _)| fault)
    }

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// A fault that struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Struck {
    /// Which.
    pub fault: Fault,
    /// The number of the transaction.
    pub transaction: u32,
    /// The number of the operation.
    pub operation: u32,
    /// Whether something came of it that clients of committed transactions can have seen.
    pub is_visible: bool,
}

/// What may strike, and what it needs to know.
pub(super) struct Faults {
    random: Random,
    rates: [u32; Fault::ALL.len()],
    /// What was rolled back, and what was overwritten before it was committed, last of each row.
    pub(super) aborted: HashMap<u32, Version>,
    pub(super) intermediate: HashMap<u32, Version>,
    /// Rows whose newest version got lost: its place among all that struck, and when.
    pub(super) lost: HashMap<u32, (usize, u64)>,
    pub(super) struck: Vec<Struck>,
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
