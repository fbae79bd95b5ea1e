//! How one version of a key is known to come before another, and the steps of a proof that this makes.

use super::dependencies::Order;
use super::lookup::Lookup;
use super::orders::{Extra, Source};
use super::witness::Step;
use crate::observations::INITIAL;
use crate::relation::Relation;
use hashbrown::HashMap;
use std::collections::VecDeque;

impl Lookup<'_> {
    /// From one version to another, each step by one source that is believed.
    #[must_use]
    pub fn version_path(
        &self,
        key: u32,
        first: u32,
        second: u32,
        is_believed: impl Fn(Source) -> bool,
    ) -> Option<Vec<Extra>> {
        let told = |before: u32, after: u32| {
            let source = self.direct_source(key, before, after, &is_believed)?;
            Some(Extra { before, after, source })
        };
        if let Some(direct) = told(first, second) {
            return Some(vec![direct]);
        }
        let path = self.path(key, first, second, &is_believed)?;
        let mut way: Vec<Extra> = Vec::new();
        let mut from = 0;
        while from + 1 < path.len() {
            let farthest = (from + 1..path.len()).rev();
            let (to, step) = farthest.into_iter().find_map(|to| Some((to, told(path[from], path[to])?)))?;
            match way.last_mut() {
                Some(last) if last.source == step.source && is_transitive(step.source) => {
                    last.after = step.after;
                }
                _ => way.push(step),
            }
            from = to;
        }
        Some(way)
    }

    /// Versions from the first to the second, each known to come after the one before it.
    fn path(
        &self,
        key: u32,
        first: u32,
        second: u32,
        is_believed: &impl Fn(Source) -> bool,
    ) -> Option<Vec<u32>> {
        let chained = self.order(key).source;
        let mut came_from: HashMap<u32, u32> = HashMap::new();
        let mut open = VecDeque::from([first]);
        while let Some(version) = open.pop_front() {
            for extra in self.after(key, version, Order::RealTime) {
                let is_known = extra.source == Source::Initial || extra.source == chained;
                if !(is_known || is_believed(extra.source)) || came_from.contains_key(&extra.after) {
                    continue;
                }
                came_from.insert(extra.after, version);
                if extra.after == second {
                    let mut path = vec![second];
                    while path[path.len() - 1] != first {
                        path.push(came_from[&path[path.len() - 1]]);
                    }
                    path.reverse();
                    return Some(path);
                }
                open.push_back(extra.after);
            }
        }
        None
    }

    /// The source that alone shows that one version comes before another.
    fn direct_source(
        &self,
        key: u32,
        before: u32,
        after: u32,
        is_believed: &impl Fn(Source) -> bool,
    ) -> Option<Source> {
        let order = self.order(key);
        if before == after {
            return None;
        }
        if before == order.start {
            return Some(Source::Initial);
        }
        let in_chain = |version: u32| order.chain().contains(&version);
        let is_chained = in_chain(after) && before < after;
        let is_behind = order.tail().contains(&after) && before <= order.before_tail();
        if in_chain(before) && (is_chained || is_behind) {
            return Some(order.source);
        }
        let mut extras = self.orders.extras_after(before).iter();
        extras.find(|extra| extra.after == after && is_believed(extra.source)).map(|extra| extra.source)
    }

    /// The steps along a path of versions: first a read that missed a version, if there is one, then
    /// overwrites.
    #[must_use]
    pub fn steps_along(&self, key: u32, way: &[Extra], read: Option<(u32, u32)>) -> Vec<Step> {
        let writers = &self.orders.writers;
        let steps = way.iter().enumerate().map(|(number, &Extra { before, after, source })| {
            let missed = read.filter(|_| number == 0);
            let (first, relation, operations) = if let Some((reader, read)) = missed {
                (reader, Relation::ReadWrite, self.missed(read, before, after))
            } else {
                let shown = self.ordered(key, before, after, source);
                (writers[before as usize], Relation::WriteWrite, shown)
            };
            Step { before: first, after: writers[after as usize], relation, key, operations, source }
        });
        steps.collect()
    }

    /// The operations that show that a read saw one version and missed another.
    #[must_use]
    pub fn missed(&self, read: u32, seen: u32, missed: u32) -> Vec<u32> {
        vec![read, self.orders.operations[missed as usize], self.served(read, seen)]
    }

    /// The operations that show the order of two versions.
    #[must_use]
    pub fn ordered(&self, key: u32, before: u32, after: u32, source: Source) -> Vec<u32> {
        let operations = &self.orders.operations;
        let mut shown = vec![operations[before as usize], operations[after as usize]];
        if source == Source::ListRead {
            shown.insert(0, self.observations.canonical_read(key));
        }
        shown
    }

    /// The write that a read shows: its writer may have overwritten it itself.
    #[must_use]
    pub fn served(&self, read: u32, version: u32) -> u32 {
        let (writer, last) =
            (self.orders.writers[version as usize], self.orders.operations[version as usize]);
        if writer == INITIAL {
            return last;
        }
        let (kinds, values) = (&self.history.operations.kinds, &self.history.operations.values);
        let is_shown = |&write: &u32| {
            kinds[write as usize].installs()
                && self.key(write) == self.key(read)
                && values[write as usize] == values[read as usize]
        };
        self.operations(writer).rev().find(is_shown).unwrap_or(last)
    }
}

/// Whether what a source says of three versions, two by two, it also says of the first and the last.
fn is_transitive(source: Source) -> bool {
    matches!(
        source,
        Source::ListRead
            | Source::Log
            | Source::Declared
            | Source::Timestamps
            | Source::Session
            | Source::RealTime
    )
}

/// A circle of steps without the circles in it.
#[must_use]
pub fn without_loops(steps: Vec<Step>) -> Vec<Step> {
    let count = steps.len();
    let mut kept: Vec<Step> = Vec::new();
    for (number, step) in steps.into_iter().enumerate() {
        let after = step.after;
        kept.push(step);
        if number + 1 < count
            && let Some(place) = kept.iter().position(|known| known.before == after)
        {
            kept.truncate(place);
        }
    }
    kept
}
