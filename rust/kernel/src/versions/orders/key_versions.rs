//! Some keys, one after the other: their versions, and what reads showed of them.

use super::key_order::Arranged;
use super::{Contradiction, Extra, KeyOrder, Question, Source};
use crate::by_key::{Operation, Shape, Write, Writes, gather, shape};
use crate::history::{History, Kind, LeftOut};
use crate::observations::{ABSENT, INITIAL, Sources};
use crate::value::Value;

/// What was found in some keys.
#[derive(Default)]
pub(super) struct Found {
    pub(super) keys: Vec<KeyOrder>,
    pub(super) writers: Vec<u32>,
    pub(super) operations: Vec<u32>,
    pub(super) extras: Vec<Extra>,
    pub(super) contradictions: Vec<Contradiction>,
    pub(super) circles: Vec<(u32, Vec<Extra>)>,
    pub(super) dirty: Vec<(u32, u32, u32)>,
    pub(super) speaking: Vec<Source>,
    pub(super) has_unsure_appends: bool,
    pub(super) unsure_keys: Vec<u32>,
}

/// Looks at one key after the other.
pub(super) struct Share<'q> {
    pub(super) question: &'q Question<'q>,
    pub(super) owners: &'q [u32],
    pub(super) observed: &'q Sources,
    pub(super) writes: Writes,
    pub(super) gathered: Vec<Operation>,
    pub(super) found: Found,
}

/// The versions of one key on the way: (writer, operation), the initial one not among them.
pub(super) type Versions = Vec<(u32, u32)>;

impl<'q> Share<'q> {
    pub(super) fn new(question: &'q Question<'q>, owners: &'q [u32], observed: &'q Sources) -> Self {
        let (writes, gathered, found) = (Writes::default(), Vec::new(), Found::default());
        Self { question, owners, observed, writes, gathered, found }
    }

    pub(super) fn counts(&self, transaction: u32) -> bool {
        self.question.observations.counted[transaction as usize]
    }

    pub(super) fn key(&mut self, key: u32, operations: &[u32]) {
        let mut gathered = std::mem::take(&mut self.gathered);
        gather(self.question.history, self.owners, operations, &mut gathered);
        self.writes.fill(&gathered);
        match shape(&gathered, |transaction| self.counts(transaction)) {
            Shape::List => self.list(key, &gathered),
            Shape::Register => self.register(key, &gathered),
            Shape::Mixed | Shape::Deleted => self.push(&Arranged { chain: 1, ..Arranged::default() }),
        }
        self.gathered = gathered;
    }

    /// Adds a key: the initial version, then `versions` as arranged.
    fn push(&mut self, arranged: &Arranged) {
        let start = self.found.writers.len() as u32;
        self.found.writers.push(INITIAL);
        self.found.operations.push(ABSENT);
        for &(writer, operation) in &arranged.versions {
            self.found.writers.push(writer);
            self.found.operations.push(operation);
        }
        let end = self.found.writers.len() as u32;
        let &Arranged { chain, after, source, .. } = arranged;
        self.found.keys.push(KeyOrder { start, end, chain, after, source });
    }

    fn list(&mut self, key: u32, gathered: &[Operation]) {
        let canonical = self.question.observations.canonical(key);
        let elements = self.canonical_elements(key, canonical.len());
        let installed_by = self.installed_by(elements, gathered);
        let mut versions: Versions = Vec::new();
        let mut known = vec![0u32; elements.len() + 1];
        for (place, (&writer, &operation)) in canonical.iter().zip(&installed_by).enumerate() {
            if writer != ABSENT {
                versions.push((writer, operation));
            }
            known[place + 1] = versions.len() as u32;
        }
        let shown = versions.len() as u32;
        let mut in_chain: Vec<u32> = versions.iter().map(|&(_, operation)| operation).collect();
        in_chain.sort_unstable();
        let appends = gathered.iter().filter(|o| o.kind.installs() && self.counts(o.transaction));
        let (sure, unsure): (Vec<&Operation>, Vec<&Operation>) =
            appends.partition(|append| self.writer(append.value) == Some(append.transaction));
        let unread = sure.into_iter().filter(|append| in_chain.binary_search(&append.number).is_err());
        versions.extend(unread.map(|append| (append.transaction, append.number)));
        self.found.has_unsure_appends |= !unsure.is_empty();
        if !unsure.is_empty() || self.has_unsure_rows(key) {
            self.found.unsure_keys.push(key);
        }
        self.dirty_updates(key, elements, canonical, &installed_by);
        let unread: Vec<u32> = (shown..versions.len() as u32).collect();
        let mut by_reads: Vec<Vec<u32>> = (0..shown).map(|place| vec![place]).collect();
        by_reads.extend((!unread.is_empty()).then_some(unread));
        let arranged = self.arrange(key, versions, (Source::ListRead, by_reads), true);
        for read in gathered.iter().filter(|o| self.shows_a_version(o)) {
            if let Some(length) = self.length_seen(read.number, key) {
                self.observed.set(read.number, arranged.place(known[length as usize]));
            }
        }
        let start = self.found.writers.len() as u32;
        self.push(&arranged);
        self.found.extras.extend(arranged.extras.iter().map(|extra| extra.moved(start)));
    }

    /// The append that each element of the canonical list is; a second one of equal elements is the second
    /// append.
    fn installed_by(&self, elements: &[Value], gathered: &[Operation]) -> Vec<u32> {
        let mut shown: Vec<(Value, u32)> = elements.iter().copied().zip(0..).collect();
        shown.sort_unstable();
        let mut found = vec![ABSENT; elements.len()];
        for operation in gathered.iter().filter(|o| o.kind.installs() && self.counts(o.transaction)) {
            let first = shown.partition_point(|&(value, _)| value < operation.value);
            let same = shown[first..].iter().take_while(|&&(value, _)| value == operation.value);
            let free = same.map(|&(_, place)| place as usize).find(|&place| found[place] == ABSENT);
            if let Some(place) = free {
                found[place] = operation.number;
            }
        }
        found
    }

    fn canonical_elements(&self, key: u32, length: usize) -> &'q [Value] {
        let history = self.question.history;
        let read = self.question.observations.canonical_read(key);
        if length == 0 || read == ABSENT {
            return &[];
        }
        let list = history.values.as_list(history.operations.values[read as usize]).unwrap_or(&[]);
        &list[..length]
    }

    /// How much of the canonical list a read showed, if there is one and the source of the read is known.
    fn length_seen(&self, read: u32, key: u32) -> Option<u32> {
        let observations = self.question.observations;
        match observations.sources[read as usize] {
            INITIAL => Some(0),
            ABSENT => None,
            _ if observations.canonical_read(key) == ABSENT => None,
            _ => observations.prefix(read as usize, key).map(|(_, length)| length),
        }
    }

    /// Committed appends behind those of aborted transactions: one for each writer.
    fn dirty_updates(&mut self, key: u32, elements: &[Value], canonical: &[u32], installed_by: &[u32]) {
        let history = self.question.history;
        let mut aborted = None;
        let mut known = Vec::new();
        for (place, &element) in elements.iter().enumerate() {
            if canonical[place] == ABSENT {
                aborted = aborted.or_else(|| only_aborted(history, self.writes.of(element)));
            } else if let Some(below) = aborted
                && !known.contains(&canonical[place])
            {
                known.push(canonical[place]);
                let read = self.question.observations.canonical_read(key);
                self.found.dirty.push((read, below, installed_by[place]));
            }
        }
    }

    /// The counted transaction that alone wrote `value`.
    pub(super) fn writer(&self, value: Value) -> Option<u32> {
        let writes = self.writes.of(value);
        let first = writes.first()?.transaction;
        let is_sure = self.counts(first) && writes.iter().all(|write| write.transaction == first);
        is_sure.then_some(first)
    }

    fn register(&mut self, key: u32, gathered: &[Operation]) {
        let mut versions: Versions = Vec::new();
        for operation in gathered.iter().filter(|o| o.kind.installs() && self.counts(o.transaction)) {
            match versions.last_mut() {
                Some(last) if last.0 == operation.transaction => last.1 = operation.number,
                _ => versions.push((operation.transaction, operation.number)),
            }
        }
        if self.has_unsure_rows(key) {
            self.found.unsure_keys.push(key);
        }
        let first = self.first_state(&versions);
        let arranged = self.arrange(key, versions, (Source::Initial, first), false);
        self.observe(gathered, &arranged);
        let start = self.found.writers.len() as u32;
        self.push(&arranged);
        let mut taken: Vec<Extra> = arranged.extras.iter().map(|extra| extra.moved(start)).collect();
        if arranged.chain as usize <= arranged.versions.len() || self.question.claims.any() {
            self.infer(key, gathered, &mut taken, start, &arranged);
        }
        self.found.extras.append(&mut taken);
    }

    /// Whether a record shows a value of the key that several transactions, or none, may have written.
    fn has_unsure_rows(&self, key: u32) -> bool {
        let history = self.question.history;
        let initial = history.initial.of(key);
        let is_unsure = |&value: &Value| {
            let writes = self.writes.of(value);
            let is_of_several = writes.windows(2).any(|pair| pair[0].transaction != pair[1].transaction);
            is_of_several || (value == initial && !writes.is_empty())
        };
        history.versions.iter().any(|order| order.of(key).iter().any(is_unsure))
    }

    /// What a first state inserted, and everything else, if there is such a state.
    fn first_state(&self, versions: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let is_first = |&(writer, _): &(u32, u32)| self.question.first.contains(&writer);
        if self.question.first.is_empty() || !versions.iter().any(is_first) {
            return Vec::new();
        }
        let places = (0..versions.len() as u32).partition(|&place| is_first(&versions[place as usize]));
        let (first, others): (Vec<u32>, Vec<u32>) = places;
        [first, others].into_iter().filter(|group| !group.is_empty()).collect()
    }

    /// Whether an operation is a read that counts, and that versions after the one that it shows may follow.
    fn shows_a_version(&self, operation: &Operation) -> bool {
        let left_out = self.question.history.operations.left_out.get(operation.number as usize);
        let is_ignored = self.question.is_of_items && left_out != LeftOut::No;
        operation.kind == Kind::Read && self.counts(operation.transaction) && !is_ignored
    }

    /// Says which version each external read showed, by places from the initial version on.
    fn observe(&self, gathered: &[Operation], arranged: &Arranged) {
        let writers = arranged.versions.iter().map(|&(writer, _)| writer);
        let mut by_writer: Vec<(u32, u32)> = writers.zip(1..).collect();
        by_writer.sort_unstable();
        for read in gathered.iter().filter(|o| self.shows_a_version(o)) {
            match self.question.observations.sources[read.number as usize] {
                ABSENT => {}
                INITIAL => self.observed.set(read.number, 0),
                writer => {
                    if let Ok(found) = by_writer.binary_search_by_key(&writer, |&(writer, _)| writer) {
                        self.observed.set(read.number, by_writer[found].1);
                    }
                }
            }
        }
    }
}

/// The append by an aborted transaction that alone can have made an element.
fn only_aborted(history: &History, writes: &[Write]) -> Option<u32> {
    let [write] = writes else { return None };
    let status = history.transactions.statuses[write.transaction as usize];
    (status == crate::history::Status::Aborted).then_some(write.operation)
}
