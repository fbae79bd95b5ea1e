//! Reads that no order of transactions can excuse: TAP-a to TAP-f and TAP-j, for registers and lists.
//!
//! Plume (OOPSLA 2024), Table 1; `reference/reads.py` is the specification. Every key is judged by
//! itself, so keys are shared between cores. Cost: a sort of each key's writes, near linear.
//! On the way each external read is traced to the transaction that it was served by: see
//! [`Observations`].

use crate::by_key::{ByKey, Operation, Shape, Write, Writers, Writes, gather, shape};
use crate::cancel::Cancel;
use crate::history::{History, Kind, Status};
use crate::named_enum::named_enum;
use crate::observations::{INITIAL, ListOrder, Observations, Sources};
use crate::predicates::{Predicates, born_keys};
use crate::value::Value;
use hashbrown::HashMap;
use initial_state::InitialState;
use rayon::prelude::*;

mod counted;
mod doubtful_shape;
mod initial_state;
mod list;
mod unmatched;

pub use counted::counted;
use doubtful_shape::doubtful_shapes;

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
        /// A range read leaves out a key, although every state of it matches.
        PredicateReadMiss => "predicate-read-miss",
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
    /// Keys with a wrong read of what several transactions wrote, of which one may have taken effect that is not
    /// counted, or replaced it.
    pub doubtful_keys: Vec<u32>,
    /// Keys whose reads are not judged, because they are lists that are deleted at times.
    pub deleted_keys: Vec<u32>,
    /// Keys whose reads are not judged, because they are both written and appended to.
    pub mixed_keys: Vec<u32>,
    /// Range reads that are not itemised, which are not judged.
    pub range_reads: u64,
}

/// What the judges of some keys found, beside what they wrote into shared columns.
#[derive(Default)]
struct Share {
    judgement: Judgement,
    lists: Vec<ListOrder>,
    /// Whether there are lists, or some read saw another version than the latest one before it in the order of the input.
    misses_latest: bool,
}

impl Judgement {
    /// Keys whose reads several transactions may have served.
    #[must_use]
    pub fn ambiguous_keys(&self) -> Vec<u32> {
        [self.repeated_keys.as_slice(), &self.doubtful_keys].concat()
    }

    /// Whether there are reads that every level forbids which forbids dirty ones.
    #[must_use]
    pub fn shows_wrong_reads(&self) -> bool {
        self.findings.iter().any(|finding| finding.name != ReadAnomaly::NonRepeatableRead)
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
    let (owners, by_key) = grouped(history);
    let counted = counted(history, &owners, &by_key);
    let doubtful = doubtful_shapes(history, &owners, &by_key, &counted);
    judge_keys(history, (&owners, &by_key), counted, &doubtful, cancel)
}

/// The same, if it is known which transactions took effect.
#[must_use]
pub fn judge_counted(history: &History, counted: Vec<bool>, cancel: &Cancel) -> (Judgement, Observations) {
    let (owners, by_key) = grouped(history);
    judge_keys(history, (&owners, &by_key), counted, &HashMap::new(), cancel)
}

/// The transaction of each operation, and the operations key by key.
fn grouped(history: &History) -> (Vec<u32>, ByKey) {
    rayon::join(|| history.transaction_of_operation(), || ByKey::new(history))
}

fn judge_keys(
    history: &History,
    (owners, by_key): (&[u32], &ByKey),
    counted: Vec<bool>,
    doubtful: &HashMap<u32, Shape>,
    cancel: &Cancel,
) -> (Judgement, Observations) {
    let sources = Sources::new(history.operation_count());
    let (predicates, born) = (Predicates::of(history), born_keys(history));
    let has_lists = history.values.list_count() > 0 || history.operations.kinds.contains(&Kind::Append);
    let shares = by_key.shares().into_par_iter().map(|keys| {
        let mut judge =
            Judge::new(history, owners, (&counted, doubtful), &sources, (&predicates, &born), has_lists);
        for key in keys.take_while(|_| !cancel.is_asked()) {
            judge.key(key as u32, by_key.of(key));
        }
        judge.share
    });
    let (mut judgement, mut lists, mut reads_latest) = (Judgement::default(), Vec::new(), true);
    for mut share in shares.collect::<Vec<_>>() {
        judgement = judgement.absorb(share.judgement);
        lists.append(&mut share.lists);
        reads_latest &= !share.misses_latest;
    }
    judgement.findings.par_sort_unstable();
    judgement.range_reads =
        history.operations.kinds.iter().filter(|&&kind| kind == Kind::RangeRead).count() as u64;
    (judgement, Observations::new(history, counted, sources, lists, reads_latest))
}

/// Judges keys one after another.
struct Judge<'h> {
    history: &'h History,
    owners: &'h [u32],
    counted: &'h [bool],
    /// Keys that are used in two ways if others took effect.
    doubtful: &'h HashMap<u32, Shape>,
    sources: &'h Sources,
    predicates: &'h Predicates,
    /// Keys that a first transaction inserts.
    born: &'h [bool],
    /// Whether any key may be a list.
    has_lists: bool,
    writes: Writes,
    gathered: Vec<Operation>,
    /// By predicate: the writes that leave the key in a state which does not match.
    unmatched: HashMap<Value, Vec<Write>>,
    share: Share,
    repeated: u64,
    /// The transaction that wrote the key last in the order of the input.
    latest: u32,
    /// Whether a wrong read of the key proves that one of several transactions took effect.
    is_doubtful: bool,
}

impl<'h> Judge<'h> {
    fn new(
        history: &'h History,
        owners: &'h [u32],
        (counted, doubtful): (&'h [bool], &'h HashMap<u32, Shape>),
        sources: &'h Sources,
        (predicates, born): (&'h Predicates, &'h [bool]),
        has_lists: bool,
    ) -> Self {
        let (writes, gathered, share) = (Writes::default(), Vec::new(), Share::default());
        let unmatched = HashMap::new();
        Self {
            history,
            owners,
            counted,
            doubtful,
            sources,
            predicates,
            born,
            has_lists,
            writes,
            gathered,
            unmatched,
            share,
            repeated: 0,
            latest: INITIAL,
            is_doubtful: false,
        }
    }

    fn key(&mut self, key: u32, operations: &[u32]) {
        let mut gathered = std::mem::take(&mut self.gathered);
        gather(self.history, self.owners, operations, &mut gathered);
        let known = || shape(&gathered, |transaction| self.counted[transaction as usize]);
        let known = if self.has_lists { known() } else { Shape::Register };
        let shape = self.doubtful.get(&key).copied().unwrap_or(known);
        self.writes.fill(&gathered);
        self.unmatched.clear();
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
            self.share.misses_latest = true;
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
        let mut initial = self.initial_state(key, operations);
        self.latest = INITIAL;
        let runs = operations.chunk_by(|a, b| a.transaction == b.transaction);
        for run in runs.filter(|run| self.counted[run[0].transaction as usize]) {
            let mut own = None;
            for (place, operation) in run.iter().enumerate() {
                if operation.kind.installs() {
                    own = Some(operation);
                }
                match own {
                    _ if !operation.is_known_read() => {}
                    Some(own) if operation.is_unmatched => self.unmatched_own_read(operation, own),
                    Some(own) => self.own_read(run, place, own),
                    None if operation.is_unmatched => self.unmatched_read(operation, &initial),
                    None => self.external_read(operation, &mut initial),
                }
            }
            self.repeated_observations(run);
            if own.is_some() {
                self.latest = run[0].transaction;
            }
        }
    }

    fn set_source(&mut self, read: u32, source: u32) {
        self.sources.set(read, source);
        self.share.misses_latest |= source != self.latest;
    }

    /// Two external observations of a key that differ: other values, or a value that matches and no match.
    fn repeated_observations(&mut self, run: &[Operation]) {
        let (history, predicates) = (self.history, self.predicates);
        let matches =
            |unmatched: &Operation, value: Value| predicates.matches(history, unmatched.number, value);
        let mut first: Option<&Operation> = None;
        for (place, read) in run.iter().enumerate().take_while(|(_, operation)| !operation.kind.installs()) {
            if !read.is_known_read() {
                continue;
            }
            let other = match first {
                Some(first) if read.is_unmatched => matches(read, first.value).then_some(first),
                Some(first) => (first.value != read.value).then_some(first),
                None if read.is_unmatched => None,
                None => {
                    first = Some(read);
                    run[..place].iter().find(|one| one.is_unmatched && matches(one, read.value))
                }
            };
            if let Some(other) = other {
                return self.find(ReadAnomaly::NonRepeatableRead, read.number, other.number, read.value);
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

    fn external_read(&mut self, operation: &Operation, initial: &mut InitialState) {
        let &Operation { value, number: read, transaction: reader, .. } = operation;
        let writes = self.writes.of(value);
        if let [write] = writes
            && self.is_plain(write, reader)
            && !initial.may_be(value)
        {
            return self.set_source(read, write.transaction);
        }
        let writers = Writers::of(self.history, writes, reader, read);
        if writers.count == 0 {
            match initial.admit(value, read) {
                Ok(()) => self.set_source(read, INITIAL),
                Err(other) => self.find(ReadAnomaly::ThinAirRead, read, other, value),
            }
            return;
        }
        let may_be_initial = initial.may_be(value);
        if let Some(write) =
            writers.good.or(writers.intermediate).filter(|_| writers.count == 1 && !may_be_initial)
        {
            self.set_source(read, write.transaction);
        }
        if writers.good.is_some() || may_be_initial {
            self.repeated += u64::from(writers.count + usize::from(may_be_initial) > 1);
            return;
        }
        self.doubt(value, writers.count);
        // The session guarantees forbid no single read, and ask which of the writes this one shows.
        self.is_doubtful |= writers.count > 1 && writers.intermediate.is_some();
        if let Some(later) = writers.later {
            self.find(ReadAnomaly::FutureRead, read, later.operation, value);
        } else if let Some(write) = writers.intermediate {
            self.find(ReadAnomaly::IntermediateRead, read, write.operation, value);
        } else if let Some(write) = writers.aborted {
            self.find(ReadAnomaly::AbortedRead, read, write.operation, value);
        }
    }
}
