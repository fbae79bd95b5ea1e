//! What a database promises to do at one level: which mechanisms, and what each statement locks and reads.

use serde::{Deserialize, Serialize};

/// When the snapshot of consistent reads is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Snapshot {
    /// Every statement takes its own.
    Statement,
    /// The first statement that reads takes that of its transaction.
    FirstRead,
    /// The first statement of any kind does.
    FirstStatement,
    /// The statement that begins the transaction does.
    Begin,
    /// One for the transaction, at an instant that the database chooses between its begin and its commit.
    Transaction,
}

impl Snapshot {
    /// Every one, by its number.
    pub const ALL: [Self; 5] =
        [Self::Statement, Self::FirstRead, Self::FirstStatement, Self::Begin, Self::Transaction];

    /// Whether all reads of a transaction show the same moment.
    #[must_use]
    pub const fn is_of_transaction(self) -> bool {
        !matches!(self, Self::Statement)
    }
}

/// What refuses transactions that would not be serializable, or would lose an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Certifier {
    /// Nothing does.
    None,
    /// Serializable snapshot isolation: no two consecutive rw whose last transaction commits first.
    Ssi,
    /// Timestamp ordering: nobody depends on a transaction with a newer timestamp.
    TimestampOrder,
    /// Optimistic: who writes commits only if nobody overwrote what it read.
    OptimisticReads,
    /// Optimistic: who writes commits only if nobody wrote the same since its snapshot (Percolator, too).
    OptimisticWrites,
}

impl Certifier {
    /// Every one, by its number.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Ssi, Self::TimestampOrder, Self::OptimisticReads, Self::OptimisticWrites];
}

/// What a statement holds on a row until its transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Lock {
    None,
    Share,
    /// Excludes other updates, and nobody who reads.
    Update,
    Exclusive,
}

impl Lock {
    /// Every mode, by its number.
    pub const ALL: [Self; 4] = [Self::None, Self::Share, Self::Update, Self::Exclusive];

    /// Whether two transactions cannot hold these at the same time.
    #[must_use]
    pub const fn conflicts(self, other: Self) -> bool {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => false,
            (Self::Exclusive, _) | (_, Self::Exclusive) | (Self::Update, Self::Update) => true,
            _ => false,
        }
    }
}

/// Which version a statement reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Read {
    /// The newest, committed or not.
    Uncommitted,
    /// That of the snapshot.
    Consistent,
    /// The newest committed one at an instant of the statement.
    Locking,
}

impl Read {
    /// Every mode, by its number.
    pub const ALL: [Self; 3] = [Self::Uncommitted, Self::Consistent, Self::Locking];
}

/// What a lock is taken on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Granularity {
    Row,
    Table,
    Database,
}

impl Granularity {
    /// Every one, by its number.
    pub const ALL: [Self; 3] = [Self::Row, Self::Table, Self::Database];
}

/// Statements that a profile tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Statement {
    Select,
    SelectForShare,
    SelectForUpdate,
    Insert,
    Update,
    Delete,
}

impl Statement {
    /// Every one, by its number.
    pub const ALL: [Self; 6] =
        [Self::Select, Self::SelectForShare, Self::SelectForUpdate, Self::Insert, Self::Update, Self::Delete];
}

/// What one kind of statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// What it holds on the rows that it names until the transaction ends.
    pub lock: Lock,
    /// Which versions of them it reads.
    pub read: Read,
    /// Whether its lock covers all that its predicate speaks of, also rows that are not there.
    pub locks_predicate: bool,
}

/// One level of one database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// When the snapshot is taken that consistent reads show.
    pub snapshot: Snapshot,
    /// What locks are taken on.
    pub granularity: Granularity,
    /// Whether of two transactions that overlap and update the same row only one commits.
    pub first_updater_wins: bool,
    /// What refuses to commit.
    pub certifier: Certifier,
    /// What a transaction holds while it commits on the rows that it changed.
    pub commit_lock: Lock,
    /// What each kind of statement does, by its number.
    pub statements: [Conduct; Statement::ALL.len()],
}
