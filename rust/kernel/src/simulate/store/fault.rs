//! Faults: named switches.

use crate::named_enum::named_enum;

named_enum! {
    /// A fault, by what goes wrong. An isolation has the first four and the last nine, a profile all but the last nine.
    pub enum Fault {
        /// A read shows an older version than that of its snapshot.
        StaleSnapshot => "stale-snapshot",
        /// A read shows the newest committed version, not the one of its snapshot.
        MovingSnapshot => "moving-snapshot",
        /// A read shows a write that is not committed.
        DirtyRead => "dirty-read",
        /// A read shows a write that was rolled back.
        AbortedRead => "aborted-read",
        /// A read shows a write that its own transaction overwrote.
        IntermediateRead => "intermediate-read",
        /// A read shows a version that is committed only later.
        FutureRead => "future-read",
        /// A read does not show the write of its own transaction.
        LostOwnWrite => "lost-own-write",
        /// A statement that writes does not wait for a lock.
        MissingLock => "missing-lock",
        /// A read does not wait for its lock.
        MissingShareLock => "missing-share-lock",
        /// A lock is released while its transaction goes on.
        EarlyRelease => "early-release",
        /// A row is changed although it changed since the snapshot.
        MissedFirstUpdater => "missed-first-updater",
        /// A transaction commits although the certifier should refuse it.
        MissedCertifier => "missed-certifier",
        /// A write disappears with its commit.
        LostVersion => "lost-version",
        /// A range read leaves out a row.
        MissingRow => "missing-row",
        /// A transaction commits although another has written its rows.
        LostUpdate => "lost-update",
        /// A transaction commits although another has written what it read.
        WriteSkew => "write-skew",
        /// Half of the writes of a transaction become visible later.
        FracturedCommit => "fractured-commit",
        /// A second read of a row shows the newest version.
        NonRepeatableRead => "non-repeatable-read",
        /// From some read on, a transaction does not see what it wrote.
        ForgottenWrite => "forgotten-write",
        /// The timestamp and the snapshot of a transaction are older than the last commit of its session.
        ReorderedSession => "reordered-session",
        /// One of the writes of a transaction never becomes visible.
        DroppedWrite => "dropped-write",
        /// The start and commit timestamps of a transaction change places.
        TimestampSwap => "timestamp-swap",
        /// A commit timestamp comes from a clock that is behind.
        ClockSkew => "clock-skew",
    }
}

impl Fault {
    /// Whether it can strike under an isolation.
    #[must_use]
    pub fn is_of_isolations(self) -> bool {
        self <= Self::AbortedRead || self > Self::MissingRow
    }

    /// Whether it can strike under a profile.
    #[must_use]
    pub fn is_of_profiles(self) -> bool {
        self <= Self::MissingRow
    }
}
