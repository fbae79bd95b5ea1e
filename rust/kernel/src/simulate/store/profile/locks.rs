//! The lock table: locks on rows, tables or the database, and on ranges of rows.

use crate::intervals::profile::Lock;

#[derive(Debug, Clone, Copy)]
struct Holder {
    session: u32,
    mode: Lock,
    /// Whether a statement that writes took it.
    writes: bool,
}

#[derive(Debug, Clone, Copy)]
struct Predicate {
    session: u32,
    mode: Lock,
    low: u32,
    high: u32,
}

#[derive(Debug, Default)]
pub(super) struct Locks {
    /// By the first row of what is locked.
    holders: Vec<Vec<Holder>>,
    predicates: Vec<Predicate>,
}

impl Locks {
    pub(super) fn add_row(&mut self) {
        self.holders.push(Vec::new());
    }

    /// Another transaction whose lock there excludes this mode.
    pub(super) fn in_the_way(&self, session: u32, place: u32, mode: Lock) -> Option<u32> {
        let holders = &self.holders[place as usize];
        let other = holders.iter().find(|holder| holder.session != session && holder.mode.conflicts(mode));
        other.map(|holder| holder.session)
    }

    /// Another transaction whose lock on a range excludes a write of this row.
    pub(super) fn predicate_in_the_way(&self, session: u32, row: u32, mode: Lock) -> Option<u32> {
        let other = self.predicates.iter().find(|held| {
            held.session != session && held.low <= row && row <= held.high && held.mode.conflicts(mode)
        });
        other.map(|held| held.session)
    }

    /// Another transaction that wrote a row of this range.
    pub(super) fn writer_in_the_way(&self, session: u32, (low, high): (u32, u32), mode: Lock) -> Option<u32> {
        let rows = &self.holders[low as usize..=high as usize];
        let other = rows
            .iter()
            .flatten()
            .find(|holder| holder.writes && holder.session != session && holder.mode.conflicts(mode));
        other.map(|holder| holder.session)
    }

    /// Takes a lock; false if it was held already.
    pub(super) fn take(&mut self, session: u32, place: u32, mode: Lock, writes: bool) -> bool {
        let holders = &mut self.holders[place as usize];
        if let Some(mine) = holders.iter_mut().find(|holder| holder.session == session) {
            mine.writes |= writes;
            let is_stronger = mode as u8 > mine.mode as u8;
            if is_stronger {
                mine.mode = mode;
            }
            return is_stronger;
        }
        holders.push(Holder { session, mode, writes });
        true
    }

    pub(super) fn holds_predicate(&self, session: u32, (low, high): (u32, u32), mode: Lock) -> bool {
        self.predicates.iter().any(|held| {
            held.session == session && held.low <= low && high <= held.high && held.mode as u8 >= mode as u8
        })
    }

    pub(super) fn take_predicate(&mut self, session: u32, (low, high): (u32, u32), mode: Lock) {
        self.predicates.push(Predicate { session, mode, low, high });
    }

    pub(super) fn release(&mut self, session: u32, place: u32) {
        self.holders[place as usize].retain(|holder| holder.session != session);
    }

    pub(super) fn release_predicates(&mut self, session: u32) {
        self.predicates.retain(|held| held.session != session);
    }
}
