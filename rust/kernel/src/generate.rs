//! A serial store: transactions run one after the other, so the history satisfies every level.
//!
//! Its purpose is size: valid histories of any length, the same bytes for the same seed everywhere
//! (integer arithmetic only).

use crate::builder::Builder;
use crate::cancel::Cancel;
use crate::error::ParseError;
use crate::history::{History, Kind, Status, Timestamp};
use crate::value::Value;

/// How keys are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// All alike.
    Uniform,
    /// The n-th key with weight 1/n.
    Zipfian,
    /// A fifth of the keys gets four fifths of the operations.
    Hotspot,
}

/// What the keys hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Model {
    Register,
    List,
}

/// Parameters of the workload.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Workload {
    pub seed: u64,
    pub sessions: u32,
    pub transactions: u32,
    /// Operations of a transaction: drawn between these two, both included.
    pub operations: (u32, u32),
    pub keys: u32,
    /// Share of reads and of aborted transactions, in thousandths.
    pub reads: u32,
    pub aborted: u32,
    pub distribution: Distribution,
    pub model: Model,
    /// A key that was written this often is retired and replaced by a new one; 0 is never.
    pub most_writes_per_key: u32,
    pub timestamps: bool,
    /// What registers hold before the first write; a small integer, nil, or unknown (then they hold 0).
    pub initial: Value,
    pub initial_replaceable: bool,
}

/// The history of `workload` on a serial store.
///
/// # Errors
/// If it has more operations than a history can hold.
pub fn serial(workload: &Workload, cancel: &Cancel) -> Result<History, ParseError> {
    let mut store = Store::new(workload);
    for number in (0..workload.transactions).take_while(|_| !cancel.is_asked()) {
        store.transaction(number);
    }
    store.builder.finish()
}

struct Store<'w> {
    workload: &'w Workload,
    builder: Builder,
    random: Random,
    weights: Vec<u64>,
    /// The key that stands at each place now, as a number of the builder.
    active: Vec<u32>,
    next_key: i64,
    state: Vec<Vec<Value>>,
    written: Vec<u32>,
}

impl<'w> Store<'w> {
    fn new(workload: &'w Workload) -> Self {
        let mut store = Self {
            workload,
            builder: Builder::new(),
            random: Random(workload.seed),
            weights: weights(workload),
            active: Vec::new(),
            next_key: 0,
            state: Vec::new(),
            written: Vec::new(),
        };
        store.builder.initial.default = workload.initial;
        store.builder.initial.replaceable = workload.initial_replaceable;
        for _ in 0..workload.keys {
            let key = store.new_key();
            store.active.push(key);
        }
        store
    }

    fn new_key(&mut self) -> u32 {
        let key = self.builder.key(small(self.next_key));
        self.next_key += 1;
        self.written.push(0);
        self.state.push(match self.workload.model {
            Model::Register if self.workload.initial == Value::UNKNOWN => vec![small(0)],
            Model::Register => vec![self.workload.initial],
            Model::List => Vec::new(),
        });
        key
    }

    fn transaction(&mut self, number: u32) {
        let session = small(i64::from(self.random.below(self.workload.sessions)));
        let session = self.builder.session(session);
        let aborted = self.random.below(1000) < self.workload.aborted;
        let status = if aborted { Status::Aborted } else { Status::Committed };
        let id = small(i64::from(number) + 1);
        let transaction = self.builder.transaction(id, session, status, 0).expect("ids are counted");
        let (least, most) = self.workload.operations;
        let mut undo = Vec::new();
        for _ in 0..least + self.random.below(most.saturating_sub(least) + 1) {
            self.operation(transaction, aborted, &mut undo);
        }
        for (key, state) in undo.into_iter().rev() {
            self.state[key as usize] = state;
        }
        if self.workload.timestamps {
            let start = i64::from(number) * 2 + 1;
            self.builder.timestamps(transaction, Timestamp::new(start, 0), Timestamp::new(start + 1, 0));
        }
    }

    fn operation(&mut self, transaction: u32, aborted: bool, undo: &mut Vec<(u32, Vec<Value>)>) {
        let place = self.draw();
        let key = self.active[place];
        let line = self.builder.operation_count() as u32 + 1;
        if self.random.below(1000) < self.workload.reads {
            let state = &self.state[key as usize];
            let value = match self.workload.model {
                Model::Register => state[0],
                Model::List => self.builder.values.push_list(state.iter().copied()),
            };
            self.builder.operation(transaction, Kind::Read, key, value, line);
            return;
        }
        if aborted {
            undo.push((key, self.state[key as usize].clone()));
        }
        self.written[key as usize] += 1;
        let value = small(i64::from(self.written[key as usize]));
        let kind = match self.workload.model {
            Model::Register => {
                self.state[key as usize][0] = value;
                Kind::Write
            }
            Model::List => {
                self.state[key as usize].push(value);
                Kind::Append
            }
        };
        self.builder.operation(transaction, kind, key, value, line);
        if self.written[key as usize] == self.workload.most_writes_per_key {
            self.active[place] = self.new_key();
        }
    }

    fn draw(&mut self) -> usize {
        let keys = self.workload.keys;
        match self.workload.distribution {
            Distribution::Uniform => self.random.below(keys) as usize,
            Distribution::Hotspot => {
                let hot = (keys / 5).max(1);
                let is_hot = self.random.below(5) < 4 || hot == keys;
                (if is_hot { self.random.below(hot) } else { hot + self.random.below(keys - hot) }) as usize
            }
            Distribution::Zipfian => {
                let total = self.weights[self.weights.len() - 1];
                let point = ((u128::from(self.random.next()) * u128::from(total)) >> 64) as u64;
                self.weights.partition_point(|&weight| weight <= point)
            }
        }
    }
}

fn small(number: i64) -> Value {
    Value::small(number).expect("counters are far below 62 bits")
}

/// Running sums of 1/n, scaled.
fn weights(workload: &Workload) -> Vec<u64> {
    if workload.distribution != Distribution::Zipfian {
        return Vec::new();
    }
    let mut total = 0;
    let weights = (1..=u64::from(workload.keys)).map(|rank| {
        total += (1 << 40) / rank;
        total
    });
    weights.collect()
}

/// SplitMix64 (Steele, Lea and Flood 2014): small, fast and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reads::judge;

    fn workload(model: Model, distribution: Distribution) -> Workload {
        Workload {
            seed: 7,
            sessions: 5,
            transactions: 300,
            operations: (1, 8),
            keys: 20,
            reads: 500,
            aborted: 100,
            distribution,
            model,
            most_writes_per_key: 16,
            timestamps: true,
            initial: Value::UNKNOWN,
            initial_replaceable: false,
        }
    }

    #[test]
    fn a_serial_history_shows_no_anomaly() {
        for model in [Model::Register, Model::List] {
            for distribution in [Distribution::Uniform, Distribution::Zipfian, Distribution::Hotspot] {
                let history = serial(&workload(model, distribution), &Cancel::default()).unwrap();
                let (judgement, _) = judge(&history, &Cancel::default());
                assert_eq!(judgement.findings, []);
                assert_eq!(judgement.repeated_reads, 0);
                assert!(history.operation_count() > 300);
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_history() {
        let again = || serial(&workload(Model::List, Distribution::Zipfian), &Cancel::default()).unwrap();
        assert!(crate::equality::same(&again(), &again()));
        let other = Workload { seed: 8, ..workload(Model::List, Distribution::Zipfian) };
        assert!(!crate::equality::same(&again(), &serial(&other, &Cancel::default()).unwrap()));
    }
}
