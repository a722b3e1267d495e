//! Why a document, a limit or an option was refused.

/// Everything that can fail in this crate. Nothing half-read comes with it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The document is no JSON, or no conversation; says which message, member and byte.
    #[error(transparent)]
    Read(#[from] msg_core::Error),
    /// The document is larger than the caller allowed.
    #[error("document is larger than {limit} bytes")]
    TooLarge {
        /// The most bytes that were allowed.
        limit: usize,
    },
    /// A request lacks what its provider demands.
    #[error("a request must say {member}: its source does not, and no option gives one")]
    Missing {
        /// The code of the diagnostic.
        code: &'static str,
        /// The member.
        member: &'static str,
    },
    /// An option has a value that it does not take.
    #[error("option {name} takes {expected}")]
    Option {
        /// The option.
        name: &'static str,
        /// What it takes.
        expected: &'static str,
    },
}
