//! The method of intervals: were the mechanisms of a database at work? Li et al. 2023 (Leopard).
//!
//! An operation happened at one instant inside the interval in which its client waited for it. A finding is reported
//! only if it holds for every choice of these instants.

mod anti_dependency;
mod certifier;
mod checkpoint;
mod consistent_read;
mod deduced_versions;
mod dropped_writers;
mod engine;
mod excerpt;
mod finding;
mod finding_log;
mod first_updater;
mod intake;
mod key;
pub mod labels;
mod list_read;
mod locks;
mod misread;
mod names;
pub mod pipeline;
pub mod profile;
mod range_read;
mod read_orders;
mod read_view;
mod slab;
mod span;
mod tally;
mod torn_reads;
mod transaction;
mod transaction_times;
mod unjudged_operations;
mod verifier;
mod version_install;
mod version_order;
mod whole_history;

pub use engine::{Engine, RejectedTransaction, Sizes, Terms};
pub use finding::{Case, Finding, Mechanism, ShownFinding, SnapshotUsed};
pub use finding_log::{News, Report};
pub use key::Reference;
pub use tally::{Checked, Dependencies, Tally};
pub use whole_history::{Judgement, Question, judge};
