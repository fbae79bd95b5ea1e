//! Consistent reads: which version a read can show, and what follows from the one that it shows.

use super::found::{Finding, Name, ReadCase};
use super::key::{Deduced, First, Key, Reference, Source, Version};
use super::profile::Read;
use super::span::Span;
use super::transaction::{Operation, Part, Transaction};
use super::verifier::Verifier;
use crate::history::Kind;
use crate::value::Value;
use hashbrown::{HashMap, HashSet};

/// A read of others that can be one version's alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Certain {
    pub key: u32,
    pub read: Reference,
    /// The version, or the initial state.
    pub write: Option<(Reference, Span)>,
    pub snapshot: Span,
}

/// The moments at which all reads of a transaction may have been taken, and who narrowed them.
#[derive(Debug, Clone, Copy)]
struct Moments {
    from: (i64, [Option<Reference>; 2]),
    to: (i64, [Option<Reference>; 2]),
}

impl Verifier {
    /// Judges all reads of a committed transaction.
    pub(super) fn judge_reads(&mut self, slot: u32) {
        let transaction = self.take_out(slot);
        let mut moments = transaction.snapshot.map(|snapshot| Moments {
            from: (snapshot.invoke, [None; 2]),
            to: (snapshot.complete, [None; 2]),
        });
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
                if let (Some(found), Some(moments)) = (found, &mut moments)
                    && transaction.snapshot == Some(found.snapshot)
                {
                    self.narrow(found, moments);
                    self.judge_repeated(found, &certain);
                    self.keys[found.key as usize].shown = (transaction.number, certain.len() as u32);
                }
                certain.extend(found);
            }
        }
        if let Some(moments) = moments {
            self.judge_moments(&moments);
        }
        self.put_back(slot, transaction);
        self.follow(slot, &certain);
        self.certain = certain;
    }

    fn judge_read(&mut self, transaction: &Transaction, slot: u32, operation: &Operation) -> Option<Certain> {
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
            None => {
                Shown { value: operation.value, elements: None, snapshot: transaction.snapshot_of(operation) }
            }
            Some(list) => {
                let elements = &transaction.lists[list];
                let is_own = own.0 == transaction.number;
                let (others, snapshot) = match Self::without_own(transaction, operation, elements, is_own) {
                    Ok((length, snapshot)) => (&elements[..length], snapshot),
                    Err(write) => {
                        self.found_read(ReadCase::Own, operation.key, vec![read, at(read, write)], None);
                        return None;
                    }
                };
                let value = others.last().copied().unwrap_or(Value::NIL);
                Shown { value, elements: Some(others), snapshot }
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
        shown: &Shown<'_>,
    ) -> Option<Certain> {
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
        // Deletes all leave the same, so that nobody knows whether one is missing.
        let is_unknown = || operation.is_absent || !self.keys[operation.key as usize].knows(shown.value);
        if matched == 0 && is_late && is_unknown() {
            self.tally.aside += 1;
            return None;
        }
        // Nobody knows whether a value that somebody wrote was there from the beginning.
        let is_guess = shows_first && self.keys[operation.key as usize].first == First::Open;
        self.tally.reads.count(matched > 0 && matched < all || is_guess && !operation.is_absent);
        if matched == 0 {
            self.convict(operation, read, snapshot, shown.value);
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
                // Somebody saw it: it committed.
                version.is_certain = true;
                version.commit.complete = snapshot.complete.max(version.commit.invoke);
                key.open_ends -= 1;
                key.longest = key.longest.max(version.commit.complete.saturating_sub(version.commit.invoke));
            }
            (version.write, version.commit)
        });
        Some(Certain { key: operation.key, read, write, snapshot })
    }

    /// Whether it is a cell of a row that was deleted as a whole, or that its own transaction changed: that one shows
    /// its other cells as they were at its snapshot or, as in InnoDB, when it changed the row.
    fn is_of_changed_row(&self, transaction: &Transaction, operation: &Operation) -> bool {
        let is_own = self.keys[operation.key as usize].own.0 == transaction.number;
        self.deleted.contains(&operation.row) || !is_own && self.changed.contains(&operation.row)
    }

    /// Whether a list lacks an append that was certainly there, or has one that was not.
    fn judge_elements(
        &mut self,
        operation: &Operation,
        read: Reference,
        snapshot: Span,
        elements: &[Value],
    ) -> bool {
        let key = &self.keys[operation.key as usize];
        let last = elements.last().and_then(|&last| key.versions.iter().find(|one| one.value == last));
        let lacked = key.versions.iter().find(|version| {
            version.is_certain && version.commit.precedes(snapshot) && !elements.contains(&version.value)
        });
        if let Some(lacked) = lacked {
            let shown = last.map(|version| version.write);
            let operations = std::iter::once(read).chain(shown).chain([lacked.write]).collect();
            self.found_read(ReadCase::Stale, operation.key, operations, None);
            return true;
        }
        // What is before all known versions may be that of somebody who appended the same, and is forgotten.
        let is_known = |element: &Value| key.versions.iter().any(|version| version.value == *element);
        let from = if key.is_fresh { Some(0) } else { elements.iter().position(is_known) };
        let recent = from.map_or(&elements[..0], |from| &elements[from..]);
        let undone = key.passing.iter().find(|passing| {
            passing.is_aborted && recent.contains(&passing.value) && !is_known(&passing.value)
        });
        if let Some(undone) = undone {
            let operations = vec![read, undone.write];
            self.found_read(ReadCase::Aborted, operation.key, operations, None);
            return true;
        }
        let reach = elements.len().saturating_sub(2 * key.versions.len() + 1);
        let known = key.appended(&elements[reach..]);
        if let Some(&(early, _)) = known.iter().find(|(_, commit)| commit.invoke > snapshot.complete) {
            self.found_read(ReadCase::Future, operation.key, vec![read, early], None);
            return true;
        }
        for pair in known.windows(2) {
            self.deduce(operation.key, Deduced { before: pair[0].0, after: pair[1].0, read });
        }
        false
    }

    /// Says what a read shows that it should not.
    fn convict(&mut self, operation: &Operation, read: Reference, snapshot: Span, shown: Value) {
        let key = &self.keys[operation.key as usize];
        let written = key.versions.iter().find(|version| version.value == shown);
        let newer = key.hiding(snapshot);
        let gone = key.gone.iter().rev().find(|gone| gone.value == shown).map(|gone| gone.write);
        let passing = key.passing.iter().find(|passing| passing.value == shown);
        let is_first = key.first == First::Known(shown) || operation.is_absent;
        let (case, others): (ReadCase, Vec<Reference>) = match (written, gone, passing) {
            (Some(version), ..) if version.commit.invoke > snapshot.complete => {
                (ReadCase::Future, vec![version.write])
            }
            (Some(version), ..) => (ReadCase::Stale, std::iter::once(version.write).chain(newer).collect()),
            (_, Some(gone), _) => (ReadCase::Stale, std::iter::once(gone).chain(newer).collect()),
            (.., Some(passing)) if passing.is_aborted => (ReadCase::Aborted, vec![passing.write]),
            (.., Some(passing)) => (ReadCase::Intermediate, vec![passing.write]),
            _ if is_first && newer.is_some() => (ReadCase::Stale, newer.into_iter().collect()),
            // Whoever looks for the writer elsewhere wants to know what hides it.
            _ => (ReadCase::ThinAir, newer.into_iter().collect()),
        };
        let operations = std::iter::once(read).chain(others).collect();
        let unknown = (case == ReadCase::ThinAir).then_some(shown);
        self.found_read(case, operation.key, operations, unknown);
    }

    /// A read of what may not be committed: any write that is neither certainly overwritten nor certainly undone.
    fn judge_uncommitted(&mut self, operation: &Operation, read: Reference, whole: &Shown<'_>) {
        let (late, shown) = (self.has_late, whole.value);
        let key = &mut self.keys[operation.key as usize];
        let span = operation.span;
        let hidden_from = |take: Span| {
            key.versions
                .iter()
                .any(|other| other.is_certain && take.precedes(other.take) && other.commit.precedes(span))
        };
        let versions = key.versions.iter().filter(|version| version.value == shown);
        let is_shown = versions
            .into_iter()
            .any(|version| version.take.may_precede(span) && !hidden_from(version.commit));
        let passing = key.passing.iter().filter(|passing| passing.value == shown);
        let is_passing = is_shown
            || passing.into_iter().any(|one| one.seen.may_precede(span) && span.may_precede(one.gone));
        let is_fresh = !key.versions.iter().any(|other| other.is_certain && other.commit.precedes(span));
        let is_first = !is_passing && is_fresh && key.shows_first(whole, operation.is_absent, true);
        if is_passing || is_first {
            self.tally.reads.count(true);
        } else if late && (operation.is_absent || !key.knows(shown)) {
            self.tally.aside += 1;
        } else {
            self.tally.reads.count(false);
            self.convict(operation, read, span, shown);
        }
    }

    /// A read of one version alone narrows the moment of the snapshot.
    fn narrow(&self, certain: Certain, moments: &mut Moments) {
        let key = &self.keys[certain.key as usize];
        let place = match certain.write {
            None => None,
            Some((write, commit)) => {
                if commit.invoke > moments.from.0 {
                    moments.from = (commit.invoke, [Some(certain.read), Some(write)]);
                }
                let Some(place) = key.place_of(write, commit) else { return };
                Some(place)
            }
        };
        let from = certain.write.map_or(0, |(_, commit)| key.from(commit));
        for (other, version) in key.versions.iter().enumerate().skip(from) {
            if version.commit.invoke > moments.to.0 {
                break;
            }
            let is_after = place.is_none_or(|place| {
                other != place
                    && key
                        .order(&key.versions[place], version, self.rules)
                        .is_some_and(|(is_before, _)| is_before)
            });
            if is_after && version.is_certain && version.commit.complete < moments.to.0 {
                moments.to = (version.commit.complete, [Some(certain.read), Some(version.write)]);
            }
        }
    }

    /// One snapshot shows one version of a key, however often it is read.
    fn judge_repeated(&mut self, found: Certain, before: &[Certain]) {
        let version = |one: &Certain| one.write.map(|(write, _)| write);
        let (number, place) = self.keys[found.key as usize].shown;
        if number != found.read.number || version(&before[place as usize]) == version(&found) {
            return;
        }
        let other = &before[place as usize];
        let (earlier, later) = if found.write.is_some() { (other, &found) } else { (&found, other) };
        if let Some(shown) = version(later) {
            self.found_read(ReadCase::Torn, found.key, vec![earlier.read, shown, later.read, shown], None);
        }
    }

    /// Whether there is a moment that all reads of a snapshot can show.
    fn judge_moments(&mut self, moments: &Moments) {
        let ([Some(later), Some(shown)], [Some(earlier), Some(newer)]) = (moments.from.1, moments.to.1)
        else {
            return;
        };
        if moments.from.0 > moments.to.0 {
            let key = self.key_of(later);
            self.found_read(ReadCase::Torn, key, vec![earlier, newer, later, shown], None);
        }
    }

    /// What follows from reads of one version alone: orders of versions, and who missed whose write.
    fn follow(&mut self, slot: u32, certain: &[Certain]) {
        for one in certain {
            if let Some((write, commit)) = one.write {
                self.follow_order(slot, one, write, commit);
            }
            self.follow_missed(one);
        }
    }

    /// All that was certainly there came before what was shown; what its transaction wrote came after it.
    fn follow_order(&mut self, slot: u32, one: &Certain, write: Reference, commit: Span) {
        let (number, snapshot) = (self.transactions.get(slot).number, one.snapshot);
        let key = &self.keys[one.key as usize];
        let Some(shown) = key.place_of(write, commit) else { return };
        let mut orders: Vec<(Reference, Reference)> = Vec::new();
        // Those that are further away are ordered by their intervals.
        for place in key.from(commit)..key.end(commit) {
            let version = &key.versions[place];
            let is_open = |before: &Version, after: &Version| {
                !matches!(key.order(before, after, self.rules), Some((true, _)))
            };
            if version.write.number == number {
                orders.extend(is_open(&key.versions[shown], version).then_some((write, version.write)));
            } else if place != shown && version.is_certain && version.commit.precedes(snapshot) {
                orders.extend(is_open(version, &key.versions[shown]).then_some((version.write, write)));
            }
        }
        for (before, after) in orders {
            self.deduce(one.key, Deduced { before, after, read: one.read });
        }
    }

    /// Two versions are in the order that a read shows, unless something else shows the opposite.
    pub(super) fn deduce(&mut self, number: u32, deduced: Deduced) {
        let key = &mut self.keys[number as usize];
        let find = |one: Reference| key.versions.iter().find(|version| version.write == one);
        let (Some(before), Some(after)) = (find(deduced.before), find(deduced.after)) else { return };
        let other_read = key.deduced(deduced.before, deduced.after);
        match key.order(before, after, self.rules) {
            None => key.deduced.push(deduced),
            Some((true, _)) => {}
            Some((false, source)) => {
                let case = 4 * Source::Reads as u8 + source as u8;
                let mut operations = vec![deduced.before, deduced.after, deduced.read];
                operations.extend(other_read.map(|(_, read)| read).filter(|_| source == Source::Reads));
                self.found(Finding {
                    name: Name::ContradictoryDependencies,
                    case,
                    operations,
                    key: number,
                    shown: None,
                });
            }
        }
    }

    pub(super) fn found_read(
        &mut self,
        case: ReadCase,
        key: u32,
        operations: Vec<Reference>,
        shown: Option<Value>,
    ) {
        let name = Name::InconsistentRead;
        self.found(Finding { name, case: case as u8, operations, key, shown });
    }
}

/// Another operation of the same transaction.
pub(super) fn at(read: Reference, place: u32) -> Reference {
    Reference { place, ..read }
}

/// What a read shows of others.
struct Shown<'s> {
    value: Value,
    elements: Option<&'s [Value]>,
    snapshot: Span,
}

impl Key {
    /// Whether a read may show the initial state; the one value that nobody wrote becomes it.
    fn shows_first(&mut self, shown: &Shown<'_>, is_absent: bool, is_new: bool) -> bool {
        if let Some(elements) = shown.elements {
            return elements.is_empty();
        }
        match self.first {
            // Nobody knows which rows there were.
            _ if is_absent => true,
            First::Known(value) => value == shown.value,
            // What nobody wrote is the initial value.
            First::Open if is_new && !self.knows(shown.value) => {
                self.first = First::Known(shown.value);
                true
            }
            // What somebody wrote is taken for his, unless values of this key repeat; but nothing follows from it.
            First::Open => !is_new || self.repeats(),
        }
    }

    /// Who appended these elements, in their order; nobody knows it of those that are there more than once.
    fn appended(&self, elements: &[Value]) -> Vec<(Reference, Span)> {
        let mut versions: HashMap<Value, Option<&Version>> = HashMap::new();
        for version in &self.versions {
            versions.entry(version.value).and_modify(|one| *one = None).or_insert(Some(version));
        }
        let mut times: HashMap<Value, u32> = HashMap::new();
        for &element in elements {
            *times.entry(element).or_default() += 1;
        }
        let known = elements.iter().filter(|element| times[*element] == 1);
        let known = known.filter_map(|element| versions.get(element).copied().flatten());
        let known = known.filter(|version| self.appends(version.value) == 1);
        known.map(|version| (version.write, version.commit)).collect()
    }

    pub(super) fn is_written(&self, snapshot: Span) -> bool {
        let first = self.versions.front();
        !self.is_fresh || first.is_some_and(|first| first.commit.may_precede(snapshot))
    }

    /// Whether somebody is known to have written a value.
    fn knows(&self, value: Value) -> bool {
        self.versions.iter().any(|version| version.value == value)
            || self.passing.iter().any(|passing| passing.value == value)
            || self.gone.iter().any(|gone| gone.value == value)
    }

    /// How many appends of an element are known that may have stayed.
    fn appends(&self, element: Value) -> usize {
        self.versions.iter().filter(|version| version.value == element).count()
            + self.passing.iter().filter(|passing| !passing.is_aborted && passing.value == element).count()
            + self.gone.iter().filter(|gone| gone.value == element).count()
    }

    /// Whether a value was written more than once, as far as anybody remembers.
    fn repeats(&self) -> bool {
        let mut seen = HashSet::new();
        let versions = self.versions.iter().map(|version| version.value);
        let all = versions
            .chain(self.passing.iter().map(|one| one.value))
            .chain(self.gone.iter().map(|one| one.value));
        !all.into_iter().all(|value| seen.insert(value))
    }

    /// The newest version that was certainly there.
    pub(super) fn hiding(&self, snapshot: Span) -> Option<Reference> {
        let mut there =
            self.versions.iter().filter(|version| version.is_certain && version.commit.precedes(snapshot));
        there.next_back().map(|version| version.write)
    }
}
