//! Transactions in formats that only know committed and aborted ones.

use crate::by_key::ByKey;
use crate::formats::writer::is_register;
use crate::history::{History, Status};
use crate::reads;

/// Which transactions such a file has. An indeterminate one that counts as committed is written as committed;
/// any other indeterminate one is left out, because the file would claim that it committed or aborted.
pub(in crate::formats) fn written_transactions(history: &History) -> Vec<bool> {
    let statuses = &history.transactions.statuses;
    if !statuses.contains(&Status::Indeterminate) {
        return vec![true; statuses.len()];
    }
    let counted = reads::counted(history, &history.transaction_of_operation(), &ByKey::new(history));
    let is_known = |&status: &Status| status != Status::Indeterminate;
    statuses.iter().map(is_known).zip(counted).map(|(is_known, counts)| is_known || counts).collect()
}

/// Whether such a file has any operation of `history`: a read or write of one known value.
pub(in crate::formats) fn leaves_operations(history: &History) -> bool {
    leaves_operations_of(history, |_| true)
}

/// The same for a file that has only statuses which `is_held` holds.
pub(in crate::formats) fn leaves_operations_of(history: &History, is_held: impl Fn(Status) -> bool) -> bool {
    let (written, statuses) = (written_transactions(history), &history.transactions.statuses);
    let has_register =
        |transaction| history.operations_of(transaction).any(|operation| is_register(history, operation));
    let mut held = (0..written.len()).filter(|&number| written[number] && is_held(statuses[number]));
    held.any(has_register)
}
