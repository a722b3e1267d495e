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
    /// A blob.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}
