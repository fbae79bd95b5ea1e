//! The mechanisms of a database, mirrored from what its clients saw: Li et al. 2023 (Leopard).
//!
//! An operation happened at one instant inside the interval in which its client waited for it. What holds
//! however these instants are chosen is certain; nothing else is said of anybody.

mod certifier;
mod engine;
mod found;
mod intake;
mod key;
pub mod labels;
mod locks;
pub(crate) mod named_enum;
mod offline;
mod own;
pub mod pipeline;
pub mod profile;
mod ranges;
mod reading;
mod saving;
mod slab;
mod span;
mod telling;
mod transaction;
mod updating;
mod verifier;

pub use engine::{Engine, Refusal, Sizes, Terms};
pub use found::{Checked, Dependencies, Finding, Name, Tally};
pub use key::Reference;
pub use offline::{Judgement, Shown, deduced_versions, judge};
pub use telling::{News, Report};
