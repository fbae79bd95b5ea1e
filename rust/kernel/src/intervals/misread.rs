//! Reads that show no candidate, and reads of uncommitted data.

use super::consistent_read::ObservedValue;
use super::finding::{Case, Finding, ReadCase};
use super::key::{First, Reference};
use super::read_view::ReadView;
use super::span::Span;
use super::transaction::Operation;
use super::verifier::Verifier;
use crate::value::Value;

impl Verifier {
    /// Adds the finding of a read that shows no candidate: the first case that fits.
    pub(super) fn add_misread(
        &mut self,
        operation: &Operation,
        read: Reference,
        view: &ReadView<'_>,
        shown: Value,
    ) {
        let key = &self.keys[operation.key as usize];
        let written = key.versions.iter().find(|version| version.value == shown);
        let newer = key.hiding(view);
        let gone = key.gone.iter().rev().find(|gone| gone.value == shown).map(|gone| gone.write);
        let passing = key.passing.iter().find(|passing| passing.value == shown);
        let is_first = key.first == First::Known(shown) || operation.is_absent;
        let (case, others): (ReadCase, Vec<Reference>) = match (written, gone, passing) {
            (Some(version), ..) if !view.may_show(version) => (ReadCase::Future, vec![version.write]),
            (Some(version), ..) => (ReadCase::Stale, std::iter::once(version.write).chain(newer).collect()),
            (_, Some(gone), _) => (ReadCase::Stale, std::iter::once(gone).chain(newer).collect()),
            (.., Some(passing)) if passing.is_aborted => (ReadCase::Aborted, vec![passing.write]),
            (.., Some(passing)) => (ReadCase::Intermediate, vec![passing.write]),
            _ if is_first && newer.is_some() => (ReadCase::Stale, newer.into_iter().collect()),
            // The version that hides it is needed if the writer is found later in the whole history.
            _ => (ReadCase::ThinAir, newer.into_iter().collect()),
        };
        let operations = std::iter::once(read).chain(others).collect();
        let unexplained = (case == ReadCase::ThinAir).then_some(shown);
        self.add_finding(Finding { case: Case::Read(case), operations, key: operation.key, unexplained });
    }

    /// A read of uncommitted data takes no snapshot. It may show any write that is neither certainly overwritten nor
    /// certainly undone; a version is overwritten if a later one was locked after its commit, and had committed before
    /// the read.
    pub(super) fn judge_uncommitted(
        &mut self,
        operation: &Operation,
        read: Reference,
        whole: &ObservedValue<'_>,
    ) {
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
        let is_first = !is_passing && is_fresh && key.shows_first(whole, operation.is_absent, !late);
        if is_passing || is_first {
            self.tally.reads.count(true);
        } else if late && (operation.is_absent || !key.knows(shown)) {
            self.tally.unjudged_reads += 1;
        } else {
            self.tally.reads.count(false);
            self.add_misread(operation, read, &whole.view, shown);
        }
    }
}
