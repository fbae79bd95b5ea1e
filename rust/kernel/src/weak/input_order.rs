//! The order of the input as a commit order, without a look at the dependencies.
//!
//! If every read saw the latest version before it, and sessions go forward, the order satisfies each weak level: no
//! writer stands between a read and its source. A database that runs one transaction after the other, and a recorder
//! that writes them as they commit, leave such a history.

use super::Question;
use super::alternatives::HappensBeforeMethod;
use super::recorded_order::RecordedOrder;
use crate::history::History;
use crate::observations::Observations;
use crate::predicates::first_transactions;

/// The transactions that count, in the order of the input.
pub(super) fn of(observations: &Observations) -> Vec<u32> {
    let all = 0..observations.counted.len() as u32;
    all.filter(|&transaction| observations.counted[transaction as usize]).collect()
}

/// Whether the order of the input is known to satisfy the levels that are asked for, and nothing else is to be told.
pub(super) fn satisfies(
    history: &History,
    observations: &Observations,
    question: Question,
    recorded: &RecordedOrder,
) -> bool {
    question.method == HappensBeforeMethod::Lazy
        && observations.reads_latest
        && recorded.pairs.is_empty()
        && first_transactions(history).is_empty()
        && (0..history.session_ids.len()).all(|session| history.transactions_of(session).is_sorted())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::Cancel;
    use crate::formats::testing::read_blocks;
    use crate::reads;
    use crate::weak::reader::WeakLevel;

    fn is_satisfied(text: &str) -> bool {
        let history = read_blocks("plume", text.as_bytes(), text.len()).unwrap();
        let (_, observations) = reads::judge(&history, &Cancel::default());
        let question = Question::new(WeakLevel::Causal, 1);
        satisfies(&history, &observations, question, &RecordedOrder::default())
    }

    #[test]
    fn a_serial_history_is_satisfied_in_the_order_of_the_input() {
        assert!(is_satisfied("r(1,0,0,0)\nw(1,5,0,0)\nr(1,5,1,1)\nw(1,6,1,1)\nr(1,6,0,2)\n"));
    }

    #[test]
    fn transactions_that_do_not_count_have_no_place_in_the_order() {
        let text = "w(1,5,0,0)\nr(1,5,1,1)\nr(2,0,1,2)\n";
        let history = read_blocks("plume", text.as_bytes(), text.len()).unwrap();
        let (_, mut observations) = reads::judge(&history, &Cancel::default());
        assert_eq!(of(&observations), [0, 1, 2]);
        observations.counted[1] = false;
        assert_eq!(of(&observations), [0, 2]);
    }

    #[test]
    fn a_read_of_an_older_version_needs_another_order() {
        assert!(!is_satisfied("w(1,5,0,0)\nw(1,6,1,1)\nr(1,5,2,2)\n"));
        assert!(!is_satisfied("w(1,5,0,0)\nr(1,0,1,1)\n"));
    }

    #[test]
    fn a_read_of_a_later_version_needs_another_order() {
        assert!(!is_satisfied("r(1,5,1,1)\nw(1,5,0,0)\n"));
    }
}
