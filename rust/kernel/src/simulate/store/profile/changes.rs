//! Changes of rows.

use super::trace::{Trace, Written};
use super::{Request, Server};
use crate::history::Kind;
use crate::simulate::store::{ABSENT, Change, Fault};

impl Server {
    /// Whether a row may be written, inserted or deleted.
    pub(super) fn may_change(&mut self, trace: &mut Trace, request: Request) -> bool {
        let row = request.low;
        let own = self.own(trace.slot, row);
        if request.kind == Kind::Insert {
            let is_new = own.unwrap_or_else(|| self.newest(row).value) == ABSENT;
            if !is_new || !self.profile.compares_inserts {
                return is_new;
            }
        }
        let since = trace.snapshot.unwrap_or(self.store.now);
        own.is_some() || self.is_first_updater(trace, row, since)
    }

    /// Whether no other transaction has changed the row since then, where first updater wins.
    pub(super) fn is_first_updater(&mut self, trace: &mut Trace, row: u32, since: u64) -> bool {
        !self.profile.first_updater_wins
            || !self.store.rows[row as usize].is_newer_than(since)
            || self.strikes(trace, Fault::MissedFirstUpdater)
    }

    /// Whether a fault strikes that clients can see.
    pub(super) fn strikes(&mut self, trace: &mut Trace, fault: Fault) -> bool {
        let strikes = self.faults.strikes(fault);
        if strikes {
            trace.strike(fault, true);
        }
        strikes
    }

    /// Keeps a change for the commit.
    pub(crate) fn change(&mut self, slot: u32, row: u32, change: Change) {
        let (before, at) = (self.own(slot, row), self.store.now);
        self.store.change(slot, row, change);
        let trace = &mut self.traces[slot as usize];
        let place = trace.place;
        if let Some(written) = trace.writes.iter_mut().find(|written| written.key == row) {
            (written.before, written.last, written.place) = (before, at, place);
        } else {
            let is_insertion = matches!(change, Change::Insert(_));
            trace.writes.push(Written { key: row, at, last: at, is_insertion, before: None, place });
        }
    }
}
