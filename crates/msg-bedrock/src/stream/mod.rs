//! Converse streams (BR-15 to BR-22): blocks in, one assistant message out. Frames are taken apart before.
//!
//! ```text
//! {"messageStart":{"role":"assistant"}}
//! {"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{..}}}}       calls and a few others
//! {"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":".."}}}}
//! {"contentBlockStop":{"contentBlockIndex":0}}
//! {"messageStop":{"stopReason":"tool_use"}}, {"metadata":{"usage":{..}}}
//! ```

mod assembler;
mod events;

pub use assembler::{BEDROCK, Converse, ConverseAssembler};
pub use events::{ConverseEvents, write_events, write_frames};
pub(crate) use events::{stop_reason, write_usage};
