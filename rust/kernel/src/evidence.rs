//! What a history holds: sizes, kinds of evidence and how complete each is.

use crate::atom_search::contains_atom;
use crate::by_key::{ByKey, Operation, Shape, Write, Writes, gather, shape};
use crate::cancel::Cancel;
use crate::history::{History, Initial, Interval, Kind, Status};
use crate::named_enum::named_enum;
use crate::value::{AtomKind, Value};
use rayon::prelude::*;

named_enum! {
    /// A kind of evidence.
    pub enum EvidenceKind {
        Values => "values",
        VersionOrder => "version-order",
        Timestamps => "timestamps",
        Intervals => "intervals",
    }
}

named_enum! {
    /// How much of a kind of evidence there is.
    pub enum Extent {
        Absent => "absent",
        Partial => "partial",
        Complete => "complete",
    }
}

impl Extent {
    fn of(some: bool, all: bool) -> Self {
        match (some, all) {
            (false, _) => Self::Absent,
            (true, false) => Self::Partial,
            (true, true) => Self::Complete,
        }
    }
}

/// Which kinds of evidence a history carries.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// Complete if no two transactions wrote the same value to the same key.
    pub values: Extent,
    /// Complete if at most one committed version of each key has no place in the key's order.
    pub version_order: Extent,
    /// Complete if every committed transaction has a start and a commit timestamp.
    pub timestamps: Extent,
    /// Complete if every committed transaction has an invocation and a completion.
    pub intervals: Extent,
    /// (key, value) pairs that several transactions wrote, the initial one included.
    pub repeated_values: u64,
}

/// The evidence in `history`.
#[must_use]
pub fn evidence(history: &History, cancel: &Cancel) -> Evidence {
    let owners = history.transaction_of_operation();
    let by_key = ByKey::new(history);
    let shares = by_key.shares().into_par_iter().map(|keys| {
        let (mut writes, mut operations) = (Writes::default(), Vec::new());
        let mut sum = OfKeys { repeated: 0, all_ordered: true };
        for key in keys.take_while(|_| !cancel.is_asked()) {
            gather(history, &owners, by_key.of(key), &mut operations);
            writes.fill(&operations);
            sum.add(history, &writes, key as u32, &operations);
        }
        sum
    });
    let start = || OfKeys { repeated: 0, all_ordered: true };
    let keys = shares.reduce(start, |a, b| OfKeys {
        repeated: a.repeated + b.repeated,
        all_ordered: a.all_ordered & b.all_ordered,
    });
    let [_, ordered, clock, client] = present(history);
    Evidence {
        values: if keys.repeated == 0 { Extent::Complete } else { Extent::Partial },
        version_order: Extent::of(ordered, keys.all_ordered),
        timestamps: Extent::of(clock, clock && all_committed(history, has_timestamps)),
        intervals: Extent::of(client, client && all_committed(history, has_interval)),
        repeated_values: keys.repeated,
    }
}

/// Which kinds of evidence there are at all, in the order of [`EvidenceKind`]: quick, unlike their extents.
#[must_use]
pub fn present(history: &History) -> [bool; EvidenceKind::COUNT] {
    let transactions = &history.transactions;
    let ordered = !history.versions.is_empty()
        || history.operations.values.iter().any(|value| value.list_index().is_some());
    let clock = !transactions.starts.is_empty() || !transactions.commits.is_empty();
    let client = !(transactions.intervals.is_empty()
        && transactions.positions.is_empty()
        && history.operations.intervals.is_empty())
        && (0..history.transaction_count()).any(|transaction| has_interval(history, transaction));
    [true, ordered, clock, client]
}

/// Whether a value of a key was written more than once: by several transactions, the initial one included, or appended
/// twice by one.
#[must_use]
pub fn repeats(history: &History, cancel: &Cancel) -> bool {
    let owners = history.transaction_of_operation();
    let by_key = ByKey::new(history);
    by_key.shares().into_par_iter().any(|keys| {
        let (mut writes, mut operations) = (Writes::default(), Vec::new());
        keys.take_while(|_| !cancel.is_asked()).any(|key| {
            gather(history, &owners, by_key.of(key), &mut operations);
            writes.fill(&operations);
            let (_, initial) = shape_and_initial(history, key as u32, &operations);
            let mut values = writes.by_value();
            values.any(|same| is_repeated(history, same, initial) || is_appended_twice(history, same))
        })
    })
}

fn is_appended_twice(history: &History, same: &[Write]) -> bool {
    if same.len() == 1 {
        return false;
    }
    let appends = same.iter().filter(|w| history.operations.kinds[w.operation as usize] == Kind::Append);
    let appenders: Vec<u32> = appends.map(|write| write.transaction).collect();
    appenders.windows(2).any(|pair| pair[0] == pair[1])
}

fn all_committed(history: &History, has: impl Fn(&History, usize) -> bool) -> bool {
    let committed = |&t: &usize| history.transactions.statuses[t] == Status::Committed;
    (0..history.transaction_count()).filter(committed).all(|transaction| has(history, transaction))
}

fn has_timestamps(history: &History, transaction: usize) -> bool {
    let (starts, commits) = (&history.transactions.starts, &history.transactions.commits);
    starts.get(transaction).parts().is_some() && commits.get(transaction).parts().is_some()
}

fn has_interval(history: &History, transaction: usize) -> bool {
    history.transactions.intervals.get(transaction).is_closed()
        || history.transactions.positions.get(transaction).is_closed()
        || operations_have_intervals(history, transaction)
}

fn operations_have_intervals(history: &History, transaction: usize) -> bool {
    let mut operations = history.operations_of(transaction);
    !operations.is_empty()
        && operations.all(|operation| history.operations.intervals.get(operation).is_closed())
}

/// Evidence summed over keys.
struct OfKeys {
    repeated: u64,
    all_ordered: bool,
}

impl OfKeys {
    fn add(&mut self, history: &History, writes: &Writes, key: u32, operations: &[Operation]) {
        let (shape, initial) = shape_and_initial(history, key, operations);
        for same in writes.by_value() {
            self.repeated += u64::from(is_repeated(history, same, initial));
        }
        let ordered = ordered(history, key, shape, operations);
        let missing = |write: &&[Write]| {
            let last = write[write.len() - 1];
            let committed = history.transactions.statuses[last.transaction as usize] == Status::Committed;
            last.is_final && committed && !ordered.is_some_and(|order| order.contains(&last.value))
        };
        self.all_ordered &= writes.by_value().filter(missing).nth(1).is_none();
    }
}

/// The shape of a key as transactions that did not abort show it, and its initial value; a list starts empty.
fn shape_and_initial(history: &History, key: u32, operations: &[Operation]) -> (Shape, Value) {
    let statuses = &history.transactions.statuses;
    let shape = shape(operations, |transaction| statuses[transaction as usize] != Status::Aborted);
    (shape, if shape == Shape::List { Value::NOTHING } else { history.initial.of(key) })
}

fn is_repeated(history: &History, same: &[Write], initial: Value) -> bool {
    let several = same.iter().any(|write| write.transaction != same[0].transaction);
    let replaces = history.initial.replaceable
        && same.iter().any(|w| history.transactions.statuses[w.transaction as usize] != Status::Aborted);
    several || (same[0].value == initial && !replaces)
}

/// The versions of `key` that have a place in its order; `None` if nothing orders it.
fn ordered<'h>(
    history: &'h History,
    key: u32,
    shape: Shape,
    operations: &[Operation],
) -> Option<&'h [Value]> {
    if shape == Shape::List {
        let lists = operations.iter().filter_map(|operation| history.values.as_list(operation.value));
        return lists.max_by_key(|list| list.len());
    }
    history.versions.iter().map(|order| order.of(key)).find(|order| !order.is_empty())
}

/// Names of what `history` holds beyond committed transactions of integer reads and writes, sorted.
///
/// A format declares which of these it can hold; the rest would be lost.
#[must_use]
pub fn features(history: &History) -> Vec<&'static str> {
    let mut features = Vec::new();
    let mut add = |name, present: bool| {
        if present {
            features.push(name);
        }
    };
    let Initial { of_key, .. } = &history.initial;
    let (operations, transactions) = (&history.operations, &history.transactions);
    let has = |kind: Kind| operations.kinds.contains(&kind);
    let status = |status: Status| transactions.statuses.contains(&status);
    let any_list = operations.values.iter().any(|value| value.list_index().is_some());
    add("aborted transactions", status(Status::Aborted));
    add("aborted transactions of several operations", aborted_groups(history));
    add("client intervals of operations", !operations.intervals.is_empty());
    add("client intervals of transactions", !transactions.intervals.is_empty());
    add("columns", !operations.columns.is_empty());
    add("deletes", has(Kind::Delete));
    add("empty transactions", history.operation_offsets.windows(2).any(|pair| pair[0] == pair[1]));
    add("event order", has_event_order(history));
    add("explicit sequence numbers", !transactions.sequences.is_empty());
    add("indeterminate transactions", status(Status::Indeterminate));
    add("initial values of single keys", !of_key.is_empty());
    add("inserts", has(Kind::Insert));
    add("integers beyond 64 bits", beyond_64_bits(history));
    add("keys that are no integers", history.keys.iter().any(|&key| !is_integer(history, key)));
    add("lists", any_list || has(Kind::Append));
    add("lock modes", !operations.lock_modes.is_empty());
    add("markers of begin, commit and abort", [Kind::Begin, Kind::Commit, Kind::Abort].into_iter().any(has));
    add("predicates", !operations.predicates.is_empty());
    add("range reads", has(Kind::RangeRead));
    add("read modes", !operations.read_modes.is_empty());
    add("registers", has(Kind::Write) || reads_registers(history));
    add("session ids that are no integers", history.session_ids.iter().any(|&id| is_odd(history, id)));
    add("statement kinds", !operations.statements.is_empty());
    add("tables", !operations.tables.is_empty());
    add("timestamps", !transactions.starts.is_empty() || !transactions.commits.is_empty());
    add("tombstones", !operations.tombstones.is_empty());
    add("transaction ids that are no integers", odd_ids(history));
    add("transactions without a session id", history.session_ids.contains(&Value::NIL));
    add("unknown results", unknown_results(history));
    add("values that are no integers", odd_values(history));
    add("version order", !history.versions.is_empty());
    features
}

/// Whether a read shows the value of a key without appends; nil is also the empty list, if keys may start with it.
fn reads_registers(history: &History) -> bool {
    let operations = &history.operations;
    let mut is_list = vec![false; history.keys.len()];
    for (&kind, &key) in operations.kinds.iter().zip(&operations.keys) {
        if kind == Kind::Append {
            is_list[key as usize] = true;
        }
    }
    let shows = |operation: usize| {
        let (key, value) = (operations.keys[operation], operations.values[operation]);
        let may_be_empty =
            value == Value::NIL && [Value::NIL, Value::UNKNOWN].contains(&history.initial.of(key));
        operations.kinds[operation] == Kind::Read
            && !is_list[key as usize]
            && value.list_index().is_none()
            && value != Value::UNKNOWN
            && !may_be_empty
    };
    (0..operations.kinds.len()).any(shows)
}

/// Whether events have places: those of completions in the order of the rows say no more than the rows.
pub(crate) fn has_event_order(history: &History) -> bool {
    let positions = &history.transactions.positions;
    let places = || (0..history.transaction_count()).map(|transaction| positions.get(transaction));
    !positions.is_empty()
        && (places().any(|place| place.invoke().is_some())
            || !places().filter_map(Interval::complete).is_sorted_by(|before, after| before < after))
}

/// The names that a reader gives to aborted transactions without ids do not count.
fn odd_ids(history: &History) -> bool {
    let ids = history.transactions.ids.iter().zip(&history.transactions.statuses);
    ids.into_iter().any(|(&id, &status)| {
        let named = id.atom_index().map(|index| history.values.atom(index));
        let by_reader =
            status == Status::Aborted && named.is_some_and(|(_, text)| text.starts_with("aborted-"));
        !is_integer(history, id) && !by_reader
    })
}

fn aborted_groups(history: &History) -> bool {
    let aborted = |&t: &usize| history.transactions.statuses[t] == Status::Aborted;
    (0..history.transaction_count()).filter(aborted).any(|transaction| {
        let operations = history.operations_of(transaction);
        operations.len() != 1 || history.operations.kinds[operations.start] != Kind::Write
    })
}

fn is_integer(history: &History, value: Value) -> bool {
    let atom = value.atom_index().map(|index| history.values.atom(index).0);
    value.as_small().is_some() || atom == Some(AtomKind::Integer)
}

fn is_odd(history: &History, id: Value) -> bool {
    id != Value::NIL && !is_integer(history, id)
}

fn unknown_results(history: &History) -> bool {
    history.operations.values.contains(&Value::UNKNOWN) && {
        let pairs = history.operations.kinds.iter().zip(&history.operations.values);
        pairs.into_iter().any(|(&kind, &value)| kind == Kind::Read && value == Value::UNKNOWN)
    }
}

fn odd_values(history: &History) -> bool {
    let odd = |value: Value| match history.values.as_list(value) {
        Some(list) => list.iter().any(|&element| !is_integer(history, element)),
        None => value != Value::UNKNOWN && !is_integer(history, value),
    };
    let pairs = history.operations.kinds.iter().zip(&history.operations.values);
    pairs.into_iter().any(|(&kind, &value)| kind != Kind::RangeRead && !is_marker(kind) && odd(value))
}

fn is_marker(kind: Kind) -> bool {
    matches!(kind, Kind::Begin | Kind::Commit | Kind::Abort)
}

fn beyond_64_bits(history: &History) -> bool {
    contains_atom(history, |kind, text| {
        kind == AtomKind::Integer && text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
    })
}
