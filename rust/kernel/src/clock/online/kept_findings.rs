//! The findings of an engine: the first of each anomaly, the last of all, and the news.

use super::transactions::Transaction;
use super::{Engine, context};
use crate::clock::committed_lists::Relation;
use crate::clock::{ClockAnomaly, NOTHING};
use crate::history::NO_KEY;
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// So many more than are shown are kept: they take the place of findings that are retracted.
const SPARE: usize = 32;
/// So many of the last findings can be shown.
const RECENT: usize = 100;

/// A finding that is new, or retracted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct News {
    /// 1, 2, 3, ...
    pub number: u64,
    pub anomaly: ClockAnomaly,
    /// Ids of transactions, and the key.
    pub transaction: Value,
    pub other: Option<Value>,
    pub key: Option<Value>,
    /// Whether a late transaction showed that it is none.
    pub is_retracted: bool,
}

/// A finding, and the transactions that show it, by slot.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KeptFinding {
    pub anomaly: ClockAnomaly,
    pub slot: u32,
    pub other: Option<u32>,
    pub key: u32,
    pub operation: u32,
    /// A write, or the access before: slot and place.
    pub against: Option<(u32, u32)>,
    /// Of a stale read.
    pub stale: Option<Box<StaleEvidence>>,
}

/// The lists that a stale read shows and should have shown, and the writes that may have installed the first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StaleEvidence {
    pub list: Vec<Value>,
    pub expected: Vec<Value>,
    pub relation: Relation,
    /// The transaction that left the part of a list that it shows, or of which it shows some appends only.
    pub writer: Option<u32>,
    pub writes: Vec<(u32, u32)>,
    /// Whether all transactions that may have written it are in memory.
    pub is_whole: bool,
}

impl KeptFinding {
    /// A finding that timestamps alone show.
    pub const fn between(anomaly: ClockAnomaly, slot: u32, other: Option<u32>) -> Self {
        Self { anomaly, slot, other, key: NO_KEY, operation: NOTHING, against: None, stale: None }
    }

    /// The transactions that show it.
    pub fn slots(&self) -> Vec<u32> {
        let mut slots = vec![self.slot];
        slots.extend(self.other);
        slots.extend(self.against.map(|(slot, _)| slot));
        if let Some(stale) = &self.stale {
            slots.extend(stale.writer);
            slots.extend(stale.writes.iter().map(|&(slot, _)| slot));
        }
        slots
    }
}

/// Findings that are kept, and news that were not asked for yet.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptFindings {
    pub max_anomalies: usize,
    pub shown: [Vec<KeptFinding>; ClockAnomaly::COUNT],
    pub recent: VecDeque<(u64, KeptFinding)>,
    pub news: Vec<News>,
    pub told: u64,
}

impl KeptFindings {
    pub fn new(max_anomalies: usize) -> Self {
        Self { max_anomalies, shown: Default::default(), recent: VecDeque::new(), news: Vec::new(), told: 0 }
    }

    /// Makes a piece of news.
    pub fn tell(
        &mut self,
        anomaly: ClockAnomaly,
        transaction: Value,
        other: Option<Value>,
        key: Option<Value>,
        is_retracted: bool,
    ) {
        self.told += 1;
        self.news.push(News { number: self.told, anomaly, transaction, other, key, is_retracted });
    }

    /// A read is stale no longer; the slots that its finding needed.
    pub fn retract(&mut self, slot: u32, read: u32) -> Vec<u32> {
        let is_it =
            |shown: &KeptFinding| shown.slot == slot && shown.operation == read && shown.stale.is_some();
        let mut gone = Vec::new();
        let mut keep = |shown: &KeptFinding| {
            let stays = !is_it(shown);
            if !stays {
                gone.extend(shown.slots());
            }
            stays
        };
        self.shown[ClockAnomaly::StaleRead as usize].retain(&mut keep);
        self.recent.retain(|(_, shown)| keep(shown));
        gone
    }
}

impl StaleEvidence {
    /// Of a register, all fields empty.
    pub const fn register() -> Self {
        Self {
            list: Vec::new(),
            expected: Vec::new(),
            relation: Relation::Register,
            writer: None,
            writes: Vec::new(),
            is_whole: true,
        }
    }
}

impl Engine {
    /// Counts a finding, makes it news, and keeps it if it is one of the first or of the last.
    pub(super) fn add_finding(&mut self, shown: KeptFinding) {
        self.counts[shown.anomaly as usize] += 1;
        let id = |slot| self.transactions.get(slot).id;
        let (transaction, other) = (id(shown.slot), shown.other.map(id));
        let key = (shown.key != NO_KEY).then(|| self.index.ids()[shown.key as usize]);
        self.found.tell(shown.anomaly, transaction, other, key, false);
        self.keep_recent(shown.clone());
        self.keep_first(shown);
    }

    fn keep_recent(&mut self, shown: KeptFinding) {
        for slot in shown.slots() {
            self.transactions.hold(slot);
        }
        self.found.recent.push_back((self.found.told, shown));
        if self.found.recent.len() > RECENT
            && let Some((_, old)) = self.found.recent.pop_front()
        {
            for slot in old.slots() {
                self.release(slot);
            }
        }
    }

    fn keep_first(&mut self, mut shown: KeptFinding) {
        let anomaly = shown.anomaly as usize;
        let kept = &self.found.shown[anomaly];
        let place = kept.partition_point(|other| self.compare(other, &shown).is_lt());
        if place >= self.found.max_anomalies + SPARE {
            return;
        }
        self.add_writes_in_memory(&mut shown);
        for slot in shown.slots() {
            self.transactions.hold(slot);
        }
        self.found.shown[anomaly].insert(place, shown);
        if self.found.shown[anomaly].len() > self.found.max_anomalies + SPARE
            && let Some(last) = self.found.shown[anomaly].pop()
        {
            for slot in last.slots() {
                self.release(slot);
            }
        }
    }

    /// The order in which findings of one anomaly are shown: that of events.
    fn compare(&self, one: &KeptFinding, other: &KeptFinding) -> Ordering {
        let order = context!(self).order;
        let transaction = |slot| self.transactions.get(slot);
        let (first, second) = (transaction(one.slot), transaction(other.slot));
        match one.anomaly {
            ClockAnomaly::TimestampInversion => first.number.cmp(&second.number),
            ClockAnomaly::SessionOrder => (first.session, first.place).cmp(&(second.session, second.place)),
            ClockAnomaly::WriteConflict => self.compare_conflicts(one, other),
            _ => order.reads(first, second).then(one.operation.cmp(&other.operation)),
        }
    }

    /// A conflict is found at the first commit; at the second if that transaction starts when both commit.
    fn compare_conflicts(&self, one: &KeptFinding, other: &KeptFinding) -> Ordering {
        let order = context!(self).order;
        let meeting = |shown: &KeptFinding| {
            let first = self.transactions.get(shown.slot);
            let second = self.transactions.get(shown.other.unwrap_or(shown.slot));
            let is_second = second.start >= second.commit && second.commit == first.commit;
            if is_second { (second, true, first) } else { (first, false, second) }
        };
        let place = |of: &Transaction, key| {
            of.operations.iter().position(|write| write.key == key && write.kind.installs())
        };
        let (meets, is_second, met) = meeting(one);
        let (others_meets, others_is_second, others_met) = meeting(other);
        let by_commit = order.commits(meets, others_meets);
        by_commit
            .then_with(|| place(meets, one.key).cmp(&place(others_meets, other.key)))
            .then_with(|| is_second.cmp(&others_is_second))
            .then_with(
                || if is_second { order.commits(met, others_met) } else { order.starts(met, others_met) },
            )
    }
}
