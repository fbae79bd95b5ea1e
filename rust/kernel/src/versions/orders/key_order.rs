//! What sources say of one key's versions: a chain by the strongest, and what others add to it.

use super::key_versions::{Share, Versions};
use super::version_cycle::{circle, knots};
use super::{Contradiction, Extra, Source};
use crate::history::VersionSource;
use crate::value::Value;

/// The versions of a key by what sources say; places count from the initial version on, which is 0.
#[derive(Default)]
pub(super) struct Arranged {
    /// Without the initial one, in their new order.
    pub(super) versions: Versions,
    /// How many are in order, the initial one counted.
    pub(super) chain: u32,
    /// What the rest comes after.
    pub(super) after: u32,
    pub(super) source: Source,
    pub(super) extras: Vec<Extra>,
    /// For each version in its old order its new place.
    pub(super) place_of: Vec<u32>,
}

impl Arranged {
    pub(super) fn new(versions: Versions, first: Option<&(Source, Vec<Vec<u32>>)>) -> Self {
        let Some((source, groups)) = first else {
            let place_of = (1..=versions.len() as u32).collect();
            return Self { versions, chain: 1, place_of, ..Self::default() };
        };
        let single = groups.iter().take_while(|group| group.len() == 1).count();
        let all = groups.iter().map(Vec::len).sum::<usize>() == versions.len();
        // The last group may be one without an order, if it is all that is left.
        let has_tail = all && single + 1 == groups.len();
        let is_chain = single == groups.len() || has_tail;
        let in_chain: Vec<u32> =
            groups[..if is_chain { single } else { 0 }].iter().map(|group| group[0]).collect();
        let mut is_first = vec![false; versions.len()];
        for &place in &in_chain {
            is_first[place as usize] = true;
        }
        let chain = in_chain.len() as u32 + 1;
        let mut rest: Vec<u32> =
            (0..versions.len() as u32).filter(|&place| !is_first[place as usize]).collect();
        // A list's versions come as reads show them, whatever source is believed.
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
    pub(super) fn place(&self, place: u32) -> u32 {
        if place == 0 { 0 } else { self.place_of[place as usize - 1] }
    }

    /// All that is known, the initial version first.
    pub(super) fn known(&self) -> Vec<Extra> {
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

impl Share<'_> {
    /// What the sources say of some versions, as groups of places one after the other; the strongest first.
    fn sequences(&self, key: u32, versions: &[(u32, u32)], is_list: bool) -> Vec<(Source, Vec<Vec<u32>>)> {
        let history = self.question.history;
        // Only a record names versions by their values.
        let by_value =
            if history.versions.is_empty() { Vec::new() } else { self.by_value(key, versions, is_list) };
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

    /// The values that one of the versions alone has, sorted, with the places of the versions.
    fn by_value(&self, key: u32, versions: &[(u32, u32)], is_list: bool) -> Vec<(Value, u32)> {
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
        by_value
    }

    /// Puts versions in order: a chain by the strongest source, then the rest, and what other sources say.
    pub(super) fn arrange(
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
