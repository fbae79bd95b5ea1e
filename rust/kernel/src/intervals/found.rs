//! What was found, how much of it, and how much could be decided at all.

use super::key::Reference;
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// What a mechanism is convicted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Name {
    InconsistentRead,
    LockViolation,
    FirstUpdaterViolation,
    CertifierViolation,
    ContradictoryDependencies,
}

impl Name {
    /// How many there are.
    pub const COUNT: usize = 5;
}

/// How a read is inconsistent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum ReadCase {
    Stale,
    Future,
    Aborted,
    Intermediate,
    ThinAir,
    Own,
    MissingRow,
    /// Each read may be right; both together show no single moment.
    Torn,
}

/// How locks were violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum LockCase {
    Row,
    Predicate,
    Commit,
}

/// What a certifier should have refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum CertifierCase {
    Ssi,
    TimestampOrder,
    OptimisticReads,
    OptimisticWrites,
}

/// One counterexample: the operations that show it, in the order that its case says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub name: Name,
    /// Which kind of it.
    pub case: u8,
    /// Operations that show it.
    pub operations: Vec<Reference>,
    /// The key that it is about.
    pub key: u32,
    /// What a read showed, if nobody known wrote it.
    pub shown: Option<Value>,
}

/// How many there are of one kind of dependency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependencies {
    /// All.
    pub total: u64,
    /// Those whose intervals overlap.
    pub overlapping: u64,
    /// Those that no mechanism decides, either.
    pub uncertain: u64,
}

impl Dependencies {
    pub(super) fn count(&mut self, is_overlapping: bool, is_uncertain: bool) {
        self.total += 1;
        self.overlapping += u64::from(is_overlapping);
        self.uncertain += u64::from(is_uncertain);
    }
}

/// How many were looked at, and how many of them may be right or wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Checked {
    pub checked: u64,
    pub undecided: u64,
}

impl Checked {
    pub(super) fn count(&mut self, is_undecided: bool) {
        self.checked += 1;
        self.undecided += u64::from(is_undecided);
    }
}

/// All that is counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Tally {
    /// Findings by name.
    pub counts: [u64; Name::COUNT],
    pub reads: Checked,
    pub locks: Checked,
    pub updates: Checked,
    pub certified: Checked,
    pub wr: Dependencies,
    pub ww: Dependencies,
    pub rw: Dependencies,
    /// Reads that nobody could judge: their writer may be among those who came too late.
    pub aside: u64,
}
