//! The mechanisms of a database, mirrored from what its clients saw: Li et al. 2023 (Leopard).
//!
//! An operation happened at one instant inside the interval in which its client waited for it. What holds
//! however these instants are chosen is certain; nothing else is said of anybody.

pub mod pipeline;
pub mod profile;
