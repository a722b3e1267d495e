//! The bytes of a session, by name (SE-1).

/// One named byte string of a session: a file, or the column of a database row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blob {
    /// The name, as a path relative to the session where it has several.
    pub name: String,
    /// The bytes, as they came.
    pub bytes: Vec<u8>,
}

impl Blob {
    /// How many bytes are read of a file: of an archive what its files say that they have unpacked, or what it has
    /// itself if that is more. A limit of bytes counts these.
    ///
    /// ```
    /// assert_eq!(msg_session::Blob::size_of(b"{}"), 2);
    /// ```
    pub fn size_of(bytes: &[u8]) -> u64 {
        let own = bytes.len() as u64;
        crate::dialects::unpacked_size(bytes).map_or(own, |it| it.max(own))
    }

    /// A blob.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}
