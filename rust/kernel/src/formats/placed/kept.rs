//! What becomes of transactions whose end nobody knows, in formats that only know committed and aborted ones.

use crate::by_key::ByKey;
use crate::history::{History, Status};
use crate::reads;

/// Which transactions such a file has: an indeterminate one that counts as committed is written as
/// committed, another one would be taken for what it may not be.
pub(in crate::formats) fn kept(history: &History) -> Vec<bool> {
    let statuses = &history.transactions.statuses;
    if !statuses.contains(&Status::Indeterminate) {
        return vec![true; statuses.len()];
    }
    let counted = reads::counted(history, &history.transaction_of_operation(), &ByKey::new(history));
    let is_known = |&status: &Status| status != Status::Indeterminate;
    statuses.iter().map(is_known).zip(counted).map(|(is_known, counts)| is_known || counts).collect()
}
