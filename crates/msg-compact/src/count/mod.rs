//! Counting tokens (CP-50): one trait, the counters that come with the crate, and what media and
//! tool definitions cost. Counting a whole history and keeping it counted is the token index's business.

mod bpe;
mod calibrated;
mod chat;
pub(crate) mod counter;
mod forge;
mod image;
mod media;
mod script;
mod tools;
mod wolo;

#[cfg(feature = "bpe")]
pub use bpe::Bpe;
pub use calibrated::{Calibrated, Ratio};
pub use counter::Growing;
pub(crate) use counter::{ErrorBar, TokenCounter};
pub use forge::Forge;
use image::Detail;
pub use image::image_size;
pub use media::{MediaRates, WithMedia};
pub use script::{Script, ScriptCount};
pub use tools::ToolSpec;
pub use wolo::Wolo;

use std::str::FromStr;

use crate::Error;

impl FromStr for Box<dyn TokenCounter> {
    type Err = Error;

    /// The counter of this name: `script`, `forge`, `wolo`, and with the feature `bpe` `o200k` and `cl100k`.
    fn from_str(name: &str) -> Result<Self, Error> {
        Ok(match name {
            "script" => Box::new(Script::new()),
            "forge" => Box::new(Forge),
            "wolo" => Box::new(Wolo),
            #[cfg(feature = "bpe")]
            "o200k" => Box::new(Bpe::o200k()),
            #[cfg(feature = "bpe")]
            "cl100k" => Box::new(Bpe::cl100k()),
            _ => {
                return Err(Error::UnknownName {
                    kind: "counter",
                    name: name.to_owned(),
                    expected: Some(NAMES.to_owned()),
                });
            }
        })
    }
}

#[cfg(feature = "bpe")]
const NAMES: &str = "script, o200k, cl100k, forge or wolo";
#[cfg(not(feature = "bpe"))]
const NAMES: &str = "script, forge or wolo (this build has no token tables)";
