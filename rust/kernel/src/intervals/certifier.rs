//! Serialization certifiers: dependencies that should have kept somebody from committing.

use super::found::CertifierCase;
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
    /// The moment of its reads; of its first statement if each has its own.
    pub snapshot: Span,
    pub is_read_only: bool,
}

/// `from` read the version before that of `to`: a direct rw.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Missed {
    pub from: Party,
    pub to: Party,
    pub read: Reference,
    pub write: Reference,
    pub key: u32,
}

impl Missed {
    /// Whether `to` had certainly begun when `from` committed; the other way round is what rw means.
    fn is_surely_concurrent(&self) -> bool {
        self.to.snapshot.precedes(self.from.commit)
    }
}

/// What should not have committed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Uncertified {
    pub case: CertifierCase,
    pub operations: Vec<Reference>,
    pub key: u32,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Node {
    ins: Vec<Missed>,
    outs: Vec<Missed>,
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

    /// Whether anybody asks for dependencies.
    pub fn is_on(&self) -> bool {
        !matches!(self.certifier, Certifier::None | Certifier::OptimisticWrites)
    }

    /// A dependency that is certain; what it should have prevented.
    pub fn add(&mut self, missed: Missed) -> Option<Uncertified> {
        match self.certifier {
            Certifier::None | Certifier::OptimisticWrites => None,
            Certifier::Ssi => self.add_to_structures(missed),
            Certifier::TimestampOrder => (missed.from.first > missed.to.commit.complete)
                .then(|| of(CertifierCase::TimestampOrder, &missed)),
            Certifier::OptimisticReads => {
                let is_overwritten = missed.to.commit.precedes(missed.from.commit);
                (is_overwritten && !missed.from.is_read_only)
                    .then(|| of(CertifierCase::OptimisticReads, &missed))
            }
        }
    }

    fn add_to_structures(&mut self, missed: Missed) -> Option<Uncertified> {
        if !missed.is_surely_concurrent() {
            return None;
        }
        let (from, to) = (missed.from.number, missed.to.number);
        if self.nodes.get(&from).is_some_and(|node| node.outs.iter().any(|known| known.to.number == to)) {
            return None;
        }
        let after = self.nodes.get(&to).into_iter().flat_map(|node| &node.outs);
        let before = self.nodes.get(&from).into_iter().flat_map(|node| &node.ins);
        let found = after.map(|next| (&missed, next)).chain(before.map(|last| (last, &missed)));
        let dangerous = found.filter(|(first, second)| is_dangerous(first, second)).map(|(first, second)| {
            let operations = vec![first.read, first.write, second.read, second.write];
            Uncertified { case: CertifierCase::Ssi, operations, key: missed.key }
        });
        let dangerous = dangerous.into_iter().next();
        self.nodes.entry(from).or_default().outs.push(missed);
        self.nodes.entry(to).or_default().ins.push(missed);
        dangerous
    }

    /// Nobody overlaps with this transaction any longer.
    pub fn forget(&mut self, number: u64) {
        self.nodes.remove(&number);
    }
}

fn of(case: CertifierCase, missed: &Missed) -> Uncertified {
    Uncertified { case, operations: vec![missed.read, missed.write], key: missed.key }
}

/// Cahill et al. 2008, as PostgreSQL does it (Ports and Grittner 2012): of T1 -rw-> T2 -rw-> T3, T3 committed
/// first, and if T1 wrote nothing, before T1's snapshot.
fn is_dangerous(first: &Missed, second: &Missed) -> bool {
    let (one, pivot, three) = (&first.from, &first.to, &second.to);
    if one.number == three.number {
        // A circle of two: one of them commits first, and either is forbidden.
        return true;
    }
    let is_first = three.commit.precedes(pivot.commit) && three.commit.precedes(one.commit);
    is_first && (!one.is_read_only || three.commit.precedes(one.snapshot))
}
