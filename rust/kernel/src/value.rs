//! Scalars and lists: small integers stand for themselves, everything else is interned once.

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::hash::BuildHasher;

/// The most digits of an integer: Python turns no longer ones into text, or back.
pub const MOST_DIGITS: usize = 4300;

/// A key, value, transaction id or session id in one word; equal words are equal values.
///
/// `...0` is an integer, `..01` an index into [`Values::atoms`], `..11` an index into [`Values::lists`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Value(u64);

impl Value {
    /// Nothing: the null of JSON, the nil of EDN.
    pub const NIL: Self = Self::atom(0);
    /// The result of a read that the client never learned.
    pub const UNKNOWN: Self = Self::atom(u64::MAX >> 3);

    /// Equal to no value of any history.
    pub const NOTHING: Self = Self::atom(u64::MAX >> 4);

    const fn atom(index: u64) -> Self {
        Self(index << 2 | 0b01)
    }

    const fn list(index: u64) -> Self {
        Self(index << 2 | 0b11)
    }

    /// The list at `index`, wherever its owner keeps it.
    pub(crate) const fn list_at(index: u64) -> Self {
        Self::list(index)
    }

    /// The integer `number` if it fits beside the tag.
    #[must_use]
    pub const fn small(number: i64) -> Option<Self> {
        if number >= -(1 << 62) && number < 1 << 62 {
            return Some(Self((number as u64) << 1));
        }
        None
    }

    /// The integer that this word holds by itself.
    #[must_use]
    pub const fn as_small(self) -> Option<i64> {
        if self.0 & 1 == 0 { Some(self.0 as i64 >> 1) } else { None }
    }

    /// Index into the atoms, for a value that is neither a small integer, a list nor unknown.
    #[must_use]
    pub fn atom_index(self) -> Option<usize> {
        (self.0 & 0b11 == 0b01 && self < Self::NOTHING).then_some((self.0 >> 2) as usize)
    }

    /// Index into the lists.
    #[must_use]
    pub const fn list_index(self) -> Option<usize> {
        if self.0 & 0b11 == 0b11 { Some((self.0 >> 2) as usize) } else { None }
    }

    /// The word itself, for sorting and for columns that cross the border.
    #[must_use]
    pub const fn word(self) -> u64 {
        self.0
    }

    /// The value of a word.
    #[must_use]
    pub(crate) const fn from_word(word: u64) -> Self {
        Self(word)
    }
}

/// What an interned scalar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum AtomKind {
    /// The null of JSON, the nil of EDN; its text is empty.
    Nil,
    /// `true` or `false`.
    Boolean,
    /// An integer beyond 62 bits, in canonical decimal.
    Integer,
    /// A floating-point number in its shortest exact decimal.
    Float,
    /// A string.
    Text,
    /// A scalar without a Python twin (keyword, symbol, character, ratio, ...), as its EDN text.
    Term,
}

/// Everything that does not fit into a [`Value`] word.
#[derive(Debug, Clone)]
pub struct Values {
    kinds: Vec<AtomKind>,
    ends: Vec<usize>,
    text: String,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    lists: Vec<Span>,
    elements: Vec<Value>,
    /// Where the elements start that the next list to be closed will hold.
    open: usize,
}

/// The elements of one list; lists that start alike may share them.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    length: u32,
}

impl Default for Values {
    fn default() -> Self {
        let mut values = Self {
            kinds: Vec::new(),
            ends: Vec::new(),
            text: String::new(),
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            lists: Vec::new(),
            elements: Vec::new(),
            open: 0,
        };
        values.intern(AtomKind::Nil, "");
        values
    }
}

impl Values {
    /// The value of a scalar, the same for the same kind and text.
    pub fn intern(&mut self, kind: AtomKind, text: &str) -> Value {
        if let Some(known) = self.find(kind, text) {
            return known;
        }
        let hash = self.hasher.hash_one((kind, text));
        let index = self.kinds.len() as u32;
        self.kinds.push(kind);
        self.text.push_str(text);
        self.ends.push(self.text.len());
        let (kinds, ends, all, hasher) = (&self.kinds, &self.ends, &self.text, &self.hasher);
        self.table.insert_unique(hash, index, |&other| {
            hasher.hash_one((kinds[other as usize], slice_of(all, ends, other as usize)))
        });
        Value::atom(u64::from(index))
    }

    /// The value of a scalar that was interned before.
    #[must_use]
    pub fn find(&self, kind: AtomKind, text: &str) -> Option<Value> {
        let hash = self.hasher.hash_one((kind, text));
        let known = self.table.find(hash, |&index| self.atom(index as usize) == (kind, text));
        known.map(|&index| Value::atom(u64::from(index)))
    }

    /// The value of any 64-bit integer.
    #[inline]
    pub fn integer(&mut self, number: i64) -> Value {
        Value::small(number).unwrap_or_else(|| self.intern(AtomKind::Integer, &number.to_string()))
    }

    /// The value of any unsigned 64-bit integer.
    #[inline]
    pub fn unsigned(&mut self, number: u64) -> Value {
        match i64::try_from(number) {
            Ok(number) => self.integer(number),
            Err(_) => self.intern(AtomKind::Integer, &number.to_string()),
        }
    }

    /// The value of an integer of at most [`MOST_DIGITS`], given in decimal with an optional sign.
    pub fn decimal(&mut self, digits: &str) -> Value {
        if let Ok(number) = digits.parse() {
            return self.integer(number);
        }
        let (sign, magnitude) = match digits.strip_prefix('-') {
            Some(magnitude) => ("-", magnitude),
            None => ("", digits.strip_prefix('+').unwrap_or(digits)),
        };
        let canonical = format!("{sign}{}", magnitude.trim_start_matches('0'));
        // Leading zeros can hide a number that fits after all.
        match canonical.parse() {
            Ok(number) => self.integer(number),
            Err(_) => self.intern(AtomKind::Integer, &canonical),
        }
    }

    /// The value of a boolean.
    pub fn boolean(&mut self, truth: bool) -> Value {
        self.intern(AtomKind::Boolean, if truth { "true" } else { "false" })
    }

    /// The value of a floating-point number; every not-a-number is the same one.
    pub fn float(&mut self, number: f64) -> Value {
        self.intern(AtomKind::Float, &format!("{number:?}"))
    }

    /// A new list of scalars; two lists are equal if their elements are, not if their words are.
    pub fn push_list(&mut self, elements: impl IntoIterator<Item = Value>) -> Value {
        self.elements.extend(elements);
        self.close_list()
    }

    /// A new list of integers of any size.
    pub fn push_integers(&mut self, elements: &[i64]) -> Value {
        self.elements.reserve(elements.len());
        for &number in elements {
            let element = self.integer(number);
            self.elements.push(element);
        }
        self.close_list()
    }

    /// Adds one element to the list that the next [`Values::close_list`] makes.
    pub fn push_element(&mut self, element: Value) {
        self.elements.push(element);
    }

    /// The list of all elements pushed since the last list was closed.
    pub fn close_list(&mut self) -> Value {
        let length = (self.elements.len() - self.open) as u32;
        self.lists.push(Span { start: self.open, length });
        self.open = self.elements.len();
        Value::list(self.lists.len() as u64 - 1)
    }

    /// The list of the first `length` elements of the list at `index`, with which it shares them.
    pub fn prefix(&mut self, index: usize, length: u32) -> Value {
        debug_assert!(length <= self.lists[index].length);
        self.lists.push(Span { start: self.lists[index].start, length });
        Value::list(self.lists.len() as u64 - 1)
    }

    /// Kind and text of the atom at `index`.
    #[must_use]
    pub fn atom(&self, index: usize) -> (AtomKind, &str) {
        (self.kinds[index], slice_of(&self.text, &self.ends, index))
    }

    /// Elements of the list at `index`.
    #[must_use]
    pub fn list(&self, index: usize) -> &[Value] {
        let Span { start, length } = self.lists[index];
        &self.elements[start..start + length as usize]
    }

    /// Elements of `value` if it is a list.
    #[must_use]
    pub fn as_list(&self, value: Value) -> Option<&[Value]> {
        value.list_index().map(|index| self.list(index))
    }

    /// Bytes that are taken.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.kinds.capacity() * 13 + self.elements.capacity() * 8
    }

    /// How many atoms are interned.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        self.kinds.len()
    }

    /// How many lists there are.
    #[must_use]
    pub fn list_count(&self) -> usize {
        self.lists.len()
    }

    /// Forgets every list but the first `count`, and the elements of a list that was never closed.
    pub fn truncate_lists(&mut self, count: usize) {
        self.lists.truncate(count);
        self.open = self.lists.iter().next_back().map_or(0, |list| list.start + list.length as usize);
        self.elements.truncate(self.open);
    }

    /// How many elements all lists hold together.
    #[must_use]
    pub fn element_count(&self) -> usize {
        self.elements.len()
    }

    /// Takes the scalars of `other`; the result translates its values into ours.
    pub fn absorb<'v>(&mut self, other: &'v Self) -> Translation<'v> {
        let atoms = (0..other.atom_count()).map(|index| {
            let (kind, text) = other.atom(index);
            self.intern(kind, text)
        });
        Translation { from: other, atoms: atoms.collect() }
    }

    /// Forgets everything but keeps the memory, so that a batch can be filled again.
    pub fn clear(&mut self) {
        if self.atom_count() > 1 {
            *self = Self::default();
            return;
        }
        self.lists.clear();
        self.elements.clear();
        self.open = 0;
    }
}

/// How the values of one pool are called in another.
pub struct Translation<'v> {
    from: &'v Values,
    atoms: Vec<Value>,
}

impl Translation<'_> {
    /// The scalar in the pool that absorbed.
    #[inline]
    #[must_use]
    pub fn of(&self, value: Value) -> Value {
        match value.atom_index() {
            Some(index) => self.atoms[index],
            None => value,
        }
    }

    /// The elements of a list in the pool that absorbed; `None` if the value is no list.
    #[must_use]
    pub fn elements(&self, value: Value) -> Option<Cow<'_, [Value]>> {
        let elements = self.from.as_list(value)?;
        // A pool with nothing but nil has only elements that stand for themselves.
        if self.atoms.len() == 1 {
            return Some(Cow::Borrowed(elements));
        }
        Some(elements.iter().map(|&element| self.of(element)).collect())
    }
}

fn slice_of<'text>(text: &'text str, ends: &[usize], index: usize) -> &'text str {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &text[start..ends[index]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_integers_stand_for_themselves() {
        for number in [0, 1, -1, (1 << 62) - 1, -(1 << 62)] {
            assert_eq!(Value::small(number).and_then(Value::as_small), Some(number));
        }
        assert_eq!(Value::small(1 << 62), None);
    }

    #[test]
    fn integers_of_any_size_are_equal_however_they_were_written() {
        let mut values = Values::default();
        assert_eq!(values.decimal("007"), Value::small(7).unwrap());
        assert_eq!(values.decimal("18446744073709551616"), values.decimal("+018446744073709551616"));
        assert_ne!(values.decimal("18446744073709551616"), values.decimal("-18446744073709551616"));
        assert_eq!(values.integer(i64::MIN), values.decimal("-9223372036854775808"));
    }

    #[test]
    fn the_same_text_of_two_kinds_is_two_values() {
        let mut values = Values::default();
        let text = values.intern(AtomKind::Text, ":x");
        let term = values.intern(AtomKind::Term, ":x");
        assert_ne!(text, term);
        assert_eq!(text, values.intern(AtomKind::Text, ":x"));
        assert_eq!(values.intern(AtomKind::Nil, ""), Value::NIL);
    }

    #[test]
    fn absorbing_translates_atoms_and_lists() {
        let (mut all, mut batch) = (Values::default(), Values::default());
        all.intern(AtomKind::Text, "first");
        all.push_list([Value::NIL]);
        let word = batch.intern(AtomKind::Text, "second");
        let list = batch.push_list([word, Value::small(3).unwrap()]);
        let translation = all.absorb(&batch);
        let elements = translation.elements(list).unwrap();
        assert_eq!(all.atom(elements[0].atom_index().unwrap()), (AtomKind::Text, "second"));
        assert_eq!(elements[1], Value::small(3).unwrap());
        assert_eq!(translation.of(Value::UNKNOWN), Value::UNKNOWN);
    }
}
