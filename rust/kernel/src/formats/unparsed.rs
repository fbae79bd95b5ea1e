//! Bytes of the input that have come and are not parsed yet.

/// One piece of memory that is used again for every block: fresh pages cost more than parsing.
#[derive(Debug)]
pub(super) struct Unparsed {
    memory: Vec<u8>,
    start: usize,
    end: usize,
    /// Whether a byte order mark may still come.
    is_at_start: bool,
    is_text: bool,
}

impl Unparsed {
    /// Nothing yet; only text can start with a byte order mark.
    pub(super) fn new(is_text: bool) -> Self {
        Self { memory: Vec::new(), start: 0, end: 0, is_at_start: is_text, is_text }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    /// Room for the next `size` bytes, which count as unparsed from now on.
    pub(super) fn room(&mut self, size: usize) -> &mut [u8] {
        self.memory.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let filled = self.end;
        self.end += size;
        if self.memory.len() < self.end {
            self.memory.resize(self.end, 0);
        }
        &mut self.memory[filled..self.end]
    }

    /// The first `size` bytes are parsed.
    pub(super) fn drop_parsed(&mut self, size: usize) {
        self.start += size;
    }

    /// Drops the byte order mark of the file; false if too few bytes have come to tell, unless it is `last`.
    pub(super) fn skip_byte_order_mark(&mut self, last: bool) -> bool {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if self.is_at_start && (self.bytes().len() >= MARK.len() || last) {
            self.start += if self.bytes().starts_with(MARK) { MARK.len() } else { 0 };
            self.is_at_start = false;
        }
        !self.is_at_start
    }

    /// The file is over.
    pub(super) fn end_of_file(&mut self) {
        (self.start, self.end, self.is_at_start) = (0, 0, self.is_text);
    }
}
