//! Which transactions count as committed: those of which the client never learned the end may.

use super::NOTHING;
use super::initial_state::InitialState;
use crate::by_key::{ByKey, Operation, Write, Writers, Writes, gather};
use crate::history::{History, Kind, Status, VersionSource};
use crate::predicates::{Predicates, born_keys};
use crate::value::Value;

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
    // What is shown of initial states depends on which transactions count.
    while take_observed(history, owners, by_key, &mut counted) && has_absent_keys(history) {}
    counted
}

/// Whether keys may be absent, so that a read of nothing may show their initial state.
fn has_absent_keys(history: &History) -> bool {
    !history.operations.left_out.is_empty() || history.operations.kinds.contains(&Kind::Delete)
}

/// Counts the transactions that those which count so far observed; whether there are new ones.
fn take_observed(history: &History, owners: &[u32], by_key: &ByKey, counted: &mut [bool]) -> bool {
    let (mut observed, logged) = observations(history, owners, by_key, counted);
    let mut is_new = false;
    observed.sort_unstable();
    observed.dedup();
    let mut pending: Vec<u32> = (0..counted.len() as u32).filter(|&t| counted[t as usize]).collect();
    for writer in logged {
        if !std::mem::replace(&mut counted[writer as usize], true) {
            is_new = true;
            pending.push(writer);
        }
    }
    while let Some(reader) = pending.pop() {
        let first = observed.partition_point(|&(other, _)| other < reader);
        for &(_, writer) in observed[first..].iter().take_while(|&&(other, _)| other == reader) {
            if !std::mem::replace(&mut counted[writer as usize], true) {
                is_new = true;
                pending.push(writer);
            }
        }
    }
    is_new
}

/// (reader, writer) for each read that only one, indeterminate, transaction can have served; and the
/// indeterminate writers whose versions are in a log.
fn observations(
    history: &History,
    owners: &[u32],
    by_key: &ByKey,
    counted: &[bool],
) -> (Vec<(u32, u32)>, Vec<u32>) {
    let (predicates, born) = (&Predicates::of(history), &born_keys(history)[..]);
    let mut found = Sightings { history, predicates, observed: Vec::new(), logged: Vec::new() };
    let (mut writes, mut gathered) = (Writes::default(), Vec::new());
    for key in 0..history.keys.len() {
        gather(history, owners, by_key.of(key), &mut gathered);
        writes.fill(&gathered);
        let initial = InitialState::of(history, counted, (born, &writes), key as u32, &gathered);
        found.of_key(key as u32, &gathered, &writes, &initial);
    }
    (found.observed, found.logged)
}

/// What is observed of indeterminate transactions.
struct Sightings<'o> {
    history: &'o History,
    predicates: &'o Predicates,
    observed: Vec<(u32, u32)>,
    logged: Vec<u32>,
}

impl Sightings<'_> {
    fn of_key(&mut self, key: u32, operations: &[Operation], writes: &Writes, initial: &InitialState) {
        // The transaction that wrote the key last: its operations on a key stand side by side.
        let mut written = None;
        for operation in operations {
            if operation.kind.installs() {
                written = Some(operation.transaction);
            }
            let status = self.history.transactions.statuses[operation.transaction as usize];
            if operation.kind != Kind::Read || status == Status::Aborted {
                continue;
            }
            let is_own = written == Some(operation.transaction);
            match self.history.values.as_list(operation.value) {
                Some(elements) => self.list_read(operation, elements, writes),
                None if is_own => {}
                None if operation.is_unmatched => self.unmatched_read(operation, writes, initial),
                None => self.read(operation, writes, initial.may_be(operation.value)),
            }
        }
        let is_list = |operation: &Operation| {
            operation.kind == Kind::Append || self.history.values.as_list(operation.value).is_some()
        };
        // A list starts empty, and no row shows that.
        let may_be_initial = |value: Value| !operations.iter().any(is_list) && initial.may_be(value);
        self.log(key, writes, may_be_initial);
    }

    fn indeterminate(&self, write: Write) -> Option<u32> {
        let status = self.history.transactions.statuses[write.transaction as usize];
        (status == Status::Indeterminate).then_some(write.transaction)
    }

    fn add(&mut self, read: &Operation, only: Option<Write>) {
        let writer = only.and_then(|write| self.indeterminate(write));
        let writer = writer.filter(|&writer| writer != read.transaction);
        self.observed.extend(writer.map(|writer| (read.transaction, writer)));
    }

    fn read(&mut self, read: &Operation, writes: &Writes, may_be_initial: bool) {
        if !may_be_initial {
            let writers = Writers::of(self.history, writes.of(read.value), read.transaction, read.number);
            self.add(read, writers.only());
        }
    }

    fn list_read(&mut self, read: &Operation, elements: &[Value], writes: &Writes) {
        for &seen in elements {
            // What a transaction wrote itself says nothing about others.
            let is_own =
                |write: &Write| write.transaction == read.transaction && write.operation < read.number;
            if !writes.of(seen).iter().any(is_own) {
                let writers = Writers::of(self.history, writes.of(seen), read.transaction, read.number);
                self.add(read, writers.only());
            }
        }
    }

    fn unmatched_read(&mut self, read: &Operation, writes: &Writes, initial: &InitialState) {
        let matches = |value: Value| self.predicates.matches(self.history, read.number, value);
        if initial.may_be_unmatched(matches) {
            return;
        }
        let others = self.predicates.unmatched(self.history, read, writes);
        let mut others = others.into_iter().filter(|write| write.transaction != read.transaction);
        if let (Some(only), None) = (others.next(), others.next()) {
            self.add(read, Some(only));
        }
    }

    fn log(&mut self, key: u32, writes: &Writes, may_be_initial: impl Fn(Value) -> bool) {
        for order in self.history.versions.iter().filter(|order| order.source == VersionSource::Log) {
            for (place, &version) in order.of(key).iter().enumerate() {
                // The first row may be the initial state.
                if place == 0 && may_be_initial(version) {
                    continue;
                }
                let writers = Writers::of(self.history, writes.of(version), NOTHING, NOTHING);
                self.logged.extend(writers.only().and_then(|write| self.indeterminate(write)));
            }
        }
    }
}
