//! What an edge rests on: from transactions back to their operations and versions.

use super::dependencies::Order;
use super::orders::{Extra, KeyOrder, Orders, Source};
use super::transaction_times::TransactionTimes;
use crate::history::{History, Kind};
use crate::observations::{ABSENT, INITIAL, Observations};
use hashbrown::HashSet;

/// Finds the operations behind edges.
pub struct Lookup<'h> {
    /// The history.
    pub history: &'h History,
    /// The transaction that served each read.
    pub observations: &'h Observations,
    /// The versions.
    pub orders: &'h Orders,
    /// Real time.
    pub times: &'h TransactionTimes,
    /// For each operation the version that it installed; [`ABSENT`] if none.
    installed: Vec<u32>,
    /// Further order by the later version.
    backwards: Vec<(u32, u32, Source)>,
}

impl<'h> Lookup<'h> {
    /// Prepares to look things up.
    #[must_use]
    pub fn new(
        history: &'h History,
        observations: &'h Observations,
        orders: &'h Orders,
        times: &'h TransactionTimes,
    ) -> Self {
        let mut installed = vec![ABSENT; history.operation_count()];
        for (&operation, version) in orders.operations.iter().zip(0..) {
            if operation != ABSENT {
                installed[operation as usize] = version;
            }
        }
        let mut backwards: Vec<(u32, u32, Source)> =
            orders.extras.iter().map(|extra| (extra.after, extra.before, extra.source)).collect();
        backwards.sort_unstable();
        Self { history, observations, orders, times, installed, backwards }
    }

    /// Whether a transaction writes something.
    #[must_use]
    pub fn writes_something(&self, transaction: u32) -> bool {
        self.operations(transaction)
            .any(|operation| self.history.operations.kinds[operation as usize].installs())
    }

    /// Operations of a transaction.
    #[must_use]
    pub fn operations(&self, transaction: u32) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let range = self.history.operations_of(transaction as usize);
        range.start as u32..range.end as u32
    }

    /// The key of an operation.
    #[must_use]
    pub fn key(&self, operation: u32) -> u32 {
        self.history.operations.keys[operation as usize]
    }

    /// The versions of a key.
    #[must_use]
    pub fn order(&self, key: u32) -> &'h KeyOrder {
        &self.orders.keys[key as usize]
    }

    /// What reads showed: (operation, key, version).
    pub fn observed(&self, transaction: u32) -> impl Iterator<Item = (u32, u32, u32)> {
        self.operations(transaction).filter_map(|operation| {
            let version = self.orders.observed[operation as usize];
            (version != ABSENT).then(|| (operation, self.key(operation), version))
        })
    }

    /// Versions that a transaction installed: (operation, key, version).
    pub fn installed(&self, transaction: u32) -> impl Iterator<Item = (u32, u32, u32)> {
        self.operations(transaction).filter_map(|operation| {
            let version = self.installed[operation as usize];
            (version != ABSENT).then(|| (operation, self.key(operation), version))
        })
    }

    /// Versions of a key that a transaction installed.
    pub fn installed_of(&self, transaction: u32, key: u32) -> impl Iterator<Item = u32> {
        self.installed(transaction).filter(move |&(_, other, _)| other == key).map(|(.., version)| version)
    }

    /// Reads of a key with a known version.
    pub fn reads_of(&self, transaction: u32, key: u32) -> impl Iterator<Item = u32> {
        let reads = self.observed(transaction);
        reads.filter(move |&(_, other, _)| other == key).map(|(operation, ..)| operation)
    }

    /// Versions that are known to come right before `version` at levels with this order.
    pub fn before(&self, key: u32, version: u32, level: Order) -> impl Iterator<Item = u32> {
        let order = self.order(key);
        let in_chain = order.chain().contains(&version) && version > order.start;
        let is_tail = order.tail().contains(&version);
        let first = self.backwards.partition_point(|&(after, ..)| after < version);
        let further = self.backwards[first..].iter().take_while(move |&&(after, ..)| after == version);
        let further = further.filter(move |&&(.., source)| is_believed(source, level));
        let chain = in_chain.then(|| version - 1).into_iter();
        let tail = is_tail.then(|| order.before_tail()).into_iter();
        chain.chain(tail).chain(further.map(|&(_, before, _)| before))
    }

    /// Versions that are known to come right after `version` at levels with this order, with the source.
    pub fn after(&self, key: u32, version: u32, level: Order) -> impl Iterator<Item = Extra> {
        let order = *self.order(key);
        let next = (version + 1 < order.start + order.chain).then_some(version + 1);
        let tail = (version == order.before_tail()).then(|| order.tail()).into_iter().flatten();
        let known = next.into_iter().chain(tail);
        let is_initial = version == order.start && order.source != Source::ListRead;
        let source = if is_initial { Source::Initial } else { order.source };
        let known = known.map(move |after| Extra { before: version, after, source });
        let further = self.orders.extras_after(version).iter().copied();
        known.chain(further.filter(move |extra| is_believed(extra.source, level)))
    }

    /// Whether one version of a key is known to come before another at levels with this order.
    #[must_use]
    pub fn precedes(&self, key: u32, first: u32, second: u32, level: Order) -> bool {
        let order = self.order(key);
        if first == second {
            return false;
        }
        if order.chain().contains(&first) && order.chain().contains(&second) {
            return first < second;
        }
        if order.chain().contains(&first) && first <= order.before_tail() {
            return true;
        }
        let mut reached = vec![first];
        let mut known: HashSet<u32> = HashSet::from_iter([first]);
        let mut next = 0;
        while next < reached.len() {
            for extra in self.after(key, reached[next], level) {
                if extra.after == second {
                    return true;
                }
                if known.insert(extra.after) {
                    reached.push(extra.after);
                }
            }
            next += 1;
        }
        false
    }

    /// Transactions on which some operation of a transaction up to the read depends directly.
    #[must_use]
    pub fn entered_until(&self, transaction: u32, read: u32) -> Vec<u32> {
        let mut found = Vec::new();
        for operation in self.operations(transaction).take_while(|&operation| operation <= read) {
            found.extend(self.read_from(operation));
            let version = self.installed[operation as usize];
            if version != ABSENT {
                let before = self.before(self.key(operation), version, Order::Plain);
                found.extend(before.map(|version| self.orders.writers[version as usize]));
            }
        }
        found.retain(|&writer| writer != INITIAL && writer != ABSENT && writer != transaction);
        found
    }

    /// Whose writes a read shows; and the first transactions that it comes after, although it does not show them.
    #[must_use]
    pub fn read_from(&self, operation: u32) -> Vec<u32> {
        let at = operation as usize;
        let mut found = Vec::new();
        if self.history.operations.kinds[at] == Kind::Read {
            found.push(self.observations.sources[at]);
            let version = self.orders.observed[at];
            found.extend((version != ABSENT).then(|| self.orders.writers[version as usize]));
            let first = self.orders.first_after(self.key(operation), version);
            found.extend(first.map(|version| self.orders.writers[version as usize]));
            found.extend(self.observations.seen(at));
        }
        found
    }
}

/// Whether levels with this order believe that versions are in an order of this source.
#[must_use]
pub fn is_believed(source: Source, level: Order) -> bool {
    match source {
        Source::Session => level >= Order::Session,
        Source::RealTime => level >= Order::RealTime,
        _ => true,
    }
}
