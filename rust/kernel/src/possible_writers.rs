//! Reads of registers whose value several transactions may have written: which ones, if some indeterminate
//! transactions took effect.
//!
//! `docs/explanation/semantics.md` is the specification: "Explanations" and "Possible writers".

use crate::by_key::{ByKey, Operation, Shape, Write, Writes, gather, shape};
use crate::history::{History, Kind, Status};
use crate::observations::{ABSENT, INITIAL, Observations};
use crate::value::Value;
use hashbrown::HashMap;

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

/// What reads showed if certain indeterminate transactions took effect.
#[derive(Debug)]
pub struct Explained {
    /// Reads with one possible writer have it as their source.
    pub observations: Observations,
    /// Reads with several.
    pub open: Vec<OpenRead>,
}

/// What may be explained in several ways.
pub struct Ambiguity<'h> {
    history: &'h History,
    observations: &'h Observations,
    owners: Vec<u32>,
    by_key: ByKey,
    /// Keys of reads that were set aside, and those that `effects` read.
    keys: Vec<u32>,
    /// Indeterminate transactions that are left out and may have served one of the reads.
    effects: Vec<u32>,
    /// Whether those are all.
    has_all_effects: bool,
}

/// What follows if some indeterminate transactions took effect.
pub enum Consequence {
    /// The reads are explained.
    Explained(Box<Explained>),
    /// One of them has a read that is wrong.
    WrongRead,
    /// A read has no possible writer: others took effect.
    NoWriter,
}

impl<'h> Ambiguity<'h> {
    /// `repeated_keys` are those of all reads that were set aside.
    #[must_use]
    pub fn new(history: &'h History, observations: &'h Observations, repeated_keys: &[u32]) -> Self {
        let owners = history.transaction_of_operation();
        let (by_key, keys) = (ByKey::new(history), repeated_keys.to_vec());
        let (effects, has_all_effects) = (Vec::new(), true);
        let mut all = Self { history, observations, owners, by_key, keys, effects, has_all_effects };
        if history.transactions.statuses.contains(&Status::Indeterminate) {
            all.find_effects();
        }
        all
    }

    /// Indeterminate transactions that are left out and may have served one of the reads; whether those are all.
    #[must_use]
    pub fn effects(&self) -> (&[u32], bool) {
        (&self.effects, self.has_all_effects)
    }

    fn counts(&self, transaction: u32, effects: &[u32]) -> bool {
        self.observations.counted[transaction as usize] || effects.contains(&transaction)
    }

    /// Whether each of these keys is a register whose initial value is known.
    #[must_use]
    pub fn is_of_registers(&self) -> bool {
        self.keys.iter().all(|&key| self.is_register(key))
    }

    fn is_register(&self, key: u32) -> bool {
        let is_known = self.history.initial.of(key) != Value::UNKNOWN;
        is_known && shape(&self.gathered(key), |_| true) == Shape::Register
    }

    fn gathered(&self, key: u32) -> Vec<Operation> {
        let mut gathered = Vec::new();
        gather(self.history, &self.owners, self.by_key.of(key as usize), &mut gathered);
        gathered
    }

    /// A transaction that takes effect has reads of its own, which others may have served.
    fn find_effects(&mut self) {
        loop {
            let mut found = Vec::new();
            for &key in &self.keys {
                let (gathered, writes) = self.of_key(key);
                for read in self.external_reads(&gathered, &self.effects) {
                    let writers = self.good(&writes, read).map(|write| write.transaction);
                    found.extend(writers.filter(|&writer| !self.counts(writer, &self.effects)));
                }
            }
            found.sort_unstable();
            found.dedup();
            let (plain, others): (Vec<u32>, Vec<u32>) =
                found.into_iter().partition(|&one| self.is_plain(one));
            self.has_all_effects &= others.is_empty();
            if plain.is_empty() {
                return;
            }
            let read = plain.iter().flat_map(|&one| self.history.operations_of(one as usize));
            let read = read.filter(|&operation| self.history.operations.kinds[operation] == Kind::Read);
            let keys: Vec<u32> = read.map(|operation| self.history.operations.keys[operation]).collect();
            self.keys.extend(keys);
            self.keys.sort_unstable();
            self.keys.dedup();
            self.effects.extend(plain);
        }
    }

    /// Whether the transaction only reads and writes registers, and reads its own writes where it has any.
    fn is_plain(&self, transaction: u32) -> bool {
        let operations = &self.history.operations;
        let mut written: HashMap<u32, Value> = HashMap::new();
        self.history.operations_of(transaction as usize).all(|operation| {
            let (key, value) = (operations.keys[operation], operations.values[operation]);
            match operations.kinds[operation] {
                Kind::Append | Kind::Delete | Kind::RangeRead => false,
                Kind::Read if value == Value::UNKNOWN => true,
                Kind::Read => written.get(&key).is_none_or(|&own| own == value) && self.is_register(key),
                kind if kind.installs() => {
                    written.insert(key, value);
                    self.is_register(key)
                }
                _ => true,
            }
        })
    }

    fn of_key(&self, key: u32) -> (Vec<Operation>, Writes) {
        let gathered = self.gathered(key);
        let mut writes = Writes::default();
        writes.fill(&gathered);
        (gathered, writes)
    }

    /// Reads of transactions that count, of what they have not written themselves before.
    fn external_reads<'o>(
        &self,
        gathered: &'o [Operation],
        effects: &[u32],
    ) -> impl Iterator<Item = &'o Operation> {
        let runs = gathered.chunk_by(|a, b| a.transaction == b.transaction);
        let counted = runs.filter(|run| self.counts(run[0].transaction, effects));
        let external = counted.flat_map(|run| run.iter().take_while(|operation| !operation.kind.installs()));
        external.filter(|operation| operation.kind == Kind::Read && operation.value != Value::UNKNOWN)
    }

    /// Last writes of the value by other transactions that did not abort.
    fn good<'w>(&self, writes: &'w Writes, read: &Operation) -> impl Iterator<Item = &'w Write> {
        let (reader, statuses) = (read.transaction, &self.history.transactions.statuses);
        writes.of(read.value).iter().filter(move |write| {
            let is_aborted = statuses[write.transaction as usize] == Status::Aborted;
            write.is_final && write.transaction != reader && !is_aborted
        })
    }

    /// What reads showed if just these indeterminate transactions took effect beside those that count.
    #[must_use]
    pub fn explained(&self, effects: &[u32]) -> Consequence {
        let mut observations = self.observations.clone();
        for &transaction in effects {
            observations.counted[transaction as usize] = true;
        }
        let mut open = Vec::new();
        for &key in &self.keys {
            let (gathered, writes) = self.of_key(key);
            let initial = self.initial(key, &writes, effects);
            for read in self.external_reads(&gathered, effects) {
                if observations.sources[read.number as usize] != ABSENT {
                    continue;
                }
                let is_initial = initial == Some(read.value);
                let good: Vec<u32> = self.good(&writes, read).map(|write| write.transaction).collect();
                match good.is_empty() && !is_initial {
                    true if effects.contains(&read.transaction) => return Consequence::WrongRead,
                    // It is wrong, whatever took effect.
                    true => continue,
                    false => {}
                }
                let counted = good.into_iter().filter(|&writer| self.counts(writer, effects));
                let writers: Vec<u32> = is_initial.then_some(INITIAL).into_iter().chain(counted).collect();
                match writers[..] {
                    [] => return Consequence::NoWriter,
                    [only] => observations.sources[read.number as usize] = only,
                    _ => {
                        let transaction = read.transaction;
                        open.push(OpenRead { read: read.number, transaction, key, writers });
                    }
                }
            }
        }
        open.sort_by_key(|open| (open.key, open.read));
        Consequence::Explained(Box::new(Explained { observations, open }))
    }

    /// The initial value of a key, unless a write took its place.
    fn initial(&self, key: u32, writes: &Writes, effects: &[u32]) -> Option<Value> {
        let initial = &self.history.initial;
        let value = initial.of(key);
        let is_written = || writes.of(value).iter().any(|write| self.counts(write.transaction, effects));
        (!(initial.replaceable && is_written())).then_some(value)
    }
}
