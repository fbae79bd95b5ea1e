//! Which values a predicate read asks for: the forms of Elle's `closed-predicate` workload, and sets of values.

use super::operand::Operand;
use crate::history::{History, Kind};
use crate::value::{AtomKind, Value, Values};
use std::fmt;

/// Which values a predicate read asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// Every value of a key that exists.
    Any,
    /// This integer.
    Equal(i64),
    /// Integers that leave this remainder, never a negative one.
    Remainder {
        /// What they are divided by: positive.
        modulus: i64,
        /// What is left.
        remainder: i64,
    },
    /// One of these.
    In(Vec<Operand>),
}

impl Predicate {
    /// The predicate of Elle's that is called `name` with these operands, if there is one.
    #[must_use]
    pub fn new(name: &[u8], operands: &[Value]) -> Option<Self> {
        match (name, operands) {
            (b"true", []) => Some(Self::Any),
            (b"=", [number]) => Some(Self::Equal(number.as_small()?)),
            (b"mod", [modulus, remainder]) => {
                let modulus = modulus.as_small().filter(|&modulus| modulus > 0)?;
                Some(Self::Remainder { modulus, remainder: remainder.as_small()? })
            }
            _ => None,
        }
    }

    /// The predicate that is written as `text`: the inverse of its display.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(operands) = text.strip_prefix("[:in").and_then(|rest| rest.strip_suffix(']')) {
            return Operand::all(operands).filter(|operands| !operands.is_empty()).map(Self::In);
        }
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let mut words = inner.strip_prefix(':')?.split(' ');
        let name = words.next()?;
        let operands: Option<Vec<Value>> =
            words.map(|word| word.parse().ok().and_then(Value::small)).collect();
        Self::new(name.as_bytes(), &operands?).filter(|predicate| predicate.to_string() == text)
    }

    /// The predicate of an operation, if it is of a known form.
    #[must_use]
    pub fn asked(history: &History, operation: usize) -> Option<Self> {
        let label = history.operations.predicates.get(operation).0.atom_index()?;
        match history.values.atom(label) {
            (AtomKind::Text, text) => Self::parse(text),
            _ => None,
        }
    }

    /// The predicate of an operation, if it is a range read that asks for nothing but that, and Elle has it.
    #[must_use]
    pub fn of_elle(history: &History, operation: usize) -> Option<Self> {
        if history.operations.kinds[operation] != Kind::RangeRead {
            return None;
        }
        let range = history.range_of(operation);
        if (range.low, range.high, range.dead) != (Value::NIL, Value::NIL, 0) {
            return None;
        }
        Self::asked(history, operation).filter(|predicate| !matches!(predicate, Self::In(_)))
    }

    /// Whether a key that holds `value` is asked for; one that holds nil does not exist.
    #[must_use]
    pub fn matches(&self, values: &Values, value: Value) -> bool {
        match self {
            Self::Any => value != Value::NIL,
            Self::Equal(number) => value.as_small() == Some(*number),
            Self::Remainder { modulus, remainder } => {
                remainder_of(values, value, *modulus) == Some(*remainder)
            }
            Self::In(operands) => operands.iter().any(|operand| operand.equals(values, value)),
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => write!(out, ":true"),
            Self::Equal(number) => write!(out, "[:= {number}]"),
            Self::Remainder { modulus, remainder } => write!(out, "[:mod {modulus} {remainder}]"),
            Self::In(operands) => {
                write!(out, "[:in")?;
                operands.iter().try_for_each(|operand| write!(out, " {operand}"))?;
                write!(out, "]")
            }
        }
    }
}

/// What is left of an integer of any size; nothing of anything else.
fn remainder_of(values: &Values, value: Value, modulus: i64) -> Option<i64> {
    if let Some(number) = value.as_small() {
        return Some(number.rem_euclid(modulus));
    }
    let (AtomKind::Integer, digits) = values.atom(value.atom_index()?) else {
        return None;
    };
    let magnitude = digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0, |left, digit| (left * 10 + i128::from(digit - b'0')).rem_euclid(i128::from(modulus)));
    let signed = if digits.starts_with('-') { -magnitude } else { magnitude };
    Some(signed.rem_euclid(i128::from(modulus)) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_is_its_text() {
        let large = "[:in 100000000000000000000001]";
        let texts = [":true", "[:= -3]", "[:mod 2 1]", "[:in 1 -2]", r#"[:in "a \" b" 3 ""]"#, large];
        for text in texts {
            assert_eq!(Predicate::parse(text).map(|predicate| predicate.to_string()), Some(text.to_owned()));
        }
        for text in
            ["", "true", "[:true]", "[:= ]", "[:=  3]", "[:= 03]", "[:= x]", "[:mod 0 0]", "[:mod 2]", ":= 3"]
        {
            assert_eq!(Predicate::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_set_of_values_has_integers_and_texts_as_in_json() {
        for text in [
            "[:in]",
            "[:in ]",
            "[:in  1]",
            "[:in 01]",
            "[:in x]",
            "[:in 1.0]",
            r#"[:in "a]"#,
            r#"[:in "a"1]"#,
        ] {
            assert_eq!(Predicate::parse(text), None, "{text}");
        }
        let escaped = Predicate::parse(r#"[:in "\u00e9\ud83d\ude00\n"]"#);
        assert_eq!(escaped, Some(Predicate::In(vec![Operand::Text("é😀\n".to_owned())])));
        assert_eq!(Predicate::parse(r#"[:in "\ud83d"]"#), None);
    }

    #[test]
    fn a_predicate_asks_for_values() {
        let mut values = Values::default();
        let large = values.decimal("-100000000000000000000001");
        let text = values.intern(AtomKind::Text, "1");
        let number = |number: i64| Value::small(number).unwrap();
        for (predicate, matching, other) in [
            (":true", vec![number(0), text], vec![Value::NIL]),
            ("[:= 1]", vec![number(1)], vec![number(2), text, large, Value::NIL]),
            ("[:in 2 \"1\"]", vec![number(2), text], vec![number(1), large, Value::NIL]),
            ("[:in -100000000000000000000001]", vec![large], vec![number(1), text]),
            ("[:mod 3 1]", vec![number(1), number(-2), large], vec![number(2), number(-1), text]),
        ] {
            let predicate = Predicate::parse(predicate).unwrap();
            assert!(matching.iter().all(|&value| predicate.matches(&values, value)), "{predicate}");
            assert!(!other.iter().any(|&value| predicate.matches(&values, value)), "{predicate}");
        }
    }
}
