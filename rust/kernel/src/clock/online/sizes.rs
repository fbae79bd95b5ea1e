//! How many of what an engine holds and has seen.

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
