//! Values of single fields.

use super::{Cursor, Fault, Number, VALUE, number};
use crate::value::{AtomKind, Value, Values};

/// Any value but an object or array: a string, a number (exact whatever its size), a boolean or null.
///
/// # Errors
/// If something else stands here.
#[inline(always)]
pub fn scalar(cursor: &mut Cursor, values: &mut Values) -> Result<Value, Fault> {
    if cursor.peek_for(VALUE)?.is_ascii_digit() {
        return number::value(cursor, values);
    }
    other_scalar(cursor, values)
}

/// The id of a transaction or session: an integer or a string.
///
/// # Errors
/// If something else stands here.
pub fn id(cursor: &mut Cursor, values: &mut Values) -> Result<Value, Fault> {
    const ID: &str = "an integer or a string as the id";
    if cursor.peek_for(ID)? == b'"' {
        return scalar(cursor, values);
    }
    let (at, is_number) = (cursor.at, cursor.peek_for(ID)?.is_ascii_digit() || cursor.peek_for(ID)? == b'-');
    match cursor.number() {
        Ok(Number::Integer(number)) => Ok(values.integer(number)),
        Ok(Number::Long(digits)) => Ok(values.decimal(digits)),
        Err(cut_off @ Fault::CutOff(_)) => Err(cut_off),
        Err(fault) if is_number => Err(fault),
        _ => Err(Fault::at(at, ID)),
    }
}

fn other_scalar(cursor: &mut Cursor, values: &mut Values) -> Result<Value, Fault> {
    match cursor.peek_for(VALUE)? {
        b'"' => Ok(values.intern(AtomKind::Text, &cursor.string()?)),
        b'-' => number::value(cursor, values),
        b't' | b'f' => Ok(values.boolean(cursor.boolean()?)),
        b'{' | b'[' => Err(Fault::at(cursor.at, "a string, a number, a boolean or null")),
        _ => cursor.literal("null").map(|()| Value::NIL),
    }
}

/// Fills a field whose value stands at `at`; null leaves it empty.
///
/// # Errors
/// If the field has a value already.
pub fn set_once<T>(slot: &mut Option<T>, value: Option<T>, at: usize) -> Result<(), Fault> {
    if slot.is_some() {
        return Err(Fault::at(at, "each field only once"));
    }
    *slot = value;
    Ok(())
}
