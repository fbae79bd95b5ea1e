//! The verifier mirrors versions and locks of the database and compares them with what its clients saw.
//!
//! A transaction is *installed* when the trace of its end is dispatched: its versions and locks are known from
//! then on. It is *settled* when everything that began before its end was over is known: then it is judged
//! against all that were settled before it. It is *past* when no unsettled transaction can overlap it.

use super::certifier::Certificates;
use super::consistent_read::CertainRead;
use super::finding::{Case, Finding};
use super::key::{First, Key, Version};
use super::locks::{Collision, Held, Table};
use super::profile::{Certifier, Granularity, Lock, Profile, Read};
use super::read_view::TransactionOrders;
use super::slab::Slab;
use super::tally::Tally;
use super::transaction::Transaction;
use super::version_order::Rules;
use crate::history::{Kind, Status};
use crate::value::Value;
use hashbrown::HashSet;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// Past transactions are looked for each time when so many were settled.
const SWEEP: usize = 64;

/// When a transaction is settled: the end of its end, its beginning, its session, its number; then its slot.
type Due = (i64, i64, u32, u64, u32);

#[derive(Serialize, Deserialize)]
pub struct Verifier {
    pub profile: Profile,
    pub(super) rules: Rules,
    pub keys: Vec<Key>,
    /// Keys that are integers, for range reads.
    pub(super) ordered: BTreeMap<i64, u32>,
    pub(super) transactions: Slab,
    locks: Table,
    pub(super) certificates: Certificates,
    due: BinaryHeap<Reverse<Due>>,
    /// When those began that are not settled, and how many of them at each time.
    begun: BTreeMap<i64, u32>,
    /// The same for those that are not installed, if reads of uncommitted data may see them.
    unfinished: Option<BTreeMap<i64, u32>>,
    /// Settled transactions in the order of their settlement.
    settled: VecDeque<u32>,
    /// Past ones, each with the watermark at which it became so.
    past: VecDeque<(i64, u32)>,
    pub(super) tally: Tally,
    pub(super) findings: Vec<Finding>,
    /// Whether all findings are kept, not only the first ones: the finding log takes them away.
    pub keeps_all: bool,
    /// How many findings are kept of each mechanism.
    pub(super) max_anomalies: u64,
    /// Versions that were dropped, in their order, if the order of versions is asked for.
    pub(super) dropped_versions: Option<Vec<(u32, Version)>>,
    /// State that transactions from before this time need may have been dropped.
    pub swept: i64,
    /// Rows that were deleted as a whole: the values of their cells are not mirrored.
    pub(super) deleted: BTreeSet<u32>,
    /// Whether a transaction came too late, so that writes may be missing.
    pub has_late: bool,
    /// Buffers that are reused.
    #[serde(skip)]
    pub(super) candidates: Vec<usize>,
    #[serde(skip)]
    pub(super) certain: Vec<CertainRead>,
    /// Rows of which the transaction that is being judged has changed a cell so far.
    #[serde(skip)]
    pub(super) changed: HashSet<u32>,
    #[serde(skip)]
    pub(super) mark_uncertain: Vec<u32>,
    /// Orders of other transactions and the one that is being judged.
    #[serde(skip)]
    pub(super) orders: TransactionOrders,
    pub(super) ids: Vec<Value>,
    /// Ids of transactions that were dropped.
    pub(super) freed: Vec<Value>,
}

impl Verifier {
    pub fn new(profile: Profile, max_anomalies: u64) -> Self {
        let locks = profile.statements.iter().any(|one| matches!(one.lock, Lock::Exclusive | Lock::Update));
        let is_compared = profile.first_updater_wins || profile.certifier == Certifier::OptimisticWrites;
        let snapshots = profile.snapshot.is_of_transaction() && is_compared;
        let certificates = Certificates::new(profile.certifier);
        let is_dirty = profile.certifier == Certifier::TimestampOrder
            || profile.statements.iter().any(|one| one.read == Read::Uncommitted);
        Self {
            profile,
            rules: Rules { locks, snapshots },
            keys: Vec::new(),
            ordered: BTreeMap::new(),
            transactions: Slab::default(),
            locks: Table::default(),
            certificates,
            due: BinaryHeap::new(),
            begun: BTreeMap::new(),
            unfinished: is_dirty.then(BTreeMap::new),
            settled: VecDeque::new(),
            past: VecDeque::new(),
            tally: Tally::default(),
            findings: Vec::new(),
            keeps_all: false,
            max_anomalies,
            dropped_versions: None,
            swept: i64::MIN,
            deleted: BTreeSet::new(),
            has_late: false,
            candidates: Vec::new(),
            certain: Vec::new(),
            changed: HashSet::new(),
            mark_uncertain: Vec::new(),
            orders: TransactionOrders::default(),
            ids: Vec::new(),
            freed: Vec::new(),
        }
    }

    /// There are keys with these ids, in this order, and `first` is what a new one holds.
    pub fn know_keys(&mut self, ids: &[Value], first: impl Fn(u32) -> First) {
        for (number, &id) in ids.iter().enumerate().skip(self.keys.len()) {
            self.keys.push(Key { first: first(number as u32), ..Key::default() });
            if let Some(integer) = id.as_small() {
                self.ordered.insert(integer, number as u32);
            }
        }
        self.ids.extend_from_slice(&ids[self.ids.len()..]);
    }

    pub fn add(&mut self, transaction: Transaction) -> u32 {
        *self.begun.entry(transaction.first).or_default() += 1;
        if let Some(unfinished) = &mut self.unfinished {
            *unfinished.entry(transaction.first).or_default() += 1;
        }
        let is_dirty = self.unfinished.is_none() && transaction.reads_uncommitted();
        let slot = self.transactions.add(transaction);
        if is_dirty {
            self.wait_for_unfinished();
        }
        slot
    }

    /// A label says that a statement reads uncommitted data: from now on a transaction is settled only when every
    /// transaction is installed that began before its end.
    fn wait_for_unfinished(&mut self) {
        let mut unfinished: BTreeMap<i64, u32> = BTreeMap::new();
        for transaction in self.transactions.iter().filter(|one| !one.is_installed) {
            *unfinished.entry(transaction.first).or_default() += 1;
        }
        self.unfinished = Some(unfinished);
    }

    /// Nothing that is not settled begins before this.
    fn horizon(&self, watermark: i64) -> i64 {
        self.begun.first_key_value().map_or(watermark, |(&first, _)| first.min(watermark))
    }

    /// It came too late.
    pub fn discard(&mut self, slot: u32) {
        self.finish_one(slot);
        self.forget_beginning(slot);
        self.freed.push(self.transactions.get(slot).id);
        self.transactions.remove(slot);
    }

    fn finish_one(&mut self, slot: u32) {
        let first = self.transactions.get(slot).first;
        if let Some(unfinished) = &mut self.unfinished {
            take_one(unfinished, first);
        }
    }

    fn forget_beginning(&mut self, slot: u32) {
        take_one(&mut self.begun, self.transactions.get(slot).first);
    }

    /// The end of a transaction is known: so are its versions and its locks.
    pub fn install(&mut self, slot: u32) {
        self.finish_one(slot);
        let mut transaction = self.transactions.lend(slot);
        let locks = Table::held_by(&transaction, slot, self.profile.commit_lock);
        let ids = &self.ids;
        let (predicates, inserts) = if self.locks_predicates() {
            Table::predicates_of(&transaction, slot, |key| ids[key as usize])
        } else {
            (Vec::new(), Vec::new())
        };
        self.locks.add(&locks, predicates, inserts);
        transaction.locks = locks.into_boxed_slice();
        transaction.is_installed = true;
        self.install_writes(&transaction, slot);
        let due =
            (transaction.known_at(), transaction.end.invoke, transaction.session, transaction.number, slot);
        self.due.push(Reverse(due));
        self.transactions.give_back(slot, transaction);
    }

    /// Whether predicates may be locked: only beside locks on rows. The lock mode itself may be that of a label.
    fn locks_predicates(&self) -> bool {
        let is_by_row = self.profile.granularity == Granularity::Row;
        is_by_row && self.profile.statements.iter().any(|one| one.locks_predicate)
    }

    /// Everything that began before `watermark` was installed: judges the next of those that ended before it.
    pub fn settle_next(&mut self, watermark: i64) -> bool {
        let Some(&Reverse((known_at, .., slot))) = self.due.peek() else { return false };
        let open = self.unfinished.as_ref().and_then(|all| all.first_key_value()).map(|(&first, _)| first);
        if known_at >= watermark.min(open.unwrap_or(watermark)) {
            return false;
        }
        self.due.pop();
        self.judge(slot);
        self.settled.push_back(slot);
        true
    }

    /// Whether so many are settled that it is worth a look at what is past.
    pub fn is_due_for_sweep(&self) -> bool {
        self.settled.len().is_multiple_of(SWEEP)
    }

    fn judge(&mut self, slot: u32) {
        if self.transactions.get(slot).operations.iter().any(|one| one.kind == Kind::Delete) {
            self.settle_deletes(slot);
        }
        self.judge_locks(slot);
        if self.transactions.get(slot).status == Status::Committed {
            self.judge_updates(slot);
            self.settle_versions(slot);
            self.judge_reads(slot);
            self.judge_missed(slot);
            for uncertain in std::mem::take(&mut self.mark_uncertain) {
                self.transactions.get_mut(uncertain).is_uncertain = true;
            }
            let is_uncertain = self.transactions.get(slot).is_uncertain;
            self.tally.certified.count(is_uncertain);
        } else {
            self.settle_versions(slot);
        }
        self.forget_beginning(slot);
    }

    /// Places of deletes that may have found no row, among those that locked something.
    fn idle_deletes(&mut self, transaction: &Transaction) -> Vec<u32> {
        let deletes = transaction.operations.iter().filter(|one| one.kind == Kind::Delete);
        deletes.filter(|one| self.may_be_idle(transaction, one)).map(|one| one.place).collect()
    }

    fn judge_locks(&mut self, slot: u32) {
        let transaction = self.transactions.lend(slot);
        let number = transaction.number;
        let mut collisions: Vec<Collision> = Vec::new();
        let idle = self.idle_deletes(&transaction);
        let tally = &mut self.tally.locks;
        let is_sure = |held: &Held| !idle.contains(&held.by.place);
        self.orders.clear();
        let orders = &mut self.orders;
        self.locks.settle(&transaction.locks, &mut collisions, is_sure, orders, |is_undecided| {
            tally.count(is_undecided);
        });
        self.transactions.give_back(slot, transaction);
        if self.locks_predicates() {
            let (ids, keys) = (&self.ids, &self.keys);
            let key_of = |key: u32| (ids[key as usize], keys[key as usize].table);
            self.locks.settle_predicates(number, key_of, &mut collisions, &mut self.orders);
        }
        let mut seen: Vec<(u64, u64, u32)> = Vec::new();
        for Collision { case, one, other, key } in collisions {
            let pair = (one.number.min(other.number), one.number.max(other.number), key);
            if seen.contains(&pair) {
                continue;
            }
            seen.push(pair);
            let operations = vec![one, other];
            self.add_finding(Finding { case: Case::Lock(case), operations, key, unexplained: None });
        }
    }

    /// Counts a finding, and keeps it if it is one of the first of its mechanism.
    pub(super) fn add_finding(&mut self, finding: Finding) {
        let count = self.tally.count_finding(finding.case.mechanism());
        if self.keeps_all || count <= self.max_anomalies {
            self.findings.push(finding);
        }
    }

    /// Drops the state that no later transaction can need.
    pub fn sweep(&mut self, watermark: i64) {
        let horizon = self.horizon(watermark);
        self.swept = self.swept.max(horizon);
        while let Some(&slot) = self.settled.front() {
            if self.transactions.get(slot).known_at() >= horizon {
                break;
            }
            self.settled.pop_front();
            self.pass(slot, horizon);
            self.past.push_back((watermark, slot));
        }
        while let Some(&(bound, slot)) = self.past.front() {
            if bound >= horizon {
                break;
            }
            self.past.pop_front();
            self.freed.push(self.transactions.get(slot).id);
            self.transactions.remove(slot);
        }
    }

    fn pass(&mut self, slot: u32, horizon: i64) {
        let transaction = self.transactions.lend(slot);
        let number = transaction.number;
        self.locks.forget(&transaction.locks, number, horizon);
        self.certificates.forget(number);
        for &(written, _) in &transaction.writes {
            let dropped = &mut self.dropped_versions;
            self.keys[written as usize].prune(horizon, self.rules, |version| {
                if let Some(dropped) = dropped {
                    dropped.push((written, version.clone()));
                }
            });
        }
        self.transactions.give_back(slot, transaction);
    }

    /// Transactions in memory, and those of them that are not settled.
    pub fn live(&self) -> (u64, u64) {
        let unsettled: u64 = self.begun.values().map(|&count| u64::from(count)).sum();
        (self.transactions.len() as u64, unsettled)
    }

    /// About how many bytes it takes.
    pub fn memory(&self) -> u64 {
        let of_keys: usize = self.keys.iter().map(Key::memory).sum();
        let bytes = of_keys + self.transactions.memory() + self.locks.memory();
        bytes as u64
    }

    pub(super) fn each_predicate_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        self.locks.each_value(see);
    }
}

/// One fewer at this time.
fn take_one(all: &mut BTreeMap<i64, u32>, time: i64) {
    if let Some(count) = all.get_mut(&time) {
        *count -= 1;
        if *count == 0 {
            all.remove(&time);
        }
    }
}
