//! Reads that no order of transactions can excuse: TAP-a to TAP-f and TAP-j, for registers and lists.
//!
//! Plume (OOPSLA 2024), Table 1; `reference/reads.py` is the specification. Every key is judged by
//! itself, so keys are shared between cores. Cost: a sort of each key's writes, near linear.
//! On the way each external read is traced to the transaction that it was served by: see
//! [`Observations`].

use crate::by_key::{ByKey, Operation, Shape, Write, Writers, Writes, gather, shape};
use crate::cancel::Cancel;
use crate::history::{History, Kind, Status, VersionSource};
use crate::named_enum::named_enum;
use crate::observations::{ABSENT, INITIAL, ListOrder, Observations, Sources};
use crate::value::Value;
use rayon::prelude::*;

mod list;

named_enum! {
    /// The anomalies that one transaction's reads show by themselves.
    pub enum ReadAnomaly {
        /// TAP-a: a value that no transaction wrote.
        ThinAirRead => "thin-air-read",
        /// TAP-b: a value of a transaction that aborted.
        AbortedRead => "aborted-read",
        /// TAP-c: a value that the reader writes only later.
        FutureRead => "future-read",
        /// TAP-d: a value other than the reader's own write.
        NotMyOwnWrite => "not-my-own-write",
        /// TAP-e: an own write that is not the last one.
        NotMyLastWrite => "not-my-last-write",
        /// TAP-f: a value that its writer replaced before it committed.
        IntermediateRead => "intermediate-read",
        /// TAP-j: two observations of one key that differ.
        NonRepeatableRead => "non-repeatable-read",
        /// A list that no order of appends explains together with a longer one.
        IncompatibleOrder => "incompatible-order",
        /// A list that shows an element more often than it was appended.
        DuplicateElements => "duplicate-elements",
    }
}

/// No operation.
pub const NOTHING: u32 = u32::MAX;

/// One anomaly: the read that shows it and the operation that it must be held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The read.
    pub read: u32,
    /// What is wrong with it.
    pub name: ReadAnomaly,
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
    /// Keys with a wrong read of what several transactions wrote, of which one took effect that is not counted.
    pub doubtful_keys: Vec<u32>,
    /// Keys whose reads are not judged, because they are deleted at times.
    pub deleted_keys: Vec<u32>,
    /// Keys whose reads are not judged, because they are both written and appended to.
    pub mixed_keys: Vec<u32>,
    /// Range reads, which are not judged.
    pub range_reads: u64,
}

/// What the judges of some keys found, beside what they wrote into shared columns.
#[derive(Default)]
struct Share {
    judgement: Judgement,
    lists: Vec<ListOrder>,
}

impl Judgement {
    /// Keys whose reads several transactions may have served.
    #[must_use]
    pub fn ambiguous_keys(&self) -> Vec<u32> {
        [self.repeated_keys.as_slice(), &self.doubtful_keys].concat()
    }

    fn absorb(mut self, mut other: Self) -> Self {
        self.findings.append(&mut other.findings);
        self.repeated_reads += other.repeated_reads;
        self.repeated_keys.append(&mut other.repeated_keys);
        self.doubtful_keys.append(&mut other.doubtful_keys);
        self.deleted_keys.append(&mut other.deleted_keys);
        self.mixed_keys.append(&mut other.mixed_keys);
        self
    }
}

/// Judges every read of every transaction that counts as committed, and traces it to its writer.
#[must_use]
pub fn judge(history: &History, cancel: &Cancel) -> (Judgement, Observations) {
    let owners = history.transaction_of_operation();
    let by_key = ByKey::new(history);
    let counted = counted(history, &owners, &by_key);
    judge_counted(history, counted, cancel)
}

/// The same, if it is known which transactions took effect.
#[must_use]
pub fn judge_counted(history: &History, counted: Vec<bool>, cancel: &Cancel) -> (Judgement, Observations) {
    let owners = history.transaction_of_operation();
    let by_key = ByKey::new(history);
    let sources = Sources::new(history.operation_count());
    let shares = by_key.shares().into_par_iter().map(|keys| {
        let mut judge = Judge::new(history, &owners, &counted, &sources);
        for key in keys.take_while(|_| !cancel.is_asked()) {
            judge.key(key as u32, by_key.of(key));
        }
        judge.share
    });
    let (mut judgement, mut lists) = (Judgement::default(), Vec::new());
    for mut share in shares.collect::<Vec<_>>() {
        judgement = judgement.absorb(share.judgement);
        lists.append(&mut share.lists);
    }
    judgement.findings.par_sort_unstable();
    judgement.range_reads =
        history.operations.kinds.iter().filter(|&&kind| kind == Kind::RangeRead).count() as u64;
    (judgement, Observations::new(history, counted, sources, lists))
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
    let (mut writes, mut gathered) = (Writes::default(), Vec::new());
    for key in 0..history.keys.len() {
        let operations = by_key.of(key);
        gather(history, owners, operations, &mut gathered);
        writes.fill(&gathered);
        // The transaction that wrote the key last: its operations on a key stand side by side.
        let mut written = None;
        for &read in operations {
            let kind = history.operations.kinds[read as usize];
            if kind.installs() && kind != Kind::Delete {
                written = Some(owners[read as usize]);
            }
            if kind != Kind::Read {
                continue;
            }
            let (reader, value) = (owners[read as usize], history.operations.values[read as usize]);
            let is_own = history.values.as_list(value).is_none() && written == Some(reader);
            if history.transactions.statuses[reader as usize] == Status::Aborted || is_own {
                continue;
            }
            let (list, single) = (history.values.as_list(value), [value]);
            for &seen in list.unwrap_or(&single) {
                // What a transaction wrote itself says nothing about others.
                let own = writes.of(if list.is_some() { seen } else { Value::NOTHING });
                let own = own.iter().any(|write| write.transaction == reader && write.operation < read);
                let initial = list.is_none() && history.initial.of(key as u32) == seen;
                let writers = Writers::of(history, writes.of(seen), reader, read);
                if let Some(writer) = writers.only().filter(|_| !own && !initial).and_then(indeterminate)
                    && writer != reader
                {
                    observed.push((reader, writer));
                }
            }
        }
        for order in history.versions.iter().filter(|order| order.source == VersionSource::Log) {
            let initial = history.initial.of(key as u32);
            for (place, &version) in order.of(key as u32).iter().enumerate() {
                // The first row may be the initial state.
                if place == 0 && version == initial {
                    continue;
                }
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
    sources: &'h Sources,
    writes: Writes,
    gathered: Vec<Operation>,
    share: Share,
    repeated: u64,
    /// Whether a wrong read of the key proves that one of several transactions took effect.
    is_doubtful: bool,
}

impl<'h> Judge<'h> {
    fn new(history: &'h History, owners: &'h [u32], counted: &'h [bool], sources: &'h Sources) -> Self {
        let (writes, gathered, share) = (Writes::default(), Vec::new(), Share::default());
        Self { history, owners, counted, sources, writes, gathered, share, repeated: 0, is_doubtful: false }
    }

    fn key(&mut self, key: u32, operations: &[u32]) {
        let mut gathered = std::mem::take(&mut self.gathered);
        gather(self.history, self.owners, operations, &mut gathered);
        let shape = shape(&gathered, |transaction| self.counted[transaction as usize]);
        self.writes.fill(&gathered);
        self.of_shape(shape, key, operations, &gathered);
        self.gathered = gathered;
    }

    fn of_shape(&mut self, shape: Shape, key: u32, operations: &[u32], gathered: &[Operation]) {
        match shape {
            Shape::Deleted => return self.share.judgement.deleted_keys.push(key),
            Shape::Mixed => return self.share.judgement.mixed_keys.push(key),
            Shape::Register | Shape::List => {}
        }
        (self.repeated, self.is_doubtful) = (0, false);
        if shape == Shape::List {
            self.list(key, operations);
        } else {
            self.register(key, gathered);
        }
        if self.repeated > 0 {
            self.share.judgement.repeated_reads += self.repeated;
            self.share.judgement.repeated_keys.push(key);
        } else if self.is_doubtful {
            self.share.judgement.doubtful_keys.push(key);
        }
    }

    /// A wrong read shows a value: if several transactions wrote it, an indeterminate one may have taken effect.
    fn doubt(&mut self, value: Value, count: usize) {
        let is_left_out = |write: &Write| {
            let transaction = write.transaction as usize;
            let status = self.history.transactions.statuses[transaction];
            status == Status::Indeterminate && !self.counted[transaction]
        };
        self.is_doubtful |= count > 1 && self.writes.of(value).iter().any(is_left_out);
    }

    /// Operations of one counted transaction after the other.
    fn runs<'o>(&self, operations: &'o [u32]) -> impl Iterator<Item = &'o [u32]> + use<'o, 'h> {
        let (owners, counted) = (self.owners, self.counted);
        operations
            .chunk_by(|&a, &b| owners[a as usize] == owners[b as usize])
            .filter(|run| counted[owners[run[0] as usize] as usize])
    }

    fn find(&mut self, name: ReadAnomaly, read: u32, other: u32, value: Value) {
        self.share.judgement.findings.push(Finding { read, name, other, value });
    }

    fn register(&mut self, key: u32, operations: &[Operation]) {
        let mut initial = Initially::of(self.history, self.counted, &self.writes, key);
        let runs = operations.chunk_by(|a, b| a.transaction == b.transaction);
        for run in runs.filter(|run| self.counted[run[0].transaction as usize]) {
            let (mut first, mut differs, mut own) = (None, false, None);
            for (place, operation) in run.iter().enumerate() {
                if operation.kind.installs() {
                    own = Some(operation);
                }
                let &Operation { value, number, kind, .. } = operation;
                if kind != Kind::Read || value == Value::UNKNOWN {
                    continue;
                }
                if let Some(own) = own {
                    self.own_read(run, place, own);
                    continue;
                }
                self.external_read(operation, &mut initial);
                let &mut (other, seen) = first.get_or_insert((number, value));
                if seen != value && !differs {
                    differs = true;
                    self.find(ReadAnomaly::NonRepeatableRead, number, other, value);
                }
            }
        }
    }

    /// A register read after an own write must return the last own write.
    fn own_read(&mut self, run: &[Operation], place: usize, own: &Operation) {
        let Operation { value, number, .. } = run[place];
        if value == own.value {
            return;
        }
        let writes_it = |operation: &&Operation| operation.kind.installs() && operation.value == value;
        let name = if run[..place].iter().any(|operation| writes_it(&operation)) {
            ReadAnomaly::NotMyLastWrite
        } else if let Some(later) = run[place..].iter().find(writes_it) {
            return self.find(ReadAnomaly::FutureRead, number, later.number, value);
        } else {
            ReadAnomaly::NotMyOwnWrite
        };
        self.find(name, number, own.number, value);
    }

    /// Whether a write is nothing but another transaction's last word on the key.
    fn is_plain(&self, write: &Write, reader: u32) -> bool {
        let status = self.history.transactions.statuses[write.transaction as usize];
        write.is_final && write.transaction != reader && status != Status::Aborted
    }

    fn external_read(&mut self, operation: &Operation, initial: &mut Initially) {
        let &Operation { value, number: read, transaction: reader, .. } = operation;
        let writes = self.writes.of(value);
        if let [write] = writes
            && self.is_plain(write, reader)
            && initial.value != value
        {
            return self.sources.set(read, write.transaction);
        }
        let writers = Writers::of(self.history, writes, reader, read);
        if writers.count == 0 {
            match initial.admit(value, read) {
                Ok(()) => self.sources.set(read, INITIAL),
                Err(other) => self.find(ReadAnomaly::ThinAirRead, read, other, value),
            }
            return;
        }
        let may_be_initial = initial.value == value;
        if let Some(write) =
            writers.good.or(writers.intermediate).filter(|_| writers.count == 1 && !may_be_initial)
        {
            self.sources.set(read, write.transaction);
        }
        if writers.good.is_some() || may_be_initial {
            self.repeated += u64::from(writers.count + usize::from(may_be_initial) > 1);
            return;
        }
        self.doubt(value, writers.count);
        if let Some(later) = writers.later {
            self.find(ReadAnomaly::FutureRead, read, later.operation, value);
        } else if let Some(write) = writers.intermediate {
            self.find(ReadAnomaly::IntermediateRead, read, write.operation, value);
        } else if let Some(write) = writers.aborted {
            self.find(ReadAnomaly::AbortedRead, read, write.operation, value);
        }
    }
}

/// The initial value of one register: known, or learned from the first read of a value that no transaction
/// wrote.
struct Initially {
    value: Value,
    learned_by: u32,
}

impl Initially {
    fn of(history: &History, counted: &[bool], writes: &Writes, key: u32) -> Self {
        let value = history.initial.of(key);
        let written = |write: &Write| counted[write.transaction as usize];
        let replaced = history.initial.replaceable && writes.of(value).iter().any(written);
        Self { value: if replaced { REPLACED } else { value }, learned_by: NOTHING }
    }

    /// Whether a value that no transaction wrote can be the initial one; if not, the read that contradicts
    /// it.
    fn admit(&mut self, value: Value, read: u32) -> Result<(), u32> {
        if self.value == Value::UNKNOWN {
            (self.value, self.learned_by) = (value, read);
        }
        if self.value == value { Ok(()) } else { Err(self.learned_by) }
    }
}

/// Stands for an initial value that an explicit write took the place of: equal to no value read.
const REPLACED: Value = Value::NOTHING;
