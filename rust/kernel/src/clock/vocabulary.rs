//! The levels of the clock, the anomalies that contradict it, and the versions that a stale read can show.

use serde::{Deserialize, Serialize};

/// A level that the clock decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClockLevel {
    /// Every transaction reads the snapshot of its start, and no two that overlap write the same key.
    Snapshot,
    /// Every transaction happens at its commit.
    Serializable,
}

impl ClockLevel {
    /// Both levels.
    pub const ALL: [Self; 2] = [Self::Snapshot, Self::Serializable];

    /// The name of the level.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Snapshot => "clock-snapshot-isolation",
            Self::Serializable => "clock-serializable",
        }
    }

    /// The level with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// What can contradict the clock, in the order in which reports show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum ClockAnomaly {
    /// EXT: a read shows another version than the newest that was committed.
    StaleRead,
    /// SESSION: a transaction starts before the one before it in its session committed.
    SessionOrder,
    /// NOCONFLICT: two transactions that overlap wrote the same key.
    WriteConflict,
    /// A transaction starts after it committed.
    TimestampInversion,
    /// INT: a read does not show what its transaction wrote.
    NotMyOwnWrite,
    /// INT: a read shows what its transaction wrote and then replaced.
    NotMyLastWrite,
    /// INT: a read does not show what its transaction read before.
    NonRepeatableRead,
}

impl ClockAnomaly {
    /// How many there are.
    pub const COUNT: usize = 7;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] = [
        Self::StaleRead,
        Self::SessionOrder,
        Self::WriteConflict,
        Self::TimestampInversion,
        Self::NotMyOwnWrite,
        Self::NotMyLastWrite,
        Self::NonRepeatableRead,
    ];

    /// The name of the anomaly.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StaleRead => "stale-read",
            Self::SessionOrder => "session-order",
            Self::WriteConflict => "write-conflict",
            Self::TimestampInversion => "timestamp-inversion",
            Self::NotMyOwnWrite => "not-my-own-write",
            Self::NotMyLastWrite => "not-my-last-write",
            Self::NonRepeatableRead => "non-repeatable-read",
        }
    }

    /// The axiom of Li et al. 2025 that the anomaly breaks.
    #[must_use]
    pub const fn axiom(self) -> &'static str {
        match self {
            Self::StaleRead => "ext",
            Self::SessionOrder => "session",
            Self::WriteConflict => "noconflict",
            Self::TimestampInversion => "start-commit",
            Self::NotMyOwnWrite | Self::NotMyLastWrite | Self::NonRepeatableRead => "int",
        }
    }
}

/// The version that a stale read shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VersionClass {
    NeverWritten,
    OlderVersion,
    NewerVersion,
    Uncommitted,
}

impl VersionClass {
    /// The name of the class.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NeverWritten => "never-written",
            Self::OlderVersion => "older-version",
            Self::NewerVersion => "newer-version",
            Self::Uncommitted => "uncommitted",
        }
    }
}
