//! Torn reads: each read of a snapshot can be right, but no instant of the snapshot fits all of them.

use super::consistent_read::CertainRead;
use super::finding::ReadCase;
use super::key::Reference;
use super::profile::Read;
use super::span::Span;
use super::transaction::Transaction;
use super::verifier::Verifier;
use crate::history::Kind;

/// The instants at which the snapshot of a transaction or statement can have been taken, and the operations that narrowed them.
#[derive(Debug, Clone, Copy)]
pub(super) struct SnapshotWindow {
    /// The statement that took the snapshot, if each one has its own.
    statement: Option<u32>,
    /// Not before this; the read, and the version that it shows.
    from: (i64, [Option<Reference>; 2]),
    /// The key of that version.
    key: u32,
    /// Not after this; the read, and the version that it does not show.
    to: (i64, [Option<Reference>; 2]),
}

impl SnapshotWindow {
    fn of(snapshot: Span, statement: Option<u32>) -> Self {
        let (from, to) = ((snapshot.invoke, [None; 2]), (snapshot.complete, [None; 2]));
        Self { statement, from, key: 0, to }
    }
}

impl Verifier {
    /// The window of the snapshot of a transaction. Clocks of several machines have no common instants.
    pub(super) fn window_of(&self, transaction: &Transaction) -> Option<SnapshotWindow> {
        let snapshot = transaction.snapshot.filter(|_| !self.profile.clock_skew);
        snapshot.map(|snapshot| SnapshotWindow::of(snapshot, None))
    }

    /// The window that the operation at `place` narrows, if it shows a snapshot: that of its statement, where each
    /// statement has its own and this one shows several rows.
    pub(super) fn next_window(
        &mut self,
        window: Option<SnapshotWindow>,
        transaction: &Transaction,
        place: usize,
    ) -> Option<SnapshotWindow> {
        let operation = &transaction.operations[place];
        if transaction.snapshot.is_some() || self.profile.clock_skew {
            return window;
        }
        let statement = Some(operation.of_statement);
        if window.is_some_and(|window| window.statement == statement) {
            return window;
        }
        if let Some(window) = window {
            self.judge_window(&window);
        }
        let next = transaction.operations.get(place + 1);
        let has_rows = operation.kind == Kind::RangeRead
            || next.is_some_and(|next| next.of_statement == operation.of_statement);
        (has_rows && operation.read == Read::Consistent)
            .then(|| SnapshotWindow::of(operation.span, statement))
    }

    /// A read that can show only one version narrows the window of the snapshot.
    pub(super) fn narrow(&self, certain: CertainRead, window: &mut SnapshotWindow) {
        let key = &self.keys[certain.key as usize];
        let place = match certain.write {
            None => None,
            Some((write, commit)) => {
                if commit.invoke > window.from.0 {
                    window.from = (commit.invoke, [Some(certain.read), Some(write)]);
                    window.key = certain.key;
                }
                let Some(place) = key.place_of(write, commit) else { return };
                Some(place)
            }
        };
        let from = certain.write.map_or(0, |(_, commit)| key.from(commit));
        for (other, version) in key.versions.iter().enumerate().skip(from) {
            if version.commit.invoke > window.to.0 {
                break;
            }
            let is_after = place.is_none_or(|place| {
                other != place
                    && key
                        .order(&key.versions[place], version, self.rules)
                        .is_some_and(|(is_before, _)| is_before)
            });
            if is_after && version.is_certain && version.commit.complete < window.to.0 {
                window.to = (version.commit.complete, [Some(certain.read), Some(version.write)]);
            }
        }
    }

    /// One snapshot shows one version of a key, however often it is read.
    pub(super) fn judge_repeated(&mut self, found: CertainRead, before: &[CertainRead]) {
        let version = |one: &CertainRead| one.write.map(|(write, _)| write);
        let (number, place) = self.keys[found.key as usize].shown;
        if number != found.read.number || version(&before[place as usize]) == version(&found) {
            return;
        }
        let other = &before[place as usize];
        let (earlier, later) = if found.write.is_some() { (other, &found) } else { (&found, other) };
        if let Some(shown) = version(later) {
            self.add_read_finding(ReadCase::Torn, found.key, vec![earlier.read, shown, later.read, shown]);
        }
    }

    /// Whether there is an instant that fits all reads of the snapshot.
    pub(super) fn judge_window(&mut self, window: &SnapshotWindow) {
        let ([Some(later), Some(shown)], [Some(earlier), Some(newer)]) = (window.from.1, window.to.1) else {
            return;
        };
        if window.from.0 > window.to.0 {
            self.add_read_finding(ReadCase::Torn, window.key, vec![earlier, newer, later, shown]);
        }
    }
}
