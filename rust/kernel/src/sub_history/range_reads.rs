//! Range reads that are nothing but reads of their rows.

use super::copied_columns;
use crate::history::{History, Kind, Range};
use crate::value::Value;

/// The same history with every range read as reads of its rows, if that says the same: no row ever comes or
/// goes, and each range read shows all keys between its bounds.
#[must_use]
pub fn itemised(history: &History) -> Option<History> {
    let columns = &history.operations;
    if columns.kinds.iter().any(|kind| matches!(kind, Kind::Insert | Kind::Delete)) {
        return None;
    }
    let keys: Option<Vec<i64>> = history.keys.iter().map(|key| key.as_small()).collect();
    let mut sorted = keys.clone()?;
    sorted.sort_unstable();
    let ranges = (0..columns.kinds.len()).filter(|&operation| columns.kinds[operation] == Kind::RangeRead);
    let mut any = false;
    for operation in ranges {
        any = true;
        let is_plain =
            columns.predicates.get(operation).0 == Value::NIL && shows_all(history, operation, &sorted);
        if !is_plain {
            return None;
        }
    }
    any.then(|| copied_columns::itemised(history))
}

/// Whether a range read shows each of the keys between its bounds once.
fn shows_all(history: &History, operation: usize, keys: &[i64]) -> bool {
    let Range { low, high, dead, .. } = history.range_of(operation);
    let (Some(low), Some(high)) = (low.as_small(), high.as_small()) else { return false };
    let between = &keys[keys.partition_point(|&key| key < low)..keys.partition_point(|&key| key <= high)];
    let rows = history.rows_of(operation).map(|(key, _)| history.keys[key as usize].as_small());
    let mut rows: Vec<i64> = rows.flatten().collect();
    rows.sort_unstable();
    dead == 0 && rows == between
}
