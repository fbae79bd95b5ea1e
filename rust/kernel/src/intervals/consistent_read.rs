//! Consistent reads: which version a read can show, and what follows from the one that it shows.

use super::finding::{Case, Finding, ReadCase};
use super::key::{First, Key, Reference, Version};
use super::profile::Read;
use super::read_view::{ReadView, TransactionOrders};
use super::span::Span;
use super::transaction::{Operation, Part, Transaction};
use super::verifier::Verifier;
use crate::history::Kind;
use crate::value::Value;

/// A read that can show only one version of another transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct CertainRead {
    pub key: u32,
    pub read: Reference,
    /// The version and its commit; None is the initial state.
    pub write: Option<(Reference, Span)>,
    pub snapshot: Span,
    /// Whether it shows the snapshot, and not the newest version.
    pub is_consistent: bool,
}

/// What a read shows of the writes of other transactions; of a list, the last element and all elements.
pub(super) struct ObservedValue<'s> {
    pub value: Value,
    pub elements: Option<&'s [Value]>,
    pub view: ReadView<'s>,
    pub is_consistent: bool,
}

impl Verifier {
    /// Judges all reads of a committed transaction.
    pub(super) fn judge_reads(&mut self, slot: u32) {
        let transaction = self.transactions.lend(slot);
        let mut window = self.window_of(&transaction);
        let orders = std::mem::take(&mut self.orders);
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
                window = self.next_window(window, &transaction, place);
                self.judge_range(&transaction, slot, place, &orders, window.as_mut());
            } else if operation.is_read() && operation.shows_its_key() {
                window = self.next_window(window, &transaction, place);
                let found = self.judge_read(&transaction, slot, operation, &orders);
                if let Some(found) = found.filter(|found| found.is_consistent) {
                    if let Some(window) = &mut window {
                        self.narrow(found, window);
                    }
                    if transaction.snapshot.is_some() {
                        self.judge_repeated(found, &certain);
                        self.keys[found.key as usize].shown = (transaction.number, certain.len() as u32);
                    }
                }
                certain.extend(found);
            }
        }
        if let Some(window) = window {
            self.judge_window(&window);
        }
        self.orders = orders;
        self.transactions.give_back(slot, transaction);
        self.deduce_from_reads(slot, &certain);
        self.certain = certain;
    }

    fn judge_read(
        &mut self,
        transaction: &Transaction,
        slot: u32,
        operation: &Operation,
        orders: &TransactionOrders,
    ) -> Option<CertainRead> {
        let read = Reference { slot, number: transaction.number, place: operation.place };
        let own = self.keys[operation.key as usize].own;
        let is_mixed = self.keys[operation.key as usize].is_mixed();
        let is_idle = self.is_after_idle_delete(transaction, own);
        if is_mixed
            || is_idle && operation.is_absent
            || operation.part == Part::Cell && self.is_of_changed_row(transaction, operation)
        {
            self.tally.reads.count(true);
            return None;
        }
        let shown = match operation.list() {
            None if own.0 == transaction.number && !is_idle => {
                self.judge_own(transaction, operation, read, own.1);
                return None;
            }
            None => ObservedValue {
                value: operation.value,
                elements: None,
                view: transaction.view_of(operation, orders),
                is_consistent: operation.read == Read::Consistent,
            },
            Some(list) => {
                let elements = &transaction.lists[list];
                let is_own = own.0 == transaction.number && !is_idle;
                let (others, moment) = match Self::without_own(transaction, operation, elements, is_own) {
                    Ok((length, moment)) => (&elements[..length], moment),
                    Err(write) => {
                        self.add_read_finding(ReadCase::Own, operation.key, vec![read, at(read, write)]);
                        return None;
                    }
                };
                let value = others.last().copied().unwrap_or(Value::NIL);
                let is_consistent = moment.read == Read::Consistent;
                ObservedValue {
                    value,
                    elements: Some(others),
                    view: transaction.view_of(moment, orders),
                    is_consistent,
                }
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
        let view = &shown.view;
        let (rules, is_late) = (self.rules, self.has_late);
        let mut candidates = std::mem::take(&mut self.candidates);
        let key = &mut self.keys[operation.key as usize];
        let is_fresh = key.candidates(view, rules, &mut candidates);
        let is_own = |version: &Version| version.write.number == transaction.number;
        candidates.retain(|&place| !is_own(&key.versions[place]));
        let mut matching =
            candidates.iter().copied().filter(|&place| key.versions[place].value == shown.value);
        let newest = matching.next();
        let versions = usize::from(newest.is_some()) + matching.count();
        let is_guess = is_fresh && key.is_guess(shown, operation.is_absent, versions > 0);
        let is_decisive = versions == 0 && !is_late;
        let shows_first = is_fresh && key.shows_first(shown, operation.is_absent, is_decisive);
        let is_row = operation.is_absent && shown.elements.is_none();
        let is_between = is_row && operation.looks_again() && key.is_reinserted_during(operation.span);
        let all = candidates.len() + usize::from(is_fresh);
        let matched = versions + usize::from(shows_first) + usize::from(is_between);
        self.candidates = candidates;
        // All deletes leave the same state, so a delete that came too late cannot be told from another one.
        let is_unknown = || operation.is_absent || !self.keys[operation.key as usize].knows(shown.value);
        if matched == 0 && is_late && is_unknown() {
            self.tally.unjudged_reads += 1;
            return None;
        }
        self.tally.reads.count(matched > 0 && matched < all || is_guess || is_between);
        if matched == 0 {
            self.add_misread(operation, read, view, shown.value);
            return None;
        }
        if let Some(newest) = newest {
            let is_overlapping =
                !self.keys[operation.key as usize].versions[newest].commit.precedes(view.snapshot);
            self.tally.wr.count(is_overlapping, matched > 1);
        }
        if let Some(elements) = shown.elements
            && self.judge_elements(operation, read, view, elements)
        {
            return None;
        }
        if matched > 1 || is_between {
            self.mark_uncertain.push(read.slot);
            return None;
        }
        let key = &mut self.keys[operation.key as usize];
        let snapshot = view.snapshot;
        let write = newest.map(|place| key.confirm(place, snapshot));
        Some(CertainRead { key: operation.key, read, write, snapshot, is_consistent: shown.is_consistent })
    }

    /// Whether it is a cell of a row that was deleted as a whole, or that its own transaction changed. Databases differ
    /// in the second case: the other cells are those of the snapshot or, as in InnoDB, those at the time of the change.
    fn is_of_changed_row(&self, transaction: &Transaction, operation: &Operation) -> bool {
        let is_own = self.keys[operation.key as usize].own.0 == transaction.number;
        self.deleted.contains(&operation.row) || !is_own && self.changed.contains(&operation.row)
    }

    /// Whether the own write of a key is a delete that may have found no row: another transaction's row may be shown.
    pub(super) fn is_after_idle_delete(&mut self, transaction: &Transaction, own: (u64, u32)) -> bool {
        let Some(write) = transaction.operations.get(own.1 as usize) else { return false };
        own.0 == transaction.number
            && transaction.first_delete(write).is_some_and(|first| self.may_be_idle(transaction, first))
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
    /// Whether a read may show the initial state. If it can show nothing else, it decides the initial value.
    pub(super) fn shows_first(
        &mut self,
        shown: &ObservedValue<'_>,
        is_absent: bool,
        is_decisive: bool,
    ) -> bool {
        if let Some(elements) = shown.elements {
            return elements.is_empty() || is_absent && self.may_lack_first();
        }
        match self.first {
            First::Known(value) => {
                self.is_first_shown |= is_decisive && !is_absent && value == shown.value;
                value == shown.value
            }
            First::Open => {
                if is_decisive {
                    self.first = First::Known(shown.value);
                }
                // Of a row that is not there, nothing is shown.
                self.is_first_shown |= is_decisive && !is_absent;
                true
            }
        }
    }

    /// Whether a read shows a value that a transaction wrote, and that may be the initial value all the same.
    fn is_guess(&mut self, shown: &ObservedValue<'_>, is_absent: bool, is_version: bool) -> bool {
        let is_open = self.first == First::Open && !is_absent && shown.elements.is_none();
        if !is_open || !is_version && !self.knows(shown.value) {
            return false;
        }
        if !self.guessed.contains(&shown.value) {
            self.guessed.push(shown.value);
        }
        true
    }

    /// A read saw the version: it is there, and so its transaction committed. The write, and its commit.
    fn confirm(&mut self, place: usize, snapshot: Span) -> (Reference, Span) {
        let version = &mut self.versions[place];
        version.is_certain = true;
        if version.commit.complete == Span::NEVER {
            version.commit.complete = snapshot.complete.max(version.commit.invoke);
            self.open_ends -= u32::from(version.commit.complete != Span::NEVER);
            self.longest = self.longest.max(version.commit.complete.saturating_sub(version.commit.invoke));
        }
        (version.write, version.commit)
    }

    /// Whether a transaction deleted the row and inserted it again, and may have committed in the meantime.
    pub(super) fn is_reinserted_during(&self, span: Span) -> bool {
        self.passing.iter().any(|one| {
            let is_during = one.gone.may_precede(span) && !one.gone.precedes(span);
            !one.is_aborted && one.value == Value::NIL && is_during
        })
    }

    /// Whether there may have been no row at first.
    pub(super) fn may_lack_first(&self) -> bool {
        matches!(self.first, First::Open | First::Known(Value::NIL))
    }

    /// Whether a known transaction wrote a value.
    pub(super) fn knows(&self, value: Value) -> bool {
        self.versions.iter().any(|version| version.value == value)
            || self.passing.iter().any(|passing| passing.value == value)
            || self.gone.iter().any(|gone| gone.value == value)
    }

    /// Whether a version may have been there at the snapshot, or at an earlier time.
    pub(super) fn is_written(&self, snapshot: Span) -> bool {
        let first = self.versions.front();
        !self.is_fresh || first.is_some_and(|first| first.commit.may_precede(snapshot))
    }

    /// The newest version that was certainly there.
    pub(super) fn hiding(&self, view: &ReadView<'_>) -> Option<Reference> {
        let mut there = self.versions.iter().filter(|version| view.surely_has(version));
        there.next_back().map(|version| version.write)
    }
}
