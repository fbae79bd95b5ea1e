//! Histories of any size that satisfy a chosen level, the same bytes for the same seed everywhere.
//!
//! A [`Mix`] says what transactions do, an [`Isolation`] what they may read, and a script of a few transactions
//! on keys of their own can run somewhere among them. Integer arithmetic only.

pub mod graph;
pub(crate) mod mix;
pub(crate) mod random;
mod serial;

pub use crate::simulate::store::{Isolation, Lagging, Model};
pub use mix::{Action, Distribution, Mix, Pick, Step, Table, Template};

use crate::cancel::Cancel;
use crate::error::ParseError;
use crate::history::History;
use crate::value::Value;
use random::Random;

/// An operation of a script; its key is one that nothing else uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripted {
    /// Writes the next value of a key: 1, then 2, and so on.
    Write(u32),
    /// Reads a key as its first so many writes left it, committed or not.
    Read(u32, u32),
}

/// A transaction of a script.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Scene {
    /// Equal numbers are the same session, others are different ones as far as there are enough.
    pub session: u32,
    pub aborted: bool,
    pub operations: Vec<Scripted>,
}

/// What clients do, and what the history records.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Workload {
    pub seed: u64,
    pub sessions: u32,
    /// How many transactions clients ask for.
    pub transactions: u32,
    pub mix: Mix,
    /// Share of transactions that clients roll back, in thousandths.
    pub aborted: u32,
    pub model: Model,
    /// A key that was written this often is retired and replaced by a new one; 0 is never.
    pub max_writes_per_key: u32,
    pub timestamps: bool,
    /// Whether the client's clock is recorded.
    pub intervals: bool,
    /// What registers hold before the first write; a small integer, nil, or unknown (then they hold 0).
    pub initial: Value,
    pub initial_replaceable: bool,
}

/// Parameters of a serial run.
#[derive(Debug, Clone)]
pub struct Serial {
    /// `Serializable`, `Snapshot` or `Lagging`: the history satisfies this level, and no stronger one.
    pub isolation: Isolation,
    /// From how many of a key's last versions a read chooses; at least 1. A transaction with a snapshot or an
    /// interval begins as if before up to `lag` - 1 of the last transactions.
    pub lag: u32,
    /// These transactions count among those of the workload.
    pub script: Vec<Scene>,
}

/// The history of a workload whose transactions run one after the other.
///
/// # Errors
/// If it has more operations than a history can hold.
pub fn generate(workload: &Workload, serial: &Serial, cancel: &Cancel) -> Result<History, ParseError> {
    let ordinary = workload.transactions.saturating_sub(serial.script.len() as u32);
    // The script has its own random numbers, so that it changes nothing else.
    let mut random = Random(!workload.seed);
    let place = random.below(ordinary + 1);
    let mut scheduler = serial::Scheduler::new(workload, serial);
    for number in (0..=ordinary).take_while(|_| !cancel.is_asked()) {
        if number == place {
            scheduler.play(&mut random);
        }
        if number < ordinary {
            scheduler.transaction();
        }
    }
    scheduler.finish()
}

#[cfg(test)]
mod tests;
