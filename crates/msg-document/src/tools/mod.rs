//! Model text in; thinking, text and tool calls out. And the way back: calls, results and the instructions that
//! teach a model the format.
//!
//! ```text
//! "[I add]\n<tool>…<tool_name>sum</tool_name>…"     [{"kind":"text",…},{"kind":"tool_call","tool_name":"sum",…}]
//! ```
//!
//! What markup means is `msg-xml`'s; here are the options and the JSON forms.

mod events;
mod line;
mod options;
mod read;

pub use self::options::ToolsOptions;
pub use self::read::{Segment, SegmentCall, Segmented, tools};
