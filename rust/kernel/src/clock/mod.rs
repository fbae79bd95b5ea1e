//! Snapshot isolation and serializability by the database's own clock: replay, and compare every read.
//!
//! Li et al. 2025 (CHRONOS); `reference/clock.py` is the specification. Cost: a sort of the events, then
//! linear in the operations. [`passes`] holds the algorithm; it visits a [`passes::Timeline`], which is a
//! history in memory ([`memory`]) or sorted runs in a store ([`stream`]). [`online`] judges transactions while
//! they arrive.

mod committed_lists;
mod concurrent_writers;
mod doubtful_writes;
mod events;
mod initial_values;
mod judgement;
mod key_uses;
mod memory;
pub mod online;
mod origins;
mod passes;
mod replay;
mod replay_findings;
pub mod stream;
mod suspect_reads;
mod vocabulary;

pub use events::Event;
pub use judgement::{Finding, Judgement};
pub use memory::{judge, judge_window, ties};
pub use vocabulary::{ClockAnomaly, ClockLevel, VersionClass};

/// No transaction, or no operation.
pub const NOTHING: u32 = crate::reads::NOTHING;
