//! When the events of a transaction can have happened: its snapshot, its end, and the release of its locks.

use super::profile::{Certifier, Lock, Profile, Read, Snapshot};
use super::span::Span;
use super::transaction::{Bounds, Operation};
use crate::history::{Kind, Status};
use crate::value::Value;

/// A transaction while its operations are translated.
#[derive(Default)]
pub(super) struct Draft {
    pub operations: Vec<Operation>,
    pub lists: Vec<Box<[Value]>>,
    pub bounds: Vec<Bounds>,
    /// The line of its end.
    pub end_line: u32,
}

/// When a transaction began, ended and released its locks, and how many operations certainly got theirs.
pub(super) struct Times {
    pub first: Span,
    pub end: Span,
    pub release: Span,
    pub sure: u32,
}

impl Draft {
    pub fn list(&mut self, elements: Box<[Value]>) -> Value {
        self.lists.push(elements);
        Value::list_at((self.lists.len() - 1) as u64)
    }

    pub fn times(&self, status: Status, outer: Option<i64>, error: i64) -> Option<Times> {
        let first = self.operations.first()?.span;
        let last = self.operations.last()?;
        let marker =
            |kind: Kind| self.operations.iter().rev().find(|one| one.kind == kind).map(|one| one.span);
        let (commit, abort) = (marker(Kind::Commit), marker(Kind::Abort));
        // Without a commit of its own it committed inside its last operation, or soon after it.
        let implied = Span { invoke: last.span.invoke, complete: outer.unwrap_or(last.span.complete) };
        let (sure, released) = self.last_sure(error);
        let times = |end: Span, release: Span, sure: u32| Times { first, end, release, sure };
        Some(match status {
            Status::Committed => {
                let end = commit.unwrap_or(implied);
                times(end, end, self.operations.len() as u32)
            }
            Status::Aborted => {
                let end = abort.or(commit).unwrap_or(implied);
                times(end, Span { invoke: released, complete: end.complete }, sure)
            }
            Status::Indeterminate => {
                // A connection that breaks before the commit arrives takes the locks with it.
                let last_answer = self.operations.iter().rev().find(|one| one.is_statement());
                let answered = last_answer.map_or(released, |one| not_before(one.span, error));
                let from = if commit.is_some() { answered } else { released };
                let release = Span { invoke: from, complete: Span::NEVER };
                // A client that was lost may have asked to commit without recording it.
                let end = Span { invoke: commit.unwrap_or(last.span).invoke, complete: Span::NEVER };
                let all = self.operations.len() as u32;
                times(end, release, if commit.is_some() { all } else { sure })
            }
        })
    }

    /// How many operations certainly got their locks if the last statement may have failed, and the earliest time at
    /// which the last of them was over.
    fn last_sure(&self, error: i64) -> (u32, i64) {
        let statements = || self.operations.iter().enumerate().filter(|(_, one)| one.is_statement());
        let Some((_, last)) = statements().next_back() else { return (0, i64::MIN) };
        let before = statements().rev().find(|(_, one)| one.span != last.span);
        before.map_or((0, i64::MIN), |(place, one)| (place as u32 + 1, not_before(one.span, error)))
    }

    /// The snapshot of the transaction, and the place of the operation that took it.
    pub fn snapshot(&self, profile: &Profile, first: Span, end: Span) -> (Option<Span>, Option<u32>) {
        let is_consistent = |one: &&Operation| {
            matches!(one.kind, Kind::Read | Kind::RangeRead) && one.read == Read::Consistent
        };
        let by = |one: Option<&Operation>| (one.map(|one| one.span), one.map(|one| one.place));
        match profile.snapshot {
            Snapshot::Statement => (None, None),
            Snapshot::FirstRead => by(self.operations.iter().find(is_consistent)),
            Snapshot::FirstStatement => by(self.operations.iter().find(|one| one.is_statement())),
            Snapshot::Begin if self.operations[0].kind == Kind::Begin => by(self.operations.first()),
            Snapshot::Start => {
                let takes = |one: &&Operation| one.is_statement() && !waits_in_client(one, profile);
                let answered = self.operations.iter().find(takes).map_or(end, |one| one.span);
                (Some(first.to(answered)), None)
            }
            // The instant is not known.
            Snapshot::Begin | Snapshot::Transaction => (Some(first.to(end)), None),
        }
    }
}

/// Whether a write may reach the database with the commit alone: it locks nothing, and only reads are certified.
fn waits_in_client(operation: &Operation, profile: &Profile) -> bool {
    let is_certified = profile.certifier == Certifier::OptimisticReads;
    is_certified && operation.kind.installs() && operation.lock == Lock::None
}

/// The earliest time at which an operation was over, of a span that was widened.
fn not_before(span: Span, error: i64) -> i64 {
    span.complete.saturating_sub(error.saturating_mul(2))
}
