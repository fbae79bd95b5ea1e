//! Everything that a judgement of one level says.

use super::replay_findings::InternalMismatch;
use super::{ClockAnomaly, NOTHING, VersionClass};
use crate::history::NO_KEY;
use crate::value::Value;

/// One contradiction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub anomaly: ClockAnomaly,
    /// The transaction that reads, or starts too early; of a conflict the one that committed first.
    pub transaction: u32,
    /// The other transaction; [`NOTHING`] if there is none.
    pub other: u32,
    /// The key.
    pub key: u32,
    /// The read; of a conflict the write of the first transaction.
    pub operation: u32,
    /// The operation that it contradicts: the write that the read should have shown ([`NOTHING`]: the initial
    /// value), the access before it; of a conflict the write of the second transaction.
    pub against: u32,
    /// What a stale read of a list should have shown, element by element.
    pub expected: Vec<Value>,
    /// The class of the version that a stale read shows, and the write that installed it.
    pub shown: Option<(VersionClass, u32)>,
}

impl Finding {
    /// A contradiction that timestamps alone show.
    pub(super) fn between(anomaly: ClockAnomaly, transaction: u32, other: u32) -> Self {
        let (key, operation, against) = (NO_KEY, NOTHING, NOTHING);
        Self { anomaly, transaction, other, key, operation, against, expected: Vec::new(), shown: None }
    }
}

impl From<&InternalMismatch> for Finding {
    fn from(mismatch: &InternalMismatch) -> Self {
        let &InternalMismatch { transaction, read, key, against, .. } = mismatch;
        let anomaly = mismatch.anomaly();
        Self { key, operation: read, against, ..Self::between(anomaly, transaction, NOTHING) }
    }
}

/// Everything found, and everything that could not be judged.
#[derive(Debug, Default)]
pub struct Judgement {
    /// By [`ClockAnomaly`].
    pub counts: [u64; ClockAnomaly::COUNT],
    /// The first of each anomaly, in the order of events.
    pub findings: Vec<Finding>,
    /// Timestamps that belong to several transactions.
    pub ties: u64,
    /// Transactions that count as committed and lack a timestamp that the level needs.
    pub untimed: u64,
    /// Keys that were not judged because some transaction deletes them.
    pub deleted_keys: Vec<u32>,
    /// Keys that are both written and appended to.
    pub mixed_keys: Vec<u32>,
    /// Keys that a transaction without timestamps wrote.
    pub untimed_keys: u64,
    /// Reads that are right if a transaction took effect of which the client never learned the end.
    pub repeated_reads: u64,
    /// The keys of these reads.
    pub repeated_keys: Vec<u32>,
    /// Range reads, which are not judged.
    pub range_reads: u64,
}

impl Judgement {
    /// Counts a finding, and keeps it if it is one of the first of its anomaly.
    pub(super) fn note(&mut self, max_anomalies: usize, finding: Finding) {
        let count = &mut self.counts[finding.anomaly as usize];
        *count += 1;
        if *count <= max_anomalies as u64 {
            self.findings.push(finding);
        }
    }
}
