//! Anomalies that the order of versions shows before any cycle of transactions: updates of aborted versions,
//! versions in a cycle, sources that contradict each other.

use super::anomalies::{Finding, Named, VersionAnomaly};
use super::orders::{Extra, Orders, Source};
use super::witness::Step;
use crate::history::History;
use crate::relation::Relation;

/// Counts the anomalies of an order of versions, and shows the first of each.
pub(super) struct OrderAnomalies<'o> {
    pub(super) history: &'o History,
    pub(super) orders: &'o Orders,
    pub(super) max_anomalies: usize,
}

impl OrderAnomalies<'_> {
    pub(super) fn add(&self, named: &mut Named) {
        let dirty = self
            .orders
            .dirty
            .iter()
            .map(|&(read, aborted, committed)| vec![self.dirty_update(read, aborted, committed)]);
        self.add_all(named, VersionAnomaly::DirtyUpdate, dirty);
        let cycles = self
            .orders
            .circles
            .iter()
            .map(|(key, cycle)| cycle.iter().map(|extra| self.between_versions(*key, extra)).collect());
        self.add_all(named, VersionAnomaly::CyclicVersions, cycles);
        self.add_all(named, VersionAnomaly::ContradictoryEvidence, self.contradictions());
    }

    /// Counts all proofs; those that are not shown are never made.
    fn add_all(
        &self,
        named: &mut Named,
        anomaly: VersionAnomaly,
        mut proofs: impl ExactSizeIterator<Item = Vec<Step>>,
    ) {
        named.counts[anomaly as usize] += proofs.len() as u64;
        let shown = proofs.by_ref().take(self.max_anomalies);
        named.findings.extend(shown.map(|steps| Finding {
            name: anomaly,
            steps,
            alternatives: Vec::new(),
            level: None,
        }));
    }

    /// A committed transaction overwrote a version of an aborted one, as a read of the list shows.
    fn dirty_update(&self, read: u32, aborted: u32, committed: u32) -> Step {
        Step {
            before: self.owner(aborted),
            after: self.owner(committed),
            relation: Relation::WriteWrite,
            key: self.history.operations.keys[read as usize],
            operations: vec![read, aborted, committed],
            source: Source::ListRead,
        }
    }

    /// For each key the first two versions that two sources order differently.
    fn contradictions(&self) -> impl ExactSizeIterator<Item = Vec<Step>> {
        let of_keys: Vec<_> = self.orders.contradictions.chunk_by(|a, b| a.key == b.key).collect();
        of_keys.into_iter().map(|same| {
            let found = same[0];
            let (before, after) = (found.before, found.after);
            let one = Extra { before, after, source: found.stronger };
            let other = Extra { before: after, after: before, source: found.weaker };
            vec![self.between_versions(found.key, &one), self.between_versions(found.key, &other)]
        })
    }

    /// The order of two versions as a step between their writers.
    fn between_versions(&self, key: u32, extra: &Extra) -> Step {
        let operation = |version: u32| self.orders.operations[version as usize];
        Step {
            before: self.orders.writers[extra.before as usize],
            after: self.orders.writers[extra.after as usize],
            relation: Relation::WriteWrite,
            key,
            operations: vec![operation(extra.before), operation(extra.after)],
            source: extra.source,
        }
    }

    fn owner(&self, operation: u32) -> u32 {
        self.history.operation_offsets.partition_point(|&start| start <= operation) as u32 - 1
    }
}

impl Named {
    /// Takes over what the other has of this name.
    pub(super) fn adopt(&mut self, other: Self, name: VersionAnomaly) {
        self.counts[name as usize] = other.counts[name as usize];
        self.findings.extend(other.findings.into_iter().filter(|finding| finding.name == name));
        self.findings.sort_by_key(|finding| finding.name);
    }
}
