//! Closed intervals, each with an event at one instant inside it.

use serde::{Deserialize, Serialize};

/// From when the client asked to when it had the answer; the instant is somewhere in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Not before this.
    pub invoke: i64,
    /// Not after this; [`Span::NEVER`] if that is not known.
    pub complete: i64,
}

impl Span {
    /// An end that is not known.
    pub const NEVER: i64 = i64::MAX;

    /// Whether this was over before `other` can have happened, however the instants are chosen.
    #[must_use]
    pub const fn precedes(self, other: Self) -> bool {
        self.complete < other.invoke
    }

    /// Whether some choice of instants puts this before `other`, or both at one instant.
    #[must_use]
    pub const fn may_precede(self, other: Self) -> bool {
        self.invoke <= other.complete
    }

    /// The same by clocks that may be wrong by so much.
    #[must_use]
    pub const fn widened(self, error: i64) -> Self {
        let complete =
            if self.complete == Self::NEVER { Self::NEVER } else { self.complete.saturating_add(error) };
        Self { invoke: self.invoke.saturating_sub(error), complete }
    }

    /// From the beginning of this to the end of `other`.
    #[must_use]
    pub const fn to(self, other: Self) -> Self {
        Self { invoke: self.invoke, complete: other.complete }
    }
}
