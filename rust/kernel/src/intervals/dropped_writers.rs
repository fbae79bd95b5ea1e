//! Writers of values whose versions were dropped: the whole history still has them.

use super::finding::{Case, Finding, ReadCase};
use super::key::Reference;
use super::whole_history::{end, last_invoke, transaction_of};
use crate::history::{History, Status};
use crate::value::Value;
use hashbrown::{HashMap, HashSet};

/// The writes of values that reads show and that the verifier no longer knows.
pub(super) struct DroppedWriters {
    writes: HashMap<(u32, Value), (u32, ReadCase)>,
    shown: HashMap<u32, (u32, Value)>,
    /// When the transactions of reads were over, and when those of writes asked to commit.
    over: HashMap<u32, i64>,
    asked: HashMap<u32, i64>,
}

impl DroppedWriters {
    pub(super) fn of(history: &History, findings: &[Finding], operation: impl Fn(&Reference) -> u32) -> Self {
        let shown: HashMap<u32, (u32, Value)> = findings
            .iter()
            .filter(|finding| is_thin_air(finding))
            .map(|finding| {
                let read = operation(&finding.operations[0]);
                (read, (history.operations.keys[read as usize], shown_value(history, read as usize)))
            })
            .collect();
        let mut writes: HashMap<(u32, Value), (u32, ReadCase)> = HashMap::new();
        if !shown.is_empty() {
            let wanted: HashSet<(u32, Value)> = shown.values().copied().collect();
            for number in 0..history.transaction_count() {
                Self::collect(history, number, &wanted, &mut writes);
            }
        }
        let over = shown.keys().map(|&read| (read, end(history, transaction_of(history, read)))).collect();
        let asked = |write: u32| last_invoke(history, transaction_of(history, write));
        let asked = writes.values().map(|&(write, _)| (write, asked(write))).collect();
        Self { writes, shown, over, asked }
    }

    fn collect(
        history: &History,
        number: usize,
        wanted: &HashSet<(u32, Value)>,
        writes: &mut HashMap<(u32, Value), (u32, ReadCase)>,
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
            writes.entry(pair).or_insert((operation as u32, case));
        }
    }

    /// The case of a finding and its operations, completed by the write of the value if that is found.
    pub(super) fn explain(&self, finding: &Finding, mut operations: Vec<u32>) -> (Case, Vec<u32>) {
        if !is_thin_air(finding) {
            return (finding.case, operations);
        }
        let hiding = operations.get(1).copied();
        operations.truncate(1);
        let found = self.shown.get(&operations[0]).and_then(|shown| self.writes.get(shown));
        let Some(&(write, case)) = found else { return (finding.case, operations) };
        operations.push(write);
        let is_future = self.asked.get(&write) > self.over.get(&operations[0]);
        match (case, hiding) {
            (ReadCase::Stale, _) if is_future => return (Case::Read(ReadCase::Future), operations),
            (ReadCase::Stale, Some(hiding)) => operations.push(hiding),
            (ReadCase::Stale, None) => {
                operations.truncate(1);
                return (finding.case, operations);
            }
            _ => {}
        }
        (Case::Read(case), operations)
    }
}

fn is_thin_air(finding: &Finding) -> bool {
    finding.case == Case::Read(ReadCase::ThinAir)
}

/// What a read shows: of a list, its last element.
fn shown_value(history: &History, read: usize) -> Value {
    let value = history.operations.values[read];
    history.values.as_list(value).map_or(value, |list| list.last().copied().unwrap_or(Value::NIL))
}
