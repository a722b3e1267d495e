//! Why nothing can be said.

/// Everything that can fail in this crate; the text names the place and what would mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not JSON, or not a request body of a family that is read, or not of the same family as the other one.
    #[error("{0}")]
    Foreign(String),
    /// An answer without the request that it answers.
    #[error("a response alone: a prompt can only be compared by its request")]
    NoRequest,
    /// A line of a log that holds no request.
    #[error("{0}")]
    BadLine(String),
    /// A price file of a wrong shape: the member, what it is and what was expected.
    #[error("{0}")]
    BadPrices(String),
}

impl Error {
    /// The code of the diagnostic.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Foreign(_) => "cache::foreign-format",
            Error::NoRequest => "cache::no-request",
            Error::BadLine(_) => "cache::bad-line",
            Error::BadPrices(_) => "cache::bad-prices",
        }
    }
}
