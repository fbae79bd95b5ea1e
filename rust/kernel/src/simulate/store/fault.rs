//! Faults, one at a time.

/// The effect on a transaction in which the fault may strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// It reads the snapshot of the oldest open transaction.
    StaleSnapshot,
    /// It reads the newest versions, not those of its snapshot.
    MovingSnapshot,
    /// It commits although another transaction has written its rows.
    LostUpdate,
    /// It commits although another transaction has written what it read.
    WriteSkew,
    /// Half of its writes become visible later.
    FracturedCommit,
    /// It reads writes that are not committed.
    DirtyRead,
    /// It reads writes that were rolled back.
    AbortedRead,
    /// A second read of a row shows the newest version.
    NonRepeatableRead,
    /// A read does not show the transaction's own write.
    ForgottenWrite,
    /// Its timestamp and its snapshot are older than the last commit of its session.
    ReorderedSession,
    /// One of its writes gets lost.
    DroppedWrite,
    /// Its start and commit timestamps change places.
    TimestampSwap,
    /// Its commit timestamp comes from a clock that is behind.
    ClockSkew,
}

impl Bug {
    /// Every bug.
    pub const ALL: [Self; 13] = [
        Self::StaleSnapshot,
        Self::MovingSnapshot,
        Self::LostUpdate,
        Self::WriteSkew,
        Self::FracturedCommit,
        Self::DirtyRead,
        Self::AbortedRead,
        Self::NonRepeatableRead,
        Self::ForgottenWrite,
        Self::ReorderedSession,
        Self::DroppedWrite,
        Self::TimestampSwap,
        Self::ClockSkew,
    ];

    /// The name in Python and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StaleSnapshot => "stale-snapshot",
            Self::MovingSnapshot => "moving-snapshot",
            Self::LostUpdate => "lost-update",
            Self::WriteSkew => "write-skew",
            Self::FracturedCommit => "fractured-commit",
            Self::DirtyRead => "dirty-read",
            Self::AbortedRead => "aborted-read",
            Self::NonRepeatableRead => "non-repeatable-read",
            Self::ForgottenWrite => "forgotten-write",
            Self::ReorderedSession => "reordered-session",
            Self::DroppedWrite => "dropped-write",
            Self::TimestampSwap => "timestamp-swap",
            Self::ClockSkew => "clock-skew",
        }
    }
}
