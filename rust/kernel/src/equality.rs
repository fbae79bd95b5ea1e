//! Two histories are equal if they say the same, whatever the files looked like that said it.

use crate::history::{History, Kind, NO_KEY};
use crate::value::Value;

/// Whether both histories hold the same; lines and notes of the reader do not count.
#[must_use]
pub fn same(left: &History, right: &History) -> bool {
    let pair = Pair { left, right };
    left.transaction_count() == right.transaction_count()
        && left.operation_count() == right.operation_count()
        && (0..left.transaction_count()).all(|transaction| pair.transaction(transaction))
        && (0..left.operation_count()).all(|operation| pair.operation(operation))
        && pair.sessions()
        && pair.initial()
        && pair.versions()
}

struct Pair<'h> {
    left: &'h History,
    right: &'h History,
}

impl Pair<'_> {
    fn value(&self, left: Value, right: Value) -> bool {
        if let (Some(left), Some(right)) = (self.left.values.as_list(left), self.right.values.as_list(right))
        {
            return left.len() == right.len() && left.iter().zip(right).all(|(&l, &r)| self.value(l, r));
        }
        match (left.atom_index(), right.atom_index()) {
            (Some(l), Some(r)) => self.left.values.atom(l) == self.right.values.atom(r),
            (None, None) => left == right,
            _ => false,
        }
    }

    fn key(&self, left: u32, right: u32) -> bool {
        match (left, right) {
            (NO_KEY, NO_KEY) => true,
            (NO_KEY, _) | (_, NO_KEY) => false,
            _ => self.value(self.left.keys[left as usize], self.right.keys[right as usize]),
        }
    }

    fn transaction(&self, at: usize) -> bool {
        let (left, right) = (&self.left.transactions, &self.right.transactions);
        let session = |history: &History| history.session_ids[history.transactions.sessions[at] as usize];
        self.value(left.ids[at], right.ids[at])
            && self.value(session(self.left), session(self.right))
            && left.statuses[at] == right.statuses[at]
            && left.sequences.get(at) == right.sequences.get(at)
            && left.starts.get(at) == right.starts.get(at)
            && left.commits.get(at) == right.commits.get(at)
            && left.intervals.get(at) == right.intervals.get(at)
            && left.positions.get(at) == right.positions.get(at)
            && self.left.operations_of(at) == self.right.operations_of(at)
    }

    fn operation(&self, at: usize) -> bool {
        let (left, right) = (&self.left.operations, &self.right.operations);
        left.kinds[at] == right.kinds[at]
            && self.key(left.keys[at], right.keys[at])
            && self.result(at)
            && left.intervals.get(at) == right.intervals.get(at)
            && self.value(left.tables.get(at).0, right.tables.get(at).0)
            && self.value(left.columns.get(at).0, right.columns.get(at).0)
            && self.value(left.statements.get(at).0, right.statements.get(at).0)
            && self.value(left.lock_modes.get(at).0, right.lock_modes.get(at).0)
            && self.value(left.read_modes.get(at).0, right.read_modes.get(at).0)
            && self.value(left.predicates.get(at).0, right.predicates.get(at).0)
            && left.tombstones.get(at) == right.tombstones.get(at)
    }

    fn result(&self, at: usize) -> bool {
        let (left, right) = (self.left.operations.values[at], self.right.operations.values[at]);
        if self.left.operations.kinds[at] != Kind::RangeRead {
            return self.value(left, right);
        }
        let range = |history: &History, number: Value| {
            history.ranges.ranges[number.as_small().unwrap_or_default() as usize]
        };
        let (l, r) = (range(self.left, left), range(self.right, right));
        let rows = (l.live + l.dead) as usize;
        self.value(l.low, r.low)
            && self.value(l.high, r.high)
            && (l.live, l.dead) == (r.live, r.dead)
            && (0..rows).all(|row| {
                let (l, r) = (l.first_row as usize + row, r.first_row as usize + row);
                self.key(self.left.ranges.row_keys[l], self.right.ranges.row_keys[r])
                    && self.value(self.left.ranges.row_values[l], self.right.ranges.row_values[r])
            })
    }

    /// Ids of sessions were compared; this compares which transactions share a session, and in which order.
    fn sessions(&self) -> bool {
        let shared = |left: usize| {
            let first = self.left.transactions_of(left).first();
            first.is_none_or(|&first| {
                let right = self.right.transactions.sessions[first as usize];
                self.left.transactions_of(left) == self.right.transactions_of(right as usize)
            })
        };
        (0..self.left.session_ids.len()).all(shared)
    }

    fn initial(&self) -> bool {
        let (left, right) = (&self.left.initial, &self.right.initial);
        let of_key = |history: &History| history.initial.of_key.len();
        self.value(left.default, right.default)
            && left.replaceable == right.replaceable
            && of_key(self.left) == of_key(self.right)
            && left.of_key.iter().all(|&(key, value)| {
                right.of_key.iter().any(|&(other, its)| self.key(key, other) && self.value(value, its))
            })
    }

    fn versions(&self) -> bool {
        let (left, right) = (&self.left.versions, &self.right.versions);
        let right_key = |key: usize| {
            let same = |&other: &usize| self.value(self.left.keys[key], self.right.keys[other]);
            (0..self.right.keys.len()).find(same)
        };
        left.len() == right.len()
            && left.iter().zip(right).all(|(l, r)| {
                l.source == r.source
                    && l.versions.len() == r.versions.len()
                    && (0..self.left.keys.len()).filter(|&key| !l.of(key as u32).is_empty()).all(|key| {
                        right_key(key).is_some_and(|other| {
                            let (l, r) = (l.of(key as u32), r.of(other as u32));
                            l.len() == r.len() && l.iter().zip(r).all(|(&l, &r)| self.value(l, r))
                        })
                    })
            })
    }
}
