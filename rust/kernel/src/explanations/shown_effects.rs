//! Whether an explanation shows the indeterminate transactions that took effect in it.
//!
//! One that nothing shows is left out: with it, the explanation is none. It would break nothing that holds without it, but
//! what is recorded of it may contradict other sources, or agree with them where those of real explanations do not.

use super::{Ambiguity, Premise, Shown, Sites, writer_of};
use crate::by_key::Shape;
use crate::history::VersionSource;
use crate::observations::ABSENT;

/// A transaction, and the one whose read shows it; [`ABSENT`] if a log does.
struct Sight {
    reader: u32,
    writer: u32,
}

impl Ambiguity<'_> {
    /// Whether a log, or a read of a transaction that counts, shows each of the transactions that took effect.
    pub(super) fn shows_effects(&self, premise: &Premise, sites: &Sites, options: &[usize]) -> bool {
        let took_effect = |one: &u32| premise.effective[*one as usize];
        let mut waiting: Vec<u32> = self.effects.iter().copied().filter(took_effect).collect();
        if waiting.is_empty() || !premise.is_decided() {
            return true;
        }
        let mut counted = self.counted.to_vec();
        self.harmless.iter().for_each(|&one| counted[one as usize] = true);
        waiting.retain(|&one| {
            counted[one as usize] = self.writes_unjudged_keys(one, premise);
            !counted[one as usize]
        });
        let sights = self.sights(sites, options);
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|&one| {
                let is_shown = |sight: &Sight| {
                    sight.writer == one && (sight.reader == ABSENT || counted[sight.reader as usize])
                };
                counted[one as usize] = sights.iter().any(is_shown);
                !counted[one as usize]
            });
            if waiting.len() == before {
                return false;
            }
        }
        true
    }

    /// Whether reads that have no options may show a transaction.
    fn writes_unjudged_keys(&self, transaction: u32, premise: &Premise) -> bool {
        let operations = &self.history.operations;
        let mut writes = self
            .history
            .operations_of(transaction as usize)
            .filter(|&operation| operations.kinds[operation].installs());
        writes.any(|write| {
            let shape = self.of_key(operations.keys[write], &premise.counted).shape;
            matches!(shape, Shape::Mixed | Shape::Deleted)
        })
    }

    /// What an option of each site shows; of a read that is open, what any of its options does.
    fn sights(&self, sites: &Sites, options: &[usize]) -> Vec<Sight> {
        let mut options = options.iter().copied();
        let mut sights = Vec::new();
        for site in &sites.others {
            let taken = if site.len() > 1 { options.next().unwrap_or(0) } else { 0 };
            for shown in &site[taken] {
                let (reader, writes) = match shown {
                    Shown::List { read, writes } => (self.owners[*read as usize], writes),
                    Shown::Rows { order, writes, .. } => {
                        if self.history.versions[*order].source != VersionSource::Log {
                            continue;
                        }
                        (ABSENT, writes)
                    }
                };
                sights.extend(self.seen_by(reader, writes));
            }
        }
        for site in &sites.reads {
            let taken = if site.options.len() > 1 { options.next() } else { Some(0) };
            let writes = taken.map_or(&site.options[..], |taken| &site.options[taken..=taken]);
            sights.extend(self.seen_by(site.transaction, writes));
        }
        sights
    }

    fn seen_by<'s>(&'s self, reader: u32, writes: &'s [u32]) -> impl Iterator<Item = Sight> + 's {
        writes.iter().map(move |&write| Sight { reader, writer: writer_of(write, &self.owners) })
    }
}
