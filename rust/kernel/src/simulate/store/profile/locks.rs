//! The lock table: locks on rows, tables or the database, and on ranges of rows.

use crate::intervals::profile::Lock;

#[derive(Debug, Clone, Copy)]
struct Holder {
    slot: u32,
    mode: Lock,
    /// Whether a statement that writes took it.
    writes: bool,
}

#[derive(Debug, Clone, Copy)]
struct Predicate {
    slot: u32,
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
    pub(super) fn in_the_way(&self, slot: u32, place: u32, mode: Lock) -> Option<u32> {
        let holders = &self.holders[place as usize];
        let other = holders.iter().find(|holder| holder.slot != slot && holder.mode.conflicts(mode));
        other.map(|holder| holder.slot)
    }

    /// Another transaction whose lock on a range excludes a write of this row.
    pub(super) fn predicate_in_the_way(&self, slot: u32, row: u32, mode: Lock) -> Option<u32> {
        let other = self.predicates.iter().find(|held| {
            held.slot != slot && held.low <= row && row <= held.high && held.mode.conflicts(mode)
        });
        other.map(|held| held.slot)
    }

    /// Another transaction that wrote a row of this range.
    pub(super) fn writer_in_the_way(&self, slot: u32, (low, high): (u32, u32), mode: Lock) -> Option<u32> {
        let rows = &self.holders[low as usize..=high as usize];
        let other = rows
            .iter()
            .flatten()
            .find(|holder| holder.writes && holder.slot != slot && holder.mode.conflicts(mode));
        other.map(|holder| holder.slot)
    }

    /// Takes a lock; false if it was held already.
    pub(super) fn take(&mut self, slot: u32, place: u32, mode: Lock, writes: bool) -> bool {
        let holders = &mut self.holders[place as usize];
        if let Some(mine) = holders.iter_mut().find(|holder| holder.slot == slot) {
            mine.writes |= writes;
            let is_stronger = mode as u8 > mine.mode as u8;
            if is_stronger {
                mine.mode = mode;
            }
            return is_stronger;
        }
        holders.push(Holder { slot, mode, writes });
        true
    }

    pub(super) fn holds_predicate(&self, slot: u32, (low, high): (u32, u32), mode: Lock) -> bool {
        self.predicates.iter().any(|held| {
            held.slot == slot && held.low <= low && high <= held.high && held.mode as u8 >= mode as u8
        })
    }

    pub(super) fn take_predicate(&mut self, slot: u32, (low, high): (u32, u32), mode: Lock) {
        self.predicates.push(Predicate { slot, mode, low, high });
    }

    pub(super) fn release(&mut self, slot: u32, place: u32) {
        self.holders[place as usize].retain(|holder| holder.slot != slot);
    }

    pub(super) fn release_predicates(&mut self, slot: u32) {
        self.predicates.retain(|held| held.slot != slot);
    }
}
