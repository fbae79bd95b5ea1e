//! Numbers, times and scalars as bytes, and back; damaged bytes are an answer, not a panic.

use crate::history::Timestamp;
use crate::value::{AtomKind, Value, Values};

/// Bytes that cannot be what they are said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

/// Whatever was read, or damage.
pub type Read<T> = Result<T, Damaged>;

const KINDS: [AtomKind; 6] =
    [AtomKind::Nil, AtomKind::Boolean, AtomKind::Integer, AtomKind::Float, AtomKind::Text, AtomKind::Term];

/// Bytes that grow.
#[derive(Debug, Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// Seven bits a byte, the lowest first.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    pub fn word(&mut self, value: Value) {
        self.0.extend_from_slice(&value.word().to_le_bytes());
    }

    pub fn time(&mut self, time: Timestamp) {
        let (physical, logical) = time.parts().unwrap_or((i64::MIN, 0));
        self.0.extend_from_slice(&physical.to_le_bytes());
        self.0.extend_from_slice(&logical.to_le_bytes());
    }

    /// How many, and each.
    pub fn all<T>(&mut self, all: impl ExactSizeIterator<Item = T>, mut one: impl FnMut(&mut Self, T)) {
        self.number(all.len() as u64);
        for each in all {
            one(self, each);
        }
    }
}

/// Bytes that are left to be read.
#[derive(Debug, Clone, Copy)]
pub struct Rest<'b>(pub &'b [u8]);

impl<'b> Rest<'b> {
    pub fn bytes(&mut self, count: usize) -> Read<&'b [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(Damaged)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub fn byte(&mut self) -> Read<u8> {
        Ok(self.bytes(1)?[0])
    }

    pub fn flag(&mut self) -> Read<bool> {
        Ok(self.byte()? != 0)
    }

    pub fn number(&mut self) -> Read<u64> {
        let (mut number, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift).ok_or(Damaged)?;
            if byte < 0x80 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    pub fn small(&mut self) -> Read<u32> {
        u32::try_from(self.number()?).map_err(|_| Damaged)
    }

    fn long(&mut self) -> Read<u64> {
        Ok(u64::from_le_bytes(self.bytes(8)?.try_into().map_err(|_| Damaged)?))
    }

    pub fn word(&mut self) -> Read<Value> {
        Ok(Value::from_word(self.long()?))
    }

    pub fn time(&mut self) -> Read<Timestamp> {
        let (physical, logical) = (self.long()? as i64, self.long()? as i64);
        Ok(if physical == i64::MIN { Timestamp::default() } else { Timestamp::new(physical, logical) })
    }

    pub fn scalar(&mut self, values: &mut Values) -> Read<Value> {
        let kind = self.byte()?;
        if kind == u8::MAX {
            return self.word();
        }
        let length = self.number()? as usize;
        let text = std::str::from_utf8(self.bytes(length)?).map_err(|_| Damaged)?;
        Ok(values.intern(*KINDS.get(kind as usize).ok_or(Damaged)?, text))
    }

    /// As many as were written.
    pub fn all<T>(&mut self, mut one: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.number()? as usize;
        if count > self.0.len() {
            return Err(Damaged);
        }
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            all.push(one(self)?);
        }
        Ok(all)
    }
}
