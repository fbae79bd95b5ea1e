//! What transactions do: a mix of templates over tables of keys.

use super::random::Random;

/// How the keys of a table are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// All alike.
    Uniform,
    /// The n-th key with weight 1/n.
    Zipfian,
    /// A fifth of the keys gets four fifths of the operations.
    Hotspot,
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

/// Which key of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// One that was there from the beginning, by the distribution of the table.
    Drawn,
    /// A new one: a row is inserted.
    New,
    /// One of the last that were inserted; none if there is none yet.
    Recent,
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

    /// What makes no sense in it, if anything.
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

/// How many inserted keys count as recent.
const RECENT: usize = 1000;

/// The keys that stand in a table now.
pub(crate) struct Rows {
    distribution: Distribution,
    /// Running sums of 1/n, scaled.
    weights: Vec<u64>,
    keys: Vec<u32>,
    inserted: Vec<u32>,
}

/// A key, and its place among those of its table that are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) key: u32,
    pub(crate) place: Option<usize>,
}

impl Rows {
    pub(crate) fn new(table: Table, keys: Vec<u32>) -> Self {
        let is_zipfian = table.distribution == Distribution::Zipfian;
        let weights = if is_zipfian { zipfian(table.keys) } else { Vec::new() };
        Self { distribution: table.distribution, weights, keys, inserted: Vec::new() }
    }

    pub(crate) fn drawn(&self, random: &mut Random) -> Row {
        let place = self.place(random);
        Row { key: self.keys[place], place: Some(place) }
    }

    pub(crate) fn recent(&self, random: &mut Random) -> Option<Row> {
        let last = &self.inserted[self.inserted.len().saturating_sub(RECENT)..];
        (!last.is_empty()).then(|| Row { key: last[random.below(last.len() as u32) as usize], place: None })
    }

    pub(crate) fn insert(&mut self, key: u32) -> Row {
        self.inserted.push(key);
        Row { key, place: None }
    }

    /// Puts a new key in the place of one that is retired.
    pub(crate) fn replace(&mut self, place: usize, key: u32) {
        self.keys[place] = key;
    }

    fn place(&self, random: &mut Random) -> usize {
        let keys = self.keys.len() as u32;
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
