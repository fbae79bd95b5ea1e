//! Rows and their versions.

/// The value of a row that is not there.
pub(super) const ABSENT: i64 = i64::MIN;
/// The writer of what was there before everybody.
pub(super) const NOBODY: u32 = u32::MAX;
/// So many versions are kept of a row even if no snapshot needs them, for who reads too old ones.
const SPARE: usize = 4;

/// A value of a row, when it appeared and who wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) from: u64,
    pub(super) writer: u32,
    pub(super) value: i64,
}

/// A write that is not committed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) slot: u32,
    pub(super) version: Version,
}

#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) starts_absent: bool,
    /// How many values were written so far.
    pub(super) written: u32,
    /// The newest timestamp at which it was read, for timestamp ordering.
    pub(super) read_at: u64,
    /// Committed versions, oldest first; the initial one is not among them.
    versions: Vec<Version>,
    pending: Vec<Pending>,
}

impl Row {
    pub(super) fn new(starts_absent: bool) -> Self {
        Self { starts_absent, ..Self::default() }
    }

    fn initial(&self) -> Version {
        Version { from: 0, writer: NOBODY, value: if self.starts_absent { ABSENT } else { 0 } }
    }

    /// The newest committed version.
    pub(super) fn newest(&self) -> Version {
        self.versions.last().copied().unwrap_or_else(|| self.initial())
    }

    /// The newest version that was there at an instant.
    pub(super) fn visible(&self, at: u64) -> Version {
        let seen = self.versions.iter().rev().find(|version| version.from <= at);
        seen.copied().unwrap_or_else(|| self.initial())
    }

    /// The newest write, committed or not, and whether it is not.
    pub(super) fn latest(&self) -> (Version, bool) {
        let newest = self.newest();
        match self.pending.last() {
            Some(pending) if pending.version.from > newest.from => (pending.version, true),
            _ => (newest, false),
        }
    }

    /// The newest write of another transaction that is not committed.
    pub(super) fn pending_of_another(&self, slot: u32) -> Option<Version> {
        self.pending.iter().rev().find(|pending| pending.slot != slot).map(|pending| pending.version)
    }

    pub(super) fn write(&mut self, slot: u32, version: Version) {
        self.undo(slot);
        self.pending.push(Pending { slot, version });
    }

    pub(super) fn undo(&mut self, slot: u32) {
        self.pending.retain(|pending| pending.slot != slot);
    }

    /// A new version; what no snapshot from `horizon` on can see is dropped.
    pub(super) fn install(&mut self, version: Version, horizon: u64) {
        debug_assert!(self.newest().from < version.from, "versions appear in their order");
        if self.versions.len() > 2 * SPARE {
            let needed = self.versions.iter().rposition(|version| version.from <= horizon).unwrap_or(0);
            self.versions.drain(..needed.min(self.versions.len() - SPARE));
        }
        self.versions.push(version);
    }
}
