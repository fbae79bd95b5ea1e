//! The simulated database: one multi-version [`store`], and the schedulers that run sessions on it.
//!
//! [`simulate`] interleaves sessions as a seed says, [`Interactive`] lets threads decide, [`profiled`] runs clients
//! in true time, and [`crate::generate`] runs transactions one after the other. The same parameters give the same
//! history everywhere: no clock, no hash order, integers only.

mod interactive;
mod interleaved;
pub(crate) mod output;
pub mod profiled;
pub(crate) mod store;

pub use interactive::{Interactive, Read};
pub use store::{Axiom, Change, Clocks, Fault, Isolation, Model, Refusal};

use crate::cancel::Cancel;
use crate::error::ParseError;
use crate::generate::Workload;
use crate::history::History;
use crate::named_enum::named_enum;
use crate::value::Value;

named_enum! {
    /// What a client does when its transaction must not write or commit because of another.
    pub enum Conflicts {
        /// The transaction is aborted.
        Abort => "abort",
        /// The transaction is aborted, and its session does the same again in a new one.
        Retry => "retry",
        /// The client reads the row instead of writing it; if the commit fails all the same, it aborts.
        Read => "read",
    }
}

/// Parameters of the database.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Simulation {
    pub isolation: Isolation,
    pub conflicts: Conflicts,
    /// How many transactions are open at once, at least 1.
    pub concurrency: u32,
    pub clocks: Clocks,
    /// How many different values are written to each key; 0: every value once.
    pub repeated_values: u32,
    pub bug: Option<Fault>,
    /// In how many of a million transactions the bug may strike.
    pub bug_rate: u32,
}

/// A violation that the bug caused, by the id of the transaction.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct InjectedFault {
    pub axiom: Axiom,
    pub transaction: u32,
    /// Nil if it is about no key.
    pub key: Value,
    /// The other transaction, if there is one.
    pub other: Option<u32>,
    pub expected: Value,
    pub found: Value,
}

/// The result of a run.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Simulated {
    pub history: History,
    pub injected: Vec<InjectedFault>,
}

/// Runs a workload with interleaved sessions.
///
/// # Errors
/// If it has more operations than a history can hold.
pub fn simulate(
    workload: &Workload,
    simulation: &Simulation,
    cancel: &Cancel,
) -> Result<Simulated, ParseError> {
    let mut scheduler = interleaved::Interleaved::new(workload, simulation);
    while !cancel.is_asked() && scheduler.step() {}
    scheduler.finish()
}

#[cfg(test)]
mod tests;
