//! The levels of the clock while transactions arrive: each is judged when it comes, and again when a late one
//! gives it another version to read.
//!
//! Li et al. 2025 (AION). Every key has its versions by commit and its external reads by the time of the snapshot
//! that they show. A late version changes only the reads between it and the next version. There is no clock here:
//! the caller passes the time.

mod arrival;
mod chain;
mod checkpoint;
mod collection;
mod context;
mod excerpt_history;
mod initial_value;
mod intake;
mod kept_findings;
mod key;
mod key_retention;
mod lists;
mod own_operations;
mod recall;
mod report;
mod segments;
mod sequences;
mod sizes;
mod stability;
mod stored_transaction;
mod text_compaction;
mod transactions;

pub use checkpoint::Damaged;
pub use intake::BatchRefusal;
pub use kept_findings::News;
pub use report::Report;
pub use segments::SegmentStore;
pub use sizes::Sizes;
pub use stability::Stability;

use super::{ClockAnomaly, ClockLevel};
use crate::history::{History, Timestamp};
use crate::index::DenseIndex;
use crate::value::{Value, Values};
use checkpoint::{atoms, ids, in_order};
use context::context;
use hashbrown::HashMap;
use kept_findings::KeptFindings;
use key::{Key, KeyVersion, Read, Shape, Turn};
use lists::Lists;
use own_operations::OwnOperations;
use segments::Segments;
use sequences::LastPlace;
use serde::{Deserialize, Serialize};
use stability::Doubts;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use transactions::{Operation, Transaction, Transactions};

/// How an engine judges.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Terms {
    /// The level.
    pub level: ClockLevel,
    /// How many findings of each anomaly are kept.
    pub max_anomalies: usize,
    /// So long after its arrival a transaction is final, and so much longer it is kept; nanoseconds.
    pub timeout: u64,
    #[allow(missing_docs)]
    pub keep: u64,
}

/// Judges one level.
#[derive(Serialize, Deserialize)]
pub struct Engine {
    terms: Terms,
    initial: Option<Value>,
    #[serde(with = "atoms")]
    values: Values,
    /// Bytes of texts after the last compaction.
    texts: usize,
    #[serde(with = "ids")]
    index: DenseIndex,
    keys: Vec<Key>,
    #[serde(with = "ids")]
    sessions: DenseIndex,
    /// The last transaction of each session, and how many it had.
    latest: Vec<Option<u32>>,
    places: Vec<u32>,
    /// The explicit place of the last transaction of each session.
    sequences: Vec<LastPlace>,
    /// The place of each session among all; how many there are, sessions without a name included.
    lane_of: Vec<u32>,
    lanes: u32,
    transactions: Transactions,
    lists: Lists,
    #[serde(skip)]
    ids: HashMap<Value, u32>,
    /// The first transaction with a time, and whether another has it.
    #[serde(serialize_with = "in_order")]
    times: HashMap<Timestamp, (u64, bool)>,
    times_kept: usize,
    #[serde(skip)]
    own: OwnOperations,
    #[serde(skip)]
    turns: Vec<Turn>,
    /// Transactions that are not final, in the order of arrival; behind them those that are kept.
    pending: VecDeque<u32>,
    kept: VecDeque<u32>,
    /// The earliest times that they need; each is smaller than all that came after it.
    earliest: VecDeque<(u64, Timestamp)>,
    /// Transactions that may leave memory, by the later of their times.
    #[serde(serialize_with = "in_order")]
    leaving: BinaryHeap<Reverse<(Timestamp, u32)>>,
    watermark: Timestamp,
    /// The latest time of the transactions that may leave memory.
    passed: Timestamp,
    counts: [u64; ClockAnomaly::COUNT],
    found: KeptFindings,
    #[serde(serialize_with = "in_order")]
    doubts: Doubts,
    stability: Stability,
    sizes: Sizes,
    segments: Segments,
    /// Transactions that were read back for one report.
    #[serde(skip)]
    borrowed: Vec<u32>,
    /// The last message of the disk.
    #[serde(skip)]
    trouble: Option<String>,
}

impl Engine {
    /// An engine to which nothing has arrived yet.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            initial: None,
            values: Values::default(),
            texts: 0,
            index: DenseIndex::default(),
            keys: Vec::new(),
            sessions: DenseIndex::default(),
            latest: Vec::new(),
            places: Vec::new(),
            sequences: Vec::new(),
            lane_of: Vec::new(),
            lanes: 0,
            transactions: Transactions::default(),
            lists: Lists::default(),
            ids: HashMap::new(),
            times: HashMap::new(),
            times_kept: 1 << 16,
            own: OwnOperations::default(),
            turns: Vec::new(),
            pending: VecDeque::new(),
            kept: VecDeque::new(),
            earliest: VecDeque::new(),
            leaving: BinaryHeap::new(),
            watermark: Timestamp::default(),
            passed: Timestamp::default(),
            counts: [0; ClockAnomaly::COUNT],
            found: KeptFindings::new(terms.max_anomalies),
            doubts: Doubts::default(),
            stability: Stability::default(),
            sizes: Sizes::default(),
            segments: Segments::default(),
            borrowed: Vec::new(),
            trouble: None,
        }
    }

    /// The scalars, to name an initial value.
    pub fn values_mut(&mut self) -> &mut Values {
        &mut self.values
    }

    /// The scalars.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// States the initial value of all keys, before anything arrives.
    pub fn set_initial(&mut self, initial: Value) {
        self.initial = Some(initial);
    }

    /// Takes a batch that arrives now; how many of its transactions are new.
    ///
    /// # Errors
    /// If one of them cannot be judged: then none is taken.
    pub fn take(&mut self, history: &History, now: u64) -> Result<u64, BatchRefusal> {
        let repeated = self.admit(history)?;
        Ok(self.take_admitted(history, repeated, now))
    }

    /// Takes a batch for which [`Engine::admit`] has just given `repeated`; how many of its transactions are new.
    pub fn take_admitted(&mut self, history: &History, repeated: Vec<bool>, now: u64) -> u64 {
        let translation = self.translate(history);
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
        taken
    }

    /// The level that is judged.
    #[must_use]
    pub const fn level(&self) -> ClockLevel {
        self.terms.level
    }

    /// The counters.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes {
            live: self.transactions.len() as u64,
            pending: self.pending.len() as u64,
            sessions: u64::from(self.lanes),
            ..self.sizes
        }
    }

    /// Final findings by anomaly; only stale reads are not final at once.
    #[must_use]
    pub const fn counts(&self) -> [u64; ClockAnomaly::COUNT] {
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
        self.segments.count() as u32
    }

    /// The message of the disk, if something could not be written or read.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Bytes in use, estimated; memory that is free again is not counted.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let all = [
            (self.transactions.len(), size_of::<Transaction>() + 8),
            (self.transactions.operations as usize, size_of::<Operation>()),
            (self.sizes.versions as usize, size_of::<KeyVersion>()),
            (self.sizes.reads as usize, size_of::<Read>()),
            (self.keys.len(), size_of::<Key>() + 32),
            (self.lists.elements as usize, size_of::<Value>()),
            (self.pending.len() + self.kept.len(), 8),
            (self.leaving.len(), 32),
            // Tables are at most half empty.
            (self.times.len(), 66),
            (self.ids.len(), 34),
            (self.doubts.len(), 50),
        ];
        let known = all.iter().map(|&(count, bytes)| count * bytes).sum::<usize>() + self.values.bytes();
        // Unused capacity and the allocator take half of it again.
        known as u64 * 3 / 2
    }
}
