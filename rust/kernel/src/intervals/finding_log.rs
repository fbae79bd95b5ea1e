//! The finding log of an engine: findings with the transactions that show them, and the reports made from it.

use super::engine::Engine;
use super::excerpt::{Excerpt, transaction_of_version};
use super::finding::{Case, Finding, ShownFinding, SnapshotUsed};
use super::key::Reference;
use super::span::Span;
use super::tally::Tally;
use super::transaction::Transaction;
use super::whole_history::Judgement;
use crate::history::History;
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many of the last findings can be shown.
const RECENT: usize = 100;

/// A finding as it is announced.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct News {
    /// 1, 2, 3, ...
    pub number: u64,
    pub case: Case,
    /// The ids of the transactions, and the key.
    pub transaction: Value,
    pub other: Option<Value>,
    pub key: Value,
}

/// A finding with the transactions that show it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LoggedFinding {
    number: u64,
    finding: Finding,
    /// Transactions; of one that was dropped, only the write that is still known.
    transactions: Vec<Transaction>,
}

/// The findings that can be shown, and those that were not announced yet.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct FindingLog {
    is_on: bool,
    number: u64,
    /// The first findings of each mechanism.
    first: Vec<LoggedFinding>,
    recent: VecDeque<LoggedFinding>,
    unannounced: Vec<(u64, Finding, Value, Option<Value>)>,
}

/// Some findings with a history of the transactions that show them, each with its session and its place there.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Report {
    pub history: History,
    pub places: Vec<(u32, u32)>,
    pub judgement: Judgement,
}

impl Engine {
    /// From now on findings are kept with their transactions, and announced by [`Engine::news`].
    pub fn start_log(&mut self) {
        self.log.is_on = true;
        self.verifier.keeps_all = true;
    }

    /// Logs the new findings while their transactions are in memory.
    pub(super) fn log_findings(&mut self) {
        if !self.log.is_on || self.verifier.findings.is_empty() {
            return;
        }
        for finding in std::mem::take(&mut self.verifier.findings) {
            self.log.number += 1;
            let logged = self.with_transactions(finding);
            let ids: Vec<Value> = logged.transactions.iter().map(|one| one.id).collect();
            let other = ids.iter().copied().find(|&id| id != ids[0]);
            self.log.unannounced.push((logged.number, logged.finding.clone(), ids[0], other));
            let mechanism = logged.finding.case.mechanism();
            let is_same = |one: &&LoggedFinding| one.finding.case.mechanism() == mechanism;
            if (self.log.first.iter().filter(is_same).count() as u64) < self.terms.max_anomalies {
                self.log.first.push(logged.clone());
            }
            if self.log.recent.len() == RECENT {
                self.log.recent.pop_front();
            }
            self.log.recent.push_back(logged);
        }
    }

    fn with_transactions(&self, mut finding: Finding) -> LoggedFinding {
        let mut transactions: Vec<Transaction> = Vec::new();
        // The version that hides a value without a known writer shows nothing by itself.
        if finding.unexplained.is_some() {
            finding.operations.truncate(1);
        }
        for &one in &finding.operations {
            if !transactions.iter().any(|known| known.number == one.number) {
                transactions.extend(self.find_transaction(one, finding.key));
            }
        }
        finding.operations.retain(|one| transactions.iter().any(|known| known.number == one.number));
        LoggedFinding { number: self.log.number, finding, transactions }
    }

    /// A transaction in memory, or one that is made from the version that it left.
    fn find_transaction(&self, one: Reference, key: u32) -> Option<Transaction> {
        if let Some(whole) = self.verifier.transactions.find(one.slot, one.number) {
            return Some(whole.clone());
        }
        let of_key = &self.verifier.keys[key as usize];
        if let Some(version) = of_key.versions.iter().find(|version| version.write == one) {
            return Some(transaction_of_version(key, &version.dropped()));
        }
        let dropped = of_key.gone.iter().find(|dropped| dropped.write == one)?;
        Some(transaction_of_version(key, dropped))
    }

    /// The findings since the last call.
    pub fn news(&mut self) -> Vec<News> {
        let unannounced = std::mem::take(&mut self.log.unannounced);
        let key = |number: u32| self.names.keys.ids()[number as usize];
        let news = unannounced.into_iter().map(|(number, finding, transaction, other)| News {
            number,
            case: finding.case,
            transaction,
            other,
            key: key(finding.key),
        });
        news.collect()
    }

    /// All counts, with the first findings of each mechanism.
    #[must_use]
    pub fn report(&self) -> Report {
        let first: Vec<&LoggedFinding> = self.log.first.iter().collect();
        self.report_of(&first, self.tally().clone())
    }

    /// One finding by its number, if it is one of the last.
    #[must_use]
    pub fn recent(&self, number: u64) -> Option<Report> {
        let all = self.log.recent.iter().chain(&self.log.first);
        let logged = all.into_iter().find(|logged| logged.number == number)?;
        Some(self.report_of(&[logged], Tally::default()))
    }

    fn report_of(&self, logged: &[&LoggedFinding], tally: Tally) -> Report {
        let mut excerpt = Excerpt::new(self);
        for transaction in logged.iter().flat_map(|one| &one.transactions) {
            excerpt.add(transaction);
        }
        let findings = logged.iter().map(|one| self.shown(one, &excerpt)).collect();
        let judgement = Judgement { tally, findings, ordered: None };
        let (history, places) = excerpt.finish();
        Report { history, places, judgement }
    }

    fn shown(&self, logged: &LoggedFinding, excerpt: &Excerpt<'_>) -> ShownFinding {
        let of = |one: &Reference| logged.transactions.iter().find(|known| known.number == one.number);
        let references = logged.finding.operations.iter();
        let known = references.filter_map(|one| Some((one, of(one)?, excerpt.operation(one)?)));
        let (operations, snapshots) = known
            .map(|(one, transaction, operation)| {
                let (taken_by, span) = transaction.snapshot_used(one.place);
                let taken_by = excerpt.operation(&Reference { place: taken_by, ..*one }).unwrap_or(operation);
                (operation, snapshot_used(taken_by, span, self.terms.clock_error))
            })
            .unzip();
        ShownFinding { case: logged.finding.case, operations, snapshots }
    }

    /// Calls `see` for each value that the log holds.
    pub(super) fn each_logged_value(&mut self, see: &mut impl FnMut(&mut Value)) {
        let log = &mut self.log;
        for logged in log.first.iter_mut().chain(&mut log.recent) {
            logged.finding.unexplained.iter_mut().for_each(&mut *see);
            logged.transactions.iter_mut().for_each(|one| one.each_value(see));
        }
        for (_, finding, one, other) in &mut log.unannounced {
            finding.unexplained.iter_mut().for_each(&mut *see);
            see(one);
            other.iter_mut().for_each(&mut *see);
        }
    }
}

/// A snapshot with its interval as the clients recorded it.
pub(super) fn snapshot_used(operation: u32, span: Option<Span>, clock_error: i64) -> SnapshotUsed {
    let recorded = span.map(|span| span.widened(-clock_error));
    let interval =
        recorded.map(|span| (span.invoke, Some(span.complete).filter(|&complete| complete != Span::NEVER)));
    SnapshotUsed { operation, interval }
}
