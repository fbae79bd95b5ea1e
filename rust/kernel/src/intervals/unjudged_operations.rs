//! Operations by which no level is judged: a correct database of the profile may show anything there.

use super::key::{First, Key};
use super::profile::{Certifier, Lock, Profile, Statement};
use crate::history::{History, Kind, NO_KEY, Range, Status, VersionOrder};
use crate::value::Value;

/// Takes the meaning from operations that say nothing of a level; their intervals stay. A history that keeps a level
/// keeps it without all operations on a key, and without any read.
pub(super) fn leave_out_unjudged(history: &mut History, keys: &[Key], profile: &Profile) {
    let is_left_out = keys_left_out(history, keys, profile);
    let has_phantoms = allows_phantoms(profile);
    let some_key = is_left_out.contains(&true);
    for number in 0..history.transaction_count() {
        for operation in history.operations_of(number) {
            let (kind, key) = (history.operations.kinds[operation], history.operations.keys[operation]);
            let is_nothing = history.operations.values[operation] == Value::NIL;
            let is_unjudged = match kind {
                // It shows, or leaves out, rows of any key.
                Kind::RangeRead => some_key || is_untold(history, operation),
                _ if key == NO_KEY => false,
                Kind::Read if has_phantoms && is_nothing => true,
                _ => is_left_out[key as usize],
            };
            if is_unjudged {
                let columns = &mut history.operations;
                (columns.kinds[operation], columns.keys[operation]) = (Kind::Begin, NO_KEY);
                columns.values[operation] = Value::NIL;
            }
        }
    }
    if some_key {
        history.versions.iter_mut().for_each(|order| empty(order, &is_left_out));
    }
}

/// Keys of which a correct database may show anything.
fn keys_left_out(history: &History, keys: &[Key], profile: &Profile) -> Vec<bool> {
    let mut all =
        if forbids_reinsertion(profile) { vec![false; history.keys.len()] } else { reinserted_keys(history) };
    for (number, key) in keys.iter().enumerate() {
        // A value that a transaction wrote may be the initial one.
        all[number] |= key.first == First::Open && !key.guessed.is_empty();
    }
    for number in 0..history.transaction_count() {
        let is_open = history.transactions.statuses[number] == Status::Indeterminate;
        for operation in history.operations_of(number) {
            let (kind, key) = (history.operations.kinds[operation], history.operations.keys[operation]);
            if !kind.installs() {
                continue;
            }
            // It is the initial value, as reads show, and it was written again.
            let is_deduced = history.initial.of(key) == Value::UNKNOWN;
            let is_again = keys[key as usize].first == First::Known(history.operations.values[operation]);
            all[key as usize] |= is_open && kind == Kind::Delete || is_deduced && is_again;
        }
    }
    all
}

/// Whether a statement touched no row, and does not tell of what.
fn is_untold(history: &History, operation: usize) -> bool {
    let Range { low, high, live, dead, .. } = history.range_of(operation);
    let is_open = low == Value::NIL && high == Value::NIL && live + dead == 0;
    is_open && history.operations.predicates.get(operation).0 != Value::NIL
}

/// Whether no transaction can insert a row that another one deleted after its snapshot: inserts are compared, or reads
/// are certified, or lock predicates.
fn forbids_reinsertion(profile: &Profile) -> bool {
    let select = profile.statements[Statement::Select as usize];
    profile.compares_inserts
        || select.lock != Lock::None && select.locks_predicate
        || matches!(profile.certifier, Certifier::TimestampOrder | Certifier::OptimisticReads)
}

/// Whether reads lock their rows, and a row that is not there cannot be locked.
fn allows_phantoms(profile: &Profile) -> bool {
    let select = profile.statements[Statement::Select as usize];
    select.lock != Lock::None && !select.locks_predicate
}

/// Keys that transactions which may have committed deleted, and inserted again.
fn reinserted_keys(history: &History) -> Vec<bool> {
    let columns = &history.operations;
    let mut deleted = vec![false; history.keys.len()];
    let mut inserted = deleted.clone();
    for number in 0..history.transaction_count() {
        if history.transactions.statuses[number] == Status::Aborted {
            continue;
        }
        for operation in history.operations_of(number) {
            match columns.kinds[operation] {
                Kind::Delete => deleted[columns.keys[operation] as usize] = true,
                Kind::Insert => inserted[columns.keys[operation] as usize] = true,
                _ => {}
            }
        }
    }
    deleted.iter().zip(&inserted).map(|(&deleted, &inserted)| deleted && inserted).collect()
}

/// Leaves keys without an order of versions.
fn empty(order: &mut VersionOrder, is_left_out: &[bool]) {
    let (mut offsets, mut versions) = (vec![0], Vec::new());
    for (key, &left_out) in is_left_out.iter().enumerate() {
        if !left_out {
            versions.extend_from_slice(order.of(key as u32));
        }
        offsets.push(versions.len() as u32);
    }
    (order.offsets, order.versions) = (offsets, versions);
}
