//! A mix: templates of transactions over tables of keys.

use super::random::Random;
use crate::named_enum::named_enum;
use crate::simulate::store::Store;

named_enum! {
    /// How the keys of a table are drawn.
    pub enum Distribution {
        /// All keys have the same weight.
        Uniform => "uniform",
        /// The n-th key has weight 1/n.
        Zipfian => "zipfian",
        /// A fifth of the keys gets four fifths of the operations.
        Hotspot => "hotspot",
    }
}

/// A range of keys.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Table {
    pub keys: u32,
    pub distribution: Distribution,
}

/// What is done to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Action {
    Read,
    Write,
    /// A read and then a write.
    Update,
    /// A read, with this probability in thousandths, or else a write.
    Either(u32),
}

named_enum! {
    /// Which key of a table a step uses.
    pub enum Pick {
        /// One of the first keys, by the distribution of the table.
        Drawn => "drawn",
        /// A new one: a row is inserted.
        New => "new",
        /// One of the last that were inserted; none if there is none yet.
        Recent => "recent",
    }
}

/// A part of a transaction: the same action on several keys of a table.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Step {
    pub table: u32,
    pub action: Action,
    pub pick: Pick,
    /// How many keys: drawn between these two, both included.
    pub times: (u32, u32),
}

/// A kind of transaction, and how often it occurs in relation to the others.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Template {
    pub weight: u32,
    pub steps: Vec<Step>,
}

/// Tables and what is done to them.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Mix {
    pub tables: Vec<Table>,
    pub templates: Vec<Template>,
}

impl Mix {
    /// One table, and transactions that read (in thousandths) or write keys of it.
    #[must_use]
    pub fn plain(table: Table, reads: u32, operations: (u32, u32)) -> Self {
        let step = Step { table: 0, action: Action::Either(reads), pick: Pick::Drawn, times: operations };
        Self { tables: vec![table], templates: vec![Template { weight: 1, steps: vec![step] }] }
    }

    /// The message for an impossible mix.
    #[must_use]
    pub fn problem(&self) -> Option<&'static str> {
        let steps = || self.templates.iter().flat_map(|template| &template.steps);
        if self.templates.iter().all(|template| template.weight == 0) {
            return Some("a mix needs a template with a weight");
        }
        if steps().any(|step| step.table as usize >= self.tables.len()) {
            return Some("a step names a table that is not there");
        }
        if steps().any(|step| step.pick == Pick::Drawn && self.tables[step.table as usize].keys == 0) {
            return Some("no key can be drawn from an empty table");
        }
        if steps().any(|step| step.times.0 > step.times.1) {
            return Some("the least number of keys is more than the most");
        }
        None
    }

    pub(crate) fn draw(&self, random: &mut Random) -> &Template {
        if let [only] = self.templates.as_slice() {
            return only;
        }
        let total: u64 = self.templates.iter().map(|template| u64::from(template.weight)).sum();
        let mut point = random.wide_below(total);
        for template in &self.templates {
            if point < u64::from(template.weight) {
                return template;
            }
            point -= u64::from(template.weight);
        }
        unreachable!("the point lies below the sum of all weights")
    }
}

/// How many inserted rows count as recent.
const RECENT: usize = 1000;

/// The rows of a table that transactions use now.
struct Rows {
    distribution: Distribution,
    /// Running sums of 1/n, scaled.
    weights: Vec<u64>,
    drawn: Vec<u32>,
    inserted: Vec<u32>,
}

/// A row of the store, and its place among the rows of its table that are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    pub(crate) row: u32,
    place: Option<u32>,
}

/// The tables of a mix, with rows of a store.
pub(crate) struct Tables(Vec<Rows>);

impl Tables {
    pub(crate) fn new(mix: &Mix, store: &mut Store) -> Self {
        let rows = |&table: &Table| {
            let is_zipfian = table.distribution == Distribution::Zipfian;
            Rows {
                distribution: table.distribution,
                weights: if is_zipfian { zipfian(table.keys) } else { Vec::new() },
                drawn: (0..table.keys).map(|_| store.add_row(0)).collect(),
                inserted: Vec::new(),
            }
        };
        Self(mix.tables.iter().map(rows).collect())
    }

    /// A row for a step; none if it asks for a recent row and there is none.
    #[inline]
    pub(crate) fn pick(&mut self, step: &Step, store: &mut Store) -> Option<Drawn> {
        let table = &mut self.0[step.table as usize];
        match step.pick {
            Pick::Drawn => {
                let place = table.place(&mut store.random);
                Some(Drawn { row: table.drawn[place], place: Some(place as u32) })
            }
            Pick::Recent => {
                let last = &table.inserted[table.inserted.len().saturating_sub(RECENT)..];
                let place = (!last.is_empty()).then(|| store.random.below(last.len() as u32));
                place.map(|place| Drawn { row: last[place as usize], place: None })
            }
            Pick::New => {
                let row = store.add_row(0);
                table.inserted.push(row);
                Some(Drawn { row, place: None })
            }
        }
    }

    /// Replaces a row by a new one if it was written `most_writes` times.
    pub(crate) fn retire(&mut self, table: u32, drawn: Drawn, most_writes: u32, store: &mut Store) {
        let Some(place) = drawn.place else { return };
        if store.rows[drawn.row as usize].written == most_writes {
            store.retire(drawn.row);
            self.0[table as usize].drawn[place as usize] = store.add_row(0);
        }
    }
}

impl Rows {
    fn place(&self, random: &mut Random) -> usize {
        let keys = self.drawn.len() as u32;
        match self.distribution {
            Distribution::Uniform => random.below(keys) as usize,
            Distribution::Hotspot => {
                let hot = (keys / 5).max(1);
                let is_hot = random.below(5) < 4 || hot == keys;
                (if is_hot { random.below(hot) } else { hot + random.below(keys - hot) }) as usize
            }
            Distribution::Zipfian => {
                let point = random.wide_below(self.weights[self.weights.len() - 1]);
                self.weights.partition_point(|&weight| weight <= point)
            }
        }
    }
}

fn zipfian(keys: u32) -> Vec<u64> {
    let mut total = 0;
    let weights = (1..=u64::from(keys)).map(|rank| {
        total += (1 << 40) / rank;
        total
    });
    weights.collect()
}
