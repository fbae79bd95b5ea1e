//! What every writer can do, whatever its format.

use crate::history::{History, Kind};
use crate::value::Value;
use std::io;

/// Writes histories in one format.
pub struct Writer {
    /// The name of the format, and of its variant if it has several.
    pub name: &'static str,
    /// Writes everything that the format can hold.
    pub write: fn(&History, &mut dyn io::Write) -> io::Result<()>,
    /// What a file would lose of a history, beyond the features that the format does not have.
    pub unwritable: fn(&History) -> Vec<&'static str>,
    /// Whether a file would have any operation of a history.
    pub leaves_operations: fn(&History) -> bool,
}

/// Whether `operation` read or wrote one value, which is known.
pub(super) fn is_register(history: &History, operation: usize) -> bool {
    let value = history.operations.values[operation];
    matches!(history.operations.kinds[operation], Kind::Read | Kind::Write | Kind::Insert)
        && value.list_index().is_none()
        && value != Value::UNKNOWN
}
