//! The one error of every parser: where, what was expected, what was found, what to do.

/// Longest excerpt of the input that an error carries, in bytes.
const EXCERPT: usize = 120;

/// Why a parser stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Line of the whole input, from 1; 0 if the whole input is meant. Without text a line is a byte.
    pub line: u64,
    /// Column in bytes, from 1; 0 if the whole line is meant.
    pub column: u64,
    /// What the grammar wanted here.
    pub expected: String,
    /// What stood there instead.
    pub found: String,
    /// What the user can do about it; may be empty.
    pub hint: String,
    /// The offending line, cut to a readable length, and the column of the fault inside it (from 1).
    pub excerpt: (String, usize),
}

impl ParseError {
    /// An error at byte `at` of `block`, whose first byte stands on line `first_line` of the input.
    #[must_use]
    pub fn at(block: &[u8], at: usize, first_line: u64, expected: &str) -> Self {
        let at = at.min(block.len());
        let start = memchr::memrchr(b'\n', &block[..at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |length| at + length);
        let line = first_line + memchr::memchr_iter(b'\n', &block[..start]).count() as u64;
        Self {
            line,
            column: (at - start) as u64 + 1,
            expected: expected.to_owned(),
            found: describe(&block[at..end], end == block.len()),
            hint: String::new(),
            excerpt: excerpt(&block[start..end], at - start),
        }
    }

    /// An error about a whole line (0 for the whole input) that is no longer at hand.
    #[must_use]
    pub fn on_line(line: u64, expected: &str, found: &str) -> Self {
        Self {
            line,
            column: 0,
            expected: expected.to_owned(),
            found: found.to_owned(),
            hint: String::new(),
            excerpt: (String::new(), 0),
        }
    }

    /// An error at byte `at`, from 0, of an input that is no text.
    #[must_use]
    pub fn at_byte(at: u64, expected: &str, found: &str) -> Self {
        Self::on_line(at + 1, expected, found)
    }

    /// The same error with advice.
    #[must_use]
    pub fn hint(mut self, hint: &str) -> Self {
        hint.clone_into(&mut self.hint);
        self
    }

    /// The same error with another description of what was found.
    #[must_use]
    pub fn found(mut self, found: &str) -> Self {
        found.clone_into(&mut self.found);
        self
    }
}

/// What stands at the start of `rest`, in words.
fn describe(rest: &[u8], at_end: bool) -> String {
    let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
    if rest.is_empty() {
        return if at_end { "the end of the input" } else { "the end of the line" }.to_owned();
    }
    let word = &rest[..rest.len().min(24)];
    match std::str::from_utf8(word) {
        Ok(text) => format!("`{}`", printable(text)),
        Err(error) if error.valid_up_to() > 0 => {
            format!("`{}`", printable(&String::from_utf8_lossy(&word[..error.valid_up_to()])))
        }
        Err(_) => format!("the byte 0x{:02x}, which is not UTF-8 text", word[0]),
    }
}

/// `line` cut to `EXCERPT` bytes around `at`, and the column of `at` in what is left.
fn excerpt(line: &[u8], at: usize) -> (String, usize) {
    let start = if line.len() <= EXCERPT { 0 } else { at.saturating_sub(EXCERPT / 2) };
    let end = line.len().min(start + EXCERPT);
    let before = printable(&String::from_utf8_lossy(&line[start..at.clamp(start, end)]));
    let after = printable(&String::from_utf8_lossy(&line[at.clamp(start, end)..end]));
    let column = before.chars().count() + 1;
    (before + after.trim_end(), column)
}

/// `text` with control characters shown as escapes, so that a terminal stays as it was.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => shown.push(' '),
            c if c.is_control() || is_invisible(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Marks that show nothing themselves, or make a terminal show text in another order than it is stored.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_line_and_column_of_the_whole_input() {
        let error = ParseError::at(b"first\nsecond", 8, 10, "a digit");
        assert_eq!((error.line, error.column), (11, 3));
        assert_eq!(error.found, "`cond`");
        assert_eq!(error.excerpt, ("second".to_owned(), 3));
    }

    #[test]
    fn an_error_past_the_end_is_the_end_of_the_input() {
        assert_eq!(ParseError::at(b"w(1", 3, 1, "`,`").found, "the end of the input");
        assert_eq!(ParseError::at(b"w(1\nx", 3, 1, "`,`").found, "the end of the line");
    }

    #[test]
    fn a_long_line_is_cut_around_the_fault() {
        let line = [b'x'; 5000];
        let (text, column) = ParseError::at(&line, 3000, 1, "y").excerpt;
        assert_eq!((text.len(), column), (EXCERPT, EXCERPT / 2 + 1));
    }

    #[test]
    fn bytes_that_are_no_text_and_control_characters_are_spelt_out() {
        assert!(ParseError::at(b"\xff", 0, 1, "x").found.contains("0xff"));
        assert!(ParseError::at(b"\x1b[31m", 0, 1, "x").found.contains("u{1b}"));
        assert_eq!(ParseError::at(b"\xef\xbb\xbf", 0, 1, "x").found, "`\\u{feff}`");
    }
}
