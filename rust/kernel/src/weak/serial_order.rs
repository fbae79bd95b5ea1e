//! An order in which the transactions ran one after the other, if the input shows one, without a look at the
//! dependencies.
//!
//! If every read saw the latest version before it, and sessions go forward, an order satisfies each weak level: no
//! writer stands between a read and its source. A database that runs one transaction after the other, and a recorder
//! that writes them as they commit, leave such a history. Where the input gives session after session, commit
//! timestamps or the numbers of the transactions may still tell the order.

use super::Question;
use super::alternatives::HappensBeforeMethod;
use super::recorded_order::RecordedOrder;
use crate::history::History;
use crate::observations::{ABSENT, INITIAL, Observations};
use crate::predicates::first_transactions;
use crate::told_order::{in_input_order, told_orders};
use rayon::prelude::*;

/// The transactions that count in an order that is known to satisfy the levels that are asked for, if nothing else is
/// to be told.
pub(super) fn find(
    history: &History,
    observations: &Observations,
    question: Question,
    recorded: &RecordedOrder,
) -> Option<Vec<u32>> {
    let is_enough = question.method == HappensBeforeMethod::Lazy
        && recorded.pairs.is_empty()
        && first_transactions(history).is_empty();
    if !is_enough || observations.has_lists() {
        return None;
    }
    if observations.reads_latest
        && (0..history.session_ids.len()).all(|session| history.transactions_of(session).is_sorted())
    {
        return Some(in_input_order(&observations.counted));
    }
    told_orders(history, &observations.counted).find(|order| reads_latest(history, observations, order))
}

/// Whether every read saw the latest version before it in this order; cores take different parts of it.
fn reads_latest(history: &History, observations: &Observations, order: &[u32]) -> bool {
    let size = order.len().div_ceil(rayon::current_num_threads()).max(1);
    let parts: Vec<Option<Part>> =
        order.par_chunks(size).map(|part| Part::of(history, observations, part)).collect();
    let mut latest = vec![INITIAL; history.keys.len()];
    parts.into_iter().all(|part| part.is_some_and(|part| part.follows(&mut latest)))
}

/// A part of an order in which every read saw the latest version before it, as far as the part shows it.
struct Part {
    /// By key: the version that reads saw before the first write in this part, and the last writer; [`ABSENT`] if there
    /// is none.
    seen: Vec<u32>,
    latest: Vec<u32>,
}

impl Part {
    fn of(history: &History, observations: &Observations, order: &[u32]) -> Option<Self> {
        let operations = &history.operations;
        let keys = history.keys.len();
        let mut part = Self { seen: vec![ABSENT; keys], latest: vec![ABSENT; keys] };
        for &transaction in order {
            for operation in history.operations_of(transaction as usize) {
                let (key, source) = (operations.keys[operation], observations.sources[operation]);
                if operations.kinds[operation].installs() {
                    part.latest[key as usize] = transaction;
                } else if source != ABSENT && !part.is_latest(key, source) {
                    return None;
                }
            }
        }
        Some(part)
    }

    fn is_latest(&mut self, key: u32, source: u32) -> bool {
        match self.latest[key as usize] {
            ABSENT => {
                let seen = &mut self.seen[key as usize];
                if *seen == ABSENT {
                    *seen = source;
                }
                *seen == source
            }
            latest => latest == source,
        }
    }

    /// Whether its reads saw what the parts before it left; `latest` then is what it leaves itself.
    fn follows(&self, latest: &mut [u32]) -> bool {
        latest.iter_mut().zip(self.seen.iter().zip(&self.latest)).all(|(latest, (&seen, &own))| {
            let is_right = seen == ABSENT || seen == *latest;
            if own != ABSENT {
                *latest = own;
            }
            is_right
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::Cancel;
    use crate::formats::testing::read_blocks;
    use crate::reads;
    use crate::weak::reader::WeakLevel;

    fn observed(text: &str) -> (History, Observations) {
        let history = read_blocks("plume", text.as_bytes(), text.len()).unwrap();
        let (_, observations) = reads::judge(&history, &Cancel::default());
        (history, observations)
    }

    fn found(text: &str) -> Option<Vec<u32>> {
        let (history, observations) = observed(text);
        let question = Question::new(WeakLevel::Causal, 1);
        find(&history, &observations, question, &RecordedOrder::default())
    }

    #[test]
    fn a_serial_history_is_satisfied_in_the_order_of_the_input() {
        let text = "r(1,0,0,0)\nw(1,5,0,0)\nr(1,5,1,1)\nw(1,6,1,1)\nr(1,6,0,2)\n";
        assert_eq!(found(text), Some(vec![0, 1, 2]));
    }

    #[test]
    fn transactions_that_do_not_count_have_no_place_in_the_order() {
        let text = "w(1,5,0,0)\nr(1,5,1,1)\nr(2,0,1,2)\n";
        let (_, mut observations) = observed(text);
        assert_eq!(in_input_order(&observations.counted), [0, 1, 2]);
        observations.counted[1] = false;
        assert_eq!(in_input_order(&observations.counted), [0, 2]);
    }

    #[test]
    fn a_read_of_an_older_version_needs_another_order() {
        assert_eq!(found("w(1,5,0,0)\nw(1,6,1,1)\nr(1,5,2,2)\n"), None);
        assert_eq!(found("w(1,5,0,0)\nr(1,0,1,1)\n"), None);
    }

    #[test]
    fn sessions_one_after_the_other_are_satisfied_in_the_order_of_their_numbers() {
        let text = "w(1,5,0,10)\nr(1,6,0,12)\nr(1,5,1,11)\nw(1,6,1,11)\n";
        assert_eq!(found(text), Some(vec![0, 2, 1]));
    }

    #[test]
    fn numbers_that_go_backward_in_a_session_tell_no_order() {
        assert_eq!(found("w(2,7,0,9)\nr(1,5,0,10)\nw(1,5,1,8)\n"), Some(vec![2, 0, 1]));
        assert_eq!(found("w(2,7,0,10)\nr(1,5,0,9)\nw(1,5,1,8)\n"), None);
    }

    #[test]
    fn parts_of_an_order_go_on_where_the_one_before_left_off() {
        let text = "w(1,5,0,0)\nr(1,5,1,1)\nw(2,6,1,2)\nr(1,5,0,3)\nr(2,6,0,3)\nw(1,7,1,4)\nr(1,7,0,5)\nr(2,6,0,5)\n";
        let (history, observations) = observed(text);
        let is_latest = |order: &[u32], size: usize| {
            let mut latest = vec![INITIAL; history.keys.len()];
            let mut parts = order.chunks(size).map(|part| Part::of(&history, &observations, part));
            parts.all(|part| part.is_some_and(|part| part.follows(&mut latest)))
        };
        for size in 1..=6 {
            assert!(is_latest(&[0, 1, 2, 3, 4, 5], size));
            assert!(is_latest(&[2, 0, 1, 3, 4, 5], size));
            assert!(!is_latest(&[0, 1, 2, 4, 3, 5], size), "transaction 3 reads what 4 replaced");
            assert!(!is_latest(&[1, 0, 2, 3, 4, 5], size), "transaction 1 reads before 0 writes");
        }
    }

    #[test]
    fn a_read_of_a_later_version_needs_another_order() {
        assert_eq!(found("r(1,5,1,1)\nw(1,5,0,2)\n"), None);
    }
}
