//! The bytes of a session (SE-1): those that are held, by name, and those that are read by offset, for sessions that are
//! larger than memory (SE-2). The caller gives them: this crate opens no file.

use std::io;

use crate::Error;

/// One named byte string of a session: a file, or the column of a database row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blob {
    /// The name, as a path relative to the session where it has several.
    pub name: String,
    /// The bytes, as they came.
    pub bytes: Vec<u8>,
}

impl Blob {
    /// A blob.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}

/// Bytes that can be read at any offset. What is read twice must be the same both times.
///
/// ```
/// use msg_session::ReadAt;
///
/// let mut two = [0; 2];
/// assert_eq!(b"abc".as_slice().read_at(1, &mut two)?, 2);
/// assert_eq!(&two, b"bc");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait ReadAt {
    /// How many bytes there are.
    fn size(&self) -> u64;

    /// Reads bytes from `offset` on, as many as there are at once; 0 only at the end.
    ///
    /// # Errors
    /// They cannot be read.
    fn read_at(&self, offset: u64, to: &mut [u8]) -> io::Result<usize>;
}

impl ReadAt for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, to: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        let rest = &self[start..];
        let len = rest.len().min(to.len());
        to[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

impl ReadAt for Blob {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, to: &mut [u8]) -> io::Result<usize> {
        self.bytes.as_slice().read_at(offset, to)
    }
}

/// Fills `to` from `offset` on, as far as the source goes; gives how much that is.
pub(crate) fn fill(source: &dyn ReadAt, offset: u64, to: &mut [u8]) -> Result<usize, Error> {
    let mut len = 0;
    while len < to.len() {
        match source.read_at(offset + len as u64, &mut to[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::source(offset + len as u64, &error)),
        }
    }
    Ok(len)
}
