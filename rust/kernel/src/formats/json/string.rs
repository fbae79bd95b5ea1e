//! Strings: borrowed where they are plain, and always UTF-8.

use super::{Cursor, Fault};
use std::borrow::Cow;

const STRING_END: &str = "a closing `\"`";

impl<'text> Cursor<'text> {
    /// A string; borrowed unless it holds escapes.
    ///
    /// # Errors
    /// If there is no string here, or one that is not text.
    pub fn string(&mut self) -> Result<Cow<'text, str>, Fault> {
        let start = self.at;
        // `string_bytes` has seen that this is UTF-8, so the errors cannot happen.
        match self.string_bytes()? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).ok(),
        }
        .ok_or_else(|| Fault::at(start, "text in UTF-8"))
    }

    /// The bytes of a string, which are UTF-8; cheaper than [`Cursor::string`] if they are only compared.
    ///
    /// # Errors
    /// If there is no string here, or one that is not text.
    #[inline(always)]
    pub fn string_bytes(&mut self) -> Result<Cow<'text, [u8]>, Fault> {
        self.expect(b'"', "a string in quotes")?;
        let start = self.at;
        let mut seen = 0u8;
        while let Some(&byte) = self.text.get(self.at) {
            if byte == b'"' {
                let bytes = &self.text[start..self.at];
                if !seen.is_ascii() {
                    check_utf8(bytes, start)?;
                }
                self.at += 1;
                return Ok(Cow::Borrowed(bytes));
            }
            if byte == b'\\' || byte < b' ' {
                return self.string_with_escapes(start).map(Cow::Owned);
            }
            seen |= byte;
            self.at += 1;
        }
        Err(Fault::CutOff(STRING_END))
    }

    /// The string that starts at `start`; everything before the cursor is plain.
    #[cold]
    fn string_with_escapes(&mut self, start: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = self.text[start..self.at].to_vec();
        loop {
            match self.take(STRING_END)? {
                b'"' => break,
                b'\\' => self.escape(&mut bytes)?,
                byte if byte < b' ' => {
                    return Err(Fault::at(self.at - 1, "a closing `\"` on the same line")
                        .hint("control characters inside a string are written as escapes such as `\\n`"));
                }
                byte => bytes.push(byte),
            }
        }
        // Escapes are ASCII and make text, so the string is text if its source is.
        check_utf8(&self.text[start..self.at], start)?;
        Ok(bytes)
    }

    /// The character of the escape behind a backslash.
    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Fault> {
        let at = self.at - 1;
        bytes.push(match self.take("an escape")? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let character = self.unicode_escape(at)?;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(Fault::at(at, "an escape such as `\\n`, `\\\"` or `\\u0041`")),
        });
        Ok(())
    }

    /// The character of `\u` and four hexadecimal digits, or of two such escapes that are halves of one.
    fn unicode_escape(&mut self, at: usize) -> Result<char, Fault> {
        let mut code = self.four_digits()?;
        if (0xd800..0xdc00).contains(&code) {
            let lone = || Fault::at(at, "two `\\u` escapes that are halves of one character");
            if self.take("the second half of a character")? != b'\\'
                || self.take("the second half of a character")? != b'u'
            {
                return Err(lone());
            }
            let low = self.four_digits()?;
            if !(0xdc00..0xe000).contains(&low) {
                return Err(lone());
            }
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        char::from_u32(code)
            .ok_or_else(|| Fault::at(at, "a `\\u` escape that is a character, not half of one"))
    }

    fn four_digits(&mut self) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let at = self.at;
            let digit = char::from(self.take("a hexadecimal digit")?).to_digit(16);
            code = code << 4 | digit.ok_or_else(|| Fault::at(at, "four hexadecimal digits after `\\u`"))?;
        }
        Ok(code)
    }

    /// Takes one byte, whatever it is.
    fn take(&mut self, expected: &'static str) -> Result<u8, Fault> {
        let byte = *self.text.get(self.at).ok_or(Fault::CutOff(expected))?;
        self.at += 1;
        Ok(byte)
    }
}

fn check_utf8(bytes: &[u8], start: usize) -> Result<(), Fault> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(Fault::at(start + error.valid_up_to(), "text in UTF-8")),
    }
}
