//! Faults, one at a time.

use crate::named_enum::named_enum;

named_enum! {
    /// The effect on a transaction in which the fault may strike.
    pub enum Bug {
        /// It reads the snapshot of the oldest open transaction.
        StaleSnapshot => "stale-snapshot",
        /// It reads the newest versions, not those of its snapshot.
        MovingSnapshot => "moving-snapshot",
        /// It commits although another transaction has written its rows.
        LostUpdate => "lost-update",
        /// It commits although another transaction has written what it read.
        WriteSkew => "write-skew",
        /// Half of its writes become visible later.
        FracturedCommit => "fractured-commit",
        /// It reads writes that are not committed.
        DirtyRead => "dirty-read",
        /// It reads writes that were rolled back.
        AbortedRead => "aborted-read",
        /// A second read of a row shows the newest version.
        NonRepeatableRead => "non-repeatable-read",
        /// A read does not show the transaction's own write.
        ForgottenWrite => "forgotten-write",
        /// Its timestamp and its snapshot are older than the last commit of its session.
        ReorderedSession => "reordered-session",
        /// One of its writes gets lost.
        DroppedWrite => "dropped-write",
        /// Its start and commit timestamps change places.
        TimestampSwap => "timestamp-swap",
        /// Its commit timestamp comes from a clock that is behind.
        ClockSkew => "clock-skew",
    }
}
