//! What becomes of units that nobody could summarise. When that is so, `engine` finds out.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What to do with units whose summary was refused or failed (CP-23).
///
/// ```
/// assert_eq!("digest".parse(), Ok(msg_compact::OnFailure::Digest));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// They stay, and the pipeline goes on.
    #[default]
    Keep,
    /// The digest takes the summary's place, if it is smaller.
    Digest,
}

impl FromStr for OnFailure {
    type Err = Error;

    /// Reads `keep` or `digest`.
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "keep" => Ok(OnFailure::Keep),
            "digest" => Ok(OnFailure::Digest),
            _ => Err(Error::unknown("on-failure", name, "keep or digest")),
        }
    }
}
