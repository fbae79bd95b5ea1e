//! What a history may stand for where values repeat and the end of transactions is not known.
//!
//! `docs/explanation/semantics.md` is the specification: "Explanations" and what follows it. An explanation is
//! told as a history of its own, in which every write of an ambiguous key has a name instead of a value.

mod effects_search;
mod enumeration;
mod list_options;
mod register_options;
mod row_options;
mod shown_effects;
mod told_history;

use crate::by_key::{ByKey, Operation, Shape, Writes, gather, shape};
use crate::history::{History, Kind, LeftOut, Status, VersionOrder, VersionSource};
use crate::observations::{ABSENT, INITIAL};
use crate::predicates::{Predicates, born_keys};
use crate::value::Value;
pub use enumeration::{Enumeration, MAX_EFFECTS, Visit, Worth};
use hashbrown::HashMap;
pub use told_history::Told;

/// A read of a register that several transactions may have served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRead {
    /// The read.
    pub read: u32,
    /// Its transaction.
    pub transaction: u32,
    /// Its key.
    pub key: u32,
    /// Transactions that may have served it, or [`INITIAL`].
    pub writers: Vec<u32>,
}

/// A read of a register and the writes that it may show: operations, [`INITIAL`], or [`ABSENT`] for none.
#[derive(Debug)]
pub struct RegisterRead {
    read: u32,
    transaction: u32,
    key: u32,
    options: Vec<u32>,
    /// Whether no explanation excuses it.
    is_wrong: bool,
    /// Whether its transaction wrote the key before it.
    is_own: bool,
}

/// Writes that the elements of a list, or the rows of a recorded order, show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    List { read: u32, writes: Vec<u32> },
    Rows { order: usize, key: u32, writes: Vec<u32> },
}

/// The sites that show values of ambiguous keys, each with its options.
#[derive(Debug, Default)]
pub struct Sites {
    reads: Vec<RegisterRead>,
    /// Keys that a predicate left out though every state of them matches.
    has_misses: bool,
    /// The lists of a key, or the recorded order of a key.
    others: Vec<Vec<Vec<Shown>>>,
}

/// Why there are no sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Something is shown that no transaction can have written: others took effect.
    NoWriter,
    /// There are too many options.
    TooMany,
}

/// Writes that some reads show: no others are possible.
type Restrictions = HashMap<u32, Vec<u32>>;

/// What took effect, and what ambiguous registers held before the first write.
#[derive(Debug, Clone)]
pub struct Premise {
    /// Transactions that took effect, and those of which that is undecided.
    pub counted: Vec<bool>,
    /// Transactions that took effect: their reads are asked.
    pub effective: Vec<bool>,
    /// By ambiguous key; nothing if the initial value equals no value.
    initial: Vec<Option<Value>>,
    restrictions: Restrictions,
}

impl Premise {
    /// Transactions of which it is undecided whether they took effect.
    #[must_use]
    pub fn undecided(&self) -> Vec<u32> {
        let is_undecided = |&one: &u32| self.counted[one as usize] && !self.effective[one as usize];
        (0..self.counted.len() as u32).filter(is_undecided).collect()
    }

    /// Whether all is decided, so that it speaks of one explanation.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.counted == self.effective
    }
}

/// One key's operations.
struct KeyOperations {
    key: u32,
    gathered: Vec<Operation>,
    writes: Writes,
    shape: Shape,
}

/// What may be explained in several ways.
pub struct Ambiguity<'h> {
    history: &'h History,
    counted: &'h [bool],
    owners: Vec<u32>,
    by_key: ByKey,
    /// Keys with values that several transactions may have written, and those that `effects` touch.
    keys: Vec<u32>,
    /// Indeterminate transactions that are left out and may have written what was seen.
    effects: Vec<u32>,
    /// Others like them, which break nothing if they took effect.
    harmless: Vec<u32>,
    predicates: Predicates,
    /// Keys that a first transaction inserts.
    born: Vec<bool>,
    /// Whether a first row that may be the initial state may be a write as well.
    tells_first_rows: bool,
}

impl<'h> Ambiguity<'h> {
    /// `keys` have reads, appends or recorded rows of values that several transactions may have written.
    #[must_use]
    pub fn new(history: &'h History, counted: &'h [bool], keys: Vec<u32>) -> Self {
        let (owners, by_key) = (history.transaction_of_operation(), ByKey::new(history));
        let (effects, harmless) = (Vec::new(), Vec::new());
        let (predicates, born) = (Predicates::of(history), born_keys(history));
        let tells_first_rows = false;
        let mut all = Self {
            history,
            counted,
            owners,
            by_key,
            keys,
            effects,
            harmless,
            predicates,
            born,
            tells_first_rows,
        };
        all.keys.sort_unstable();
        all.keys.dedup();
        if history.transactions.statuses.contains(&Status::Indeterminate) {
            all.find_effects();
            (all.harmless, all.effects) =
                all.effects.iter().partition(|&&transaction| all.is_harmless(transaction));
        }
        all
    }

    /// Whether first rows that may be the initial state are writes in some explanations, from now on; nothing changes if
    /// there are none. As the initial state such a row says less, which is all that matters where sources agree.
    pub fn tell_first_rows(&mut self) -> bool {
        let initial = &self.history.initial;
        let may_be_initial = |order: &VersionOrder, key: u32| {
            let first = order.of(key).first();
            first.is_some_and(|&first| [first, Value::UNKNOWN].contains(&initial.of(key)))
        };
        let orders = &self.history.versions;
        self.tells_first_rows =
            self.keys.iter().any(|&key| orders.iter().any(|order| may_be_initial(order, key)));
        self.tells_first_rows
    }

    /// Whether a transaction that took effect may have done so after all others: it saw nothing, nothing comes after
    /// it in its session, and nothing recorded says when it wrote.
    fn is_harmless(&self, transaction: u32) -> bool {
        let (history, at) = (self.history, transaction as usize);
        let is_recorded = !history.versions.is_empty() || !history.transactions.commits.is_empty();
        let is_timed = !history.transactions.positions.is_empty()
            || !history.transactions.intervals.is_empty()
            || !history.operations.intervals.is_empty();
        let session = history.transactions_of(history.transactions.sessions[at] as usize);
        let is_blind = |operation: usize| match history.operations.kinds[operation] {
            Kind::Read => {
                history.operations.values[operation] == Value::UNKNOWN
                    && history.operations.left_out.get(operation) != LeftOut::Unmatched
            }
            Kind::Append => false,
            kind if kind.installs() => self.is_plain_register(history.operations.keys[operation]),
            _ => true,
        };
        let is_last = session.last() == Some(&transaction);
        !is_recorded && !is_timed && is_last && history.operations_of(at).all(is_blind)
    }

    /// Whether a key is a register, whichever transactions took effect, and holds a known value at first.
    fn is_plain_register(&self, key: u32) -> bool {
        let every = vec![true; self.counted.len()];
        let initial = &self.history.initial;
        let is_known = !initial.replaceable && initial.of(key) != Value::UNKNOWN;
        is_known && self.of_key(key, &every).shape == Shape::Register
    }

    /// Indeterminate transactions that are left out and may have written what was seen.
    #[must_use]
    pub fn effects(&self) -> &[u32] {
        &self.effects
    }

    /// What counts if all indeterminate transactions took effect that may have written what was seen.
    #[must_use]
    pub fn counted_if_seen(&self) -> Vec<bool> {
        self.counted_with(&self.effects)
    }

    /// Whether all operations are of kinds that have explanations: a range read that is not itemised may show any key.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        !self.history.operations.kinds.contains(&Kind::RangeRead)
    }

    /// A transaction that takes effect has reads of its own, which others may have served.
    fn find_effects(&mut self) {
        loop {
            let counted = self.counted_with(&self.effects);
            let mut found: Vec<u32> =
                self.keys.iter().flat_map(|&key| self.possible_writers(key, &counted)).collect();
            found.retain(|&writer| {
                let is_doubtful =
                    self.history.transactions.statuses[writer as usize] == Status::Indeterminate;
                is_doubtful && !counted[writer as usize]
            });
            found.sort_unstable();
            found.dedup();
            if found.is_empty() {
                return;
            }
            let touched = found.iter().flat_map(|&one| self.history.operations_of(one as usize));
            let keys: Vec<u32> = touched.map(|operation| self.history.operations.keys[operation]).collect();
            self.keys.extend(keys.into_iter().filter(|&key| key != crate::history::NO_KEY));
            self.keys.sort_unstable();
            self.keys.dedup();
            self.effects.extend(found);
        }
    }

    /// Transactions that wrote a value which was read, or which a log shows.
    fn possible_writers(&self, key: u32, counted: &[bool]) -> Vec<u32> {
        let of_key = self.of_key(key, counted);
        let mut found = Vec::new();
        let reads = of_key.gathered.iter().filter(|operation| operation.kind == Kind::Read);
        for read in reads.filter(|read| counted[read.transaction as usize]) {
            if read.is_unmatched {
                let writers = self.predicates.unmatched(self.history, read, &of_key.writes);
                found.extend(writers.iter().map(|write| write.transaction));
                continue;
            }
            let mut add = |value: Value| {
                found.extend(of_key.writes.of(value).iter().map(|write| write.transaction));
            };
            match self.history.values.as_list(read.value) {
                Some(elements) => elements.iter().copied().for_each(&mut add),
                None => add(read.value),
            }
        }
        for order in self.history.versions.iter().filter(|order| order.source == VersionSource::Log) {
            let rows = order.of(key).iter().flat_map(|&value| of_key.writes.of(value));
            found.extend(rows.map(|write| write.transaction));
        }
        found
    }

    fn counted_with(&self, effects: &[u32]) -> Vec<bool> {
        let mut counted = self.counted.to_vec();
        for &transaction in effects.iter().chain(&self.harmless) {
            counted[transaction as usize] = true;
        }
        counted
    }

    fn of_key(&self, key: u32, counted: &[bool]) -> KeyOperations {
        let mut gathered = Vec::new();
        gather(self.history, &self.owners, self.by_key.of(key as usize), &mut gathered);
        let mut writes = Writes::default();
        writes.fill(&gathered);
        let shape = shape(&gathered, |transaction| counted[transaction as usize]);
        KeyOperations { key, gathered, writes, shape }
    }

    fn is_aborted(&self, transaction: u32) -> bool {
        self.history.transactions.statuses[transaction as usize] == Status::Aborted
    }

    /// If just these indeterminate transactions took effect beside those that count, and it is undecided of others: all
    /// combinations of initial values, but no more than `most`.
    fn premises(
        &self,
        effects: &[u32],
        undecided: &[u32],
        restrictions: &Restrictions,
        most: usize,
    ) -> Option<Vec<Premise>> {
        let effective = self.counted_with(effects);
        let counted = self.counted_with(&[effects, undecided].concat());
        let mut combinations: Vec<Vec<Option<Value>>> = vec![Vec::new()];
        for &key in &self.keys {
            let values = self.initial_values(&self.of_key(key, &counted), &counted);
            if combinations.len().saturating_mul(values.len()) > most {
                return None;
            }
            let longer = combinations
                .iter()
                .flat_map(|known| values.iter().map(move |&value| [known.as_slice(), &[value]].concat()));
            combinations = longer.collect();
        }
        let premise = |initial| {
            let (counted, effective) = (counted.clone(), effective.clone());
            Premise { counted, effective, initial, restrictions: restrictions.clone() }
        };
        Some(combinations.into_iter().map(premise).collect())
    }

    /// The options of every site that shows values of ambiguous keys, but no more than `most` of one site.
    ///
    /// # Errors
    ///
    /// A site has none, or too many.
    pub fn sites(&self, premise: &Premise, most: usize) -> Result<Sites, Refusal> {
        let mut sites = Sites::default();
        for (&key, &initial) in self.keys.iter().zip(&premise.initial) {
            let of_key = self.of_key(key, &premise.counted);
            match of_key.shape {
                Shape::Register => self.register_reads(&of_key, premise, initial, &mut sites)?,
                Shape::List => sites.others.extend(self.lists(&of_key, premise, most)?),
                Shape::Mixed | Shape::Deleted => continue,
            }
            self.recorded_rows(&of_key, premise, initial, most, &mut sites.others)?;
        }
        Ok(sites)
    }
}

impl Sites {
    /// How many options each site has that has several; reads of registers only if `with_reads`.
    #[must_use]
    pub fn sizes(&self, with_reads: bool) -> Vec<usize> {
        let reads = self.reads.iter().map(|read| read.options.len()).filter(|_| with_reads);
        self.others.iter().map(Vec::len).chain(reads).filter(|&size| size > 1).collect()
    }

    /// Whether a read of a register has several options.
    #[must_use]
    pub fn has_open_reads(&self) -> bool {
        self.reads.iter().any(|read| read.options.len() > 1)
    }
}

/// The transaction of a write, or [`INITIAL`].
fn writer_of(write: u32, owners: &[u32]) -> u32 {
    if write == INITIAL || write == ABSENT { write } else { owners[write as usize] }
}
