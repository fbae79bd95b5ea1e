//! The simulated database in true time: clients use a [`Server`](super::store::Server) that works as a profile says.
//!
//! Events are ordered by true time, in nanoseconds. A client sends a request, the server acts at one instant
//! of its own, perhaps after it waited for a lock, and later the client has the answer. The history has what
//! clients saw; the [`Truth`] has the instants. Only the words of the profile are shared with the checker of
//! intervals, so each tests the other.

mod client;
mod history;
mod plan;
mod run;
mod statements;

pub use super::store::{Dependency, Fault, HeldLock, Lifetime, Relation, ShownVersion, StruckFault, Truth};
pub use run::ProfiledRun;

use crate::cancel::Cancel;
use crate::error::ParseError;
use crate::history::History;
use crate::intervals::profile::Profile;

/// What clients do; shares are in thousandths.
#[derive(Debug, Clone)]
pub struct Load {
    /// How many clients there are.
    pub clients: u32,
    /// How many transactions they begin together.
    pub transactions: u32,
    /// Statements of each transaction: drawn between these two, both included.
    pub operations: (u32, u32),
    /// How many rows there can be.
    pub keys: u32,
    /// Rows belong to so many tables, neighbours to the same one.
    pub tables: u32,
    /// The n-th row is drawn with weight 1/n^theta; 0 is uniform.
    pub theta: f64,
    /// Statements that read, of all.
    pub reads: u32,
    /// Reads of a range of rows, of all reads.
    pub ranges: u32,
    /// The longest range.
    pub longest_range: u32,
    /// Reads that say `for update`, of all reads.
    pub for_update: u32,
    /// Reads that say `for share`, of all reads.
    pub for_share: u32,
    /// Updates that read the row first, of all updates.
    pub updates_after_reads: u32,
    /// Insertions, of all statements that write.
    pub inserts: u32,
    /// Deletions, of all statements that write.
    pub deletes: u32,
    /// How many different values are written to each row; 0: every value once.
    pub repeated_values: u32,
    /// Transactions that their client rolls back.
    pub rollbacks: u32,
    /// Commits whose request or answer gets lost.
    pub lost_answers: u32,
}

impl Load {
    /// The message for an impossible load.
    #[must_use]
    pub fn problem(&self) -> Option<&'static str> {
        if self.clients == 0 || self.keys == 0 || self.tables == 0 {
            return Some("a database needs a client, a row and a table");
        }
        if self.operations.0 > self.operations.1 {
            return Some("the least number of operations is more than the most");
        }
        let is_weight = (0.0..=16.0).contains(&self.theta);
        (!is_weight).then_some("theta is a number from 0 to 16")
    }
}

/// How long things take, on average, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Delays {
    /// A message between client and server.
    pub network: u64,
    /// A statement on the server.
    pub service: u64,
    /// A client between an answer and the next request.
    pub thinking: u64,
    /// By how much the clock of a client is off at most.
    pub clock_error: u64,
}

/// Parameters of a run.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Simulation {
    pub profile: Profile,
    pub seed: u64,
    pub load: Load,
    pub delays: Delays,
    /// Faults, and in how many of a million occasions each one strikes.
    pub faults: Vec<(Fault, u32)>,
    /// Whether true times and dependencies are kept.
    pub truth: bool,
}

/// The result of a run.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Simulated {
    pub history: History,
    pub truth: Truth,
}

/// Runs a simulation to its end.
///
/// # Errors
/// If it has more operations than a history can hold.
pub fn simulate(simulation: &Simulation, cancel: &Cancel) -> Result<Simulated, ParseError> {
    let mut run = ProfiledRun::new(simulation);
    let history = run.next(u32::MAX, cancel)?;
    Ok(Simulated { history, truth: run.into_truth() })
}

#[cfg(test)]
mod tests;
