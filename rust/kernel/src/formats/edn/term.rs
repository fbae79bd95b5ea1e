//! Canonical text of composite forms: equal forms have equal text.

use super::scalar::Scalar;
use super::write::{write_float, write_quoted};
use super::{Cursor, DEEPEST, Fault, closer_of, too_deep, wrong_closer};

/// A composite form that is not closed yet.
struct Composite {
    closer: u8,
    /// Place of its opening bracket in the source.
    at: usize,
    /// How many members make one entry: two in a map.
    stride: usize,
    sorted: bool,
    /// Where its members start in the canonical text; one space stands between two.
    members: Vec<usize>,
}

impl Cursor<'_> {
    /// Appends the canonical text of the next form to `out`.
    pub(super) fn canonical(&mut self, out: &mut String) -> Result<(), Fault> {
        let mut open: Vec<Composite> = Vec::new();
        let mut is_tagged = false;
        loop {
            self.skip_blank()?;
            let at = self.at;
            let byte = self.peek()?;
            if matches!(byte, b']' | b')' | b'}') {
                let form = open.pop().ok_or_else(|| wrong_closer(at, None))?;
                if form.closer != byte || is_tagged {
                    return Err(wrong_closer(at, Some(form.closer).filter(|_| !is_tagged)));
                }
                form.close(out)?;
                self.at += 1;
            } else {
                if !is_tagged && let Some(form) = open.last_mut() {
                    form.start_member(out);
                }
                is_tagged = self.tag_into(out)?;
                if is_tagged {
                    continue;
                }
                if let Some(form) = self.opened(out)? {
                    if open.len() >= DEEPEST {
                        return Err(too_deep(at));
                    }
                    open.push(form);
                    continue;
                }
                self.scalar()?.write(out);
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    fn tag_into(&mut self, out: &mut String) -> Result<bool, Fault> {
        if self.peek()? != b'#' {
            return Ok(false);
        }
        let Some(tag) = self.tag()? else { return Ok(false) };
        out.push('#');
        out.push_str(tag);
        out.push(' ');
        Ok(true)
    }

    fn opened(&mut self, out: &mut String) -> Result<Option<Composite>, Fault> {
        let at = self.at;
        let is_set = self.bytes[at..].starts_with(b"#{");
        self.at += usize::from(is_set);
        let opener = self.peek()?;
        if !matches!(opener, b'[' | b'(' | b'{') {
            return Ok(None);
        }
        self.at += 1;
        out.push_str(if is_set { "#" } else { "" });
        out.push(opener as char);
        let sorted = opener == b'{';
        let stride = if sorted && !is_set { 2 } else { 1 };
        Ok(Some(Composite { closer: closer_of(opener), at, stride, sorted, members: Vec::new() }))
    }
}

impl Composite {
    fn start_member(&mut self, out: &mut String) {
        if !self.members.is_empty() {
            out.push(' ');
        }
        self.members.push(out.len());
    }

    fn close(self, out: &mut String) -> Result<(), Fault> {
        if !self.members.len().is_multiple_of(self.stride) {
            return Err(Fault::new(self.at, "a map with a value for every key"));
        }
        if self.sorted && self.members.len() > self.stride {
            self.sort(out)?;
        }
        out.push(self.closer as char);
        Ok(())
    }

    /// Puts the entries of a map or set in the order of their text.
    fn sort(&self, out: &mut String) -> Result<(), Fault> {
        let end_of = |member: usize| self.members.get(member).map_or(out.len(), |next| next - 1);
        let mut entries: Vec<(&str, &str)> = (0..self.members.len())
            .step_by(self.stride)
            .map(|key| {
                let start = self.members[key];
                (&out[start..end_of(key + 1)], &out[start..end_of(key + self.stride)])
            })
            .collect();
        // Most maps come sorted, and moving nested ones at every level would cost depth times size.
        let in_order = entries.is_sorted();
        entries.sort_unstable();
        if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Fault::new(self.at, "a map or set without repeated keys"));
        }
        if !in_order {
            let texts: Vec<&str> = entries.iter().map(|entry| entry.1).collect();
            let sorted = texts.join(" ");
            out.truncate(self.members[0]);
            out.push_str(&sorted);
        }
        Ok(())
    }
}

impl Scalar<'_> {
    fn write(&self, out: &mut String) {
        match self {
            Self::Nil => out.push_str("nil"),
            Self::Boolean(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Self::Integer(number) => out.push_str(&number.to_string()),
            Self::Float(number) => write_float(&format!("{number:?}"), out),
            Self::Text(text) => write_quoted(text, out),
            Self::Large(text) => out.push_str(text),
            Self::Term(text) => out.push_str(text),
        }
    }
}
