//! The words of which YAML is made.

const ANYTHING: &str = "a list, a map, a whole number, `true` or `false`";
const SUBSET: &str = "of YAML, this reader takes what dbcop writes: lists, maps, numbers and booleans";

/// A name of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Events,
    Success,
    Write,
    Variable,
    Value,
}

impl Field {
    const ALL: [(&'static [u8], Self); 5] = [
        (b"events", Self::Events),
        (b"success", Self::Success),
        (b"write", Self::Write),
        (b"variable", Self::Variable),
        (b"value", Self::Value),
    ];

    fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|&(_, field)| field)
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Success => "success",
            Self::Write => "write",
            Self::Variable => "variable",
            Self::Value => "value",
        }
    }
}

/// The word of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Dash,
    Field(Field),
    Boolean(bool),
    Number(u64),
    OpenList,
    CloseList,
    OpenMap,
    CloseMap,
    Comma,
    /// `---`
    Start,
    /// `...`
    End,
}

impl Word {
    /// As it is written.
    pub fn show(self) -> String {
        match self {
            Self::Dash => "`-`".to_owned(),
            Self::Field(field) => format!("`{}:`", field.name()),
            Self::Boolean(truth) => format!("`{truth}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::OpenList => "`[`".to_owned(),
            Self::CloseList => "`]`".to_owned(),
            Self::OpenMap => "`{`".to_owned(),
            Self::CloseMap => "`}`".to_owned(),
            Self::Comma => "`,`".to_owned(),
            Self::Start => "`---`".to_owned(),
            Self::End => "`...`".to_owned(),
        }
    }
}

/// A word and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub word: Word,
    pub line: u32,
    /// Bytes before it on its line.
    pub column: u32,
    /// Whether nothing but dashes stands before it on its line.
    pub leads: bool,
}

/// Why bytes are no word: the expected word, and advice.
pub struct Fault(pub &'static str, pub &'static str);

/// The word at the start of `rest`, which is not empty, and how many bytes it takes.
pub fn word(rest: &[u8], column: u64) -> Result<(Word, usize), Fault> {
    let mark = |word| Ok((word, 1));
    match rest[0] {
        b'[' => mark(Word::OpenList),
        b']' => mark(Word::CloseList),
        b'{' => mark(Word::OpenMap),
        b'}' => mark(Word::CloseMap),
        b',' => mark(Word::Comma),
        b'-' if ends(rest, 1) => mark(Word::Dash),
        b'-' if column == 0 && rest.starts_with(b"---") && ends(rest, 3) => Ok((Word::Start, 3)),
        b'.' if column == 0 && rest.starts_with(b"...") && ends(rest, 3) => Ok((Word::End, 3)),
        b'"' | b'\'' => quoted(rest),
        b'0'..=b'9' => whole_number(rest),
        b'a'..=b'z' | b'A'..=b'Z' => bare(rest),
        byte => Err(Fault(ANYTHING, advice(byte))),
    }
}

fn advice(byte: u8) -> &'static str {
    match byte {
        b'&' | b'*' => "anchors and aliases are not read: write the list out",
        b'!' => "tags are not read: leave them out",
        b'\t' => "YAML is indented by spaces, never by tabs",
        b'-' => "variables and values are whole numbers from 0 to 2^64 - 1",
        _ => SUBSET,
    }
}

/// Whether a word of `size` bytes ends where it does.
fn ends(rest: &[u8], size: usize) -> bool {
    rest.get(size).is_none_or(|&byte| is_delimiter(byte))
}

/// Whether no word goes on behind `byte`, whatever follows.
pub fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b']' | b'}' | b'[' | b'{')
}

fn quoted(rest: &[u8]) -> Result<(Word, usize), Fault> {
    let length = rest[1..].iter().position(|&byte| byte == rest[0]).ok_or(Fault(NAMES, SUBSET))?;
    let field = Field::named(&rest[1..=length]).ok_or(Fault(NAMES, SUBSET))?;
    if rest.get(length + 2) != Some(&b':') {
        return Err(Fault("`:` after the name of a field", ""));
    }
    Ok((Word::Field(field), length + 3))
}

const NAMES: &str = "`events`, `success`, `write`, `variable` or `value` as the name of a field";

fn bare(rest: &[u8]) -> Result<(Word, usize), Fault> {
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let name = &rest[..length];
    if rest.get(length) == Some(&b':') {
        let field = Field::named(name).ok_or(Fault(NAMES, SUBSET))?;
        return if ends(rest, length + 1) {
            Ok((Word::Field(field), length + 1))
        } else {
            Err(Fault("a space after the `:` of a name", ""))
        };
    }
    match name {
        _ if !ends(rest, length) => Err(Fault(ANYTHING, SUBSET)),
        b"true" | b"True" | b"TRUE" => Ok((Word::Boolean(true), length)),
        b"false" | b"False" | b"FALSE" => Ok((Word::Boolean(false), length)),
        _ => Err(Fault(ANYTHING, SUBSET)),
    }
}

fn whole_number(rest: &[u8]) -> Result<(Word, usize), Fault> {
    const WHOLE: Fault = Fault("a whole number from 0 to 2^64 - 1", "");
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !ends(rest, length) || (length > 1 && rest[0] == b'0') {
        return Err(WHOLE);
    }
    let digits = std::str::from_utf8(&rest[..length]).map_err(|_| WHOLE)?;
    digits.parse().map(|number| (Word::Number(number), length)).map_err(|_| WHOLE)
}
