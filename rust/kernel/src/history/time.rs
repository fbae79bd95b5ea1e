//! Intervals, timestamps and places in a session; each may be missing.

use serde::{Deserialize, Serialize};

/// A time that may be missing.
const NEVER: i64 = i64::MIN;

/// Closed interval between two instants of one clock; either may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    invoke: i64,
    complete: i64,
}

impl Interval {
    /// From invocation to completion.
    #[must_use]
    pub fn new(invoke: Option<i64>, complete: Option<i64>) -> Self {
        Self { invoke: invoke.unwrap_or(NEVER), complete: complete.unwrap_or(NEVER) }
    }

    /// When the client asked.
    #[must_use]
    pub fn invoke(self) -> Option<i64> {
        (self.invoke != NEVER).then_some(self.invoke)
    }

    /// When the client had the answer.
    #[must_use]
    pub fn complete(self) -> Option<i64> {
        (self.complete != NEVER).then_some(self.complete)
    }

    /// Whether both ends are known.
    #[must_use]
    pub fn is_closed(self) -> bool {
        self.invoke != NEVER && self.complete != NEVER
    }
}

impl Default for Interval {
    fn default() -> Self {
        Self::new(None, None)
    }
}

/// A reading of the database's clock, compared physical part first; may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp {
    physical: i64,
    logical: i64,
}

impl Timestamp {
    /// The reading (physical, logical).
    #[must_use]
    pub const fn new(physical: i64, logical: i64) -> Self {
        Self { physical, logical }
    }

    /// Both parts, if there is a reading.
    #[must_use]
    pub fn parts(self) -> Option<(i64, i64)> {
        (self.physical != NEVER).then_some((self.physical, self.logical))
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::new(NEVER, 0)
    }
}

/// An explicit place in a session; may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(i64);

impl Sequence {
    /// Place `number`.
    #[must_use]
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// The place, if there is one.
    #[must_use]
    pub fn number(self) -> Option<i64> {
        (self.0 != NEVER).then_some(self.0)
    }
}

impl Default for Sequence {
    fn default() -> Self {
        Self(NEVER)
    }
}
