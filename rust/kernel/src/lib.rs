//! The native core of Isoscope: parsers and algorithms on dense integer columns.
//!
//! Nothing here knows Python, files, the clock or the terminal. Parsers take byte slices and return a
//! [`history::History`] or one [`error::ParseError`]; checkers take a history and return findings.

#![forbid(unsafe_code)]

pub mod activity;
mod atom_search;
pub mod builder;
pub mod by_key;
pub mod cancel;
pub mod clock;
pub mod equality;
pub mod error;
pub mod evidence;
pub mod explanations;
pub mod formats;
pub mod generate;
pub mod graph;
pub mod history;
pub mod index;
pub mod intervals;
mod named_enum;
pub mod observations;
pub mod predicates;
pub mod reads;
pub mod relation;
pub mod simulate;
pub mod solver;
pub mod sub_history;
pub mod told_order;
pub mod value;
pub mod versions;
pub mod weak;
