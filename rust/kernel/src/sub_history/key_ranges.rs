//! The keys of each table in order, to be searched by bounds.

use crate::history::{History, Kind, NO_KEY, Range};
use crate::value::{AtomKind, Value, Values};
use hashbrown::HashMap;
use std::cmp::Ordering;

/// A key by its place among all keys: integers first, then texts, then all others in the order of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank<'v> {
    Small(i64),
    /// An integer that does not fit into a value: whether it is negative, and its digits.
    Large(bool, &'v str),
    Text(&'v str),
    Other,
}

impl<'v> Rank<'v> {
    fn of(values: &'v Values, key: Value) -> Self {
        if let Some(number) = key.as_small() {
            return Self::Small(number);
        }
        match key.atom_index().map(|index| values.atom(index)) {
            Some((AtomKind::Integer, digits)) => match digits.strip_prefix('-') {
                Some(magnitude) => Self::Large(true, magnitude),
                None => Self::Large(false, digits),
            },
            Some((AtomKind::Text, text)) => Self::Text(text),
            _ => Self::Other,
        }
    }

    fn group(self) -> u8 {
        match self {
            Self::Small(_) | Self::Large(..) => 0,
            Self::Text(_) => 1,
            Self::Other => 2,
        }
    }

    fn compare(self, other: Self) -> Ordering {
        let by_size = |one: &str, other: &str| one.len().cmp(&other.len()).then_with(|| one.cmp(other));
        match (self, other) {
            (Self::Small(one), Self::Small(other)) => one.cmp(&other),
            (Self::Large(true, one), Self::Large(true, other)) => by_size(other, one),
            (Self::Large(false, one), Self::Large(false, other)) => by_size(one, other),
            (Self::Large(is_negative, _), Self::Small(_) | Self::Large(..)) => {
                if is_negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (Self::Small(_), Self::Large(is_negative, _)) => {
                if is_negative {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            // Bytes of UTF-8 are in the order of code points.
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            _ => self.group().cmp(&other.group()),
        }
    }
}

/// The bounds of a range read.
#[derive(Debug, Clone, Copy)]
pub enum Bounds<'v> {
    /// Each an integer, a text, or nothing where it is open.
    Ordered(Option<Rank<'v>>, Option<Rank<'v>>),
    /// Both are this key, whatever it is.
    Single(Value),
}

impl<'v> Bounds<'v> {
    /// The bounds, if each is an integer, a text or open, or if both are the same key.
    pub fn of(values: &'v Values, low: Value, high: Value) -> Option<Self> {
        let bound = |value: Value| match (value, Rank::of(values, value)) {
            (Value::NIL, _) => Some(None),
            (_, Rank::Other) => None,
            (_, rank) => Some(Some(rank)),
        };
        match (bound(low), bound(high)) {
            (Some(low), Some(high)) => Some(Self::Ordered(low, high)),
            _ => (low == high).then_some(Self::Single(low)),
        }
    }
}

/// The keys of one table, in order.
#[derive(Debug, Default)]
struct Table<'h> {
    keys: Vec<u32>,
    ranks: Vec<Rank<'h>>,
}

/// The keys of all tables.
#[derive(Debug)]
pub struct KeyRanges<'h> {
    /// The place of each key among all.
    places: Vec<u32>,
    /// The keys that are neither integers nor texts.
    others: HashMap<Value, u32>,
    tables: HashMap<Value, Table<'h>>,
}

impl<'h> KeyRanges<'h> {
    /// Sorts the keys of each table that operations name.
    pub fn of(history: &'h History) -> Self {
        let rank = |key: u32| Rank::of(&history.values, history.keys[key as usize]);
        let mut order: Vec<u32> = (0..history.keys.len() as u32).collect();
        order.sort_by(|&one, &other| rank(one).compare(rank(other)));
        let mut places = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&key, place)| places[key as usize] = place);
        let first_other = order.partition_point(|&key| rank(key) != Rank::Other);
        let others = order[first_other..].iter().map(|&key| (history.keys[key as usize], key)).collect();
        let mut members = members(history);
        members.sort_unstable_by_key(|&(table, key)| (table, places[key as usize]));
        members.dedup();
        let mut tables: HashMap<Value, Table<'h>> = HashMap::new();
        for (name, key) in members {
            let table = tables.entry(name).or_default();
            table.keys.push(key);
            table.ranks.push(rank(key));
        }
        Self { places, others, tables }
    }

    /// The place of a key among all.
    pub fn place(&self, key: u32) -> u32 {
        self.places[key as usize]
    }

    /// The keys of a table between bounds, in order.
    pub fn between(&self, table: Value, bounds: Bounds<'_>) -> &[u32] {
        let Some(Table { keys, ranks }) = self.tables.get(&table) else { return &[] };
        let (low, high) = match bounds {
            Bounds::Ordered(low, high) => (low, high),
            Bounds::Single(key) => return self.single(keys, key),
        };
        let Some(group) = low.or(high).map(Rank::group) else { return keys };
        if low.into_iter().chain(high).any(|bound| bound.group() != group) {
            return &[];
        }
        let is_before = |rank: &Rank<'_>| {
            rank.group() < group || low.is_some_and(|low| rank.compare(low) == Ordering::Less)
        };
        let is_within = |rank: &Rank<'_>| {
            rank.group() <= group && high.is_none_or(|high| rank.compare(high) != Ordering::Greater)
        };
        let (from, to) = (ranks.partition_point(is_before), ranks.partition_point(is_within));
        &keys[from..to.max(from)]
    }

    /// A key that is neither an integer nor a text, if it is among the keys of a table.
    fn single<'k>(&self, keys: &'k [u32], key: Value) -> &'k [u32] {
        let Some(&number) = self.others.get(&key) else { return &[] };
        let found = keys.binary_search_by_key(&self.place(number), |&one| self.place(one));
        found.map_or(&[], |place| &keys[place..=place])
    }
}

/// The keys that operations on them, and range reads that show them, put into tables.
fn members(history: &History) -> Vec<(Value, u32)> {
    let columns = &history.operations;
    let (mut found, mut room) = (Vec::new(), 1 << 16);
    for operation in 0..columns.kinds.len() {
        let (table, key) = (columns.tables.get(operation).0, columns.keys[operation]);
        if columns.kinds[operation] == Kind::RangeRead {
            let Range { first_row, live, dead, .. } = history.range_of(operation);
            let rows = first_row as usize..(first_row + live + dead) as usize;
            found.extend(history.ranges.row_keys[rows].iter().map(|&key| (table, key)));
        } else if key != NO_KEY {
            found.push((table, key));
        }
        // Most operations name a key that is known by now.
        if found.len() > room {
            found.sort_unstable();
            found.dedup();
            room = 2 * found.len() + (1 << 16);
        }
    }
    found
}
