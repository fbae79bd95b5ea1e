//! Consistent reads: which version a read can show, and what follows from the one that it shows.

use super::finding::{Case, Finding, ReadCase};
use super::key::{First, Key, Reference, Version};
use super::profile::Read;
use super::span::Span;
use super::torn_reads::SnapshotWindow;
use super::transaction::{Operation, Part, Transaction};
use super::verifier::Verifier;
use crate::history::Kind;
use crate::value::Value;
use hashbrown::HashSet;

/// A read that can show only one version of another transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct CertainRead {
    pub key: u32,
    pub read: Reference,
    /// The version and its commit; None is the initial state.
    pub write: Option<(Reference, Span)>,
    pub snapshot: Span,
}

/// What a read shows of the writes of other transactions; of a list, the last element and all elements.
pub(super) struct ObservedValue<'s> {
    pub value: Value,
    pub elements: Option<&'s [Value]>,
    pub snapshot: Span,
}

impl Verifier {
    /// Judges all reads of a committed transaction.
    pub(super) fn judge_reads(&mut self, slot: u32) {
        let transaction = self.transactions.lend(slot);
        let mut window = transaction.snapshot.map(SnapshotWindow::of);
        let mut certain = std::mem::take(&mut self.certain);
        certain.clear();
        self.changed.clear();
        for (place, operation) in transaction.operations.iter().enumerate() {
            if operation.kind.installs() {
                self.keys[operation.key as usize].own = (transaction.number, place as u32);
                if operation.part != Part::Key {
                    self.changed.insert(operation.row);
                }
            } else if operation.kind == Kind::RangeRead {
                self.judge_range(&transaction, slot, place);
            } else if operation.is_read() && operation.shows_its_key() {
                let found = self.judge_read(&transaction, slot, operation);
                if let (Some(found), Some(window)) = (found, &mut window)
                    && transaction.snapshot == Some(found.snapshot)
                {
                    self.narrow(found, window);
                    self.judge_repeated(found, &certain);
                    self.keys[found.key as usize].shown = (transaction.number, certain.len() as u32);
                }
                certain.extend(found);
            }
        }
        if let Some(window) = window {
            self.judge_window(&window);
        }
        self.transactions.give_back(slot, transaction);
        self.deduce_from_reads(slot, &certain);
        self.certain = certain;
    }

    fn judge_read(
        &mut self,
        transaction: &Transaction,
        slot: u32,
        operation: &Operation,
    ) -> Option<CertainRead> {
        let read = Reference { slot, number: transaction.number, place: operation.place };
        let own = self.keys[operation.key as usize].own;
        let is_mixed = self.keys[operation.key as usize].is_mixed();
        if is_mixed || operation.part == Part::Cell && self.is_of_changed_row(transaction, operation) {
            self.tally.reads.count(true);
            return None;
        }
        let shown = match operation.list() {
            None if own.0 == transaction.number => {
                self.judge_own(transaction, operation, read, own.1);
                return None;
            }
            None => ObservedValue {
                value: operation.value,
                elements: None,
                snapshot: transaction.snapshot_of(operation),
            },
            Some(list) => {
                let elements = &transaction.lists[list];
                let is_own = own.0 == transaction.number;
                let (others, snapshot) = match Self::without_own(transaction, operation, elements, is_own) {
                    Ok((length, snapshot)) => (&elements[..length], snapshot),
                    Err(write) => {
                        self.add_read_finding(ReadCase::Own, operation.key, vec![read, at(read, write)]);
                        return None;
                    }
                };
                let value = others.last().copied().unwrap_or(Value::NIL);
                ObservedValue { value, elements: Some(others), snapshot }
            }
        };
        if operation.read == Read::Uncommitted {
            self.judge_uncommitted(operation, read, &shown);
            return None;
        }
        self.judge_external(transaction, operation, read, &shown)
    }

    fn judge_external(
        &mut self,
        transaction: &Transaction,
        operation: &Operation,
        read: Reference,
        shown: &ObservedValue<'_>,
    ) -> Option<CertainRead> {
        let snapshot = shown.snapshot;
        let (rules, is_late) = (self.rules, self.has_late);
        let mut candidates = std::mem::take(&mut self.candidates);
        let key = &mut self.keys[operation.key as usize];
        let is_fresh = key.candidates(snapshot, rules, &mut candidates);
        let is_own = |version: &Version| version.write.number == transaction.number;
        candidates.retain(|&place| !is_own(&key.versions[place]));
        let mut matching =
            candidates.iter().copied().filter(|&place| key.versions[place].value == shown.value);
        let newest = matching.next();
        let versions = usize::from(newest.is_some()) + matching.count();
        let shows_first = is_fresh && key.shows_first(shown, operation.is_absent, versions == 0);
        let all = candidates.len() + usize::from(is_fresh);
        let matched = versions + usize::from(shows_first);
        self.candidates = candidates;
        // All deletes leave the same state, so a delete that came too late cannot be told from another one.
        let is_unknown = || operation.is_absent || !self.keys[operation.key as usize].knows(shown.value);
        if matched == 0 && is_late && is_unknown() {
            self.tally.unjudged_reads += 1;
            return None;
        }
        // A value that a transaction wrote may also have been the initial value.
        let is_guess = shows_first && self.keys[operation.key as usize].first == First::Open;
        self.tally.reads.count(matched > 0 && matched < all || is_guess && !operation.is_absent);
        if matched == 0 {
            self.add_misread(operation, read, snapshot, shown.value);
            return None;
        }
        if let Some(newest) = newest {
            let is_overlapping =
                !self.keys[operation.key as usize].versions[newest].commit.precedes(snapshot);
            self.tally.wr.count(is_overlapping, matched > 1);
        }
        if let Some(elements) = shown.elements
            && self.judge_elements(operation, read, snapshot, elements)
        {
            return None;
        }
        if matched > 1 {
            self.mark_uncertain.push(read.slot);
            return None;
        }
        let key = &mut self.keys[operation.key as usize];
        let write = newest.map(|place| {
            let version = &mut key.versions[place];
            if !version.is_certain {
                // A read saw it: its transaction committed.
                version.is_certain = true;
                version.commit.complete = snapshot.complete.max(version.commit.invoke);
                key.open_ends -= 1;
                key.longest = key.longest.max(version.commit.complete.saturating_sub(version.commit.invoke));
            }
            (version.write, version.commit)
        });
        Some(CertainRead { key: operation.key, read, write, snapshot })
    }

    /// Whether it is a cell of a row that was deleted as a whole, or that its own transaction changed. Databases differ
    /// in the second case: the other cells are those of the snapshot or, as in InnoDB, those at the time of the change.
    fn is_of_changed_row(&self, transaction: &Transaction, operation: &Operation) -> bool {
        let is_own = self.keys[operation.key as usize].own.0 == transaction.number;
        self.deleted.contains(&operation.row) || !is_own && self.changed.contains(&operation.row)
    }

    /// A read of a row that its own transaction changed.
    pub(super) fn judge_own(
        &mut self,
        transaction: &Transaction,
        operation: &Operation,
        read: Reference,
        own: u32,
    ) {
        self.tally.reads.count(false);
        let write = &transaction.operations[own as usize];
        if write.value != operation.value {
            let write = at(read, write.place);
            self.add_read_finding(ReadCase::Own, operation.key, vec![read, write]);
        }
    }

    pub(super) fn add_read_finding(&mut self, case: ReadCase, key: u32, operations: Vec<Reference>) {
        self.add_finding(Finding { case: Case::Read(case), operations, key, unexplained: None });
    }
}

/// Another operation of the same transaction.
pub(super) fn at(read: Reference, place: u32) -> Reference {
    Reference { place, ..read }
}

impl Key {
    /// Whether a read may show the initial state. The first value that no transaction wrote becomes the initial value.
    pub(super) fn shows_first(&mut self, shown: &ObservedValue<'_>, is_absent: bool, is_new: bool) -> bool {
        if let Some(elements) = shown.elements {
            return elements.is_empty();
        }
        match self.first {
            // It is not known which rows there were at first.
            _ if is_absent => true,
            First::Known(value) => value == shown.value,
            // A value that no transaction wrote is the initial value.
            First::Open if is_new && !self.knows(shown.value) => {
                self.first = First::Known(shown.value);
                true
            }
            // A value that a transaction wrote is taken for that write, unless values of this key repeat; but
            // nothing is deduced from it.
            First::Open => !is_new || self.repeats(),
        }
    }

    /// Whether a known transaction wrote a value.
    pub(super) fn knows(&self, value: Value) -> bool {
        self.versions.iter().any(|version| version.value == value)
            || self.passing.iter().any(|passing| passing.value == value)
            || self.gone.iter().any(|gone| gone.value == value)
    }

    /// Whether a value was written more than once, among the writes in memory.
    fn repeats(&self) -> bool {
        let mut seen = HashSet::new();
        let versions = self.versions.iter().map(|version| version.value);
        let all = versions
            .chain(self.passing.iter().map(|one| one.value))
            .chain(self.gone.iter().map(|one| one.value));
        !all.into_iter().all(|value| seen.insert(value))
    }

    /// Whether a version may have been there at the snapshot, or at an earlier time.
    pub(super) fn is_written(&self, snapshot: Span) -> bool {
        let first = self.versions.front();
        !self.is_fresh || first.is_some_and(|first| first.commit.may_precede(snapshot))
    }

    /// The newest version that was certainly there.
    pub(super) fn hiding(&self, snapshot: Span) -> Option<Reference> {
        let mut there =
            self.versions.iter().filter(|version| version.is_certain && version.commit.precedes(snapshot));
        there.next_back().map(|version| version.write)
    }
}
