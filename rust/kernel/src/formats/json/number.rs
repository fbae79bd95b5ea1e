//! Numbers: integers of any size are exact.

use super::{Cursor, Fault};
use crate::value::{MOST_DIGITS, Value, Values};

/// A number as exact as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number<'text> {
    /// An integer of at most 64 bits.
    Integer(i64),
    /// A longer integer, in decimal.
    Long(&'text str),
    /// A number with a fraction or an exponent; finite.
    Float(f64),
}

impl<'text> Cursor<'text> {
    /// A number. One that ends where the text ends is taken as whole.
    ///
    /// # Errors
    /// If there is no number here, or one beyond the range of a double.
    #[inline(always)]
    pub fn number(&mut self) -> Result<Number<'text>, Fault> {
        self.peek_for("a number")?;
        let start = self.at;
        let negative = self.text[start] == b'-';
        let first = start + usize::from(negative);
        let (mut end, mut magnitude) = (first, 0);
        while let Some(digit) = self.digit_at(end) {
            // Eighteen digits cannot overflow; longer ones are rare and take the careful way.
            if end - first == 18 {
                return self.careful_number(start);
            }
            magnitude = magnitude * 10 + i64::from(digit);
            end += 1;
        }
        let leading_zero = self.text.get(first) == Some(&b'0') && end > first + 1;
        if end == first || leading_zero || matches!(self.text.get(end), Some(b'.' | b'e' | b'E')) {
            return self.careful_number(start);
        }
        self.at = end;
        Ok(Number::Integer(if negative { -magnitude } else { magnitude }))
    }

    /// Any number, by the letter of the grammar.
    #[cold]
    fn careful_number(&mut self, start: usize) -> Result<Number<'text>, Fault> {
        self.at = start + usize::from(self.text[start] == b'-');
        let first = self.at;
        self.digits("a number")?;
        if self.text[first] == b'0' && self.at > first + 1 {
            return Err(Fault::at(first, "a number without leading zeros"));
        }
        let whole = self.at;
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits("digits after the decimal point")?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.text.get(self.at), Some(b'+' | b'-')));
            self.digits("digits in the exponent")?;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        if self.at == whole && whole - first > MOST_DIGITS {
            return Err(Fault::at(start, "an integer of at most 4,300 digits")
                .hint("a string can be longer: write it in quotes"));
        }
        if self.at == whole {
            return Ok(text.parse().map_or(Number::Long(text), Number::Integer));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Number::Float(number)),
            _ => Err(Fault::at(start, "a number within the range of a double")),
        }
    }

    /// Takes one digit and all that follow it.
    fn digits(&mut self, expected: &'static str) -> Result<(), Fault> {
        let start = self.at;
        while self.digit_at(self.at).is_some() {
            self.at += 1;
        }
        match self.text.get(start) {
            _ if self.at > start => Ok(()),
            Some(_) => Err(Fault::at(start, expected)),
            None => Err(Fault::CutOff(expected)),
        }
    }

    #[inline]
    fn digit_at(&self, at: usize) -> Option<u8> {
        self.text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
    }

    /// An integer of at most 64 bits.
    ///
    /// # Errors
    /// If anything else stands here.
    #[inline]
    pub fn integer(&mut self, expected: &'static str) -> Result<i64, Fault> {
        let byte = self.peek_for(expected)?;
        let start = self.at;
        if (byte == b'-' || byte.is_ascii_digit())
            && let Number::Integer(number) = self.number()?
        {
            return Ok(number);
        }
        Err(Fault::at(start, expected))
    }
}

/// The value of a number.
#[inline(always)]
pub(super) fn value(cursor: &mut Cursor, values: &mut Values) -> Result<Value, Fault> {
    Ok(match cursor.number()? {
        Number::Integer(number) => Value::small(number).unwrap_or_else(|| values.integer(number)),
        Number::Long(digits) => values.decimal(digits),
        Number::Float(number) => values.float(number),
    })
}
