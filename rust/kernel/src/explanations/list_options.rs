//! Reads of a list whose elements several transactions may have appended: which appends they show together.

use super::{Ambiguity, KeyOperations, Premise, Refusal, Shown};
use crate::by_key::{Operation, Write};
use crate::history::Kind;
use crate::observations::ABSENT;
use crate::value::Value;
use hashbrown::HashMap;

/// No element: where all lists begin.
const ROOT: u32 = u32::MAX;

/// The element that lists which begin alike show at one place.
struct Element {
    value: Value,
    before: u32,
    /// Transactions whose lists show it.
    readers: Vec<u32>,
    /// Whether a list ends here.
    is_last: bool,
}

/// A read, the last element that it shows of others, and the appends of its own transaction behind that.
struct ListRead {
    read: u32,
    last: u32,
    own: Vec<u32>,
}

/// The lists of a key, those that begin alike joined. An element stands behind the one before it. A list that does not end
/// with the appends of its own transaction stands apart, and may show those anywhere.
#[derive(Default)]
struct Lists {
    elements: Vec<Element>,
    reads: Vec<ListRead>,
}

impl Ambiguity<'_> {
    /// Every way to say which append each element is, but no more than `most`: of the lists that are joined, and of each
    /// that stands apart.
    pub(super) fn lists(
        &self,
        of_key: &KeyOperations,
        premise: &Premise,
        most: usize,
    ) -> Result<Vec<Vec<Vec<Shown>>>, Refusal> {
        let all = self.joined(of_key, premise);
        all.iter().map(|lists| self.list_options(lists, of_key, premise, most)).collect()
    }

    fn list_options(
        &self,
        lists: &Lists,
        of_key: &KeyOperations,
        premise: &Premise,
        most: usize,
    ) -> Result<Vec<Vec<Shown>>, Refusal> {
        let mut chosen: Vec<Vec<u32>> = vec![Vec::new()];
        for place in 0..lists.elements.len() {
            let mut longer = Vec::new();
            for known in &chosen {
                let options = self.appends(lists, place as u32, known, of_key, premise);
                longer.extend(options.into_iter().map(|append| [known.as_slice(), &[append]].concat()));
                if longer.len() > most {
                    return Err(Refusal::TooMany);
                }
            }
            chosen = longer;
        }
        if chosen.is_empty() {
            return Err(Refusal::NoWriter);
        }
        Ok(chosen.iter().map(|appends| lists.shown(appends)).collect())
    }

    /// The lists that begin alike, and then those that stand apart.
    fn joined(&self, of_key: &KeyOperations, premise: &Premise) -> Vec<Lists> {
        let (mut lists, mut apart) = (Lists::default(), Vec::new());
        let mut known: HashMap<(u32, Value), u32> = HashMap::new();
        let runs = of_key.gathered.chunk_by(|a, b| a.transaction == b.transaction);
        for run in runs.filter(|run| premise.counted[run[0].transaction as usize]) {
            let mut own: Vec<&Operation> = Vec::new();
            for operation in run {
                if operation.kind.installs() {
                    own.push(operation);
                }
                let list = self.history.values.as_list(operation.value);
                let Some(list) = list.filter(|_| operation.kind == Kind::Read) else { continue };
                let values: Vec<Value> = own.iter().map(|append| append.value).collect();
                let Some(foreign) = list.strip_suffix(values.as_slice()) else {
                    apart.push(Lists::apart(operation.number, list));
                    continue;
                };
                let last = lists.add(foreign, Some(operation.transaction), &mut known);
                let own = own.iter().map(|append| append.number).collect();
                lists.reads.push(ListRead { read: operation.number, last, own });
            }
        }
        apart.insert(0, lists);
        apart
    }

    /// The appends that an element may be, given those before it.
    fn appends(
        &self,
        lists: &Lists,
        place: u32,
        known: &[u32],
        of_key: &KeyOperations,
        premise: &Premise,
    ) -> Vec<u32> {
        let element = &lists.elements[place as usize];
        let used: Vec<u32> = lists.before(place).map(|before| known[before as usize]).collect();
        let by_transaction = of_key.writes.of(element.value).chunk_by(|a, b| a.transaction == b.transaction);
        let every: Vec<&[Write]> = by_transaction.collect();
        let unused: Vec<&Write> = every
            .iter()
            .filter_map(|same| {
                let mut free = same.iter().filter(|write| !used.contains(&write.operation));
                // Of the reader's own appends the later ones are shown too early; the others stand at the end.
                let is_own = element.readers.contains(&same[0].transaction);
                if is_own { free.next_back() } else { free.next() }
            })
            .collect();
        let is_possible = |write: &&&Write| {
            !self.is_aborted(write.transaction) && !element.readers.contains(&write.transaction)
        };
        let possible: Vec<&Write> = unused.iter().filter(is_possible).copied().collect();
        let counts = |write: &&Write| premise.counted[write.transaction as usize];
        if !possible.is_empty() {
            let ends: Vec<&Write> =
                possible.iter().copied().filter(|write| element.is_last && write.is_final).collect();
            let taken = if ends.is_empty() { possible } else { ends };
            return taken.into_iter().filter(counts).map(|write| write.operation).collect();
        }
        if every.is_empty() {
            return vec![ABSENT];
        }
        let shown =
            if unused.is_empty() { every.iter().map(|same| &same[same.len() - 1]).collect() } else { unused };
        let seen = shown.into_iter().filter(|write| counts(write) || self.is_aborted(write.transaction));
        seen.map(|write| write.operation).collect()
    }
}

impl Lists {
    fn apart(read: u32, list: &[Value]) -> Self {
        let mut lists = Self::default();
        let last = lists.add(list, None, &mut HashMap::new());
        lists.reads.push(ListRead { read, last, own: Vec::new() });
        lists
    }

    /// Adds what a read saw; the place of the last element. It saw nothing of the `reader`, if there is one.
    fn add(&mut self, list: &[Value], reader: Option<u32>, known: &mut HashMap<(u32, Value), u32>) -> u32 {
        let mut last = ROOT;
        for &value in list {
            last = *known.entry((last, value)).or_insert_with(|| {
                let (before, readers, is_last) = (last, Vec::new(), false);
                self.elements.push(Element { value, before, readers, is_last });
                self.elements.len() as u32 - 1
            });
            let readers = &mut self.elements[last as usize].readers;
            readers.extend(reader.filter(|reader| readers.last() != Some(reader)));
        }
        if let Some(element) = self.elements.get_mut(last as usize) {
            element.is_last |= reader.is_some();
        }
        last
    }

    /// The places before one, the nearest first.
    fn before(&self, place: u32) -> impl Iterator<Item = u32> {
        let next = |&place: &u32| Some(self.elements[place as usize].before).filter(|&before| before != ROOT);
        std::iter::successors(Some(place), next).skip(1)
    }

    fn shown(&self, appends: &[u32]) -> Vec<Shown> {
        let shown = self.reads.iter().map(|&ListRead { read, last, ref own }| {
            let last = Some(last).filter(|&last| last != ROOT);
            let places = last.into_iter().flat_map(|last| std::iter::once(last).chain(self.before(last)));
            let mut writes: Vec<u32> = places.map(|place| appends[place as usize]).collect();
            writes.reverse();
            writes.extend(own);
            Shown::List { read, writes }
        });
        shown.collect()
    }
}
