//! Reads of lists: what is wrong with single elements, and with their order.

use super::{INITIAL, Judge, ListOrder, NOTHING, ReadAnomaly};
use crate::by_key::Writers;
use crate::history::History;
use crate::observations::ABSENT;
use crate::value::Value;
use hashbrown::HashMap;

/// One read of a list, and what it saw of others: everything before the own appends.
struct ListRead<'l> {
    read: u32,
    observed: &'l [Value],
}

impl Judge<'_> {
    pub(super) fn list(&mut self, key: u32, operations: &[u32]) {
        let history = self.history;
        // Reads of a key mostly extend each other: what was judged clean once is not judged again.
        let (mut clean, mut distinct): (&[Value], &[Value]) = (&[], &[]);
        let mut reads = Vec::new();
        let mut several = Several::default();
        let mut canonical = ListRead { read: NOTHING, observed: &[] };
        for run in self.runs(operations) {
            several.add(history, self.owners[run[0] as usize], run);
            let mut first: Option<(u32, &[Value])> = None;
            let mut differs = false;
            for (place, &read) in run.iter().enumerate() {
                let value = history.operations.values[read as usize];
                let Some(list) = history.values.as_list(value) else { continue };
                let repeats = self.repeats_an_element(read, list, &mut distinct);
                let Some(observed) = self.own_list_read(run, place, list) else { continue };
                if !repeats && (canonical.read == NOTHING || observed.len() > canonical.observed.len()) {
                    canonical = ListRead { read, observed };
                }
                reads.push((ListRead { read, observed }, repeats));
                if self.elements(run, place, observed, clean, true) && observed.len() > clean.len() {
                    clean = observed;
                }
                let &mut (other, seen) = first.get_or_insert((read, observed));
                if seen != observed && !differs {
                    differs = true;
                    self.find(ReadAnomaly::NonRepeatableRead, read, other, value);
                }
            }
        }
        self.order(key, &canonical, &reads, &several);
    }

    /// Whether a list shows an element more often than it was appended; `distinct` is one that does not.
    fn repeats_an_element<'l>(&mut self, read: u32, list: &'l [Value], distinct: &mut &'l [Value]) -> bool {
        if common_prefix(distinct, list) == list.len() {
            return false;
        }
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        let repeated = sorted.chunk_by(|a, b| a == b).find(|same| {
            let appends = if same.len() > 1 { self.writes.of(same[0]).len() } else { 0 };
            appends > 0 && same.len() > appends
        });
        let Some(&element) = repeated.and_then(<[Value]>::first) else {
            if list.len() > distinct.len() {
                *distinct = list;
            }
            return false;
        };
        let append = self.writes.of(element)[0].operation;
        self.find(ReadAnomaly::DuplicateElements, read, append, element);
        true
    }

    /// Holds every read against the canonical one, and traces the elements to their writers.
    fn order(
        &mut self,
        key: u32,
        canonical: &ListRead<'_>,
        reads: &[(ListRead<'_>, bool)],
        several: &Several,
    ) {
        let unread = self.unread(canonical.observed);
        let mut order = ListOrder { key, read: canonical.read, unread, ..ListOrder::default() };
        let length = canonical.observed.len();
        order.writers = self.writers_of(canonical.observed);
        for &(ListRead { read, observed }, repeats) in reads {
            let reader = self.owners[read as usize];
            let common = common_prefix(canonical.observed, observed);
            let others = (common < observed.len()).then(|| self.writers_of(observed));
            let writers = others.as_deref().unwrap_or(&order.writers[..common]);
            let torn = several.torn(self, reader, observed, writers);
            if let Some((append, element)) = torn.filter(|_| !repeats) {
                self.find(ReadAnomaly::IncompatibleOrder, read, append, element);
            } else if others.is_some() && !repeats {
                self.find(ReadAnomaly::IncompatibleOrder, read, canonical.read, observed[common]);
            }
            if others.is_some() && !repeats && observed.len() == length {
                order.read = ABSENT;
            }
            let source = writers.last().copied().unwrap_or(INITIAL);
            if source != reader {
                self.sources.set(read, source);
            }
            match others {
                Some(writers) => order.others.push((read, writers)),
                None => order.prefixes.push((read, common as u32)),
            }
        }
        self.share.lists.push(order);
    }

    fn writers_of(&self, elements: &[Value]) -> Vec<u32> {
        elements.iter().map(|&element| self.writer(element)).collect()
    }

    /// The counted transaction that alone can have appended `element`.
    fn writer(&self, element: Value) -> u32 {
        let writers = Writers::of(self.history, self.writes.of(element), NOTHING, NOTHING);
        match writers.only() {
            Some(write) if self.counted[write.transaction as usize] => write.transaction,
            _ => ABSENT,
        }
    }

    /// Counted transactions with an append that the canonical list does not show.
    fn unread(&self, canonical: &[Value]) -> Vec<u32> {
        let mut shown = canonical.to_vec();
        shown.sort_unstable();
        let missing = self.writes.by_value().filter(|same| shown.binary_search(&same[0].value).is_err());
        let mut unread: Vec<u32> = missing
            .flatten()
            .map(|write| write.transaction)
            .filter(|&transaction| self.counted[transaction as usize])
            .collect();
        unread.sort_unstable();
        unread.dedup();
        unread
    }

    /// What a list read saw of others: everything before the own appends; `None` if those are wrong.
    fn own_list_read<'l>(&mut self, run: &[u32], place: usize, list: &'l [Value]) -> Option<&'l [Value]> {
        let (history, read) = (self.history, run[place]);
        let appends = |operation: &&u32| history.operations.kinds[**operation as usize].installs();
        let own: Vec<u32> = run[..place].iter().filter(appends).copied().collect();
        let values: Vec<Value> =
            own.iter().map(|&append| history.operations.values[append as usize]).collect();
        if list.ends_with(&values) {
            return Some(&list[..list.len() - values.len()]);
        }
        let last = values[values.len() - 1];
        let shows_earlier = !list.contains(&last) && values.iter().any(|value| list.contains(value));
        let name = if shows_earlier { ReadAnomaly::NotMyLastWrite } else { ReadAnomaly::NotMyOwnWrite };
        self.find(name, read, own[own.len() - 1], last);
        self.elements(run, place, list, &[], false);
        None
    }

    /// Judges the elements that a read saw; whether all of them are surely someone's committed append.
    fn elements(&mut self, run: &[u32], place: usize, list: &[Value], clean: &[Value], whole: bool) -> bool {
        let read = run[place];
        let reader = self.owners[read as usize];
        // What another reader may see is not clean for the transaction that appends it.
        let known = self.first_own(run, &list[..common_prefix(clean, list)]);
        let mut worst = Worst::default();
        for (index, &element) in list.iter().enumerate().skip(known) {
            let writers = Writers::of(self.history, self.writes.of(element), reader, read);
            let is_last = whole && index + 1 == list.len();
            let cut_off = is_last && self.is_cut_off(list, &writers);
            worst.element(element, &writers, is_last, cut_off, self.own_earlier(element, read));
        }
        if let Some(&element) = list.last().filter(|_| whole && known == list.len()) {
            // The list may end where another read of it went on: between two appends of one writer.
            let writers = Writers::of(self.history, self.writes.of(element), reader, read);
            let cut_off = self.is_cut_off(list, &writers);
            worst.element(element, &writers, true, cut_off, false);
        }
        self.repeated += u64::from(worst.repeated);
        for (name, other, element) in worst.found {
            self.doubt(element, self.writes.of(element).len());
            self.find(name, read, other, element);
        }
        worst.clean
    }

    /// Whether the list ends between two appends of the same value by one transaction.
    fn is_cut_off(&self, list: &[Value], writers: &Writers) -> bool {
        let Some(write) = writers.only() else { return false };
        let appends = self.writes.of(write.value).len();
        appends > 1 && list.iter().filter(|&&element| element == write.value).count() < appends
    }

    /// Where `list` first shows something that the reader appends, before or after it reads.
    fn first_own(&self, run: &[u32], list: &[Value]) -> usize {
        let appends = run.iter().filter(|&&own| self.history.operations.kinds[own as usize].installs());
        let own: Vec<Value> = appends.map(|&own| self.history.operations.values[own as usize]).collect();
        if own.is_empty() {
            return list.len();
        }
        list.iter().position(|element| own.contains(element)).unwrap_or(list.len())
    }

    /// Whether the reader itself appended the element before it read.
    fn own_earlier(&self, element: Value, read: u32) -> bool {
        let reader = self.owners[read as usize];
        self.writes.of(element).iter().any(|write| write.transaction == reader && write.operation < read)
    }
}

/// Transactions with several appends to one list, each with its appends in program order.
#[derive(Default)]
struct Several(HashMap<u32, Vec<(u32, Value)>>);

impl Several {
    fn add(&mut self, history: &History, transaction: u32, run: &[u32]) {
        let appends =
            run.iter().filter(|&&operation| history.operations.kinds[operation as usize].installs());
        let appends: Vec<(u32, Value)> =
            appends.map(|&append| (append, history.operations.values[append as usize])).collect();
        if appends.len() > 1 {
            self.0.insert(transaction, appends);
        }
    }

    /// An append that a list should show before, or instead of, the element that it shows: a list shows the
    /// appends of a transaction from the first on, in order.
    fn torn(
        &self,
        judge: &Judge<'_>,
        reader: u32,
        elements: &[Value],
        writers: &[u32],
    ) -> Option<(u32, Value)> {
        if self.0.is_empty() {
            return None;
        }
        let mut shown: HashMap<u32, usize> = HashMap::new();
        for (&element, &writer) in elements.iter().zip(writers).filter(|&(_, &writer)| writer != reader) {
            let Some(appends) = self.0.get(&writer) else { continue };
            let place = shown.entry(writer).or_default();
            // An element that another transaction may have appended is no evidence.
            let mut sure = appends[*place..].iter().filter(|(_, value)| judge.writer(*value) == writer);
            let &(append, expected) = sure.next()?;
            if expected != element {
                return Some((append, element));
            }
            *place += appends[*place..].iter().position(|&(operation, _)| operation == append)? + 1;
        }
        None
    }
}

/// How many elements two lists start with in common; lists that share their elements need no look.
fn common_prefix(left: &[Value], right: &[Value]) -> usize {
    if std::ptr::eq(left.as_ptr(), right.as_ptr()) {
        return left.len().min(right.len());
    }
    left.iter().zip(right).take_while(|(a, b)| a == b).count()
}

/// What a list read shows, each name at most once.
struct Worst {
    found: Vec<(ReadAnomaly, u32, Value)>,
    repeated: bool,
    clean: bool,
}

impl Default for Worst {
    fn default() -> Self {
        Self { found: Vec::new(), repeated: false, clean: true }
    }
}

impl Worst {
    fn note(&mut self, name: ReadAnomaly, other: u32, element: Value) {
        self.clean = false;
        if self.found.iter().all(|&(known, ..)| known != name) {
            self.found.push((name, other, element));
        }
    }

    fn element(&mut self, element: Value, writers: &Writers, is_last: bool, cut_off: bool, own: bool) {
        let intermediate = writers.intermediate.or(writers.good.filter(|_| cut_off));
        // A list that goes on behind a non-final append shows the version that came after it.
        let fine = (writers.good.is_some() && !cut_off) || own || (intermediate.is_some() && !is_last);
        let committed = writers.good.is_some() || writers.intermediate.is_some();
        let surely_committed = writers.count == 1 && committed && !own;
        let was_clean = self.clean;
        if fine {
            self.repeated |= writers.count + usize::from(own) > 1;
        } else if let Some(later) = writers.later {
            self.note(ReadAnomaly::FutureRead, later.operation, element);
        } else if let Some(write) = intermediate {
            self.note(ReadAnomaly::IntermediateRead, write.operation, element);
        } else if let Some(write) = writers.aborted {
            self.note(ReadAnomaly::AbortedRead, write.operation, element);
        } else {
            self.note(ReadAnomaly::ThinAirRead, NOTHING, element);
        }
        self.clean = was_clean && surely_committed;
    }
}
