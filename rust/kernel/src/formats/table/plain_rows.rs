//! Rows that are added column by column: nearly all of nearly every history.

use super::{Integers, NULL, Table, Texts};
use crate::history::Kind;
use crate::value::Value;

/// The meaning of a row's kind.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    Operation(Kind),
    Version,
}

/// The columns that suffice for nearly every row of nearly every history.
pub(super) struct PlainRows<'t> {
    pub(super) transactions: &'t [i64],
    pub(super) keys: &'t [i64],
    pub(super) values: &'t [i64],
    pub(super) lengths: Option<&'t [i64]>,
    kinds: &'t [i32],
    entries: &'t [Entry],
    sessions: Option<&'t [i64]>,
    statuses: Option<&'t [i32]>,
}

impl<'t> PlainRows<'t> {
    pub(super) fn of(table: &'t Table, entries: &'t [Entry]) -> Option<Self> {
        let integers = |column: Integers| table.integers[column as usize].as_deref();
        Some(Self {
            transactions: integers(Integers::Transaction)?,
            keys: integers(Integers::Key)?,
            values: integers(Integers::Value)?,
            lengths: integers(Integers::ValueLength),
            kinds: &table.texts[Texts::Kind as usize].as_ref()?.indices,
            entries,
            sessions: integers(Integers::Session),
            statuses: table.texts[Texts::Status as usize].as_ref().map(|text| text.indices.as_slice()),
        })
    }

    /// The kind of a row that can be plain.
    #[inline]
    pub(super) fn kind(&self, row: usize) -> Option<Kind> {
        match self.entries[usize::try_from(self.kinds[row]).ok()?] {
            Entry::Operation(kind @ (Kind::Read | Kind::Write | Kind::Append | Kind::Insert)) => Some(kind),
            _ => None,
        }
    }

    /// Where the rows from `row` on stop to be plain: a key and a value, or the length of a prefix.
    pub(super) fn end(&self, row: usize) -> usize {
        if row == 0 && self.is_plain_throughout() {
            return self.kinds.len();
        }
        let is_plain = |&row: &usize| {
            let length = self.lengths.map_or(NULL, |lengths| lengths[row]);
            let has_value = Value::small(self.values[row]).is_some();
            let kind = self.kind(row);
            Value::small(self.keys[row]).is_some()
                && self.transactions[row] != NULL
                && kind.is_some()
                && if length == NULL { has_value } else { !has_value && kind == Some(Kind::Read) }
        };
        row + (row..self.kinds.len()).take_while(is_plain).count()
    }

    /// Whether every row is plain, asked column by column: most tables are.
    fn is_plain_throughout(&self) -> bool {
        let all_small = |column: &[i64]| column.iter().all(|&number| Value::small(number).is_some());
        let all_kinds = self.entries.iter().all(|entry| match entry {
            Entry::Operation(kind) => matches!(kind, Kind::Read | Kind::Write | Kind::Append | Kind::Insert),
            Entry::Version => false,
        });
        self.lengths.is_none()
            && all_kinds
            && self.kinds.iter().all(|&kind| kind >= 0)
            && all_small(self.transactions)
            && all_small(self.keys)
            && all_small(self.values)
    }

    /// Whether session and status are those of the row before.
    #[inline]
    pub(super) fn goes_on(&self, row: usize) -> bool {
        row > 0
            && self.sessions.is_none_or(|sessions| sessions[row] == sessions[row - 1])
            && self.statuses.is_none_or(|statuses| statuses[row] == statuses[row - 1])
    }
}
