//! What a provider accepts, as data (CA-70 to CA-73).

mod class;

pub use class::{CharClass, ClassError};

/// What one provider accepts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The name by which it is asked for.
    pub name: String,
}
