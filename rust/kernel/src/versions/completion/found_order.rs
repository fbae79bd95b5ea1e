//! An order of the open versions that satisfies a level, as places of transactions and what reads show.

use super::OpenRead;
use super::level_problem::LevelProblem;
use super::order_search::Candidate;
use crate::solver::starting_order;
use crate::versions::levels::Level;
use hashbrown::HashMap;

/// Where transactions on possible cycles stand, and what reads with several possible writers show.
#[derive(Debug, Clone, Default)]
pub struct FoundOrder {
    /// Transactions, and where their versions are installed.
    pub places: Vec<(u32, u32)>,
    /// Reads, and the transactions that served them, or the initial one.
    pub shown: HashMap<u32, u32>,
}

impl LevelProblem<'_, '_, '_> {
    /// Any order that follows the known edges.
    pub(super) fn any_order(&self) -> Option<FoundOrder> {
        let base = self.base();
        let places = starting_order(base.nodes, &base.edges, |node| self.rank(node))?;
        Some(FoundOrder { places: self.places_of_versions(&places), shown: HashMap::new() })
    }

    pub(super) fn found_order(&self, candidate: &Candidate) -> FoundOrder {
        let supposed = candidate.reads.iter().map(|&(number, version)| (&self.reads()[number], version));
        let supposed: HashMap<_, u32> = supposed.map(|(open, version)| (self.kind(open), version)).collect();
        let mut shown = HashMap::new();
        for open in &self.all.every_read {
            let chosen = supposed.get(&self.kind(open)).copied();
            let version = chosen.unwrap_or_else(|| self.latest_before(open, &candidate.places));
            shown.insert(open.read, self.all.lookup.orders.writers[version as usize]);
        }
        FoundOrder { places: self.places_of_versions(&candidate.places), shown }
    }

    /// Equal reads of a transaction have one explanation, unless their places matter.
    fn kind<'o>(&self, open: &'o OpenRead) -> (u32, u32, &'o [u32], Option<u32>) {
        (open.node, open.key, &open.versions, (self.level == Level::MonotonicView).then_some(open.read))
    }

    /// The latest version before a read, or the first if there is none.
    fn latest_before(&self, open: &OpenRead, places: &[u32]) -> u32 {
        let initial = self.all.lookup.order(open.key).start;
        let place =
            |version: u32| if version == initial { 0 } else { places[self.end(version) as usize] + 1 };
        let before = open.versions.iter().copied().filter(|&v| place(v) <= places[open.node as usize]);
        before.max_by_key(|&version| place(version)).unwrap_or(open.versions[0])
    }

    fn places_of_versions(&self, places: &[u32]) -> Vec<(u32, u32)> {
        let small = self.all.small;
        let end = |node: u32| if self.is_of_begins_and_commits() { small.commit(node) } else { node };
        small.transactions.iter().zip(0..).map(|(&t, node)| (t, places[end(node) as usize])).collect()
    }
}
