//! A case as steps: what it supposes, and the circle that this closes.

use super::{Answered, Because, CaseTree, Closing, Consequence};
use crate::observations::INITIAL;
use crate::relation::Relation;
use crate::versions::orders::Source;
use crate::versions::witness::{Step, Witnesses};
use hashbrown::HashMap;

impl CaseTree<'_, '_, '_, '_> {
    /// What is supposed, and the circle that it closes; nothing if the circle cannot be told.
    pub(super) fn told(&self, taken: &[Answered]) -> Vec<Step> {
        let Some(mut circle) = self.steps(taken) else { return Vec::new() };
        let is_chain = circle.windows(2).all(|pair| pair[0].after == pair[1].before);
        let is_closed = circle.first().map(|step| step.before) == circle.last().map(|step| step.after);
        if !is_chain || !is_closed {
            return Vec::new();
        }
        let supposed: Vec<Step> = self.supposed(taken);
        if let Some(place) = circle.iter().position(|step| !supposed.contains(step)) {
            circle.rotate_left(place);
        }
        if let [only] = &supposed[..]
            && let Some(place) = circle.iter().position(|step| step == only)
        {
            circle.rotate_left(place);
            circle.remove(0);
        }
        supposed.into_iter().chain(circle).collect()
    }

    fn supposed(&self, taken: &[Answered]) -> Vec<Step> {
        let told = taken.iter().map(|&answered| match (self.ordered(answered), self.shown(answered)) {
            (Some((key, before, after)), _) => self.step(Because::Order { key, before, after }),
            (_, Some((read, version))) => self.step(Because::Shown { read, version }),
            _ => unreachable!("a question is about an order or about a writer"),
        });
        told.collect()
    }

    fn steps(&self, taken: &[Answered]) -> Option<Vec<Step>> {
        let (way, closing) = self.circle(taken)?;
        let consequences = self.consequences(taken);
        let edges = consequences.iter().filter(|one| !one.is_barred);
        let told: HashMap<(u32, u32), Because> = edges.map(|one| ((one.from, one.to), one.because)).collect();
        let transactions = self.level_problem.all.small.len() as u32;
        let is_of_ends = self.level_problem.is_of_begins_and_commits();
        let first = way.iter().position(|&node| node < transactions * if is_of_ends { 2 } else { 1 });
        let way = &way[first.unwrap_or(0)..];
        let (mut steps, mut from) = (Vec::new(), 0);
        for place in 1..way.len() {
            if let Some(&because) = told.get(&(way[place - 1], way[place])) {
                steps.extend(self.level_problem.steps(&way[from..place]));
                steps.push(self.step(because));
                from = place;
            }
        }
        steps.extend(self.level_problem.steps(&way[from..]));
        match closing {
            Closing::Answer(Consequence { because, .. }) => steps.push(self.step(because)),
            Closing::Known(from, to) => steps.push(self.missed(from, to)?),
        }
        Some(steps)
    }

    /// A node missed what another one wrote, by known orders.
    fn missed(&self, writer: u32, reader: u32) -> Option<Step> {
        let all = self.level_problem.all;
        let witnesses = Witnesses { small: all.small, lookup: all.lookup };
        let transaction = |node: u32| all.small.transactions.get(node as usize).copied();
        let order = self.level_problem.level.order();
        witnesses.reason(transaction(reader)?, transaction(writer)?, Relation::ReadWrite, order)
    }

    fn step(&self, because: Because) -> Step {
        let lookup = self.level_problem.all.lookup;
        let orders = lookup.orders;
        let writer = |version: u32| orders.writers[version as usize];
        let transaction = |node: u32| self.level_problem.all.small.transactions[node as usize];
        match because {
            Because::Order { key, before, after } => Step {
                before: writer(before),
                after: writer(after),
                relation: Relation::WriteWrite,
                key,
                operations: vec![orders.operations[before as usize], orders.operations[after as usize]],
                source: Source::Supposed,
            },
            Because::Shown { read, version } => {
                let open = self.read(read);
                let mut operations = vec![open.read];
                operations.extend((writer(version) != INITIAL).then(|| orders.operations[version as usize]));
                Step {
                    before: writer(version),
                    after: transaction(open.node),
                    relation: Relation::WriteRead,
                    key: open.key,
                    operations,
                    source: Source::Supposed,
                }
            }
            Because::Missed { node, read, seen, missed } => {
                let key = self.key_of(seen);
                let known = || {
                    let mut observed = lookup.observed(transaction(node));
                    observed.find(|&(.., version)| version == seen).map(|(read, ..)| read)
                };
                let shown = read.map(|read| self.read(read).read).or_else(known).unwrap_or(0);
                let is_initial = writer(seen) == INITIAL;
                let write = orders.operations[missed as usize];
                let mut operations = vec![shown, write];
                operations.extend((!is_initial).then(|| orders.operations[seen as usize]));
                Step {
                    before: transaction(node),
                    after: writer(missed),
                    relation: Relation::ReadWrite,
                    key,
                    operations,
                    source: if is_initial { Source::Initial } else { Source::Supposed },
                }
            }
        }
    }

    fn key_of(&self, version: u32) -> u32 {
        let keys = &self.level_problem.all.lookup.orders.keys;
        keys.partition_point(|order| order.end <= version) as u32
    }
}
