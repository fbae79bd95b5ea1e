//! Keys of which it is not known what they hold: that depends on a transaction of which the client never learned the end.

use crate::by_key::{ByKey, Shape, gather, shape};
use crate::explanations::Ambiguity;
use crate::history::{History, NO_KEY, Status};
use hashbrown::HashMap;

/// Keys that are used in two ways if all transactions took effect whose writes may have been read.
///
/// Their reads prove nothing, because no level judges them then.
#[must_use]
pub fn doubtful_shapes(
    history: &History,
    owners: &[u32],
    by_key: &ByKey,
    counted: &[bool],
) -> HashMap<u32, Shape> {
    let is_open = |at: usize| history.transactions.statuses[at] == Status::Indeterminate && !counted[at];
    let open: Vec<usize> = (0..counted.len()).filter(|&at| is_open(at)).collect();
    if open.is_empty() {
        return HashMap::new();
    }
    let touched = open.iter().flat_map(|&at| history.operations_of(at));
    let mut keys: Vec<u32> = touched.map(|operation| history.operations.keys[operation]).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut gathered = Vec::new();
    let mut of_key = |key: u32, counts: &dyn Fn(usize) -> bool| {
        gather(history, owners, by_key.of(key as usize), &mut gathered);
        shape(&gathered, |transaction| counts(transaction as usize))
    };
    keys.retain(|&key| {
        key != NO_KEY
            && is_judged(of_key(key, &|at| counted[at]))
            && !is_judged(of_key(key, &|at| counted[at] || is_open(at)))
    });
    if keys.is_empty() {
        return HashMap::new();
    }
    let every = (0..history.keys.len() as u32).collect();
    let seen = Ambiguity::new(history, counted, every).counted_if_seen();
    let shapes = keys.into_iter().map(|key| (key, of_key(key, &|at| seen[at])));
    shapes.filter(|&(_, shape)| !is_judged(shape)).collect()
}

fn is_judged(shape: Shape) -> bool {
    matches!(shape, Shape::Register | Shape::List)
}
