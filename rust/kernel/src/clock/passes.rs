//! The three passes over the events of a history: the replay, the search for initial values that no input
//! states, and the search for the writes that stale reads show.
//!
//! A pass is a [`Visitor`]; a history is a [`Timeline`], which shows its events to a visitor in order. The
//! second and third pass are made only if the replay found something to ask.

use super::initial_values::{InitialCandidates, LearnedInitialValues};
use super::origins::{Origins, ShownRead, Write};
use super::replay::{Replay, Source};
use super::replay_findings::{Conflict, ReplayFindings, StaleRead};
use super::suspect_reads::SuspectRead;
use super::{ClockAnomaly, ClockLevel, Event, Finding, Judgement, NOTHING};
use crate::history::Kind;
use crate::value::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A history whose events can be visited in order, as often as needed.
pub trait Timeline {
    /// Why a visit failed.
    type Error;

    /// Shows all events in order, then all transactions that have no place in the order. Between events,
    /// [`Visitor::suspects`] is asked now and then and the answer kept.
    ///
    /// # Errors
    /// If the events cannot be read.
    fn visit(&mut self, visitor: &mut impl Visitor) -> Result<(), Self::Error>;

    /// The suspect reads that were kept, one chunk after the other; an empty chunk is the end.
    ///
    /// # Errors
    /// If they cannot be read.
    fn suspects(&mut self, chunk: usize) -> Result<Cow<'_, [SuspectRead]>, Self::Error>;

    /// How many keys there are.
    fn keys(&self) -> usize;

    /// The initial value that the input states, if no transaction wrote it explicitly.
    fn initial(&self, key: u32) -> Value;

    /// Adds the results that need no pass: anomalies of timestamps alone, ties, keys that are not judged.
    fn complete(&self, judgement: &mut Judgement);
}

/// One pass.
pub trait Visitor {
    /// A start or a commit; `rank` is its place among all.
    fn event<S: Source>(&mut self, source: &S, event: Event, rank: u32);

    /// The same of an event outside of the window that is judged: it shapes the state, and is not reported on.
    fn context<S: Source>(&mut self, source: &S, event: Event, rank: u32) {
        self.event(source, event, rank);
    }

    /// A transaction without a place in the order; `is_counted`: it counts as committed.
    fn unordered<S: Source>(&mut self, source: &S, transaction: u32, is_counted: bool);

    /// Reads, found since the last call, that can be judged only when all initial values are known.
    fn suspects(&mut self, _is_initial_open: impl Fn(u32) -> bool) -> Vec<SuspectRead> {
        Vec::new()
    }
}

/// Judges one level; of each anomaly the first `max_anomalies` findings are kept.
///
/// # Errors
/// If the timeline cannot be read.
pub fn judge<T: Timeline>(
    timeline: &mut T,
    level: ClockLevel,
    max_anomalies: usize,
) -> Result<Judgement, T::Error> {
    let mut pass = ReplayPass::new(level, timeline.keys(), max_anomalies);
    timeline.visit(&mut pass)?;
    let ReplayPass { mut judgement, conflicts, mut stale, .. } = pass;
    let learned = learn(timeline)?;
    stale.add_suspects(timeline, &learned)?;
    judgement.counts[ClockAnomaly::StaleRead as usize] = stale.count;
    judgement.repeated_reads = stale.set_aside;
    judgement.repeated_keys = stale.keys_set_aside.into_iter().collect();
    let shown = stale.first.into_iter().map(|(_, shown)| shown).collect();
    let mut origins = Origins::of(level, shown, &conflicts);
    if !origins.is_empty() {
        timeline.visit(&mut OriginPass(&mut origins))?;
    }
    let mut findings = origins.findings(&conflicts, &learned, |key| timeline.initial(key));
    findings.append(&mut judgement.findings);
    judgement.findings = findings;
    timeline.complete(&mut judgement);
    Ok(judgement)
}

/// Learns the initial values that reads show, with one pass for each chunk of suspect reads.
fn learn<T: Timeline>(timeline: &mut T) -> Result<LearnedInitialValues, T::Error> {
    let mut learned = LearnedInitialValues::default();
    for chunk in 0.. {
        let mut candidates = InitialCandidates::default();
        for &SuspectRead { stale, .. } in timeline.suspects(chunk)?.iter() {
            candidates.add(stale.read, stale.key, stale.found);
        }
        if candidates.is_empty() {
            break;
        }
        timeline.visit(&mut InitialPass(&mut candidates))?;
        candidates.finish(&mut learned);
    }
    Ok(learned)
}

/// The first pass: what each transaction should have read, and which transactions overlap.
struct ReplayPass {
    replay: Replay,
    max_anomalies: usize,
    judgement: Judgement,
    conflicts: Vec<Conflict>,
    stale: StaleReads,
}

/// Stale reads: how many are certain, and the first of them.
struct StaleReads {
    max_anomalies: usize,
    /// How many reads were seen that do not show the demanded version; each has its place among these.
    seen: u64,
    count: u64,
    first: Vec<(u64, ShownRead)>,
    /// How many are right if a transaction took effect of which the end is not known, and of which keys.
    set_aside: u64,
    keys_set_aside: BTreeSet<u32>,
}

impl StaleReads {
    fn new(max_anomalies: usize) -> Self {
        let (first, keys_set_aside) = (Vec::new(), BTreeSet::new());
        Self { max_anomalies, seen: 0, count: 0, first, set_aside: 0, keys_set_aside }
    }

    /// Counts a read that does not show what the transactions that count left.
    fn add(&mut self, place: u64, shown: ShownRead) {
        if shown.stale.is_set_aside {
            self.set_aside += 1;
            self.keys_set_aside.insert(shown.stale.key);
            return;
        }
        self.count += 1;
        if self.first.len() < self.max_anomalies || self.first.last().is_some_and(|&(last, _)| place < last) {
            let at = self.first.partition_point(|&(other, _)| other < place);
            self.first.insert(at, (place, shown));
            self.first.truncate(self.max_anomalies);
        }
    }

    /// Counts the suspect reads that do not show a learned initial value.
    fn add_suspects<T: Timeline>(
        &mut self,
        timeline: &mut T,
        learned: &LearnedInitialValues,
    ) -> Result<(), T::Error> {
        for chunk in 0.. {
            let suspects = timeline.suspects(chunk)?;
            if suspects.is_empty() {
                break;
            }
            for &SuspectRead { place, stale } in suspects.iter() {
                if let Some(place) = place.filter(|_| learned.is_stale(&stale)) {
                    self.add(place, ShownRead { stale, list: Vec::new(), expected: Vec::new() });
                }
            }
        }
        Ok(())
    }
}

impl ReplayPass {
    fn new(level: ClockLevel, keys: usize, max_anomalies: usize) -> Self {
        Self {
            replay: Replay::new(level, keys, max_anomalies),
            max_anomalies,
            judgement: Judgement::default(),
            conflicts: Vec::new(),
            stale: StaleReads::new(max_anomalies),
        }
    }

    /// Counts the stale reads; those that may show an initial value come back.
    fn keep_stale(
        &mut self,
        stale: Vec<StaleRead>,
        lists: Vec<(Vec<Value>, Vec<Value>)>,
        is_initial_open: impl Fn(u32) -> bool,
    ) -> Vec<SuspectRead> {
        let (mut lists, mut suspects) = (lists.into_iter(), Vec::new());
        for stale in stale {
            let place = self.stale.seen;
            self.stale.seen += 1;
            if stale.is_register() && is_initial_open(stale.key) {
                suspects.push(SuspectRead { place: Some(place), stale });
                continue;
            }
            let has_lists = !stale.is_register() && !stale.is_set_aside;
            let lists = if has_lists { lists.next() } else { None };
            let (list, expected) = lists.unwrap_or_default();
            self.stale.add(place, ShownRead { stale, list, expected });
        }
        suspects
    }
}

impl Visitor for ReplayPass {
    fn event<S: Source>(&mut self, source: &S, event: Event, _rank: u32) {
        self.replay.apply(source, event);
    }

    fn context<S: Source>(&mut self, source: &S, event: Event, _rank: u32) {
        self.replay.apply_silently(source, event);
    }

    fn unordered<S: Source>(&mut self, source: &S, transaction: u32, is_counted: bool) {
        if is_counted {
            self.replay.apply_unordered(source, transaction);
        }
    }

    fn suspects(&mut self, is_initial_open: impl Fn(u32) -> bool) -> Vec<SuspectRead> {
        let ReplayFindings { stale, lists, mismatches, unordered, conflicts, conflict_count, .. } =
            self.replay.take_findings();
        let mut suspects = self.keep_stale(stale, lists, &is_initial_open);
        for mismatch in mismatches {
            let is_register = mismatch.found.list_index().is_none();
            if !mismatch.wrote && is_register && is_initial_open(mismatch.key) {
                suspects.push(SuspectRead::of((mismatch.read, mismatch.key, mismatch.found)));
            }
            self.judgement.note(self.max_anomalies, Finding::from(&mismatch));
        }
        suspects
            .extend(unordered.into_iter().filter(|&(_, key, _)| is_initial_open(key)).map(SuspectRead::of));
        let room = self.max_anomalies - self.conflicts.len();
        self.conflicts.extend(conflicts.into_iter().take(room));
        self.judgement.counts[ClockAnomaly::WriteConflict as usize] += conflict_count;
        suspects
    }
}

/// The second pass: a value that some transaction wrote is no initial value.
struct InitialPass<'p>(&'p mut InitialCandidates);

impl InitialPass<'_> {
    fn remove_writes<S: Source>(&mut self, source: &S, transaction: u32) {
        for write in source.operations(transaction) {
            match write.kind {
                Kind::Delete => self.0.delete(write.key),
                kind if kind.installs() => self.0.remove(write.key, write.value),
                _ => {}
            }
        }
    }
}

impl Visitor for InitialPass<'_> {
    fn event<S: Source>(&mut self, source: &S, event: Event, _rank: u32) {
        if !event.is_start() {
            self.remove_writes(source, event.transaction());
        }
    }

    fn unordered<S: Source>(&mut self, source: &S, transaction: u32, _is_counted: bool) {
        self.remove_writes(source, transaction);
    }
}

/// The third pass: the writes that stale reads show, and the last writes of conflicts.
struct OriginPass<'p>(&'p mut Origins);

impl OriginPass<'_> {
    fn add_writes<S: Source>(&mut self, source: &S, transaction: u32, is_counted: bool, rank: u32) {
        let origins = &mut *self.0;
        let has_last_write = origins.names_writer(transaction);
        for write in source.operations(transaction).filter(|one| one.kind.installs()) {
            if has_last_write {
                origins.add_last_write(transaction, write.key, write.number);
            }
            if !origins.is_shown(write.key, write.value) {
                continue;
            }
            let (start, commit) = source.times(transaction);
            let of_key = |one: &super::replay::Operation| one.key == write.key && one.kind.installs();
            let last = source.operations(transaction).filter(of_key).last();
            origins.add_write(&Write {
                number: write.number,
                writer: transaction,
                key: write.key,
                value: write.value,
                is_final: last.is_some_and(|last| last.value == write.value),
                is_counted,
                start,
                commit,
                rank,
            });
        }
        if rank != NOTHING {
            origins.add_commit(transaction, rank);
        }
    }
}

impl Visitor for OriginPass<'_> {
    fn event<S: Source>(&mut self, source: &S, event: Event, rank: u32) {
        if !event.is_start() {
            self.add_writes(source, event.transaction(), true, rank);
        }
    }

    fn unordered<S: Source>(&mut self, source: &S, transaction: u32, is_counted: bool) {
        self.add_writes(source, transaction, is_counted, NOTHING);
    }
}
