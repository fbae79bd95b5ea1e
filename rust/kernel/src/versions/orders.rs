//! The versions of every key, and what is known of the order in which they were installed.
//!
//! `reference/versions.py` is the specification. Every key is looked at by itself, so keys are shared
//! between cores. Cost: a sort of each key's writes, near linear.

use super::times::Times;
use crate::by_key::{ByKey, Operation, Shape, Write, Writes, gather, shape};
use crate::cancel::Cancel;
use crate::history::{History, Kind, VersionSource};
use crate::observations::{INITIAL, NOBODY, Observations, Sources};
use crate::predicates::Observation;
use crate::value::Value;
use rayon::prelude::*;
use std::ops::Range;

/// Who says that one version comes before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Source {
    #[default]
    Nothing,
    ListRead,
    Log,
    Declared,
    Timestamps,
    /// The initial version comes first.
    Initial,
    /// A transaction read one and then wrote the other.
    ReadThenWrite,
    Session,
    RealTime,
    AssumeWritesFollowReads,
    AssumeSequentialKeys,
    AssumeLinearizableKeys,
    /// Nobody: it is only supposed.
    Supposed,
}

/// What the user claims beside the evidence.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)]
pub struct Claims {
    pub writes_follow_reads: bool,
    pub sequential_keys: bool,
    pub linearizable_keys: bool,
}

/// One version comes before another, neither of which the chain of its key orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Extra {
    pub before: u32,
    pub after: u32,
    pub source: Source,
}

/// Two sources that put two versions of a key in opposite orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Contradiction {
    pub key: u32,
    pub stronger: Source,
    pub weaker: Source,
    /// The versions, as the stronger source has them.
    pub before: u32,
    pub after: u32,
}

/// What one key's versions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyOrder {
    /// Its first version, the initial one.
    pub start: u32,
    /// Behind its last version.
    pub end: u32,
    /// So many versions from the first on are in order.
    pub chain: u32,
    /// The place in the chain that the other versions are known to follow.
    pub after: u32,
    /// Who ordered the chain.
    pub source: Source,
}

impl KeyOrder {
    /// Versions in order.
    #[must_use]
    pub fn chain(&self) -> Range<u32> {
        self.start..self.start + self.chain
    }

    /// Versions that nobody ordered among the others.
    #[must_use]
    pub fn tail(&self) -> Range<u32> {
        self.start + self.chain..self.end
    }

    /// The version that all of the tail come after.
    #[must_use]
    pub fn before_tail(&self) -> u32 {
        self.start + self.after
    }
}

/// The versions of all keys.
#[derive(Debug, Default)]
pub struct Orders {
    /// By key.
    pub keys: Vec<KeyOrder>,
    /// Who installed each version; [`INITIAL`] for the first of each key.
    pub writers: Vec<u32>,
    /// The operation that installed it; [`NOBODY`] for the initial one.
    pub operations: Vec<u32>,
    /// Further order between versions, sorted.
    pub extras: Vec<Extra>,
    /// For each read the version that it showed as the last one; [`NOBODY`] if that is not known.
    pub observed: Vec<u32>,
    /// Versions that one operation showed of several keys, or of a key that is deleted at times: (operation,
    /// key, version), sorted.
    pub further: Vec<(u32, u32, u32)>,
    /// Sources that disagree.
    pub contradictions: Vec<Contradiction>,
    /// Keys whose versions the claims put in a circle, with that circle.
    pub circles: Vec<(u32, Vec<Extra>)>,
    /// (list read, aborted append, committed append behind it).
    pub dirty: Vec<(u32, u32, u32)>,
    /// Sources that order anything at all, the strongest first.
    pub speaking: Vec<Source>,
    /// Whether an append has no version, because others appended the same element.
    pub has_unsure_appends: bool,
}

/// What the orders are made of.
pub struct Question<'h> {
    /// The history.
    pub history: &'h History,
    /// Who served which read.
    pub observations: &'h Observations,
    /// When transactions began and ended.
    pub times: &'h Times,
    /// What the user claims.
    pub claims: Claims,
    /// Only this source is heard.
    pub believed: Option<Source>,
    /// What predicate reads and reads of deleted keys showed.
    pub further: &'h [Observation],
    /// Transactions of the first state: what they insert comes before everything else.
    pub first: &'h [u32],
}

impl Orders {
    /// Looks at every key.
    #[must_use]
    pub fn new(question: &Question<'_>, cancel: &Cancel) -> Self {
        let owners = question.history.transaction_of_operation();
        let by_key = ByKey::new(question.history);
        let observed = Sources::new(question.history.operation_count());
        let shares: Vec<Share<'_>> = by_key
            .shares()
            .into_par_iter()
            .map(|keys| {
                let mut share = Share::new(question, &owners, &observed);
                for key in keys.take_while(|_| !cancel.is_asked()) {
                    share.key(key as u32, by_key.of(key));
                }
                share
            })
            .collect();
        let mut all = Self::default();
        let mut shifts = Vec::new();
        for share in &shares {
            shifts.push(all.writers.len() as u32);
            all.absorb(&share.found);
        }
        all.observed = observed.into_column();
        let starts = &all.keys;
        let keys = &question.history.operations.keys;
        all.observed.par_iter_mut().enumerate().filter(|(_, place)| **place != NOBODY).for_each(
            |(operation, place)| {
                // Until all shares were joined, places counted from the first version of the key.
                *place += starts[keys[operation] as usize].start;
            },
        );
        // Of several reasons the one that most levels believe counts.
        all.extras
            .sort_unstable_by_key(|extra| (extra.before, extra.after, extra.is_inferred(), extra.source));
        all.extras.dedup_by_key(|extra| (extra.before, extra.after));
        let further = question.further.iter();
        let known = further.filter_map(|&Observation { operation, key, writer, .. }| {
            Some((operation, key, all.version_of(key, writer)?))
        });
        all.further = known.collect();
        all.further.sort_unstable();
        all
    }

    fn absorb(&mut self, share: &Found) {
        let shift = self.writers.len() as u32;
        self.writers.extend(&share.writers);
        self.operations.extend(&share.operations);
        self.keys.extend(share.keys.iter().map(|order| KeyOrder {
            start: order.start + shift,
            end: order.end + shift,
            ..*order
        }));
        let moved = |extra: &Extra| Extra {
            before: extra.before + shift,
            after: extra.after + shift,
            source: extra.source,
        };
        self.extras.extend(share.extras.iter().map(moved));
        self.contradictions.extend(share.contradictions.iter().map(|found| Contradiction {
            before: found.before + shift,
            after: found.after + shift,
            ..*found
        }));
        let circles = share.circles.iter();
        self.circles.extend(circles.map(|(key, circle)| (*key, circle.iter().map(moved).collect())));
        self.dirty.extend(&share.dirty);
        self.speaking.extend(&share.speaking);
        self.speaking.sort_unstable();
        self.speaking.dedup();
        self.has_unsure_appends |= share.has_unsure_appends;
    }

    /// The version of `key` that `writer` left.
    #[must_use]
    pub fn version_of(&self, key: u32, writer: u32) -> Option<u32> {
        let order = &self.keys[key as usize];
        (order.start..order.end).rev().find(|&version| self.writers[version as usize] == writer)
    }

    /// Who ordered the versions of a key.
    #[must_use]
    pub fn source_of(&self, key: u32) -> Source {
        self.keys.get(key as usize).map_or(Source::Nothing, |order| order.source)
    }

    /// A version of a key that nothing but the initial one is known to come after.
    #[must_use]
    pub fn last_version(&self, key: u32) -> Option<u32> {
        let order = &self.keys[key as usize];
        (order.end > order.start + 1).then(|| order.end - 1)
    }

    /// What an operation showed beside its own key: (operation, key, version).
    #[must_use]
    pub fn further_of(&self, operation: u32) -> &[(u32, u32, u32)] {
        let start = self.further.partition_point(|&(other, ..)| other < operation);
        let length = self.further[start..].iter().take_while(|&&(other, ..)| other == operation).count();
        &self.further[start..start + length]
    }

    /// Further order of the versions of a key.
    #[must_use]
    pub fn extras_of(&self, order: &KeyOrder) -> &[Extra] {
        let start = self.extras.partition_point(|extra| extra.before < order.start);
        let length = self.extras[start..].partition_point(|extra| extra.before < order.end);
        &self.extras[start..start + length]
    }

    /// What comes right after `version` by further order.
    #[must_use]
    pub fn extras_after(&self, version: u32) -> &[Extra] {
        let start = self.extras.partition_point(|extra| extra.before < version);
        let length = self.extras[start..].iter().take_while(|extra| extra.before == version).count();
        &self.extras[start..start + length]
    }

    /// Whether the order of every key is known to the end, whatever a level infers.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.keys.iter().all(|order| self.is_whole(order))
    }

    /// Whether the versions of a key are in order: nothing is left, or what one transaction did after all
    /// others.
    #[must_use]
    pub fn is_whole(&self, order: &KeyOrder) -> bool {
        let writers = &self.writers[order.tail().start as usize..order.tail().end as usize];
        let is_one = writers.windows(2).all(|pair| pair[0] == pair[1]);
        writers.is_empty() || (is_one && order.after + 1 == order.chain)
    }
}

/// What was found in some keys.
#[derive(Default)]
struct Found {
    keys: Vec<KeyOrder>,
    writers: Vec<u32>,
    operations: Vec<u32>,
    extras: Vec<Extra>,
    contradictions: Vec<Contradiction>,
    circles: Vec<(u32, Vec<Extra>)>,
    dirty: Vec<(u32, u32, u32)>,
    speaking: Vec<Source>,
    has_unsure_appends: bool,
}

/// Looks at one key after the other.
struct Share<'q> {
    question: &'q Question<'q>,
    owners: &'q [u32],
    observed: &'q Sources,
    writes: Writes,
    gathered: Vec<Operation>,
    found: Found,
}

/// The versions of one key on the way: (writer, operation), the initial one not among them.
type Versions = Vec<(u32, u32)>;

impl<'q> Share<'q> {
    fn new(question: &'q Question<'q>, owners: &'q [u32], observed: &'q Sources) -> Self {
        let (writes, gathered, found) = (Writes::default(), Vec::new(), Found::default());
        Self { question, owners, observed, writes, gathered, found }
    }

    fn counts(&self, transaction: u32) -> bool {
        self.question.observations.counted[transaction as usize]
    }

    fn key(&mut self, key: u32, operations: &[u32]) {
        let mut gathered = std::mem::take(&mut self.gathered);
        gather(self.question.history, self.owners, operations, &mut gathered);
        self.writes.fill(&gathered);
        match shape(&gathered, |transaction| self.counts(transaction)) {
            Shape::List => self.list(key, &gathered),
            Shape::Register | Shape::Deleted => self.register(key, &gathered),
            Shape::Mixed => self.push(&Arranged { chain: 1, ..Arranged::default() }),
        }
        self.gathered = gathered;
    }

    /// Adds a key: the initial version, then `versions` as arranged.
    fn push(&mut self, arranged: &Arranged) {
        let start = self.found.writers.len() as u32;
        self.found.writers.push(INITIAL);
        self.found.operations.push(NOBODY);
        for &(writer, operation) in &arranged.versions {
            self.found.writers.push(writer);
            self.found.operations.push(operation);
        }
        let end = self.found.writers.len() as u32;
        let &Arranged { chain, after, source, .. } = arranged;
        self.found.keys.push(KeyOrder { start, end, chain, after, source });
    }

    fn list(&mut self, key: u32, gathered: &[Operation]) {
        let canonical = self.question.observations.canonical(key);
        let elements = self.canonical_elements(key, canonical.len());
        let installed_by = self.installed_by(elements, gathered);
        let mut versions: Versions = Vec::new();
        let mut known = vec![0u32; elements.len() + 1];
        for (place, (&writer, &operation)) in canonical.iter().zip(&installed_by).enumerate() {
            if writer != NOBODY {
                versions.push((writer, operation));
            }
            known[place + 1] = versions.len() as u32;
        }
        let shown = versions.len() as u32;
        let mut in_chain: Vec<u32> = versions.iter().map(|&(_, operation)| operation).collect();
        in_chain.sort_unstable();
        let appends = gathered.iter().filter(|o| o.kind.installs() && self.counts(o.transaction));
        let (sure, unsure): (Vec<&Operation>, Vec<&Operation>) =
            appends.partition(|append| self.writer(append.value) == Some(append.transaction));
        let unread = sure.into_iter().filter(|append| in_chain.binary_search(&append.number).is_err());
        versions.extend(unread.map(|append| (append.transaction, append.number)));
        self.found.has_unsure_appends |= !unsure.is_empty();
        self.dirty_updates(key, elements, canonical, &installed_by);
        let unread: Vec<u32> = (shown..versions.len() as u32).collect();
        let mut by_reads: Vec<Vec<u32>> = (0..shown).map(|place| vec![place]).collect();
        by_reads.extend((!unread.is_empty()).then_some(unread));
        let arranged = self.arrange(key, versions, (Source::ListRead, by_reads), true);
        for read in gathered.iter().filter(|o| o.kind == Kind::Read && self.counts(o.transaction)) {
            if let Some(length) = self.length_seen(read.number, key) {
                self.observed.set(read.number, arranged.place(known[length as usize]));
            }
        }
        let start = self.found.writers.len() as u32;
        self.push(&arranged);
        self.found.extras.extend(arranged.extras.iter().map(|extra| extra.moved(start)));
    }

    /// The append that each element of the canonical list is; a second one of equal elements is the second
    /// append.
    fn installed_by(&self, elements: &[Value], gathered: &[Operation]) -> Vec<u32> {
        let mut shown: Vec<(Value, u32)> = elements.iter().copied().zip(0..).collect();
        shown.sort_unstable();
        let mut found = vec![NOBODY; elements.len()];
        for operation in gathered.iter().filter(|o| o.kind.installs() && self.counts(o.transaction)) {
            let first = shown.partition_point(|&(value, _)| value < operation.value);
            let same = shown[first..].iter().take_while(|&&(value, _)| value == operation.value);
            let free = same.map(|&(_, place)| place as usize).find(|&place| found[place] == NOBODY);
            if let Some(place) = free {
                found[place] = operation.number;
            }
        }
        found
    }

    fn canonical_elements(&self, key: u32, length: usize) -> &'q [Value] {
        let history = self.question.history;
        let read = self.question.observations.canonical_read(key);
        if length == 0 || read == NOBODY {
            return &[];
        }
        let list = history.values.as_list(history.operations.values[read as usize]).unwrap_or(&[]);
        &list[..length]
    }

    /// How much of the canonical list a read showed, if its source is known.
    fn length_seen(&self, read: u32, key: u32) -> Option<u32> {
        let observations = self.question.observations;
        match observations.sources[read as usize] {
            INITIAL => Some(0),
            NOBODY => None,
            _ => observations.prefix(read as usize, key).map(|(_, length)| length),
        }
    }

    /// Committed appends behind those of aborted transactions: one for each writer.
    fn dirty_updates(&mut self, key: u32, elements: &[Value], canonical: &[u32], installed_by: &[u32]) {
        let history = self.question.history;
        let mut aborted = None;
        let mut known = Vec::new();
        for (place, &element) in elements.iter().enumerate() {
            if canonical[place] == NOBODY {
                aborted = aborted.or_else(|| only_aborted(history, self.writes.of(element)));
            } else if let Some(below) = aborted
                && !known.contains(&canonical[place])
            {
                known.push(canonical[place]);
                let read = self.question.observations.canonical_read(key);
                self.found.dirty.push((read, below, installed_by[place]));
            }
        }
    }

    /// What the sources say of some versions, as groups of places one after the other; the strongest first.
    fn sequences(&self, key: u32, versions: &[(u32, u32)], is_list: bool) -> Vec<(Source, Vec<Vec<u32>>)> {
        let history = self.question.history;
        let values = &history.operations.values;
        let initial = &history.initial;
        let mut by_value: Vec<(Value, u32)> = versions
            .iter()
            .zip(0..)
            .filter(|&(&(writer, operation), _)| {
                let value = values[operation as usize];
                let may_be_initial = !is_list && !initial.replaceable && initial.of(key) == value;
                self.writer(value) == Some(writer) && !may_be_initial
            })
            .map(|(&(_, operation), place)| (values[operation as usize], place))
            .collect();
        by_value.sort_unstable();
        let mut sequences = Vec::new();
        for source in [VersionSource::Log, VersionSource::Declared] {
            for order in history.versions.iter().filter(|order| order.source == source) {
                let places = rows(order.of(key), &by_value, is_list);
                let source = if source == VersionSource::Log { Source::Log } else { Source::Declared };
                sequences.push((source, places.into_iter().map(|place| vec![place]).collect()));
            }
        }
        let commits = &history.transactions.commits;
        if !commits.is_empty() {
            sequences.push((Source::Timestamps, by_time(versions, commits)));
        }
        sequences
    }

    /// Puts versions in order: a chain by the strongest source, then the rest, and what other sources say.
    fn arrange(
        &mut self,
        key: u32,
        versions: Versions,
        first: (Source, Vec<Vec<u32>>),
        is_list: bool,
    ) -> Arranged {
        let mut sequences = vec![first];
        if !self.question.history.versions.is_empty()
            || !self.question.history.transactions.commits.is_empty()
        {
            sequences.extend(self.sequences(key, &versions, is_list));
        }
        let believed = self.question.believed;
        sequences.retain(|(source, groups)| {
            let is_heard = believed.is_none_or(|believed| believed == *source || *source == Source::Initial);
            !groups.is_empty() && is_heard
        });
        for (source, groups) in &sequences {
            let is_new = *source != Source::Initial && !self.found.speaking.contains(source);
            if groups.len() > 1 && is_new {
                self.found.speaking.push(*source);
            }
        }
        let mut arranged = Arranged::new(versions, sequences.first());
        for (source, groups) in sequences.iter().skip(1) {
            self.take(key, &mut arranged, *source, groups);
        }
        if is_list {
            arranged.keep_program_order();
        }
        arranged
    }

    /// Adds what a weaker source says, unless that contradicts a stronger one.
    fn take(&mut self, key: u32, arranged: &mut Arranged, source: Source, groups: &[Vec<u32>]) {
        let further: Vec<Extra> = between_groups(groups, source)
            .map(|extra| Extra {
                before: arranged.place_of[extra.before as usize],
                after: arranged.place_of[extra.after as usize],
                source,
            })
            .collect();
        let count = arranged.versions.len() as u32 + 1;
        let mut all = arranged.known();
        all.extend(&further);
        let Some(circle) = circle(0..count, &all) else {
            let chain = arranged.chain;
            arranged.extras.extend(further.into_iter().filter(|e| e.before >= chain || e.after >= chain));
            return;
        };
        let start = self.found.writers.len() as u32;
        let stronger = circle.iter().find(|extra| extra.source != source);
        let blamed = stronger.or_else(|| circle.first());
        self.found.contradictions.extend(blamed.map(|blamed| Contradiction {
            key,
            stronger: blamed.source,
            weaker: source,
            before: start + blamed.before,
            after: start + blamed.after,
        }));
    }

    /// The counted transaction that alone wrote `value`.
    fn writer(&self, value: Value) -> Option<u32> {
        let writes = self.writes.of(value);
        let first = writes.first()?.transaction;
        let is_sure = self.counts(first) && writes.iter().all(|write| write.transaction == first);
        is_sure.then_some(first)
    }

    fn register(&mut self, key: u32, gathered: &[Operation]) {
        let mut versions: Versions = Vec::new();
        for operation in gathered.iter().filter(|o| o.kind.installs() && self.counts(o.transaction)) {
            match versions.last_mut() {
                Some(last) if last.0 == operation.transaction => last.1 = operation.number,
                _ => versions.push((operation.transaction, operation.number)),
            }
        }
        let first = self.first_state(&versions);
        let arranged = self.arrange(key, versions, (Source::Initial, first), false);
        self.observe(gathered, &arranged);
        let start = self.found.writers.len() as u32;
        self.push(&arranged);
        let mut taken: Vec<Extra> = arranged.extras.iter().map(|extra| extra.moved(start)).collect();
        if arranged.chain as usize <= arranged.versions.len() || self.question.claims.any() {
            self.infer(key, gathered, &mut taken, start, &arranged);
        }
        self.found.extras.append(&mut taken);
    }

    /// What a first state inserted, and everything else, if there is such a state.
    fn first_state(&self, versions: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let is_first = |&(writer, _): &(u32, u32)| self.question.first.contains(&writer);
        if self.question.first.is_empty() || !versions.iter().any(is_first) {
            return Vec::new();
        }
        let places = (0..versions.len() as u32).partition(|&place| is_first(&versions[place as usize]));
        let (first, others): (Vec<u32>, Vec<u32>) = places;
        [first, others].into_iter().filter(|group| !group.is_empty()).collect()
    }

    /// Says which version each external read showed, by places from the initial version on.
    fn observe(&self, gathered: &[Operation], arranged: &Arranged) {
        let writers = arranged.versions.iter().map(|&(writer, _)| writer);
        let mut by_writer: Vec<(u32, u32)> = writers.zip(1..).collect();
        by_writer.sort_unstable();
        for read in gathered.iter().filter(|o| o.kind == Kind::Read && self.counts(o.transaction)) {
            match self.question.observations.sources[read.number as usize] {
                NOBODY => {}
                INITIAL => self.observed.set(read.number, 0),
                writer => {
                    if let Ok(found) = by_writer.binary_search_by_key(&writer, |&(writer, _)| writer) {
                        self.observed.set(read.number, by_writer[found].1);
                    }
                }
            }
        }
    }

    /// Order that follows from claims, reads, sessions and real time, between versions of one register.
    fn infer(
        &mut self,
        key: u32,
        gathered: &[Operation],
        taken: &mut Vec<Extra>,
        start: u32,
        arranged: &Arranged,
    ) {
        let count = arranged.versions.len() as u32;
        let versions = start..start + count + 1;
        let touches = self.touches(gathered, start, count);
        let given = arranged.known();
        let given: Vec<Extra> = given.iter().map(|extra| extra.moved(start)).collect();
        let claims = self.question.claims;
        let claimed = [
            (claims.writes_follow_reads, Source::AssumeWritesFollowReads),
            (claims.sequential_keys, Source::AssumeSequentialKeys),
            (claims.linearizable_keys, Source::AssumeLinearizableKeys),
        ];
        let wanted = claimed.into_iter().filter(|&(wanted, _)| wanted);
        let further: Vec<Extra> = wanted.flat_map(|(_, source)| self.pairs(&touches, source)).collect();
        let mut known = given;
        if !further.is_empty() {
            let all: Vec<Extra> = known.iter().chain(&further).copied().collect();
            match circle(versions.clone(), &all) {
                Some(circle) => self.found.circles.push((key, circle)),
                None => {
                    taken.extend(&further);
                    known = all;
                }
            }
        }
        let is_open = |version: u32| version >= start + arranged.chain;
        for source in [Source::ReadThenWrite, Source::Session, Source::RealTime] {
            let mut further = self.pairs(&touches, source);
            further.retain(|extra| is_open(extra.before) || is_open(extra.after));
            if further.is_empty() {
                continue;
            }
            let all: Vec<Extra> = known.iter().chain(&further).copied().collect();
            // Order that is inferred and leads in a circle: the edges that it was inferred from do too.
            let knots = knots(versions.clone(), &all);
            further.retain(|extra| {
                knots[(extra.before - start) as usize] != knots[(extra.after - start) as usize]
            });
            taken.extend(&further);
            known.extend(&further);
        }
    }

    /// What each transaction did to one register, in the order of the history.
    fn touches(&self, gathered: &[Operation], start: u32, count: u32) -> Vec<Touch> {
        let mut by_writer: Vec<(u32, u32)> = (start + 1..=start + count)
            .map(|version| (self.found.writers[version as usize], version))
            .collect();
        by_writer.sort_unstable();
        let version_of = |writer: u32| match writer {
            INITIAL => Some(start),
            NOBODY => None,
            _ => by_writer
                .binary_search_by_key(&writer, |&(writer, _)| writer)
                .ok()
                .map(|found| by_writer[found].1),
        };
        let runs = gathered.chunk_by(|a, b| a.transaction == b.transaction);
        let counted = runs.filter(|run| self.counts(run[0].transaction));
        counted
            .filter_map(|run| {
                let transaction = run[0].transaction;
                let first_write = run.iter().position(|operation| operation.kind.installs());
                let reads = &run[..first_write.unwrap_or(run.len())];
                let sources = &self.question.observations.sources;
                let seen = reads.iter().filter_map(|read| version_of(sources[read.number as usize]));
                let reads: Vec<u32> = seen.collect();
                let write = first_write.and_then(|_| version_of(transaction));
                (!reads.is_empty() || write.is_some()).then_some(Touch { transaction, reads, write })
            })
            .collect()
    }

    fn pairs(&self, touches: &[Touch], source: Source) -> Vec<Extra> {
        let history = self.question.history;
        let times = self.question.times;
        match source {
            Source::ReadThenWrite | Source::AssumeWritesFollowReads => {
                let both = touches.iter().flat_map(|touch| {
                    let reads =
                        touch.write.map(|after| touch.reads.iter().map(move |&before| (before, after)));
                    reads.into_iter().flatten()
                });
                let pairs = both.filter(|(before, after)| before != after);
                pairs.map(|(before, after)| Extra { before, after, source }).collect()
            }
            Source::Session | Source::AssumeSequentialKeys => {
                let is_claim = source == Source::AssumeSequentialKeys;
                let mut kept: Vec<&Touch> =
                    touches.iter().filter(|touch| is_claim || touch.write.is_some()).collect();
                let place = |touch: &&Touch| {
                    let transaction = touch.transaction as usize;
                    (history.transactions.sessions[transaction], times.place_in_session[transaction])
                };
                kept.sort_unstable_by_key(place);
                let same = |pair: &&[&Touch]| place(&pair[0]).0 == place(&pair[1]).0;
                let pairs = kept.windows(2).filter(same);
                pairs.flat_map(|pair| orders_of(pair[0], pair[1], source, is_claim)).collect()
            }
            Source::RealTime | Source::AssumeLinearizableKeys => {
                let is_claim = source == Source::AssumeLinearizableKeys;
                let kept: Vec<&Touch> =
                    touches.iter().filter(|touch| is_claim || touch.write.is_some()).collect();
                let transactions: Vec<u32> = kept.iter().map(|touch| touch.transaction).collect();
                let pairs = times.frontier(&transactions).into_iter();
                let orders =
                    pairs.flat_map(|(a, b)| orders_of(kept[a as usize], kept[b as usize], source, is_claim));
                let mut found: Vec<Extra> = orders.collect();
                if is_claim {
                    let in_sessions = self.pairs(touches, Source::AssumeSequentialKeys).into_iter();
                    found.extend(in_sessions.map(|extra| Extra { source, ..extra }));
                }
                found
            }
            _ => Vec::new(),
        }
    }
}

impl Claims {
    fn any(self) -> bool {
        self.writes_follow_reads || self.sequential_keys || self.linearizable_keys
    }
}

/// What one transaction did to one register: the versions that it read before it wrote, and the one that it
/// left.
struct Touch {
    transaction: u32,
    reads: Vec<u32>,
    write: Option<u32>,
}

/// The order of versions that the order of two transactions shows: of writes only, or of all that the first
/// met and what the second met first.
fn orders_of(first: &Touch, second: &Touch, source: Source, any: bool) -> Vec<Extra> {
    let met = first.reads.iter().copied().filter(|_| any).chain(first.write);
    let after = if any { second.reads.first().copied().or(second.write) } else { second.write };
    let pairs = met.filter_map(|before| Some(Extra { before, after: after?, source }));
    pairs.filter(|extra| extra.before != extra.after).collect()
}

impl Extra {
    fn is_inferred(&self) -> bool {
        matches!(self.source, Source::ReadThenWrite | Source::Session | Source::RealTime)
    }

    fn moved(self, start: u32) -> Self {
        Self { before: self.before + start, after: self.after + start, source: self.source }
    }
}

/// The versions of a key by what sources say; places count from the initial version on, which is 0.
#[derive(Default)]
struct Arranged {
    /// Without the initial one, in their new order.
    versions: Versions,
    /// How many are in order, the initial one counted.
    chain: u32,
    /// What the rest comes after.
    after: u32,
    source: Source,
    extras: Vec<Extra>,
    /// For each version in its old order its new place.
    place_of: Vec<u32>,
}

impl Arranged {
    fn new(versions: Versions, first: Option<&(Source, Vec<Vec<u32>>)>) -> Self {
        let Some((source, groups)) = first else {
            let place_of = (1..=versions.len() as u32).collect();
            return Self { versions, chain: 1, place_of, ..Self::default() };
        };
        let single = groups.iter().take_while(|group| group.len() == 1).count();
        let all = groups.iter().map(Vec::len).sum::<usize>() == versions.len();
        // The last group may be one that nobody ordered, if it is all that is left.
        let has_tail = all && single + 1 == groups.len();
        let is_chain = single == groups.len() || has_tail;
        let in_chain: Vec<u32> =
            groups[..if is_chain { single } else { 0 }].iter().map(|group| group[0]).collect();
        let mut is_first = vec![false; versions.len()];
        in_chain.iter().for_each(|&place| is_first[place as usize] = true);
        let chain = in_chain.len() as u32 + 1;
        let mut rest: Vec<u32> =
            (0..versions.len() as u32).filter(|&place| !is_first[place as usize]).collect();
        // A list's versions come as reads show them, whoever is believed.
        rest.sort_unstable_by_key(|&place| versions[place as usize].1);
        let order: Vec<u32> = in_chain.into_iter().chain(rest).collect();
        let mut place_of = vec![0; versions.len()];
        order.iter().zip(1..).for_each(|(&old, new)| place_of[old as usize] = new);
        let mut new = Self {
            versions: order.iter().map(|&old| versions[old as usize]).collect(),
            chain,
            after: if has_tail { chain - 1 } else { 0 },
            source: *source,
            extras: Vec::new(),
            place_of,
        };
        if !is_chain {
            let pairs = between_groups(groups, *source).map(|extra| Extra {
                before: new.place_of[extra.before as usize],
                after: new.place_of[extra.after as usize],
                source: *source,
            });
            new.extras = pairs.collect();
        }
        new
    }

    /// One transaction's appends come in its order, unless sources say otherwise.
    fn keep_program_order(&mut self) {
        let open = self.versions.iter().zip(1..).filter(|&(_, place)| place >= self.chain);
        let mut appends: Vec<(u32, u32, u32)> =
            open.map(|(&(writer, operation), place)| (writer, operation, place)).collect();
        appends.sort_unstable();
        let same = appends.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let mut further: Vec<Extra> =
            same.map(|pair| Extra { before: pair[0].2, after: pair[1].2, source: Source::Nothing }).collect();
        if !further.is_empty() && !self.extras.is_empty() {
            let all: Vec<Extra> = self.known().into_iter().chain(further.iter().copied()).collect();
            let knots = knots(0..self.versions.len() as u32 + 1, &all);
            further.retain(|extra| knots[extra.before as usize] != knots[extra.after as usize]);
        }
        self.extras.extend(further);
    }

    /// The new place of the version that was at `place`, the initial one counted.
    fn place(&self, place: u32) -> u32 {
        if place == 0 { 0 } else { self.place_of[place as usize - 1] }
    }

    /// All that is known, the initial version first.
    fn known(&self) -> Vec<Extra> {
        let source = self.source;
        let chain = (1..self.chain).map(|after| Extra {
            before: after - 1,
            after,
            source: if after == 1 { Source::Initial } else { source },
        });
        let from = if self.after == 0 { Source::Initial } else { source };
        let tail = (self.chain..=self.versions.len() as u32).map(|after| Extra {
            before: self.after,
            after,
            source: from,
        });
        chain.chain(tail).chain(self.extras.iter().copied()).collect()
    }
}

/// All of each group before all of the next.
fn between_groups(groups: &[Vec<u32>], source: Source) -> impl Iterator<Item = Extra> {
    groups.windows(2).flat_map(move |pair| {
        let (first, second) = (&pair[0], &pair[1]);
        first.iter().flat_map(move |&before| second.iter().map(move |&after| Extra { before, after, source }))
    })
}

/// The places of the versions that a record lists. Of a register's value that is there several times the last
/// mention counts; of a list each mention is the next append of that value.
fn rows(record: &[Value], by_value: &[(Value, u32)], is_list: bool) -> Vec<u32> {
    let mut taken = hashbrown::HashSet::new();
    let mut place_of = |value: Value| {
        let first = by_value.partition_point(|&(known, _)| known < value);
        let mut same = by_value[first..].iter().take_while(|&&(known, _)| known == value);
        same.find(|&&(_, place)| taken.insert(place)).map(|&(_, place)| place)
    };
    if is_list {
        return record.iter().filter_map(|&value| place_of(value)).collect();
    }
    let mut places: Vec<u32> = record.iter().rev().filter_map(|&value| place_of(value)).collect();
    places.reverse();
    places
}

/// Versions in the order of their commit timestamps, those with equal ones together.
fn by_time(
    versions: &[(u32, u32)],
    commits: &crate::history::Optional<crate::history::Timestamp>,
) -> Vec<Vec<u32>> {
    let mut timed: Vec<((i64, i64), u32)> = versions
        .iter()
        .zip(0..)
        .filter_map(|(&(writer, _), place)| Some((commits.get(writer as usize).parts()?, place)))
        .collect();
    timed.sort_unstable();
    let groups = timed.chunk_by(|a, b| a.0 == b.0);
    groups.map(|same| same.iter().map(|&(_, place)| place).collect()).collect()
}

/// The strongly connected part that each version is in.
fn knots(versions: Range<u32>, order: &[Extra]) -> Vec<u32> {
    let start = versions.start;
    let pairs: Vec<(u32, u32)> =
        order.iter().map(|extra| (extra.after - start, extra.before - start)).collect();
    let edges = crate::graph::Edges::collected(versions.len(), &[&pairs]);
    super::dependencies::components(&edges, versions.len()).of
}

/// The append by an aborted transaction that alone can have made an element.
fn only_aborted(history: &History, writes: &[Write]) -> Option<u32> {
    let [write] = writes else { return None };
    let status = history.transactions.statuses[write.transaction as usize];
    (status == crate::history::Status::Aborted).then_some(write.operation)
}

/// A circle in the order of some versions, if there is one: a short one.
fn circle(versions: Range<u32>, order: &[Extra]) -> Option<Vec<Extra>> {
    let start = versions.start;
    let count = versions.len();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    let mut waiting = vec![0u32; count];
    for extra in &sorted {
        waiting[(extra.after - start) as usize] += 1;
    }
    let after = |version: u32| {
        let from = sorted.partition_point(|extra| extra.before < version);
        sorted[from..].iter().take_while(move |extra| extra.before == version)
    };
    let mut free: Vec<u32> = (0..count as u32).filter(|&place| waiting[place as usize] == 0).collect();
    let mut left = count;
    while let Some(place) = free.pop() {
        left -= 1;
        for extra in after(start + place) {
            let waiting = &mut waiting[(extra.after - start) as usize];
            *waiting -= 1;
            if *waiting == 0 {
                free.push(extra.after - start);
            }
        }
    }
    if left == 0 {
        return None;
    }
    let on_circle = (0..count as u32).filter(|&place| waiting[place as usize] > 0);
    on_circle.filter_map(|place| shortest_circle(start, start + place, count, &after)).min_by_key(Vec::len)
}

/// The shortest way from a version back to itself.
fn shortest_circle<'o, I: Iterator<Item = &'o Extra>>(
    start: u32,
    version: u32,
    count: usize,
    after: &impl Fn(u32) -> I,
) -> Option<Vec<Extra>> {
    let mut came_by: Vec<Option<Extra>> = vec![None; count];
    let mut reached = vec![version];
    let mut next = 0;
    while next < reached.len() {
        for &extra in after(reached[next]) {
            if extra.after == version {
                let mut way = vec![extra];
                while way[way.len() - 1].before != version {
                    way.push(came_by[(way[way.len() - 1].before - start) as usize]?);
                }
                way.reverse();
                return Some(way);
            }
            let slot = &mut came_by[(extra.after - start) as usize];
            if slot.is_none() {
                *slot = Some(extra);
                reached.push(extra.after);
            }
        }
        next += 1;
    }
    None
}
