//! The loop over records that are EDN, for every format of such records.

use super::{Cursor, Fault};
use crate::error::ParseError;
use crate::formats::{Notation, Rewind};

/// The notation of formats whose batch is an [`EdnBatch`].
#[derive(Debug)]
pub struct Edn;

/// A batch of records, one EDN form after the other.
pub(crate) trait EdnBatch: Rewind {
    /// Takes the next record or bracket; `false` at the end of the text.
    fn next_edn(&mut self, cursor: &mut Cursor) -> Result<bool, Fault>;
}

impl<B: EdnBatch> Notation<B> for Edn {
    fn parse(text: &[u8], first_line: u64, last: bool, batch: &mut B) -> Result<usize, ParseError> {
        let (valid, is_broken) = valid_prefix(text, last);
        let mut cursor = Cursor::of_block(valid, first_line, last && !is_broken);
        loop {
            let (taken, mark) = (cursor.at(), batch.mark());
            let fault = match batch.next_edn(&mut cursor) {
                Ok(true) => continue,
                Err(fault @ Fault::Malformed(_)) => fault,
                Ok(false) | Err(Fault::CutOff) if is_broken => Fault::new(valid.len(), "UTF-8 text"),
                Ok(false) => return Ok(cursor.at()),
                Err(Fault::CutOff) if last => Fault::CutOff,
                Err(Fault::CutOff) => {
                    batch.rewind(mark);
                    return Ok(taken);
                }
            };
            batch.rewind(mark);
            return Err(fault.into_error(text, first_line));
        }
    }
}

/// The text up to the first byte that is not UTF-8, and whether no following byte can mend that one.
fn valid_prefix(text: &[u8], last: bool) -> (&str, bool) {
    match std::str::from_utf8(text) {
        Ok(valid) => (valid, false),
        Err(error) => {
            let valid = std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default();
            (valid, last || error.error_len().is_some())
        }
    }
}
