//! The levels of the clock while transactions arrive: each is judged when it comes, and again when a late one
//! gives it another version to read.
//!
//! Li et al. 2025 (AION). Every key has its versions by commit and the reads of others by the moment that they
//! show. A transaction is looked up in these, and a late version turns only the reads between it and the next.
//! There is no clock here: whoever calls says what time it is.

mod bytes;
mod chain;
mod collection;
mod compaction;
mod excerpt;
mod first;
mod intake;
mod judging;
mod key;
mod lists;
mod own;
mod report;
mod save;
mod sizes;
mod spill;
mod stability;
mod transactions;

pub use bytes::Damaged;
pub use intake::Refusal;
pub use report::{News, Report};
pub use sizes::Sizes;
pub use spill::Store;
pub use stability::Stability;

use super::{Isolation, NAMES};
use crate::history::{History, Timestamp};
use crate::index::DenseIndex;
use crate::value::{Value, Values};
use hashbrown::HashMap;
use key::{Key, Read, Shape, Turn, Version};
use lists::Lists;
use own::Own;
use report::Kept;
use spill::{Segment, Spill};
use stability::Doubts;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use transactions::{Operation, Transaction, Transactions};

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

/// Judges one level.
pub struct Engine {
    terms: Terms,
    initial: Option<Value>,
    values: Values,
    /// Bytes of texts when somebody last looked.
    texts: usize,
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
            texts: 0,
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
        let repeated = self.admit(history)?;
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
        Ok(taken)
    }

    /// How many of what there are.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes {
            live: self.transactions.len() as u64,
            pending: self.pending.len() as u64,
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

    /// Bytes in use, as far as they are known; what was used once and is free again is not counted.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let all = [
            (self.transactions.len(), size_of::<Transaction>() + 8),
            (self.transactions.operations as usize, size_of::<Operation>()),
            (self.sizes.versions as usize, size_of::<Version>()),
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
        // Half of it again goes to room that is not used yet, and to the allocator.
        known as u64 * 3 / 2
    }
}
