//! A recorded history as columns: sessions of transactions of operations.

mod time;

pub use time::{Interval, Sequence, Timestamp};

use crate::named_enum::named_enum;
use crate::value::{Value, Values};

/// No key: the operation is about the transaction, or about a range.
pub const NO_KEY: u32 = u32::MAX;
/// The line of something that no input line shows.
pub const NO_LINE: u32 = 0;

named_enum! {
    /// What an operation did.
    pub enum Kind {
        Read => "read",
        Write => "write",
        Append => "append",
        Insert => "insert",
        Delete => "delete",
        RangeRead => "range-read",
        Begin => "begin",
        Commit => "commit",
        Abort => "abort",
    }
}

impl Kind {
    /// Whether the operation makes a new version of its key.
    #[must_use]
    pub const fn installs(self) -> bool {
        matches!(self, Self::Write | Self::Append | Self::Insert | Self::Delete)
    }
}

named_enum! {
    /// What the client knows of a transaction's end.
    pub enum Status {
        Committed => "committed",
        Aborted => "aborted",
        /// The client never learned.
        Indeterminate => "indeterminate",
    }
}

/// A column that most histories leave empty: absent entries cost nothing until one is set.
#[derive(Debug, Clone, Default)]
pub struct Optional<T>(Vec<T>);

impl<T: Copy + Default + PartialEq> Optional<T> {
    /// The entry at `index`; the default if it was never set.
    #[must_use]
    pub fn get(&self, index: usize) -> T {
        self.0.get(index).copied().unwrap_or_default()
    }

    /// Sets the entry at `index`.
    pub fn set(&mut self, index: usize, entry: T) {
        if entry == T::default() && index >= self.0.len() {
            return;
        }
        if index >= self.0.len() {
            self.0.resize(index + 1, T::default());
        }
        self.0[index] = entry;
    }

    /// Whether no entry was ever set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The column in a new order: entry `i` is the old entry `order[i]`.
    #[must_use]
    pub(crate) fn reordered(self, order: &[u32]) -> Self {
        if self.is_empty() {
            return self;
        }
        Self(order.iter().map(|&old| self.get(old as usize)).collect())
    }
}

/// What a range read asked for and saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Lower bound; nil if open.
    pub low: Value,
    /// Upper bound; nil if open.
    pub high: Value,
    /// First of its rows.
    pub first_row: u32,
    /// How many rows it returned.
    pub live: u32,
    /// How many deleted rows it saw, after the live ones.
    pub dead: u32,
}

/// Range reads and the rows that they saw, each a key and a value.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Ranges {
    pub ranges: Vec<Range>,
    pub row_keys: Vec<u32>,
    pub row_values: Vec<Value>,
}

/// The source of a recorded order of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum VersionSource {
    /// A write-ahead log, binlog or change-data-capture stream: it also proves commit.
    Log,
    /// The history itself declares it.
    Declared,
}

impl VersionSource {
    /// Every source, by its number.
    pub const ALL: [Self; 2] = [Self::Log, Self::Declared];

    /// Its name in tables and in Python.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Declared => "declared",
        }
    }

    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

/// The order of versions that one source gives, key by key.
#[derive(Debug, Clone)]
pub struct VersionOrder {
    /// The source of the order.
    pub source: VersionSource,
    /// Versions of key `k` are `versions[offsets[k]..offsets[k + 1]]`.
    pub offsets: Vec<u32>,
    /// Values in the order of installation.
    pub versions: Vec<Value>,
}

impl VersionOrder {
    /// The versions of `key` in order.
    #[must_use]
    pub fn of(&self, key: u32) -> &[Value] {
        let key = key as usize;
        &self.versions[self.offsets[key] as usize..self.offsets[key + 1] as usize]
    }
}

/// What every key holds before the first write. Lists always start empty.
#[derive(Debug, Clone)]
pub struct Initial {
    /// The value of every key that has none of its own; [`Value::UNKNOWN`] if it is unknown.
    pub default: Value,
    /// Keys with a value of their own, sorted by key.
    pub of_key: Vec<(u32, Value)>,
    /// Whether an explicit write of the initial value takes the place of the implicit one.
    pub replaceable: bool,
}

impl Default for Initial {
    fn default() -> Self {
        Self { default: Value::UNKNOWN, of_key: Vec::new(), replaceable: false }
    }
}

impl Initial {
    /// The initial value of `key`; [`Value::UNKNOWN`] if it is unknown.
    #[must_use]
    pub fn of(&self, key: u32) -> Value {
        match self.of_key.binary_search_by_key(&key, |&(key, _)| key) {
            Ok(found) => self.of_key[found].1,
            Err(_) => self.default,
        }
    }
}

/// Columns of operations, grouped by transaction and in program order inside each.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Operations {
    pub kinds: Vec<Kind>,
    pub keys: Vec<u32>,
    /// What was read or written; for a range read the number of its [`Range`].
    pub values: Vec<Value>,
    /// Input line, counted over all files of the input; [`NO_LINE`] if there is none.
    pub lines: Vec<u32>,
    pub intervals: Optional<Interval>,
    /// Table, columns and statement kind as texts, [`Value::NIL`]-like default if absent.
    pub tables: Optional<Label>,
    pub columns: Optional<Label>,
    pub statements: Optional<Label>,
    /// The lock and the kind of read that the statement asked for, and its predicate, as texts.
    pub lock_modes: Optional<Label>,
    pub read_modes: Optional<Label>,
    pub predicates: Optional<Label>,
    /// The read saw a deleted row, or the write left one.
    pub tombstones: Optional<bool>,
    /// Reads that say what a range read left out, in a history whose range reads are itemised.
    pub left_out: Optional<LeftOut>,
}

/// Whether a read says what a range read left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeftOut {
    /// It is a read of its own, or a row that a range read shows.
    #[default]
    No,
    /// The range read left the key out: the value says in which state the key was.
    Known,
    /// The predicate of the operation did not match the state of the key; the value is unknown.
    Unmatched,
}

/// A value that is nil unless it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(pub Value);

impl Default for Label {
    fn default() -> Self {
        Self(Value::NIL)
    }
}

/// Columns of transactions, in the order in which the input shows them.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Transactions {
    pub ids: Vec<Value>,
    pub sessions: Vec<u32>,
    pub statuses: Vec<Status>,
    /// Line of the first mention.
    pub lines: Vec<u32>,
    /// Explicit place in the session, where the format has one.
    pub sequences: Optional<Sequence>,
    pub starts: Optional<Timestamp>,
    pub commits: Optional<Timestamp>,
    pub intervals: Optional<Interval>,
    /// Invocation and completion as places in one total order of events (Jepsen's line order).
    pub positions: Optional<Interval>,
}

/// A whole history; made by [`crate::builder::Builder`] and never changed.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct History {
    pub values: Values,
    pub keys: Vec<Value>,
    /// Original session ids; nil for a session that the input does not name.
    pub session_ids: Vec<Value>,
    /// Transactions of session `s` in session order:
    /// `session_transactions[session_offsets[s]..session_offsets[s + 1]]`.
    pub session_offsets: Vec<u32>,
    pub session_transactions: Vec<u32>,
    pub transactions: Transactions,
    /// Operations of transaction `t`: `operation_offsets[t]..operation_offsets[t + 1]`.
    pub operation_offsets: Vec<u32>,
    pub operations: Operations,
    pub ranges: Ranges,
    pub versions: Vec<VersionOrder>,
    pub initial: Initial,
    /// What the reader counted on the way (lines skipped, ids renumbered, ...).
    pub notes: Vec<(String, u64)>,
}

impl History {
    /// How many transactions there are.
    #[must_use]
    pub fn transaction_count(&self) -> usize {
        self.transactions.ids.len()
    }

    /// How many operations there are.
    #[must_use]
    pub fn operation_count(&self) -> usize {
        self.operations.kinds.len()
    }

    /// Operations of `transaction`, in program order.
    #[must_use]
    pub fn operations_of(&self, transaction: usize) -> std::ops::Range<usize> {
        self.operation_offsets[transaction] as usize..self.operation_offsets[transaction + 1] as usize
    }

    /// The transaction that has an operation.
    #[must_use]
    pub fn transaction_of(&self, operation: u32) -> u32 {
        (self.operation_offsets.partition_point(|&offset| offset <= operation) - 1) as u32
    }

    /// Whether `transaction` read or wrote anything.
    #[must_use]
    pub fn touches_data(&self, transaction: usize) -> bool {
        let mut kinds = self.operations.kinds[self.operations_of(transaction)].iter();
        kinds.any(|kind| !matches!(kind, Kind::Begin | Kind::Commit | Kind::Abort))
    }

    /// What `operation`, a range read, asked for and saw.
    #[must_use]
    pub fn range_of(&self, operation: usize) -> Range {
        self.ranges.ranges[self.operations.values[operation].as_small().unwrap_or_default() as usize]
    }

    /// The rows that `operation`, a range read, returned: keys and values.
    pub fn rows_of(&self, operation: usize) -> impl Iterator<Item = (u32, Value)> {
        let Range { first_row, live, .. } = self.range_of(operation);
        let rows = first_row as usize..(first_row + live) as usize;
        rows.map(|row| (self.ranges.row_keys[row], self.ranges.row_values[row]))
    }

    /// Transactions of `session`, in session order.
    #[must_use]
    pub fn transactions_of(&self, session: usize) -> &[u32] {
        let (from, to) = (self.session_offsets[session], self.session_offsets[session + 1]);
        &self.session_transactions[from as usize..to as usize]
    }

    /// Transactions in an order of the input that keeps every session in session order.
    pub fn written_order(&self) -> impl Iterator<Item = usize> {
        let mut next = self.session_offsets.clone();
        (0..self.transaction_count()).map(move |transaction| {
            let session = self.transactions.sessions[transaction] as usize;
            next[session] += 1;
            self.session_transactions[next[session] as usize - 1] as usize
        })
    }

    /// The transaction of each operation.
    #[must_use]
    pub fn transaction_of_operation(&self) -> Vec<u32> {
        let mut owners = vec![0; self.operation_count()];
        for transaction in 0..self.transaction_count() {
            owners[self.operations_of(transaction)].fill(transaction as u32);
        }
        owners
    }
}
