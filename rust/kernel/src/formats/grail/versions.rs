//! How each key is written down: as a list or as a register, and in which order its versions are declared.
//!
//! A key of appends is a list: its reads return the elements up to the one that they saw, and appends that no
//! read shows come after the longest of them, in any order that the graph leaves open. A key of writes is a
//! register. Orders that neither form holds are told by keys of their own, with two versions each.

use super::Grail;
use super::version_order::{KnownOrder, NONE};

/// The version of each event, and the form of its key.
pub(super) struct Versions {
    /// Of a write its number among the versions of the key, from 1; of a read the number that it saw.
    pub(super) number: Vec<u32>,
    /// Whether the key of each event is a list.
    pub(super) is_list: Vec<bool>,
    /// Whether the declared order has a write.
    pub(super) is_declared: Vec<bool>,
    /// Orders that the forms do not tell.
    pub(super) pairs: Vec<(u32, u32)>,
}

/// The events of one key.
struct Key<'k> {
    /// By number.
    writes: &'k [u32],
    reads: &'k [u32],
    is_open: bool,
    /// How many writes come first, one after the other; no other write comes after any of the rest.
    chain: Option<usize>,
}

impl Grail {
    /// Writes down every key; `number` has the versions of those whose writes are all in order.
    pub(super) fn versions(&self, known: &KnownOrder, number: Vec<u32>) -> Versions {
        let size = self.events.len();
        let (is_list, is_declared) = (vec![false; size], vec![false; size]);
        let mut versions = Versions { number, is_list, is_declared, pairs: Vec::new() };
        let is_last = self.last_writes(known);
        let mut events: Vec<u32> = self.numbers().collect();
        events.sort_unstable_by_key(|&event| {
            let place = event as usize;
            let is_read = !self.events[place].is_write;
            (known.key[place], is_read, is_last[place], known.level[place], event)
        });
        // By the first write: what a key does not tell of its writes that others follow.
        let mut untold = vec![Untold::Nothing; size];
        for events in events.chunk_by(|&one, &other| known.key[one as usize] == known.key[other as usize]) {
            let writes = events.partition_point(|&event| self.events[event as usize].is_write);
            let (writes, reads) = events.split_at(writes);
            let is_open = known.is_open[events[0] as usize];
            let chain = chain(known, &is_last, writes);
            let found = self.write_down(&Key { writes, reads, is_open, chain }, known, &mut versions);
            for &write in writes {
                untold[write as usize] = found;
            }
        }
        versions.pairs = pairs(known, &untold, &versions.number, &is_last);
        versions
    }

    /// Writes that no other is known to follow, and that no read saw.
    fn last_writes(&self, known: &KnownOrder) -> Vec<bool> {
        let mut is_last: Vec<bool> = self.events.iter().map(|event| event.is_write).collect();
        known.pairs.iter().for_each(|&(before, _)| is_last[before as usize] = false);
        let seen = known.writer.iter().filter(|&&writer| writer != NONE);
        seen.for_each(|&writer| is_last[writer as usize] = false);
        is_last
    }

    fn write_down(&self, key: &Key<'_>, known: &KnownOrder, versions: &mut Versions) -> Untold {
        let Versions { number, is_list, is_declared, .. } = versions;
        let are_appends = key.writes.iter().all(|&write| self.events[write as usize].is_append);
        let becomes_list = are_appends && (!key.is_open || key.chain.is_some());
        let events = key.writes.iter().chain(key.reads);
        events.for_each(|&event| is_list[event as usize] = becomes_list);
        if !key.is_open {
            key.writes.iter().for_each(|&write| is_declared[write as usize] = true);
            return Untold::Nothing;
        }
        key.writes.iter().zip(1..).for_each(|(&write, place)| number[write as usize] = place);
        for &read in key.reads {
            let writer = known.writer[read as usize];
            number[read as usize] = if writer == NONE { 0 } else { number[writer as usize] };
        }
        if becomes_list {
            let shown = key.reads.iter().map(|&read| number[read as usize]).max();
            return Untold::Beyond(shown.unwrap_or(0));
        }
        let Some(chain) = key.chain else { return Untold::Beyond(0) };
        key.writes[..chain].iter().for_each(|&write| is_declared[write as usize] = true);
        Untold::OfLast
    }
}

/// Which orders of a key's writes its form does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Untold {
    Nothing,
    /// Those of versions beyond a number.
    Beyond(u32),
    /// What the writes come after that no other is known to follow.
    OfLast,
}

/// How many writes that others follow, or that a read saw, come first, if they form a chain.
fn chain(known: &KnownOrder, is_last: &[bool], writes: &[u32]) -> Option<usize> {
    let followed = writes.partition_point(|&write| !is_last[write as usize]);
    // Whatever a write comes after is followed, so that one write on each level means a chain.
    let mut levels = writes[..followed].iter().zip(0..);
    levels.all(|(&write, level)| known.level[write as usize] == level).then_some(followed)
}

/// Known orders that the forms do not tell, each once.
fn pairs(known: &KnownOrder, untold: &[Untold], number: &[u32], is_last: &[bool]) -> Vec<(u32, u32)> {
    let is_untold = |&&(before, after): &&(u32, u32)| match untold[before as usize] {
        Untold::Nothing => false,
        Untold::Beyond(shown) => number[before as usize].min(number[after as usize]) > shown,
        Untold::OfLast => is_last[after as usize],
    };
    let mut pairs: Vec<(u32, u32)> = known.pairs.iter().filter(is_untold).copied().collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
