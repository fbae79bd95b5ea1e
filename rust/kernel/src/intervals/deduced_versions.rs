//! The order of versions that is certain by the mechanisms, as one that the history declares.

use super::engine::Engine;
use super::key::Version;
use super::unjudged_operations::leave_out_unjudged;
use super::version_order::{Rules, static_order};
use crate::history::{History, VersionOrder, VersionSource};

/// The history with the order of its versions; versions whose place is not certain are left out.
pub(super) fn with_deduced_versions(engine: &mut Engine, history: &History) -> History {
    let rules = engine.verifier.rules;
    let mut versions: Vec<Vec<Version>> = vec![Vec::new(); history.keys.len()];
    for (key, version) in engine.verifier.dropped_versions.take().unwrap_or_default() {
        versions[key as usize].push(version);
    }
    for (key, left) in engine.verifier.keys.iter_mut().enumerate() {
        versions[key].extend(left.versions.drain(..));
    }
    let mut declared = history.clone();
    declared.versions.retain(|order| order.source != VersionSource::Declared);
    declared.versions.push(in_order(history, versions, rules));
    leave_out_unjudged(&mut declared, &engine.verifier.keys, &engine.verifier.profile);
    declared
}

fn in_order(history: &History, versions: Vec<Vec<Version>>, rules: Rules) -> VersionOrder {
    let mut order = VersionOrder { source: VersionSource::Declared, offsets: vec![0], versions: Vec::new() };
    for mut all in versions {
        all.sort_by_key(|version| (version.commit.invoke, version.write.number));
        order.versions.extend(chain(&all, rules).iter().map(|version| {
            let operation = history.operation_offsets[version.write.number as usize] + version.write.place;
            history.operations.values[operation as usize]
        }));
        order.offsets.push(order.versions.len() as u32);
    }
    order
}

/// Versions of which each certainly comes after the one before.
fn chain(all: &[Version], rules: Rules) -> Vec<&Version> {
    let mut chain: Vec<&Version> = Vec::new();
    for version in all.iter().filter(|version| version.is_certain) {
        let is_after = |one: &Version, other: &Version| {
            static_order(one, other, rules).is_some_and(|(is_before, _)| is_before)
        };
        let place = chain.iter().rposition(|one| is_after(one, version)).map_or(0, |place| place + 1);
        if chain[place..].iter().all(|one| is_after(version, one)) {
            chain.insert(place, version);
        }
    }
    chain
}
