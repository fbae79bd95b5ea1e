//! CHRONOS and AION histories: JSON objects, one a transaction, with the database's own timestamps.
//!
//! ```json
//! {"tid": 67, "sid": 19, "sts": {"p": 1691420095436341, "l": 61}, "cts": {"p": 1691420095659914, "l": 18},
//!  "ops": [{"t": "w", "k": 7, "v": 2}, {"t": "r", "k": 8, "v": 3}]}
//! ```
//!
//! The file is one array of such objects, or the objects alone (JSON lines); whitespace and commas
//! separate them. Fields may come in any order and unknown ones are skipped.
//!
//! - `tid`: integer or string, unique. `sid`: integer or string; without it the transaction is a session
//!   of its own. `sno`: place in the session, an integer; without it the order of the file counts.
//! - `sts`, `cts`: start and commit, `{"p": physical, "l": logical}` with `l` 0 if absent, or an integer
//!   alone; each number also as a string of digits. May be absent. A start after its commit is a finding
//!   of the checker, not an error of the file.
//! - `t`: `w`/`write`, `r`/`read` or `a`/`append`, in any case. `k`: any scalar. `v`: any scalar; an array
//!   of scalars for the read of a list; null or absent for a read that found nothing.
//! - `status`: `committed` (the default), `aborted` or `indeterminate`. The original format has only
//!   committed transactions; the field is ours, so that no history loses transactions when it is written.
//!
//! Initial values are unknown: nothing in the file tells them.

mod record;
mod write;

pub use record::Batch;
pub use write::{LINES_WRITER, WRITER};

use super::json::{self, Enclosure};
use super::{Records, Slices};
use crate::builder::Builder;
use crate::error::ParseError;
use crate::history::History;
use crate::value::{Translation, Value};
use record::Transaction;

const EXAMPLE: &str = "a transaction such as `{\"tid\":1,\"sid\":1,\"ops\":[{\"t\":\"w\",\"k\":1,\"v\":1}]}`";

/// The history so far.
#[derive(Default)]
pub struct Aion {
    builder: Builder,
    enclosure: Enclosure,
}

impl Records for Aion {
    type Batch = Batch;

    fn merge(&mut self, batch: &mut Batch) -> Result<(), ParseError> {
        self.enclosure.add(&mut batch.marks, EXAMPLE)?;
        let translation = self.builder.values.absorb(&batch.values);
        let mut from = 0;
        for transaction in batch.transactions.drain(..) {
            let number = self.transaction(&transaction, &translation)?;
            for operation in &batch.operations[from..transaction.end] {
                let key = self.builder.key(translation.of(operation.key));
                let value = self.builder.result(key, operation.value, &translation);
                self.builder.operation(number, operation.kind, key, value, operation.line);
            }
            from = transaction.end;
        }
        batch.operations.clear();
        batch.values.clear();
        Ok(())
    }

    fn end_of_file(&mut self, line: u64) -> Result<(), ParseError> {
        self.enclosure.end_of_file(line)
    }

    fn into_history(self) -> Result<History, ParseError> {
        self.builder.finish()
    }

    fn slices(&mut self) -> Option<&mut dyn Slices> {
        Some(self)
    }
}

impl Slices for Aion {
    fn drain(&mut self) -> Result<Option<History>, ParseError> {
        if self.builder.transaction_count() == 0 {
            return Ok(None);
        }
        std::mem::take(&mut self.builder).finish().map(Some)
    }
}

impl Aion {
    fn transaction(&mut self, read: &Transaction, translation: &Translation<'_>) -> Result<u32, ParseError> {
        let id = translation.of(read.id);
        if let Some(earlier) = self.builder.find(id) {
            return Err(self.repeated(id, earlier, read.line));
        }
        let session = match read.session {
            Some(name) => self.builder.session(translation.of(name)),
            None => self.builder.nameless_session(),
        };
        let number = self.builder.transaction(id, session, read.status, read.line).expect("the id is new");
        self.builder.timestamps(number, read.start, read.commit);
        if let Some(place) = read.sequence.number() {
            self.builder.sequence(number, place);
        }
        Ok(number)
    }

    fn repeated(&self, id: Value, earlier: u32, line: u32) -> ParseError {
        let mut name = Vec::new();
        json::write_value(&self.builder.values, id, &mut name);
        let name = String::from_utf8_lossy(&name);
        let found = format!("{name}, the transaction of line {}", self.builder.line_of(earlier));
        ParseError::on_line(u64::from(line), "a `tid` of its own for each transaction", &found)
            .hint("does the input hold the same history twice?")
    }
}

#[cfg(test)]
mod tests;
