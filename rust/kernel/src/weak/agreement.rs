//! Whether the sources of the order of versions agree in some explanation of repeated values.
//!
//! If they do in none, each is heard alone, and what they break together proves nothing.

use crate::cancel::Cancel;
use crate::explanations::{Ambiguity, Enumeration, MAX_EFFECTS, Worth};
use crate::history::History;
use crate::observations::Observations;
use crate::reads::judge_counted;
use crate::solver::TimeLimit;
use crate::versions::recorded_by;
use crate::versions::transaction_times::TransactionTimes;

/// Keys whose reads, elements or recorded rows may be explained in several ways.
pub(super) fn ambiguous_keys(
    history: &History,
    observations: &Observations,
    repeated_keys: &[u32],
    cancel: &Cancel,
) -> Vec<u32> {
    let times = TransactionTimes::new(history, &observations.counted);
    let unsure = recorded_by(None, history, observations, &times, cancel).unsure_keys;
    [repeated_keys, &unsure].concat()
}

/// Whether sources agree in some explanation, as far as explanations can be tried; `true` if none could be.
#[must_use]
pub fn sources_agree(
    history: &History,
    observations: &Observations,
    repeated_keys: &[u32],
    time: TimeLimit,
    cancel: &Cancel,
) -> bool {
    let keys = ambiguous_keys(history, observations, repeated_keys, cancel);
    if keys.is_empty() {
        return true;
    }
    let ambiguity = Ambiguity::new(history, &observations.counted, keys);
    if !ambiguity.is_covered() {
        return true;
    }
    let (mut agree, mut contradict) = (false, false);
    let end = (time.clock)() + time.milliseconds;
    let is_over = || cancel.is_asked() || (time.clock)() >= end;
    let enumeration = Enumeration { with_reads: false, max_effects: MAX_EFFECTS, is_over: &is_over };
    ambiguity.each(&enumeration, &mut |told, premise| {
        if !premise.is_decided() {
            return Worth::Open;
        }
        let (_, observations) = judge_counted(&told.history, premise.counted.clone(), cancel);
        let times = TransactionTimes::new(&told.history, &observations.counted);
        let orders = recorded_by(None, &told.history, &observations, &times, cancel);
        agree = orders.contradictions.is_empty();
        contradict |= !agree;
        if agree { Worth::Enough } else { Worth::Open }
    });
    agree || !contradict
}
