//! The versions of every key, and what is known of the order in which they were installed.
//!
//! `reference/versions.py` is the specification. Every key is looked at by itself, so keys are shared
//! between cores. Cost: a sort of each key's writes, near linear.

mod inference;
mod key_order;
mod key_versions;
pub mod ordered_keys;
mod total_order;
mod version_cycle;

use super::transaction_times::TransactionTimes;
use crate::by_key::ByKey;
use crate::cancel::Cancel;
use crate::history::History;
use crate::named_enum::named_enum;
use crate::observations::{ABSENT, INITIAL, Observations, Sources};
use key_versions::{Found, Share};
use rayon::prelude::*;
use std::ops::Range;

named_enum! {
    /// How the order of two versions is known, the strongest evidence first.
    #[derive(Default)]
    pub enum Source {
        #[default]
        Nothing => "",
        ListRead => "list read",
        Log => "log",
        Declared => "declared",
        Timestamps => "timestamps",
        /// The initial version comes first.
        Initial => "initial",
        /// A transaction read one and then wrote the other.
        ReadThenWrite => "read-then-write",
        Session => "session",
        RealTime => "real-time",
        AssumeWritesFollowReads => "assume writes-follow-reads",
        AssumeSequentialKeys => "assume sequential-keys",
        AssumeLinearizableKeys => "assume linearizable-keys",
        /// No evidence: the order is only supposed.
        Supposed => "supposed",
    }
}

/// What the user claims beside the evidence.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)]
pub struct Claims {
    pub writes_follow_reads: bool,
    pub sequential_keys: bool,
    pub linearizable_keys: bool,
}

impl Claims {
    /// The claims with these names; an error names one that is unknown.
    ///
    /// # Errors
    ///
    /// The first name that is no claim.
    pub fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, &'n str> {
        let mut claims = Self::default();
        for name in names {
            match name {
                "writes-follow-reads" => claims.writes_follow_reads = true,
                "sequential-keys" => claims.sequential_keys = true,
                "linearizable-keys" => claims.linearizable_keys = true,
                _ => return Err(name),
            }
        }
        Ok(claims)
    }

    pub(crate) fn any(self) -> bool {
        self.writes_follow_reads || self.sequential_keys || self.linearizable_keys
    }
}

/// One version comes before another, neither of which the chain of its key orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Extra {
    pub before: u32,
    pub after: u32,
    pub source: Source,
}

impl Extra {
    fn is_inferred(&self) -> bool {
        matches!(self.source, Source::ReadThenWrite | Source::Session | Source::RealTime)
    }

    fn moved(self, start: u32) -> Self {
        Self { before: self.before + start, after: self.after + start, source: self.source }
    }
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
    /// The source of the chain.
    pub source: Source,
}

impl KeyOrder {
    /// Versions in order.
    #[must_use]
    pub fn chain(&self) -> Range<u32> {
        self.start..self.start + self.chain
    }

    /// Versions that no source orders among the others.
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
    /// The transaction that installed each version; [`INITIAL`] for the first of each key.
    pub writers: Vec<u32>,
    /// The operation that installed it; [`ABSENT`] for the initial one.
    pub operations: Vec<u32>,
    /// Further order between versions, sorted.
    pub extras: Vec<Extra>,
    /// For each read the version that it showed as the last one; [`ABSENT`] if that is not known.
    pub observed: Vec<u32>,
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
    /// Keys with such appends, or with recorded rows of values that several transactions may have written.
    pub unsure_keys: Vec<u32>,
    /// (key, version) of what first transactions inserted, sorted.
    first: Vec<(u32, u32)>,
}

/// What the orders are made of.
pub struct Question<'h> {
    /// The history.
    pub history: &'h History,
    /// The transaction that served each read.
    pub observations: &'h Observations,
    /// When transactions began and ended.
    pub times: &'h TransactionTimes,
    /// What the user claims.
    pub claims: Claims,
    /// Only this source is heard.
    pub believed: Option<Source>,
    /// Transactions of the first state: what they insert comes before everything else.
    pub first: &'h [u32],
    /// Whether nothing follows from versions that came after what range reads left out: these show none.
    pub is_of_items: bool,
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
        all.observed.par_iter_mut().enumerate().filter(|(_, place)| **place != ABSENT).for_each(
            |(operation, place)| {
                // Until all shares were joined, places counted from the first version of the key.
                *place += starts[keys[operation] as usize].start;
            },
        );
        // Of several reasons the one that most levels believe counts.
        all.extras
            .sort_unstable_by_key(|extra| (extra.before, extra.after, extra.is_inferred(), extra.source));
        all.extras.dedup_by_key(|extra| (extra.before, extra.after));
        all.first = all.versions_of(question.first);
        all
    }

    /// (key, version) of what these transactions installed; they are sorted.
    fn versions_of(&self, transactions: &[u32]) -> Vec<(u32, u32)> {
        if transactions.is_empty() {
            return Vec::new();
        }
        let versions = self
            .keys
            .iter()
            .zip(0..)
            .flat_map(|(order, key)| (order.start..order.end).map(move |version| (key, version)));
        let is_theirs =
            |&(_, version): &(u32, u32)| transactions.binary_search(&self.writers[version as usize]).is_ok();
        versions.filter(is_theirs).collect()
    }

    /// What first transactions inserted of the key, if `version` is the state before them: a read of that comes
    /// after them all the same.
    pub fn first_after(&self, key: u32, version: u32) -> impl Iterator<Item = u32> {
        let start = self.first.partition_point(|&(other, _)| other < key);
        let is_initial = version != ABSENT && self.writers[version as usize] == INITIAL;
        let of_key = self.first[start..].iter().take_while(move |&&(other, _)| is_initial && other == key);
        of_key.map(|&(_, version)| version)
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
        self.unsure_keys.extend(&share.unsure_keys);
    }

    /// The version of `key` that `writer` left.
    #[must_use]
    pub fn version_of(&self, key: u32, writer: u32) -> Option<u32> {
        let order = &self.keys[key as usize];
        (order.start..order.end).rev().find(|&version| self.writers[version as usize] == writer)
    }

    /// The source that ordered the versions of a key.
    #[must_use]
    pub fn source_of(&self, key: u32) -> Source {
        self.keys.get(key as usize).map_or(Source::Nothing, |order| order.source)
    }

    /// The version of a key that stands last, whether it is known to be or not; none if no transaction wrote
    /// the key.
    #[must_use]
    pub fn last_version(&self, key: u32) -> Option<u32> {
        let order = &self.keys[key as usize];
        (order.end > order.start + 1).then(|| order.end - 1)
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

    /// Whether versions that may have been read are not in order; what list reads leave open was never read.
    #[must_use]
    pub fn has_open_registers(&self) -> bool {
        self.keys.iter().any(|order| self.is_open_register(order))
    }

    /// Whether this key has such versions.
    #[must_use]
    pub fn is_open_register(&self, order: &KeyOrder) -> bool {
        order.source != Source::ListRead && !self.is_whole(order)
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
