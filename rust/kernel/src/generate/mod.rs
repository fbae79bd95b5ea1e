//! Histories of any size that satisfy a chosen level, the same bytes for the same seed everywhere.
//!
//! A [`Mix`] says what transactions do, an [`Isolation`] what they may read, and a script of a few
//! transactions on keys of their own can be put somewhere among them. Integer arithmetic only.

pub mod graph;
pub(crate) mod mix;
pub(crate) mod random;
mod store;
mod view;

pub use mix::{Action, Distribution, Mix, Pick, Step, Table, Template};

use crate::cancel::Cancel;
use crate::error::ParseError;
use crate::history::History;
use crate::value::Value;
use random::Random;
use store::Store;

/// What the keys hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Model {
    Register,
    List,
}

/// The level whose reads a store allows, and no stronger one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Isolation {
    ReadCommitted,
    ReadAtomic,
    Causal,
    /// A transaction reads what was committed when it began, and nobody else has written its keys since.
    Snapshot,
    /// Transactions run one after the other: every level holds.
    Serial,
}

/// An operation of a script; its key is one that nothing else uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripted {
    /// Writes the next value of a key: 1, then 2, and so on.
    Write(u32),
    /// Reads what the first so many writes of a key have made of it, whatever became of them.
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

/// Parameters of the workload.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Workload {
    pub seed: u64,
    pub sessions: u32,
    /// All transactions, those of the script among them.
    pub transactions: u32,
    pub mix: Mix,
    /// Share of aborted transactions, in thousandths.
    pub aborted: u32,
    pub model: Model,
    pub isolation: Isolation,
    /// From how many of a key's last versions a read chooses; at least 1. Whoever has a begin, because of a
    /// snapshot or of intervals, begins after at most so many less one of the last transactions.
    pub lag: u32,
    pub script: Vec<Scene>,
    /// A key that was written this often is retired and replaced by a new one; 0 is never.
    pub most_writes_per_key: u32,
    pub timestamps: bool,
    /// Whether the client's clock is recorded: from the begin to the commit.
    pub intervals: bool,
    /// What registers hold before the first write; a small integer, nil, or unknown (then they hold 0).
    pub initial: Value,
    pub initial_replaceable: bool,
}

/// The history of `workload`.
///
/// # Errors
/// If it has more operations than a history can hold.
pub fn generate(workload: &Workload, cancel: &Cancel) -> Result<History, ParseError> {
    let scenes = workload.script.len() as u32;
    let ordinary = workload.transactions.saturating_sub(scenes);
    // Drawn apart from the rest, so that a script changes nothing else.
    let mut apart = Random(!workload.seed);
    let place = apart.below(ordinary + 1);
    let mut store = Store::new(workload);
    for number in (0..=ordinary).take_while(|_| !cancel.is_asked()) {
        if number == place {
            store.play(&workload.script, &mut apart);
        }
        if number < ordinary {
            store.transaction();
        }
    }
    store.finish()
}

#[cfg(test)]
mod tests;
