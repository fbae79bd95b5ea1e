//! Whether a history uses a scalar: readers also intern scalars of events that they skip.

use crate::history::{History, Label, Optional};
use crate::value::{AtomKind, Value};

/// Whether a key, a value, an id, a row, a label or a version is an atom that is `wanted`.
pub(crate) fn contains_atom(history: &History, wanted: impl Fn(AtomKind, &str) -> bool) -> bool {
    let values = &history.values;
    let found: Vec<bool> = (0..values.atom_count())
        .map(|index| {
            let (kind, text) = values.atom(index);
            wanted(kind, text)
        })
        .collect();
    // Most histories have no such atom at all, and then no column has to be searched.
    if !found.contains(&true) {
        return false;
    }
    let is_found = |value: Value| value.atom_index().is_some_and(|index| found[index]);
    let holds = |value: Value| match values.as_list(value) {
        Some(elements) => elements.iter().any(|&element| is_found(element)),
        None => is_found(value),
    };
    scalars(history).any(holds) || labels(history).any(holds)
}

/// Every key, value, id, bound, row, version and initial value.
fn scalars(history: &History) -> impl Iterator<Item = Value> {
    let History { operations, ranges, initial, .. } = history;
    let ids = [&history.transactions.ids, &history.session_ids];
    let columns = [&history.keys, &operations.values, &ranges.row_values].into_iter().chain(ids);
    let bounds = ranges.ranges.iter().flat_map(|range| [range.low, range.high]);
    let versions = history.versions.iter().flat_map(|order| &order.versions);
    columns
        .flatten()
        .copied()
        .chain(bounds)
        .chain(versions.copied())
        .chain(initial.of_key.iter().map(|&(_, value)| value))
        .chain([initial.default])
}

fn labels(history: &History) -> impl Iterator<Item = Value> {
    let operations = &history.operations;
    let columns: [&Optional<Label>; 6] = [
        &operations.tables,
        &operations.columns,
        &operations.statements,
        &operations.lock_modes,
        &operations.read_modes,
        &operations.predicates,
    ];
    let used = columns.into_iter().filter(|column| !column.is_empty());
    used.flat_map(|column| (0..history.operation_count()).map(|operation| column.get(operation).0))
}
