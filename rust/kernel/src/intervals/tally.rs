//! Counts: findings, decisions and dependencies.

use super::finding::Mechanism;
use serde::{Deserialize, Serialize};

/// How many dependencies there are of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependencies {
    /// All dependencies.
    pub total: u64,
    /// Dependencies between operations whose intervals overlap.
    pub overlapping: u64,
    /// Dependencies that no mechanism decides.
    pub uncertain: u64,
}

impl Dependencies {
    pub(super) fn count(&mut self, is_overlapping: bool, is_uncertain: bool) {
        self.total += 1;
        self.overlapping += u64::from(is_overlapping);
        self.uncertain += u64::from(is_uncertain);
    }
}

/// How many reads, locks, writes or transactions were checked, and how many of them are undecided.
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

/// All counts of one judgement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Tally {
    findings: [u64; Mechanism::ALL.len()],
    pub(super) reads: Checked,
    pub(super) locks: Checked,
    pub(super) updates: Checked,
    pub(super) certified: Checked,
    pub wr: Dependencies,
    pub ww: Dependencies,
    pub rw: Dependencies,
    /// Reads that were not judged, because the transaction that wrote the value may have come too late.
    pub unjudged_reads: u64,
}

impl Tally {
    /// How many findings a mechanism has.
    #[must_use]
    pub fn findings(&self, mechanism: Mechanism) -> u64 {
        self.findings[mechanism as usize]
    }

    /// Counts a finding; how many the mechanism has now.
    pub(super) fn count_finding(&mut self, mechanism: Mechanism) -> u64 {
        self.findings[mechanism as usize] += 1;
        self.findings[mechanism as usize]
    }

    /// What was checked of a mechanism. Agreement is checked for each certain order of two versions; an order that
    /// is contradicted may have become uncertain, and counts as checked.
    #[must_use]
    pub fn checked(&self, mechanism: Mechanism) -> Checked {
        match mechanism {
            Mechanism::ConsistentRead => self.reads,
            Mechanism::MutualExclusion => self.locks,
            Mechanism::FirstUpdaterWins => self.updates,
            Mechanism::SerializationCertifier => self.certified,
            Mechanism::Agreement => {
                let certain = self.ww.total.saturating_sub(self.ww.uncertain);
                Checked { checked: certain.max(self.findings(mechanism)), undecided: 0 }
            }
        }
    }
}
