//! The order of one key's versions that clocks show.

use super::session_clocks::{Clock, SessionClocks};
use crate::versions::dependencies::Pairs;
use crate::versions::orders::KeyOrder;
use crate::versions::version_readers::Readers;

/// What keys are looked at with.
pub(super) struct KeySaturation<'k, C> {
    pub(super) clocks: &'k SessionClocks<C>,
    pub(super) readers: &'k Readers,
    /// The node that wrote each version.
    pub(super) nodes: &'k [u32],
}

/// The versions of one key.
struct Versions<C> {
    /// In the order of their writers' rows, with the writers.
    sorted: Vec<(u32, u32)>,
    /// For each of them and each session, how many transactions come before its writer or a reader.
    joined: Vec<C>,
    /// Places of versions by session, and where each session ends.
    by_session: Vec<u32>,
    /// The place of each of their writers in its session.
    counts: Vec<u32>,
    sessions: Vec<(usize, usize)>,
}

impl<C: Clock> KeySaturation<'_, C> {
    /// Edges (node, predecessor) that follow and are not known.
    pub(super) fn edges(&self, order: &KeyOrder) -> Pairs {
        let mut found = Pairs::new();
        let key = self.versions(order);
        // For each session, how many of its versions are older than the last one looked at.
        let mut older = vec![0; key.sessions.len()];
        let mut candidates = Vec::new();
        for place in 0..key.sorted.len() {
            candidates.clear();
            self.older(&key, place, &mut older, &mut candidates);
            self.add_latest(&key, place, &mut candidates, &mut found);
        }
        found
    }

    fn versions(&self, order: &KeyOrder) -> Versions<C> {
        let (clocks, width) = (self.clocks, self.clocks.sessions());
        let mut versions: Vec<(u32, u32)> =
            (order.start + 1..order.end).map(|version| (version, self.nodes[version as usize])).collect();
        versions.sort_unstable_by_key(|&(version, node)| (clocks.place(node), version));
        let mut joined = Vec::with_capacity(versions.len() * width);
        for &(version, writer) in &versions {
            let start = joined.len();
            joined.resize(start + width, C::default());
            clocks.join_into(&mut joined[start..], writer);
            joined[start + clocks.session(writer)] = C::from_count(clocks.count(writer) - 1);
            for &reader in self.readers.of(version).iter().filter(|&&reader| reader != writer) {
                // A reader that overwrites the version comes after it.
                let own = clocks.session(reader);
                let kept = joined[start + own].max(C::from_count(clocks.count(reader) - 1));
                let row = &mut joined[start..];
                clocks.join_into(row, reader);
                row[own] = kept;
            }
        }
        let mut by_session: Vec<u32> = (0..versions.len() as u32).collect();
        let writer = |place: u32| versions[place as usize].1;
        by_session.sort_unstable_by_key(|&place| {
            (clocks.session(writer(place)), clocks.count(writer(place)), place)
        });
        let counts = by_session.iter().map(|&place| clocks.count(writer(place))).collect();
        let mut sessions: Vec<(usize, usize)> = Vec::new();
        for (&place, end) in by_session.iter().zip(1..) {
            let session = clocks.session(writer(place));
            match sessions.last_mut() {
                Some(last) if last.0 == session => last.1 = end,
                _ => sessions.push((session, end)),
            }
        }
        Versions { sorted: versions, joined, by_session, counts, sessions }
    }

    /// The latest version of each session that is older than the one at `place`.
    fn older(&self, key: &Versions<C>, place: usize, older: &mut [usize], found: &mut Vec<u32>) {
        let joined = self.joined(key, place);
        let mut start = 0;
        for (&(session, end), older) in key.sessions.iter().zip(older) {
            let (rows, counts) = (&key.by_session[start..end], &key.counts[start..end]);
            start = end;
            let clock: u32 = joined[session].into();
            while *older < counts.len() && counts[*older] <= clock {
                *older += 1;
            }
            while *older > 0 && counts[*older - 1] > clock {
                *older -= 1;
            }
            let mut last = rows[..*older].iter().rev().copied();
            found.extend(last.find(|&other| other as usize != place));
        }
    }

    fn joined<'j>(&self, key: &'j Versions<C>, place: usize) -> &'j [C] {
        let width = self.clocks.sessions();
        &key.joined[place * width..(place + 1) * width]
    }

    /// Adds the edges from older versions that no other one of them hides.
    fn add_latest(&self, key: &Versions<C>, place: usize, older: &mut Vec<u32>, found: &mut Pairs) {
        let clocks = self.clocks;
        while let Some(&latest) = older.iter().max() {
            self.add(key, latest, place, found);
            let hidden = self.joined(key, latest as usize);
            older.retain(|&other| {
                let writer = key.sorted[other as usize].1;
                other != latest && hidden[clocks.session(writer)].into() < clocks.count(writer)
            });
        }
    }

    fn add(&self, key: &Versions<C>, before: u32, after: usize, found: &mut Pairs) {
        let (version, writer) = key.sorted[before as usize];
        let after = key.sorted[after].1;
        let nodes = self.readers.of(version).iter().copied().chain([writer]);
        let missing = nodes.filter(|&node| node != after && !self.clocks.reaches(node, after));
        found.extend(missing.map(|node| (after, node)));
    }
}
