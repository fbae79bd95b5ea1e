//! Which anomalies a broken level shows: every conflict that lies on a cycle, named and counted.

use super::clocks::HappensBefore;
use super::dependencies::Dependencies;
use super::reader::{Reader, WeakLevel};
use crate::cancel::Cancel;
use crate::graph::Components;
use crate::named_enum::named_enum;
use crate::observations::INITIAL;
use rayon::prelude::*;

named_enum! {
    /// The anomalies of the weak levels: first conflicts, by level and by whether happens-before alone closes
    /// the cycle, then cycles.
    pub enum WeakAnomaly {
        NonMonotonicReadCo => "non-monotonic-read-co",
        NonMonotonicReadCm => "non-monotonic-read-cm",
        FracturedReadCo => "fractured-read-co",
        FracturedReadCm => "fractured-read-cm",
        CausalConflict => "causal-conflict",
        CommitOrderConflict => "commit-order-conflict",
        CyclicCausalOrder => "cyclic-causal-order",
        WriteCycle => "write-cycle",
        CircularInformationFlow => "circular-information-flow",
    }
}

/// So many of the anomalies are conflicts.
const CONFLICTS: usize = 6;

/// A reader that reads `key` from `older` although `newer`, which writes it too, came to its sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflict {
    /// What it is called.
    pub name: WeakAnomaly,
    /// Which level's axiom it breaks.
    pub class: WeakLevel,
    /// The node that read.
    pub reader: u32,
    /// What it read.
    pub key: u32,
    /// The node that it read from, or [`INITIAL`].
    pub older: u32,
    /// The node that it should have read from.
    pub newer: u32,
}

/// Finds the conflicts of all classes up to the last of `components`.
pub struct Namer<'d, 'h> {
    /// The transactions.
    pub dependencies: &'d Dependencies<'h>,
    /// Happens-before of any two of them.
    pub happens_before: &'d HappensBefore,
    /// Components of the commit orders that read committed, read atomic and causal demand.
    pub components: &'d [Components],
}

impl Namer<'_, '_> {
    /// Counts by name, and the first `most` conflicts of each, in the order of the history.
    #[must_use]
    pub fn conflicts(&self, max_anomalies: usize, cancel: &Cancel) -> ([u64; CONFLICTS], Vec<Conflict>) {
        let mut all = Shown::new(max_anomalies);
        let Some(strongest) = self.components.last() else { return all.into_parts() };
        let on_cycle = strongest.on_cycle();
        let suspect = |source: u32| {
            source == INITIAL || (source < INITIAL && on_cycle[source as usize] && self.is_counted(source))
        };
        let shares: Vec<Shown> = self
            .dependencies
            .nodes
            .par_chunks(SHARE)
            .map(|nodes| {
                let mut shown = Shown::new(max_anomalies);
                for &node in nodes.iter().filter(|&&node| node < INITIAL) {
                    if !cancel.is_asked() && self.dependencies.reads(node).any(|read| suspect(read.source)) {
                        self.of_reader(node, &suspect).into_iter().for_each(|conflict| shown.add(conflict));
                    }
                }
                shown
            })
            .collect();
        for share in shares {
            all.absorb(share);
        }
        all.into_parts()
    }

    /// Whether happens-before is known from `node` on; on cycles it is, unless there are too many of them.
    fn is_counted(&self, node: u32) -> bool {
        self.happens_before.counts(self.dependencies.rows[node as usize])
    }

    /// One conflict of each name for each key that `node` read.
    fn of_reader(&self, node: u32, suspect: &impl Fn(u32) -> bool) -> Vec<Conflict> {
        let reader = Reader::new(self.dependencies, node);
        let observed = reader.observed();
        let mut found: Vec<Conflict> = Vec::new();
        for &(key, older) in reader.sources.iter().filter(|&&(_, source)| suspect(source)) {
            let mut slots = [None; CONFLICTS];
            self.observed(&reader, &observed, key, older, &mut slots);
            if self.components.len() > WeakLevel::ReadAtomic as usize {
                self.along(
                    &reader,
                    WeakLevel::ReadAtomic,
                    key,
                    older,
                    reader.session_writers(key),
                    &mut slots,
                );
            }
            if self.components.len() > WeakLevel::Causal as usize {
                self.causal(&reader, key, older, &mut slots);
            }
            for (slot, newer) in slots.into_iter().enumerate() {
                let Some(newer) = newer else { continue };
                let (name, class) = (WeakAnomaly::ALL[slot], CLASSES[slot / 2]);
                if found.iter().all(|known| (known.name, known.key) != (name, key)) {
                    found.push(Conflict { name, class, reader: node, key, older, newer });
                }
            }
        }
        found
    }

    fn observed(
        &self,
        reader: &Reader<'_, '_>,
        observed: &[u32],
        key: u32,
        older: u32,
        slots: &mut [Option<u32>; CONFLICTS],
    ) {
        for &newer in observed.iter().filter(|&&newer| self.dependencies.writes_key(newer, key)) {
            let Some(class) = reader.class(key, older, newer) else { continue };
            let Some(components) = self.components.get(class as usize) else { continue };
            if older != INITIAL
                && (components.of[older as usize] != components.of[newer as usize]
                    || !self.is_counted(newer)
                    || self.happens_before.holds(self.dependencies, newer, older))
            {
                // No cycle, or none that this conflict is to blame for.
                continue;
            }
            let is_co = older == INITIAL || self.happens_before.holds(self.dependencies, older, newer);
            slots[class as usize * 2 + usize::from(!is_co)].get_or_insert(newer);
        }
    }

    fn causal(&self, reader: &Reader<'_, '_>, key: u32, older: u32, slots: &mut [Option<u32>; CONFLICTS]) {
        let mut writers = self.dependencies.writers(key);
        while let Some(&first) = writers.first() {
            let row = self.dependencies.rows[first as usize];
            let (start, end) = self.dependencies.row_bounds(row);
            let (here, later) = writers.split_at(writers.partition_point(|&writer| writer < end));
            writers = later;
            if self.happens_before.counts(row) {
                let limit = start + self.happens_before.count(reader.node, row);
                let before = &here[..here.partition_point(|&writer| writer < limit)];
                self.along(reader, WeakLevel::Causal, key, older, before, slots);
            }
        }
    }

    /// Writers of one row: first those that happen before `older` or that it does not reach, then those
    /// that it reaches by the commit order, then those that it happens before.
    fn along(
        &self,
        reader: &Reader<'_, '_>,
        class: WeakLevel,
        key: u32,
        older: u32,
        writers: &[u32],
        slots: &mut [Option<u32>; CONFLICTS],
    ) {
        let slot = class as usize * 2;
        let Some(&first) = writers.first() else { return };
        if !(self.is_counted(first) || older == INITIAL)
            || (slots[slot].is_some() && slots[slot + 1].is_some())
        {
            return;
        }
        let conflicts = |newer: &u32| reader.class(key, older, *newer) == Some(class);
        // Where nothing is missing there is no demand, and what follows from demands does not hold.
        let is_odd =
            self.dependencies.varying[reader.node as usize] || self.dependencies.observations.has_lists();
        let missing: Vec<u32>;
        let writers = if is_odd {
            missing = writers.iter().copied().filter(conflicts).collect();
            &missing
        } else {
            writers
        };
        let (reached, caused) = self.bounds(class, older, writers);
        for (part, slot) in [(&writers[caused..], slot), (&writers[reached..caused], slot + 1)] {
            if slots[slot].is_none() {
                slots[slot] = part.iter().copied().rev().find(conflicts);
            }
        }
    }

    /// Where the writers that `older` reaches start, and where those start that it happens before.
    fn bounds(&self, class: WeakLevel, older: u32, writers: &[u32]) -> (usize, usize) {
        if older == INITIAL {
            return (0, 0);
        }
        let components = &self.components[class as usize].of;
        let is_reached = |&writer: &u32| components[writer as usize] == components[older as usize];
        // If the last one is not reached, none is.
        let Some(&last) = writers.last().filter(|last| is_reached(last)) else {
            return (writers.len(), writers.len());
        };
        // A demand that happens-before meets is not to blame for a cycle.
        let row = self.dependencies.rows[last as usize];
        let met = self.dependencies.row_bounds(row).0 + self.happens_before.count(older, row);
        let met = writers.partition_point(|&writer| writer < met);
        let causes = |writer: u32| self.happens_before.holds(self.dependencies, older, writer);
        let caused = if !causes(last) {
            writers.len()
        } else if writers.get(met).is_none_or(|&first| causes(first)) {
            met
        } else {
            met + writers[met..].partition_point(|&writer| !causes(writer))
        };
        let reached = writers[..caused].partition_point(|writer| !is_reached(writer));
        (reached.max(met).min(caused), caused)
    }
}

/// How many transactions a core takes at a time.
const SHARE: usize = 1 << 10;

/// Conflicts in the order of the history: all are counted, the first of each name are kept.
struct Shown {
    max_anomalies: u64,
    counts: [u64; CONFLICTS],
    kept: Vec<Conflict>,
}

impl Shown {
    fn new(max_anomalies: usize) -> Self {
        Self { max_anomalies: max_anomalies as u64, counts: [0; CONFLICTS], kept: Vec::new() }
    }

    fn add(&mut self, conflict: Conflict) {
        let count = &mut self.counts[conflict.name as usize];
        *count += 1;
        if *count <= self.max_anomalies {
            self.kept.push(conflict);
        }
    }

    /// Takes what comes after.
    fn absorb(&mut self, later: Self) {
        let mut counts = self.counts;
        for conflict in later.kept {
            counts[conflict.name as usize] += 1;
            if counts[conflict.name as usize] <= self.max_anomalies {
                self.kept.push(conflict);
            }
        }
        for (mine, more) in self.counts.iter_mut().zip(later.counts) {
            *mine += more;
        }
    }

    fn into_parts(self) -> ([u64; CONFLICTS], Vec<Conflict>) {
        (self.counts, self.kept)
    }
}

const CLASSES: [WeakLevel; 3] = [WeakLevel::ReadCommitted, WeakLevel::ReadAtomic, WeakLevel::Causal];
