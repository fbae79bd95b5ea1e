//! An explanation as a history of its own: names of writes instead of values.

use super::effects_search::detach;
use super::{Ambiguity, OpenRead, Premise, Shown, Sites, writer_of};
use crate::by_key::Shape;
use crate::history::{History, Kind, LeftOut, Status, VersionOrder};
use crate::observations::{ABSENT, INITIAL};
use crate::value::Value;
use hashbrown::HashMap;

/// A history in which values of ambiguous keys do not repeat.
pub struct Told {
    /// The same operations of the same transactions.
    pub history: History,
    /// Reads of registers that are still open; the history says that their result is unknown.
    pub open: Vec<OpenRead>,
    /// Whether a read that no explanation excuses was given one of several writes.
    pub has_open_wrong_reads: bool,
    /// Keys that a predicate left out though every state of them matches.
    pub has_misses: bool,
    /// What other reads of ambiguous keys show: the read, its writes, and whether it is of a list.
    pub shown: Vec<(u32, Vec<u32>, bool)>,
}

/// Names of writes; what no transaction wrote has a name by its value.
#[derive(Default)]
struct Names(HashMap<Value, i64>);

impl Names {
    fn of(&mut self, write: u32, value: Value) -> Value {
        let next = -2 - self.0.len() as i64;
        let number = match write {
            INITIAL => -1,
            ABSENT => *self.0.entry(value).or_insert(next),
            _ => i64::from(write),
        };
        Value::small(number).unwrap_or(Value::NOTHING)
    }
}

impl Ambiguity<'_> {
    /// Tells the history by one option of each site that has several: those of lists and recorded orders first. Reads of
    /// registers beyond `options` stay open.
    #[must_use]
    pub fn told(&self, premise: &Premise, sites: &Sites, options: &[usize]) -> Told {
        let mut options = options.iter().copied();
        let (open, shown, has_misses) = (Vec::new(), Vec::new(), sites.has_misses);
        let mut told =
            Told { history: self.history.clone(), open, has_open_wrong_reads: false, has_misses, shown };
        let mut names = Names::default();
        let keys = self.keys.iter().zip(&premise.initial);
        let judged: Vec<u32> =
            keys.filter(|(key, _)| self.is_judged(**key, premise)).map(|(&key, _)| key).collect();
        self.name_writes(&judged, &mut told.history, &mut names);
        let mut rows = HashMap::new();
        for site in &sites.others {
            let taken = if site.len() > 1 { options.next().unwrap_or(0) } else { 0 };
            for shown in &site[taken] {
                self.tell_shown(shown, &mut told.history, &mut names, &mut rows);
                if let Shown::List { read, writes } = shown {
                    told.shown.push((*read, writes.clone(), true));
                }
            }
        }
        for site in &sites.reads {
            let taken = if site.options.len() > 1 { options.next() } else { Some(0) };
            let at = site.read as usize;
            if taken.is_none() && !site.is_wrong {
                let writers = site.options.iter().map(|&write| writer_of(write, &self.owners)).collect();
                let (read, transaction, key) = (site.read, site.transaction, site.key);
                told.open.push(OpenRead { read, transaction, key, writers });
                told.history.operations.values[at] = Value::UNKNOWN;
                continue;
            }
            told.has_open_wrong_reads |= taken.is_none();
            let write = site.options[taken.unwrap_or(0)];
            if !site.is_own {
                told.shown.push((site.read, vec![write], false));
            }
            told.history.operations.values[at] = names.of(write, self.history.operations.values[at]);
        }
        told.open.sort_by_key(|open| (open.key, open.read));
        self.tell_rows(&mut told.history, &rows);
        detach(&mut told.history, premise);
        for &transaction in &self.effects {
            if !premise.counted[transaction as usize] {
                told.history.transactions.statuses[transaction as usize] = Status::Aborted;
            }
        }
        told
    }

    fn is_judged(&self, key: u32, premise: &Premise) -> bool {
        matches!(self.of_key(key, &premise.counted).shape, Shape::Register | Shape::List)
    }

    fn name_writes(&self, keys: &[u32], history: &mut History, names: &mut Names) {
        for &key in keys {
            for &operation in self.by_key.of(key as usize) {
                let at = operation as usize;
                if history.operations.left_out.get(at) == LeftOut::Unmatched {
                    history.operations.left_out.set(at, LeftOut::Known);
                }
                if history.operations.kinds[at].installs() {
                    history.operations.values[at] = names.of(operation, Value::NOTHING);
                    if history.operations.kinds[at] == Kind::Delete {
                        history.operations.kinds[at] = Kind::Write;
                    }
                } else if history.operations.kinds[at] == Kind::Read {
                    // What was read of a transaction that does not count is not asked.
                    let is_list = history.operations.values[at].list_index().is_some();
                    if !is_list {
                        history.operations.values[at] = Value::UNKNOWN;
                    }
                }
            }
        }
        let start = names.of(INITIAL, Value::NOTHING);
        let others = history.initial.of_key.iter().filter(|(key, _)| !keys.contains(key));
        let mut of_key: Vec<(u32, Value)> = others.copied().collect();
        of_key.extend(keys.iter().map(|&key| (key, start)));
        of_key.sort_unstable();
        history.initial.of_key = of_key;
    }

    fn tell_shown(
        &self,
        shown: &Shown,
        history: &mut History,
        names: &mut Names,
        rows: &mut HashMap<(usize, u32), Vec<Value>>,
    ) {
        match shown {
            Shown::List { read, writes } => {
                let elements = self.history.values.as_list(self.history.operations.values[*read as usize]);
                let elements = elements.unwrap_or_default().iter();
                let told: Vec<Value> =
                    writes.iter().zip(elements).map(|(&write, &element)| names.of(write, element)).collect();
                history.operations.values[*read as usize] = history.values.push_list(told);
            }
            Shown::Rows { order, key, writes } => {
                let told = writes.iter().map(|&write| names.of(write, Value::NOTHING)).collect();
                rows.insert((*order, *key), told);
            }
        }
    }

    fn tell_rows(&self, history: &mut History, rows: &HashMap<(usize, u32), Vec<Value>>) {
        if rows.is_empty() {
            return;
        }
        let told = self.history.versions.iter().enumerate().map(|(at, order)| {
            let (mut offsets, mut versions) = (vec![0], Vec::new());
            for key in 0..self.history.keys.len() as u32 {
                versions.extend(rows.get(&(at, key)).map_or(order.of(key), Vec::as_slice));
                offsets.push(versions.len() as u32);
            }
            VersionOrder { source: order.source, offsets, versions }
        });
        history.versions = told.collect();
    }
}
