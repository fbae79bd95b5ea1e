//! The versions of every key, and what is known of the order in which they were installed.
//!
//! `reference/versions.py` is the specification. Every key is looked at by itself, so keys are shared
//! between cores. Cost: a sort of each key's writes, near linear.

use super::times::Times;
use crate::by_key::{ByKey, Operation, Shape, Write, Writes, gather, shape};
use crate::cancel::Cancel;
use crate::history::{History, Kind, VersionSource};
use crate::observations::{INITIAL, NOBODY, Observations, Sources};
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
    /// Sources that disagree.
    pub contradictions: Vec<Contradiction>,
    /// Keys whose versions the claims put in a circle, with that circle.
    pub circles: Vec<(u32, Vec<Extra>)>,
    /// (list read, aborted append, committed append behind it).
    pub dirty: Vec<(u32, u32, u32)>,
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
    /// Where sources disagree, this one is believed.
    pub believed: Option<Source>,
    /// Versions that predicate reads and reads of deleted keys showed: (operation, key, writer).
    pub further: &'h [(u32, u32, u32)],
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
        all.extras.sort_unstable();
        all.extras.dedup_by_key(|extra| (extra.before, extra.after));
        for &(operation, key, writer) in question.further {
            all.observed[operation as usize] = all.version_of(key, writer).unwrap_or(NOBODY);
        }
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
    }

    /// The version of `key` that `writer` left.
    #[must_use]
    pub fn version_of(&self, key: u32, writer: u32) -> Option<u32> {
        let order = &self.keys[key as usize];
        (order.start..order.end).rev().find(|&version| self.writers[version as usize] == writer)
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
        self.keys.iter().all(|order| order.tail().len() == 0 || is_only_after_chain(order))
    }
}

/// Whether one version is left, which comes after all others.
fn is_only_after_chain(order: &KeyOrder) -> bool {
    order.tail().len() == 1 && order.after + 1 == order.chain
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
            Shape::Mixed => self.push(&[], &[], 0, Source::Nothing),
        }
        self.gathered = gathered;
    }

    /// Adds a key: the initial version, `chain` in order, then `tail`, which comes after place `after`.
    fn push(&mut self, chain: &[(u32, u32)], tail: &[(u32, u32)], after: u32, source: Source) {
        let start = self.found.writers.len() as u32;
        self.found.writers.push(INITIAL);
        self.found.operations.push(NOBODY);
        for &(writer, operation) in chain.iter().chain(tail) {
            self.found.writers.push(writer);
            self.found.operations.push(operation);
        }
        let end = self.found.writers.len() as u32;
        let chain = chain.len() as u32 + 1;
        self.found.keys.push(KeyOrder { start, end, chain, after, source });
    }

    fn list(&mut self, key: u32, gathered: &[Operation]) {
        let observations = self.question.observations;
        let canonical = observations.canonical(key);
        let elements = self.canonical_elements(key, canonical.len());
        let mut shown: Vec<(Value, u32)> = elements.iter().copied().zip(0..).collect();
        shown.sort_unstable();
        let place_of = |value: Value| {
            let place = shown.binary_search_by_key(&value, |&(shown, _)| shown).ok()?;
            Some(shown[place].1)
        };
        let mut installed_by = vec![NOBODY; elements.len()];
        let mut tail: Versions = Vec::new();
        for operation in gathered.iter().filter(|o| o.kind.installs() && self.counts(o.transaction)) {
            match place_of(operation.value) {
                Some(place) => installed_by[place as usize] = operation.number,
                None if tail.last().is_some_and(|&(writer, _)| writer == operation.transaction) => {}
                None => tail.push((operation.transaction, operation.number)),
            }
        }
        let mut known = vec![0u32; elements.len() + 1];
        let mut chain: Versions = Vec::new();
        for (place, (&writer, &operation)) in canonical.iter().zip(&installed_by).enumerate() {
            if writer != NOBODY {
                chain.push((writer, operation));
            }
            known[place + 1] = chain.len() as u32;
        }
        for read in gathered.iter().filter(|o| o.kind == Kind::Read && self.counts(o.transaction)) {
            if let Some(length) = self.length_seen(read.number, key) {
                self.observed.set(read.number, known[length as usize]);
            }
        }
        self.dirty_updates(key, elements, canonical, &installed_by);
        let after = chain.len() as u32;
        if tail.len() < 2 {
            return self.push(&chain, &tail, after, Source::ListRead);
        }
        let start = self.found.writers.len() as u32;
        self.push(&chain, &tail, after, Source::ListRead);
        let base = start + after + 1;
        self.order_tail(key, &tail, base);
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

    /// What log, declaration, timestamps and claims say of the versions that no list shows.
    fn order_tail(&mut self, key: u32, tail: &[(u32, u32)], base: u32) {
        let mut sequences = self.sequences(key, tail);
        sequences.retain(|(_, places)| places.len() > 1);
        let believed = self.question.believed;
        if sequences.len() > 1 && believed.is_some() && disagree(&sequences) {
            sequences.retain(|(source, _)| Some(*source) == believed);
        }
        let mut taken: Vec<Extra> = Vec::new();
        for (source, places) in sequences {
            let further: Vec<Extra> = consecutive(&places, source, base).collect();
            self.take(key, &mut taken, further, base..base + tail.len() as u32);
        }
        self.found.extras.append(&mut taken);
    }

    /// Adds `further` order unless that makes a circle, which is a contradiction.
    fn take(&mut self, key: u32, taken: &mut Vec<Extra>, further: Vec<Extra>, versions: Range<u32>) {
        let all: Vec<Extra> = taken.iter().chain(&further).copied().collect();
        let Some(circle) = circle(versions, &all) else {
            *taken = all;
            return;
        };
        let of_weaker = circle.iter().find(|extra| further.contains(extra)).copied();
        let of_stronger = circle.iter().find(|extra| !further.contains(extra)).copied();
        if let (Some(weaker), Some(stronger)) = (of_weaker, of_stronger) {
            self.found.contradictions.push(Contradiction {
                key,
                stronger: stronger.source,
                weaker: weaker.source,
                before: stronger.before,
                after: stronger.after,
            });
        }
    }

    /// The orders that the history records for these versions, as places among them; the strongest first.
    fn sequences(&self, key: u32, versions: &[(u32, u32)]) -> Vec<(Source, Vec<u32>)> {
        let history = self.question.history;
        let mut by_writer: Vec<(u32, u32)> = versions.iter().map(|&(writer, _)| writer).zip(0..).collect();
        by_writer.sort_unstable();
        let place_of = |writer: u32| {
            let found = by_writer.binary_search_by_key(&writer, |&(writer, _)| writer).ok()?;
            Some(by_writer[found].1)
        };
        let mut sequences = Vec::new();
        for source in [VersionSource::Log, VersionSource::Declared] {
            for order in history.versions.iter().filter(|order| order.source == source) {
                let writers = order.of(key).iter().filter_map(|&value| self.writer(value));
                let mut places: Vec<u32> = writers.filter_map(place_of).collect();
                keep_last(&mut places);
                let source = if source == VersionSource::Log { Source::Log } else { Source::Declared };
                sequences.push((source, places));
            }
        }
        let commits = &history.transactions.commits;
        if !commits.is_empty() {
            sequences.push((Source::Timestamps, by_time(versions, commits)));
        }
        sequences
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
        let order = self.order_register(key, versions);
        self.observe(gathered, &order);
        let Registered { chain, tail, source, extras } = order;
        let start = self.found.writers.len() as u32;
        self.push(&chain, &tail, 0, source);
        let count = (chain.len() + tail.len()) as u32;
        let place = |place: u32| start + 1 + place;
        let known = extras.into_iter().map(|extra| Extra {
            before: place(extra.before),
            after: place(extra.after),
            source: extra.source,
        });
        let mut taken: Vec<Extra> = known.collect();
        if !tail.is_empty() || self.question.claims.any() {
            self.infer(key, gathered, &mut taken, start, chain.len() as u32, count);
        }
        self.found.extras.append(&mut taken);
    }

    /// The chain by the strongest source, the rest, and what weaker sources say of the rest.
    fn order_register(&mut self, key: u32, versions: Versions) -> Registered {
        let mut sequences = self.sequences(key, &versions);
        sequences.retain(|(_, places)| !places.is_empty());
        if let Some(believed) = self.question.believed
            && disagree(&sequences)
        {
            sequences.retain(|(source, _)| *source == believed);
        }
        let Some((source, first)) = sequences.first().cloned() else {
            return Registered { tail: versions, ..Registered::default() };
        };
        let mut is_first = vec![false; versions.len()];
        first.iter().for_each(|&place| is_first[place as usize] = true);
        let rest = (0..versions.len() as u32).filter(|&place| !is_first[place as usize]);
        let renumbered: Vec<u32> = first.iter().copied().chain(rest).collect();
        let mut new_place = vec![0; versions.len()];
        renumbered.iter().zip(0..).for_each(|(&old, new)| new_place[old as usize] = new);
        let pick = |places: &[u32]| places.iter().map(|&place| versions[place as usize]).collect();
        let (chain, tail): (Versions, Versions) = (pick(&first), pick(&renumbered[first.len()..]));
        let start = self.found.writers.len() as u32 + 1;
        let mut extras: Vec<Extra> = Vec::new();
        let chain_edges: Vec<Extra> =
            (1..first.len() as u32).map(|place| Extra { before: place - 1, after: place, source }).collect();
        for (weaker, places) in &sequences[1..] {
            let places: Vec<u32> = places.iter().map(|&place| new_place[place as usize]).collect();
            let further: Vec<Extra> = consecutive(&places, *weaker, 0).collect();
            let all: Vec<Extra> = chain_edges.iter().chain(&extras).chain(&further).copied().collect();
            if let Some(circle) = circle(0..versions.len() as u32, &all) {
                if let Some(stronger) = circle.iter().find(|extra| !further.contains(extra)) {
                    self.found.contradictions.push(Contradiction {
                        key,
                        stronger: stronger.source,
                        weaker: *weaker,
                        before: start + stronger.before,
                        after: start + stronger.after,
                    });
                }
                continue;
            }
            let in_chain = first.len() as u32;
            extras.extend(further.into_iter().filter(|e| e.before >= in_chain || e.after >= in_chain));
        }
        Registered { chain, tail, source, extras }
    }

    /// Says which version each external read showed, by places from the initial version on.
    fn observe(&self, gathered: &[Operation], order: &Registered) {
        let mut by_writer: Vec<(u32, u32)> =
            order.chain.iter().chain(&order.tail).map(|&(writer, _)| writer).zip(1..).collect();
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

    /// Order that follows from reads, sessions, real time and claims, between versions of one register.
    fn infer(
        &mut self,
        key: u32,
        gathered: &[Operation],
        taken: &mut Vec<Extra>,
        start: u32,
        chained: u32,
        count: u32,
    ) {
        let touches = self.touches(gathered, start, count);
        let claims = self.question.claims;
        let chain_edges: Vec<Extra> = (0..chained)
            .map(|place| Extra { before: start + place, after: start + place + 1, source: Source::Nothing })
            .collect();
        let first: Vec<Extra> = (chained..count)
            .map(|place| Extra { before: start, after: start + place + 1, source: Source::Initial })
            .collect();
        let candidates: [(bool, Source); 6] = [
            (claims.writes_follow_reads, Source::AssumeWritesFollowReads),
            (claims.sequential_keys, Source::AssumeSequentialKeys),
            (claims.linearizable_keys, Source::AssumeLinearizableKeys),
            (true, Source::ReadThenWrite),
            (true, Source::Session),
            (true, Source::RealTime),
        ];
        for (_, source) in candidates.into_iter().filter(|&(wanted, _)| wanted) {
            let is_claim = source >= Source::AssumeWritesFollowReads;
            let mut further = self.pairs(&touches, source);
            if !is_claim {
                let is_open = |place: u32| place > start + chained;
                further.retain(|extra| is_open(extra.before) || is_open(extra.after));
            }
            if further.is_empty() {
                continue;
            }
            let known = chain_edges.iter().chain(&first).chain(taken.iter());
            let all: Vec<Extra> = known.chain(&further).copied().collect();
            match circle(start..start + count + 1, &all) {
                None => taken.extend(further),
                // Order that is inferred and leads in a circle: the edges that it was inferred from do too.
                Some(_) if !is_claim => {}
                Some(circle) => self.found.circles.push((key, circle)),
            }
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
                let mut seen = reads.iter().filter_map(|read| version_of(sources[read.number as usize]));
                let read = seen.next();
                let last_read = seen.next_back().or(read);
                let write = first_write.and_then(|_| version_of(transaction));
                (read.is_some() || write.is_some()).then_some(Touch { transaction, read, last_read, write })
            })
            .collect()
    }

    fn pairs(&self, touches: &[Touch], source: Source) -> Vec<Extra> {
        let history = self.question.history;
        let times = self.question.times;
        match source {
            Source::ReadThenWrite | Source::AssumeWritesFollowReads => {
                let both = touches.iter().filter_map(|touch| {
                    let (before, after) = (touch.last_read?, touch.write?);
                    Some(Extra { before, after, source })
                });
                both.filter(|extra| extra.before != extra.after).collect()
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
                pairs.filter_map(|pair| order_of(pair[0], pair[1], source, is_claim)).collect()
            }
            Source::RealTime | Source::AssumeLinearizableKeys => {
                let is_claim = source == Source::AssumeLinearizableKeys;
                let kept: Vec<&Touch> =
                    touches.iter().filter(|touch| is_claim || touch.write.is_some()).collect();
                let transactions: Vec<u32> = kept.iter().map(|touch| touch.transaction).collect();
                let pairs = times.frontier(&transactions);
                let orders = pairs
                    .into_iter()
                    .map(|(a, b)| order_of(kept[a as usize], kept[b as usize], source, is_claim));
                orders.flatten().collect()
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

/// What one transaction did to one register: the versions that it read first and last before it wrote, and
/// the one that it left.
struct Touch {
    transaction: u32,
    read: Option<u32>,
    last_read: Option<u32>,
    write: Option<u32>,
}

/// The order of versions that the order of two transactions shows: of writes only, or of all that is seen.
fn order_of(first: &Touch, second: &Touch, source: Source, any: bool) -> Option<Extra> {
    let before = if any { first.write.or(first.last_read)? } else { first.write? };
    let after = if any { second.read.or(second.write)? } else { second.write? };
    (before != after).then_some(Extra { before, after, source })
}

/// A register's versions by what sources say.
#[derive(Default)]
struct Registered {
    chain: Versions,
    tail: Versions,
    source: Source,
    /// By places among all versions, the initial one not counted.
    extras: Vec<Extra>,
}

fn consecutive(places: &[u32], source: Source, base: u32) -> impl Iterator<Item = Extra> {
    places.windows(2).map(move |pair| Extra { before: base + pair[0], after: base + pair[1], source })
}

/// Whether two of the orders put the same two versions differently.
fn disagree(sequences: &[(Source, Vec<u32>)]) -> bool {
    let all: Vec<Extra> =
        sequences.iter().flat_map(|(source, places)| consecutive(places, *source, 0)).collect();
    let end = all.iter().map(|extra| extra.before.max(extra.after) + 1).max().unwrap_or(0);
    circle(0..end, &all).is_some()
}

/// Of a version that is there several times the last mention counts.
fn keep_last(places: &mut Vec<u32>) {
    let mut known = hashbrown::HashSet::new();
    let mut kept: Vec<u32> = places.iter().rev().copied().filter(|&place| known.insert(place)).collect();
    kept.reverse();
    *places = kept;
}

/// Versions in the order of their commit timestamps; those with a timestamp that another has too are left out.
fn by_time(
    versions: &[(u32, u32)],
    commits: &crate::history::Optional<crate::history::Timestamp>,
) -> Vec<u32> {
    let mut timed: Vec<((i64, i64), u32)> = versions
        .iter()
        .zip(0..)
        .filter_map(|(&(writer, _), place)| Some((commits.get(writer as usize).parts()?, place)))
        .collect();
    timed.sort_unstable();
    let alone = timed.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1);
    alone.map(|same| same[0].1).collect()
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
