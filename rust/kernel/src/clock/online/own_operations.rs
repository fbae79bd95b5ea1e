//! The operations of one transaction: reads that differ from its own operations before (INT), and external reads.

use super::lists::Lists;
use super::transactions::Operation;
use crate::clock::ClockAnomaly;
use crate::history::Kind;
use crate::value::Value;

/// A read of what other transactions wrote; of a list without the last `own` elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct External {
    pub read: u32,
    pub key: u32,
    pub own: u32,
}

/// A read that differs from the access before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Mismatch {
    pub anomaly: ClockAnomaly,
    pub read: u32,
    pub key: u32,
    pub against: u32,
}

/// The last access of the transaction to a key.
#[derive(Debug, Clone, Copy, Default)]
struct Touch {
    /// The transaction.
    stamp: u32,
    /// The last access, and whether the content of the key is known: not after appends to a list never read.
    operation: u32,
    is_seen: bool,
    /// The operation that shows the content: the last one, of a list the last read.
    read: u32,
}

/// Looks at one transaction at a time; memory is used again.
#[derive(Debug, Default)]
pub struct OwnOperations {
    touches: Vec<Touch>,
    stamp: u32,
    /// External reads.
    pub external: Vec<External>,
    /// Reads that differ.
    pub mismatches: Vec<Mismatch>,
}

impl OwnOperations {
    /// Sorts the reads of a transaction; `keys` is how many there are, `is_list` says which of them hold lists.
    pub fn look(
        &mut self,
        operations: &[Operation],
        keys: usize,
        lists: &Lists,
        is_list: impl Fn(u32) -> bool,
    ) {
        self.external.clear();
        self.mismatches.clear();
        self.touches.resize(keys.max(self.touches.len()), Touch::default());
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.touches.fill(Touch::default());
            self.stamp = 1;
        }
        for (place, &operation) in (0..).zip(operations) {
            let Operation { kind, key, value } = operation;
            if !(kind == Kind::Read || kind.installs()) || value == Value::UNKNOWN {
                continue;
            }
            let before = self.touches[key as usize];
            let is_first = before.stamp != self.stamp;
            let touch = if is_first { Touch { stamp: self.stamp, ..Touch::default() } } else { before };
            let (is_seen, read) = match kind {
                Kind::Append => (touch.is_seen, touch.read),
                Kind::Read if is_list(key) => {
                    self.list(operations, place, touch, lists);
                    (true, place)
                }
                Kind::Read => {
                    self.register(operations, place, touch);
                    (true, place)
                }
                _ => (true, place),
            };
            self.touches[key as usize] = Touch { stamp: self.stamp, operation: place, is_seen, read };
        }
    }

    fn register(&mut self, operations: &[Operation], read: u32, touch: Touch) {
        let Operation { key, value, .. } = operations[read as usize];
        if !touch.is_seen {
            self.external.push(External { read, key, own: 0 });
        } else if operations[touch.read as usize].value != value {
            self.differs(operations, read, touch);
        }
    }

    /// A list must be the list that was read before, then the own appends since; or end with these.
    fn list(&mut self, operations: &[Operation], read: u32, touch: Touch, lists: &Lists) {
        let Operation { key, value, .. } = operations[read as usize];
        let list = lists.get(value).unwrap_or_default();
        let since = if touch.is_seen { touch.read as usize + 1 } else { 0 };
        let is_own = |other: &&Operation| other.key == key && other.kind == Kind::Append;
        let own = || operations[since..read as usize].iter().filter(is_own).map(|other| other.value);
        let count = own().count();
        let ends = count <= list.len() && own().eq(list[list.len() - count..].iter().copied());
        let seen =
            touch.is_seen.then(|| lists.get(operations[touch.read as usize].value).unwrap_or_default());
        let is_it = match seen {
            Some(seen) => ends && list.len() == seen.len() + count && list.starts_with(seen),
            None => ends,
        };
        if !is_it {
            self.differs(operations, read, touch);
        } else if seen.is_none() {
            self.external.push(External { read, key, own: count as u32 });
        }
    }

    fn differs(&mut self, operations: &[Operation], read: u32, touch: Touch) {
        let Operation { key, value: found, .. } = operations[read as usize];
        let before = operations[..read as usize].iter();
        let own = before.filter(|other| other.key == key && other.kind.installs());
        let (mut last, mut is_there) = (None, false);
        for write in own {
            is_there |= write.value == found;
            last = Some(write.value);
        }
        let anomaly = match (last.is_some_and(|last| last != found), is_there) {
            (true, true) => ClockAnomaly::NotMyLastWrite,
            (true, false) => ClockAnomaly::NotMyOwnWrite,
            (false, _) => ClockAnomaly::NonRepeatableRead,
        };
        self.mismatches.push(Mismatch { anomaly, read, key, against: touch.operation });
    }
}
