//! The end of a file, from its last strong heading on: all that an append has to know (MF-47).

use super::disk::read_range;
use crate::syntax::scan::{headings, is_utf16};
use std::io::{self, Read, Seek, SeekFrom};

/// The end of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Where it begins: the last strong heading, or the file if there is none.
    pub start: u64,
    /// Whether it begins with a strong heading. Then its cells are those of the whole file.
    pub strong: bool,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Reads the tail of a file (of UTF-16, which has no cells, all of it), `window` bytes at first and fourfold more until a strong heading is there.
///
/// # Errors
/// What reading gives.
///
/// ```
/// use std::io::Cursor;
/// let text = b"# %% [^1]\n\n[^1]: [md]\n\na\n\n# %% [^2]\n\n[^2]: [md]\n\nb\n";
/// let tail = msg_file::store::tail(&mut Cursor::new(text), 8)?;
/// assert_eq!((tail.start, tail.strong), (26, true));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn tail(file: &mut (impl Read + Seek), window: usize) -> io::Result<Tail> {
    let len = file.seek(SeekFrom::End(0))?;
    let mut window = window.max(1) as u64;
    if is_utf16(&read_range(file, 0, len.min(2))?) {
        return Ok(Tail { start: 0, strong: false, bytes: read_range(file, 0, len)? });
    }
    loop {
        let start = len.saturating_sub(window);
        let mut bytes = read_range(file, start, len)?;
        // The first line of a window is a piece of one unless the file begins there.
        let whole = if start == 0 { Some(0) } else { memchr::memchr(b'\n', &bytes).map(|n| n + 1) };
        let strong = whole.and_then(|from| {
            let heads = headings(&bytes[from..]);
            heads.iter().rev().find(|h| h.strong).map(|h| h.start + from)
        });
        if let Some(at) = strong {
            return Ok(Tail { start: start + at as u64, strong: true, bytes: bytes.split_off(at) });
        }
        if start == 0 {
            return Ok(Tail { start: 0, strong: false, bytes });
        }
        window = window.saturating_mul(4);
    }
}
