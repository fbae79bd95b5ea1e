//! A simulated database: sessions on a multi-version store, interleaved by a seeded scheduler.
//!
//! Every step, one session begins a transaction, does an operation of it or ends it. Writes are kept back until
//! the commit, which installs them at once. The same parameters give the same history everywhere: no clock, no
//! hash order, integers only. One fault can be injected; the [`Simulated::log`] says what came of it.

mod client;
mod clock;
mod ending;
mod engine;
mod faults;
mod key;
pub mod mechanisms;
mod reading;

pub use faults::{Axiom, Bug, Entry};

use crate::cancel::Cancel;
use crate::error::ParseError;
use crate::generate::{Mix, Model};
use crate::history::History;
use crate::value::Value;

/// What the database promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Snapshots, first committer wins, and what was read is still the newest at the commit.
    Serializable,
    /// Snapshots, and first committer wins.
    Snapshot,
    /// Every read shows the newest committed version; the last to commit wins.
    ReadCommitted,
    /// Every read shows the newest write, committed or not; who writes a key holds it to the end.
    ReadUncommitted,
}

impl Isolation {
    /// Whether timestamps say what a read must show.
    #[must_use]
    pub fn has_snapshots(self) -> bool {
        matches!(self, Self::Serializable | Self::Snapshot)
    }
}

/// What becomes of a transaction that must not write or commit because of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflicts {
    /// It is aborted.
    Abort,
    /// It is aborted, and its session does the same again in a new one.
    Retry,
    /// It reads what it must not write; if that does not help, it is aborted.
    Read,
}

/// Where timestamps come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocks {
    /// One oracle.
    Central,
    /// A hybrid logical clock on each of so many nodes; their physical clocks differ by up to `skew` nanoseconds.
    #[allow(missing_docs)]
    Hybrid { nodes: u32, skew: u64 },
}

/// Parameters of a run.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Simulation {
    pub seed: u64,
    pub sessions: u32,
    /// How many transactions clients ask for; one that is done again counts once.
    pub transactions: u32,
    pub mix: Mix,
    /// Share of transactions that clients roll back, in thousandths.
    pub aborted: u32,
    pub model: Model,
    pub isolation: Isolation,
    pub conflicts: Conflicts,
    /// How many transactions are open at once, at least 1.
    pub concurrency: u32,
    pub clocks: Clocks,
    /// A key that was written about this often is retired and replaced by a new one; 0 is never.
    pub most_writes_per_key: u32,
    /// So many different values are written to each key, again and again; 0: every value once.
    pub repeated_values: u32,
    pub timestamps: bool,
    /// Whether the client's clock is recorded, with begins and ends as operations.
    pub intervals: bool,
    /// What registers hold before the first write; a small integer, nil, or unknown (then they hold 0).
    pub initial: Value,
    pub initial_replaceable: bool,
    pub bug: Option<Bug>,
    /// In how many of a million transactions the bug may strike.
    pub bug_rate: u32,
}

/// What a run left.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Simulated {
    pub history: History,
    /// What came of the bug, by transaction.
    pub log: Vec<Entry>,
}

/// Runs a simulation.
///
/// # Errors
/// If it has more operations than a history can hold.
pub fn simulate(simulation: &Simulation, cancel: &Cancel) -> Result<Simulated, ParseError> {
    let mut engine = engine::Engine::new(simulation);
    while !cancel.is_asked() && engine.step() {}
    engine.finish()
}

#[cfg(test)]
mod tests;
