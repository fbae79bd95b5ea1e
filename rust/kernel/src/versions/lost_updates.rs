//! Lost updates: a transaction read a version and wrote the key, and another version came in between.

use super::dependencies::{Dependencies, Order};
use super::lookup::{Lookup, is_believed};
use super::orders::{Extra, Source};
use super::witness::Step;
use crate::observations::{ABSENT, INITIAL};
use hashbrown::HashSet;

/// A lost update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct LostUpdate {
    /// The transaction whose read was outdated when it wrote.
    pub transaction: u32,
    pub key: u32,
    pub read: u32,
    /// The version that came in between.
    pub between: u32,
    /// Which came first is unknown; both read the same version.
    pub is_mutual: bool,
}

/// A transaction that read a version of a key and wrote the key, with no version known to be in between.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Updater {
    version: u32,
    transaction: u32,
    key: u32,
    read: u32,
    own: u32,
}

/// All lost updates, one for each transaction and key.
///
/// A transaction that saw a version which came only after its own updated something else.
#[must_use]
pub fn updates(small: &Dependencies, lookup: &Lookup<'_>) -> Vec<LostUpdate> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for &transaction in &small.transactions {
        for (read, key, version) in lookup.observed(transaction) {
            let mut own = lookup.installed_of(transaction, key);
            if let Some(between) = own.find_map(|own| between(lookup, transaction, key, version, own)) {
                found.push(LostUpdate { transaction, key, read, between, is_mutual: false });
            } else if let Some(own) = updated(lookup, transaction, key, version) {
                open.push(Updater { version, transaction, key, read, own });
            }
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|lost| (lost.transaction, lost.key));
    open.sort_unstable();
    open.dedup_by_key(|updater| (updater.version, updater.transaction));
    let known: HashSet<(u32, u32)> = found.iter().map(|lost| (lost.transaction, lost.key)).collect();
    open.retain(|updater| !known.contains(&(updater.transaction, updater.key)));
    for same in open.chunk_by(|a, b| a.version == b.version) {
        for &Updater { transaction, key, read, .. } in &same[1..] {
            found.push(LostUpdate { transaction, key, read, between: same[0].own, is_mutual: true });
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|lost| (lost.transaction, lost.key));
    found
}

/// The first own version that may come after the one that was read.
fn updated(lookup: &Lookup<'_>, transaction: u32, key: u32, read: u32) -> Option<u32> {
    let follows = |own: u32| lookup.after(key, read, Order::Plain).any(|extra| extra.after == own);
    // What is inferred never leads in a circle.
    let is_later =
        |&own: &u32| own != read && (follows(own) || !lookup.precedes(key, own, read, Order::Plain));
    lookup.installed_of(transaction, key).filter(is_later).min()
}

/// A version of another transaction that is known to lie between the one that was read and the own one.
fn between(lookup: &Lookup<'_>, transaction: u32, key: u32, read: u32, own: u32) -> Option<u32> {
    let is_other = |version: u32| {
        let writer = lookup.orders.writers[version as usize];
        writer != transaction && writer != INITIAL && writer != ABSENT && version != read
    };
    let order = lookup.order(key);
    let in_chain = |version: u32| order.chain().contains(&version);
    let first = if in_chain(read) && in_chain(own) {
        (read + 1..own).find(|&version| is_other(version))
    } else if in_chain(read) && read < order.before_tail() {
        (read + 1..=order.before_tail()).find(|&version| is_other(version))
    } else {
        None
    };
    let mut before = lookup.before(key, own, Order::Plain);
    first.or_else(|| {
        before.find(|&version| is_other(version) && lookup.precedes(key, read, version, Order::Plain))
    })
}

/// Another transaction's version came after the one that was read, and before the own one or after the same
/// one.
#[must_use]
pub fn proof(lookup: &Lookup<'_>, lost: LostUpdate) -> Vec<Step> {
    let LostUpdate { transaction, key, read, between, is_mutual } = lost;
    let orders = lookup.orders;
    let is_known = |source| is_believed(source, Order::Plain);
    let version = seen(lookup, transaction, read, key);
    // What was read and then written may be in no known order: it may contradict itself.
    let way = |before: u32, after: u32| {
        let read_then_write = Extra { before, after, source: Source::ReadThenWrite };
        lookup.version_path(key, before, after, is_known).unwrap_or_else(|| vec![read_then_write])
    };
    let mut steps = lookup.steps_along(key, &way(version, between), Some((transaction, read)));
    let (from, reading) = if is_mutual {
        let other = orders.writers[between as usize];
        let mut reads = lookup.observed(other).filter(|&(.., same)| same == version);
        (version, reads.next().map(|(read, ..)| (other, read)))
    } else {
        (between, None)
    };
    let mut own = lookup.installed_of(transaction, key);
    let known = own.find(|&own| lookup.version_path(key, from, own, is_known).is_some());
    let own = known.or_else(|| updated(lookup, transaction, key, version));
    steps.extend(own.into_iter().flat_map(|own| lookup.steps_along(key, &way(from, own), reading)));
    steps
}

/// The version of a key that an operation showed.
fn seen(lookup: &Lookup<'_>, transaction: u32, read: u32, key: u32) -> u32 {
    let mut observed = lookup.observed(transaction);
    let found = observed.find(|&(operation, other, _)| (operation, other) == (read, key));
    found.map_or(lookup.orders.observed[read as usize], |(.., version)| version)
}
