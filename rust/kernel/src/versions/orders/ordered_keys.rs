//! How many keys each source orders, and how far; order that a level infers does not count.

use super::super::adjacent_versions::simple_pairs;
use super::super::dependencies::Basis;
use super::{Extra, KeyOrder, Orders, Source};
use crate::graph::Edges;

/// How many keys a source orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderedKeys {
    /// The source.
    pub source: Source,
    /// Keys that it orders and no stronger source does.
    pub keys: u64,
    /// Those of them that are ordered to the last version, with or without the help of other sources.
    pub whole: u64,
}

impl Orders {
    /// For each source the keys that it orders; [`Source::Nothing`] for those without an order.
    #[must_use]
    pub fn extent(&self) -> Vec<OrderedKeys> {
        let mut counts: Vec<OrderedKeys> = Vec::new();
        for order in self.keys.iter().filter(|order| order.end > order.start + 1) {
            let source = self.strongest(order);
            let place = counts.iter().position(|other| other.source == source).unwrap_or_else(|| {
                counts.push(OrderedKeys { source, keys: 0, whole: 0 });
                counts.len() - 1
            });
            counts[place].keys += 1;
            counts[place].whole += u64::from(self.is_whole(order) || self.is_total(order));
        }
        counts.sort_unstable();
        counts
    }

    /// The strongest source that orders a key; that the first state comes first is the weakest one.
    fn strongest(&self, order: &KeyOrder) -> Source {
        let chain = if order.chain > 1 { order.source } else { Source::Nothing };
        let further = self.recorded(order).map(|extra| extra.source);
        let said =
            further.chain([chain]).filter(|source| !matches!(source, Source::Nothing | Source::Initial));
        said.min().unwrap_or(chain)
    }

    fn recorded(&self, order: &KeyOrder) -> impl Iterator<Item = &Extra> {
        self.extras_of(order).iter().filter(|extra| Basis::of(extra.source) == Basis::Recorded)
    }

    /// Whether one version after the other is the only one that can be next.
    fn is_total(&self, order: &KeyOrder) -> bool {
        let count = (order.end - order.start) as usize;
        let further = self.recorded(order).map(|extra| (extra.before, extra.after));
        let local = |(before, after): (u32, u32)| (before - order.start, after - order.start);
        let pairs: Vec<(u32, u32)> = simple_pairs(order).chain(further).map(local).collect();
        let after = Edges::collected(count, &[&pairs]);
        let mut waiting = vec![0u32; count];
        for (_, after) in pairs {
            waiting[after as usize] += 1;
        }
        let mut next = Some(0);
        for _ in 1..count {
            let Some(version) = next.take() else { return false };
            for &other in after.of(version) {
                waiting[other as usize] -= 1;
                if waiting[other as usize] == 0 && next.replace(other).is_some() {
                    return false;
                }
            }
        }
        next.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One key with these versions, of which so many are a chain.
    fn key(versions: u32, chain: u32, source: Source, extras: &[(u32, u32, Source)]) -> Orders {
        let extras = extras.iter().map(|&(before, after, source)| Extra { before, after, source });
        Orders {
            keys: vec![KeyOrder { start: 0, end: versions, chain, after: chain - 1, source }],
            writers: (0..versions).collect(),
            operations: (0..versions).collect(),
            extras: extras.collect(),
            ..Orders::default()
        }
    }

    fn rows(orders: &Orders) -> Vec<(Source, u64, u64)> {
        orders.extent().into_iter().map(|row| (row.source, row.keys, row.whole)).collect()
    }

    type Case<'c> = (Orders, &'c [(Source, u64, u64)]);

    #[test]
    fn a_key_counts_once_for_its_strongest_source() {
        let (reads, log, claim) = (Source::ListRead, Source::Log, Source::AssumeSequentialKeys);
        let cases: [Case<'_>; 10] = [
            (key(1, 1, Source::Nothing, &[]), &[]),
            (key(2, 1, Source::Nothing, &[]), &[(Source::Nothing, 1, 1)]),
            (key(3, 1, Source::Nothing, &[]), &[(Source::Nothing, 1, 0)]),
            (key(3, 1, reads, &[]), &[(Source::Nothing, 1, 0)]),
            (key(4, 4, reads, &[]), &[(reads, 1, 1)]),
            (key(4, 2, reads, &[]), &[(reads, 1, 0)]),
            (key(4, 2, reads, &[(2, 3, log)]), &[(reads, 1, 1)]),
            (key(4, 2, Source::Initial, &[(3, 2, log)]), &[(log, 1, 1)]),
            (key(3, 1, Source::Nothing, &[(2, 1, claim)]), &[(claim, 1, 1)]),
            (key(3, 1, Source::Nothing, &[(1, 2, Source::Session)]), &[(Source::Nothing, 1, 0)]),
        ];
        for (place, (orders, expected)) in cases.iter().enumerate() {
            assert_eq!(rows(orders), *expected, "case {place}");
        }
    }

    #[test]
    fn versions_that_several_may_follow_are_not_in_order() {
        let log = Source::Log;
        let tied = key(5, 1, log, &[(1, 2, log), (1, 3, log), (2, 4, log), (3, 4, log)]);
        assert_eq!(rows(&tied), [(log, 1, 0)]);
    }
}
