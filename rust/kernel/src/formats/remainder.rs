//! Whether anything is left of a history in a format that cannot hold all of it.

use super::jepsen;
use super::placed::kept;
use crate::history::{History, Kind, Status};
use crate::value::Value;

/// Whether a file of the writer called `format` has any operation of `history`.
#[must_use]
pub fn leaves_operations(history: &History, format: &str) -> bool {
    let any = |wanted: &dyn Fn(Kind) -> bool| history.operations.kinds.iter().any(|&kind| wanted(kind));
    let is_register = |operation: usize| is_register(history, operation);
    match format {
        "plume" | "awdit" | "dbcop-hist" | "dbcop-json" => {
            let (kept, statuses) = (kept(history), &history.transactions.statuses);
            let is_written = |&transaction: &usize| {
                kept[transaction] && (format != "awdit" || statuses[transaction] != Status::Aborted)
            };
            let mut written = (0..history.transaction_count()).filter(is_written);
            written.any(|transaction| history.operations_of(transaction).any(is_register))
        }
        "leopard" | "leopard-lines" => {
            any(&|kind| kind == Kind::Delete) || (0..history.operation_count()).any(is_register)
        }
        "jepsen" | "jepsen-json" | "jepsen-json-lines" => {
            (0..history.operation_count()).any(|operation| jepsen::name_of(history, operation).is_some())
        }
        _ => any(&|kind| matches!(kind, Kind::Read | Kind::Write | Kind::Insert | Kind::Append)),
    }
}

/// Whether `operation` read or wrote one value, which is known.
fn is_register(history: &History, operation: usize) -> bool {
    let value = history.operations.values[operation];
    matches!(history.operations.kinds[operation], Kind::Read | Kind::Write | Kind::Insert)
        && value.list_index().is_none()
        && value != Value::UNKNOWN
}
