//! A whole history at once: sessions are clients that are fetched from as the pipeline asks.

use super::engine::{Engine, Refusal, Terms};
use super::found::{Finding, Name, ReadCase, Tally};
use super::intake::Translation;
use super::key::{First, Rules, Version};
use super::profile::Profile;
use crate::cancel::Cancel;
use crate::history::{History, Status, VersionOrder, VersionSource};
use crate::value::Value;
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// More sessions than this are put in order at once.
const MANY: usize = 1024;
/// So many transactions are fetched from a session at a time.
const FETCH: usize = 64;

/// What was found: its name, its case, and the operations that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Shown {
    pub name: Name,
    pub case: u8,
    pub operations: Vec<u32>,
}

/// What the mechanisms say of a history.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Judgement {
    pub tally: Tally,
    pub findings: Vec<Shown>,
}

/// Holds a history against the mechanisms of a profile.
///
/// # Errors
/// If a transaction has no intervals.
pub fn judge(
    history: &History,
    profile: &Profile,
    clock_error: i64,
    most: u64,
    cancel: &Cancel,
) -> Result<Judgement, Refusal> {
    let mut engine = engine(profile, clock_error, most);
    feed(&mut engine, history, cancel)?;
    let operation = |one: &super::key::Reference| history.operation_offsets[one.number as usize] + one.place;
    let mut writers = Writers::of(history, engine.findings(), operation);
    let findings = engine.findings().iter().map(|finding| {
        let mut operations: Vec<u32> = finding.operations.iter().map(operation).collect();
        let case = writers.name(finding, &mut operations);
        Shown { name: finding.name, case, operations }
    });
    let findings = findings.collect();
    Ok(Judgement { tally: engine.tally().clone(), findings })
}

fn engine(profile: &Profile, clock_error: i64, most: u64) -> Engine {
    Engine::new(Terms { profile: profile.clone(), clock_error, most, timeout: u64::MAX })
}

/// Brings all transactions through the pipeline.
fn feed(engine: &mut Engine, history: &History, cancel: &Cancel) -> Result<(), Refusal> {
    engine.admit(history)?;
    let mut known = engine.translate(history);
    know_first(engine, history, &known);
    let mut clients = Clients::of(history);
    for client in 0..clients.queues.len() {
        let begin = clients.next(client).map_or(i64::MAX, |number| begin(history, number));
        let begin = begin.saturating_sub(engine.terms.clock_error);
        engine.pipeline_mut().heartbeat(client as u32, begin);
    }
    while let Some(client) = engine.pipeline_mut().hungry() {
        for _ in 0..FETCH {
            let Some(number) = clients.fetch(client as usize) else {
                engine.pipeline_mut().finish(client);
                break;
            };
            if history.operations_of(number).is_empty() {
                continue;
            }
            let mut transaction = engine.transaction(history, number, &mut known)?;
            transaction.number = number as u64;
            engine.count(&transaction);
            engine.push_traces(transaction, client);
        }
        engine.pump();
        if cancel.is_asked() {
            return Ok(());
        }
    }
    engine.flush();
    Ok(())
}

fn know_first(engine: &mut Engine, history: &History, known: &Translation) {
    for (number, key) in engine.verifier.keys.iter_mut().enumerate() {
        let first = history.initial.of(number as u32);
        if first != Value::UNKNOWN {
            key.first = First::Known(known.of(first));
        }
    }
}

fn begin(history: &History, number: usize) -> i64 {
    let operations = history.operations_of(number);
    let own = operations.filter_map(|operation| history.operations.intervals.get(operation).invoke()).min();
    let whole = history.transactions.intervals.get(number).invoke();
    own.into_iter().chain(whole).min().unwrap_or(i64::MIN)
}

/// Transactions as their clients would say them.
struct Clients {
    queues: Vec<Vec<u32>>,
    at: Vec<usize>,
}

impl Clients {
    /// One for each session, if there are few and each goes forward; else one that says everything in order.
    fn of(history: &History) -> Self {
        let sessions = history.session_offsets.len().saturating_sub(1);
        let begins: Vec<i64> = (0..history.transaction_count()).map(|one| begin(history, one)).collect();
        let mut queues: Vec<Vec<u32>> =
            (0..sessions).map(|session| history.transactions_of(session).to_vec()).collect();
        let goes_forward = |queue: &Vec<u32>| {
            queue.windows(2).all(|pair| end(history, pair[0] as usize) <= begins[pair[1] as usize])
        };
        if sessions > MANY || !queues.iter().all(goes_forward) {
            queues = Self::in_order(history);
        }
        let at = vec![0; queues.len()];
        Self { queues, at }
    }

    /// Clients that each say transactions which do not overlap, as few as there must be.
    fn in_order(history: &History) -> Vec<Vec<u32>> {
        let mut all: Vec<u32> = (0..history.transaction_count() as u32).collect();
        all.sort_by_key(|&one| (begin(history, one as usize), one));
        let mut free: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let mut queues: Vec<Vec<u32>> = Vec::new();
        for number in all {
            let begin = begin(history, number as usize);
            let is_free = free.peek().is_some_and(|&Reverse((until, _))| until <= begin);
            let queue = is_free.then(|| free.pop()).flatten().map_or_else(
                || {
                    queues.push(Vec::new());
                    queues.len() - 1
                },
                |Reverse((_, queue))| queue,
            );
            queues[queue].push(number);
            free.push(Reverse((end(history, number as usize), queue)));
        }
        queues
    }

    fn next(&self, client: usize) -> Option<usize> {
        self.queues[client].get(self.at[client]).map(|&number| number as usize)
    }

    fn fetch(&mut self, client: usize) -> Option<usize> {
        let next = self.next(client);
        self.at[client] += usize::from(next.is_some());
        next
    }
}

/// Where the last operation of a transaction began or, if that is known, was over.
fn end(history: &History, number: usize) -> i64 {
    let columns = &history.operations.intervals;
    let whole = history.transactions.intervals.get(number);
    let operations = || history.operations_of(number);
    let invoked = operations().filter_map(|operation| columns.get(operation).invoke()).max();
    let completed = operations().filter_map(|operation| columns.get(operation).complete()).max();
    invoked.into_iter().chain(completed).chain(whole.complete()).max().unwrap_or(i64::MIN)
}

/// Where the last operation of a transaction began.
fn asked(history: &History, number: usize) -> i64 {
    let operations = history.operations_of(number);
    let invoked = operations.filter_map(|operation| history.operations.intervals.get(operation).invoke());
    invoked.max().unwrap_or(i64::MIN)
}

/// Who wrote what the mirror has forgotten already.
struct Writers {
    of: HashMap<(u32, Value), (u32, ReadCase)>,
    shown: HashMap<u32, (u32, Value)>,
    /// When the transactions of reads were over, and when those of writes asked to commit.
    over: HashMap<u32, i64>,
    asked: HashMap<u32, i64>,
}

impl Writers {
    fn of(
        history: &History,
        findings: &[Finding],
        operation: impl Fn(&super::key::Reference) -> u32,
    ) -> Self {
        let shown: HashMap<u32, (u32, Value)> = findings
            .iter()
            .filter(|finding| is_thin_air(finding))
            .map(|finding| {
                let read = operation(&finding.operations[0]);
                (read, (history.operations.keys[read as usize], shown(history, read as usize)))
            })
            .collect();
        let mut of: HashMap<(u32, Value), (u32, ReadCase)> = HashMap::new();
        if !shown.is_empty() {
            let wanted: HashSet<(u32, Value)> = shown.values().copied().collect();
            for number in 0..history.transaction_count() {
                Self::hear(history, number, &wanted, &mut of);
            }
        }
        let number_of = |operation: u32| {
            history.operation_offsets.partition_point(|&first| first <= operation).saturating_sub(1)
        };
        let over = shown.keys().map(|&read| (read, end(history, number_of(read)))).collect();
        let asked = of.values().map(|&(write, _)| (write, asked(history, number_of(write)))).collect();
        Self { of, shown, over, asked }
    }

    fn hear(
        history: &History,
        number: usize,
        wanted: &HashSet<(u32, Value)>,
        of: &mut HashMap<(u32, Value), (u32, ReadCase)>,
    ) {
        let columns = &history.operations;
        let all = history.operations_of(number);
        for operation in all.clone() {
            let pair = (columns.keys[operation], columns.values[operation]);
            if !columns.kinds[operation].installs() || !wanted.contains(&pair) {
                continue;
            }
            let is_last = !(operation + 1..all.end)
                .any(|later| columns.kinds[later].installs() && columns.keys[later] == pair.0);
            let case = match history.transactions.statuses[number] {
                Status::Committed if is_last => ReadCase::Stale,
                Status::Committed => ReadCase::Intermediate,
                _ => ReadCase::Aborted,
            };
            of.entry(pair).or_insert((operation as u32, case));
        }
    }

    /// The case of a finding, whose operations are completed.
    fn name(&mut self, finding: &Finding, operations: &mut Vec<u32>) -> u8 {
        if !is_thin_air(finding) {
            return finding.case;
        }
        let hiding = operations.get(1).copied();
        operations.truncate(1);
        let found = self.shown.get(&operations[0]).and_then(|shown| self.of.get(shown));
        let Some(&(write, case)) = found else { return finding.case };
        operations.push(write);
        let is_future = self.asked.get(&write) > self.over.get(&operations[0]);
        match (case, hiding) {
            (ReadCase::Stale, _) if is_future => return ReadCase::Future as u8,
            (ReadCase::Stale, Some(hiding)) => operations.push(hiding),
            (ReadCase::Stale, None) => {
                operations.truncate(1);
                return finding.case;
            }
            _ => {}
        }
        case as u8
    }
}

fn is_thin_air(finding: &Finding) -> bool {
    finding.name == Name::InconsistentRead && finding.case == ReadCase::ThinAir as u8
}

/// What a read shows: of a list, its last element.
fn shown(history: &History, read: usize) -> Value {
    let value = history.operations.values[read];
    history.values.as_list(value).map_or(value, |list| list.last().copied().unwrap_or(Value::NIL))
}

/// The history, with the order of versions that the mechanisms show as one that it declares.
///
/// Versions whose place is not certain are left out.
///
/// # Errors
/// If a transaction has no intervals.
pub fn deduced_versions(
    history: &History,
    profile: &Profile,
    clock_error: i64,
    cancel: &Cancel,
) -> Result<History, Refusal> {
    let mut engine = engine(profile, clock_error, 0);
    engine.verifier.told = Some(Vec::new());
    feed(&mut engine, history, cancel)?;
    let rules = engine.verifier.rules;
    let mut versions: Vec<Vec<Version>> = vec![Vec::new(); history.keys.len()];
    for (key, version) in engine.verifier.told.take().unwrap_or_default() {
        versions[key as usize].push(version);
    }
    for (key, left) in engine.verifier.keys.iter_mut().enumerate() {
        versions[key].extend(left.versions.drain(..));
    }
    let mut declared = history.clone();
    declared.versions.retain(|order| order.source != VersionSource::Declared);
    declared.versions.push(in_order(history, versions, rules));
    Ok(declared)
}

fn in_order(history: &History, versions: Vec<Vec<Version>>, rules: Rules) -> VersionOrder {
    let mut order = VersionOrder { source: VersionSource::Declared, offsets: vec![0], versions: Vec::new() };
    for mut all in versions {
        all.sort_by_key(|version| (version.commit.invoke, version.write.number));
        order.versions.extend(chain(&all, rules).iter().map(|version| {
            let operation = history.operation_offsets[version.write.number as usize] + version.write.place;
            history.operations.values[operation as usize]
        }));
        order.offsets.push(order.versions.len() as u32);
    }
    order
}

/// Versions of which each certainly comes after the one before.
fn chain(all: &[Version], rules: Rules) -> Vec<&Version> {
    let mut chain: Vec<&Version> = Vec::new();
    for version in all.iter().filter(|version| version.is_certain) {
        let is_after = |one: &Version, other: &Version| {
            super::key::static_order(one, other, rules).is_some_and(|(is_before, _)| is_before)
        };
        let place = chain.iter().rposition(|one| is_after(one, version)).map_or(0, |place| place + 1);
        if chain[place..].iter().all(|one| is_after(version, one)) {
            chain.insert(place, version);
        }
    }
    chain
}
