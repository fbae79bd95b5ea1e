//! Where sorted runs lie: any place that keeps numbered sequences of bytes.

use std::convert::Infallible;

/// Keeps runs; a run is a sequence of bytes with a number, which grows at its end.
pub trait RunStore {
    /// Why bytes could not be written or read.
    type Error;

    /// Adds bytes to the end of a run, which may not exist yet.
    ///
    /// # Errors
    /// If they cannot be written.
    fn append(&mut self, run: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Adds at most `length` bytes of a run, from `offset` on, to `block`; none are added at its
    /// end, or if it does not exist.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read(&mut self, run: u32, offset: u64, length: usize, block: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Removes a run, if it exists.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn remove(&mut self, run: u32) -> Result<(), Self::Error>;
}

/// Runs in memory.
#[derive(Debug, Default)]
pub struct MemoryRuns(hashbrown::HashMap<u32, Vec<u8>>);

impl RunStore for MemoryRuns {
    type Error = Infallible;

    fn append(&mut self, run: u32, bytes: &[u8]) -> Result<(), Infallible> {
        self.0.entry(run).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, run: u32, offset: u64, length: usize, block: &mut Vec<u8>) -> Result<(), Infallible> {
        let bytes = self.0.get(&run).map_or(&[][..], Vec::as_slice);
        let rest = &bytes[bytes.len().min(offset as usize)..];
        block.extend_from_slice(&rest[..rest.len().min(length)]);
        Ok(())
    }

    fn remove(&mut self, run: u32) -> Result<(), Infallible> {
        self.0.remove(&run);
        Ok(())
    }
}
