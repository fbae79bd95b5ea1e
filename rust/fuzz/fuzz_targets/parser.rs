#![no_main]
//! The parser that the variable `PARSER` names, or the one that the first byte of the input chooses.

use isoscope_fuzz::{Target, targets};
use std::sync::OnceLock;

static CHOSEN: OnceLock<(Vec<Target>, Option<usize>)> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let (targets, chosen) = CHOSEN.get_or_init(|| {
        let targets = targets();
        let name = std::env::var("PARSER").ok();
        let chosen =
            name.map(|name| targets.iter().position(|target| target.name == name).expect("a parser"));
        (targets, chosen)
    });
    match (chosen, input.split_first()) {
        (Some(chosen), _) => targets[*chosen].run(input),
        (None, Some((first, rest))) => targets[usize::from(*first) % targets.len()].run(rest),
        (None, None) => {}
    }
});
