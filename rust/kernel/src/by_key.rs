//! The operations of a history key by key, and the writers of each value of a key.

use crate::history::{History, Kind, LeftOut, NO_KEY, Status};
use crate::value::Value;
use std::ops::Range;

/// Operations grouped by key, in history order inside each group; those without a key are left out.
///
/// Operations of one transaction on one key stand side by side and in program order.
pub struct ByKey {
    offsets: Vec<u32>,
    operations: Vec<u32>,
}

impl ByKey {
    /// Groups the operations of `history`.
    #[must_use]
    pub fn new(history: &History) -> Self {
        let keys = &history.operations.keys;
        let mut offsets = vec![0u32; history.keys.len() + 1];
        for &key in keys.iter().filter(|&&key| key != NO_KEY) {
            offsets[key as usize + 1] += 1;
        }
        for key in 0..history.keys.len() {
            offsets[key + 1] += offsets[key];
        }
        let mut next = offsets.clone();
        let mut operations = vec![0; offsets[history.keys.len()] as usize];
        for (operation, &key) in keys.iter().enumerate().filter(|&(_, &key)| key != NO_KEY) {
            operations[next[key as usize] as usize] = operation as u32;
            next[key as usize] += 1;
        }
        Self { offsets, operations }
    }

    /// Operations on `key`.
    #[must_use]
    pub fn of(&self, key: usize) -> &[u32] {
        &self.operations[self.offsets[key] as usize..self.offsets[key + 1] as usize]
    }

    /// Runs of keys with about equally many operations each, for sharing between cores.
    #[must_use]
    pub fn shares(&self) -> Vec<std::ops::Range<usize>> {
        const SHARES: usize = 64;
        let keys = self.offsets.len() - 1;
        let target = self.operations.len() / SHARES + 1;
        let mut shares = Vec::new();
        let mut start = 0;
        while start < keys {
            let enough = self.offsets[start] as usize + target;
            let end = self.offsets[start..].partition_point(|&offset| (offset as usize) < enough) + start;
            let end = end.clamp(start + 1, keys);
            shares.push(start..end);
            start = end;
        }
        shares
    }
}

/// What kind of thing a key holds, judged by the operations on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Values that replace each other.
    Register,
    /// A list that only grows.
    List,
    /// A list that is deleted at times: what it holds then is not defined.
    Deleted,
    /// Both written and appended to, or read as both: its shape is unknown.
    Mixed,
}

/// One operation on a key, with what is asked of it most.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Operation {
    /// Nil if it deletes the key: a key that holds nil does not exist.
    pub value: Value,
    pub number: u32,
    pub transaction: u32,
    pub kind: Kind,
    /// A range read left the key out because its state did not match.
    pub is_unmatched: bool,
}

impl Operation {
    /// Whether it is a read that says something of the key.
    #[must_use]
    pub fn is_known_read(&self) -> bool {
        self.kind == Kind::Read && (self.value != Value::UNKNOWN || self.is_unmatched)
    }
}

/// Fills `gathered` with the operations of these numbers: the columns are far apart, and each operation is
/// looked at several times.
pub fn gather(history: &History, owners: &[u32], operations: &[u32], gathered: &mut Vec<Operation>) {
    gathered.clear();
    let columns = &history.operations;
    gathered.extend(operations.iter().map(|&number| {
        let kind = columns.kinds[number as usize];
        Operation {
            value: if kind == Kind::Delete { Value::NIL } else { columns.values[number as usize] },
            number,
            transaction: owners[number as usize],
            kind,
            is_unmatched: columns.left_out.get(number as usize) == LeftOut::Unmatched,
        }
    }));
}

/// The shape of the key that `operations` are about; those of transactions that do not `count` say nothing.
#[must_use]
pub fn shape(operations: &[Operation], counts: impl Fn(u32) -> bool) -> Shape {
    let (mut register, mut list, mut deleted) = (false, false, false);
    for operation in operations.iter().filter(|operation| counts(operation.transaction)) {
        match operation.kind {
            Kind::Delete => deleted = true,
            Kind::Append => list = true,
            Kind::Write | Kind::Insert => register = true,
            Kind::Read if operation.value.list_index().is_some() => list = true,
            Kind::Read if operation.value != Value::UNKNOWN => register = true,
            _ => {}
        }
    }
    match (register, list) {
        (_, true) if deleted => Shape::Deleted,
        (true, true) => Shape::Mixed,
        (false, true) => Shape::List,
        _ => Shape::Register,
    }
}

/// Reads of transactions that count, of what they have not written themselves before, among operations on one key.
pub fn external_reads<'o>(
    operations: &'o [Operation],
    counted: &[bool],
) -> impl Iterator<Item = &'o Operation> {
    let runs = operations.chunk_by(|a, b| a.transaction == b.transaction);
    let counted = runs.filter(|run| counted[run[0].transaction as usize]);
    let external = counted.flat_map(|run| run.iter().take_while(|operation| !operation.kind.installs()));
    external.filter(|operation| operation.is_known_read())
}

/// One write of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// The value written.
    pub value: Value,
    /// The operation that wrote it.
    pub operation: u32,
    /// Its transaction.
    pub transaction: u32,
    /// Whether it is the transaction's last write of the key.
    pub is_final: bool,
}

/// All writes of one key, to be searched by value.
#[derive(Default)]
pub struct Writes {
    sorted: Vec<Write>,
    ranges: Ranges,
    scratch: Vec<Write>,
}

/// Ranges of values with one or two writes each, if values are spread evenly, as numbers that follow each other are.
#[derive(Default)]
struct Ranges {
    first: u64,
    shift: u32,
    /// Where the writes of each range start, and the number of writes.
    starts: Vec<u32>,
}

impl Ranges {
    fn fill(&mut self, writes: &[Write]) {
        let words = || writes.iter().map(|write| write.value.word());
        self.first = words().min().unwrap_or_default();
        let last = words().max().unwrap_or_default();
        let bits = u64::BITS - (last - self.first).leading_zeros();
        self.shift = bits.saturating_sub(writes.len().max(1).ilog2());
        self.starts.clear();
        self.starts.resize(((last - self.first) >> self.shift) as usize + 2, 0);
        for word in words() {
            self.starts[((word - self.first) >> self.shift) as usize + 1] += 1;
        }
        for range in 1..self.starts.len() {
            self.starts[range] += self.starts[range - 1];
        }
    }

    /// The places of the writes in the range of `value`.
    #[inline]
    fn of(&self, value: Value) -> Range<usize> {
        let Some(ahead) = value.word().checked_sub(self.first) else { return 0..0 };
        match self.starts.get((ahead >> self.shift) as usize..).and_then(<[u32]>::first_chunk) {
            Some(&[start, end]) => start as usize..end as usize,
            None => 0..0,
        }
    }
}

impl Writes {
    /// Replaces the table by the writes among `operations`, which are all operations on one key.
    pub fn fill(&mut self, operations: &[Operation]) {
        self.sorted.clear();
        for &Operation { value, number, transaction, kind, .. } in operations {
            if !kind.installs() {
                continue;
            }
            if let Some(before) = self.sorted.last_mut().filter(|before| before.transaction == transaction) {
                before.is_final = false;
            }
            self.sorted.push(Write { value, operation: number, transaction, is_final: true });
        }
        self.ranges.fill(&self.sorted);
        if !self.sorted.is_sorted_by_key(|write| write.value) {
            self.sort();
        }
    }

    /// Sorts the writes, which are in history order, by value: first into their ranges.
    fn sort(&mut self) {
        std::mem::swap(&mut self.sorted, &mut self.scratch);
        self.sorted.clone_from(&self.scratch);
        let Ranges { first, shift, starts } = &mut self.ranges;
        for &write in &self.scratch {
            let start = &mut starts[((write.value.word() - *first) >> *shift) as usize];
            self.sorted[*start as usize] = write;
            *start += 1;
        }
        // Each start has come to the next one.
        starts.rotate_right(1);
        starts[0] = 0;
        let last = starts.len() - 1;
        starts[last] = self.sorted.len() as u32;
        if !self.sorted.is_sorted_by_key(|write| write.value) {
            for bounds in starts.windows(2) {
                let range = &mut self.sorted[bounds[0] as usize..bounds[1] as usize];
                range.sort_unstable_by_key(|write| (write.value, write.operation));
            }
        }
    }

    /// The writes of `value`, in history order.
    #[must_use]
    #[inline]
    pub fn of(&self, value: Value) -> &[Write] {
        let candidates = &self.sorted[self.ranges.of(value)];
        let start = candidates.partition_point(|write| write.value < value);
        let length = candidates[start..].iter().take_while(|write| write.value == value).count();
        &candidates[start..start + length]
    }

    /// All writes, by value.
    #[must_use]
    pub fn all(&self) -> &[Write] {
        &self.sorted
    }

    /// The last write by another transaction than `reader`.
    #[must_use]
    pub fn last_of_others(&self, reader: u32) -> Option<u32> {
        let others = self.sorted.iter().filter(|write| write.transaction != reader);
        others.map(|write| write.operation).max()
    }

    /// Writes grouped by value.
    pub fn by_value(&self) -> impl Iterator<Item = &[Write]> {
        self.sorted.chunk_by(|a, b| a.value == b.value)
    }
}

/// The transactions that may have written a value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Writers {
    /// How many transactions may have written it (the initial one not counted).
    pub count: usize,
    /// A final write of a transaction that did not abort.
    pub good: Option<Write>,
    /// A write by a transaction that did not abort, overwritten by itself.
    pub intermediate: Option<Write>,
    /// A write by a transaction that aborted.
    pub aborted: Option<Write>,
    /// A write by the reader itself, later in its program.
    pub later: Option<Write>,
}

impl Writers {
    /// Sorts `writes` of one value, as seen by a read in `reader`.
    #[must_use]
    pub fn of(history: &History, writes: &[Write], reader: u32, read: u32) -> Self {
        let mut writers = Self::default();
        for same in writes.chunk_by(|a, b| a.transaction == b.transaction) {
            let write = *same.iter().find(|write| write.is_final).unwrap_or(&same[same.len() - 1]);
            if write.transaction == reader {
                if same[same.len() - 1].operation > read {
                    writers.later = same.iter().find(|write| write.operation > read).copied();
                    writers.count += 1;
                }
                continue;
            }
            writers.count += 1;
            let slot = match history.transactions.statuses[write.transaction as usize] {
                Status::Aborted => &mut writers.aborted,
                _ if write.is_final => &mut writers.good,
                _ => &mut writers.intermediate,
            };
            slot.get_or_insert(write);
        }
        writers
    }

    /// The only transaction that can have written the value.
    #[must_use]
    pub fn only(&self) -> Option<Write> {
        let any = self.good.or(self.intermediate).or(self.aborted).or(self.later);
        any.filter(|_| self.count == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    #[test]
    fn shares_cover_every_key_once() {
        let mut builder = Builder::new();
        let session = builder.nameless_session();
        let id = Value::small(0).unwrap();
        let transaction = builder.transaction(id, session, Status::Committed, 1).unwrap();
        for operation in 0..1000 {
            let key = builder.key(Value::small(operation * operation % 97).unwrap());
            builder.operation(transaction, Kind::Write, key, id, 1);
        }
        let history = builder.finish().unwrap();
        let by_key = ByKey::new(&history);
        let covered: Vec<usize> = by_key.shares().into_iter().flatten().collect();
        assert_eq!(covered, (0..history.keys.len()).collect::<Vec<_>>());
        let operations: usize = covered.iter().map(|&key| by_key.of(key).len()).sum();
        assert_eq!(operations, 1000);
    }

    #[test]
    fn writes_are_found_by_value_however_values_are_spread() {
        const EDGE: i64 = 1 << 61;
        let spreads: [fn(i64) -> i64; 7] = [
            |number| number,
            |number| -number,
            |number| number * number * number,
            |number| number * 7919 % 101,
            |number| number % 2 * EDGE,
            |number| if number % 50 == 3 { -EDGE } else { EDGE - number % 9 },
            |_| 5,
        ];
        for (spread, count) in spreads.into_iter().zip([0, 1, 2, 3, 17, 200, 1000].into_iter().cycle()) {
            for count in [count, 64, 65] {
                let value = |number: i64| Value::small(spread(number)).unwrap();
                let places = (0..count).map(|number| number * 37 % count.max(1));
                let operations: Vec<Operation> = places
                    .zip(0..)
                    .map(|(place, number)| Operation {
                        value: value(place),
                        number,
                        transaction: number / 2,
                        kind: Kind::Write,
                        is_unmatched: false,
                    })
                    .collect();
                let mut writes = Writes::default();
                writes.fill(&operations);
                let all = writes.all().iter().map(|write| (write.value, write.operation));
                let mut expected: Vec<_> = operations.iter().map(|one| (one.value, one.number)).collect();
                expected.sort_unstable();
                assert_eq!(all.collect::<Vec<_>>(), expected);
                for wanted in (-2..count + 2).map(value).chain([Value::NIL, Value::UNKNOWN, Value::NOTHING]) {
                    let found = writes.of(wanted).iter().map(|write| (write.value, write.operation));
                    let same = expected.iter().filter(|(value, _)| *value == wanted);
                    assert_eq!(found.collect::<Vec<_>>(), same.copied().collect::<Vec<_>>());
                }
            }
        }
    }
}
