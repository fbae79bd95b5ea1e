//! The order of versions and reads, by the transactions that they belong to.

use super::key::{KeyVersion, Read};
use super::lists::Lists;
use super::transactions::{Order, Transaction, Transactions};
use crate::clock::ClockLevel;
use crate::history::Timestamp;

/// What orders versions and reads, borrowed beside the keys.
#[derive(Clone, Copy)]
pub struct Context<'c> {
    pub order: Order<'c>,
    pub transactions: &'c Transactions,
    pub lists: &'c Lists,
}

impl Context<'_> {
    /// Whether a read should see a version, or a newer one.
    pub fn is_visible(&self, version: &KeyVersion, read: &Read) -> bool {
        version.commit < read.time || version.commit == read.time && self.sees(read.slot, version.slot)
    }

    /// Whether a read has no place in the order of reads: its transaction starts after it commits, and may write
    /// the key.
    pub fn is_odd(&self, read: &Read) -> bool {
        self.order.level == ClockLevel::Snapshot && {
            let transaction = self.transactions.get(read.slot);
            transaction.start > transaction.commit
        }
    }

    fn sees(&self, reader: u32, writer: u32) -> bool {
        self.order.sees(self.transactions.get(reader), self.transactions.get(writer))
    }

    /// Whether a version comes before the commit of a transaction.
    pub fn is_earlier(&self, version: &KeyVersion, commit: Timestamp, transaction: &Transaction) -> bool {
        let is_tie = || self.order.commits(self.transactions.get(version.slot), transaction).is_lt();
        version.commit < commit || version.commit == commit && is_tie()
    }

    /// Whether a read comes before the reads of a transaction.
    pub fn reads_earlier(&self, read: &Read, time: Timestamp, transaction: &Transaction) -> bool {
        let is_tie = || self.order.reads(self.transactions.get(read.slot), transaction).is_lt();
        read.time < time || read.time == time && is_tie()
    }

    /// The time at which a transaction reads.
    pub fn moment(&self, transaction: &Transaction) -> Timestamp {
        match self.order.level {
            ClockLevel::Snapshot => transaction.start,
            ClockLevel::Serializable => transaction.commit,
        }
    }
}

/// The context of an engine; a macro, because the engine's keys are borrowed at the same time.
macro_rules! context {
    ($engine:ident) => {
        $crate::clock::online::context::Context {
            order: $crate::clock::online::transactions::Order {
                level: $engine.terms.level,
                values: &$engine.values,
                sessions: $engine.sessions.ids(),
            },
            transactions: &$engine.transactions,
            lists: &$engine.lists,
        }
    };
}
pub(super) use context;
