//! Reads of lists: the elements that other transactions appended, followed by the reader's own.

use super::finding::ReadCase;
use super::key::{Key, Reference, Version};
use super::read_view::ReadView;
use super::transaction::{Operation, Transaction};
use super::verifier::Verifier;
use super::version_order::DeducedOrder;
use crate::value::Value;
use hashbrown::HashMap;

impl Verifier {
    /// The length of a list without the own appends that it must end with, and the operation that found that part: the
    /// first own append, if there is one. An error is the own append that the list lacks.
    pub(super) fn without_own<'t>(
        transaction: &'t Transaction,
        operation: &'t Operation,
        elements: &[Value],
        is_own: bool,
    ) -> Result<(usize, &'t Operation), u32> {
        if !is_own {
            return Ok((elements.len(), operation));
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
        Ok((length, moment))
    }

    /// Whether a list lacks an append that was certainly there, or has one that was not.
    pub(super) fn judge_elements(
        &mut self,
        operation: &Operation,
        read: Reference,
        view: &ReadView<'_>,
        elements: &[Value],
    ) -> bool {
        let key = &self.keys[operation.key as usize];
        let last = elements.last().and_then(|&last| key.versions.iter().find(|one| one.value == last));
        let lacked = key
            .versions
            .iter()
            .find(|version| view.surely_has(version) && !elements.contains(&version.value));
        if let Some(lacked) = lacked {
            let shown = last.map(|version| version.write);
            let operations = std::iter::once(read).chain(shown).chain([lacked.write]).collect();
            self.add_read_finding(ReadCase::Stale, operation.key, operations);
            return true;
        }
        // An element before all known versions may be one of a version that is no longer in memory.
        let is_known = |element: &Value| key.versions.iter().any(|version| version.value == *element);
        let from = if key.is_fresh { Some(0) } else { elements.iter().position(is_known) };
        let recent = from.map_or(&elements[..0], |from| &elements[from..]);
        let undone = key.passing.iter().find(|passing| {
            passing.is_aborted && recent.contains(&passing.value) && !is_known(&passing.value)
        });
        if let Some(undone) = undone {
            let operations = vec![read, undone.write];
            self.add_read_finding(ReadCase::Aborted, operation.key, operations);
            return true;
        }
        let reach = elements.len().saturating_sub(2 * key.versions.len() + 1);
        let known = key.appended(&elements[reach..]);
        if let Some(early) = known.iter().find(|version| !view.may_show(version)) {
            let operations = vec![read, early.write];
            self.add_read_finding(ReadCase::Future, operation.key, operations);
            return true;
        }
        let known: Vec<Reference> = known.iter().map(|version| version.write).collect();
        for pair in known.windows(2) {
            self.add_order(operation.key, DeducedOrder { before: pair[0], after: pair[1], read });
        }
        false
    }
}

impl Key {
    /// The appends of these elements, in their order; elements that occur more than once are left out.
    fn appended(&self, elements: &[Value]) -> Vec<&Version> {
        let mut versions: HashMap<Value, Option<&Version>> = HashMap::new();
        for version in &self.versions {
            versions.entry(version.value).and_modify(|one| *one = None).or_insert(Some(version));
        }
        let mut times: HashMap<Value, u32> = HashMap::new();
        for &element in elements {
            *times.entry(element).or_default() += 1;
        }
        let known = elements.iter().filter(|element| times[*element] == 1);
        let known = known.filter_map(|element| versions.get(element).copied().flatten());
        known.filter(|version| self.appends(version.value) == 1).collect()
    }

    /// How many appends of an element are known that may have stayed.
    fn appends(&self, element: Value) -> usize {
        self.versions.iter().filter(|version| version.value == element).count()
            + self.passing.iter().filter(|passing| !passing.is_aborted && passing.value == element).count()
            + self.gone.iter().filter(|gone| gone.value == element).count()
    }
}
