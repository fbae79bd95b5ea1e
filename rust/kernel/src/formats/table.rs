//! Histories as tables: one row an operation, columns of integers and of texts from a dictionary.
//!
//! `docs/reference/formats/parquet.md` documents the columns; `isoscope.formats.parquet` stores them. A
//! scalar is an integer in its plain column, or EDN text in the column with the suffix `_edn`. A row
//! without a kind is a transaction without operations; a row of kind `version` is the next version of
//! its key according to the source named in `statement`.

mod plain_rows;
mod read;
mod write;

pub use read::TableReader;
pub use write::{Longest, edn_text, export, export_versions, used_columns};

use crate::error::ParseError;
use crate::named_enum::named_enum;

/// Stands for null in columns of integers; 62 bits are kept there, larger ones are EDN.
pub const NULL: i64 = i64::MIN;
/// Stands for null in the indices of columns of texts.
pub const NO_TEXT: i32 = -1;

named_enum! {
    /// Columns of integers.
    pub enum Integers {
        Transaction => "transaction",
        Session => "session",
        Key => "key",
        Value => "value",
        Sequence => "sequence",
        StartPhysical => "start_physical",
        StartLogical => "start_logical",
        CommitPhysical => "commit_physical",
        CommitLogical => "commit_logical",
        Invoke => "invoke",
        Complete => "complete",
        InvokePosition => "invoke_position",
        CompletePosition => "complete_position",
        OperationInvoke => "operation_invoke",
        OperationComplete => "operation_complete",
        ValueLength => "value_length",
    }
}

named_enum! {
    /// Columns of texts.
    pub enum Texts {
        TransactionEdn => "transaction_edn",
        SessionEdn => "session_edn",
        Status => "status",
        Kind => "kind",
        KeyEdn => "key_edn",
        ValueEdn => "value_edn",
        Table => "table",
        ColumnsEdn => "columns_edn",
        Statement => "statement",
        LowEdn => "low_edn",
        HighEdn => "high_edn",
        RowsEdn => "rows_edn",
        TombstonesEdn => "tombstones_edn",
        LockMode => "lock_mode",
        ReadMode => "read_mode",
        Predicate => "predicate",
    }
}

/// The kind of rows that are versions.
const VERSION: &str = "version";

/// A column of texts: each row the index of its text, or [`NO_TEXT`].
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Text {
    pub indices: Vec<i32>,
    pub dictionary: Vec<String>,
}

/// A column of lists of integers: row `r` is `elements[offsets[r]..offsets[r + 1]]` if `present[r]`.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Lists {
    pub offsets: Vec<i64>,
    pub elements: Vec<i64>,
    pub present: Vec<u8>,
}

/// Some rows; a column that is `None` is null in all of them.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Table {
    pub rows: usize,
    pub integers: [Option<Vec<i64>>; Integers::COUNT],
    pub texts: [Option<Text>; Texts::COUNT],
    pub lists: Option<Lists>,
    pub tombstone: Option<Vec<u8>>,
}

impl Table {
    #[inline]
    fn integer(&self, column: Integers, row: usize) -> Option<i64> {
        self.integers[column as usize].as_ref().map(|column| column[row]).filter(|&value| value != NULL)
    }

    #[inline]
    fn index(&self, column: Texts, row: usize) -> Option<usize> {
        let index = self.texts[column as usize].as_ref()?.indices[row];
        usize::try_from(index).ok()
    }

    fn text(&self, column: Texts, row: usize) -> Option<&str> {
        let index = self.index(column, row)?;
        self.texts[column as usize].as_ref().map(|column| column.dictionary[index].as_str())
    }

    /// Whether rows can tell more of an operation than its kind, key and value.
    fn has_details(&self) -> bool {
        let integers = [Integers::OperationInvoke, Integers::OperationComplete];
        let texts = [
            Texts::Table,
            Texts::ColumnsEdn,
            Texts::Statement,
            Texts::LockMode,
            Texts::ReadMode,
            Texts::Predicate,
        ];
        integers.iter().any(|&column| self.integers[column as usize].is_some())
            || texts.iter().any(|&column| self.texts[column as usize].is_some())
            || self.tombstone.is_some()
    }

    /// Whether every column has as many rows as the table says and indices stay inside dictionaries.
    fn check(&self) -> Result<(), ParseError> {
        let texts = self.texts.iter().flatten();
        let whole = self.integers.iter().flatten().all(|column| column.len() == self.rows)
            && texts.clone().all(|column| column.indices.len() == self.rows)
            && self.tombstone.as_ref().is_none_or(|column| column.len() == self.rows)
            && self.lists.as_ref().is_none_or(|lists| {
                lists.present.len() == self.rows
                    && lists.offsets.len() == self.rows + 1
                    && lists.offsets.is_sorted()
                    && lists.offsets[0] >= 0
                    && lists.offsets[self.rows] as usize <= lists.elements.len()
            });
        let inside = texts
            .clone()
            .all(|column| column.indices.iter().all(|&index| index < column.dictionary.len() as i32));
        if whole && inside {
            return Ok(());
        }
        Err(ParseError::on_line(0, "columns of equal length", "a table that contradicts itself"))
    }
}
