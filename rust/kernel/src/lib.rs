//! The native core of Isoscope: parsers and algorithms on dense integer columns.
//!
//! Nothing here knows Python, files, the clock or the terminal. Parsers take byte slices and return a
//! [`history::History`] or one [`error::ParseError`]; checkers take a history and return findings.

#![forbid(unsafe_code)]

pub mod activity;
pub mod builder;
pub mod by_key;
pub mod cancel;
pub mod clock;
pub mod equality;
pub mod error;
pub mod evidence;
pub mod formats;
pub mod generate;
pub mod graph;
pub mod history;
pub mod index;
pub mod intervals;
mod mentioned;
pub mod observations;
pub mod part;
pub mod predicates;
pub mod reads;
pub mod simulate;
pub mod value;
pub mod versions;
pub mod weak;
