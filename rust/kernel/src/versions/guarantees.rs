//! The four session guarantees of Terry et al.: what a session reads and writes of a key never goes back.
//!
//! Each demands an order of versions; it is broken if that and the known order lead in a circle.

use super::dependencies::{Dependencies, Order, Pairs, components};
use super::levels::Level;
use super::lookup::Lookup;
use super::names::{Finding, Name};
use super::orders::Source;
use super::witness::{Relation, Step};
use crate::graph::Edges;
use crate::history::NO_KEY;
use crate::observations::INITIAL;

/// The guarantees.
pub const GUARANTEES: [Level; 4] =
    [Level::MonotonicWrites, Level::WritesFollowReads, Level::ReadYourWrites, Level::MonotonicReads];

/// What a transaction did to a key: (operation, version).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Touch {
    key: u32,
    session: u32,
    node: u32,
    reads: Vec<(u32, u32)>,
    writes: Vec<(u32, u32)>,
}

/// Who touched which key, key by key and session by session.
pub struct Touches<'s, 'h> {
    all: &'s Dependencies,
    lookup: &'s Lookup<'h>,
    touches: Vec<Touch>,
}

impl<'s, 'h> Touches<'s, 'h> {
    /// Sorts what transactions did.
    #[must_use]
    pub fn new(all: &'s Dependencies, lookup: &'s Lookup<'h>) -> Self {
        let mut touches: Vec<Touch> = Vec::new();
        for (&transaction, node) in all.transactions.iter().zip(0..) {
            let start = touches.len();
            let session = all.sessions[node as usize];
            let reads = lookup.observed(transaction).map(|row| (row, true));
            let writes = lookup.installed(transaction).map(|row| (row, false));
            for ((operation, key, version), is_read) in reads.chain(writes) {
                let known = touches[start..].iter().position(|touch| touch.key == key);
                let place = known.map_or(touches.len(), |place| start + place);
                if known.is_none() {
                    touches.push(Touch { key, session, node, reads: Vec::new(), writes: Vec::new() });
                }
                let touch = &mut touches[place];
                if is_read { &mut touch.reads } else { &mut touch.writes }.push((operation, version));
            }
        }
        touches.sort_unstable();
        Self { all, lookup, touches }
    }

    fn rows(&self) -> impl Iterator<Item = &[Touch]> {
        self.touches.chunk_by(|a, b| (a.key, a.session) == (b.key, b.session))
    }

    /// Whether the guarantee is broken.
    #[must_use]
    pub fn breaks(&self, guarantee: Level) -> bool {
        let orders = self.lookup.orders;
        let mut pairs = Pairs::new();
        for order in &orders.keys {
            pairs.extend(order.chain().skip(1).map(|version| (version, version - 1)));
            pairs.extend(order.tail().map(|version| (version, order.before_tail())));
        }
        let recorded = orders
            .extras
            .iter()
            .filter(|extra| extra.source < Source::ReadThenWrite || extra.source > Source::RealTime);
        pairs.extend(recorded.map(|extra| (extra.after, extra.before)));
        let mut nodes = orders.writers.len() as u32;
        for row in self.rows() {
            demands(guarantee, row, &mut nodes, &mut pairs);
        }
        let found = components(&Edges::collected(nodes as usize, &[&pairs]), nodes as usize);
        let versions = orders.writers.len() as u32;
        found.cycles().any(|group| group.iter().filter(|&&node| node < versions).count() > 1)
    }

    /// Two transactions of a session that show it at once, if there are such.
    #[must_use]
    pub fn witness(&self, guarantee: Level) -> Option<Finding> {
        for row in self.rows() {
            for (place, later) in row.iter().enumerate() {
                let earlier = row[..place].iter().filter(|earlier| earlier.node != later.node);
                let found = earlier.rev().find_map(|earlier| self.shown(guarantee, earlier, later));
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    fn shown(&self, guarantee: Level, earlier: &Touch, later: &Touch) -> Option<Finding> {
        let is_of_writes = matches!(guarantee, Level::MonotonicWrites | Level::WritesFollowReads);
        let (_, noted) = sides(guarantee, earlier);
        let (demanded, _) = sides(guarantee, later);
        let pairs = noted.iter().flat_map(|&before| demanded.iter().map(move |&after| (before, after)));
        let is_back = |((_, before), (_, after)): &((u32, u32), (u32, u32))| {
            let is_own = self.lookup.orders.writers[*before as usize] == self.transaction(later);
            !(is_of_writes && is_own) && self.lookup.precedes(earlier.key, *after, *before, Order::Plain)
        };
        let (before, after) = pairs.into_iter().find(is_back)?;
        let (first, second) = (self.transaction(earlier), self.transaction(later));
        let source = self.lookup.orders.writers[before.1 as usize];
        let mut steps = Vec::new();
        // The later one comes before whoever installed the newer version.
        if is_of_writes {
            steps.push(self.overwritten(second, source, earlier.key, after.1, before.1));
        } else {
            let writes = &self.lookup.orders.operations;
            let operations = vec![after.0, writes[before.1 as usize], writes[after.1 as usize]];
            let order = self.lookup.order(earlier.key).source;
            let relation = Relation::ReadWrite;
            steps.push(Step {
                before: second,
                after: source,
                relation,
                key: earlier.key,
                operations,
                source: order,
            });
        }
        if source != first && source != INITIAL {
            let operations = vec![before.0, self.lookup.orders.operations[before.1 as usize]];
            let relation = Relation::WriteRead;
            let (key, none) = (earlier.key, Source::Nothing);
            steps.push(Step { before: source, after: first, relation, key, operations, source: none });
        }
        let (key, operations, source) = (NO_KEY, Vec::new(), Source::Nothing);
        steps.push(Step {
            before: first,
            after: second,
            relation: Relation::Session,
            key,
            operations,
            source,
        });
        let name = match guarantee {
            Level::MonotonicWrites => Name::WriteCycleSession,
            Level::WritesFollowReads => Name::CircularInformationFlowSession,
            _ => Name::ReadSkewSession,
        };
        Some(Finding { name, steps, alternatives: Vec::new(), level: guarantee as u8 + 1 })
    }

    fn overwritten(&self, before: u32, after: u32, key: u32, older: u32, newer: u32) -> Step {
        let orders = self.lookup.orders;
        let source = self.lookup.order(key).source;
        let mut operations = vec![orders.operations[older as usize], orders.operations[newer as usize]];
        if source == Source::ListRead {
            operations.insert(0, self.lookup.observations.canonical_read(key));
        }
        Step { before, after, relation: Relation::WriteWrite, key, operations, source }
    }

    fn transaction(&self, touch: &Touch) -> u32 {
        self.all.transactions[touch.node as usize]
    }
}

/// What a guarantee compares with what came before, and what it compares later things with.
fn sides(guarantee: Level, touch: &Touch) -> (&[(u32, u32)], &[(u32, u32)]) {
    match guarantee {
        Level::MonotonicWrites => (&touch.writes, &touch.writes),
        Level::WritesFollowReads => (&touch.writes, &touch.reads),
        Level::ReadYourWrites => (&touch.reads, &touch.writes),
        _ => (&touch.reads, &touch.reads),
    }
}

/// The order of versions that a guarantee demands of one session's dealings with one key, as pairs (later,
/// earlier); nodes from `next` on stand for all versions up to some point of the session.
fn demands(guarantee: Level, row: &[Touch], next: &mut u32, pairs: &mut Pairs) {
    let mut last: Option<u32> = None;
    let mut waiting: Vec<u32> = Vec::new();
    for touch in row {
        let (demanded, noted) = sides(guarantee, touch);
        if let Some(before) = last {
            pairs.extend(demanded.iter().map(|&(_, version)| (version, before)));
        }
        for &(_, version) in demanded {
            let own = |before: u32| touch.writes.iter().any(|&(_, own)| own == before);
            let others = waiting.iter().filter(|&&before| !own(before));
            pairs.extend(others.map(|&before| (version, before)));
        }
        waiting.extend(noted.iter().map(|&(_, version)| version));
        // What a transaction wrote itself does not come before it, even if somebody knew of it earlier.
        let is_later = |version: u32| {
            let after = row.iter().filter(|other| other.node > touch.node);
            after.flat_map(|other| &other.writes).any(|&(_, own)| own == version)
        };
        let (held, now): (Vec<u32>, Vec<u32>) = match guarantee {
            Level::WritesFollowReads => waiting.drain(..).partition(|&version| is_later(version)),
            _ => (Vec::new(), std::mem::take(&mut waiting)),
        };
        waiting = held;
        if now.is_empty() {
            continue;
        }
        pairs.extend(now.into_iter().map(|version| (*next, version)));
        pairs.extend(last.map(|before| (*next, before)));
        last = Some(*next);
        *next += 1;
    }
}
