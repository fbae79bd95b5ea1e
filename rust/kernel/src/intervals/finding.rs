//! Findings: which mechanism did not work, in which way, and the operations that show it.

use super::key::Reference;
use crate::named_enum::named_enum;
use crate::value::Value;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The mechanisms that are judged; agreement means that no mechanism contradicts another one.
    #[allow(missing_docs)]
    pub enum Mechanism {
        ConsistentRead => "consistent-read",
        MutualExclusion => "mutual-exclusion",
        FirstUpdaterWins => "first-updater-wins",
        SerializationCertifier => "serialization-certifier",
        Agreement => "agreement",
    }
}

impl Mechanism {
    /// The name of the anomaly that shows that the mechanism did not work.
    #[must_use]
    pub const fn anomaly(self) -> &'static str {
        match self {
            Self::ConsistentRead => "inconsistent-read",
            Self::MutualExclusion => "lock-violation",
            Self::FirstUpdaterWins => "first-updater-violation",
            Self::SerializationCertifier => "certifier-violation",
            Self::Agreement => "contradictory-dependencies",
        }
    }
}

named_enum! {
    /// How a read is inconsistent.
    #[allow(missing_docs)]
    pub enum ReadCase {
        Stale => "stale",
        Future => "future",
        Aborted => "aborted",
        Intermediate => "intermediate",
        ThinAir => "thin-air",
        Own => "own",
        MissingRow => "missing-row",
        /// Each of two reads may be right; no single snapshot shows both.
        Torn => "torn",
    }
}

named_enum! {
    /// How locks were violated.
    #[allow(missing_docs)]
    pub enum LockCase {
        Row => "row",
        Predicate => "predicate",
        Commit => "commit",
    }
}

named_enum! {
    /// Which certifier should have refused a transaction.
    #[allow(missing_docs)]
    pub enum CertifierCase {
        Ssi => "ssi",
        TimestampOrder => "timestamp-order",
        OptimisticReads => "optimistic-reads",
        OptimisticWrites => "optimistic-writes",
    }
}

named_enum! {
    /// The evidence that orders two versions.
    #[allow(missing_docs)]
    pub enum OrderSource {
        Intervals => "intervals",
        Locks => "locks",
        Snapshots => "snapshots",
        Reads => "reads",
    }
}

/// What a finding shows; each case belongs to one mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Case {
    Read(ReadCase),
    Lock(LockCase),
    FirstUpdater,
    Certifier(CertifierCase),
    /// Two sources order the same versions in opposite ways.
    Orders(OrderSource, OrderSource),
}

impl Case {
    /// The mechanism that did not work.
    #[must_use]
    pub const fn mechanism(self) -> Mechanism {
        match self {
            Self::Read(_) => Mechanism::ConsistentRead,
            Self::Lock(_) => Mechanism::MutualExclusion,
            Self::FirstUpdater => Mechanism::FirstUpdaterWins,
            Self::Certifier(_) => Mechanism::SerializationCertifier,
            Self::Orders(..) => Mechanism::Agreement,
        }
    }

    /// The name of the case among those of its mechanism.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Read(case) => case.as_str().to_owned(),
            Self::Lock(case) => case.as_str().to_owned(),
            Self::FirstUpdater => "overlap".to_owned(),
            Self::Certifier(case) => case.as_str().to_owned(),
            Self::Orders(one, other) => format!("{}-{}", one.as_str(), other.as_str()),
        }
    }
}

/// One counterexample: the operations that show it, in the order that its case requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it shows.
    pub case: Case,
    /// The operations that show it.
    pub operations: Vec<Reference>,
    /// The key that it is about.
    pub key: u32,
    /// The value that a read shows if no known transaction wrote it.
    pub unexplained: Option<Value>,
}

/// The snapshot that an operation of a finding was judged against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotUsed {
    /// The operation that took the snapshot; the operation itself if that is not known.
    pub operation: u32,
    /// When the snapshot was taken, from and to, if that is not the interval of this operation.
    pub interval: Option<(i64, Option<i64>)>,
}

/// A finding with operations as they are numbered in a history, each with its snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ShownFinding {
    pub case: Case,
    pub operations: Vec<u32>,
    pub snapshots: Vec<SnapshotUsed>,
}
