//! Transactions as bytes that are understood without the tables of an engine.

use super::lists::Lists;
use super::transactions::{Operation, Transaction};
use crate::history::Kind;
use crate::value::{AtomKind, Value, Values};
use serde::{Deserialize, Serialize};

/// A transaction with its scalars spelled out.
#[derive(Serialize, Deserialize)]
struct StoredTransaction<'b> {
    /// All but the id and the operations.
    header: Transaction,
    #[serde(borrow)]
    id: StoredScalar<'b>,
    #[serde(borrow)]
    operations: Vec<(Kind, u32, StoredValue<'b>)>,
}

/// A scalar or a list of scalars.
#[derive(Serialize, Deserialize)]
enum StoredValue<'b> {
    #[serde(borrow)]
    Scalar(StoredScalar<'b>),
    #[serde(borrow)]
    List(Vec<StoredScalar<'b>>),
}

/// A number, or the text of an atom.
#[derive(Serialize, Deserialize)]
enum StoredScalar<'b> {
    Word(Value),
    Atom(AtomKind, &'b str),
}

impl<'b> StoredScalar<'b> {
    fn of(value: Value, values: &'b Values) -> Self {
        value.atom_index().map_or(Self::Word(value), |index| {
            let (kind, text) = values.atom(index);
            Self::Atom(kind, text)
        })
    }

    fn restore(&self, values: &mut Values) -> Value {
        match *self {
            Self::Word(value) => value,
            Self::Atom(kind, text) => values.intern(kind, text),
        }
    }
}

impl<'b> StoredValue<'b> {
    fn of(value: Value, lists: &Lists, values: &'b Values) -> Self {
        match lists.get(value) {
            Some(list) => Self::List(list.iter().map(|&one| StoredScalar::of(one, values)).collect()),
            None => Self::Scalar(StoredScalar::of(value, values)),
        }
    }

    fn restore(&self, lists: &mut Lists, values: &mut Values) -> Value {
        match self {
            Self::Scalar(scalar) => scalar.restore(values),
            Self::List(list) => lists.add(list.iter().map(|one| one.restore(values)).collect()),
        }
    }
}

/// The transaction as bytes.
pub fn store(one: &Transaction, lists: &Lists, values: &Values) -> Vec<u8> {
    let stored =
        |&Operation { value, key, kind }: &Operation| (kind, key, StoredValue::of(value, lists, values));
    let transaction = StoredTransaction {
        header: Transaction { id: Value::NIL, operations: Box::default(), ..*one },
        id: StoredScalar::of(one.id, values),
        operations: one.operations.iter().map(stored).collect(),
    };
    postcard::to_stdvec(&transaction).unwrap_or_default()
}

/// The transaction that was stored; none if the bytes are damaged.
pub fn restore(bytes: &[u8], lists: &mut Lists, values: &mut Values) -> Option<Transaction> {
    let StoredTransaction { header, id, operations } = postcard::from_bytes(bytes).ok()?;
    let restored = operations.into_iter().map(|(kind, key, value)| {
        let value = value.restore(lists, values);
        Operation { value, key, kind }
    });
    let operations = restored.collect();
    Some(Transaction { id: id.restore(values), operations, ..header })
}
