//! Reads that no order of transactions can excuse: TAP-a to TAP-f and TAP-j, for registers and lists.
//!
//! Plume (OOPSLA 2024), Table 1; `reference/reads.py` is the specification. Every key is judged by
//! itself, so keys are shared between cores. Cost: a sort of each key's writes, near linear.

use crate::by_key::{ByKey, Shape, Write, Writers, Writes, shape};
use crate::cancel::Cancel;
use crate::history::{History, Kind, Status, VersionSource};
use crate::value::Value;
use rayon::prelude::*;

/// The anomalies that one transaction's reads show by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Name {
    /// TAP-a: a value that nobody wrote.
    ThinAirRead,
    /// TAP-b: a value of a transaction that aborted.
    AbortedRead,
    /// TAP-c: a value that the reader writes only later.
    FutureRead,
    /// TAP-d: something else than the reader's own write.
    NotMyOwnWrite,
    /// TAP-e: an own write that is not the last one.
    NotMyLastWrite,
    /// TAP-f: a value that its writer replaced before it committed.
    IntermediateRead,
    /// TAP-j: two observations of one key that differ.
    NonRepeatableRead,
}

/// No operation.
pub const NOTHING: u32 = u32::MAX;

/// One anomaly: the read that shows it and the operation that it must be held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The read.
    pub read: u32,
    /// What is wrong with it.
    pub name: Name,
    /// The write that was, or should have been, read; the earlier read; [`NOTHING`] in thin air.
    pub other: u32,
    /// The value, or the element of the list, that is wrong.
    pub value: Value,
}

/// Everything found, and everything that could not be judged.
#[derive(Debug, Default)]
pub struct Judgement {
    /// In history order.
    pub findings: Vec<Finding>,
    /// Reads set aside because several transactions may have written what they saw.
    pub repeated_reads: u64,
    /// Keys of those reads.
    pub repeated_keys: Vec<u32>,
    /// Keys whose reads are not judged, because they are deleted at times.
    pub deleted_keys: Vec<u32>,
    /// Keys whose reads are not judged, because they are both written and appended to.
    pub mixed_keys: Vec<u32>,
    /// Range reads, which are not judged.
    pub range_reads: u64,
}

impl Judgement {
    fn absorb(mut self, mut other: Self) -> Self {
        self.findings.append(&mut other.findings);
        self.repeated_reads += other.repeated_reads;
        self.repeated_keys.append(&mut other.repeated_keys);
        self.deleted_keys.append(&mut other.deleted_keys);
        self.mixed_keys.append(&mut other.mixed_keys);
        self
    }
}

/// Judges every read of every transaction that counts as committed.
#[must_use]
pub fn judge(history: &History, cancel: &Cancel) -> Judgement {
    let owners = history.transaction_of_operation();
    let by_key = ByKey::new(history);
    let counted = counted(history, &owners, &by_key);
    let judges = by_key.shares().into_par_iter().map(|keys| {
        let mut judge = Judge::new(history, &owners, &counted);
        for key in keys.take_while(|_| !cancel.is_asked()) {
            judge.key(key as u32, by_key.of(key));
        }
        judge.judgement
    });
    let mut judgement = judges.collect::<Vec<_>>().into_iter().fold(Judgement::default(), Judgement::absorb);
    judgement.findings.par_sort_unstable();
    judgement.range_reads =
        history.operations.kinds.iter().filter(|&&kind| kind == Kind::RangeRead).count() as u64;
    judgement
}

/// Which transactions count as committed: an indeterminate one does if its write was observed.
///
/// "Observed" is by a committed transaction or by another one like it, or a log shows its commit.
#[must_use]
pub fn counted(history: &History, owners: &[u32], by_key: &ByKey) -> Vec<bool> {
    let statuses = &history.transactions.statuses;
    let mut counted: Vec<bool> = statuses.iter().map(|&status| status == Status::Committed).collect();
    if !statuses.contains(&Status::Indeterminate) {
        return counted;
    }
    let (mut observed, logged) = observations(history, owners, by_key);
    observed.sort_unstable();
    observed.dedup();
    let mut pending: Vec<u32> = (0..counted.len() as u32).filter(|&t| counted[t as usize]).collect();
    for writer in logged {
        if !std::mem::replace(&mut counted[writer as usize], true) {
            pending.push(writer);
        }
    }
    while let Some(reader) = pending.pop() {
        let first = observed.partition_point(|&(other, _)| other < reader);
        for &(_, writer) in observed[first..].iter().take_while(|&&(other, _)| other == reader) {
            if !std::mem::replace(&mut counted[writer as usize], true) {
                pending.push(writer);
            }
        }
    }
    counted
}

/// (reader, writer) for each read that only one, indeterminate, transaction can have served; and the
/// indeterminate writers whose versions are in a log.
fn observations(history: &History, owners: &[u32], by_key: &ByKey) -> (Vec<(u32, u32)>, Vec<u32>) {
    let indeterminate = |write: Write| {
        let status = history.transactions.statuses[write.transaction as usize];
        (status == Status::Indeterminate).then_some(write.transaction)
    };
    let (mut observed, mut logged) = (Vec::new(), Vec::new());
    let mut writes = Writes::default();
    for key in 0..history.keys.len() {
        let operations = by_key.of(key);
        writes.fill(history, owners, operations);
        for &read in operations.iter().filter(|&&read| history.operations.kinds[read as usize] == Kind::Read)
        {
            let (reader, value) = (owners[read as usize], history.operations.values[read as usize]);
            if history.transactions.statuses[reader as usize] == Status::Aborted {
                continue;
            }
            let single = [value];
            for &seen in history.values.as_list(value).unwrap_or(&single) {
                let writers = Writers::of(history, writes.of(seen), reader, read);
                let initial = history.initial.of(key as u32) == seen && writers.count > 0;
                if let Some(writer) = writers.only().filter(|_| !initial).and_then(indeterminate)
                    && writer != reader
                {
                    observed.push((reader, writer));
                }
            }
        }
        for order in history.versions.iter().filter(|order| order.source == VersionSource::Log) {
            for &version in order.of(key as u32) {
                let writers = Writers::of(history, writes.of(version), NOTHING, NOTHING);
                logged.extend(writers.only().and_then(indeterminate));
            }
        }
    }
    (observed, logged)
}

/// Judges keys one after another.
struct Judge<'h> {
    history: &'h History,
    owners: &'h [u32],
    counted: &'h [bool],
    writes: Writes,
    judgement: Judgement,
    repeated: u64,
}

impl<'h> Judge<'h> {
    fn new(history: &'h History, owners: &'h [u32], counted: &'h [bool]) -> Self {
        let (writes, judgement) = (Writes::default(), Judgement::default());
        Self { history, owners, counted, writes, judgement, repeated: 0 }
    }

    fn key(&mut self, key: u32, operations: &[u32]) {
        let counts = |operation: u32| self.counted[self.owners[operation as usize] as usize];
        let shape = shape(self.history, operations, counts);
        match shape {
            Shape::Deleted => return self.judgement.deleted_keys.push(key),
            Shape::Mixed => return self.judgement.mixed_keys.push(key),
            Shape::Register | Shape::List => {}
        }
        self.writes.fill(self.history, self.owners, operations);
        self.repeated = 0;
        if shape == Shape::List {
            self.list(operations);
        } else {
            self.register(key, operations);
        }
        if self.repeated > 0 {
            self.judgement.repeated_reads += self.repeated;
            self.judgement.repeated_keys.push(key);
        }
    }

    /// Operations of one counted transaction after the other.
    fn runs<'o>(&self, operations: &'o [u32]) -> impl Iterator<Item = &'o [u32]> + use<'o, 'h> {
        let (owners, counted) = (self.owners, self.counted);
        operations
            .chunk_by(|&a, &b| owners[a as usize] == owners[b as usize])
            .filter(|run| counted[owners[run[0] as usize] as usize])
    }

    fn find(&mut self, name: Name, read: u32, other: u32, value: Value) {
        self.judgement.findings.push(Finding { read, name, other, value });
    }

    fn register(&mut self, key: u32, operations: &[u32]) {
        let mut initial = Initially::of(self.history, &self.writes, key);
        for run in self.runs(operations) {
            let (mut first, mut differs) = (None, false);
            for (place, &read) in run.iter().enumerate() {
                let value = self.history.operations.values[read as usize];
                if self.history.operations.kinds[read as usize] != Kind::Read || value == Value::UNKNOWN {
                    continue;
                }
                let own = self.last_own_write(&run[..place]);
                if let Some(own) = own {
                    self.own_read(run, place, own);
                    continue;
                }
                self.external_read(read, value, &mut initial);
                let &mut (other, seen) = first.get_or_insert((read, value));
                if seen != value && !differs {
                    differs = true;
                    self.find(Name::NonRepeatableRead, read, other, value);
                }
            }
        }
    }

    fn last_own_write(&self, before: &[u32]) -> Option<u32> {
        let installs = |&&operation: &&u32| self.history.operations.kinds[operation as usize].installs();
        before.iter().rev().find(installs).copied()
    }

    /// A register read after an own write must return the last own write.
    fn own_read(&mut self, run: &[u32], place: usize, own: u32) {
        let values = &self.history.operations.values;
        let read = run[place];
        let value = values[read as usize];
        if value == values[own as usize] {
            return;
        }
        let writes_it = |&&operation: &&u32| {
            self.history.operations.kinds[operation as usize].installs()
                && values[operation as usize] == value
        };
        let name = if run[..place].iter().any(|operation| writes_it(&operation)) {
            Name::NotMyLastWrite
        } else if let Some(&later) = run[place..].iter().find(writes_it) {
            return self.find(Name::FutureRead, read, later, value);
        } else {
            Name::NotMyOwnWrite
        };
        self.find(name, read, own, value);
    }

    fn external_read(&mut self, read: u32, value: Value, initial: &mut Initially) {
        let reader = self.owners[read as usize];
        let writers = Writers::of(self.history, self.writes.of(value), reader, read);
        if writers.count == 0 {
            if let Err(other) = initial.admit(value, read) {
                self.find(Name::ThinAirRead, read, other, value);
            }
            return;
        }
        let may_be_initial = initial.value == value;
        if writers.good.is_some() || may_be_initial {
            self.repeated += u64::from(writers.count + usize::from(may_be_initial) > 1);
        } else if let Some(later) = writers.later {
            self.find(Name::FutureRead, read, later.operation, value);
        } else if let Some(write) = writers.intermediate {
            self.find(Name::IntermediateRead, read, write.operation, value);
        } else if let Some(write) = writers.aborted {
            self.find(Name::AbortedRead, read, write.operation, value);
        }
    }

    fn list(&mut self, operations: &[u32]) {
        let history = self.history;
        // Reads of a key mostly extend each other: what was judged clean once is not judged again.
        let mut clean: &[Value] = &[];
        for run in self.runs(operations) {
            let mut first: Option<(u32, &[Value])> = None;
            let mut differs = false;
            for (place, &read) in run.iter().enumerate() {
                let value = history.operations.values[read as usize];
                let Some(list) = history.values.as_list(value) else { continue };
                let Some(observed) = self.own_list_read(run, place, list) else { continue };
                if self.elements(run, place, observed, clean, true) && observed.len() > clean.len() {
                    clean = observed;
                }
                let &mut (other, seen) = first.get_or_insert((read, observed));
                if seen != observed && !differs {
                    differs = true;
                    self.find(Name::NonRepeatableRead, read, other, value);
                }
            }
        }
    }

    /// What a list read saw of others: everything before the own appends; `None` if those are wrong.
    fn own_list_read<'l>(&mut self, run: &[u32], place: usize, list: &'l [Value]) -> Option<&'l [Value]> {
        let (history, read) = (self.history, run[place]);
        let appends = |operation: &&u32| history.operations.kinds[**operation as usize].installs();
        let own: Vec<u32> = run[..place].iter().filter(appends).copied().collect();
        let values: Vec<Value> =
            own.iter().map(|&append| history.operations.values[append as usize]).collect();
        if list.ends_with(&values) {
            return Some(&list[..list.len() - values.len()]);
        }
        let last = values[values.len() - 1];
        let shows_earlier = !list.contains(&last) && values.iter().any(|value| list.contains(value));
        let name = if shows_earlier { Name::NotMyLastWrite } else { Name::NotMyOwnWrite };
        self.find(name, read, own[own.len() - 1], last);
        self.elements(run, place, list, &[], false);
        None
    }

    /// Judges the elements that a read saw; whether all of them are surely someone's committed append.
    fn elements(&mut self, run: &[u32], place: usize, list: &[Value], clean: &[Value], whole: bool) -> bool {
        let read = run[place];
        let reader = self.owners[read as usize];
        // What another reader may see is not clean for the transaction that appends it.
        let known = self.first_own(run, &list[..common_prefix(clean, list)]);
        let mut worst = Worst::default();
        for (index, &element) in list.iter().enumerate().skip(known) {
            let writers = Writers::of(self.history, self.writes.of(element), reader, read);
            let is_last = whole && index + 1 == list.len();
            worst.element(element, &writers, is_last, self.own_earlier(element, read));
        }
        if let Some(&element) = list.last().filter(|_| whole && known == list.len()) {
            // The list may end where another read of it went on: between two appends of one writer.
            let writers = Writers::of(self.history, self.writes.of(element), reader, read);
            worst.element(element, &writers, true, false);
        }
        self.repeated += u64::from(worst.repeated);
        for (name, other, element) in worst.found {
            self.find(name, read, other, element);
        }
        worst.clean
    }

    /// Where `list` first shows something that the reader appends, before or after it reads.
    fn first_own(&self, run: &[u32], list: &[Value]) -> usize {
        let appends = run.iter().filter(|&&own| self.history.operations.kinds[own as usize].installs());
        let own: Vec<Value> = appends.map(|&own| self.history.operations.values[own as usize]).collect();
        if own.is_empty() {
            return list.len();
        }
        list.iter().position(|element| own.contains(element)).unwrap_or(list.len())
    }

    /// Whether the reader itself appended the element before it read.
    fn own_earlier(&self, element: Value, read: u32) -> bool {
        let reader = self.owners[read as usize];
        self.writes.of(element).iter().any(|write| write.transaction == reader && write.operation < read)
    }
}

/// How many elements two lists start with in common; lists that share their elements need no look.
fn common_prefix(left: &[Value], right: &[Value]) -> usize {
    if std::ptr::eq(left.as_ptr(), right.as_ptr()) {
        return left.len().min(right.len());
    }
    left.iter().zip(right).take_while(|(a, b)| a == b).count()
}

/// The initial value of one register: known, or learned from the first read of a value nobody wrote.
struct Initially {
    value: Value,
    learned_by: u32,
}

impl Initially {
    fn of(history: &History, writes: &Writes, key: u32) -> Self {
        let value = history.initial.of(key);
        let written =
            |write: &Write| history.transactions.statuses[write.transaction as usize] != Status::Aborted;
        let replaced = history.initial.replaceable && writes.of(value).iter().any(written);
        Self { value: if replaced { REPLACED } else { value }, learned_by: NOTHING }
    }

    /// Whether a value that nobody wrote can be the initial one; if not, the read that says so.
    fn admit(&mut self, value: Value, read: u32) -> Result<(), u32> {
        if self.value == Value::UNKNOWN {
            (self.value, self.learned_by) = (value, read);
        }
        if self.value == value { Ok(()) } else { Err(self.learned_by) }
    }
}

/// Stands for an initial value that an explicit write took the place of: equal to no value read.
const REPLACED: Value = Value::NOTHING;

/// What a list read shows, each name at most once.
struct Worst {
    found: Vec<(Name, u32, Value)>,
    repeated: bool,
    clean: bool,
}

impl Default for Worst {
    fn default() -> Self {
        Self { found: Vec::new(), repeated: false, clean: true }
    }
}

impl Worst {
    fn note(&mut self, name: Name, other: u32, element: Value) {
        self.clean = false;
        if self.found.iter().all(|&(known, ..)| known != name) {
            self.found.push((name, other, element));
        }
    }

    fn element(&mut self, element: Value, writers: &Writers, is_last: bool, own: bool) {
        // A list that goes on behind a non-final append shows the version that came after it.
        let fine = writers.good.is_some() || own || (writers.intermediate.is_some() && !is_last);
        let committed = writers.good.is_some() || writers.intermediate.is_some();
        let surely_committed = writers.count == 1 && committed && !own;
        let was_clean = self.clean;
        if fine {
            self.repeated |= writers.count + usize::from(own) > 1;
        } else if let Some(later) = writers.later {
            self.note(Name::FutureRead, later.operation, element);
        } else if let Some(write) = writers.intermediate {
            self.note(Name::IntermediateRead, write.operation, element);
        } else if let Some(write) = writers.aborted {
            self.note(Name::AbortedRead, write.operation, element);
        } else {
            self.note(Name::ThinAirRead, NOTHING, element);
        }
        self.clean = was_clean && surely_committed;
    }
}
