//! Reads of what their own transaction wrote.

use super::found::ReadCase;
use super::key::Reference;
use super::reading::at;
use super::span::Span;
use super::transaction::{Operation, Transaction};
use super::verifier::Verifier;
use crate::value::Value;

impl Verifier {
    /// A read of a row that its own transaction changed.
    pub(super) fn judge_own(
        &mut self,
        transaction: &Transaction,
        operation: &Operation,
        read: Reference,
        own: u32,
    ) {
        self.tally.reads.count(false);
        let write = &transaction.operations[own as usize];
        if write.value != operation.value {
            let write = at(read, write.place);
            self.found_read(ReadCase::Own, operation.key, vec![read, write], None);
        }
    }

    /// How long a list is without the own appends that it must end with, and the moment of that part: that of the
    /// first append, if there is one. Else the append that it lacks.
    pub(super) fn without_own(
        transaction: &Transaction,
        operation: &Operation,
        elements: &[Value],
        is_own: bool,
    ) -> Result<(usize, Span), u32> {
        if !is_own {
            return Ok((elements.len(), transaction.snapshot_of(operation)));
        }
        let mut length = elements.len();
        let before = transaction.operations.iter().take_while(|one| one.place < operation.place);
        let own: Vec<&Operation> =
            before.filter(|one| one.kind.installs() && one.key == operation.key).collect();
        for append in own.iter().rev() {
            if length == 0 || elements[length - 1] != append.value {
                return Err(append.place);
            }
            length -= 1;
        }
        let moment = own.first().map_or(operation, |first| *first);
        Ok((length, transaction.snapshot_of(moment)))
    }
}
