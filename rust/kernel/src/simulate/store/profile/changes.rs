//! Changes of rows.

use super::{Request, Server};
use crate::history::Kind;
use crate::intervals::profile::Read;
use crate::simulate::store::transaction::Transaction;
use crate::simulate::store::{ABSENT, Fault};

impl Server {
    /// Whether a row may be written, inserted or deleted.
    pub(super) fn may_change(&mut self, transaction: &mut Transaction, request: Request) -> bool {
        let row = request.low;
        let own = transaction.own(row);
        if request.kind == Kind::Insert {
            let is_new = own.map_or_else(|| self.newest(row).value, |own| own.value) == ABSENT;
            if !is_new || !self.profile.compares_inserts {
                return is_new;
            }
        }
        let is_late = || self.store.rows[row as usize].is_newer_than(transaction.instant(Read::Consistent));
        own.is_some()
            || !self.profile.first_updater_wins
            || !is_late()
            || self.strikes(transaction, Fault::MissedFirstUpdater)
    }

    /// Whether a fault strikes that clients can see.
    pub(super) fn strikes(&mut self, transaction: &mut Transaction, fault: Fault) -> bool {
        let strikes = self.store.faults.strikes(fault);
        if strikes {
            transaction.strike(fault, true);
        }
        strikes
    }
}
