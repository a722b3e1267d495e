//! The captured bytes of a provider's stream in, the assembled message out (OA-27).
//!
//! ```text
//! data: {"choices":[{"delta":{"content":"he"}}]} …     {"message":{"role":"assistant","content":"hello"},"complete":true,…}
//! ```
//!
//! What the bytes mean is for the wire crates to say; nothing is fetched here.

mod families;
mod line;
mod options;
mod run;

pub use self::options::{Provider, StreamForm, StreamOptions};
pub use self::run::{StreamRow, StreamRun, Streamed, stream};
