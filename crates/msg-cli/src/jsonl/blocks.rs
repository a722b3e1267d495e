//! Cuts a stream of lines into blocks of whole lines.
//!
//! A block is what one worker takes at a time: large enough that handing it over costs nothing
//! beside the work, and never more than one line longer than that. Does not look into a line.

use std::io::{self, Read};

/// A block ends at the first line end after this many bytes.
const TARGET: usize = 128 << 10;
/// How much is asked of the reader at once.
const READ: usize = 64 << 10;

/// Some whole lines of the input.
#[derive(Debug)]
pub(super) struct Block {
    /// 1-based number of the first line.
    pub(super) first_line: u64,
    /// The lines with their ends; empty for a line that is too long.
    pub(super) bytes: Vec<u8>,
    /// The one line of this block was longer than the limit and has been passed over.
    pub(super) too_long: bool,
    /// Bytes read from the input for this block.
    pub(super) read: u64,
}

/// The blocks of a reader, in order.
pub(super) struct Blocks<R> {
    reader: R,
    limit: usize,
    next_line: u64,
    rest: Vec<u8>,
    /// Bytes that the last read gave; none at the end.
    got: usize,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(reader: R, limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Blocks { reader, limit, next_line: 1, rest: Vec::new(), got: READ }
    }

    /// The next block, or nothing at the end. Memory: the longest line and [`READ`] bytes.
    pub(super) fn next(&mut self) -> io::Result<Option<Block>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let (mut scanned, mut end) = (0, None);
        loop {
            end = memchr::memrchr(b'\n', &bytes[scanned..]).map(|it| scanned + it + 1).or(end);
            scanned = bytes.len();
            // A short read means that nothing more is there yet: what is whole goes on at once, so
            // that a line that is piped in is answered before the next one is written.
            if let Some(end) = end.filter(|_| bytes.len() >= TARGET || self.got < READ) {
                self.rest = bytes.split_off(end);
                return Ok(Some(self.block(bytes)));
            }
            if self.got == 0 {
                return Ok((!bytes.is_empty()).then(|| self.block(bytes)));
            }
            if end.is_none() && bytes.len() > self.limit {
                return self.pass_over(bytes.len() as u64).map(Some);
            }
            self.read_into(&mut bytes)?;
        }
    }

    fn block(&mut self, bytes: Vec<u8>) -> Block {
        let first_line = self.next_line;
        let ends = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        self.next_line += ends + u64::from(!bytes.ends_with(b"\n"));
        let read = bytes.len() as u64;
        Block { first_line, bytes, too_long: false, read }
    }

    fn pass_over(&mut self, mut read: u64) -> io::Result<Block> {
        let mut bytes = Vec::with_capacity(READ);
        while self.got > 0 {
            bytes.clear();
            self.read_into(&mut bytes)?;
            if let Some(end) = memchr::memchr(b'\n', &bytes) {
                self.rest = bytes.split_off(end + 1);
                read += bytes.len() as u64;
                break;
            }
            read += bytes.len() as u64;
        }
        let first_line = self.next_line;
        self.next_line += 1;
        Ok(Block { first_line, bytes: Vec::new(), too_long: true, read })
    }

    fn read_into(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let before = bytes.len();
        bytes.resize(before + READ, 0);
        loop {
            match self.reader.read(&mut bytes[before..]) {
                Ok(n) => {
                    bytes.truncate(before + n);
                    self.got = n;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/blocks.rs"]
mod tests;
