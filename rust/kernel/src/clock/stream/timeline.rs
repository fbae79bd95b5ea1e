//! Sorted runs as a timeline: every pass merges them once more.

use super::record::{self, EntryClass, Record};
use super::runs::Runs;
use super::sort::Entry;
use super::{RunStore, StreamError, StreamFacts, StreamRefusal};
use crate::cancel::Cancel;
use crate::clock::passes::{self, Timeline, Visitor};
use crate::clock::replay::{Operation, Source};
use crate::clock::suspect_reads::SuspectRead;
use crate::clock::{ClockAnomaly, ClockLevel, Event, Finding, Judgement, NOTHING};
use crate::history::Timestamp;
use crate::value::Value;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A history whose events lie sorted in a store.
#[derive(Debug)]
pub struct SortedStream<S> {
    facts: Arc<StreamFacts>,
    runs: Runs<S>,
    max_anomalies: usize,
    /// Whether the ids were compared: the first pass does so.
    has_compared_ids: bool,
}

impl<S: RunStore> SortedStream<S> {
    pub(super) fn new(facts: StreamFacts, runs: Runs<S>, max_anomalies: usize) -> Self {
        Self { facts: Arc::new(facts), runs, max_anomalies, has_compared_ids: false }
    }

    /// What is known of the whole history.
    #[must_use]
    pub fn facts(&self) -> &Arc<StreamFacts> {
        &self.facts
    }

    /// Judges one level.
    ///
    /// # Errors
    /// If the store fails, or two transactions have the same id.
    pub fn judge(&mut self, level: ClockLevel, cancel: &Cancel) -> Result<Judgement, StreamError<S::Error>> {
        let (max_anomalies, suspects) = (self.max_anomalies, self.runs.new_run());
        let mut timeline = StreamTimeline { stream: self, level, cancel, ties: Ties::default(), suspects };
        let judgement = passes::judge(&mut timeline, level, max_anomalies)?;
        self.runs.store().remove(suspects).map_err(StreamError::Store)?;
        Ok(judgement)
    }
}

/// The events of one level.
struct StreamTimeline<'s, S> {
    stream: &'s mut SortedStream<S>,
    level: ClockLevel,
    cancel: &'s Cancel,
    ties: Ties,
    /// The run of suspect reads.
    suspects: u32,
}

impl<S: RunStore> StreamTimeline<'_, S> {
    fn keep_suspects(&mut self, suspects: &[SuspectRead]) -> Result<(), S::Error> {
        if suspects.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(suspects.len() * SuspectRead::SIZE);
        for suspect in suspects {
            suspect.write(&mut bytes);
        }
        self.stream.runs.store().append(self.suspects, &bytes)
    }
}

impl<S: RunStore> Timeline for StreamTimeline<'_, S> {
    type Error = StreamError<S::Error>;

    fn visit(&mut self, visitor: &mut impl Visitor) -> Result<(), Self::Error> {
        let facts = Arc::clone(&self.stream.facts);
        let is_initial_open = facts.initial.default == Value::UNKNOWN;
        let mut reader = self.stream.runs.reader();
        let mut ids = (!self.stream.has_compared_ids).then(Ids::default);
        let mut pass = Pass {
            facts: &facts,
            level: self.level,
            visitor,
            ties: Ties::default(),
            record: Record::default(),
            rank: 0,
        };
        let mut goes_on = true;
        while goes_on && !self.cancel.is_asked() {
            let see = |entry: &Entry<'_>| pass.see(entry, &mut ids);
            goes_on = self.stream.runs.read_block(&mut reader, see).map_err(StreamError::Store)?;
            let suspects = pass.visitor.suspects(|_| is_initial_open);
            self.keep_suspects(&suspects).map_err(StreamError::Store)?;
        }
        self.ties = pass.ties;
        self.stream.has_compared_ids = true;
        match ids.and_then(|ids| ids.repeated) {
            Some(repeated) => Err(repeated.into()),
            None => Ok(()),
        }
    }

    fn suspects(&mut self, chunk: usize) -> Result<Cow<'_, [SuspectRead]>, Self::Error> {
        let length = self.stream.runs.limits().suspect_reads * SuspectRead::SIZE;
        let mut bytes = Vec::new();
        let store = self.stream.runs.store();
        store.read(self.suspects, (chunk * length) as u64, length, &mut bytes).map_err(StreamError::Store)?;
        Ok(Cow::Owned(SuspectRead::read_all(&bytes).collect()))
    }

    fn keys(&self) -> usize {
        self.stream.facts.sizes.keys as usize
    }

    fn initial(&self, key: u32) -> Value {
        self.stream.facts.initial(key)
    }

    fn complete(&self, judgement: &mut Judgement) {
        judgement.ties = self.ties.count;
        let StreamFacts { inversions, session_disorder, uses, .. } = &*self.stream.facts;
        if self.level == ClockLevel::Snapshot {
            let anomaly = ClockAnomaly::TimestampInversion;
            judgement.counts[anomaly as usize] = inversions.count;
            let findings = inversions.first.iter().map(|&one| Finding::between(anomaly, one, NOTHING));
            judgement.findings.extend(findings);
            let anomaly = ClockAnomaly::SessionOrder;
            judgement.counts[anomaly as usize] = session_disorder.count;
            let first = session_disorder.first.iter();
            judgement.findings.extend(first.map(|&(_, one, before)| Finding::between(anomaly, one, before)));
        }
        uses.report(judgement);
    }
}

/// One pass over the entries.
struct Pass<'p, V> {
    facts: &'p StreamFacts,
    level: ClockLevel,
    visitor: &'p mut V,
    ties: Ties,
    record: Record,
    /// Events so far.
    rank: u32,
}

impl<V: Visitor> Pass<'_, V> {
    /// Shows an entry to the visitor; ids come last, and are compared in one pass only.
    fn see(&mut self, entry: &Entry<'_>, ids: &mut Option<Ids>) -> ControlFlow<()> {
        let class = record::class(entry.key);
        if class == EntryClass::Id {
            let Some(ids) = ids else { return ControlFlow::Break(()) };
            ids.see(entry);
            return ControlFlow::Continue(());
        }
        let Self { facts, record, .. } = self;
        record.decode(entry.payload, |key| facts.uses.is_listed(key));
        let (transaction, is_start) = (record.transaction, record.is_start);
        if class == EntryClass::Aborted {
            self.visitor.unordered(&Moment { facts, record }, transaction, false);
        } else if !is_start || self.level == ClockLevel::Snapshot {
            self.ties.see(record::time(entry.key), transaction);
            let time = if is_start { record.start } else { record.commit };
            let event = Event::new(time, transaction, is_start);
            self.visitor.event(&Moment { facts, record }, event, self.rank);
            self.rank += 1;
        }
        ControlFlow::Continue(())
    }
}

/// Compares the ids of transactions, which come in order.
#[derive(Default)]
struct Ids {
    /// The last id, and its line.
    last: Vec<u8>,
    line: u32,
    repeated: Option<StreamRefusal>,
}

impl Ids {
    fn see(&mut self, entry: &Entry<'_>) {
        let (id, _) = record::split_id(entry.key);
        let line = record::Rest(entry.payload).number() as u32;
        if self.last == id && self.repeated.is_none() {
            let (id, earlier) = (record::show_id(id), self.line);
            let problem = format!("the transaction {id} was there before, on line {earlier}");
            self.repeated = Some(StreamRefusal { line, problem });
        }
        self.last.clear();
        self.last.extend_from_slice(id);
        self.line = line;
    }
}

/// Counts timestamps that belong to several transactions.
#[derive(Default)]
struct Ties {
    time: Vec<u8>,
    transaction: u32,
    is_counted: bool,
    count: u64,
}

impl Ties {
    fn see(&mut self, time: &[u8], transaction: u32) {
        if self.time != time {
            self.time.clear();
            self.time.extend_from_slice(time);
            (self.transaction, self.is_counted) = (transaction, false);
        } else if self.transaction != transaction && !self.is_counted {
            self.is_counted = true;
            self.count += 1;
        }
    }
}

/// A transaction at one of its events.
struct Moment<'t> {
    facts: &'t StreamFacts,
    record: &'t Record,
}

impl Source for Moment<'_> {
    fn operations(&self, _transaction: u32) -> impl Iterator<Item = Operation> {
        self.record.operations.iter().copied()
    }

    fn list(&self, value: Value) -> Option<&[Value]> {
        self.record.values.as_list(value)
    }

    fn times(&self, _transaction: u32) -> (Timestamp, Timestamp) {
        (self.record.start, self.record.commit)
    }

    fn is_judged(&self, key: u32) -> bool {
        self.facts.uses.is_judged(key)
    }

    fn is_timed(&self, _key: u32) -> bool {
        true
    }

    fn initial(&self, key: u32) -> Value {
        self.facts.initial(key)
    }
}
