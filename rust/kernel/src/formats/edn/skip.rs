//! Skips forms without interpreting them.

use super::{Class, Cursor, DEEPEST, Fault, class, closer_of, too_deep, wrong_closer};

/// The kind of form that a `#` starts.
enum Dispatch {
    Set,
    Discard,
    Tag,
    /// `##Inf` and the like, or a regular expression: a form by itself.
    Whole,
}

impl Cursor<'_> {
    /// Goes over white space, comments, discarded forms and metadata.
    #[inline]
    pub(crate) fn skip_blank(&mut self) -> Result<(), Fault> {
        loop {
            match self.bytes.get(self.at) {
                Some(&byte) if class(byte) == Class::Space => self.at += 1,
                Some(b';' | b'#' | b'^') => {
                    if !self.skip_aside()? {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Goes over one comment, discarded form or metadata; false if there is none.
    #[cold]
    fn skip_aside(&mut self) -> Result<bool, Fault> {
        match (self.bytes[self.at], self.bytes.get(self.at + 1)) {
            (b';', _) => self.skip_comment()?,
            (b'#', None) if !self.last => return Err(Fault::CutOff),
            (b'#', Some(b'_')) => {
                self.at += 2;
                self.skip_form()?;
            }
            (b'^', _) => {
                self.at += 1;
                self.skip_form()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn skip_comment(&mut self) -> Result<(), Fault> {
        match memchr::memchr(b'\n', &self.bytes[self.at..]) {
            Some(length) => self.at += length + 1,
            None if self.last => self.at = self.bytes.len(),
            None => return Err(Fault::CutOff),
        }
        Ok(())
    }

    /// Goes over one form of any kind, checking no more than that its brackets match.
    pub(crate) fn skip_form(&mut self) -> Result<(), Fault> {
        // A discard or metadata asks for one more form; a counter instead of recursion.
        let mut missing = 1_usize;
        self.brackets.clear();
        loop {
            match self.peek()? {
                byte if class(byte) == Class::Space => {
                    self.at += 1;
                    continue;
                }
                b';' => {
                    self.skip_comment()?;
                    continue;
                }
                opener @ (b'[' | b'(' | b'{') => {
                    self.open(opener)?;
                    continue;
                }
                closer @ (b']' | b')' | b'}') => self.close(closer)?,
                b'"' => self.skip_string()?,
                b'\\' => self.skip_character()?,
                b'^' => {
                    self.at += 1;
                    missing += usize::from(self.brackets.is_empty());
                    continue;
                }
                b'#' => match self.dispatch()? {
                    Dispatch::Whole => {}
                    Dispatch::Set => {
                        self.open(b'{')?;
                        continue;
                    }
                    Dispatch::Discard => {
                        missing += usize::from(self.brackets.is_empty());
                        continue;
                    }
                    Dispatch::Tag => continue,
                },
                _ => self.at = self.token_end(self.at)?,
            }
            if self.brackets.is_empty() {
                missing -= 1;
                if missing == 0 {
                    return Ok(());
                }
            }
        }
    }

    fn open(&mut self, opener: u8) -> Result<(), Fault> {
        if self.brackets.len() >= DEEPEST {
            return Err(too_deep(self.at));
        }
        self.brackets.push(closer_of(opener));
        self.at += 1;
        Ok(())
    }

    fn close(&mut self, closer: u8) -> Result<(), Fault> {
        match self.brackets.pop() {
            Some(expected) if expected == closer => self.at += 1,
            expected => return Err(wrong_closer(self.at, expected)),
        }
        Ok(())
    }

    /// Moves behind the `#` and its token; for a set, to its `{`.
    fn dispatch(&mut self) -> Result<Dispatch, Fault> {
        let dispatch = match self.bytes.get(self.at + 1) {
            None => return Err(Fault::CutOff),
            Some(b'{') => Dispatch::Set,
            Some(b'_') => Dispatch::Discard,
            Some(b'#' | b'"') => Dispatch::Whole,
            Some(_) => Dispatch::Tag,
        };
        match dispatch {
            Dispatch::Set => self.at += 1,
            Dispatch::Discard => self.at += 2,
            Dispatch::Whole if self.bytes[self.at + 1] == b'"' => {
                self.at += 1;
                self.skip_string()?;
            }
            Dispatch::Tag | Dispatch::Whole => self.at = self.token_end(self.at + 1)?,
        }
        Ok(dispatch)
    }

    pub(super) fn skip_string(&mut self) -> Result<(), Fault> {
        let mut at = self.at + 1;
        loop {
            let rest = self.bytes.get(at..).ok_or(Fault::CutOff)?;
            at += memchr::memchr2(b'"', b'\\', rest).ok_or(Fault::CutOff)?;
            if self.bytes[at] == b'"' {
                self.at = at + 1;
                return Ok(());
            }
            at += 2;
        }
    }

    pub(super) fn skip_character(&mut self) -> Result<(), Fault> {
        let first = self.text.get(self.at + 1..).and_then(|rest| rest.chars().next()).ok_or(Fault::CutOff)?;
        self.at = self.token_end(self.at + 1 + first.len_utf8())?;
        Ok(())
    }
}
