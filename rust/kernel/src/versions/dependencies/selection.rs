//! The dependencies between some of the transactions.

use super::{Dependencies, Pairs};
use crate::graph::Components;
use crate::observations::ABSENT;
use std::array::from_fn;

impl Dependencies {
    /// The same without what is on no cycle of these components: transactions of one component keep their
    /// edges. Also says which old node each new one was.
    #[must_use]
    pub fn on_cycles(&self, components: &Components) -> (Self, Vec<u32>) {
        let on_cycle = components.on_cycle();
        let kept: Vec<u32> = (0..self.nodes() as u32).filter(|&node| on_cycle[node as usize]).collect();
        let is_inside = |(node, before): (u32, u32)| {
            on_cycle[node as usize] && components.of[node as usize] == components.of[before as usize]
        };
        (self.of(&kept, is_inside), kept)
    }

    /// The same with some transactions only, given by their nodes.
    #[must_use]
    pub fn among(&self, is_kept: impl Fn(u32) -> bool) -> Self {
        let kept: Vec<u32> = (0..self.len() as u32).filter(|&node| is_kept(node)).collect();
        let is_inside = |node: u32| (node as usize) < self.len() && is_kept(node);
        self.of(&kept, |(node, before)| is_inside(node) && is_inside(before))
    }

    /// The same with the nodes of one group; `groups` are by node.
    #[must_use]
    pub fn group(&self, groups: &[u32], group: u32) -> Self {
        let is_inside = |node: u32| groups[node as usize] == group;
        let kept: Vec<u32> = (0..self.nodes() as u32).filter(|&node| is_inside(node)).collect();
        self.of(&kept, |(node, before)| is_inside(node) && is_inside(before))
    }

    /// The same with these nodes, ascending, and the edges inside.
    fn of(&self, kept: &[u32], is_inside: impl Fn((u32, u32)) -> bool) -> Self {
        let mut new = vec![ABSENT; self.nodes()];
        kept.iter().zip(0..).for_each(|(&old, place)| new[old as usize] = place);
        let transactions = kept.partition_point(|&node| (node as usize) < self.len());
        let instants_from = (self.len() as u32) + self.junctions;
        let junctions = kept.partition_point(|&node| node < instants_from) - transactions;
        let inside = |pairs: &Pairs| -> Pairs {
            let kept = pairs.iter().filter(|&&pair| is_inside(pair));
            kept.map(|&(node, before)| (new[node as usize], new[before as usize])).collect()
        };
        Self {
            transactions: kept[..transactions].iter().map(|&n| self.transactions[n as usize]).collect(),
            sessions: kept[..transactions].iter().map(|&n| self.sessions[n as usize]).collect(),
            junctions: junctions as u32,
            instants: (kept.len() - transactions - junctions) as u32,
            wr: inside(&self.wr),
            ww: inside(&self.ww),
            rw: from_fn(|span| inside(&self.rw[span])),
            rw_keys: from_fn(|span| {
                let keys = self.rw[span].iter().zip(&self.rw_keys[span]);
                keys.filter(|&(&pair, _)| is_inside(pair)).map(|(_, &key)| key).collect()
            }),
            real_time: inside(&self.real_time),
        }
    }
}
