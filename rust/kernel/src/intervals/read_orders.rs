//! The order of versions that reads show.

use super::consistent_read::CertainRead;
use super::finding::{Case, Finding, OrderSource};
use super::key::{Reference, Version};
use super::span::Span;
use super::verifier::Verifier;
use super::version_order::DeducedOrder;

impl Verifier {
    /// Deduces orders of versions, and rw dependencies, from reads that can show only one version.
    pub(super) fn deduce_from_reads(&mut self, slot: u32, certain: &[CertainRead]) {
        for one in certain {
            if let Some((write, commit)) = one.write {
                self.deduce_orders(slot, one, write, commit);
            }
            self.add_reader(one);
        }
    }

    /// Versions that were certainly there came before the one that was shown; the reader's own version comes after it.
    fn deduce_orders(&mut self, slot: u32, one: &CertainRead, write: Reference, commit: Span) {
        let (number, snapshot) = (self.transactions.get(slot).number, one.snapshot);
        let key = &self.keys[one.key as usize];
        let Some(shown) = key.place_of(write, commit) else { return };
        let mut orders: Vec<(Reference, Reference)> = Vec::new();
        // Versions that are further away are ordered by their intervals.
        for place in key.from(commit)..key.end(commit) {
            let version = &key.versions[place];
            let is_open = |before: &Version, after: &Version| {
                !matches!(key.order(before, after, self.rules), Some((true, _)))
            };
            if version.write.number == number {
                orders.extend(is_open(&key.versions[shown], version).then_some((write, version.write)));
            } else if place != shown && version.is_certain && version.commit.precedes(snapshot) {
                orders.extend(is_open(version, &key.versions[shown]).then_some((version.write, write)));
            }
        }
        for (before, after) in orders {
            self.add_order(one.key, DeducedOrder { before, after, read: one.read });
        }
    }

    /// Adds the order of two versions that a read shows; a finding if other evidence shows the opposite.
    pub(super) fn add_order(&mut self, number: u32, deduced: DeducedOrder) {
        let key = &mut self.keys[number as usize];
        let find = |one: Reference| key.versions.iter().find(|version| version.write == one);
        let (Some(before), Some(after)) = (find(deduced.before), find(deduced.after)) else { return };
        let other_read = key.deduced(deduced.before, deduced.after);
        match key.order(before, after, self.rules) {
            None => key.deduced.push(deduced),
            Some((true, _)) => {}
            Some((false, source)) => {
                let case = Case::Orders(OrderSource::Reads, source);
                let mut operations = vec![deduced.before, deduced.after, deduced.read];
                operations.extend(other_read.map(|(_, read)| read).filter(|_| source == OrderSource::Reads));
                self.add_finding(Finding { case, operations, key: number, unexplained: None });
            }
        }
    }
}
