//! Scalars of EDN: numbers, strings, characters, keywords, symbols.

use super::{Class, Cursor, Fault, class};
use crate::value::{AtomKind, MOST_DIGITS, Value, Values};
use std::borrow::Cow;

/// Named characters, which have no other spelling in canonical text.
const CHARACTER_NAMES: [(&str, char); 6] = [
    ("newline", '\n'),
    ("return", '\r'),
    ("space", ' '),
    ("tab", '\t'),
    ("formfeed", '\x0c'),
    ("backspace", '\x08'),
];

/// A scalar before it is interned.
#[derive(Debug, PartialEq)]
pub(super) enum Scalar<'text> {
    Nil,
    Boolean(bool),
    Integer(i64),
    /// An integer beyond 64 bits in canonical decimal.
    Large(String),
    Float(f64),
    Text(Cow<'text, str>),
    Term(Cow<'text, str>),
}

impl Scalar<'_> {
    pub(super) fn intern(&self, values: &mut Values) -> Value {
        match self {
            Self::Nil => Value::NIL,
            Self::Boolean(truth) => values.boolean(*truth),
            Self::Integer(number) => values.integer(*number),
            Self::Large(digits) => values.decimal(digits),
            Self::Float(number) => values.float(*number),
            Self::Text(text) => values.intern(AtomKind::Text, text),
            Self::Term(text) => values.intern(AtomKind::Term, text),
        }
    }
}

impl<'text> Cursor<'text> {
    /// The scalar that starts here.
    pub(super) fn scalar(&mut self) -> Result<Scalar<'text>, Fault> {
        let start = self.at;
        match self.peek()? {
            b'"' => self.string(),
            b'\\' => self.character(),
            b']' | b')' | b'}' => Err(super::wrong_closer(start, None)),
            _ => {
                self.at = self.token_end(start)?;
                let token = self.slice(start, self.at);
                scalar_of(token, start)
            }
        }
    }

    fn string(&mut self) -> Result<Scalar<'text>, Fault> {
        let start = self.at + 1;
        self.skip_string()?;
        let raw = self.slice(start, self.at - 1);
        if !raw.contains('\\') {
            return Ok(Scalar::Text(Cow::Borrowed(raw)));
        }
        match unescape(raw) {
            Ok(text) => Ok(Scalar::Text(Cow::Owned(text))),
            Err(offset) => Err(Fault::new(start + offset, "an escape such as `\\n`, `\\\"` or `\\u00e9`")),
        }
    }

    fn character(&mut self) -> Result<Scalar<'text>, Fault> {
        let start = self.at;
        self.skip_character()?;
        let name = self.slice(start + 1, self.at);
        match character_of(name) {
            Some(character) => Ok(Scalar::Term(Cow::Owned(character_text(character)))),
            None => Err(Fault::new(start, "a character such as `\\a`, `\\newline` or `\\u00e9`")),
        }
    }
}

/// The scalar that is written as the one `token` at byte `at`.
fn scalar_of(token: &str, at: usize) -> Result<Scalar<'_>, Fault> {
    let unsigned = token.strip_prefix(['+', '-']).unwrap_or(token);
    if unsigned.starts_with(|first: char| first.is_ascii_digit()) {
        return match number_of(token, unsigned) {
            Some(Scalar::Large(digits)) if digits.trim_start_matches('-').len() > MOST_DIGITS => {
                Err(Fault::new(at, "an integer of at most 4,300 digits")
                    .hint("a string can be longer: write it in quotes"))
            }
            found => found.ok_or_else(|| Fault::new(at, "a number without leading zeros")),
        };
    }
    match token {
        "nil" => Ok(Scalar::Nil),
        "true" => Ok(Scalar::Boolean(true)),
        "false" => Ok(Scalar::Boolean(false)),
        "##NaN" => Ok(Scalar::Float(f64::NAN)),
        "##Inf" => Ok(Scalar::Float(f64::INFINITY)),
        "##-Inf" => Ok(Scalar::Float(f64::NEG_INFINITY)),
        "" | ":" => Err(Fault::new(at, "an EDN form")),
        _ if token.starts_with('#') => Err(Fault::new(at, "`##NaN`, `##Inf` or `##-Inf`")),
        _ => Ok(Scalar::Term(Cow::Borrowed(token))),
    }
}

fn number_of<'text>(token: &'text str, unsigned: &'text str) -> Option<Scalar<'text>> {
    // A plus says nothing, so canonical text has none.
    let plain = token.strip_prefix('+').unwrap_or(token);
    let digits = plain.strip_suffix('N').unwrap_or(plain);
    if is_whole(unsigned.strip_suffix('N').unwrap_or(unsigned)) {
        return Some(match digits.parse() {
            Ok(number) => Scalar::Integer(number),
            Err(_) => Scalar::Large(digits.to_owned()),
        });
    }
    if let Some(hexadecimal) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        return hexadecimal_of(hexadecimal, plain.starts_with('-'));
    }
    if let Some((numerator, denominator)) = unsigned.split_once('/') {
        let is_ratio = is_whole(numerator) && is_whole(denominator) && denominator != "0";
        return is_ratio.then_some(Scalar::Term(Cow::Borrowed(plain)));
    }
    if let Some(decimal) = unsigned.strip_suffix('M') {
        let is_decimal = is_whole(decimal) || float_of(decimal).is_some();
        return is_decimal.then_some(Scalar::Term(Cow::Borrowed(plain)));
    }
    float_of(plain).map(Scalar::Float)
}

fn is_whole(digits: &str) -> bool {
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits && (digits.len() == 1 || !digits.starts_with('0'))
}

fn hexadecimal_of(digits: &str, negative: bool) -> Option<Scalar<'static>> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let magnitude = i64::from_str_radix(digits, 16).ok().filter(|_| is_plain)?;
    Some(Scalar::Integer(if negative { -magnitude } else { magnitude }))
}

fn float_of(text: &str) -> Option<f64> {
    // Rust also takes words such as `infinity`, which EDN does not.
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let number = text.parse().ok().filter(|_| is_plain && text.contains(['.', 'e', 'E']))?;
    Some(number)
}

/// `raw` with its escapes replaced, or the place of the first that is none.
fn unescape(raw: &str) -> Result<String, usize> {
    let mut text = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(length) = memchr::memchr(b'\\', &raw.as_bytes()[at..]) {
        let escape = at + length;
        text.push_str(&raw[at..escape]);
        let (character, taken) = escaped(&raw[escape + 1..]).ok_or(escape)?;
        text.push(character);
        at = escape + 1 + taken;
    }
    text.push_str(&raw[at..]);
    Ok(text)
}

/// The character that `rest`, the text behind a backslash, stands for, and the length of its name.
fn escaped(rest: &str) -> Option<(char, usize)> {
    let simple = match rest.bytes().next()? {
        b't' => '\t',
        b'n' => '\n',
        b'r' => '\r',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'"' => '"',
        b'\\' => '\\',
        b'u' => return unicode(rest),
        b'0'..=b'7' => return octal(rest),
        _ => return None,
    };
    Some((simple, 1))
}

/// `u` and four hexadecimal digits, or two such escapes for a character beyond 16 bits.
fn unicode(rest: &str) -> Option<(char, usize)> {
    let first = code_unit(rest.get(..5)?)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Some((character, 5));
    }
    let second = code_unit(rest.get(5..11)?.strip_prefix('\\')?)?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, 11))
}

fn code_unit(name: &str) -> Option<u16> {
    let digits = name.strip_prefix('u')?;
    let is_plain = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}

fn octal(rest: &str) -> Option<(char, usize)> {
    let length = rest.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
    let code = u8::from_str_radix(&rest[..length], 8).ok()?;
    Some((char::from(code), length))
}

/// The character that is called `name` behind a backslash.
fn character_of(name: &str) -> Option<char> {
    let mut characters = name.chars();
    let first = characters.next()?;
    if characters.next().is_none() {
        return (!first.is_ascii() || class(first as u8) != Class::Space || first == ',').then_some(first);
    }
    if let Some(&(_, named)) = CHARACTER_NAMES.iter().find(|(known, _)| *known == name) {
        return Some(named);
    }
    match first {
        'u' => code_unit(name).and_then(|unit| char::from_u32(u32::from(unit))),
        'o' => octal(&name[1..]).filter(|&(_, length)| length + 1 == name.len()).map(|(octal, _)| octal),
        _ => None,
    }
}

/// The one spelling of `character`.
fn character_text(character: char) -> String {
    if let Some((name, _)) = CHARACTER_NAMES.iter().find(|(_, named)| *named == character) {
        return format!("\\{name}");
    }
    if character.is_control() || character.is_whitespace() {
        return format!("\\u{:04x}", u32::from(character));
    }
    format!("\\{character}")
}
