//! Judges a whole history at once: sessions are clients that the pipeline fetches from.

use super::deduced_versions::with_deduced_versions;
use super::dropped_writers::DroppedWriters;
use super::engine::{Engine, RejectedTransaction, Terms};
use super::finding::{Finding, ShownFinding, SnapshotUsed};
use super::finding_log::snapshot_used;
use super::key::{First, Reference};
use super::names::Translation;
use super::profile::Profile;
use super::tally::Tally;
use super::transaction::Transaction;
use crate::cancel::Cancel;
use crate::history::History;
use crate::value::Value;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// More sessions than this are merged into fewer clients.
const MANY: usize = 1024;
/// How many transactions are fetched from a session at a time.
const FETCH: usize = 64;

/// What is asked of a history.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Question<'p> {
    pub profile: &'p Profile,
    pub clock_error: i64,
    /// How many findings of each mechanism are shown.
    pub max_anomalies: u64,
    /// Whether the order of versions is asked for, too.
    pub orders_versions: bool,
}

/// The answer: counts, the first findings of each mechanism, and the history with the order of versions that is
/// certain, if that was asked for.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Judgement {
    pub tally: Tally,
    pub findings: Vec<ShownFinding>,
    pub ordered: Option<History>,
}

/// Judges a history by the mechanisms of a profile.
///
/// # Errors
/// If a transaction has no intervals.
pub fn judge(
    history: &History,
    question: &Question<'_>,
    cancel: &Cancel,
) -> Result<Judgement, RejectedTransaction> {
    let &Question { profile, clock_error, max_anomalies, orders_versions } = question;
    let terms = Terms { profile: profile.clone(), clock_error, max_anomalies, timeout: u64::MAX };
    let mut engine = Engine::new(terms);
    engine.verifier.dropped_versions = orders_versions.then(Vec::new);
    let mut known = feed(&mut engine, history, cancel)?;
    let findings = shown(&mut engine, history, &mut known)?;
    let ordered = orders_versions.then(|| with_deduced_versions(&mut engine, history));
    Ok(Judgement { tally: engine.tally().clone(), findings, ordered })
}

/// The findings with operations of the history, and the snapshot of each.
fn shown(
    engine: &mut Engine,
    history: &History,
    known: &mut Translation,
) -> Result<Vec<ShownFinding>, RejectedTransaction> {
    let operation = |one: &Reference| history.operation_offsets[one.number as usize] + one.place;
    let findings: Vec<Finding> = engine.findings().to_vec();
    let writers = DroppedWriters::of(history, &findings, operation);
    let mut transactions: HashMap<usize, Transaction> = HashMap::new();
    let mut all = Vec::new();
    for finding in findings {
        let operations = finding.operations.iter().map(operation).collect();
        let (case, operations) = writers.explain(&finding, operations);
        let mut snapshots: Vec<SnapshotUsed> = Vec::new();
        for &operation in &operations {
            let number = transaction_of(history, operation);
            let transaction = match transactions.entry(number) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(engine.transaction(history, number, known)?),
            };
            let first = history.operation_offsets[number];
            let (place, span) = transaction.snapshot_used(operation - first);
            snapshots.push(snapshot_used(first + place, span, engine.terms.clock_error));
        }
        all.push(ShownFinding { case, operations, snapshots });
    }
    Ok(all)
}

/// The number of the transaction of an operation.
pub(super) fn transaction_of(history: &History, operation: u32) -> usize {
    history.operation_offsets.partition_point(|&first| first <= operation).saturating_sub(1)
}

/// Brings all transactions through the pipeline.
fn feed(engine: &mut Engine, history: &History, cancel: &Cancel) -> Result<Translation, RejectedTransaction> {
    engine.admit(history)?;
    let mut known = engine.translate(history);
    set_initial_values(engine, history, &known);
    let mut clients = Clients::of(history);
    for client in 0..clients.queues.len() {
        let begin = clients.next(client).map_or(i64::MAX, |number| begin(history, number));
        let begin = begin.saturating_sub(engine.terms.clock_error);
        engine.pipeline_mut().heartbeat(client as u32, begin);
    }
    while let Some(client) = engine.pipeline_mut().client_to_fetch_from() {
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
            return Ok(known);
        }
    }
    engine.flush();
    Ok(known)
}

fn set_initial_values(engine: &mut Engine, history: &History, known: &Translation) {
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

/// The transactions of each client, in the order in which it sends them.
struct Clients {
    queues: Vec<Vec<u32>>,
    at: Vec<usize>,
}

impl Clients {
    /// One client for each session, if there are few and each goes forward in time; else as few as possible.
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

    /// The smallest number of clients whose own transactions do not overlap.
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

/// When the last operation of a transaction began or, if that is known, was over.
pub(super) fn end(history: &History, number: usize) -> i64 {
    let columns = &history.operations.intervals;
    let whole = history.transactions.intervals.get(number);
    let operations = || history.operations_of(number);
    let invoked = operations().filter_map(|operation| columns.get(operation).invoke()).max();
    let completed = operations().filter_map(|operation| columns.get(operation).complete()).max();
    invoked.into_iter().chain(completed).chain(whole.complete()).max().unwrap_or(i64::MIN)
}

/// When the last operation of a transaction began.
pub(super) fn last_invoke(history: &History, number: usize) -> i64 {
    let operations = history.operations_of(number);
    let invoked = operations.filter_map(|operation| history.operations.intervals.get(operation).invoke());
    invoked.max().unwrap_or(i64::MIN)
}
