//! Numbers for the keys, rows and scalars of all batches, and their translation from one batch.

use super::labels::StatementLabel;
use super::profile::{Granularity, Lock, Read};
use super::transaction::Part;
use crate::history::{History, Kind};
use crate::index::DenseIndex;
use crate::value::{AtomKind, Value, Values};
use hashbrown::HashMap;

/// The keys, rows and scalars of all batches.
#[derive(Debug, Default)]
pub struct Names {
    pub values: Values,
    pub keys: DenseIndex,
    /// The resources that locks are on.
    pub rows: DenseIndex,
    pub row_of_key: Vec<u32>,
}

/// Translates the keys and scalars of one batch.
pub struct Translation {
    atoms: Vec<Value>,
    pub(super) keys: Vec<u32>,
    pub(super) labels: LabelCache,
}

impl Translation {
    /// Keys of the batch whose numbers here are not below `before`, with these numbers.
    pub fn new_keys(&self, before: u32) -> impl Iterator<Item = (u32, u32)> {
        let all = self.keys.iter().enumerate().map(|(key, &number)| (key as u32, number));
        all.filter(move |&(_, number)| number >= before)
    }

    pub fn of(&self, value: Value) -> Value {
        value.atom_index().map_or(value, |index| self.atoms[index])
    }
}

impl Names {
    /// Numbers all keys and scalars of a batch.
    pub fn translate(&mut self, history: &History) -> Translation {
        let mut atoms = vec![Value::NIL; history.values.atom_count()];
        for (index, atom) in atoms.iter_mut().enumerate().skip(1) {
            let (kind, text) = history.values.atom(index);
            *atom = self.values.intern(kind, text);
        }
        let mut translation = Translation {
            atoms,
            keys: Vec::with_capacity(history.keys.len()),
            labels: LabelCache::default(),
        };
        for &key in &history.keys {
            let number = self.keys.number(translation.of(key));
            translation.keys.push(number);
            if number as usize == self.row_of_key.len() {
                self.row_of_key.push(u32::MAX);
            }
        }
        translation
    }

    /// The resource that a lock on a key is on.
    pub(super) fn row(&mut self, granularity: Granularity, key: u32, table: Value, part: Part) -> u32 {
        match granularity {
            Granularity::Database => 0,
            Granularity::Table if table != Value::NIL => self.rows.number(table),
            Granularity::Table | Granularity::Row => {
                if self.row_of_key[key as usize] == u32::MAX {
                    let row = self.row_value(key, part);
                    self.row_of_key[key as usize] = self.rows.number(row);
                }
                self.row_of_key[key as usize]
            }
        }
    }

    /// Which part of a row a key is. Only a delete names a row as a whole, as `table/row/`.
    pub(super) fn part(&self, kind: Kind, key: u32, table: Value, column: Value) -> Part {
        let is_row = || {
            let id = self.keys.ids()[key as usize];
            id.atom_index().is_some_and(|index| self.values.atom(index).1.ends_with('/'))
        };
        match column != Value::NIL {
            true => Part::Cell,
            false if kind == Kind::Delete && table != Value::NIL && is_row() => Part::Row,
            false => Part::Key,
        }
    }

    /// A cell `table/row/column` belongs to the row `table/row/`, which is not a key: it is a term.
    fn row_value(&mut self, key: u32, part: Part) -> Value {
        let id = self.keys.ids()[key as usize];
        let Some(index) = id.atom_index().filter(|_| part != Part::Key) else { return id };
        let (kind, text) = self.values.atom(index);
        let end = text.rfind('/').map_or(text.len(), |slash| slash + 1);
        if kind != AtomKind::Text {
            return id;
        }
        let row = text[..end].to_owned();
        self.values.intern(AtomKind::Term, &row)
    }
}

/// The meaning of each label of a batch: a batch has many operations and few labels.
#[derive(Default)]
pub(super) struct LabelCache {
    pub statements: HashMap<Value, Option<StatementLabel>>,
    pub locks: HashMap<Value, Option<Lock>>,
    pub reads: HashMap<Value, Option<Read>>,
}

pub(super) fn cached<T: Copy>(
    cache: &mut HashMap<Value, Option<T>>,
    label: Value,
    parse: impl FnOnce(Value) -> Option<T>,
) -> Option<T> {
    if label == Value::NIL {
        return None;
    }
    *cache.entry(label).or_insert_with(|| parse(label))
}
