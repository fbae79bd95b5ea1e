//! The four session guarantees of Terry et al.: what a session reads and writes of a key never goes back.
//!
//! Each demands an order of versions; it is broken if that and the known order lead in a circle.

use super::anomalies::{Finding, classify};
use super::dependencies::{Dependencies, Pairs, components};
use super::levels::Level;
use super::lookup::Lookup;
use super::orders::Source;
use super::version_paths::without_loops;
use super::witness::Step;
use crate::graph::{Components, Edges};
use crate::history::NO_KEY;
use crate::observations::INITIAL;
use crate::relation::Relation;

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

/// The transactions that touched each key, session by session.
pub struct Touches<'s, 'h> {
    all: &'s Dependencies,
    lookup: &'s Lookup<'h>,
    rows: Vec<Touch>,
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
        Self { all, lookup, rows: touches }
    }

    fn rows(&self) -> impl Iterator<Item = &[Touch]> {
        self.rows.chunk_by(|a, b| (a.key, a.session) == (b.key, b.session))
    }

    /// Whether the guarantee is broken.
    #[must_use]
    pub fn breaks(&self, guarantee: Level) -> bool {
        let versions = self.lookup.orders.writers.len() as u32;
        let found = self.demanded(guarantee);
        found.cycles().any(|group| group.iter().filter(|&&node| node < versions).count() > 1)
    }

    /// A place for each version, in an order that contains what is known and what the guarantee demands; nothing if
    /// there is none.
    #[must_use]
    pub fn places(&self, guarantee: Level) -> Option<Vec<u32>> {
        (!self.breaks(guarantee)).then(|| self.demanded(guarantee).of)
    }

    /// The components of the known order and of what the guarantee demands: versions, and nodes behind them.
    fn demanded(&self, guarantee: Level) -> Components {
        let orders = self.lookup.orders;
        let mut pairs = Pairs::new();
        for order in &orders.keys {
            pairs.extend(order.chain().skip(1).map(|version| (version, version - 1)));
            pairs.extend(order.tail().map(|version| (version, order.before_tail())));
        }
        let recorded = orders.extras.iter().filter(|extra| is_recorded(extra.source));
        pairs.extend(recorded.map(|extra| (extra.after, extra.before)));
        let mut nodes = orders.writers.len() as u32;
        for row in self.rows() {
            demands(guarantee, row, &mut nodes, &mut pairs);
        }
        components(&Edges::collected(nodes as usize, &[&pairs]), nodes as usize)
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
        let lookup = self.lookup;
        let key = earlier.key;
        let is_of_writes = matches!(guarantee, Level::MonotonicWrites | Level::WritesFollowReads);
        let (_, noted) = sides(guarantee, earlier);
        let (demanded, _) = sides(guarantee, later);
        let (first, second) = (self.transaction(earlier), self.transaction(later));
        let pairs = noted.iter().flat_map(|&before| demanded.iter().map(move |&after| (before, after)));
        let mut backwards = pairs.into_iter().filter_map(|(before, after)| {
            let is_own = lookup.orders.writers[before.1 as usize] == second;
            if is_of_writes && is_own {
                return None;
            }
            Some((before, after, lookup.version_path(key, after.1, before.1, is_recorded)?))
        });
        let (before, after, way) = backwards.next()?;
        // The later one comes before the transaction that installed the newer version.
        let read = (!is_of_writes).then_some((second, after.0));
        let mut steps = lookup.steps_along(key, &way, read);
        let source = lookup.orders.writers[before.1 as usize];
        if source != first && source != INITIAL {
            let operations = vec![before.0, lookup.served(before.0, before.1)];
            let relation = Relation::WriteRead;
            let none = Source::Nothing;
            steps.push(Step { before: source, after: first, relation, key, operations, source: none });
        }
        let (relation, key, operations) = (Relation::Session, NO_KEY, Vec::new());
        let in_session =
            Step { before: first, after: second, relation, key, operations, source: Source::Nothing };
        steps.push(in_session);
        let steps = without_loops(steps);
        let name = classify(&steps);
        Some(Finding { name, steps, alternatives: Vec::new(), level: Some(guarantee) })
    }

    fn transaction(&self, touch: &Touch) -> u32 {
        self.all.transactions[touch.node as usize]
    }
}

/// Whether it is no rule that says so: guarantees use none.
fn is_recorded(source: Source) -> bool {
    source < Source::ReadThenWrite || source > Source::RealTime
}

/// Operations and versions.
type Met = [(u32, u32)];

/// What a guarantee compares with what came before, and what it compares later things with.
fn sides(guarantee: Level, touch: &Touch) -> (&Met, &Met) {
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
        // A version that a transaction wrote itself does not come before it, even if another one saw it
        // earlier.
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
