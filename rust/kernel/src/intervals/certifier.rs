//! Serialization certifiers: dependencies rw after which a transaction should not have committed.

use super::finding::CertifierCase;
use super::key::Reference;
use super::profile::Certifier;
use super::span::Span;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// What a certifier knows of a transaction.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Party {
    pub number: u64,
    pub first: i64,
    pub commit: Span,
    /// When its snapshot was taken; one without a snapshot is part of no dangerous structure.
    pub snapshot: Option<Span>,
    pub is_read_only: bool,
}

/// `from` read the version before that of `to`: a direct rw.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct AntiDependency {
    pub from: Party,
    pub to: Party,
    pub read: Reference,
    pub write: Reference,
    pub key: u32,
}

impl AntiDependency {
    /// Whether `to` had certainly begun when `from` committed; the other way round is what rw means.
    fn is_surely_concurrent(&self) -> bool {
        self.from.snapshot.is_some()
            && self.to.snapshot.is_some_and(|snapshot| snapshot.precedes(self.from.commit))
    }
}

/// A dependency, or two, with which a transaction should not have committed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Uncertified {
    pub case: CertifierCase,
    pub operations: Vec<Reference>,
    pub key: u32,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Node {
    ins: Vec<AntiDependency>,
    outs: Vec<AntiDependency>,
}

/// Certain rw dependencies between transactions that others may still overlap with.
#[derive(Debug, Serialize, Deserialize)]
pub struct Certificates {
    certifier: Certifier,
    nodes: HashMap<u64, Node>,
}

impl Certificates {
    pub fn new(certifier: Certifier) -> Self {
        Self { certifier, nodes: HashMap::new() }
    }

    /// Whether the certifier judges dependencies rw.
    pub fn is_on(&self) -> bool {
        !matches!(self.certifier, Certifier::None | Certifier::OptimisticWrites)
    }

    /// Adds a certain dependency; a violation that it completes.
    pub fn add(&mut self, dependency: AntiDependency) -> Option<Uncertified> {
        match self.certifier {
            Certifier::None | Certifier::OptimisticWrites => None,
            Certifier::Ssi => self.add_to_structures(dependency),
            Certifier::TimestampOrder => (dependency.from.first > dependency.to.commit.complete)
                .then(|| of(CertifierCase::TimestampOrder, &dependency)),
            Certifier::OptimisticReads => {
                let is_overwritten = dependency.to.commit.precedes(dependency.from.commit);
                (is_overwritten && !dependency.from.is_read_only)
                    .then(|| of(CertifierCase::OptimisticReads, &dependency))
            }
        }
    }

    fn add_to_structures(&mut self, dependency: AntiDependency) -> Option<Uncertified> {
        if !dependency.is_surely_concurrent() {
            return None;
        }
        let (from, to) = (dependency.from.number, dependency.to.number);
        if self.nodes.get(&from).is_some_and(|node| node.outs.iter().any(|known| known.to.number == to)) {
            return None;
        }
        let after = self.nodes.get(&to).into_iter().flat_map(|node| &node.outs);
        let before = self.nodes.get(&from).into_iter().flat_map(|node| &node.ins);
        let found = after.map(|next| (&dependency, next)).chain(before.map(|last| (last, &dependency)));
        let dangerous = found.filter(|(first, second)| is_dangerous(first, second)).map(|(first, second)| {
            let operations = vec![first.read, first.write, second.read, second.write];
            Uncertified { case: CertifierCase::Ssi, operations, key: dependency.key }
        });
        let dangerous = dangerous.into_iter().next();
        self.nodes.entry(from).or_default().outs.push(dependency);
        self.nodes.entry(to).or_default().ins.push(dependency);
        dangerous
    }

    /// Drops a transaction that no later transaction can overlap.
    pub fn forget(&mut self, number: u64) {
        self.nodes.remove(&number);
    }
}

fn of(case: CertifierCase, dependency: &AntiDependency) -> Uncertified {
    Uncertified { case, operations: vec![dependency.read, dependency.write], key: dependency.key }
}

/// Cahill et al. 2008, as PostgreSQL does it (Ports and Grittner 2012): of T1 -rw-> T2 -rw-> T3, T3 committed
/// first, and if T1 wrote nothing, before T1's snapshot.
fn is_dangerous(first: &AntiDependency, second: &AntiDependency) -> bool {
    let (one, pivot, three) = (&first.from, &first.to, &second.to);
    if one.number == three.number {
        // A circle of two: one of them commits first, and either is forbidden.
        return true;
    }
    let is_first = three.commit.precedes(pivot.commit) && three.commit.precedes(one.commit);
    let is_before = |snapshot: Span| three.commit.precedes(snapshot);
    is_first && (!one.is_read_only || one.snapshot.is_some_and(is_before))
}
