//! The levels of the clock while transactions arrive: each is judged when it comes, and again when a late one
//! gives it another version to read.
//!
//! Li et al. 2025 (AION). Every key has its versions by commit and the reads of others by the moment that they
//! show. A transaction is looked up in these, and a late version turns only the reads between it and the next.
//! There is no clock here: whoever calls says what time it is.

mod bytes;
mod chain;
mod intake;
mod key;
mod lists;
mod own;
mod report;
mod save;
mod spill;
mod stability;
mod transactions;

pub use bytes::Damaged;
pub use intake::Refusal;
pub use report::{News, Report};
pub use spill::Store;
pub use stability::Stability;

use super::{Isolation, NAMES, Name};
use crate::history::{History, Timestamp};
use crate::index::DenseIndex;
use crate::value::{Value, Values};
use hashbrown::HashMap;
use key::{First, Key, Read, Shape, Turn, Version};
use lists::Lists;
use own::{External, Own, Unequal};
use report::{Kept, Shown};
use spill::{EARLIEST, Segment, Spill};
use stability::{Doubt, Doubts};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use transactions::{NAMELESS, Operation, Transaction, Transactions};

/// How an engine judges.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// What the clock is held against.
    pub isolation: Isolation,
    /// How many findings of each name are kept.
    pub most: usize,
    /// So long after its arrival a transaction is final, and so much longer it is kept; nanoseconds.
    pub timeout: u64,
    #[allow(missing_docs)]
    pub keep: u64,
}

/// How many of what there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Sizes {
    pub transactions: u64,
    pub aborted: u64,
    pub operations: u64,
    /// Transactions in memory, and those of them that are not final.
    pub live: u64,
    pub pending: u64,
    pub versions: u64,
    pub reads: u64,
    /// Reads that are wrong at present and not final.
    pub provisional: u64,
    /// Transactions that came twice; that came too late to be judged; final answers that a late one changed.
    pub repeated: u64,
    pub unverifiable: u64,
    pub unverifiable_reads: u64,
    pub overturned: u64,
    pub range_reads: u64,
    /// Timestamps of several transactions.
    pub ties: u64,
    pub keys: u64,
    pub sessions: u64,
}

impl Sizes {
    /// How many numbers there are.
    pub(super) const COUNT: usize = 16;

    /// All of them.
    pub(super) const fn numbers(&self) -> [u64; Self::COUNT] {
        [
            self.transactions,
            self.aborted,
            self.operations,
            self.live,
            self.pending,
            self.versions,
            self.reads,
            self.provisional,
            self.repeated,
            self.unverifiable,
            self.unverifiable_reads,
            self.overturned,
            self.range_reads,
            self.ties,
            self.keys,
            self.sessions,
        ]
    }

    /// The same numbers again.
    pub(super) const fn from_numbers(numbers: [u64; Self::COUNT]) -> Self {
        let [
            transactions,
            aborted,
            operations,
            live,
            pending,
            versions,
            reads,
            provisional,
            repeated,
            unverifiable,
            unverifiable_reads,
            overturned,
            range_reads,
            ties,
            keys,
            sessions,
        ] = numbers;
        Self {
            transactions,
            aborted,
            operations,
            live,
            pending,
            versions,
            reads,
            provisional,
            repeated,
            unverifiable,
            unverifiable_reads,
            overturned,
            range_reads,
            ties,
            keys,
            sessions,
        }
    }
}

/// Judges one level.
pub struct Engine {
    terms: Terms,
    initial: Option<Value>,
    values: Values,
    index: DenseIndex,
    keys: Vec<Key>,
    sessions: DenseIndex,
    /// The last transaction of each session, and how many it had.
    latest: Vec<Option<u32>>,
    places: Vec<u32>,
    /// The place of each session among all; how many there are, with those that have no name.
    lane_of: Vec<u32>,
    lanes: u32,
    transactions: Transactions,
    lists: Lists,
    ids: HashMap<Value, u32>,
    /// Who wrote a time down first, and whether another did.
    times: HashMap<Timestamp, (u64, bool)>,
    times_kept: usize,
    own: Own,
    turns: Vec<Turn>,
    /// Those that are not final, in the order of arrival; behind them those that are kept.
    pending: VecDeque<u32>,
    kept: VecDeque<u32>,
    /// The earliest moments of those, each smaller than all that came after it.
    earliest: VecDeque<(u64, Timestamp)>,
    /// Those that may go, by the last of their times.
    leaving: BinaryHeap<Reverse<(Timestamp, u32)>>,
    watermark: Timestamp,
    /// The latest time of those that may go.
    passed: Timestamp,
    counts: [u64; NAMES],
    found: Kept,
    doubts: Doubts,
    stability: Stability,
    sizes: Sizes,
    spill: Option<Spill>,
    /// Segments of a checkpoint, until somebody says where they lie.
    segments: Vec<Segment>,
    /// Transactions that were read back for a moment.
    borrowed: Vec<u32>,
    /// What the disk said last.
    trouble: Option<String>,
}

/// What everything is ordered by, borrowed beside the keys.
macro_rules! context {
    ($engine:ident) => {
        $crate::clock::online::key::Context {
            order: $crate::clock::online::transactions::Order {
                isolation: $engine.terms.isolation,
                values: &$engine.values,
                sessions: $engine.sessions.ids(),
            },
            transactions: &$engine.transactions,
            lists: &$engine.lists,
        }
    };
}
use context;

impl Engine {
    /// Nothing has arrived yet; `initial` is what every key holds then, if that is known.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            initial: None,
            values: Values::default(),
            index: DenseIndex::default(),
            keys: Vec::new(),
            sessions: DenseIndex::default(),
            latest: Vec::new(),
            places: Vec::new(),
            lane_of: Vec::new(),
            lanes: 0,
            transactions: Transactions::default(),
            lists: Lists::default(),
            ids: HashMap::new(),
            times: HashMap::new(),
            times_kept: 1 << 16,
            own: Own::default(),
            turns: Vec::new(),
            pending: VecDeque::new(),
            kept: VecDeque::new(),
            earliest: VecDeque::new(),
            leaving: BinaryHeap::new(),
            watermark: Timestamp::default(),
            passed: Timestamp::default(),
            counts: [0; NAMES],
            found: Kept::new(terms.most),
            doubts: Doubts::default(),
            stability: Stability::default(),
            sizes: Sizes::default(),
            spill: None,
            segments: Vec::new(),
            borrowed: Vec::new(),
            trouble: None,
        }
    }

    /// The scalars, for those who name an initial value.
    pub fn values_mut(&mut self) -> &mut Values {
        &mut self.values
    }

    /// The scalars.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// What every key holds at first; before anything arrives.
    pub fn set_initial(&mut self, initial: Value) {
        self.initial = Some(initial);
    }

    /// Takes a batch that arrives now; how many of its transactions are new.
    ///
    /// # Errors
    /// If one of them cannot be judged: then none is taken.
    pub fn take(&mut self, history: &History, now: u64) -> Result<u64, Refusal> {
        let (translation, repeated) = self.admit(history)?;
        let ranges = history.operations.kinds.iter().filter(|&&kind| kind == crate::history::Kind::RangeRead);
        self.sizes.range_reads += ranges.count() as u64;
        let mut taken = 0;
        for (transaction, is_repeated) in repeated.into_iter().enumerate() {
            if is_repeated {
                self.sizes.repeated += 1;
                continue;
            }
            taken += 1;
            let arrived = self.translated(history, transaction, &translation, now);
            self.arrive(arrived);
        }
        Ok(taken)
    }

    fn arrive(&mut self, arrived: Transaction) {
        let now = arrived.arrival;
        let (id, session) = (arrived.id, arrived.session);
        self.sizes.transactions += 1;
        self.sizes.operations += arrived.operations.len() as u64;
        let slot = self.transactions.add(arrived);
        self.ids.insert(id, slot);
        if !self.transactions.get(slot).is_committed {
            self.set_aside(slot);
            self.turn(now);
            return;
        }
        self.count_ties(slot);
        self.judge_times(slot, session);
        self.enqueue(slot);
        let mut own = std::mem::take(&mut self.own);
        let keys = &self.keys;
        own.look(&self.transactions.get(slot).operations, keys.len(), &self.lists, |key| {
            keys[key as usize].shape == Shape::List
        });
        self.judge_own(slot, &own);
        self.install(slot);
        self.read(slot, &own.external);
        self.own = own;
        self.turn(now);
    }

    /// Who did not commit left nothing, but somebody may have read what it wrote.
    fn set_aside(&mut self, slot: u32) {
        self.sizes.aborted += 1;
        if let Some(place) = self.places.get_mut(self.transactions.get(slot).session as usize) {
            *place += 1;
        }
        self.pending.push_back(slot);
        for place in 0..self.transactions.get(slot).operations.len() as u32 {
            let Operation { kind, key, value } = self.transactions.get(slot).operations[place as usize];
            if !kind.installs() {
                continue;
            }
            let context = context!(self);
            let known = &mut self.keys[key as usize];
            known.write(context, value, &mut self.turns);
            known.aside.push((slot, place));
            self.transactions.hold(slot);
        }
    }

    /// Timestamps that belong to several transactions are counted.
    fn count_ties(&mut self, slot: u32) {
        let Transaction { number, start, commit, .. } = *self.transactions.get(slot);
        let times = if self.terms.isolation == Isolation::Snapshot { [commit, start] } else { [commit; 2] };
        for time in times {
            let gone = if time < self.watermark { self.recall_time(time) } else { Vec::new() };
            let (first, is_counted) =
                self.times.entry(time).or_insert((*gone.first().unwrap_or(&number), gone.len() > 1));
            if *first != number && !*is_counted {
                *is_counted = true;
                self.sizes.ties += 1;
            }
        }
    }

    /// What timestamps show by themselves.
    fn judge_times(&mut self, slot: u32, session: u32) {
        let is_snapshot = self.terms.isolation == Isolation::Snapshot;
        let (start, commit) = self.transactions.get(slot).times();
        if is_snapshot && start > commit {
            self.find(Shown::between(Name::TimestampInversion, slot, None));
        }
        if session == NAMELESS {
            return;
        }
        self.places[session as usize] += 1;
        self.transactions.hold(slot);
        let Some(before) = self.latest[session as usize].replace(slot) else { return };
        let both = (self.transactions.get(before), self.transactions.get(slot));
        if is_snapshot && context!(self).order.is_out_of_order(both.0, both.1) {
            self.find(Shown::between(Name::SessionOrder, slot, Some(before)));
        }
        self.release(before);
    }

    /// Puts a transaction in line.
    fn enqueue(&mut self, slot: u32) {
        let transaction = self.transactions.get(slot);
        let (number, moment) = (transaction.number, self.moment(transaction.times()));
        self.pending.push_back(slot);
        if moment < self.watermark {
            self.hold_keys(slot, moment);
            return;
        }
        while self.earliest.back().is_some_and(|&(_, other)| other >= moment) {
            self.earliest.pop_back();
        }
        self.earliest.push_back((number, moment));
    }

    /// The keys of a late transaction are not cut before it is final; those that were cut cannot be judged.
    fn hold_keys(&mut self, slot: u32, moment: Timestamp) {
        self.transactions.get_mut(slot).is_late = true;
        let keys = self.transactions.get(slot).keys();
        let is_cut = keys.iter().any(|&key| self.keys[key as usize].floor > moment);
        self.sizes.unverifiable += u64::from(is_cut);
        for key in keys {
            self.keys[key as usize].held += 1;
        }
    }

    /// The first time of which a transaction must know what was committed.
    fn moment(&self, (start, commit): (Timestamp, Timestamp)) -> Timestamp {
        match self.terms.isolation {
            Isolation::Snapshot => start.min(commit),
            Isolation::Serializable => commit,
        }
    }

    fn judge_own(&mut self, slot: u32, own: &Own) {
        for &unequal in &own.unequal {
            let Unequal { name, read, key, against } = unequal;
            let Transaction { number, ref operations, .. } = *self.transactions.get(slot);
            let value = operations[read as usize].value;
            if name == Name::NonRepeatableRead && self.keys[key as usize].shape != Shape::List {
                let context = context!(self);
                self.keys[key as usize].suspect_value(context, value, (number, read), &mut self.turns);
            }
            self.find(Shown {
                key,
                operation: read,
                against: Some((slot, against)),
                ..Shown::between(name, slot, None)
            });
        }
    }

    /// What the transaction wrote becomes a version of each key.
    fn install(&mut self, slot: u32) {
        let writes = self.transactions.get(slot).writes();
        for (key, write) in writes {
            self.meet(slot, key);
            self.doubt_first(slot, key);
            let transaction = self.transactions.get(slot);
            let &Transaction { start, commit, .. } = transaction;
            let value = transaction.operations[write as usize].value;
            let of_key = transaction.operations.iter().filter(|one| one.key == key && one.kind.installs());
            let written: Vec<Value> = of_key.map(|one| one.value).collect();
            let context = context!(self);
            let known = &mut self.keys[key as usize];
            for &value in &written {
                known.write(context, value, &mut self.turns);
            }
            if known.is_missed(context, slot) {
                continue;
            }
            let version = Version { commit, start, value, slot, write, count: 0, end: 0 };
            known.install(context, version, &written, &mut self.turns);
            self.transactions.hold(slot);
            self.sizes.versions += 1;
        }
    }

    /// Who writes what a key is said to have held first makes that a value like any other.
    fn doubt_first(&mut self, slot: u32, key: u32) {
        let known = &self.keys[key as usize];
        let Some(first) = known.first.value().filter(|_| !matches!(known.first, First::Known(_))) else {
            return;
        };
        let mut operations = self.transactions.get(slot).operations.iter();
        let is_it = operations.any(|one| one.key == key && one.kind.installs() && one.value == first);
        if is_it && !self.recall(key, EARLIEST) {
            self.sizes.unverifiable += 1;
        }
    }

    /// Everyone who wrote the same key at the same time.
    fn meet(&mut self, slot: u32, key: u32) {
        if self.terms.isolation == Isolation::Serializable {
            return;
        }
        let context = context!(self);
        let mut pairs = Vec::new();
        self.keys[key as usize].overlapping(context, slot, |version| pairs.push(version.slot));
        for other in pairs {
            let (one, two) = (self.transactions.get(slot), self.transactions.get(other));
            let is_first = context!(self).order.commits(one, two).is_lt();
            let (first, second) = if is_first { (slot, other) } else { (other, slot) };
            self.find(Shown { key, ..Shown::between(Name::WriteConflict, first, Some(second)) });
        }
    }

    fn read(&mut self, slot: u32, external: &[External]) {
        for &External { read, key, own } in external {
            let context = context!(self);
            let transaction = self.transactions.get(slot);
            let (time, value) = (context.moment(transaction), transaction.operations[read as usize].value);
            let known = &mut self.keys[key as usize];
            if known.is_lost {
                self.sizes.unverifiable_reads += 1;
                continue;
            }
            if time < known.floor {
                continue;
            }
            known.read(
                context,
                Read { time, value, slot, place: read, own, is_wrong: false },
                &mut self.turns,
            );
            self.transactions.hold(slot);
            self.sizes.reads += 1;
        }
    }

    /// Answers that are other ones now.
    fn turn(&mut self, now: u64) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.sort_by_key(|turn| (turn.slot, turn.read));
        // Who turned and turned back is where he was.
        let same = turns.chunk_by(|one, other| (one.slot, one.read) == (other.slot, other.read));
        for turn in same.filter(|turns| turns.len() % 2 == 1).map(|turns| turns[0]) {
            let Turn { slot, read, is_wrong, is_new } = turn;
            let transaction = self.transactions.get_mut(slot);
            transaction.wrong =
                if is_wrong { transaction.wrong + 1 } else { transaction.wrong.saturating_sub(1) };
            if transaction.is_final {
                self.overturn(slot, read, is_wrong);
                continue;
            }
            transaction.flips += u32::from(!is_new);
            let provisional = &mut self.sizes.provisional;
            *provisional = if is_wrong { *provisional + 1 } else { *provisional - 1 };
            let doubt = self.doubts.entry((slot, read)).or_insert(Doubt { since: now, flips: 0 });
            doubt.flips += u32::from(!is_new);
            if is_wrong {
                doubt.since = now;
            } else {
                self.stability.rectify(now.saturating_sub(doubt.since));
            }
        }
    }

    /// A final answer was wrong: somebody came later than the timeout allows for.
    fn overturn(&mut self, slot: u32, read: u32, is_wrong: bool) {
        self.sizes.overturned += 1;
        if is_wrong {
            self.find_stale(slot, read);
            return;
        }
        self.counts[Name::StaleRead as usize] -= 1;
        let gone = self.found.retract(slot, read);
        let transaction = self.transactions.get(slot);
        let key = transaction.operations[read as usize].key;
        self.found.tell(Name::StaleRead, transaction.id, None, Some(self.index.ids()[key as usize]), true);
        for slot in gone {
            self.release(slot);
        }
    }

    /// Time goes on: what timed out is final, and what nobody can ask for any longer is dropped.
    pub fn advance(&mut self, now: u64) {
        let Terms { timeout, keep, .. } = self.terms;
        while let Some(&slot) = self.pending.front() {
            if self.transactions.get(slot).arrival.saturating_add(timeout) > now {
                break;
            }
            self.pending.pop_front();
            self.finish(slot);
            self.kept.push_back(slot);
        }
        while let Some(&slot) = self.kept.front() {
            if self.transactions.get(slot).arrival.saturating_add(timeout).saturating_add(keep) > now {
                break;
            }
            self.kept.pop_front();
            self.expire(slot);
        }
        self.collect();
    }

    /// Everything is final now, and stays in memory.
    pub fn flush(&mut self) {
        while let Some(slot) = self.pending.pop_front() {
            self.finish(slot);
            self.kept.push_back(slot);
        }
    }

    /// The answers about a transaction are final.
    fn finish(&mut self, slot: u32) {
        let transaction = self.transactions.get_mut(slot);
        transaction.is_final = true;
        let (wrong, flips) = (transaction.wrong, transaction.flips);
        if wrong == 0 && flips == 0 {
            return;
        }
        self.stability.transaction(flips);
        self.sizes.provisional -= u64::from(wrong);
        for read in 0..self.transactions.get(slot).operations.len() as u32 {
            let Some(doubt) = self.doubts.remove(&(slot, read)) else { continue };
            self.stability.read(doubt.flips);
            let key = self.transactions.get(slot).operations[read as usize].key;
            let context = context!(self);
            if self.keys[key as usize].find(context, slot, read).is_some_and(|read| read.is_wrong) {
                self.find_stale(slot, read);
            }
        }
    }

    /// A transaction need not be kept for others that come late.
    fn expire(&mut self, slot: u32) {
        let transaction = self.transactions.get(slot);
        if self.earliest.front().is_some_and(|&(number, _)| number == transaction.number) {
            self.earliest.pop_front();
        }
        let last = match self.terms.isolation {
            _ if !transaction.is_committed => Timestamp::default(),
            Isolation::Snapshot => transaction.start.max(transaction.commit),
            Isolation::Serializable => transaction.commit,
        };
        self.passed = self.passed.max(last);
        self.leaving.push(Reverse((last, slot)));
    }

    /// Drops what lies below the watermark, or lets it go to the disk.
    fn collect(&mut self) {
        let earliest = self.earliest.front().map_or(self.passed, |&(_, moment)| moment);
        self.watermark = self.watermark.max(earliest.min(self.passed));
        let mut old = Vec::new();
        while let Some(&Reverse((last, slot))) = self.leaving.peek() {
            if last >= self.watermark {
                break;
            }
            self.leaving.pop();
            old.push((last, slot));
        }
        let slots: Vec<u32> = old.iter().map(|&(_, slot)| slot).collect();
        let is_enough = self.spill.as_ref().is_none_or(|spill| slots.len() >= spill.least);
        if slots.is_empty() || !is_enough || !self.write_segment(&slots) {
            self.leaving.extend(old.into_iter().map(Reverse));
            return;
        }
        for slot in slots {
            self.drop_old(slot);
            self.release(slot);
        }
        if self.times.len() > 2 * self.times_kept {
            let watermark = self.watermark;
            self.times.retain(|&time, _| time >= watermark);
            self.times_kept = self.times.len().max(1 << 16);
        }
    }

    /// Cuts the keys of a transaction that leaves.
    fn drop_old(&mut self, slot: u32) {
        let keys = self.transactions.get(slot).keys();
        let held = u32::from(self.transactions.get(slot).is_late);
        let mut gone = Vec::new();
        for key in keys {
            let known = &mut self.keys[key as usize];
            known.held -= held;
            known.aside.retain(|&(other, _)| {
                if other == slot {
                    gone.push(slot);
                }
                other != slot
            });
            known.is_whole &= gone.is_empty();
            let (versions, reads) = known.cut(context!(self), self.watermark, &mut gone);
            self.sizes.versions -= versions as u64;
            self.sizes.reads -= reads as u64;
        }
        for slot in gone {
            self.release(slot);
        }
    }

    fn release(&mut self, slot: u32) {
        let Some(gone) = self.transactions.release(slot) else { return };
        if self.ids.get(&gone.id) == Some(&slot) {
            self.ids.remove(&gone.id);
        }
        for operation in &gone.operations {
            self.lists.forget(operation.value);
        }
    }

    /// How many of what there are.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes {
            live: self.transactions.len() as u64,
            pending: self.pending.len() as u64,
            keys: self.keys.len() as u64,
            sessions: u64::from(self.lanes),
            ..self.sizes
        }
    }

    /// By name, what is final; what is no read of others is final at once.
    #[must_use]
    pub const fn counts(&self) -> [u64; NAMES] {
        self.counts
    }

    /// How answers changed before they were final.
    #[must_use]
    pub fn stability(&self) -> &Stability {
        &self.stability
    }

    /// Below it only the newest version of each key is in memory.
    #[must_use]
    pub const fn watermark(&self) -> Timestamp {
        self.watermark
    }

    /// How many segments there are.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.spill.as_ref().map_or(self.segments.len(), |spill| spill.segments.len()) as u32
    }

    /// What the disk said when something could not be written or read.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Bytes in memory, as far as they are known.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let transactions = self.transactions.slots() * (size_of::<Transaction>() + 8);
        let operations = self.transactions.operations * size_of::<Operation>() as u64;
        let versions = self.sizes.versions * size_of::<Version>() as u64;
        let reads = self.sizes.reads * size_of::<Read>() as u64;
        let keys = self.keys.capacity() * (size_of::<Key>() + 32);
        let maps = self.times.capacity() * 33 + self.ids.capacity() * 17 + self.doubts.capacity() * 25;
        let queues = (self.pending.capacity() + self.kept.capacity()) * 4 + self.leaving.capacity() * 24;
        let lists = self.lists.elements * 8;
        (transactions + keys + maps + queues) as u64
            + operations
            + versions
            + reads
            + lists
            + self.values.bytes() as u64
    }
}
