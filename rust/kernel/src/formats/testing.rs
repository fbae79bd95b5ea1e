//! Reads histories from texts, for tests.

use crate::error::ParseError;
use crate::formats;
use crate::history::History;

/// The history in `files`, fed to the reader called `format` in blocks of `size` bytes.
pub(crate) fn read_files(format: &str, files: &[&[u8]], size: usize) -> Result<History, ParseError> {
    let mut reader = formats::reader(format).expect("a reader");
    for file in files {
        file.chunks(size.max(1)).try_for_each(|block| reader.feed(block))?;
        reader.end_of_file()?;
    }
    reader.into_history()
}

/// The history in `text`, fed in blocks of `size` bytes.
pub(crate) fn read_blocks(format: &str, text: &[u8], size: usize) -> Result<History, ParseError> {
    read_files(format, &[text], size)
}
