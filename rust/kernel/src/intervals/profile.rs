//! A profile: the mechanisms of one isolation level of one database, and what each statement locks and reads.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// When the snapshot of consistent reads is taken.
    pub enum Snapshot {
        /// Every statement takes its own snapshot.
        Statement => "statement",
        /// The first statement that reads takes the snapshot of its transaction.
        FirstRead => "first-read",
        /// The first statement of any kind takes the snapshot of its transaction.
        FirstStatement => "first-statement",
        /// The statement that begins the transaction takes its snapshot.
        Begin => "begin",
        /// The transaction has one snapshot, of an instant that the database chooses between its first operation and
        /// the answer to its first statement. Where only reads are certified, a write that locks nothing takes none.
        Start => "start",
        /// The transaction has one snapshot, of an instant that the database chooses between begin and commit.
        Transaction => "transaction",
    }
}

impl Snapshot {
    /// Whether all reads of a transaction show the same instant.
    #[must_use]
    pub const fn is_of_transaction(self) -> bool {
        !matches!(self, Self::Statement)
    }
}

named_enum! {
    /// The mechanism that refuses transactions that would not be serializable, or would lose an update.
    pub enum Certifier {
        /// There is none.
        None => "none",
        /// Serializable snapshot isolation: no two consecutive rw whose last transaction commits first.
        Ssi => "ssi",
        /// Timestamp ordering: no transaction depends on one with a newer timestamp.
        TimestampOrder => "timestamp-order",
        /// Optimistic: a transaction that writes commits only if no other transaction overwrote its reads.
        OptimisticReads => "optimistic-reads",
        /// Optimistic: a transaction that writes commits only if no other transaction wrote the same keys since
        /// its snapshot (also Percolator).
        OptimisticWrites => "optimistic-writes",
    }
}

named_enum! {
    /// The lock that a statement holds on a row until its transaction ends.
    #[allow(missing_docs)]
    pub enum Lock {
        None => "none",
        Share => "share",
        /// Excludes other update locks and exclusive locks; share locks are allowed.
        Update => "update",
        Exclusive => "exclusive",
    }
}

impl Lock {
    /// Whether two transactions cannot hold these locks at the same time.
    #[must_use]
    pub const fn conflicts(self, other: Self) -> bool {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => false,
            (Self::Exclusive, _) | (_, Self::Exclusive) | (Self::Update, Self::Update) => true,
            _ => false,
        }
    }
}

named_enum! {
    /// Which version a statement reads.
    pub enum Read {
        /// The newest version, committed or not.
        Uncommitted => "uncommitted",
        /// The version of the snapshot.
        Consistent => "consistent",
        /// The newest committed version at an instant of the statement.
        Locking => "locking",
    }
}

named_enum! {
    /// The resource that a lock is on.
    #[allow(missing_docs)]
    pub enum Granularity {
        Row => "row",
        Table => "table",
        Database => "database",
    }
}

named_enum! {
    /// The kinds of statements that a profile tells apart.
    #[allow(missing_docs)]
    pub enum Statement {
        Select => "select",
        SelectForShare => "select-for-share",
        SelectForUpdate => "select-for-update",
        Insert => "insert",
        Update => "update",
        Delete => "delete",
    }
}

/// What a statement locks and reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// The lock that it holds on its rows until the transaction ends.
    pub lock: Lock,
    /// Which versions of its rows it reads.
    pub read: Read,
    /// Whether its lock covers all rows that its predicate matches, including rows that do not exist yet.
    pub locks_predicate: bool,
}

/// One isolation level of one database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// When the snapshot of consistent reads is taken.
    pub snapshot: Snapshot,
    /// The resource that a lock is on.
    pub granularity: Granularity,
    /// Whether only one of two concurrent transactions that update the same row commits.
    pub first_updater_wins: bool,
    /// Whether this is also asked of a transaction that inserts a row which the other one deleted.
    pub compares_inserts: bool,
    /// Whether clocks of several machines time snapshots and commits: real time orders them only where they have a key
    /// in common.
    pub clock_skew: bool,
    /// The mechanism that refuses to commit.
    pub certifier: Certifier,
    /// The lock that a transaction holds on the rows that it changed while it commits.
    pub commit_lock: Lock,
    /// What each kind of statement locks and reads, in the order of [`Statement::ALL`].
    pub statements: [Conduct; Statement::ALL.len()],
}

impl Profile {
    /// Whether a version is as old as the timestamp of its transaction. Where reads lock, that is one of the commit.
    #[must_use]
    pub fn orders_by_timestamp(&self) -> bool {
        let select = self.statements[Statement::Select as usize];
        self.certifier == Certifier::TimestampOrder && select.lock == Lock::None
    }
}
