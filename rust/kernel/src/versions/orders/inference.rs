//! Order that no source recorded: what claims, reads, sessions and real time say of a register's versions.

use super::key_order::Arranged;
use super::key_versions::Share;
use super::version_cycle::{circle, knots};
use super::{Extra, Source};
use crate::by_key::Operation;
use crate::observations::{ABSENT, INITIAL};

impl Share<'_> {
    /// Order that follows from claims, reads, sessions and real time, between versions of one register.
    pub(super) fn infer(
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
            if let Some(circle) = circle(versions.clone(), &all) {
                self.found.circles.push((key, circle));
            } else {
                taken.extend(&further);
                known = all;
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
            ABSENT => None,
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
